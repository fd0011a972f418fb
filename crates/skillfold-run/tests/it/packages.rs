//! Script packages: what is understood, what is installed, and what a run gets.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use proptest::prelude::*;
use skillfold_run::{
    Dependencies, Installer, Packages, Permissions, Prepare, Prepared, Run, RunError, RunOptions,
    SYSTEM_FOLDERS, SkillCopy, dependencies, script_dependencies,
};
use tempfile::TempDir;

use crate::skill::{path, skill};

/// Returns the dependencies of all of a skill's files.
fn named(copy: &SkillCopy) -> Result<Vec<Dependencies>, RunError> {
    dependencies(copy, copy.paths())
}

fn needs(name: &str, text: &str) -> String {
    match named(&skill(&[(name, text)])) {
        Ok(found) => match &*found {
            [] => String::new(),
            [found] => format!("{}: {}", found.installer, found.requirements.join(" ")),
            _ => panic!("one file, and {found:?}"),
        },
        Err(error) => error.to_string(),
    }
}

#[test]
fn packages_are_named_by_inline_metadata_and_package_files() {
    let block = "#!/usr/bin/env python3\n# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"six==1.17.0\",\n#\n# ]\n# ///\nimport six\n";
    insta::assert_snapshot!(needs("scripts/a.py", block), @"uv: six==1.17.0");
    let uv = block.replace("python3", "-S uv run --script");
    insta::assert_snapshot!(needs("scripts/a", &uv), @"uv: six==1.17.0");
    insta::assert_snapshot!(needs("scripts/a.sh", block.trim_start_matches("#!/usr/bin/env python3\n")), @"");
    insta::assert_snapshot!(needs("a.py", "# /// script\n# dependencies = [\"six\"]\nimport six\n"), @"");
    insta::assert_snapshot!(needs("a.py", "# /// script\n# ///\n"), @"");
    insta::assert_snapshot!(needs("a.py", "# /// script\n# dependencies = 3\n# ///\n"), @"Cannot parse the packages of `a.py`: `dependencies` is not a list of strings");
    insta::assert_snapshot!(needs("a.py", "# /// script\n# dependencies = [\"six[extra]>=1,<2; python_version > '3.8'\"]\n# ///\n"), @"uv: six[extra]>=1,<2; python_version > '3.8'");
    insta::assert_snapshot!(needs("a.py", "# /// script\n# dependencies = [\"six\", \"six @ https://127.0.0.1/six.whl\"]\n# ///\n"), @"Cannot parse the packages of `a.py`: `six @ https://127.0.0.1/six.whl` is not the name of a package");
    insta::assert_snapshot!(needs("a.py", "# /// script\n# dependencies = [\"-r other.txt\"]\n# ///\n"), @"Cannot parse the packages of `a.py`: `-r other.txt` is not the name of a package");
    insta::assert_snapshot!(needs("package.json", r#"{"dependencies": {"left-pad": "^1.3.0"}, "devDependencies": {"x": "1"}}"#), @"npm: left-pad@^1.3.0");
    insta::assert_snapshot!(needs("package.json", r#"{"dependencies": {"x": "git+https://example.com/x.git"}}"#), @"Cannot parse the packages of `package.json`: the version of `x` is not from a registry");
    insta::assert_snapshot!(needs("package.json", r#"{"dependencies": []}"#), @"Cannot parse the packages of `package.json`: `dependencies` is not an object");
    insta::assert_snapshot!(needs("package.json", "{"), @"Cannot parse the packages of `package.json`: EOF while parsing an object at line 1 column 1");
}

#[test]
fn script_gets_packages_from_its_metadata_or_the_nearest_package_file() {
    let copy = skill(&[
        ("package.json", r#"{"dependencies": {"outer": "1"}}"#),
        ("a/package.json", r#"{"dependencies": {"inner": "1"}}"#),
        ("a/b/run.mjs", ""),
        ("run.mjs", ""),
        ("a/run.py", "print()"),
    ]);
    let of = |script: &str| {
        let found = script_dependencies(&copy, &path(script)).unwrap();
        found.map(|found| found.requirements.join(" "))
    };
    assert_eq!(of("a/b/run.mjs").as_deref(), Some("inner@1"));
    assert_eq!(of("run.mjs").as_deref(), Some("outer@1"));
    assert_eq!(of("a/run.py"), None);
}

#[test]
fn javascript_without_a_package_file_requires_its_imports() {
    let text = r#"
// import commented from 'commented';
import { z } from 'zod';
import type { Only } from 'types';
import { from } from "rxjs/operators";
import {
  one,
} from '@scope/name/deep';
import 'effects';
import { Tool } from '@agent/tools';
import fs from 'fs';
import path from "node:path";
import own from './own.mjs';
import alias from '@/lib';
import url from 'https://example.com/x.js';
export * from 'again';
const old = require('old');
const text = "copied from 'there'";
"#;
    insta::assert_snapshot!(needs("toolsets/index.ts", text), @"npm: @scope/name@latest again@latest effects@latest old@latest rxjs@latest zod@latest");
    insta::assert_snapshot!(needs("scripts/a", &format!("#!/usr/bin/env bun{text}")), @"npm: @scope/name@latest again@latest effects@latest old@latest rxjs@latest zod@latest");
    insta::assert_snapshot!(needs("scripts/a.sh", text), @"");
    let copy = skill(&[
        ("a.mjs", "import 'brought';\nimport 'x';"),
        ("node_modules/brought/index.js", ""),
    ]);
    let wanted = script_dependencies(&copy, &path("a.mjs")).unwrap();
    assert_eq!(wanted.unwrap().requirements, ["x@latest"]);
    let copy = skill(&[("a.mjs", "import 'x';"), ("package.json", "{}")]);
    assert_eq!(script_dependencies(&copy, &path("a.mjs")).unwrap(), None);
}

proptest! {
    #[test]
    fn hostile_metadata_is_read_or_refused(text in any::<String>(), line in "(# ?(///|script|dependencies = \\[?\"?)?.?\n){0,8}") {
        needs("a.py", &format!("# /// script\n{line}{text}\n# ///\n"));
        needs("package.json", &format!("{{\"dependencies\": {text}}}"));
        needs("package.json", &text);
        needs("a.ts", &format!("import {text}\n}} from {text}"));
    }
}

#[test]
fn missing_packages_are_reported_and_no_run_starts() {
    let copy = skill(&[("a.py", "print()")]);
    let file = path("a.py");
    let gone = Packages::new(file.clone(), Installer::Uv, "/nowhere");
    let run = Run::new(&copy, &file).with_options(
        RunOptions::default().with_permissions(Permissions::default().with_packages([gone])),
    );
    insta::assert_snapshot!(run.run().unwrap_err(), @"Packages of `a.py` are gone from /nowhere");
}

/// Installs packages as the command does. `PACKAGES_FOLDER` is the folder containing `uv`.
fn prepare(copy: &SkillCopy, wanted: &Dependencies) -> Result<(Prepared, TempDir), RunError> {
    let folder = tempfile::tempdir().unwrap();
    let everyone = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), everyone).unwrap();
    let own = std::env::var_os("PACKAGES_FOLDER").map(PathBuf::from);
    let search = SYSTEM_FOLDERS.map(PathBuf::from).into_iter().chain(own);
    let variable = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    let prepared = Prepare::new(copy, wanted)
        .with_options(RunOptions::default().with_search_path(search))
        .with_variables(Prepare::variables().iter().filter_map(variable))
        .install(folder.path())?;
    Ok((prepared, folder))
}

fn prepare_all(copy: &SkillCopy) -> (Permissions, Vec<String>, Vec<TempDir>) {
    let (mut packages, mut installed) = (Vec::new(), Vec::new());
    let mut folders = Vec::new();
    for wanted in named(copy).unwrap() {
        let (prepared, folder) = prepare(copy, &wanted).unwrap();
        packages.push(prepared.packages);
        installed.extend(prepared.installed);
        folders.push(folder);
    }
    let permissions = Permissions::default().with_packages(packages);
    (permissions, installed, folders)
}

fn said(copy: &SkillCopy, script: &str, permissions: &Permissions) -> String {
    let script = path(script);
    let run = Run::new(copy, &script)
        .with_options(RunOptions::default().with_permissions(permissions.clone()));
    let outcome = run.run().unwrap();
    format!("{}{}", outcome.stdout_text(), outcome.stderr_text())
}

#[test]
#[ignore = "installs packages from the registries"]
fn each_python_script_has_the_packages_it_names_and_cannot_change_them() {
    let script = |version: &str| {
        format!(
            "# /// script\n# dependencies = [\"six=={version}\", \"markupsafe\"]\n# ///\nimport six, markupsafe._speedups\nprint(six.__version__)\n"
        )
    };
    let hostile = "# /// script\n# dependencies = [\"six\"]\n# ///\nimport six, socket\n\
        for path in (six.__file__, '/packages/new'):\n    try:\n        open(path, 'a'); print('written')\n    except OSError as error:\n        print(error.strerror)\n\
        try:\n    socket.create_connection(('1.1.1.1', 443), 2); print('connected')\nexcept OSError:\n    print('no network')\n";
    let (old, new) = (script("1.16.0"), script("1.17.0"));
    let copy = skill(&[
        ("scripts/old.py", &old),
        ("scripts/new.py", &new),
        ("scripts/hostile.py", hostile),
        ("scripts/plain.py", "import six"),
    ]);
    let (permissions, installed, _folders) = prepare_all(&copy);
    assert!(
        installed.contains(&"six 1.16.0".to_owned()),
        "{installed:?}"
    );
    assert_eq!(said(&copy, "scripts/old.py", &permissions), "1.16.0\n");
    assert_eq!(said(&copy, "scripts/new.py", &permissions), "1.17.0\n");
    let refused = "Read-only file system\nRead-only file system\nno network\n";
    assert_eq!(said(&copy, "scripts/hostile.py", &permissions), refused);
    let none = said(&copy, "scripts/old.py", &Permissions::default());
    assert!(none.contains("No module named 'markupsafe'"), "{none}");
}

#[test]
#[ignore = "installs packages from the registries"]
fn python_packages_without_a_wheel_or_for_another_python_are_refused() {
    let refused = |text: &str| {
        let copy = skill(&[("a.py", text)]);
        let wanted = named(&copy).unwrap().remove(0);
        prepare(&copy, &wanted).unwrap_err()
    };
    // It only has a source distribution.
    let error = refused("# /// script\n# dependencies = [\"docopt==0.6.2\"]\n# ///\n");
    assert_eq!(error.code(), "packages_not_installed");
    assert!(error.to_string().contains("docopt"), "{error}");
    let error = refused(
        "# /// script\n# requires-python = \">=3.99\"\n# dependencies = [\"six\"]\n# ///\n",
    );
    assert!(error.to_string().contains("3.99"), "{error}");
}

#[test]
#[ignore = "installs packages from the registries"]
fn node_scripts_get_packages_without_running_install_scripts() {
    let copy = skill(&[
        (
            "package.json",
            r#"{"type": "module", "dependencies": {"left-pad": "1.3.0"}, "scripts": {"preinstall": "touch ran", "postinstall": "touch ran", "prepare": "touch ran"}}"#,
        ),
        (
            "scripts/a.js",
            "import leftPad from 'left-pad'; console.log(leftPad('x', 3))",
        ),
        (
            "scripts/a.cjs",
            "console.log(require('left-pad')('y', 3)); try { require('fs').writeFileSync('/node_modules/z', '') } catch (error) { console.log(error.code) }",
        ),
    ]);
    let (permissions, installed, folders) = prepare_all(&copy);
    assert_eq!(installed, ["left-pad 1.3.0"]);
    assert!(!folders[0].path().join("ran").exists());
    assert!(folders[0].path().join("package-lock.json").exists());
    assert_eq!(said(&copy, "scripts/a.js", &permissions), "  x\n");
    assert_eq!(said(&copy, "scripts/a.cjs", &permissions), "  y\nEROFS\n");
}

#[test]
fn linked_package_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", folder.path().join("packages")).unwrap();
    let copy = skill(&[("a.py", "print()")]);
    let file = path("a.py");
    let linked = Packages::new(file.clone(), Installer::Uv, folder.path());
    let permissions = Permissions::default().with_packages([linked]);
    let run =
        Run::new(&copy, &file).with_options(RunOptions::default().with_permissions(permissions));
    assert_eq!(run.run().unwrap_err().code(), "packages_not_installed");
}

#[test]
#[ignore = "installs packages from the registries"]
fn installer_sees_only_the_package_names_of_the_skill() {
    let script = "#!/usr/bin/env -S python3 -cprint('[\"code of the skill\"]')\n# /// script\n# dependencies = [\"six==1.17.0\"]\n# [tool.uv]\n# index-url = \"http://127.0.0.1:1/\"\n# [tool.uv.sources]\n# six = { url = \"http://127.0.0.1:1/six.whl\" }\n# ///\n";
    let lock = r#"{"lockfileVersion": 3, "packages": {
        "": {"dependencies": {"left-pad": "1.3.0", "hidden": "1"}},
        "node_modules/left-pad": {"version": "1.3.0", "resolved": "http://127.0.0.1:1/left-pad.tgz"},
        "node_modules/hidden": {"version": "1.0.0", "resolved": "git+ssh://127.0.0.1:1/hidden.git"}}}"#;
    let package = r#"{"dependencies": {"left-pad": "1.3.0"}, "optionalDependencies": {"hidden": "1"},
        "overrides": {"left-pad": "http://127.0.0.1:1/left-pad.tgz"}, "workspaces": ["."]}"#;
    let copy = skill(&[
        ("scripts/a.py", script),
        ("package.json", package),
        ("package-lock.json", lock),
        ("scripts/a.mjs", ""),
    ]);
    let (_, mut installed, _folders) = prepare_all(&copy);
    installed.sort();
    assert_eq!(installed, ["left-pad 1.3.0", "six 1.17.0"]);
}

#[test]
fn missing_installer_is_named() {
    let copy = skill(&[("a.py", "# /// script\n# dependencies = [\"six\"]\n# ///\n")]);
    let wanted = named(&copy).unwrap().remove(0);
    let folder = tempfile::tempdir().unwrap();
    let missing = Prepare::new(&copy, &wanted)
        .with_options(RunOptions::default().with_search_path([PathBuf::from("/nowhere")]));
    let error = missing.install(folder.path()).unwrap_err();
    insta::assert_snapshot!(error, @"`uv` is not installed; it installs the packages of `a.py`");
    assert_eq!(error.code(), "interpreter_missing");
}
