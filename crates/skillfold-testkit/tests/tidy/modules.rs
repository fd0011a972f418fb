//! Inside the core, reading order is dependency order.
//!
//! The order is the order of the `mod` lines. Blank lines part them into groups: modules of one group may use each
//! other, and a module may use the groups above its own. The file with the `mod` lines stands below all of them.

use crate::report::{Finding, Offenders};
use crate::source::product;
use crate::tree::{File, files};
use crate::use_tree::paths_from;

const CORE: &str = "crates/skillfold-core/src/";

/// The modules of one folder, group by group.
struct Order {
    /// The path of the folder's module; empty for the crate.
    folder: String,
    groups: Vec<Vec<String>>,
}

impl Order {
    fn place(&self, module: &str) -> Option<usize> {
        self.groups
            .iter()
            .position(|group| group.iter().any(|name| name == module))
    }

    /// Returns which of the folder's modules a path leads into, if it leads into the folder.
    fn module_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let below = match self.folder.as_str() {
            "" => path,
            folder => path.strip_prefix(folder)?.strip_prefix("::")?,
        };
        below.split("::").next()
    }
}

#[test]
fn modules_use_only_what_stands_above() {
    let mut offenders = Offenders::default();
    let core: Vec<&File> = files()
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with(CORE))
        .collect();
    for order in orders(&core) {
        for file in &core {
            let findings =
                uses_of_what_stands_below(&order, &module_path(&file.path), &product(file));
            offenders.add(&file.path, findings);
        }
    }
    offenders.expect_none(
        "Move the item up to the module that needs it first, or change the order of the `mod` lines if the modules still \
         read from top to bottom",
    );
}

/// Returns the order of the crate and of each folder right below it.
fn orders(core: &[&File]) -> Vec<Order> {
    let mut orders = Vec::new();
    for file in core {
        let module = module_path(&file.path);
        let is_folder = file.path.ends_with("/mod.rs") && !module.contains("::");
        if module.is_empty() || is_folder {
            orders.push(Order {
                folder: module,
                groups: groups(&file.text),
            });
        }
    }
    orders
}

/// Returns the path of the module that a file of the core is, without `crate`.
fn module_path(path: &str) -> String {
    let path = path.strip_prefix(CORE).unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" {
        return String::new();
    }
    path.replace('/', "::")
}

