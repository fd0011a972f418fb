//! A copy holds what was reviewed.

use std::{fs, slice};

use skillfold_core::source::{Folder, LinkPolicy};
use skillfold_core::{FsSource, MemorySource};
use skillfold_run::{Run, SkillCopy, scripts};

use crate::skill::{path, run_options, skill};

#[test]
fn run_uses_the_copy_whatever_happens_to_the_folder() {
    needs_sandbox!();
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("a/scripts");
    fs::create_dir_all(&scripts).unwrap();
    fs::write(folder.path().join("a/SKILL.md"), "---\nname: a\n---\n").unwrap();
    fs::write(scripts.join("a.sh"), "echo looked at").unwrap();
    std::os::unix::fs::symlink("/etc/shadow", scripts.join("link.sh")).unwrap();
    let source = FsSource::open_with(folder.path(), LinkPolicy::Refuse).unwrap();
    let copy = SkillCopy::read(&source, &Folder::new("a").unwrap()).unwrap();
    fs::write(scripts.join("a.sh"), "echo swapped").unwrap();
    let outcome = Run::new(&copy, &path("scripts/a.sh"))
        .with_options(run_options())
        .run()
        .unwrap();
    assert_eq!(outcome.stdout_text(), "looked at\n");
    let skipped: Vec<&str> = copy
        .skipped()
        .iter()
        .map(|finding| &*finding.path)
        .collect();
    assert_eq!(skipped, ["scripts/link.sh"]);
}

#[test]
fn copy_has_the_golden_digest() {
    let folder = tempfile::tempdir().unwrap();
    let golden = skillfold_testkit::write_golden_skill(folder.path());
    let source = FsSource::open(folder.path()).unwrap();
    let copy = SkillCopy::read(&source, &Folder::new("golden").unwrap()).unwrap();
    assert_eq!(copy.content_digest().to_string(), golden);
}

#[test]
fn skill_that_cannot_be_copied_completely_is_refused() {
    let source = MemorySource::new([("a/SKILL.md", "x"), ("a/scripts/aux.sh", "x")]);
    let error = SkillCopy::read(&source, &Folder::new("a").unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Invalid `a`: Path names a Windows device: `scripts/aux.sh`"
    );
}

#[test]
fn oversized_skill_is_refused() {
    let file = vec![0; 33 << 20];
    let source = MemorySource::new([("a/SKILL.md", file.clone()), ("a/b", file)]);
    let error = SkillCopy::read(&source, &Folder::new("a").unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "Refused to open `b`");
    let files = (0..10_001).map(|number| (path(&format!("{number}")), Vec::new()));
    assert!(SkillCopy::new(files).is_err());
    assert!(SkillCopy::new([(path("a"), Vec::new()), (path("a/b"), Vec::new())]).is_err());
}

#[test]
fn interpreter_comes_from_the_shebang_then_the_extension() {
    let heads = [
        ("a.py", ""),
        ("b", "#!/usr/bin/env python3\n"),
        ("c", "#!/usr/bin/env -S deno run --allow-read\n"),
        ("d.txt", "#!/bin/sh -eu\n"),
        ("e.ts", ""),
        ("f.py", "#!/opt/own/python3.12\n"),
        ("g.rb", "#! ruby\n"),
        ("h.mjs", "#!/usr/bin/env NODE_ENV=x node\n"),
        ("i.pl", "#!\n"),
        ("j.sh", "#!/bin/sh"),
        ("k", "#!-rf /\n"),
        ("l.bash", "#!/bin/sh;id\n"),
    ];
    let files: Vec<(String, &str)> = heads
        .iter()
        .map(|(name, head)| (format!("scripts/{name}"), *head))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, head)| (&**name, *head)).collect();
    let listed = scripts(
        &skill(&files),
        ["./scripts/a.py", "missing.sh", "../up.sh", "/etc/passwd"],
    );
    let mut lines: Vec<String> = Vec::new();
    for script in &listed.scripts {
        let programs: Vec<String> = script
            .interpreters
            .iter()
            .map(|found| {
                [slice::from_ref(&found.program), &found.arguments[..]]
                    .concat()
                    .join(" ")
            })
            .collect();
        lines.push(format!("{}: {}", script.path, programs.join(" | ")));
    }
    for unusable in &listed.unusable {
        lines.push(format!("{}: {}", unusable.path, unusable.reason));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn deep_folders_are_copied_with_the_digest_shown_to_the_user() {
    let deep = "a/node_modules/@s/pkg/dist/esm/inner/most/of/all.js";
    let files = [("a/SKILL.md", "---\nname: a\n---\n"), (deep, "1")];
    let (source, folder) = (MemorySource::new(files), Folder::new("a").unwrap());
    let copy = SkillCopy::read(&source, &folder).unwrap();
    assert_eq!(copy.paths().count(), 2);
    let shown = skillfold_core::load::skill_digest(&source, &folder).unwrap();
    assert_eq!(copy.content_digest(), shown);
}
