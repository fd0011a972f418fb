//! The full path of every test in the workspace: crate, binary, modules, function.

use std::collections::BTreeSet;

use crate::source::{after_attributes, bare, is_word, matching, words};
use crate::tree::{File, files};

/// Returns the paths of all tests: `skillfold-core::it::manifest::a_test`, `skillfold-core::name::tests::another`,
/// `skillfold-python::test_skills::test_this`, `skillfold-node::frameworks::ai::skill_is_given_once`.
pub(crate) fn all() -> BTreeSet<String> {
    let rust = files().iter().filter(|file| file.is_rust()).flat_map(of);
    let others = files().iter().flat_map(|file| {
        let node = of_node(file).into_iter();
        of_python(file).into_iter().chain(node)
    });
    rust.chain(others).collect()
}

/// Returns the paths of a file's tests in JavaScript, whose names are sentences.
fn of_node(file: &File) -> Vec<String> {
    let path = file.path.strip_prefix("bindings/node/tests/");
    let Some(module) = path.and_then(|path| path.strip_suffix(".test.mjs")) else {
        return Vec::new();
    };
    let module = module.replace('/', "::");
    let names = file.text.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("test(\"")?.split_once('"')?;
        Some(name)
    });
    let word = |sign: char| if sign.is_alphanumeric() { sign } else { '_' };
    let path = |name: &str| name.replace(',', "").chars().map(word).collect::<String>();
    names
        .map(|name| format!("skillfold-node::{module}::{}", path(name)))
        .collect()
}

/// Returns the paths of a file's Python tests.
fn of_python(file: &File) -> Vec<String> {
    let path = file.path.strip_prefix("bindings/python/tests/");
    let Some(module) = path.and_then(|path| path.strip_suffix(".py")) else {
        return Vec::new();
    };
    let module = module.replace('/', "::");
    let names = file.text.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("def ")?.split_once('(')?;
        name.starts_with("test_").then_some(name)
    });
    names
        .map(|name| format!("skillfold-python::{module}::{name}"))
        .collect()
}

/// Returns the paths of a file's tests.
fn of(file: &File) -> Vec<String> {
    let Some(module) = module(&file.path) else {
        return Vec::new();
    };
    let code = bare(&file.text);
    let inner = inline_modules(&code);
    let tests = tests(&code).into_iter().map(|(position, name)| {
        let mut path = vec![module.as_str()];
        let around = inner.iter().filter(|inner| inner.covers(position));
        path.extend(around.map(|inner| inner.name));
        path.push(name);
        path.join("::")
    });
    tests.collect()
}

/// Returns a file's module path, starting with the crate and the test binary.
fn module(path: &str) -> Option<String> {
    let (krate, inside) = match path.strip_prefix("crates/") {
        Some(rest) => rest.split_once('/')?,
        None => ("skillfold-bench", path.strip_prefix("bench/")?),
    };
    let inside = inside
        .strip_prefix("src/")
        .or_else(|| inside.strip_prefix("tests/"))?;
    let mut parts: Vec<&str> = inside.strip_suffix(".rs")?.split('/').collect();
    if let Some(&("mod" | "lib" | "main")) = parts.last() {
        parts.pop();
    }
    parts.insert(0, krate);
    Some(parts.join("::"))
}

/// A `mod name { … }` inside a file.
struct Inline<'a> {
    name: &'a str,
    start: usize,
    end: usize,
}

impl Inline<'_> {
    fn covers(&self, position: usize) -> bool {
        (self.start..self.end).contains(&position)
    }
}

/// Returns the modules inside a bare text, outer ones first.
fn inline_modules(code: &str) -> Vec<Inline<'_>> {
    let modules = words(code, "mod ").filter_map(|start| {
        let rest = &code[start + "mod ".len()..];
        let (name, rest) = rest.split_at(rest.find(|c| !is_word(c))?);
        let block = rest.trim_start();
        let length = matching(block, '{', '}').filter(|_| block.starts_with('{'))?;
        Some(Inline {
            name,
            start,
            end: code.len() - block.len() + length,
        })
    });
    modules.collect()
}

/// Returns the tests in a bare text with their positions: functions after `#[test]` or `#[tokio::test]`, and functions
/// in a `proptest!` block.
fn tests(code: &str) -> Vec<(usize, &str)> {
    let mut tests = Vec::new();
    for attribute in ["#[test]", "#[tokio::test]", "#[tokio::test("] {
        for (position, _) in code.match_indices(attribute) {
            let name = function_name(after_attributes(&code[position..]));
            tests.extend(name.map(|name| (position, name)));
        }
    }
    for (position, _) in code.match_indices("proptest! {") {
        let block = &code[position..];
        let block = &block[..matching(block, '{', '}').unwrap_or(block.len())];
        let functions = block.match_indices("fn ");
        tests.extend(functions.filter_map(|(start, _)| {
            let name = function_name(&block[start..])?;
            Some((position + start, name))
        }));
    }
    tests
}

fn function_name(code: &str) -> Option<&str> {
    let name = code
        .strip_prefix("async ")
        .unwrap_or(code)
        .strip_prefix("fn ")?;
    let (name, rest) = name.split_at(name.find(|c| !is_word(c))?);
    rest.starts_with('(').then_some(name)
}

#[test]
fn tests_are_recognised_by_attribute_or_macro_block() {
    let text = "#[test]\n#[cfg(unix)]\n#[expect(\n    a,\n)]\nfn one() {}\nfn helper() {}\n// #[test]\nfn two() {}\n\
                proptest! {\n    fn three(a in 0..1) { b() }\n}\nfn four() {}\n\"#[test] fn five()\"\n\
                #[tokio::test]\nasync fn six() {}\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn seven() {}\n";
    let code = bare(text);
    let names: Vec<&str> = tests(&code).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["one", "six", "seven", "three"]);
}

#[test]
fn test_path_has_crate_binary_and_modules() {
    let text = "fn a() {}\nmod outer {\n    #[test]\n    fn deep() {}\n    mod inner {\n        #[test]\n        fn deeper() {}\n    }\n}\n\
                mod tests;\n#[test]\nfn top() {}\n";
    let paths = |path: &str| {
        let file = File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let mut paths = of(&file);
        paths.sort();
        paths.join(" ")
    };
    assert_eq!(
        paths("crates/a/src/read/mod.rs"),
        "a::read::outer::deep a::read::outer::inner::deeper a::read::top"
    );
    assert!(paths("crates/a/src/lib.rs").ends_with(" a::top"));
    assert!(paths("crates/a/tests/it/main.rs").ends_with(" a::it::top"));
    assert!(paths("crates/a/tests/it/part/of.rs").ends_with(" a::it::part::of::top"));
    assert!(paths("crates/a/tests/other.rs").ends_with(" a::other::top"));
    assert!(paths("bench/src/load.rs").ends_with(" skillfold-bench::load::top"));
    let python = File {
        path: "bindings/python/tests/compat/test_a.py".to_owned(),
        text: "def test_one(skills):\n    def test_inner():\n\ndef helper():\n".to_owned(),
    };
    assert_eq!(
        of_python(&python),
        ["skillfold-python::compat::test_a::test_one"]
    );
    let node = File {
        path: "bindings/node/tests/frameworks/ai.test.mjs".to_owned(),
        text: "test(\"a skill, of two, is given\", async () => {});\n  test(\"inner\");\n"
            .to_owned(),
    };
    assert_eq!(
        of_node(&node),
        ["skillfold-node::frameworks::ai::a_skill_of_two_is_given"]
    );
    assert_eq!(paths("fuzz/src/lib.rs"), "");
}
