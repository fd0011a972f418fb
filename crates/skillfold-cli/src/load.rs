//! `skillfold load`

use std::process::ExitCode;

use skillfold::core::{Dialect, Envelope};
use skillfold::view::{Document, InstructionsView};

use crate::arguments::{Global, Load};
use crate::failure::Failure;
use crate::host;
use crate::output::{Output, say_all};

pub(crate) fn run(
    global: &Global,
    options: &Load,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?.for_person();
    let envelope = Envelope::from(options.envelope);
    let dialect = skills.report().settings.arguments.value;
    let arguments = arguments(&options.arguments, dialect);
    let loaded = skills.render(&options.id, &arguments, envelope)?;
    if output.is_json() {
        output.json(Document::Instructions(InstructionsView::new(
            &loaded, envelope,
        )))?;
    } else {
        say_all(&loaded.notes, output);
        output.foreign(loaded.text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what was typed as one text. One word is taken as it is; of several, those that would fall apart again where
/// single arguments count are quoted.
fn arguments(words: &[String], dialect: Dialect) -> String {
    let is_plain = |word: &str| {
        !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "\"'\\".contains(c))
    };
    let quoted = |word: &String| match words {
        [_] => word.clone(),
        _ if dialect == Dialect::Plain || is_plain(word) => word.clone(),
        _ => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
