//! A new skill that meets the specification.

use std::path::{Path, PathBuf};

use skillfold_core::text::start_of;
use skillfold_core::{BODY_PLACEHOLDER, Error, Profile, ResourcePath, SKILL_FILE, Severity, lint};
use skillfold_store::{Access, WriteRoot};

use crate::environment::Environment;
use crate::roots::FOLDERS;

/// Where a new skill is put.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillLocation {
    /// The project's folder for skills.
    Project,
    /// The person's folder for skills.
    User,
    /// A folder of skills.
    Folder(PathBuf),
}

/// Makes a new skill that meets the specification, and returns its `SKILL.md`. What is there already stays as it is.
///
/// A name or description that would not pass is an error, with the nearest name that would. Below the project's folder a link
/// on the way is refused.
pub fn scaffold(
    environment: &Environment,
    home: &SkillLocation,
    name: &str,
    description: &str,
) -> Result<PathBuf, Error> {
    let root = match home {
        SkillLocation::Project => environment.project().join(FOLDERS[0]),
        SkillLocation::User => environment
            .home_dir()
            .ok_or_else(|| Error::not_found("home"))?
            .join(FOLDERS[0]),
        SkillLocation::Folder(path) => environment.directory().join(path),
    };
    let text = text(name, description);
    if let Some(why) = wrong(name, &text) {
        return Err(Error::invalid(name, why));
    }
    let path = root.join(name).join(SKILL_FILE);
    let (base, file) = match environment.below_project(&path) {
        Some(inside) if *home != SkillLocation::User => {
            (WriteRoot::open(environment.project())?, inside.to_owned())
        }
        _ => (
            WriteRoot::open_or_create(&root, Access::Ordinary)?,
            Path::new(name).join(SKILL_FILE),
        ),
    };
    base.create(&file, text.as_bytes(), Access::Ordinary)?;
    Ok(path)
}

/// Returns what is wrong with a new skill, and the name that would do.
fn wrong(name: &str, text: &str) -> Option<String> {
    let findings = lint(text.as_bytes(), name, Profile::Spec);
    let mut errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let why = match (name.parse::<ResourcePath>(), errors.next()) {
        _ if name.contains(['/', '\\']) => "Name has a slash".to_owned(),
        (_, Some(finding)) => finding.message.to_string(),
        // What no file can be called everywhere is no name of a folder.
        (Err(error), None) => error.to_string(),
        (Ok(_), None) => return None,
    };
    let meant = meant(name);
    Some(if meant.is_empty() || meant == name {
        why
    } else {
        format!("{why}; `{meant}` would do")
    })
}

/// Returns the nearest name that the specification allows: lower case, and single hyphens between words.
fn meant(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let meant = words.join("-");
    start_of(&meant, 64).trim_end_matches('-').to_owned()
}

fn text(name: &str, description: &str) -> String {
    let title = name.replace('-', " ");
    format!(
        "---\nname: {name}\ndescription: {}\n---\n\n# {title}\n\n{BODY_PLACEHOLDER} {}",
        quoted(description.trim()),
        "It reads this only when it uses the skill.\n\n\
         1. First step\n2. Second step\n\n\
         Put long material into files beside this one, such as `references/details.md`, and say when to read them.\n"
    )
}

/// Returns a description as YAML: plain where it can be, else in quotes.
fn quoted(description: &str) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_plain = line
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.' | '-' | '(' | ')'))
        && line.starts_with(char::is_alphabetic);
    if is_plain && line.contains(' ') {
        line
    } else {
        format!("'{}'", line.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{meant, quoted, text, wrong};
    use skillfold_core::{Code, Profile, lint};

    #[test]
    fn new_skill_lacks_only_its_instructions_whatever_its_description() {
        for description in [
            "Greets people",
            "Use when: it's \"odd\" # really",
            "true",
            "a\n\nb",
            "- x",
            "@x",
            "[a",
        ] {
            let text = text("hello", description);
            let findings = lint(text.as_bytes(), "hello", Profile::Spec);
            let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
            assert_eq!(codes, [Code::Placeholder], "{description}");
        }
    }

    #[test]
    fn name_that_would_not_pass_gets_the_nearest_that_would() {
        assert_eq!(meant("My Great_Skill!"), "my-great-skill");
        assert_eq!(meant("--"), "");
        let why = wrong("My Skill", &text("My Skill", "Does things"));
        assert_eq!(
            why.unwrap(),
            "Name has upper-case letters: `My Skill`; `my-skill` would do"
        );
        for name in ["../x", "a/b", "a\\b", "", "con", "nul"] {
            assert!(wrong(name, &text(name, "Does things")).is_some(), "{name}");
        }
        assert_eq!(quoted("It's: so"), "'It''s: so'");
    }
}
