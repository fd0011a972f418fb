//! One name per thing: no two types in a crate share a name, and few names are at the root.

use std::collections::BTreeMap;

use crate::report::{Finding, Offenders};
use crate::source::{line_at, product, product_of, words};
use crate::tree::{File, file, files};

const KINDS: [&str; 5] = ["struct", "enum", "trait", "union", "type"];

#[test]
fn no_two_types_of_a_crate_share_a_name() {
    let mut first: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut offenders = Offenders::default();
    for file in files() {
        let Some(crate_name) = shipped_in(file) else {
            continue;
        };
        for (line, name) in types(&product(file)) {
            let place = format!("{}:{line}", file.path);
            let known = first.entry((crate_name.to_owned(), name.clone()));
            let earlier = known.or_insert_with(|| place.clone());
            if *earlier != place && !are_alternatives(earlier, &file.path) {
                let what = format!("`{name}` is the name of a type at {earlier} too");
                offenders.add(&file.path, [Finding::new(line, what)]);
            }
        }
    }
    offenders.expect_none("Name each type after what it is; docs/concepts.md has our words");
}

#[test]
fn no_two_public_types_share_a_name_across_crates() {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut offenders = Offenders::default();
    for file in files() {
        let Some(crate_name) = shipped_in(file) else {
            continue;
        };
        let code = product(file);
        for (line, name) in types(&code) {
            let is_public =
                (code.lines().nth(line - 1)).is_some_and(|text| text.starts_with("pub "));
            let known = || crate_name.to_owned();
            let earlier = is_public.then(|| first.entry(name.clone()).or_insert_with(known));
            if let Some(earlier) = earlier
                && *earlier != crate_name
            {
                let what = format!("`{name}` is a public type of {earlier} too");
                offenders.add(&file.path, [Finding::new(line, what)]);
            }
        }
    }
    offenders.expect_none("A program that uses both has to rename one");
}

/// Returns a shipped file's crate.
fn shipped_in(file: &File) -> Option<&str> {
    file.inside_crate("src")?;
    let is_shipped = file.is_rust() && !file.path.starts_with("crates/skillfold-testkit/");
    is_shipped.then(|| file.path.split('/').nth(1)).flatten()
}

/// Returns whether a build has only one of two types: both are in one file, or the files are for different systems.
fn are_alternatives(earlier: &str, path: &str) -> bool {
    let pair = |one: &str, other: &str| earlier.contains(one) && path.contains(other);
    let is_same_file = earlier.starts_with(&format!("{path}:"));
    is_same_file || pair("/portable.rs", "/unix.rs") || pair("/unix.rs", "/portable.rs")
}

/// Returns the line and name of each type that a text defines. Associated types and types inside functions are not
/// names of the crate.
fn types(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut position = 0;
    for line in code.split_inclusive('\n') {
        let item = line.strip_prefix("pub ").unwrap_or(line);
        let item = match item
            .strip_prefix("pub(")
            .and_then(|rest| rest.split_once(") "))
        {
            Some((_, item)) => item,
            None => item,
        };
        let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let (Some(kind), Some(name)) = (words.next(), words.next())
            && KINDS.contains(&kind)
            && name.starts_with(char::is_uppercase)
        {
            found.push((line_at(code, position), name.to_owned()));
        }
        position += line.len();
    }
    found
}

#[test]
fn public_types_are_found_anywhere_except_associated_ones() {
    let code = "struct A;\npub enum B<'a> {\n    C(&'a str),\n}\npub(crate) trait D {\n    type E;\n}\n// struct F;\ntype G = u8;\n\
                fn h() {\n    struct I;\n}\n";
    let names: Vec<_> = types(&product_of(code))
        .into_iter()
        .map(|(line, name)| format!("{line} {name}"))
        .collect();
    assert_eq!(names, ["1 A", "2 B", "5 D", "9 G"]);
}

const MAX_ROOT_NAMES: usize = 40;

#[test]
fn engine_crate_roots_export_at_most_40_names() {
    for name in ["skillfold-core", "skillfold"] {
        let root = file(&format!("crates/{name}/src/lib.rs")).expect("every crate has a root");
        let names = root_names(&product(root));
        assert!(
            names.len() <= MAX_ROOT_NAMES,
            "{} names at the root of {name}; export those that few programs need from their module: {names:?}",
            names.len()
        );
    }
}

/// Returns the public modules and exported names of a crate's root.
fn root_names(code: &str) -> Vec<String> {
    let modules = code.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ")?.strip_suffix(';')?;
        Some(name.to_owned())
    });
    let exports = words(code, "pub use").flat_map(|start| {
        let tree = &code[start + "pub use".len()..];
        let tree = &tree[..tree.find(';').unwrap_or(tree.len())];
        let (_, names) = tree.rsplit_once("::").unwrap_or(("", tree));
        let names = names.trim_matches(['{', '}', ' ', '\n']).split(',');
        names.map(|name| name.trim().to_owned()).collect::<Vec<_>>()
    });
    modules
        .chain(exports)
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn modules_and_exports_count_as_root_names() {
    let code = "mod a;\npub mod b;\npub use a::C;\npub use b::d::{\n    E, F as G,\n};\n";
    assert_eq!(root_names(code), ["b", "C", "E", "F as G"]);
}
