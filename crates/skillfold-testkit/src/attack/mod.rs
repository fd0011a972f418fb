//! Paths that try to leave a skill, and a tree in which some of them could.

mod disguise;
mod paths;
#[cfg(unix)]
mod tree;

pub use paths::attack_paths;
#[cfg(unix)]
pub use tree::{HostileTree, hostile_tree};

/// What stands in every file that no path of the skill may lead to. It can be a file's name as well.
pub const SECRET: &str = "skillfold-secret-7c1d9e";

/// What stands in a file outside the root that has a second name, a hard link, inside the skill. By the default policy it
/// is a file of the skill; where links are strict, it is refused.
pub const SHARED: &str = "skillfold-shared-2b40aa";

/// The folder of the skill that is attacked, in the root of a hostile tree.
pub const ATTACKED: &str = "pdf";

/// A path that somebody asks the skill for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttackPath {
    /// The path as it is asked for.
    pub text: String,
    /// What it tries.
    pub class: AttackClass,
    /// What may come of it.
    pub verdict: Verdict,
}

/// What an attack tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AttackClass {
    /// A path from the root of the file system.
    Absolute,
    /// `..` as it is, or with backslashes, dots and spaces around it.
    Traversal,
    /// `..` or `/` in an encoding that some layer may undo.
    Encoded,
    /// Characters that look like dots and slashes, or that some layer folds into them.
    LookAlike,
    /// Characters that are not seen.
    Invisible,
    /// NUL and control characters.
    Control,
    /// Drives, shares and device paths of Windows.
    Drive,
    /// Names that Windows takes for a device.
    Device,
    /// Alternate data streams.
    Stream,
    /// Other names that a file system may know a file by: short names, another case, another normal form.
    OtherName,
    /// What a shell or a client would expand, and addresses.
    Expansion,
    /// Empty, too long, too deep.
    Shape,
    /// A sibling of the skill by a path without `..`.
    Sibling,
    /// A symbolic link inside the skill.
    Link,
    /// A hard link inside the skill.
    HardLink,
    /// What is no regular file, and a file without end.
    Special,
}

/// What may come of an attack. In no case may it give a byte of [`SECRET`] or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is refused by a rule.
    Refused,
    /// It is refused, or there is no such file.
    NotFound,
    /// It may also lead to something of the skill itself.
    Inside,
}

/// Returns whether bytes hold a [`SECRET`].
pub fn holds_secret(bytes: &[u8]) -> bool {
    let secret = SECRET.as_bytes();
    bytes.windows(secret.len()).any(|window| window == secret)
}
