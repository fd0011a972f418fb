//! `skillfold load`

use std::process::ExitCode;

use skillfold::Skills;
use skillfold::core::Envelope;
use skillfold::core::load::Dialect;
use skillfold::view::{Document, InstructionsView};

use crate::arguments::{Global, Load};
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::choose;
use crate::terminal::output::{Output, say_diagnostics};

pub(crate) fn run(global: &Global, options: &Load, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?.for_user();
    let id = choose::skill_id(options.id.as_deref(), &skills.catalog(), output)?;
    let envelope = Envelope::from(options.envelope);
    let dialect = skills.report().settings.arguments.value;
    let arguments = join_arguments(&options.arguments, dialect);
    let mut ids = vec![id.into_owned()];
    if options.required {
        let order = skills.load_order(&ids[0])?;
        say_diagnostics(&order.findings, output);
        ids = order.ids;
    }
    let (last, before) = ids.split_last().expect("the skill itself is in the order");
    for id in before {
        print(&skills, id, "", envelope, output)?;
        if !output.is_json() {
            output.line("")?;
        }
    }
    print(&skills, last, &arguments, envelope, output)
}

fn print(
    skills: &Skills,
    id: &str,
    arguments: &str,
    envelope: Envelope,
    output: &mut Output,
) -> CommandResult {
    let loaded = skills.render(id, arguments, envelope)?;
    if output.is_json() {
        return output.json(Document::Instructions(InstructionsView::new(
            &loaded, envelope,
        )));
    }
    say_diagnostics(&loaded.notes, output);
    output.skill_text(loaded.text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Joins the arguments into one text. A single word is passed unchanged. Of several, those that splitting into
/// arguments would break apart are quoted.
fn join_arguments(words: &[String], dialect: Dialect) -> String {
    let is_plain = |word: &str| {
        !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "\"'\\".contains(c))
    };
    let quote = |word: &String| match words {
        [_] => word.clone(),
        _ if dialect == Dialect::Plain || is_plain(word) => word.clone(),
        _ => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
