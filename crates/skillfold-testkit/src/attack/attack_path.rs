//! A path that tries to leave a skill, and its acceptable outcomes.

/// The content of every file that none of the skill's paths may lead to. Also used as a file name.
pub const SECRET: &str = "skillfold-secret-7c1d9e";

/// The content of a file outside the root with a hard link inside the skill. Under the default policy it is one of the
/// skill's files; with strict links it is refused.
pub const SHARED: &str = "skillfold-shared-2b40aa";

/// The attacked skill's folder, in the root of a hostile tree.
pub const ATTACKED_SKILL: &str = "pdf";

/// A path requested from the skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttackPath {
    /// The requested path.
    pub text: String,
    /// What it attempts.
    pub class: AttackClass,
    /// The acceptable outcomes.
    pub expected: ExpectedOutcome,
}

/// What an attack attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AttackClass {
    /// An absolute path.
    Absolute,
    /// `..` as is, or with backslashes, dots and spaces around it.
    Traversal,
    /// `..` or `/` in an encoding that some layer may decode.
    Encoded,
    /// Characters that look like dots and slashes, or that some layer folds into them.
    LookAlike,
    /// Invisible characters.
    Invisible,
    /// NUL and control characters.
    Control,
    /// Windows drives, shares and device paths.
    Drive,
    /// Names that Windows treats as devices.
    Device,
    /// Alternate data streams.
    Stream,
    /// Other names that a file system may accept for a file: short names, another case, another normal form.
    OtherName,
    /// What a shell or client would expand, and URLs.
    Expansion,
    /// Empty, too long, too deep.
    Shape,
    /// A sibling of the skill, by a path without `..`.
    Sibling,
    /// A symbolic link inside the skill.
    Link,
    /// A hard link inside the skill.
    HardLink,
    /// Special files, and a file of practically infinite size.
    Special,
}

/// The acceptable outcomes of an attack. None may return a byte of [`SECRET`] or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedOutcome {
    /// A rule refuses it.
    Refused,
    /// It is refused, or there is no such file.
    NotFound,
    /// It may also lead to one of the skill's own files.
    Inside,
}

/// Builds attacks in one class.
pub(super) fn attacks_of(
    class: AttackClass,
    expected: ExpectedOutcome,
    texts: impl IntoIterator<Item = impl Into<String>>,
) -> Vec<AttackPath> {
    let texts = texts.into_iter().map(Into::into);
    texts
        .map(|text| AttackPath {
            text,
            class,
            expected,
        })
        .collect()
}

/// Returns whether bytes contain [`SECRET`].
pub fn contains_secret(bytes: &[u8]) -> bool {
    let secret = SECRET.as_bytes();
    bytes.windows(secret.len()).any(|window| window == secret)
}
