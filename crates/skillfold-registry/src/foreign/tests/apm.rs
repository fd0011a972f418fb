use proptest::prelude::*;

use super::show;
use crate::foreign::parse_apm_lock;

fn check(text: &str) -> String {
    show(parse_apm_lock(text, "apm.lock.yaml"))
}

fn check_package(fields: &str) -> String {
    let lines: Vec<&str> = fields.lines().map(str::trim).collect();
    let lines = lines.join("\n  ");
    check(&format!(
        "lockfile_version: '1'\ndependencies:\n- repo_url: o/tools\n  {lines}\n"
    ))
}

/// `sources.yaml` was written by the `LockFile` class of apm-cli 0.35.0, `local.yaml` by its `install`.
#[test]
fn file_written_by_apm_is_read() {
    insta::assert_snapshot!(check(include_str!("apm/sources.yaml")), @r"
    pdf-forms from github.com/acme/agent-skills
      folder: skills/pdf-forms
      version: 1.4.2
      ref: v1.4.2
      commit: 0123456789abcdef0123456789abcdef01234567
      content: sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    sec from acme/sec
      resolved: https://registry.example.com/v1/packages/acme/sec/versions/1.0.3/download
      version: 1.0.3
      artifact: sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd
    review from gitlab.example.com:8443/platform/review
      chosen: lint review
      ref: main
      commit: ffffffffffffffffffffffffffffffffffffffff
      content: sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
      required by: acme/agent-skills
    ");
    insta::assert_snapshot!(check(include_str!("apm/local.yaml")), @r"
    pkg from ../pkg
      version: 1.0.0
      content: sha256:65239f3806f3d1e0f36cfde9520f8f30cc5176e3ddade568730d67d7686486e2
    ");
}

#[test]
fn file_without_packages_is_empty() {
    insta::assert_snapshot!(check("lockfile_version: '1'\ndependencies: []\n"), @"");
    insta::assert_snapshot!(check("dependencies:\n"), @"");
}

#[test]
fn file_of_something_else_is_an_error_and_not_empty() {
    insta::assert_snapshot!(check("name: x\n"), @r"
    Lock file `apm.lock.yaml` is broken: it has neither `lockfile_version` nor `dependencies`
    hint: Correct it or restore it from version control; it was left as it is
    ");
}

#[test]
fn unknown_version_is_an_error() {
    insta::assert_snapshot!(check("lockfile_version: '4'\ndependencies: []\n"), @r"
    Lock file `apm.lock.yaml` has version 4, Skillfold knows 1 to 3
    hint: Update Skillfold, or the tool that wrote the file if its version is older; it was left as it is
    ");
}

#[test]
fn broken_file_is_an_error_that_says_where() {
    let texts = [
        "",
        "- a\n",
        "dependencies: {}\n",
        "dependencies: [x]\n",
        "dependencies:\n- name: x\n",
        "<<<<<<< ours\ndependencies: []\n=======\n",
        "dependencies: []\ndependencies: []\n",
        "a: &x 1\nb: *x\n",
        "dependencies: !!python/object []\n",
        "dependencies: []\n---\ndependencies: []\n",
    ];
    insta::assert_snapshot!(texts.map(check).map(|it| it.lines().next().unwrap_or_default().to_owned()).join("\n"), @r"
    Lock file `apm.lock.yaml` is broken: File is not a mapping of fields, line 1
    Lock file `apm.lock.yaml` is broken: File is not a mapping of fields, line 1
    Lock file `apm.lock.yaml` is broken: `dependencies` is not a list
    Lock file `apm.lock.yaml` is broken: `dependencies[0]` is not a mapping
    Lock file `apm.lock.yaml` is broken: `dependencies[0].repo_url` is missing
    Lock file `apm.lock.yaml` is broken: Mapping values are not allowed in this context, line 2
    Lock file `apm.lock.yaml` is broken: `dependencies` is given twice
    Lock file `apm.lock.yaml` is broken: Anchor on a value, line 1
    Lock file `apm.lock.yaml` is broken: Tag on a value, line 1
    Lock file `apm.lock.yaml` is broken: A second document starts here, line 2
    ");
    let deep = format!("x: {}", "[".repeat(100_000));
    insta::assert_snapshot!(check(&deep), @r"
    Lock file `apm.lock.yaml` is broken: Recursion limit exceeded, line 1
    hint: Correct it or restore it from version control; it was left as it is
    ");
}

#[test]
fn broken_package_is_an_error_that_says_which() {
    let fields = [
        "resolved_commit: main",
        "content_hash: abc",
        "resolved_hash: sha256:zz",
        "virtual_path: skills/..",
        "skill_subset: x",
        "version: [1]",
        "source: local",
        "replacement: {rule: {}}",
        "host: a\nhost: b",
    ];
    insta::assert_snapshot!(fields.map(check_package).map(|it| it.lines().next().unwrap_or_default().to_owned()).join("\n"), @r"
    Lock file `apm.lock.yaml` is broken: `dependencies[0].resolved_commit` is not a full commit id
    Lock file `apm.lock.yaml` is broken: `dependencies[0].content_hash` is not `sha256:` and 64 digits
    Lock file `apm.lock.yaml` is broken: `dependencies[0].resolved_hash` is not `sha256:` and 64 digits
    Lock file `apm.lock.yaml` is broken: `dependencies[0].virtual_path` is not a path inside the source
    Lock file `apm.lock.yaml` is broken: `dependencies[0].skill_subset` is not a list of strings
    Lock file `apm.lock.yaml` is broken: `dependencies[0].version` is not a string
    Lock file `apm.lock.yaml` is broken: `dependencies[0].local_path` is missing
    Lock file `apm.lock.yaml` has a field that is not supported: `dependencies[0].replacement`
    Lock file `apm.lock.yaml` is broken: `dependencies[0].host` is given twice
    ");
}

#[test]
fn unquoted_values_are_read_as_written() {
    insta::assert_snapshot!(check_package("version: 1.10\nresolved_ref: 0123\nport: 22\nhost: git.example.com"), @r"
    tools from git.example.com:22/o/tools
      version: 1.10
      ref: 0123
    ");
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(lockfile_version|dependencies|repo_url|source|[-: \n'\"{}\\[\\]&*!|>#a1é])*") {
        _ = parse_apm_lock(&text, "apm.lock.yaml");
    }
}
