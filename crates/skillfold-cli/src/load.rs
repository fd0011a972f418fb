//! `skillfold load`

use std::process::ExitCode;

use skillfold::core::Envelope;
use skillfold::view::{Document, Instructions};

use crate::arguments::{Global, Load};
use crate::failure::Failure;
use crate::host;
use crate::output::{Output, say_all};

pub(crate) fn run(
    global: &Global,
    options: &Load,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let envelope = Envelope::from(options.envelope);
    let loaded = skills.render(&options.id, &options.arguments.join(" "), envelope)?;
    if output.is_json() {
        output.json(Document::Instructions(Instructions::new(&loaded, envelope)))?;
    } else {
        say_all(&loaded.notes, output);
        output.foreign(loaded.text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
