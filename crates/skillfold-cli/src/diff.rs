//! The diff of a configuration, without what is secret in it.
//!
//! Configurations contain keys and passwords. Of the text that was there before, only names and punctuation are shown.

use similar::{ChangeTag, DiffOp, TextDiff};
use skillfold::core::text::first_chars;
use skillfold_setup::SetupPlan;

/// Lines of context around a change.
const CONTEXT_LINES: usize = 3;

/// Maximum characters of a line shown: some clients write everything on one line.
const MAX_LINE_CHARS: usize = 240;

/// What stands for text that is not shown.
const MASK: &str = "…";

/// The kind of a diff line.
#[derive(Clone, Copy)]
pub(crate) enum DiffPart {
    Head,
    Hunk,
    Line(ChangeTag),
}

/// Returns the diff as `diff -u` writes it, with long lines shortened.
pub(crate) fn diff_lines(plan: &SetupPlan) -> Vec<(DiffPart, String)> {
    let (before, after) = (
        plan.before().unwrap_or_default(),
        plan.after().unwrap_or_default(),
    );
    let diff = TextDiff::from_lines(before, after);
    let name = |text: Option<&str>| match text {
        Some(_) => plan.file().to_string_lossy().into_owned(),
        None => "/dev/null".to_owned(),
    };
    let is_toml = plan.file().extension().is_some_and(|it| it == "toml");
    let mut lines = Vec::new();
    for hunk in diff
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .iter_hunks()
    {
        if lines.is_empty() {
            lines.push((DiffPart::Head, format!("--- {}", name(plan.before()))));
            lines.push((DiffPart::Head, format!("+++ {}", name(plan.after()))));
        }
        lines.push((DiffPart::Hunk, hunk.header().to_string()));
        for op in hunk.ops() {
            // An added line may be an old one that changed.
            let old: String = match op {
                DiffOp::Replace { .. } => {
                    let changes = diff.iter_changes(op);
                    let deleted = changes.filter(|change| change.tag() == ChangeTag::Delete);
                    deleted.map(|change| change.value()).collect()
                }
                _ => String::new(),
            };
            for change in diff.iter_changes(op) {
                let tag = change.tag();
                let line = change.value().trim_end_matches(['\r', '\n']);
                let is_new = |token: &str| tag == ChangeTag::Insert && !old.contains(token);
                let line = shorten(&mask(line, is_toml, is_new));
                lines.push((DiffPart::Line(tag), format!("{tag}{line}")));
                if change.missing_newline() {
                    lines.push((DiffPart::Hunk, "\\ No newline at end of file".to_owned()));
                }
            }
        }
    }
    lines
}

/// Hides the values of a line of JSON, TOML or YAML, except those that are new.
fn mask(line: &str, is_toml: bool, is_new: impl Fn(&str) -> bool) -> String {
    let trimmed = line.trim();
    if is_toml && trimmed.starts_with('[') && trimmed.ends_with(']') {
        return line.to_owned();
    }
    let mut masked = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest);
        if length == 0 {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (token, after) = rest.split_at(length);
        if is_key(token, after) || is_new(token) {
            masked.push_str(token);
        } else if !masked.trim_end().ends_with(MASK) {
            masked.push_str(MASK);
        }
        rest = after;
    }
    masked.truncate(masked.trim_end().len());
    masked
}

/// Returns the length of the value or name at the start of a text; 0 if there is punctuation.
fn token_length(text: &str) -> usize {
    let mut characters = text.char_indices();
    let Some((_, quote @ ('"' | '\''))) = characters.next() else {
        let is_end = |c: char| c.is_whitespace() || "{}[],:=\"'".contains(c);
        return text.find(is_end).unwrap_or(text.len());
    };
    let mut is_escaped = false;
    let end = characters.find(|(_, c)| {
        let is_end = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && quote == '"' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Returns whether a token is a name, which has a value after it.
fn is_key(token: &str, after: &str) -> bool {
    let rest = after.trim_start();
    match rest.strip_prefix([':', '=']) {
        // A colon is also part of an address.
        Some(value) if rest.starts_with(':') && !token.starts_with(['"', '\'']) => {
            value.is_empty() || value.starts_with(char::is_whitespace)
        }
        Some(_) => true,
        None => false,
    }
}

fn shorten(line: &str) -> String {
    let start = first_chars(line, MAX_LINE_CHARS);
    match line.len() - start.len() {
        0 => line.to_owned(),
        more => format!("{start} ({more} more bytes)"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::mask;

    fn hidden(line: &str) -> String {
        mask(line, false, |_| false)
    }

    #[test]
    fn values_are_hidden_and_names_are_not() {
        let lines = [
            (
                r#"  "env": { "TOKEN": "s3cret", "PORT": 80 },"#,
                r#"  "env": { "TOKEN": …, "PORT": … },"#,
            ),
            (r#"{"a":"x\"s3cret","b":["s3cret"]}"#, r#"{"a":…,"b":[…]}"#),
            ("TOKEN = \"s3cret\" # mine", "TOKEN = … "),
            ("token: s3cret", "token: …"),
            ("url: https://me:s3cret@host", "url: …:…:…"),
            ("// my token is s3cret", "… "),
            ("  \"s3cret without an end", "  …"),
        ];
        for (line, expected) in lines {
            assert_eq!(hidden(line).trim_end(), expected.trim_end(), "{line}");
        }
        assert_eq!(
            mask("[mcp_servers.github]", true, |_| false),
            "[mcp_servers.github]"
        );
    }

    #[test]
    fn new_values_are_shown() {
        let line = r#""a": "old", "b": "new""#;
        assert_eq!(
            mask(line, false, |token| token == "\"new\""),
            r#""a": …, "b": "new""#
        );
    }

    proptest! {
        #[test]
        fn value_of_an_old_line_is_never_shown(key in "[a-zA-Z_]{1,8}", secret in "[a-zA-Z0-9+/@$]{9,30}", value in "\\PC{0,40}") {
            let value = serde_json::to_string(&format!("{value}{secret}")).unwrap();
            let lines = [
                format!("  \"{key}\": {value},"),
                format!("{key} = {value}"),
                format!("{key}: {value}"),
                format!("{key}: {secret}"),
            ];
            for line in lines {
                prop_assert!(!hidden(&line).contains(&secret), "{}", line);
            }
        }
    }
}
