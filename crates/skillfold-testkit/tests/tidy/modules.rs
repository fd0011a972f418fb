//! In every crate and the benchmarks, reading order is dependency order, file by file.
//!
//! The order is that of the `mod` lines: a module only uses those above it. A file that declares modules may come
//! before or after them, but never both: files do not import each other in a cycle. A re-export counts as the file it
//! comes from.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::{Finding, Offenders};
use crate::source::{product, product_of, words};
use crate::tree::{File, files};
use crate::use_tree::paths_from;

/// Files that the upcoming tool layer replaces. They may form cycles until then.
const TO_BE_REPLACED: [&str; 5] = [
    "crates/skillfold-mcp/src/answer.rs",
    "crates/skillfold-mcp/src/call.rs",
    "crates/skillfold-mcp/src/direct.rs",
    "crates/skillfold-mcp/src/remembered.rs",
    "crates/skillfold-mcp/src/tools.rs",
];

/// A crate's modules by path; the crate itself has the empty path.
#[derive(Default)]
struct Modules(BTreeMap<String, Module>);

struct Module {
    file: String,
    /// The shipped code, without re-exports.
    code: String,
    /// The modules it declares, in order.
    declared: Vec<String>,
    /// Its re-exports: names and where they come from.
    exports: BTreeMap<String, String>,
}

#[test]
fn modules_use_only_modules_above_them() {
    let mut offenders = Offenders::default();
    for (_, modules) in crates() {
        for (path, module) in &modules.0 {
            offenders.add(&module.file, modules.arrows_back(path));
        }
    }
    offenders.expect_none(
        "Move the item up to the module that needs it first, or change the order of the `mod` lines if the modules still \
         read from top to bottom",
    );
}

#[test]
fn files_have_no_cyclic_imports() {
    let mut offenders = Offenders::default();
    for (_, modules) in crates() {
        let imports = modules.all_imports();
        for (path, module) in &modules.0 {
            let in_circle = |(_, other): &(usize, String)| {
                let is_replaced = |path: &str| {
                    let file = modules.0[path].file.as_str();
                    TO_BE_REPLACED.contains(&file)
                };
                reaches(&imports, other, path, &is_replaced)
            };
            let circular = modules.imports(path).into_iter().filter(in_circle);
            let finding = |(line, other)| {
                Finding::new(line, format!("Imports `{other}`, which leads back here"))
            };
            offenders.add(&module.file, circular.map(finding));
        }
    }
    offenders.expect_none("Move what both need into a file that stands above them");
}

/// Returns the modules of every crate and the benchmarks, by folder.
fn crates() -> BTreeMap<String, Modules> {
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        if let Some((folder, path)) = file.path.split_once("/src/")
            && (folder.starts_with("crates/") || folder == "bench")
        {
            let modules = crates.entry(folder.to_owned()).or_default();
            modules.add(path, file);
        }
    }
    crates
}

impl Modules {
    /// Adds a file by its path below `src`.
    fn add(&mut self, path: &str, file: &File) {
        self.insert(&module_path(path), &file.path, &product(file));
    }

    fn insert(&mut self, module: &str, file: &str, shipped: &str) {
        let declared: Vec<String> = shipped.lines().filter_map(declared).collect();
        let (code, exported) = split_exports(shipped);
        let mut exports = BTreeMap::new();
        for (_, path) in absolute_paths(module, &declared, &exported) {
            let name = path.rsplit("::").next().unwrap_or(&path).to_owned();
            exports.insert(name, path);
        }
        let module_of_file = Module {
            file: file.to_owned(),
            code,
            declared,
            exports,
        };
        self.0.insert(module.to_owned(), module_of_file);
    }

    /// Returns the modules that a module imports from, with each import's line.
    fn imports(&self, module: &str) -> BTreeSet<(usize, String)> {
        let Module { code, declared, .. } = &self.0[module];
        let paths = absolute_paths(module, declared, code).into_iter();
        let found = paths.map(|(line, path)| (line, self.resolve(&path)));
        found.filter(|(_, other)| other != module).collect()
    }

    fn all_imports(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let imports = |module: &str| self.imports(module).into_iter().map(|(_, other)| other);
        let modules = self.0.keys();
        modules
            .map(|module| (module.as_str(), imports(module).collect()))
            .collect()
    }

