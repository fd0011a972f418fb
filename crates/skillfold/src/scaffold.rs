//! Creates new skills that conform to the specification.

use std::path::{Path, PathBuf};

use skillfold_core::Error;
use skillfold_core::author::{BODY_PLACEHOLDER, lint};
use skillfold_core::diagnostic::Severity;
use skillfold_core::name::ResourcePath;
use skillfold_core::read::Profile;
use skillfold_core::source::SKILL_FILE;
use skillfold_core::text::truncate_bytes;
use skillfold_store::{Access, WriteRoot};

use crate::environment::Environment;
use crate::roots::FOLDERS;

/// Where a new skill is created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillLocation {
    /// The project's skill folder.
    Project,
    /// The user's skill folder.
    User,
    /// Any other skill folder.
    Folder(PathBuf),
}

/// Creates a new skill that conforms to the specification, and returns the path of its `SKILL.md`. Existing files are
/// never overwritten.
///
/// An invalid name or description is an error that suggests the nearest valid name. Inside the project's folder, links
/// on the way are refused.
pub fn scaffold(
    environment: &Environment,
    location: &SkillLocation,
    name: &str,
    description: &str,
) -> Result<PathBuf, Error> {
    let root = match location {
        SkillLocation::Project => environment.project().join(FOLDERS[0]),
        SkillLocation::User => environment
            .home_dir()
            .ok_or_else(|| Error::not_found("home"))?
            .join(FOLDERS[0]),
        SkillLocation::Folder(path) => environment.directory().join(path),
    };
    let text = skill_text(name, description);
    if let Some(why) = find_problem(name, &text) {
        return Err(Error::invalid(name, why));
    }
    let path = root.join(name).join(SKILL_FILE);
    let (base, file) = match environment.relative_to_project(&path) {
        Some(inside) if *location != SkillLocation::User => {
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

/// Returns what is wrong with a new skill, with the nearest valid name.
pub(crate) fn find_problem(name: &str, text: &str) -> Option<String> {
    let findings = lint(text.as_bytes(), name, Profile::Spec);
    let mut errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let why = match (name.parse::<ResourcePath>(), errors.next()) {
        _ if name.contains(['/', '\\']) => "Name has a slash".to_owned(),
        (_, Some(finding)) => finding.message.to_string(),
        // Names that some system does not allow for files are not allowed either.
        (Err(error), None) => error.to_string(),
        (Ok(_), None) => return None,
    };
    let suggestion = suggest_name(name);
    Some(if suggestion.is_empty() || suggestion == name {
        why
    } else {
        format!("{why}; `{suggestion}` would do")
    })
}

/// Returns the nearest valid name: lower case, with single hyphens between words.
fn suggest_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let name = words.join("-");
    truncate_bytes(&name, 64).trim_end_matches('-').to_owned()
}

fn skill_text(name: &str, description: &str) -> String {
    let title = name.replace('-', " ");
    format!(
        "---\nname: {name}\ndescription: {}\n---\n\n# {title}\n\n{BODY_PLACEHOLDER} {}",
        yaml_scalar(description.trim()),
        "It reads this only when it uses the skill.\n\n\
         1. First step\n2. Second step\n\n\
         Put long material into files beside this one, such as `references/details.md`, and say when to read them.\n"
    )
}

/// Returns a description as a YAML scalar, quoted unless it can be plain.
fn yaml_scalar(description: &str) -> String {
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
    use super::{find_problem, skill_text, suggest_name, yaml_scalar};
    use skillfold_core::Code;
    use skillfold_core::author::lint;
    use skillfold_core::read::Profile;

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
            let text = skill_text("hello", description);
            let findings = lint(text.as_bytes(), "hello", Profile::Spec);
            let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
            assert_eq!(codes, [Code::Placeholder], "{description}");
        }
    }

    #[test]
    fn name_that_would_not_pass_gets_the_nearest_that_would() {
        assert_eq!(suggest_name("My Great_Skill!"), "my-great-skill");
        assert_eq!(suggest_name("--"), "");
        let why = find_problem("My Skill", &skill_text("My Skill", "Does things"));
        assert_eq!(
            why.unwrap(),
            "Name has upper-case letters: `My Skill`; `my-skill` would do"
        );
        for name in ["../x", "a/b", "a\\b", "", "con", "nul"] {
            assert!(
                find_problem(name, &skill_text(name, "Does things")).is_some(),
                "{name}"
            );
        }
        assert_eq!(yaml_scalar("It's: so"), "'It''s: so'");
    }
}
