//! The diff of a configuration, without what is secret in it.
//!
//! Configurations contain keys and passwords. Of the text that was there before, only names and punctuation are shown, and
//! what `setup` wrote itself.

use std::collections::BTreeSet;

use similar::{ChangeTag, TextDiff};
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
    let names = plan.names();
    // An added line may be an old one that changed.
    let old: String = diff
        .iter_all_changes()
        .filter(|change| change.tag() == ChangeTag::Delete)
        .map(|change| change.value())
        .collect();
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
        for change in hunk.iter_changes() {
            let tag = change.tag();
            let line = change.value().trim_end_matches(['\r', '\n']);
            let is_shown = |token: &str| match tag {
                ChangeTag::Insert => !old.contains(token),
                ChangeTag::Delete => is_own(token, plan.own_values()),
                ChangeTag::Equal => false,
            };
            let line = shorten(&mask(line, &names, is_shown));
            lines.push((DiffPart::Line(tag), format!("{tag}{line}")));
            if change.missing_newline() {
                lines.push((DiffPart::Hunk, "\\ No newline at end of file".to_owned()));
            }
        }
    }
    lines
}

/// Returns whether a value is one that `setup` wrote.
fn is_own(token: &str, own: &BTreeSet<String>) -> bool {
    let text = serde_json::from_str::<String>(token);
    own.contains(&text.unwrap_or_else(|_| token.trim_matches(['"', '\'']).to_owned()))
}

/// Hides all of a line of JSON, TOML or YAML but punctuation, values that may be shown, and names of values. Whether a word is
/// a name the parser has said: a line alone does not, as it may be a part of a longer text.
fn mask(line: &str, names: &BTreeSet<String>, is_shown: impl Fn(&str) -> bool) -> String {
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
        let is_name = names.contains(token.trim_matches(['"', '\'']));
        if is_name && is_followed_by_value(after) || is_shown(token) {
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
        let is_end = |c: char| c.is_whitespace() || "{}[],:=.\"'".contains(c);
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

/// Returns whether what comes after a name is its value, or the rest of a header in TOML.
fn is_followed_by_value(after: &str) -> bool {
    after.trim_start().starts_with([':', '=', '.', ']'])
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
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::mask;

    fn hidden(line: &str) -> String {
        let names = [
            "a",
            "env",
            "PORT",
            "TOKEN",
            "token",
            "url",
            "mcp_servers",
            "github",
        ];
        let names: BTreeSet<String> = names.map(str::to_owned).into();
        mask(line, &names, |_| false)
    }

    #[test]
    fn values_are_redacted_and_names_are_shown() {
        let lines = [
            (
                r#"  "env": { "TOKEN": "s3cret", "PORT": 80 },"#,
                r#"  "env": { "TOKEN": …, "PORT": … },"#,
            ),
            (
                r#"{"a":"x\"s3cret","env":["s3cret"]}"#,
                r#"{"a":…,"env":[…]}"#,
            ),
            ("TOKEN = \"s3cret\" # mine", "TOKEN = …"),
            ("token: s3cret", "token: …"),
            ("TOKEN: s3cret==", "TOKEN: …=="),
            ("  s3cret: a line of a text", "  …: …"),
            ("url: https://me:s3cret@host", "url: …:…:…"),
            ("// my token is s3cret", "…"),
            ("  \"s3cret without an end", "  …"),
            ("[mcp_servers.github]", "[mcp_servers.github]"),
            ("[s3cret]", "[…]"),
        ];
        for (line, expected) in lines {
            assert_eq!(hidden(line), expected, "{line}");
        }
    }

    #[test]
    fn new_values_are_shown() {
        let line = r#""a": "old", "b": "new""#;
        let shown = mask(line, &BTreeSet::new(), |token| token == "\"new\"");
        assert_eq!(shown, r#"…: …, …: "new""#);
    }

    proptest! {
        #[test]
        fn nothing_but_names_and_punctuation_is_shown(line in "\\PC{0,80}") {
            let words = line.split(|c: char| !c.is_alphanumeric());
            let shown = hidden(&line);
            for word in words.filter(|word| word.chars().count() > 5) {
                prop_assert!(!shown.contains(word), "{} of {}", word, line);
            }
        }
    }
}
