//! Skill names and resource paths, checked on construction so that no unsafe one can exist.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::invisible::hidden_characters;

/// A skill name that is safe to use in paths and messages: one line, not empty, without `/`, `\`, control or invisible
/// characters, at most 256 bytes, and without leading or trailing white space.
///
/// A name that violates the specification (64 characters, lower case, single hyphens, equal to the folder's name) is
/// only reported as a [`Diagnostic`](crate::Diagnostic), because clients are told to warn and load anyway.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SkillName(Box<str>);

impl SkillName {
    /// Maximum length in bytes.
    pub const MAX_BYTES: usize = 256;

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SkillName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !text.is_empty() && text.len() <= Self::MAX_BYTES && text.bytes().all(is_plain) {
            return Ok(Self(text.into()));
        }
        let reason = if text.is_empty() || text.trim() != text {
            "is empty or has white space at its ends"
        } else if text.len() > Self::MAX_BYTES {
            "is longer than 256 bytes"
        } else if text == "." || text == ".." {
            "means a folder"
        } else if text.chars().any(|c| matches!(c, '/' | '\\')) {
            "has a slash"
        } else if hidden_characters(text).next().is_some() {
            "has control or invisible characters"
        } else {
            return Ok(Self(text.into()));
        };
        Err(InvalidName { reason })
    }
}

/// Maximum characters of a name that a file gives its skill.
pub(crate) const MAX_NAME_CHARS: usize = 64;

/// Returns whether a skill may have a name: at most 64 letters, digits, hyphens and underscores. A value that was joined
/// from several lines has a space or a line break, so it is none.
pub(crate) fn is_usable_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    name.chars().count() <= MAX_NAME_CHARS && name.chars().all(is_allowed)
}

display!(SkillName, |it| &it.0);

impl Borrow<str> for SkillName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Why a text cannot be a [`SkillName`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName {
    reason: &'static str,
}

impl InvalidName {
    /// Creates the error. `reason` continues a sentence that starts with "Name".
    pub(crate) fn new(reason: &'static str) -> Self {
        Self { reason }
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Name {}", self.reason)
    }
}

impl std::error::Error for InvalidName {}

/// The path of a file inside a skill: relative, separated by `/`, and unable to leave the folder on any operating
/// system.
///
/// ```
/// use skillfold_core::name::ResourcePath;
///
/// assert!("references/forms.md".parse::<ResourcePath>().is_ok());
/// assert!("../other/SKILL.md".parse::<ResourcePath>().is_err());
/// ```
///
/// # Deviation
///
/// Names that only some operating systems allow (`a:b`, `aux.txt`, a trailing dot) are refused on all of them, so that
/// a skill that works here works everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ResourcePath(Box<str>);

impl ResourcePath {
    /// Maximum length of a path in bytes.
    pub const MAX_BYTES: usize = 4096;
    /// Maximum length of a component in bytes.
    pub const MAX_COMPONENT_BYTES: usize = 255;
    /// Maximum number of components.
    pub const MAX_DEPTH: usize = 16;

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the components, outermost first. There is at least one.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl Borrow<str> for ResourcePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for SkillName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(from)?;
        name.parse().map_err(D::Error::custom)
    }
}

impl FromStr for ResourcePath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        if text.len() > Self::MAX_BYTES {
            return Err(InvalidPath {
                rule: "Path is longer than 4,096 bytes",
            });
        }
        if text.split('/').count() > Self::MAX_DEPTH {
            return Err(InvalidPath {
                rule: "Path is deeper than 16 folders",
            });
        }
        match text.split('/').find_map(violated_rule) {
            Some(rule) => Err(InvalidPath { rule }),
            None => Ok(Self(text.into())),
        }
    }
}

display!(ResourcePath, |it| &it.0);

/// Why a text cannot be a [`ResourcePath`]: the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPath {
    rule: &'static str,
}

impl InvalidPath {
    /// Checks the path of a skill folder. Unlike a resource path, it was chosen by the user and not by the skill, so
    /// only what is unsafe on this operating system is refused.
    pub(crate) fn check_folder(path: &str) -> Result<(), Self> {
        let rule = path.split('/').find_map(|component| match component {
            "" => Some(ABSOLUTE),
            ".." => Some(TRAVERSAL),
            "." => Some("Path has a component `.`"),
            name if cfg!(windows) && name.contains(['\\', ':']) => {
                Some("Path has a backslash or a colon")
            }
            name if hidden_characters(name).next().is_some() => {
                Some("Path has control or invisible characters")
            }
            _ => None,
        });
        rule.map_or(Ok(()), |rule| Err(Self { rule }))
    }

    /// Returns the violated rule, as a sentence.
    pub fn rule(&self) -> &'static str {
        self.rule
    }
}

display!(InvalidPath, |it| it.rule);

impl std::error::Error for InvalidPath {}

const ABSOLUTE: &str = "Path is absolute or has an empty component";
const TRAVERSAL: &str = "Path traversal detected";
const VERSION_CONTROL: &str = "Path belongs to version control, not to the skill";

