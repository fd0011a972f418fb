//! A crate's registry metadata is complete, and its shared part is in the workspace's manifest.

use toml::{Table, Value};

use crate::report::{Finding, Offenders};
use crate::tree::{file, files, root};

/// Fields that a crate inherits from the workspace.
const SHARED: [&str; 6] = [
    "version",
    "edition",
    "rust-version",
    "license",
    "readme",
    "keywords",
];

/// Fields that a crate has, its own or inherited.
const PRESENT: [&str; 3] = ["name", "description", "categories"];

/// Files that a published crate includes.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

#[test]
fn every_published_crate_has_metadata() {
    let workspace = file("Cargo.toml").expect("the workspace has a manifest");
    let mut offenders = Offenders::default();
    for file in files().iter().filter(|file| {
        file.path
            .strip_prefix("crates/")
            .is_some_and(|path| path.ends_with("/Cargo.toml"))
    }) {
        offenders.add(&file.path, incomplete(&file.text, &workspace.text));
    }
    offenders.expect_none("Complete the table `[package]` as the other crates do");
}

#[test]
fn every_published_crate_has_the_licences() {
    let mut offenders = Offenders::default();
    let manifests = files()
        .iter()
        .filter(|file| file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml"));
    for file in manifests.filter(|file| is_published(&parsed(&file.text)["package"])) {
        let has = |name: &&str| root().join(&file.path).with_file_name(name).is_file();
        let missing = LICENCES.iter().filter(|name| !has(name));
        let findings = missing.map(|name| Finding::new(1, format!("Crate lacks `{name}`")));
        offenders.add(&file.path, findings);
    }
    offenders.expect_none("Link to the files of the workspace as the other crates do");
}

/// Finds what a manifest lacks; nothing if its crate is not published.
fn incomplete(manifest: &str, workspace: &str) -> Vec<Finding> {
    let crate_table = parsed(manifest);
    let package = &crate_table["package"];
    if !is_published(package) {
        return Vec::new();
    }
    let is_shared = |field: &str| {
        let value = package.get(field).and_then(|value| value.get("workspace"));
        value == Some(&Value::Boolean(true))
    };
    let mut missing: Vec<String> = Vec::new();
    for field in SHARED.into_iter().filter(|field| !is_shared(field)) {
        missing.push(format!("{field}.workspace = true"));
    }
    for field in PRESENT
        .into_iter()
        .filter(|field| package.get(field).is_none())
    {
        missing.push(field.to_owned());
    }
    let docs = package.get("metadata").and_then(|table| table.get("docs"));
    if docs.and_then(|docs| docs.get("rs")).is_none() {
        missing.push("[package.metadata.docs.rs]".to_owned());
    }
    // The URL is only in the workspace's manifest. A field that the workspace lacks cannot be inherited.
    let has_address = parsed(workspace)["workspace"]["package"]
        .get("repository")
        .is_some();
    if has_address && !is_shared("repository") {
        missing.push("repository.workspace = true".to_owned());
    }
    let mut findings: Vec<Finding> = missing
        .into_iter()
        .map(|field| Finding::new(1, format!("Manifest lacks `{field}`")))
        .collect();
    if package.get("repository").is_some() && !is_shared("repository") {
        findings.push(Finding::new(1, "Manifest has an address of its own"));
    }
    findings
}

fn is_published(package: &Value) -> bool {
    package.get("publish") != Some(&Value::Boolean(false))
}

fn parsed(manifest: &str) -> Table {
    manifest.parse().expect("cargo could read the manifest too")
}

#[test]
fn incomplete_manifest_is_found() {
    let workspace = "[workspace.package]\nversion = \"1.0.0\"\n";
    let with_address = format!("{workspace}repository = \"https://example.com\"\n");
    let complete = "[package]\nname = \"a\"\ndescription = \"b\"\ncategories = [\"c\"]\nversion.workspace = true\n\
                    edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
                    readme.workspace = true\nkeywords.workspace = true\n[package.metadata.docs.rs]\nall-features = true\n";
    assert_eq!(incomplete(complete, workspace), []);
    let lacks = |field: &str| Finding::new(1, format!("Manifest lacks `{field}`"));
    assert_eq!(
        incomplete(complete, &with_address),
        [lacks("repository.workspace = true")]
    );
    let poor = complete
        .replace("readme.workspace = true\n", "")
        .replace(
            "description = \"b\"\n",
            "repository = \"https://example.org\"\n",
        )
        .replace("docs.rs", "other");
    let expected = [
        lacks("readme.workspace = true"),
        lacks("description"),
        lacks("[package.metadata.docs.rs]"),
        Finding::new(1, "Manifest has an address of its own"),
    ];
    assert_eq!(incomplete(&poor, workspace), expected);
    let unpublished = "[package]\nname = \"a\"\npublish = false\n";
    assert_eq!(incomplete(unpublished, workspace), []);
}
