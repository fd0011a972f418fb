//! Describes a skill that does not describe itself: Claude Code lists it too, by its folder's name and a line of its text.

use crate::read::frontmatter::{BYTE_ORDER_MARK, is_heading, is_unwanted_control};
use crate::text::{ELLIPSIS, first_chars, first_sentence, truncate_at_word};

/// How many bytes of the instructions are searched for a sentence.
pub(crate) const SEARCHED_BYTES: usize = 4096;

/// Maximum characters of a description from the instructions, which are not written to be one.
const MAX_CHARS: usize = 250;

/// Maximum bytes of a link that git wrote as text.
const MAX_LINK_BYTES: usize = 1024;

/// Returns the first sentence of some instructions on one line, or their first heading if they have no other text.
///
/// Only the first [`SEARCHED_BYTES`] count. Comments, code and rules are skipped, and the marks of lists and quotes
/// are removed.
pub(crate) fn describe(body: &[u8]) -> Option<String> {
    let searched = &body[..body.len().min(SEARCHED_BYTES)];
    let searched = searched.strip_prefix(BYTE_ORDER_MARK).unwrap_or(searched);
    let text = String::from_utf8_lossy(searched);
    // The last character may be cut.
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
    let (heading, paragraph) = find_paragraph(text);
    let line = one_line(first_sentence(&paragraph));
    let line = if line.is_empty() {
        one_line(heading)
    } else {
        line
    };
    (!line.is_empty()).then(|| cut(&line))
}

/// Returns whether a whole file is only the path of another one: so git checks out a symbolic link where it may not
/// create links.
pub(crate) fn is_link_text(file: &[u8]) -> bool {
    let Some(path) = str::from_utf8(file)
        .ok()
        .filter(|text| text.len() <= MAX_LINK_BYTES)
    else {
        return false;
    };
    let path = path.trim_ascii_end();
    let is_path = path.starts_with("../") || path.starts_with("./") || path.ends_with("/SKILL.md");
    is_path && !path.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Returns the first heading and the first paragraph of a text; either may be empty.
fn find_paragraph(text: &str) -> (&str, String) {
    let (mut heading, mut paragraph) = ("", String::new());
    // What ends the comment or the code that is being skipped.
    let mut skipped_until: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        if let Some(end) = skipped_until {
            skipped_until = (!line.contains(end)).then_some(end);
            continue;
        }
        let content = line.trim_start_matches(['-', '*', '+', '>', ' ']);
        let is_break = is_heading(line.as_bytes()) || is_rule(line) || content.len() < line.len();
        if is_break && !paragraph.is_empty() {
            break;
        }
        if let Some(rest) = line.strip_prefix("<!--") {
            skipped_until = (!rest.contains("-->")).then_some("-->");
        } else if let Some(fence) = ["```", "~~~"].into_iter().find(|it| line.starts_with(it)) {
            skipped_until = Some(fence);
        } else if is_heading(line.as_bytes()) {
            let title = line.trim_matches(['#', ' ']);
            heading = if heading.is_empty() { title } else { heading };
        } else if !is_rule(line) {
            paragraph.push_str(content);
            paragraph.push(' ');
        }
    }
    (heading, paragraph)
}

/// Returns whether a line is blank or has nothing but signs of the same kind, such as `---`.
fn is_rule(line: &str) -> bool {
    let first = line.chars().next();
    first.is_none_or(|first| !first.is_alphanumeric() && line.chars().all(|c| c == first))
}

/// Collapses white space and removes control characters.
fn one_line(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter(|c| c.is_whitespace() || !is_unwanted_control(*c))
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(line: &str) -> String {
    if first_chars(line, MAX_CHARS).len() == line.len() {
        return line.to_owned();
    }
    format!("{}{ELLIPSIS}", truncate_at_word(line, MAX_CHARS - 1))
}

#[cfg(test)]
mod tests {
    use super::{MAX_CHARS, describe, is_link_text};
    use proptest::prelude::*;

    fn check(text: &str) -> String {
        describe(text.as_bytes()).unwrap_or_default()
    }

    #[test]
    fn description_is_the_first_sentence_of_the_first_paragraph() {
        assert_eq!(
            check("# Title\n\nFills in\nforms. Signs them.\n\nMore."),
            "Fills in forms."
        );
        assert_eq!(check("No end\n\nMore."), "No end");
        assert_eq!(check("\u{feff}Text. More."), "Text.");
    }

    #[test]
    fn heading_describes_what_has_no_text() {
        assert_eq!(check("## Tax forms ##\n"), "Tax forms");
        assert_eq!(check("# One\n# Two\n```\ncode\n```\n"), "One");
    }

    #[test]
    fn comments_code_rules_and_marks_are_skipped() {
        assert_eq!(check("<!-- License\nmore -->\nText\n"), "Text");
        assert_eq!(
            check("<!-- License -->\n---\n```sh\nrm -rf /\n```\nText\n"),
            "Text"
        );
        assert_eq!(check("- One\n- Two\n"), "One");
        assert_eq!(check("> Quoted\n"), "Quoted");
        assert_eq!(check("Title\n=====\nText\n"), "Title");
        assert_eq!(check(" \n\n---\n"), "");
    }

    #[test]
    fn path_alone_is_a_link_as_text() {
        assert!(is_link_text(b"../pdf/SKILL.md"));
        assert!(is_link_text(b"../../common/pdf/SKILL.md\r\n"));
        assert!(is_link_text(b"common/SKILL.md"));
        assert!(!is_link_text(b"../pdf/SKILL.md\nText"));
        assert!(!is_link_text(b"Read ../pdf/SKILL.md"));
        assert!(!is_link_text(b"# Title"));
        assert!(!is_link_text(b""));
    }

    proptest! {
        #[test]
        fn description_of_any_bytes_is_one_printable_line_within_the_limit(
            body in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..6000),
                "([#>*`~<!-]{1,4}|[a-z.]{1,9}|-->|\n|\r|\u{85}|\u{1b}| ){0,60}".prop_map(String::into_bytes),
            ]
        ) {
            is_link_text(&body);
            if let Some(line) = describe(&body) {
                prop_assert!(!line.is_empty());
                prop_assert!(line.chars().count() <= MAX_CHARS);
                prop_assert!(!line.chars().any(|c| c.is_control() || (c.is_whitespace() && c != ' ')));
            }
        }
    }
}
