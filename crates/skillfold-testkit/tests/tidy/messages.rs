//! Every message that the command and the server can print, on one page.

use std::fmt::Write as _;
use std::fs;

use crate::source::literals;
use crate::tree::{File, file, files, root};

const PAGE: &str = "docs/messages.md";
const HEAD: &str = "# Messages\n\nEvery message of the libraries, the command and the server, by the file that prints it; `{}` stands for a \
                    value. Generated: `UPDATE_DOCS=1 cargo test -p skillfold-testkit messages`. The help of the command is in \
                    [command.md](command.md), the text of each diagnostic code in [diagnostics.md](diagnostics.md).\n";

/// Code before a literal that users never see.
const INTERNAL: [&str; 7] = [
    "reason = ",
    ".expect(",
    "unreachable!(",
    "debug_assert!(",
    "Regex::new(",
    "include_str!(",
    "feature = ",
];

#[test]
fn every_message_is_listed() {
    let mut page = HEAD.to_owned();
    for file in files() {
        let is_shipped = file.inside_crate("src").is_some() && file.is_rust();
        if !is_shipped || file.path.contains("-testkit/") || file.path.ends_with("/codes.rs") {
            continue;
        }
        let messages = messages(file);
        if !messages.is_empty() {
            let path = file.path.strip_prefix("crates/").unwrap_or(&file.path);
            writeln!(page, "\n## {path}\n").unwrap();
            for message in messages {
                writeln!(page, "- {}", as_text(&message)).unwrap();
            }
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join(PAGE), &page).unwrap();
    } else {
        let known = file(PAGE).map_or("", |file| &file.text);
        assert!(
            known == page,
            "{PAGE} is not what the code says; run UPDATE_DOCS=1 cargo test -p skillfold-testkit messages, and read \
             the difference"
        );
    }
}

/// Escapes a message so that Markdown shows its tags and heading marks literally.
fn as_text(message: &str) -> String {
    let escape = if message.starts_with('#') { "\\" } else { "" };
    format!("{escape}{}", message.replace('<', "\\<"))
}

/// Returns a file's literals that read as sentences: three words or more.
fn messages(file: &File) -> Vec<String> {
    let is_shown = |before: &str| {
        !INTERNAL
            .iter()
            .any(|code| before.trim_end().ends_with(code.trim_end()))
    };
    let mut found: Vec<String> = literals(file)
        .into_iter()
        .filter(|(before, _)| is_shown(before))
        .map(|(_, text)| on_one_line(text))
        .filter(|text| is_sentence(text))
        .collect();
    found.dedup();
    found
}

fn is_sentence(text: &str) -> bool {
    let words = text
        .split(' ')
        .filter(|word| word.chars().any(char::is_alphabetic));
    words.count() >= 3
}

/// Joins a multi-line literal, and hides what is between formatting braces.
fn on_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.split("\\\n").map(str::trim_start).collect();
    let text = lines.concat().replace("\\n", " ⏎ ").replace("\\\"", "\"");
    let mut line = String::with_capacity(text.len());
    let mut is_inside = false;
    for c in text.chars() {
        if c == '}' {
            is_inside = false;
        }
        if !is_inside {
            line.push(if c == '\n' { ' ' } else { c });
        }
        if c == '{' {
            is_inside = true;
        }
    }
    line
}

#[test]
fn messages_are_distinguished_from_other_literals() {
    let text = "fn a() {\n    // \"Not this one here\"\n    b(\"Could not read `{path}`: \\\n       {error}\");\n    c(\"two words\");\n\
                    d.expect(\"nobody sees this\");\n    e('\"');\n    f(r#\"Say \"no\" to it\"#);\n}\n";
    let file = File {
        path: "crates/a/src/b.rs".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(
        messages(&file),
        ["Could not read `{}`: {}", "Say \"no\" to it"]
    );
}

#[test]
fn message_is_escaped_for_markdown() {
    assert_eq!(as_text("<b>Skills</b> of a #"), "\\<b>Skills\\</b> of a #");
    assert_eq!(as_text("## Available skills"), "\\## Available skills");
}
