//! Fuzz inputs from real skills, for long runs. The output stays on the machine that has the corpus.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use skillfold_core::read::parse;
use skillfold_core::text::truncate_bytes;

use crate::corpus;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Corpus: a zstd file of JSON lines with `path` and `text`
    #[arg(long)]
    file: PathBuf,
    /// Folder of fuzz corpora; each target has a folder in it
    #[arg(long, default_value = "fuzz/corpus")]
    into: PathBuf,
    /// Take every nth skill
    #[arg(long, default_value_t = 100)]
    every: usize,
    /// Maximum size of an input in bytes
    #[arg(long, default_value_t = 1024)]
    bytes: usize,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let entries = corpus::entries(&arguments.file)?.step_by(arguments.every.max(1));
    let mut written = 0_usize;
    for (number, entry) in entries.enumerate() {
        let entry = entry?;
        let parsed = parse(entry.text.as_bytes(), &entry.folder);
        let described = parsed.manifest.as_ref();
        let described = described.map_or("", |manifest| manifest.description());
        let body = entry.text.get(parsed.body_start.unwrap_or_default()..);
        let body = body.unwrap_or_default();
        // The request is cut from the middle of the description.
        let words: Vec<&str> = described.split_whitespace().collect();
        let some = words[words.len() / 2..].iter().take(4).copied();
        let request = some.collect::<Vec<_>>().join(" ");
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "search_skills", "arguments": { "query": described } },
        });
        for (target, text) in [
            ("snippet", format!("{request}\x1f{described}\n{body}")),
            (
                "search",
                format!("{request}\x1f{described}\n{body}\x1f{body}"),
            ),
            ("request", call.to_string()),
            ("request", described.to_owned()),
            ("matching", format!("{request}{described}{body}")),
            ("turn", format!("{request}{described}{body}")),
            ("frontmatter", entry.text.clone()),
        ] {
            let text = truncate_bytes(&text, arguments.bytes);
            write(
                &arguments.into.join(target),
                &format!("real-{number}-{written}"),
                text,
            )?;
            written += 1;
        }
    }
    writeln!(out, "{}", json!({ "written": written }))?;
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the files are for the fuzzer, in a folder that the caller names"
)]
fn write(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(name), text)
}
