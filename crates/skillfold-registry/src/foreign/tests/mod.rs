mod apm;
mod computed_hash;
mod skills_lock;
mod toolhive;

use std::fmt::Write as _;

use skillfold_core::Error;

use super::ForeignSkill;

fn show_error(error: &Error) -> String {
    format!("{error}\nhint: {}", error.hint())
}

/// Formats skills, each with the fields that it has.
fn show(skills: Result<Vec<ForeignSkill>, Error>) -> String {
    let skills = match skills {
        Ok(skills) => skills,
        Err(error) => return show_error(&error),
    };
    let mut text = String::new();
    for skill in skills {
        _ = writeln!(text, "{} from {}", skill.name, skill.source);
        let list = |items: Vec<String>| (!items.is_empty()).then(|| items.join(" "));
        for (field, value) in [
            ("folder", skill.folder),
            ("chosen", list(skill.chosen)),
            ("resolved", skill.resolved),
            ("version", skill.version),
            ("ref", skill.git_ref),
            ("commit", skill.commit),
            ("artifact", skill.artifact_digest),
            ("content", skill.content_digest),
            ("signer", skill.signer),
            ("required by", list(skill.required_by)),
        ] {
            if let Some(value) = value {
                _ = writeln!(text, "  {field}: {value}");
            }
        }
    }
    text
}
