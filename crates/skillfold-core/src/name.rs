//! Names and paths that cannot be built unsafe.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use crate::invisible::hidden_characters;

/// The name of a skill as it can safely be carried: one line, not empty, no `/`, `\` or control characters, at most
/// 256 bytes, no white space at its ends.
///
/// Whether it also meets the specification (64 characters, lower case, single hyphens, equal to its folder) is a
/// [`Diagnostic`](crate::Diagnostic), because clients are told to warn and load anyway.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(Box<str>);

impl SkillName {
    /// Bytes of the longest name that is carried.
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
        let wrong = if text.is_empty() || text.trim() != text {
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
        Err(InvalidName { wrong })
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Borrow<str> for SkillName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Why a text cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName {
    wrong: &'static str,
}

impl InvalidName {
    /// Creates the reason: what the name is or has.
    pub(crate) fn new(wrong: &'static str) -> Self {
        Self { wrong }
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Name {}", self.wrong)
    }
}

impl std::error::Error for InvalidName {}

/// The path of a file inside a skill: relative, with `/`, and nothing that leads out of the folder on any system.
///
/// ```
/// use skillfold_core::ResourcePath;
///
/// assert!("references/forms.md".parse::<ResourcePath>().is_ok());
/// assert!("../other/SKILL.md".parse::<ResourcePath>().is_err());
/// ```
///
/// # Deviation
///
/// Names that are legal on one system only (`a:b`, `aux.txt`, a trailing dot) are refused on all, so that a skill
/// that works here works everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourcePath(Box<str>);

impl ResourcePath {
    /// Bytes of the longest path.
    pub const MAX_BYTES: usize = 4096;
    /// Bytes of the longest component.
    pub const MAX_COMPONENT_BYTES: usize = 255;
    /// Components of the deepest path.
    pub const MAX_DEPTH: usize = 16;

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the components, outermost first; there is at least one.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
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
        match text.split('/').find_map(broken_rule) {
            Some(rule) => Err(InvalidPath { rule }),
            None => Ok(Self(text.into())),
        }
    }
}

impl fmt::Display for ResourcePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Why a text cannot be a [`ResourcePath`]: the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPath {
    rule: &'static str,
}

impl InvalidPath {
    /// Returns the rule that a folder's path breaks. Unlike a resource's, its names are the person's own and not the
    /// skill's, so that only what is unsafe here is refused.
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

    /// Returns the rule that the path breaks, as a sentence.
    pub fn rule(&self) -> &'static str {
        self.rule
    }
}

impl fmt::Display for InvalidPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.rule)
    }
}

impl std::error::Error for InvalidPath {}

const ABSOLUTE: &str = "Path is absolute or has an empty component";
const TRAVERSAL: &str = "Path traversal detected";
const VERSION_CONTROL: &str = "Path belongs to version control, not to the skill";

/// Returns the rule that one component of a path breaks.
fn broken_rule(component: &str) -> Option<&'static str> {
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
    if is_of_version_control(component) {
        return Some(VERSION_CONTROL);
    }
    is_device(component).then_some("Path names a device of Windows")
}

/// Returns whether version control keeps what is its own under a name: history, and addresses that may have passwords in
/// them. It is no part of a skill that is a checkout.
pub(crate) fn is_of_version_control(component: &str) -> bool {
    // Hardly any name is one of these.
    if component.is_ascii() && !component.starts_with('.') && !component.contains('~') {
        return false;
    }
    // Some file systems take `.GIT` for the same, and some `.g\u{200c}it`.
    let shown: String = component.chars().filter(|c| !is_ignored(*c)).collect();
    let shown = shown.to_ascii_lowercase();
    let is_kept = |name: &str| {
        let dotted = shown.strip_prefix('.');
        dotted == Some(name) || is_short_name(&shown, name)
    };
    ["git", "hg", "svn"].into_iter().any(is_kept)
}

/// Returns whether Windows may take a name in lower case for a short form of `.name`: `git~1`, or `gi7eba~1` where there are
/// many of these.
fn is_short_name(component: &str, name: &str) -> bool {
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

/// Returns whether the file system of older Macs passes over a character in names.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Returns whether Windows takes the name for a device, whatever its extension.
fn is_device(component: &str) -> bool {
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
    fn path_that_could_leave_the_folder_cannot_be_built() {
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
        assert!("a/".repeat(16).parse::<ResourcePath>().is_err());
        assert!("x".repeat(256).parse::<ResourcePath>().is_err());
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
