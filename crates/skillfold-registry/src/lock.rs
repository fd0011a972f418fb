//! `skills.lock`: what was resolved, and the digest that every restored skill must have.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::name::SkillName;
use skillfold_core::text::{FormatNumber, line_number};
use skillfold_core::{Error, ErrorKind};

use crate::address::{Address, SourceKind};

/// The name of the file.
pub const LOCK_FILE: &str = "skills.lock";

const HEAD: &str = "# Which version of each skill is installed, and its digest. `skillfold install --frozen` restores exactly these.\n# Written by skillfold; commit it, and do not edit it.\n";
const UNREADABLE: &str =
    "Restore it from version control; Skillfold never replaces a lock that it cannot read";

/// Which version of a source was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pin {
    /// The tag, if the version was one or a range over tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The full id of the commit, for git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The digest of the archive, for archives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<Digest>,
}

impl Pin {
    /// Returns the pin of a commit.
    pub fn commit(id: &str, tag: Option<String>) -> Self {
        Self {
            tag,
            commit: Some(id.to_owned()),
            archive: None,
        }
    }

    /// Returns the pin of an archive.
    pub fn archive(digest: Digest) -> Self {
        Self {
            archive: Some(digest),
            ..Self::default()
        }
    }
}

impl fmt::Display for Pin {
    /// Writes what a person recognizes: the tag and the start of the commit, or of the archive's digest.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit.as_deref().map(|id| id.get(..12).unwrap_or(id));
        match (&self.tag, commit, self.archive) {
            (Some(tag), Some(commit), _) => write!(formatter, "{tag} ({commit})"),
            (_, Some(commit), _) => formatter.write_str(commit),
            (_, _, Some(archive)) => formatter.write_str(&archive.to_string()[..19]),
            _ => formatter.write_str("as it is now"),
        }
    }
}

/// A skill in the lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LockedSkill {
    /// The skill's name, and that of its folder.
    pub name: SkillName,
    /// The kind of its source.
    pub kind: String,
    /// The source as typed, without the version.
    pub source: String,
    /// The version as typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The skill's folder in the source; empty if the source is the skill.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Which version of the source was chosen.
    #[serde(flatten)]
    pub pin: Pin,
    /// The digest of the skill's files.
    pub digest: Digest,
    /// When it was resolved, in UTC.
    pub time: String,
    /// Who signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The proof that the signature is in a log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// The state of that log when the proof was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Fields of a later version, which are kept.
    #[serde(flatten)]
    other: BTreeMap<String, toml::Value>,
}

impl LockedSkill {
    /// Creates an entry.
    pub fn new(
        name: SkillName,
        address: &Address,
        folder: &str,
        pin: Pin,
        digest: Digest,
        time: String,
    ) -> Self {
        Self {
            name,
            kind: address.kind().as_str().to_owned(),
            source: address.source().to_owned(),
            version: address.version().map(str::to_owned),
            folder: folder.to_owned(),
            pin,
            digest,
            time,
            signer: None,
            proof: None,
            checkpoint: None,
            other: BTreeMap::new(),
        }
    }

    /// Returns whether another entry says the same, whenever it was resolved.
    pub fn is_same(&self, other: &Self) -> bool {
        let other = Self {
            time: self.time.clone(),
            ..other.clone()
        };
        *self == other
    }

    /// Returns its source.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the source is none, or of a kind that this version does not know.
    pub fn address(&self) -> Result<Address, Error> {
        let address = Address::with_version(&self.source, self.version.as_deref())?;
        if SourceKind::from_word(&self.kind) != Some(address.kind()) {
            let message = format!("`{}` has a source of the kind `{}`", self.name, self.kind);
            let hint = "Update skillfold; this version does not know this kind of source";
            return Err(Error::new(ErrorKind::Invalid, message, hint));
        }
        Ok(address)
    }
}

/// The lock: every installed skill, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lockfile {
    skills: BTreeMap<String, LockedSkill>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockDocument {
    format: FormatNumber<1>,
    #[serde(default, rename = "skill")]
    skills: Vec<LockedSkill>,
}

/// What a file of any format has.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "format")]
    _format: FormatNumber<1>,
}

/// Checks the format of a file before anything else in it: another one may have members that this version does not know.
pub(crate) fn check_format(text: &str) -> Result<(), toml::de::Error> {
    toml::from_str::<Head>(text).map(drop)
}

impl Lockfile {
    /// Reads a lock. `file` is its path, for messages.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if it cannot be read, or is of another format. It is never taken for an empty one.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let unreadable = |why: &str| {
            let message = format!("Could not read the lock `{file}`: {why}");
            Error::new(ErrorKind::Invalid, message, UNREADABLE)
        };
        let parsed = check_format(text).and_then(|()| toml::from_str::<LockDocument>(text));
        let document = parsed.map_err(|error| {
            let place = error.span().map_or_else(String::new, |span| {
                format!("line {}: ", line_number(text, span.start))
            });
            unreadable(&format!("{place}{}", error.message()))
        })?;
        let mut lock = Self::default();
        for skill in document.skills {
            let name = skill.name.to_string();
            if lock.skills.insert(name.clone(), skill).is_some() {
                return Err(unreadable(&format!("it has `{name}` twice")));
            }
        }
        Ok(lock)
    }

    /// Returns a skill.
    pub fn get(&self, name: &str) -> Option<&LockedSkill> {
        self.skills.get(name)
    }

    /// Returns all skills, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &LockedSkill> {
        self.skills.values()
    }

    /// Adds a skill, or replaces the one with its name.
    pub fn insert(&mut self, skill: LockedSkill) {
        self.skills.insert(skill.name.to_string(), skill);
    }

    /// Removes a skill.
    pub fn remove(&mut self, name: &str) -> Option<LockedSkill> {
        self.skills.remove(name)
    }

    /// Returns whether it has no skills.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// Returns the file's text: skills by name, so that a change is a few lines.
    pub fn to_text(&self) -> String {
        let document = LockDocument {
            format: FormatNumber::default(),
            skills: self.skills.values().cloned().collect(),
        };
        let text = toml::to_string(&document).expect("strings and tables are TOML");
        format!("{HEAD}{text}")
    }
}