/// Returns the rule that a component of a path violates, if any.
fn violated_rule(component: &str) -> Option<&'static str> {
    if component.is_empty() {
        return Some(ABSOLUTE);
    }
    if component == ".." {
        return Some(TRAVERSAL);
    }
    if component == "." {
        return Some("Path has a component `.`");
    }
    if component.len() > ResourcePath::MAX_COMPONENT_BYTES {
        return Some("Path has a component longer than 255 bytes");
    }
    if component.contains(['\\', ':']) {
        return Some("Path has a backslash or a colon");
    }
    if component.chars().any(char::is_control) {
        return Some("Path has control characters");
    }
    if component.ends_with(['.', ' ']) {
        return Some("Path has a component that ends with a dot or a space");
    }
    if is_vcs_name(component) {
        return Some(VERSION_CONTROL);
    }
    is_windows_device(component).then_some("Path names a Windows device")
}

/// Returns whether a name is that of a version control folder (`.git`, `.hg`, `.svn`) on any file system. Such a folder
/// holds history and remote URLs that may contain passwords, and is not part of a skill that is a checkout.
pub fn is_vcs_name(component: &str) -> bool {
    // Fast path for nearly all names.
    if component.is_ascii() && !component.starts_with('.') && !component.contains('~') {
        return false;
    }
    // Some file systems treat `.GIT` as the same name, and some `.g\u{200c}it`.
    let folded: String = component
        .chars()
        .filter(|c| !is_ignored_by_hfs(*c))
        .collect();
    let folded = folded.to_ascii_lowercase();
    let is_vcs_folder = |name: &str| {
        let dotted = folded.strip_prefix('.');
        dotted == Some(name) || is_dos_short_name(&folded, name)
    };
    ["git", "hg", "svn"].into_iter().any(is_vcs_folder)
}

/// Returns whether Windows may resolve a lower-case name as the 8.3 short name of `.name`: `git~1`, or the hashed form
/// `gi7eba~1` that it uses after several collisions.
fn is_dos_short_name(component: &str, name: &str) -> bool {
    let Some((start, number)) = component.split_once('~') else {
        return false;
    };
    let is_hashed = || {
        let hash = start.strip_prefix(&name[..2]);
        hash.is_some_and(|hash| hash.len() == 4 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && (start == name || is_hashed())
}

/// Returns whether HFS+, the file system of older Macs, ignores a character in names.
fn is_ignored_by_hfs(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Returns whether Windows resolves the name to a device, whatever its extension.
fn is_windows_device(component: &str) -> bool {
    let stem = component
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_ascii_uppercase();
    if matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CLOCK$" | "CONIN$" | "CONOUT$"
    ) {
        return true;
    }
    let Some(port) = stem
        .strip_prefix("COM")
        .or_else(|| stem.strip_prefix("LPT"))
    else {
        return false;
    };
    matches!(
        port,
        "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
    )
}

#[cfg(test)]
mod tests {
    use super::{ResourcePath, SkillName};

    #[test]
    fn path_that_could_escape_the_folder_cannot_be_built() {
        for text in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a//b",
            "./a",
            "a/.",
            "a\\b",
            "C:/x",
            "a:b",
            "\\\\?\\x",
            "a\0",
            "a\n",
            "a.",
            "a ",
            "NUL",
            "nul.txt",
            "aux.tar.gz",
            "COM1",
            "com¹.md",
            "LPT9",
            "CLOCK$",
            "conin$",
        ] {
            assert!(text.parse::<ResourcePath>().is_err(), "{text:?}");
        }
        let is_path = |text: &str| text.parse::<ResourcePath>().is_ok();
        let deep = |depth| vec!["a"; depth].join("/");
        assert!(is_path(&deep(ResourcePath::MAX_DEPTH)));
        assert!(!is_path(&deep(ResourcePath::MAX_DEPTH + 1)));
        assert!(is_path(&"x".repeat(ResourcePath::MAX_COMPONENT_BYTES)));
        assert!(!is_path(&"x".repeat(ResourcePath::MAX_COMPONENT_BYTES + 1)));
    }

    #[test]
    fn ordinary_path_can_be_built() {
        for text in [
            "a",
            "references/forms.md",
            ".hidden",
            "a b/c",
            "ä/ü.md",
            "console.md",
            "a..b",
            "..a",
            "%2e%2e/x",
        ] {
            assert!(text.parse::<ResourcePath>().is_ok(), "{text:?}");
        }
    }

    #[test]
    fn name_that_could_forge_a_path_or_a_line_cannot_be_built() {
        for text in [
            "",
            " a",
            "a ",
            "a/b",
            "a\\b",
            "a\nb",
            "\u{1b}[0m",
            "a\u{202e}b",
            ".",
            "..",
            &"x".repeat(257),
        ] {
            assert!(text.parse::<SkillName>().is_err(), "{text:?}");
        }
        for text in ["pdf", "My Skill", "データ", "a:b", "x_y", "c++"] {
            assert!(text.parse::<SkillName>().is_ok(), "{text:?}");
        }
    }
}
