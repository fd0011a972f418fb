//! What a host sees of the engine is the engine's own.

use crate::report::{Finding, Offenders};
use crate::source::{line_at, matching, product, product_of, words};
use crate::tree::files;
use crate::use_tree::paths_from;

/// Crates of others that the engine is built with; their major versions are no business of a host.
const THIRD_PARTY: [&str; 16] = [
    "aho_corasick",
    "arc_swap",
    "hashbrown",
    "lru",
    "tracing",
    "regex",
    "schemars",
    "toml",
    "rustix",
    "saphyr_parser",
    "pulldown_cmark",
    "memchr",
    "serde",
    "tempfile",
    "tiktoken_rs",
    "clap",
];

const ENGINE: [&str; 2] = ["crates/skillfold-core/src/", "crates/skillfold/src/"];

#[test]
fn third_party_types_stay_inside() {
    let mut offenders = Offenders::default();
    for file in files().iter().filter(|file| file.is_rust()) {
        if ENGINE.iter().any(|folder| file.path.starts_with(folder)) {
            offenders.add(&file.path, leaks(&product(file)));
        }
    }
    offenders.expect_none("Give the item a type of our own, or make it `pub(crate)`");
}

/// Finds public items that name a third-party crate, or a type that the file imports from one.
fn leaks(code: &str) -> Vec<Finding> {
    let mut foreign: Vec<String> = THIRD_PARTY.map(str::to_owned).to_vec();
    foreign.extend(
        THIRD_PARTY
            .iter()
            .flat_map(|name| imported_types(name, code)),
    );
    let leak = |position: usize| {
        let item = public_part(&code[position + "pub ".len()..]);
        // An attribute such as `#[serde(...)]` names no type.
        let is_named = |name: &&String| words(item, name).any(|at| !item[..at].ends_with("#["));
        let name = foreign.iter().find(is_named)?;
        let what = format!("Public item names `{name}` of another project");
        Some(Finding::new(line_at(code, position), what))
    };
    words(code, "pub ").filter_map(leak).collect()
}

/// Returns the types that a file imports from a crate.
fn imported_types(name: &str, code: &str) -> Vec<String> {
    let lines: Vec<&str> = code.lines().collect();
    paths_from(name, code)
        .into_iter()
        .filter(|(line, _)| lines[line - 1].trim_start().starts_with("use "))
        .filter_map(|(_, path)| path.rsplit("::").next().map(str::to_owned))
        .filter(|name| name.starts_with(char::is_uppercase))
        .collect()
}

/// Returns the part of an item that is public when the item is: a signature, a header, all of an enum or a trait.
fn public_part(item: &str) -> &str {
    let until = |ends: &[char]| &item[..item.find(ends).unwrap_or(item.len())];
    match item.split_whitespace().next().unwrap_or_default() {
        "enum" | "trait" => &item[..matching(item, '{', '}').unwrap_or(item.len())],
        "use" | "type" => until(&[';']),
        "static" => until(&['=', ';']),
        "const" if !item.starts_with("const fn") => until(&['=', ';']),
        "struct" | "union" => until(&['{', '(', ';']),
        "fn" | "const" | "async" | "extern" | "mod" => until(&['{', ';']),
        _ => until(&['\n']),
    }
}

#[test]
fn a_third_party_type_in_public_is_found() {
    let code = "use rustix::fd::{AsFd, OwnedFd};\npub use serde::Serialize;\npub struct A {\n    pub b: OwnedFd,\n    c: OwnedFd,\n}\n\
                pub fn d(\n    e: clap::Args,\n) -> u8 {\n    memchr::f()\n}\npub enum G {\n    #[serde(x)]\n    H(OwnedFd),\n}\n\
                pub(crate) fn i(j: OwnedFd) {}\npub struct K(OwnedFd);\npub const L: u8 = memchr::M;\n\
                let n = rustix::Kind::Scalar;\npub struct Scalar;\n";
    let found: Vec<_> = leaks(&product_of(code))
        .into_iter()
        .map(|finding| (finding.line, finding.what))
        .collect();
    let expected = [(2, "serde"), (4, "OwnedFd"), (7, "clap"), (12, "OwnedFd")];
    let said = |name| format!("Public item names `{name}` of another project");
    assert_eq!(found, expected.map(|(line, name)| (line, said(name))));
}
