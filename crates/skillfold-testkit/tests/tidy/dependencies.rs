//! Which crate may depend on which, and why each dependency is there.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::report::{Finding, Offenders};
use crate::source::line_at;
use crate::tree::files;

/// The workspace crates that each crate may use, from the outside in.
const INWARD: [(&str, &[&str]); 16] = [
    ("skillfold-core", &[]),
    ("skillfold-index", &["skillfold-core"]),
    ("skillfold-store", &["skillfold-core"]),
    ("skillfold-run", &["skillfold-core"]),
    ("skillfold-registry", &["skillfold-core"]),
    (
        "skillfold",
        &[
            "skillfold-core",
            "skillfold-index",
            "skillfold-store",
            "skillfold-run",
            "skillfold-registry",
        ],
    ),
    ("skillfold-http", &["skillfold-core"]),
    (
        "skillfold-mcp",
        &["skillfold-core", "skillfold", "skillfold-http"],
    ),
    (
        "skillfold-setup",
        &["skillfold-core", "skillfold", "skillfold-store"],
    ),
    (
        "skillfold-hook",
        &["skillfold-core", "skillfold", "skillfold-store"],
    ),
    (
        "skillfold-cli",
        &[
            "skillfold-core",
            "skillfold",
            "skillfold-http",
            "skillfold-mcp",
            "skillfold-setup",
            "skillfold-hook",
        ],
    ),
    (
        "skillfold-hub",
        &[
            "skillfold-core",
            "skillfold-http",
            "skillfold-index",
            "skillfold-registry",
        ],
    ),
    ("skillfold-calls", &["skillfold"]),
    ("skillfold-python", &["skillfold", "skillfold-calls"]),
    ("skillfold-node", &["skillfold", "skillfold-calls"]),
    ("skillfold-testkit", &[]),
];

/// Benchmarks and fuzz targets are not shipped; they may use anything.
const FREE: [&str; 2] = ["bench/Cargo.toml", "fuzz/Cargo.toml"];

const KINDS: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

struct Dependency {
    /// The table it is in, such as `dev-dependencies` or `workspace.dependencies`.
    table: String,
    package: String,
    line: usize,
}

#[test]
fn dependencies_point_inward() {
    let mut offenders = Offenders::default();
    for file in files().iter().filter(|file| file.is_manifest()) {
        if !FREE.contains(&file.path.as_str()) {
            offenders.add(&file.path, outward(&file.text));
        }
    }
    offenders.expect_none(
        "Move the code to the crate that may have the dependency; ARCHITECTURE.md says which; a new crate is added to the \
         table in crates/skillfold-testkit/tests/tidy/dependencies.rs",
    );
}

#[test]
fn every_dependency_has_a_reason() {
    let mut offenders = Offenders::default();
    for file in files().iter().filter(|file| file.is_manifest()) {
        offenders.add(&file.path, unexplained(&file.text));
    }
    offenders.expect_none("Write on the line above the dependency, after `#`, what it is for");
}

/// Finds dependencies that point outward or sideways.
fn outward(manifest: &str) -> Vec<Finding> {
    let table = parsed(manifest);
    let Some(name) = package_name(table.get_ref()) else {
        return Vec::new();
    };
    let Some((_, inward)) = INWARD.iter().find(|(known, _)| *known == name) else {
        return vec![Finding::new(
            1,
            format!("Crate is not in the table: `{name}`"),
        )];
    };
    let is_allowed = |dependency: &Dependency| {
        let is_test = dependency.table == "dev-dependencies";
        !is_internal(&dependency.package)
            || inward.contains(&dependency.package.as_str())
            || (is_test && ["skillfold-testkit", name].contains(&dependency.package.as_str()))
    };
    dependencies(manifest)
        .into_iter()
        .filter(|dependency| !is_allowed(dependency))
        .map(|dependency| {
            let what = format!("`{name}` may not depend on `{}`", dependency.package);
            Finding::new(dependency.line, what)
        })
        .collect()
}

