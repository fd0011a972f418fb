//! The engine's public API has no third-party types.

use crate::report::{Finding, Offenders};
use crate::source::{line_at, matching, product, product_of, words};
use crate::tree::files;
use crate::use_tree::paths_from;

const ENGINE: [&str; 2] = ["crates/skillfold-core/", "crates/skillfold/"];

#[test]
fn third_party_types_stay_inside() {
    let foreign = third_party();
    for name in ["serde_json", "notify", "tracing_subscriber", "serde"] {
        assert!(foreign.iter().any(|other| other == name), "{name}");
    }
    let mut offenders = Offenders::default();
    for file in files().iter().filter(|file| file.is_rust()) {
        if !ENGINE.iter().any(|folder| is_source(&file.path, folder)) {
            continue;
        }
        let leaks = leaks(&product(file), &foreign).into_iter();
        offenders.add(&file.path, leaks.map(|(_, finding)| finding));
    }
    offenders.expect_none("Give the item a type of our own, or make it `pub(crate)`");
}

fn is_source(path: &str, folder: &str) -> bool {
    let path = path.strip_prefix(folder);
    path.is_some_and(|path| path.starts_with("src/"))
}

/// Returns the engine's third-party crates, whose major versions must not concern a host.
fn third_party() -> Vec<String> {
    let manifests = files().iter().filter(|file| {
        let mut folders = ENGINE.iter();
        folders.any(|folder| file.path.strip_prefix(folder) == Some("Cargo.toml"))
    });
    let mut names = Vec::new();
    for manifest in manifests {
        let table: toml::Table = manifest.text.parse().expect("cargo reads it too");
        let targets = table.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flat_map(toml::Table::values);
        let tables = targets.filter_map(toml::Value::as_table).chain([&table]);
        let dependencies = tables.filter_map(|table| table.get("dependencies")?.as_table());
        let keys = dependencies.flat_map(toml::Table::keys);
        names.extend(keys.map(|name| name.replace('-', "_")));
    }
    names.retain(|name| !name.starts_with("skillfold"));
    names.sort();
    names.dedup();
    names
}

/// Finds public items that name a third-party crate, or a type imported from one. Returns the name and the finding.
fn leaks(code: &str, third_party: &[String]) -> Vec<(String, Finding)> {
    let mut foreign = third_party.to_vec();
    foreign.extend(
        third_party
            .iter()
            .flat_map(|name| imported_types(name, code)),
    );
    let leak = |position: usize| {
        let item = public_part(&code[position + "pub ".len()..]);
        // A module of ours may share a crate's name.
        if item.starts_with("mod ") {
            return None;
        }
        // An attribute such as `#[serde(...)]` names no type.
        let is_named = |name: &&String| words(item, name).any(|at| !item[..at].ends_with("#["));
        let name = foreign.iter().find(is_named)?;
        let what = format!("Public item names `{name}` of another project");
        Some((name.clone(), Finding::new(line_at(code, position), what)))
    };
    words(code, "pub ").filter_map(leak).collect()
}

/// Returns the types a file imports from a crate.
fn imported_types(name: &str, code: &str) -> Vec<String> {
    let lines: Vec<&str> = code.lines().collect();
    paths_from(name, code)
        .into_iter()
        .filter(|(line, _)| lines[line - 1].trim_start().starts_with("use "))
        .filter_map(|(_, path)| path.rsplit("::").next().map(str::to_owned))
        .filter(|name| name.starts_with(char::is_uppercase))
        // A trait imported only for its methods.
        .filter(|name| !code.contains(&format!("{name} as _")))
        .collect()
}

/// Returns the part of an item that is public when the item is: a signature, a header, an entire enum or trait.
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
fn public_third_party_type_is_found() {
    let code = "use rustix::fd::{AsFd, OwnedFd};use serde::Own as _;\npub use serde::Serialize;\npub struct A {\n    pub b: OwnedFd,\n    c: OwnedFd,\n}\n\
                pub fn d(\n    e: clap::Args,\n) -> u8 {\n    memchr::f()\n}\npub enum G {\n    #[serde(x)]\n    H(OwnedFd),\n}\n\
                pub(crate) fn i(j: OwnedFd) {}\npub struct K(OwnedFd);\npub const L: u8 = memchr::M;\n\
                let n = rustix::Kind::Scalar;\npub struct Scalar;\n";
    let third_party = ["clap", "memchr", "rustix", "serde"].map(str::to_owned);
    let found: Vec<_> = leaks(&product_of(code), &third_party)
        .into_iter()
        .map(|(_, finding)| (finding.line, finding.what))
        .collect();
    let expected = [(2, "serde"), (4, "OwnedFd"), (7, "clap"), (12, "OwnedFd")];
    let said = |name| format!("Public item names `{name}` of another project");
    assert_eq!(found, expected.map(|(line, name)| (line, said(name))));
}
