//! Counts how common words are in real skills.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use serde_json::json;
use skillfold::core::search::Query;

use crate::labelled::{LabelledSkill, lines};

/// Words are left out if fewer than one in 2 to the power of this many skills have them.
const MAX_RARITY: f64 = 6.0;

/// Skills with at least this many characters beyond U+2E7F are also counted separately: few skills have any.
const MIN_CJK_CHARACTERS: usize = 50;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of labelled skills and requests
    #[arg(long)]
    data: PathBuf,
    /// Write the table to this file
    #[arg(long)]
    write: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (mut all, mut cjk) = (Counts::default(), Counts::default());
    for line in lines(&arguments.data.join("pool_10k.jsonl.zst"))? {
        let skill = LabelledSkill::of(&line?)?;
        let text = format!("{} {} {}", skill.name, skill.description, skill.body);
        all.add(&text);
        if text.chars().filter(|c| *c > '\u{2e7f}').count() >= MIN_CJK_CHARACTERS {
            cjk.add(&text);
        }
    }
    let mut table: Vec<(u32, f64)> = Vec::new();
    let mut terms: Vec<u32> = all.skills_with.keys().copied().collect();
    terms.sort_unstable();
    for term in terms {
        let rarity = all.rarity(term).min(cjk.rarity(term)).round();
        if rarity < MAX_RARITY {
            table.push((term, rarity));
        }
    }
    let mut file = BufWriter::new(File::create(&arguments.write)?);
    for (term, rarity) in &table {
        writeln!(file, "{term:08x}\t{rarity}")?;
    }
    file.flush()?;
    let counts = json!({ "skills": all.skills, "cjk_skills": cjk.skills, "words": table.len() });
    writeln!(out, "{counts}")?;
    Ok(())
}

/// How many skills have each word.
#[derive(Default)]
struct Counts {
    skills: u32,
    skills_with: HashMap<u32, u32>,
}

impl Counts {
    fn add(&mut self, text: &str) {
        self.skills += 1;
        for term in Query::new(text).terms() {
            *self.skills_with.entry(term.hash()).or_default() += 1;
        }
    }

    fn rarity(&self, term: u32) -> f64 {
        let count = self.skills_with.get(&term).copied().unwrap_or(0);
        -(f64::from(count) / f64::from(self.skills.max(1))).log2()
    }
}
