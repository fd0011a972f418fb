//! URIs of skills and their files: `skill://name/path`.

use std::fmt::Write as _;

const SCHEME: &str = "skill://";

/// A parsed skill URI.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SkillUri {
    /// The skill's name.
    pub(crate) name: String,
    /// The path inside the skill; empty for its folder.
    pub(crate) path: String,
}

/// Builds the URI of a skill's file or folder. The empty path is the skill's own folder.
pub(crate) fn build(name: &str, path: &str) -> String {
    let mut uri = String::from(SCHEME);
    uri.push_str(name);
    if !path.is_empty() {
        uri.push('/');
        encode(path, &mut uri);
    }
    uri
}

/// Parses a URI. Returns `None` if it is not ours, or not in [`build`]'s format.
pub(crate) fn parse(uri: &str) -> Option<SkillUri> {
    let rest = uri.strip_prefix(SCHEME)?;
    let (name, path) = match rest.split_once('/') {
        Some((_, "")) => return None,
        Some((name, path)) => (name, decode(path)?),
        None => (rest, String::new()),
    };
    // Each file has exactly one URI; any other spelling is rejected.
    (!name.is_empty() && build(name, &path) == uri).then(|| SkillUri {
        name: name.to_owned(),
        path,
    })
}

/// Appends a path, percent-encoding everything not allowed in a URI path.
fn encode(path: &str, into: &mut String) {
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            into.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

pub(crate) fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{SkillUri, build, parse};

    #[test]
    fn every_path_round_trips_through_its_uri() {
        for path in ["", "SKILL.md", "a b/c%20.md", "größe/#1?.txt", "x/y/z"] {
            let uri = build("pdf", path);
            let (name, path) = ("pdf".to_owned(), path.to_owned());
            assert_eq!(parse(&uri), Some(SkillUri { name, path }), "{uri}");
        }
        assert_eq!(build("pdf", "a b/é.md"), "skill://pdf/a%20b/%C3%A9.md");
    }

    #[test]
    fn non_canonical_uri_resolves_to_nothing() {
        for uri in [
            "",
            "skill://",
            "skill:///SKILL.md",
            "skill://pdf/",
            "skill://pdf/%",
            "skill://pdf/%2e%2e/x",
            "skill://pdf/%53KILL.md",
            "skill://pdf/a%2fb",
            "skill://pdf/%ff",
            "skill://pdf/x?y",
            "skill://pdf/x#y",
            "SKILL://pdf/SKILL.md",
            "file:///etc/passwd",
        ] {
            assert_eq!(parse(uri), None, "{uri}");
        }
    }
}
