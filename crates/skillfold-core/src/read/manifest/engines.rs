//! The programs that a skill needs, and their versions.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Report, quoted};
use crate::read::manifest::fields::EngineRequirement;
use crate::read::value::{Fields, Value};
use crate::read::version::VersionRange;
use crate::read::yaml::{Kind, MappingEntry, Node};

/// Reads the field `engines`: a mapping of programs to ranges of versions, or text such as `a >=0.2, b >=2.0`. A range that
/// cannot be read is reported and kept.
pub(super) fn read_engines(
    value: &Node<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Result<Box<[EngineRequirement]>, Code> {
    let engines: Vec<_> = match &value.kind {
        Kind::Map(entries) => {
            let engine = |entry: &MappingEntry<'_>| {
                let range = entry.value.text().ok_or(Code::WrongType)?;
                Ok((entry.value.span, requirement(&entry.key, range)))
            };
            entries.iter().map(engine).collect::<Result<_, _>>()?
        }
        Kind::Scalar { text, .. } => {
            let engines = split_text(text).into_iter();
            engines.map(|engine| (value.span, engine)).collect()
        }
        Kind::List(_) => return Err(Code::WrongType),
    };
    for (span, engine) in &engines {
        if VersionRange::parse(&engine.range).is_none() {
            let message = format!(
                "Versions of {} under `engines` cannot be read: {}",
                quoted(&engine.program),
                quoted(&engine.range)
            );
            findings.report(Code::EngineForm, *span, message);
        }
    }
    Ok(engines.into_iter().map(|(_, engine)| engine).collect())
}

/// Reads a mapping under `compatibility`, which the specification has as text. What is no range of versions there is
/// something else that the skill needs.
pub(super) fn read_compatibility(fields: &Fields) -> Box<[EngineRequirement]> {
    let Some(Value::Map(entries)) = fields.get("compatibility") else {
        return Box::default();
    };
    let engines = entries.iter();
    let engines = engines.filter_map(|(program, value)| Some(requirement(program, value.text()?)));
    engines
        .filter(|engine| VersionRange::parse(&engine.range).is_some())
        .collect()
}

fn requirement(program: &str, range: &str) -> EngineRequirement {
    EngineRequirement {
        program: program.trim().into(),
        range: range.trim().into(),
    }
}

/// Splits a text at its commas; a part without a program is another comparison of the program before it.
fn split_text(text: &str) -> Vec<EngineRequirement> {
    let mut engines: Vec<EngineRequirement> = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let has_program = part.starts_with(char::is_alphabetic);
        if let Some(last) = engines.last_mut().filter(|_| !has_program) {
            last.range = format!("{}, {part}", last.range).into();
            continue;
        }
        let start = part.find(|c: char| c.is_whitespace() || "<>=^~".contains(c));
        let (program, range) = part.split_at(start.unwrap_or(part.len()));
        engines.push(requirement(program, range));
    }
    engines
}
