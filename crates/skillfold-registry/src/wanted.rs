//! `skills.toml`: the skills that a project or a user wants.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skillfold_core::name::SkillName;
use skillfold_core::text::{FormatNumber, line_number};
use skillfold_core::{Error, ErrorKind};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::address::Address;
use crate::lock::check_format;

/// The name of the file.
pub const WANTED_FILE: &str = "skills.toml";

const HEAD: &str = "# The skills that this project uses. `skillfold add` and `remove` change it; after editing it, run `skillfold install`.\n";
const HINT: &str = "Correct the file; `docs/registry.md` has an example";

/// A skill that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WantedSkill {
    /// The source as typed, without the version.
    pub source: String,
    /// A tag, a range over tags, a branch or a commit; without one, the newest commit of the default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The clients that have it in their own folder too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
}

impl WantedSkill {
    /// Creates an entry.
    pub fn new(address: &Address, clients: Vec<String>) -> Self {
        Self {
            source: address.source().to_owned(),
            version: address.version().map(str::to_owned),
            clients,
        }
    }

    /// Returns its source.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if it is none.
    pub fn address(&self) -> Result<Address, Error> {
        Address::with_version(&self.source, self.version.as_deref())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedDocument {
    #[serde(rename = "format")]
    _format: FormatNumber<1>,
    #[serde(default)]
    skills: BTreeMap<SkillName, WantedSkill>,
}

/// The skills that are wanted, by name, and the text that they are in, with its comments.
#[derive(Clone, Debug)]
pub struct WantedSkills {
    skills: BTreeMap<SkillName, WantedSkill>,
    document: DocumentMut,
}

impl Default for WantedSkills {
    fn default() -> Self {
        let mut document = DocumentMut::new();
        document.insert("format", value(1));
        document.decor_mut().set_prefix(HEAD);
        Self {
            skills: BTreeMap::new(),
            document,
        }
    }
}

impl WantedSkills {
    /// Reads the file. `file` is its path, for messages.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if it is not TOML, or has a field that is not known.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let invalid = |why: String| {
            let message = format!("Could not read `{file}`: {why}");
            Error::new(ErrorKind::Invalid, message, HINT)
        };
        let line = |span: Option<std::ops::Range<usize>>| {
            span.map_or_else(String::new, |it| {
                format!("line {}: ", line_number(text, it.start))
            })
        };
        let read = check_format(text).and_then(|()| toml::from_str::<WantedDocument>(text));
        let document =
            read.map_err(|error| invalid(format!("{}{}", line(error.span()), error.message())))?;
        let parsed: DocumentMut = text
            .parse()
            .map_err(|error: toml_edit::TomlError| invalid(error.message().to_owned()))?;
        for (name, skill) in &document.skills {
            skill
                .address()
                .map_err(|error| invalid(format!("`{name}`: {error}")))?;
        }
        Ok(Self {
            skills: document.skills,
            document: parsed,
        })
    }

    /// Returns a skill.
    pub fn get(&self, name: &str) -> Option<&WantedSkill> {
        self.iter()
            .find(|(known, _)| known.as_str() == name)
            .map(|(_, skill)| skill)
    }

    /// Returns all skills, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&SkillName, &WantedSkill)> {
        self.skills.iter()
    }

    /// Adds a skill, or changes the one with its name.
    pub fn insert(&mut self, name: SkillName, skill: WantedSkill) {
        let mut entry = InlineTable::new();
        entry.insert("source", skill.source.as_str().into());
        if let Some(version) = &skill.version {
            entry.insert("version", version.as_str().into());
        }
        if !skill.clients.is_empty() {
            entry.insert(
                "clients",
                Value::Array(skill.clients.iter().collect::<Array>()),
            );
        }
        let skills = self
            .document
            .entry("skills")
            .or_insert(Item::Table(Table::new()));
        if let Some(skills) = skills.as_table_like_mut() {
            skills.insert(name.as_str(), value(entry));
        }
        self.skills.insert(name, skill);
    }

    /// Removes a skill.
    pub fn remove(&mut self, name: &str) -> Option<WantedSkill> {
        let (known, _) = self
            .skills
            .iter()
            .find(|(known, _)| known.as_str() == name)?;
        let known = known.clone();
        if let Some(skills) = self
            .document
            .get_mut("skills")
            .and_then(Item::as_table_like_mut)
        {
            skills.remove(name);
        }
        self.skills.remove(&known)
    }

    /// Returns the file's text.
    pub fn to_text(&self) -> String {
        self.document.to_string()
    }
}