/// Finds dependencies without a comment on the line above them.
fn unexplained(manifest: &str) -> Vec<Finding> {
    let lines: Vec<&str> = manifest.lines().collect();
    let is_explained = |dependency: &Dependency| {
        let above = dependency
            .line
            .checked_sub(2)
            .map_or("", |above| lines[above]);
        above.trim().trim_start_matches('#').len() < above.trim().len()
            && !above.trim_matches(['#', ' ']).is_empty()
    };
    let is_exempt = |dependency: &Dependency| {
        dependency.table == "workspace.dependencies" && is_internal(&dependency.package)
    };
    dependencies(manifest)
        .into_iter()
        .filter(|dependency| !is_exempt(dependency) && !is_explained(dependency))
        .map(|dependency| {
            let what = format!(
                "Dependency does not say why it is there: `{}`",
                dependency.package
            );
            Finding::new(dependency.line, what)
        })
        .collect()
}

/// Returns a manifest's dependencies, including those of targets and the workspace, by line.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let parsed = parsed(manifest);
    let root = parsed.get_ref();
    let targets = child(root, "target").into_iter().flat_map(DeTable::values);
    let holders = targets
        .filter_map(|target| target.get_ref().as_table())
        .chain([root]);
    let mut found = Vec::new();
    for holder in holders {
        for kind in KINDS {
            collect(manifest, kind, child(holder, kind), &mut found);
        }
    }
    let shared = child(root, "workspace").and_then(|workspace| child(workspace, "dependencies"));
    collect(manifest, "workspace.dependencies", shared, &mut found);
    found.sort_by_key(|dependency| dependency.line);
    found
}

fn collect(manifest: &str, name: &str, table: Option<&DeTable<'_>>, found: &mut Vec<Dependency>) {
    for (key, value) in table.into_iter().flatten() {
        let package = value
            .get_ref()
            .get("package")
            .and_then(|package| package.get_ref().as_str());
        found.push(Dependency {
            table: name.to_owned(),
            package: package.unwrap_or(key.get_ref()).to_owned(),
            line: line_at(manifest, key.span().start),
        });
    }
}

fn parsed(manifest: &str) -> Spanned<DeTable<'_>> {
    DeTable::parse(manifest).expect("cargo could read the manifest too")
}

fn package_name<'a>(root: &'a DeTable<'_>) -> Option<&'a str> {
    child(root, "package")?.get("name")?.get_ref().as_str()
}

fn child<'a, 'text>(table: &'a DeTable<'text>, name: &str) -> Option<&'a DeTable<'text>> {
    table
        .get(name)
        .map(Spanned::get_ref)
        .and_then(DeValue::as_table)
}

fn is_internal(package: &str) -> bool {
    package == "skillfold" || package.starts_with("skillfold-")
}

#[test]
fn outward_dependency_is_found() {
    let manifest = "[package]\nname = \"skillfold-core\"\n[dependencies]\nskillfold.workspace = true\nmemchr = \"2\"\n\
                    [target.'cfg(unix)'.build-dependencies]\nother = { package = \"skillfold-run\", version = \"1\" }\n\
                    [dev-dependencies]\nskillfold-testkit.workspace = true\n";
    let expected = [
        Finding::new(4, "`skillfold-core` may not depend on `skillfold`"),
        Finding::new(7, "`skillfold-core` may not depend on `skillfold-run`"),
    ];
    assert_eq!(outward(manifest), expected);
}

#[test]
fn shipped_testkit_is_found() {
    let manifest = "[package]\nname = \"skillfold-cli\"\n[dependencies]\nskillfold-mcp = \"0\"\nskillfold-testkit = \"0\"\n";
    assert_eq!(
        outward(manifest),
        [Finding::new(
            5,
            "`skillfold-cli` may not depend on `skillfold-testkit`"
        )]
    );
}

#[test]
fn crate_missing_from_the_table_is_found() {
    let manifest = "[package]\nname = \"skillfold-types\"\n";
    assert_eq!(
        outward(manifest),
        [Finding::new(
            1,
            "Crate is not in the table: `skillfold-types`"
        )]
    );
}

#[test]
fn dependency_without_a_comment_is_found() {
    let manifest = "[workspace.dependencies]\nskillfold = \"0\"\n# Why.\na = { version = \"1\", features = [\n  \"x\",\n] }\n\
                    b = \"1\"\n#\nc = \"1\"\n\n[dependencies]\n# Why.\n\nd = \"1\"\nskillfold-core = \"0\"\n\n\
                    # Why.\n[dev-dependencies.e]\nversion = \"1\"\n";
    let lines: Vec<_> = unexplained(manifest)
        .into_iter()
        .map(|finding| finding.line)
        .collect();
    assert_eq!(lines, [7, 9, 14, 15]);
}
