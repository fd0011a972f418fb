//! Results as text.

use std::fmt::Write;

use skillfold_core::Diagnostic;
use skillfold_core::read::{Discovery, Fields, Parsed, Triggers, Value, parse};

/// Reads a `SKILL.md` in a folder named `a` and returns what came of it as text.
pub(crate) fn check(text: &str) -> String {
    parsed(&parse(text.as_bytes(), "a"))
}

/// Returns the findings only.
pub(crate) fn findings(text: &str) -> String {
    parse(text.as_bytes(), "a")
        .diagnostics
        .iter()
        .map(diagnostic)
        .collect()
}

pub(crate) fn diagnostic(diagnostic: &Diagnostic) -> String {
    match diagnostic.span {
        Some(span) => format!("{}-{} {diagnostic}\n", span.start, span.end),
        None => format!("{diagnostic}\n"),
    }
}

pub(crate) fn parsed(parsed: &Parsed) -> String {
    let mut text = String::new();
    match &parsed.manifest {
        None => text.push_str("refused\n"),
        Some(manifest) => {
            let _ = writeln!(text, "{}: {:?}", manifest.name(), manifest.description());
            let mut line = |key: &str, value: Option<String>| {
                if let Some(value) = value {
                    let _ = writeln!(text, "  {key} = {value}");
                }
            };
            let words = |list: &[Box<str>]| (!list.is_empty()).then(|| format!("{list:?}"));
            line(
                "license",
                manifest.license().map(|value| format!("{value:?}")),
            );
            line(
                "compatibility",
                manifest.compatibility().map(|value| format!("{value:?}")),
            );
            line(
                "version",
                manifest.version().map(|value| format!("{value:?}")),
            );
            line("model", manifest.model().map(|value| format!("{value:?}")));
            line("allowed_tools", words(manifest.allowed_tools()));
            line("tags", words(manifest.tags()));
            line("requires", words(manifest.requires()));
            line("toolsets", words(manifest.toolsets()));
            line(
                "scripts",
                (!manifest.scripts().is_empty()).then(|| list(manifest.scripts())),
            );
            let engines = manifest.engines().iter();
            let engines: Vec<_> = engines
                .map(|needed| format!("{} {:?}", needed.program, needed.range))
                .collect();
            line("engines", (!engines.is_empty()).then(|| engines.join(", ")));
            line("triggers", manifest.triggers().map(triggers));
            line(
                "disable_model_invocation",
                manifest
                    .disable_model_invocation()
                    .then(|| "true".to_owned()),
            );
            line(
                "default_enabled",
                (!manifest.default_enabled()).then(|| "false".to_owned()),
            );
            line(
                "metadata",
                (!manifest.metadata().is_empty()).then(|| fields(manifest.metadata())),
            );
            line(
                "other",
                (!manifest.other().is_empty()).then(|| fields(manifest.other())),
            );
        }
    }
    text.extend(parsed.diagnostics.iter().map(diagnostic));
    text
}

fn triggers(triggers: &Triggers) -> String {
    match triggers {
        Triggers::Flat(words) => format!("{words:?}"),
        Triggers::Structured {
            keywords,
            verbs,
            patterns,
        } => format!("keywords {keywords:?} verbs {verbs:?} patterns {patterns:?}"),
        _ => "unknown".to_owned(),
    }
}

fn fields(fields: &Fields) -> String {
    let shown: Vec<_> = fields
        .iter()
        .map(|(name, field)| format!("{name}: {}", value(field)))
        .collect();
    format!("{{{}}}", shown.join(", "))
}

fn list(items: &[Value]) -> String {
    format!(
        "[{}]",
        items.iter().map(value).collect::<Vec<_>>().join(", ")
    )
}

fn value(value: &Value) -> String {
    match value {
        Value::Scalar(scalar) => format!("{:?}", scalar.value()),
        Value::List(items) => list(items),
        Value::Map(map) => fields(map),
        _ => "unknown".to_owned(),
    }
}

/// Returns what was found: a line for each skill, refused folder and finding.
pub(crate) fn discovery(found: &Discovery) -> String {
    let mut text = String::new();
    for skill in &found.skills {
        let _ = writeln!(text, "{} in {}", skill.manifest.name(), skill.folder);
        skill
            .diagnostics
            .iter()
            .for_each(|finding| text += &format!("  {finding}\n"));
    }
    for refused in &found.refused {
        let _ = writeln!(text, "refused {}", refused.folder);
        refused
            .diagnostics
            .iter()
            .for_each(|finding| text += &format!("  {finding}\n"));
    }
    for finding in &found.findings {
        let _ = writeln!(text, "{}", finding.finding.diagnostic);
    }
    text
}
