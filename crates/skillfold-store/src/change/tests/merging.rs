//! Three-way merges.

use crate::change::{Merged, merge};

#[test]
fn changes_in_different_places_are_merged() {
    insta::assert_snapshot!(check("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n"), @r"
    clean
    A
    b
    c
    d
    E
    f
    ");
}

#[test]
fn changes_in_the_same_place_are_conflicts() {
    insta::assert_snapshot!(check("a\nb\nc\n", "a\nB\nc\n", "a\nX\nc\n"), @r"
    conflict
    a
    <<<<<<< current
    B
    =======
    X
    >>>>>>> proposed
    c
    ");
    insta::assert_snapshot!(check("a", "b", "c"), @r"
    conflict
    <<<<<<< current
    b
    =======
    c
    >>>>>>> proposed
    ");
    insta::assert_snapshot!(check("", "a\n", "b\n"), @r"
    conflict
    <<<<<<< current
    a
    =======
    b
    >>>>>>> proposed
    ");
}

#[test]
fn conflict_markers_are_longer_than_any_in_the_text() {
    insta::assert_snapshot!(check("a\n=======\n", "b\n=======\n", "c\n=======\n<<<<<<<<\n"), @r"
    conflict
    <<<<<<<<< current
    b
    =========
    c
    >>>>>>>>> proposed
    =======
    <<<<<<<<
    ");
}

#[test]
fn final_newline_is_merged_separately() {
    insta::assert_snapshot!(check("a\nb\nc\n", "a\nb\nc", "A\nb\nc\n"), @r"
    clean
    A
    b
    c␃
    ");
    insta::assert_snapshot!(check("a\nb\nc", "a\nb\nc\n", "A\nb\nc"), @r"
    clean
    A
    b
    c
    ");
    insta::assert_snapshot!(check("x\n", "x", "x\ny\n"), @r"
    clean
    x
    y␃
    ");
    insta::assert_snapshot!(check("a\r\nb\r\nc\r\n", "a\r\nb\r\nc", "A\r\nb\r\nc\r\n"), @r"
    clean
    A␍
    b␍
    c␃
    ");
}

#[test]
fn binary_content_is_merged_only_as_a_whole() {
    let (base, other) = (b"\xff\n", b"\xfe");
    assert_eq!(merge(base, base, other), Merged::Clean(other.to_vec()));
    assert_eq!(merge(base, other, base), Merged::Clean(other.to_vec()));
    let conflict = b"<<<<<<< current\n\xfe\n=======\na\n>>>>>>> proposed\n";
    assert_eq!(
        merge(base, other, b"a\n"),
        Merged::Conflict(conflict.to_vec())
    );
}

fn check(base: &str, current: &str, proposed: &str) -> String {
    let (what, content) = match merge(base.as_bytes(), current.as_bytes(), proposed.as_bytes()) {
        Merged::Clean(content) => ("clean", content),
        Merged::Conflict(content) => ("conflict", content),
    };
    let text = String::from_utf8(content).unwrap().replace('\r', "␍");
    let end = if text.ends_with('\n') { "" } else { "␃" };
    format!("{what}\n{text}{end}")
}
