//! Finds links to files in a skill's instructions.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use crate::name::ResourcePath;

/// A link to a file.
pub(crate) struct Link {
    /// The byte range of the link in the instructions.
    pub(crate) range: Range<usize>,
    /// The path as written in the link, percent-decoded.
    pub(crate) text: String,
    pub(crate) target: Target,
}

/// The target of a link.
pub(crate) enum Target {
    /// A path in the skill, whether or not the file exists.
    Inside(ResourcePath),
    /// The skill's own folder.
    Folder,
    /// A path outside the skill's folder.
    Outside,
    /// A path that is not a valid [`ResourcePath`].
    Invalid,
}

/// Returns the links to files: not URLs, anchors, absolute paths or placeholders.
pub(crate) fn file_links(body: &str) -> impl Iterator<Item = Link> {
    Parser::new_ext(body, Options::empty())
        .into_offset_iter()
        .filter_map(|(event, range)| {
            let Event::Start(
                Tag::Link {
                    link_type,
                    dest_url,
                    ..
                }
                | Tag::Image {
                    link_type,
                    dest_url,
                    ..
                },
            ) = event
            else {
                return None;
            };
            if matches!(link_type, LinkType::Email | LinkType::Autolink) {
                return None;
            }
            let text = file_part(&dest_url)?;
            let target = resolve_target(&text);
            Some(Link {
                range,
                text,
                target,
            })
        })
}

/// Returns the percent-decoded relative path of a link, without fragment and query.
fn file_part(link: &str) -> Option<String> {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let is_scheme = |scheme: &str| {
        scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
    };
    let has_scheme = path
        .split_once(':')
        .is_some_and(|(scheme, _)| is_scheme(scheme));
    // Braces, angle brackets, dollar signs and asterisks mark placeholders and patterns.
    if path.is_empty()
        || has_scheme
        || path.starts_with('/')
        || path.contains(['{', '}', '<', '>', '$', '*'])
    {
        return None;
    }
    Some(percent_decode(path))
}

/// Decodes percent escapes. Returns the path unchanged if the result is not UTF-8.
fn percent_decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after
            .get(..2)
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let escaped = hex.filter(|_| *first == b'%');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// Resolves a path lexically.
fn resolve_target(path: &str) -> Target {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            ".." if names.pop().is_none() => return Target::Outside,
            "" | "." | ".." => {}
            name => names.push(name),
        }
    }
    if names.is_empty() {
        return Target::Folder;
    }
    names
        .join("/")
        .parse()
        .map_or(Target::Invalid, Target::Inside)
}
