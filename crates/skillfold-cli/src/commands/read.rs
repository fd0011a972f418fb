//! `skillfold read`

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::core::load::FileContent;
use skillfold::view::{Document, FilePart};

use crate::arguments::{Global, Read};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{Output, say_diagnostics};

pub(crate) fn run(global: &Global, options: &Read, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?.for_user();
    let content = skills.read_range(&options.id, &options.path, options.range.clone())?;
    if output.is_json() {
        let catalog = skills.catalog();
        let part = FilePart::new(&catalog.resolve_or_suggest(&options.id)?, &content);
        return output.json(Document::File(part));
    }
    if content.text().is_none() && io::stdout().is_terminal() {
        return Err(Failure::Usage(format!(
            "`{}` is not text ({} bytes); send it to a file or a program, or use `--json`",
            visible(&options.path),
            content.size()
        )));
    }
    output.skill_text(content.bytes())?;
    say_unread_rest(&content, output);
    Ok(ExitCode::SUCCESS)
}

/// Prints which part was not read, and whether the file changed meanwhile.
fn say_unread_rest(content: &FileContent, output: &mut Output) {
    let (range, size) = (content.range(), content.size());
    if range.start > size {
        output.say(format!(
            "The file has {size} bytes, and none from {} on",
            range.start
        ));
    }
    if let Some(next) = content.next() {
        let (start, end) = (range.start, range.end);
        output.say(format!(
            "Bytes {start} to {end} of {size}; continue with `--range {next}..`"
        ));
    }
    say_diagnostics(&content.notes(), output);
}
