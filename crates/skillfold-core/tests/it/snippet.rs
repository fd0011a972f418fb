//! A frontend has all it needs to show the line with the place underlined.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use skillfold_core::Diagnostic;
use skillfold_core::read::parse;

fn drawn(text: &str, diagnostic: &Diagnostic) -> String {
    let range = diagnostic.span.unwrap().bytes_in(text);
    let message = diagnostic.message.to_string();
    let snippet = Snippet::source(text)
        .path("a/SKILL.md")
        .annotation(AnnotationKind::Primary.span(range));
    let report = [Level::WARNING
        .primary_title(&*message)
        .id(diagnostic.code.number())
        .element(snippet)];
    Renderer::plain().render(&report)
}

fn drawings(text: &str) -> String {
    let parsed = parse(text.as_bytes(), "a");
    let drawings: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|finding| drawn(text, finding))
        .collect();
    drawings.join("\n\n")
}

#[test]
fn finding_is_underlined_in_the_original_file() {
    let text = "---\nname: a\ndescription: Use when: filling in forms\n---\n";
    insta::assert_snapshot!(drawings(text), @"
    warning[SF010]: A second `: ` on the line of a field
     --> a/SKILL.md:3:22
      |
    3 | description: Use when: filling in forms
      |                      ^

    warning[SF101]: Value of `description` has an unquoted `: `
     --> a/SKILL.md:3:14
      |
    3 | description: Use when: filling in forms
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn removed_control_characters_do_not_shift_later_positions() {
    let text = "---\nname: a\u{7}\u{7}b\ndescription: \u{1b}x\u{1b}: y\n---\n";
    insta::assert_snapshot!(drawings(text), @"
    warning[SF108]: Control character U+0007
     --> a/SKILL.md:2:8
      |
    2 | name: a␇␇b
      |        ^

    warning[SF010]: A second `: ` on the line of a field
     --> a/SKILL.md:3:17
      |
    3 | description: ␛x␛: y
      |                 ^

    warning[SF101]: Value of `description` has an unquoted `: `
     --> a/SKILL.md:3:15
      |
    3 | description: ␛x␛: y
      |               ^^^^^

    warning[SF305]: Name `ab` differs from the folder's name `a`
     --> a/SKILL.md:2:7
      |
    2 | name: a␇␇b
      |       ^^^^
    ");
}

#[test]
fn columns_count_characters_not_bytes() {
    let text = "\u{feff}---\nname: Größe\ndescription: ü: ü\n---\n";
    insta::assert_snapshot!(drawings(text), @"
    warning[SF105]: File starts with a byte-order mark
     --> a/SKILL.md:1:2
      |
    1 | ﻿---
      | ^

    warning[SF010]: Mapping values are not allowed in this context
     --> a/SKILL.md:3:15
      |
    3 | description: ü: ü
      |               ^

    warning[SF101]: Value of `description` has an unquoted `: `
     --> a/SKILL.md:3:14
      |
    3 | description: ü: ü
      |              ^^^^

    warning[SF303]: Name has upper-case letters: `Größe`
     --> a/SKILL.md:2:7
      |
    2 | name: Größe
      |       ^^^^^

    warning[SF305]: Name `Größe` differs from the folder's name `a`
     --> a/SKILL.md:2:7
      |
    2 | name: Größe
      |       ^^^^^
    ");
}