/// Returns the names on `mod` lines, in groups that blank lines part.
fn groups(text: &str) -> Vec<Vec<String>> {
    let mut groups = vec![Vec::new()];
    for line in text.lines() {
        if line.trim().is_empty() {
            groups.push(Vec::new());
        } else if let (Some(name), Some(group)) = (declared(line), groups.last_mut()) {
            group.push(name.to_owned());
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Returns the module that a line such as `pub(crate) mod name;` declares.
fn declared(line: &str) -> Option<&str> {
    let (visibility, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
}

/// Finds paths of a module that lead below its own group.
fn uses_of_what_stands_below(order: &Order, module: &str, code: &str) -> Vec<Finding> {
    let own = order.module_of(module).unwrap_or_default();
    if own.is_empty() || code.is_empty() {
        return Vec::new();
    }
    let Some(place) = order.place(own) else {
        let what = format!("Module is declared in no group: `{own}`");
        return vec![Finding::new(1, what)];
    };
    let mut paths = paths_from("crate", code);
    paths.extend(paths_from_parent(order, module, code));
    let finding = |(line, path): (usize, String)| {
        let objection = objection(order, place, &path)?;
        Some(Finding::new(line, format!("`{own}` {objection}")))
    };
    paths.into_iter().filter_map(finding).collect()
}

/// Says why a module at a place may not name a path, if it may not.
fn objection(order: &Order, place: usize, path: &str) -> Option<String> {
    let other = order.module_of(path)?;
    match order.place(other) {
        Some(other_place) if other_place <= place => None,
        Some(_) => Some(format!("uses `{other}`, which stands below it")),
        None => Some(format!(
            "names what no module above it has: `crate::{path}`"
        )),
    }
}

/// Returns the paths that start with `super` and lead to a module of the order, as paths from the crate.
///
/// Inside a module that is written in place, `super` is the file itself: names that are no modules mean nothing here.
fn paths_from_parent(order: &Order, module: &str, code: &str) -> Vec<(usize, String)> {
    let leads_to_module = |path: &str| {
        order
            .module_of(path)
            .is_some_and(|other| order.place(other).is_some())
    };
    paths_from("super", code)
        .into_iter()
        .map(|(line, path)| (line, from_parent(module, &path)))
        .filter(|(_, path)| leads_to_module(path))
        .collect()
}

/// Returns a path that starts at the parent of a module as a path from the crate.
fn from_parent(module: &str, path: &str) -> String {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    match path.strip_prefix("super::") {
        Some(path) => from_parent(parent, path),
        None if parent.is_empty() => path.to_owned(),
        None => format!("{parent}::{path}"),
    }
}

fn check(module: &str, code: &str) -> Vec<(usize, String)> {
    let crate_order = Order {
        folder: String::new(),
        groups: groups(
            "mod name;\n\nmod codes;\nmod diagnostic;\n\nmod read;\n\npub use read::Skill;\n",
        ),
    };
    let read_order = Order {
        folder: "read".to_owned(),
        groups: groups(
            "//! Lesson\n\npub(crate) mod yaml;\n\n#[cfg(unix)]\npub(crate) mod lint;\npub(in crate::read) mod rules;\n",
        ),
    };
    [crate_order, read_order]
        .iter()
        .flat_map(|order| uses_of_what_stands_below(order, module, code))
        .map(|finding| (finding.line, finding.what))
        .collect()
}

#[test]
fn a_use_of_a_module_below_is_found() {
    let found = check(
        "name",
        "use std::fmt;\nlet x = crate::diagnostic::is_odd(c);\n",
    );
    assert_eq!(
        found,
        [(
            2,
            "`name` uses `diagnostic`, which stands below it".to_owned()
        )]
    );
    let found = check(
        "read::yaml",
        "use crate::codes::Code;\nuse crate::read::{\n    lint::{lint, Lint},\n};\n",
    );
    assert_eq!(
        found[0],
        (2, "`yaml` uses `lint`, which stands below it".to_owned())
    );
    let found = check("read::yaml", "use super::rules;\n");
    assert_eq!(
        found,
        [(1, "`yaml` uses `rules`, which stands below it".to_owned())]
    );
    let found = check(
        "read::yaml::scan",
        "use super::super::super::read::rules;\n",
    );
    assert_eq!(
        found,
        [(1, "`yaml` uses `rules`, which stands below it".to_owned())]
    );
}

#[test]
fn a_use_through_the_root_is_found() {
    let found = check("codes", "use crate::Skill;\n");
    assert_eq!(
        found,
        [(
            1,
            "`codes` names what no module above it has: `crate::Skill`".to_owned()
        )]
    );
}

#[test]
fn a_module_outside_the_order_is_found() {
    assert_eq!(
        check("orphan", "fn a() {}\n"),
        [(1, "Module is declared in no group: `orphan`".to_owned())]
    );
}

#[test]
fn modules_of_one_group_and_groups_above_are_free() {
    assert_eq!(
        check(
            "codes",
            "use crate::diagnostic::Severity;\nuse crate::name;\n"
        ),
        []
    );
    assert_eq!(
        check(
            "read::lint",
            "use crate::read::{rules, yaml};\nuse super::rules::X;\n"
        ),
        []
    );
    assert_eq!(
        check("read", "use crate::codes;\npub(in crate::read) fn a() {}\n"),
        []
    );
    assert_eq!(
        check(
            "read::lint::links",
            "use super::Lint;\nuse crate::read::lint::Links;\n"
        ),
        []
    );
    assert_eq!(check("", "pub use read::Skill;\n"), []);
}
