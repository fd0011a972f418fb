//! The links of instructions that name files beside them.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use crate::name::ResourcePath;

/// A link to a file.
pub(crate) struct Link {
    /// Where the link stands in the instructions, in bytes.
    pub(crate) range: Range<usize>,
    /// The file as the link names it.
    pub(crate) text: String,
    pub(crate) target: Target,
}

/// Where a link leads.
pub(crate) enum Target {
    /// To this path of the skill, whether there is a file or not.
    Inside(ResourcePath),
    /// To the skill's own folder.
    Folder,
    /// Out of the skill's folder.
    Outside,
    /// To a name that no file of a skill can have.
    Nowhere,
}

/// Returns the links of instructions that name a file: no address, no anchor, no absolute path, no place to fill in.
pub(crate) fn links(body: &str) -> impl Iterator<Item = Link> {
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
            let target = target(&text);
            Some(Link {
                range,
                text,
                target,
            })
        })
}

/// Returns the part of a link that names a file beside the instructions, with `%` escapes decoded.
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
    // Angle brackets, braces and dollars are places for the reader to fill in.
    if path.is_empty()
        || has_scheme
        || path.starts_with('/')
        || path.contains(['{', '}', '<', '>', '$', '*'])
    {
        return None;
    }
    Some(decoded(path))
}

/// Decodes `%` and two digits; what is not UTF-8 then stays as it was.
fn decoded(path: &str) -> String {
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

/// Resolves a path by its names alone.
fn target(path: &str) -> Target {
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
        .map_or(Target::Nowhere, Target::Inside)
}
