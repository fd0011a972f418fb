//! Creates new skills that conform to the specification.

use std::path::PathBuf;

use skillfold_core::Error;
use skillfold_core::author::{BODY_PLACEHOLDER, lint};
use skillfold_core::diagnostic::Severity;
use skillfold_core::name::ResourcePath;
use skillfold_core::read::Profile;
use skillfold_core::source::SKILL_FILE;
use skillfold_core::text::truncate_bytes;
use skillfold_store::{Access, WriteRoot};

use crate::discovery::roots::FOLDERS;
use crate::environment::Environment;

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

/// The language of a new skill's toolset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolsetLanguage {
    /// Python.
    Python,
    /// JavaScript, which Node runs.
    JavaScript,
}

/// A skill to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewSkill {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Its triggers. The specification has no such field, so that strict validators refuse it.
    pub triggers: Vec<String>,
    /// The language of its toolset, if it gets one. The specification has no such field either.
    pub toolset: Option<ToolsetLanguage>,
}

impl NewSkill {
    /// Describes a skill without triggers and toolset.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            triggers: Vec::new(),
            toolset: None,
        }
    }
}

/// Creates a new skill, and returns the path of its `SKILL.md`. It conforms to the specification if it has neither triggers
/// nor a toolset. Existing files are never overwritten.
///
/// An invalid name or description is an error that suggests the nearest valid name. Inside the project's folder, links
/// on the way are refused.
pub fn scaffold(
    environment: &Environment,
    location: &SkillLocation,
    skill: &NewSkill,
) -> Result<PathBuf, Error> {
    let name = &*skill.name;
    let root = match location {
        SkillLocation::Project => environment.project().join(FOLDERS[0]),
        SkillLocation::User => environment
            .home_dir()
            .ok_or_else(|| Error::not_found("home"))?
            .join(FOLDERS[0]),
        SkillLocation::Folder(path) => environment.directory().join(path),
    };
    if let Some(why) = find_problem(name, &skill_text(name, &skill.description, "")) {
        return Err(Error::invalid(name, why));
    }
    let folder = root.join(name);
    let (base, inside) = match environment.relative_to_project(&folder) {
        Some(inside) if *location != SkillLocation::User => {
            (WriteRoot::open(environment.project())?, inside.to_owned())
        }
        _ => (
            WriteRoot::open_or_create(&root, Access::Ordinary)?,
            PathBuf::from(name),
        ),
    };
    let create =
        |file: &str, text: &str| base.create(&inside.join(file), text.as_bytes(), Access::Ordinary);
    let text = skill_text(name, &skill.description, &skill.further_fields());
    create(SKILL_FILE, &text)?;
    if let Some(language) = skill.toolset {
        create(&language.file(name), language.text())?;
    }
    Ok(folder.join(SKILL_FILE))
}

impl NewSkill {
    /// Returns the fields that are not in the specification.
    fn further_fields(&self) -> String {
        let list = |field: &str, items: &[String]| match items {
            [] => String::new(),
            items => {
                let items = items.iter().map(|it| format!("  - {}\n", yaml_scalar(it)));
                format!("{field}:\n{}", items.collect::<String>())
            }
        };
        let toolsets = self
            .toolset
            .map(|language| format!("{}:tools", language.file(&self.name)));
        let toolsets: Vec<_> = toolsets.into_iter().collect();
        list("triggers", &self.triggers) + &list("toolsets", &toolsets)
    }
}

impl ToolsetLanguage {
    fn file(self, name: &str) -> String {
        match self {
            Self::Python => format!("toolsets/{}.py", name.replace('-', "_")),
            Self::JavaScript => format!("toolsets/{name}.mjs"),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Python => include_str!("scaffold/toolset.py"),
            Self::JavaScript => include_str!("scaffold/toolset.mjs"),
        }
    }
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

fn skill_text(name: &str, description: &str, further_fields: &str) -> String {
    let title = name.replace('-', " ");
    format!(
        "---\nname: {name}\ndescription: {}\n{further_fields}---\n\n# {title}\n\n{BODY_PLACEHOLDER} {}",
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
    fn new_skill_lacks_only_its_instructions_for_any_description() {
        for description in [
            "Greets people",
            "Use when: it's \"odd\" # really",
            "true",
            "a\n\nb",
            "- x",
            "@x",
            "[a",
        ] {
            let text = skill_text("hello", description, "");
            let findings = lint(text.as_bytes(), "hello", Profile::Spec);
            let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
            assert_eq!(codes, [Code::Placeholder], "{description}");
        }
    }

    #[test]
    fn invalid_name_is_answered_with_the_nearest_valid_one() {
        assert_eq!(suggest_name("My Great_Skill!"), "my-great-skill");
        assert_eq!(suggest_name("--"), "");
        let why = find_problem("My Skill", &skill_text("My Skill", "Does things", ""));
        assert_eq!(
            why.unwrap(),
            "Name has upper-case letters: `My Skill`; `my-skill` would do"
        );
        for name in ["../x", "a/b", "a\\b", "", "con", "nul"] {
            assert!(
                find_problem(name, &skill_text(name, "Does things", "")).is_some(),
                "{name}"
            );
        }
        assert_eq!(yaml_scalar("It's: so"), "'It''s: so'");
    }
}