    /// Returns the module that contains what a path names.
    fn resolve(&self, path: &str) -> String {
        let mut path = path.to_owned();
        // A re-export may lead to another one.
        for _ in 0..8 {
            let (module, rest) = self.split(&path);
            let (name, below) = rest.split_once("::").unwrap_or((rest, ""));
            match self
                .0
                .get(module)
                .and_then(|module| module.exports.get(name))
            {
                Some(from) if below.is_empty() && *from != path => path = from.clone(),
                Some(from) if *from != path => path = format!("{from}::{below}"),
                _ => return module.to_owned(),
            }
        }
        self.split(&path).0.to_owned()
    }

    /// Splits a path into the innermost module and the rest.
    fn split<'a>(&self, path: &'a str) -> (&'a str, &'a str) {
        let ends = path.match_indices("::").map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([path.len()]).collect();
        let innermost = ends
            .into_iter()
            .rev()
            .find(|end| self.0.contains_key(&path[..*end]));
        innermost.map_or(("", path), |end| {
            (&path[..end], path[end..].trim_start_matches("::"))
        })
    }

    /// Finds imports from modules further down.
    fn arrows_back(&self, module: &str) -> Vec<Finding> {
        let finding = |(line, other): (usize, String)| {
            let (folder, own, other_name) = diverge(module, &other)?;
            let order = &self.0.get(folder)?.declared;
            let position = |name: &str| order.iter().position(|declared| declared == name);
            let is_replaced = |path: &str| TO_BE_REPLACED.contains(&self.0[path].file.as_str());
            let runs_back = position(other_name)? > position(own)?;
            let is_known = is_replaced(module) || is_replaced(&other);
            let what = format!("`{own}` uses `{other_name}`, which stands below it");
            (runs_back && !is_known).then(|| Finding::new(line, what))
        };
        self.imports(module)
            .into_iter()
            .filter_map(finding)
            .collect()
    }
}

/// Returns whether imports lead from one module to another without passing an excluded one.
fn reaches(
    imports: &BTreeMap<&str, BTreeSet<String>>,
    from: &str,
    to: &str,
    is_left_out: &dyn Fn(&str) -> bool,
) -> bool {
    if is_left_out(to) {
        return false;
    }
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        if is_left_out(module) || !seen.insert(module) {
            continue;
        }
        if module == to {
            return true;
        }
        open.extend(
            imports
                .get(module)
                .into_iter()
                .flatten()
                .map(String::as_str),
        );
    }
    false
}

/// Returns the folder in which two paths diverge, and the module in it that each leads into.
fn diverge<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
    let (mut start, mut folder_end) = (0, 0);
    loop {
        let name = |path: &'a str| path[start..].split("::").next().unwrap_or_default();
        let (own, other_name) = (name(one), name(other));
        if own.is_empty() || other_name.is_empty() {
            return None;
        }
        if own != other_name {
            return Some((&one[..folder_end], own, other_name));
        }
        folder_end = start + own.len();
        start = folder_end + 2;
        if start > one.len() || start > other.len() {
            return None;
        }
    }
}

/// Returns the module path of a file below `src`.
fn module_path(path: &str) -> String {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" || path == "main" {
        return String::new();
    }
    path.replace('/', "::")
}

/// Returns the module declared by a line such as `pub(crate) mod name;`.
fn declared(line: &str) -> Option<String> {
    let (visibility, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    (visibility.is_empty() || visibility.starts_with("pub")).then(|| name.to_owned())
}

/// Splits code into a part without `pub use` and one with only `pub use`. Lines keep their numbers.
fn split_exports(code: &str) -> (String, String) {
    let (mut kept, mut exported) = (code.to_owned(), String::new());
    for start in words(code, "use").collect::<Vec<_>>() {
        let before = code[..start].trim_end();
        let is_export = before.ends_with("pub")
            || before.ends_with(')')
                && before
                    .rsplit_once("pub(")
                    .is_some_and(|(_, scope)| !scope.contains('\n'));
        let end = code[start..]
            .find(';')
            .map_or(code.len(), |end| start + end);
        if is_export {
            exported.push_str(&code[start..end]);
            exported.push_str(";\n");
            let blank: String = code[start..end]
                .chars()
                .map(|c| if c == '\n' { c } else { ' ' })
                .collect();
            if blank.len() == end - start {
                kept.replace_range(start..end, &blank);
            }
        }
    }
    (kept, exported)
}

/// Returns the paths named in code, from the crate root.
fn absolute_paths(module: &str, declared: &[String], code: &str) -> Vec<(usize, String)> {
    let below = |base: &str, path: String| match base {
        "" => path,
        base => format!("{base}::{path}"),
    };
    let mut paths = paths_from("crate", code);
    for (line, path) in paths_from("super", code) {
        paths.push((line, from_parent(module, &path)));
    }
    for (line, path) in paths_from("self", code) {
        paths.push((line, below(module, path)));
    }
    for name in declared {
        for (line, path) in paths_from(name, code) {
            paths.push((line, below(module, format!("{name}::{path}"))));
        }
    }
    paths
}

/// Converts a path relative to a module's parent to one from the crate root.
fn from_parent(module: &str, path: &str) -> String {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    match path.strip_prefix("super::") {
        Some(path) => from_parent(parent, path),
        None if parent.is_empty() => path.to_owned(),
        None => format!("{parent}::{path}"),
    }
}

/// Builds a crate from texts, each with its path below `src`.
fn crate_of(texts: &[(&str, &str)]) -> Modules {
    let mut modules = Modules::default();
    for (path, text) in texts {
        modules.insert(&module_path(path), path, &product_of(text));
    }
    modules
}

fn arrows_back(texts: &[(&str, &str)]) -> Vec<String> {
    let modules = crate_of(texts);
    let found = modules
        .0
        .keys()
        .flat_map(|module| modules.arrows_back(module));
    found
        .map(|finding| format!("{}: {}", finding.line, finding.what))
        .collect()
}

#[test]
fn use_of_a_module_below_is_found() {
    let root = (
        "lib.rs",
        "mod name;\n\nmod read;\n\npub use read::yaml::Node;\n",
    );
    let read = (
        "read/mod.rs",
        "pub(crate) mod yaml;\n\n#[cfg(unix)]\npub(crate) mod lint;\n",
    );
    for (code, expected) in [
        (
            "use std::fmt;\nlet x = crate::read::yaml::a(c);\n",
            "2: `name` uses `read`, which stands below it",
        ),
        (
            "use super::read::lint;\n",
            "1: `name` uses `read`, which stands below it",
        ),
        (
            "use crate::Node;\n",
            "1: `name` uses `read`, which stands below it",
        ),
    ] {
        let texts = [
            root,
            read,
            ("name.rs", code),
            ("read/yaml.rs", ""),
            ("read/lint.rs", ""),
        ];
        assert_eq!(arrows_back(&texts), [expected]);
    }
    let yaml = (
        "read/yaml.rs",
        "use crate::read::{\n    lint::{lint, Lint},\n};\n",
    );
    let texts = [root, read, ("name.rs", ""), yaml, ("read/lint.rs", "")];
    assert_eq!(
        arrows_back(&texts),
        ["1: `yaml` uses `lint`, which stands below it"]
    );
    let lint = (
        "read/lint.rs",
        "use super::yaml::Node;\nuse crate::name;\n#[cfg(test)]\nmod tests {}\n",
    );
    assert!(arrows_back(&[root, read, ("name.rs", ""), ("read/yaml.rs", ""), lint]).is_empty());
}

#[test]
fn import_cycle_is_found_through_parents_but_not_exports() {
    let in_circle = |texts: &[(&str, &str)]| {
        let modules = crate_of(texts);
        let imports = modules.all_imports();
        let leads_back = |module: &&String| {
            imports[module.as_str()]
                .iter()
                .any(|other| reaches(&imports, other, module, &|_| false))
        };
        let found: Vec<String> = modules.0.keys().filter(leads_back).cloned().collect();
        found
    };
    let child = ("a/b.rs", "use crate::a::Shared;\n");
    let both = ("a/mod.rs", "mod b;\nuse b::run;\nstruct Shared;\n");
    assert_eq!(
        in_circle(&[("lib.rs", "mod a;\n"), both, child]),
        ["a", "a::b"]
    );
    let above = (
        "a/mod.rs",
        "mod b;\npub(crate) use b::run;\nstruct Shared;\n",
    );
    assert!(in_circle(&[("lib.rs", "mod a;\n"), above, child]).is_empty());
}
