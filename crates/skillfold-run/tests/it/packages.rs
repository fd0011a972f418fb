//! Script packages: what is understood, what is installed, and what a run gets.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use proptest::prelude::*;
use skillfold_run::{
    Dependencies, Installer, Packages, Permissions, Prepare, Prepared, Run, RunError,
    SYSTEM_FOLDERS, SkillCopy, dependencies, script_dependencies,
};
use tempfile::TempDir;

use crate::skill::{path, run_options, skill};

/// Returns the dependencies of all of a skill's files.
fn named(copy: &SkillCopy) -> Result<Vec<Dependencies>, RunError> {
    dependencies(copy, copy.paths())
}

/// Returns what a file names, with a script of its language beside it.
fn needs(name: &str, text: &str) -> String {
    let mut files = vec![(name, text)];
    match name {
        "package.json" => files.push(("run.mjs", "")),
        "requirements.txt" => files.push(("run.py", "")),
        _ => {}
    }
    match named(&skill(&files)) {
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
fn package_file_is_for_javascript_and_requirements_file_for_python() {
    let inline = "# /// script\n# dependencies = ['own']\n# ///\n";
    let copy = skill(&[
        ("package.json", r#"{"dependencies": {"node": "1"}}"#),
        ("requirements.txt", "outer\n"),
        ("a/requirements.txt", "inner>=2 # why\n"),
        ("a/b/run.py", "print()"),
        ("a/b/own.py", inline),
        ("a/b/none.py", "# /// script\n# ///\n"),
        ("a/b/tool", "#!/usr/bin/env python3\n"),
        ("run.py", "print()"),
        ("run.mjs", ""),
        ("run.ts", ""),
        ("run.sh", ""),
        ("run.rb", ""),
    ]);
    let of = |script: &str| {
        let found = script_dependencies(&copy, &path(script)).unwrap();
        found.map_or_else(String::new, |found| {
            format!("{}: {}", found.file, found.requirements.join(" "))
        })
    };
    assert_eq!(of("a/b/run.py"), "a/requirements.txt: inner>=2");
    assert_eq!(of("a/b/tool"), "a/requirements.txt: inner>=2");
    assert_eq!(of("run.py"), "requirements.txt: outer");
    assert_eq!(of("a/b/own.py"), "a/b/own.py: own");
    assert_eq!(of("a/b/none.py"), "");
    assert_eq!(of("run.mjs"), "package.json: node@1");
    assert_eq!(of("run.ts"), "package.json: node@1");
    assert_eq!(of("run.sh"), "");
    assert_eq!(of("run.rb"), "");
}

#[test]
fn requirements_file_is_refused_with_file_and_line() {
    insta::assert_snapshot!(needs("requirements.txt", "six\n\n# more\nrequests>=2; python_version > '3'\n"), @"uv: six requests>=2; python_version > '3'");
    insta::assert_snapshot!(needs("requirements.txt", "# nothing\n"), @"");
    insta::assert_snapshot!(needs("requirements.txt", "six\n-r more.txt\n"), @"Cannot parse the packages of `requirements.txt:2`: `-r more.txt` is an option");
    insta::assert_snapshot!(needs("requirements.txt", "six\nsix @ https://127.0.0.1/six.whl\n"), @"Cannot parse the packages of `requirements.txt:2`: `six @ https://127.0.0.1/six.whl` is an address");
    let two = skill(&[
        ("requirements.txt", "six"),
        ("a.py", "#!/usr/bin/env python3.11\n"),
        ("b.py", "#!/usr/bin/env python3.12\n"),
    ]);
    let wanted = named(&two).unwrap().remove(0);
    insta::assert_snapshot!(Prepare::new(&two, &wanted).digest().unwrap_err(), @"Cannot parse the packages of `requirements.txt`: scripts that use it name different Pythons, `python3.11` and `python3.12`");
}

#[test]
fn digest_is_of_what_names_the_packages_and_of_no_file_name() {
    let digest = |files: &[(&str, &str)]| {
        let copy = skill(files);
        let wanted = named(&copy).unwrap().remove(0);
        Prepare::new(&copy, &wanted).digest().unwrap()
    };
    let inline = |names: &str, rest: &str| {
        format!("# /// script\n# dependencies = [{names}]\n# ///\n{rest}")
    };
    let six = digest(&[("a.py", &inline("'six'", ""))]);
    assert_eq!(
        digest(&[("scripts/b.py", &inline("'six'", "print()"))]),
        six
    );
    assert_eq!(
        digest(&[("requirements.txt", "six # why\n"), ("c.py", "")]),
        six
    );
    assert_ne!(digest(&[("a.py", &inline("'six>1'", ""))]), six);
    assert_ne!(
        digest(&[(
            "a.py",
            "# /// script\n# requires-python = '>=3.9'\n# dependencies = ['six']\n# ///\n"
        )]),
        six
    );
    let hash = format!("six --hash=sha256:{}", "a".repeat(64));
    assert_ne!(digest(&[("requirements.txt", &hash), ("c.py", "")]), six);
    let package = r#"{"dependencies": {"x": "1"}}"#;
    let node = digest(&[("package.json", package), ("a.mjs", "")]);
    let other = r#"{"name": "other", "version": "2", "dependencies": {"x": "1"}}"#;
    assert_eq!(digest(&[("b/package.json", other), ("b/a.ts", "")]), node);
    let lock = r#"{"packages": {"node_modules/x": {"version": "1.0.0"}}}"#;
    assert_ne!(
        digest(&[
            ("package.json", package),
            ("package-lock.json", lock),
            ("a.mjs", "")
        ]),
        node
    );
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
        needs("requirements.txt", &text);
        needs("a.ts", &format!("import {text}\n}} from {text}"));
    }
}

#[test]
fn missing_packages_are_reported_and_no_run_starts() {
    needs_sandbox!();
    let copy = skill(&[("a.py", "print()")]);
    let file = path("a.py");
    let gone = Packages::new(file.clone(), Installer::Uv, "/nowhere");
    let run = Run::new(&copy, &file)
        .with_options(run_options().with_permissions(Permissions::default().with_packages([gone])));
    insta::assert_snapshot!(run.run().unwrap_err(), @"Packages of `a.py` are gone from /nowhere");
}

/// Installs packages as the command does. `PACKAGES_FOLDER` is the folder containing `uv`.
fn prepare(copy: &SkillCopy, wanted: &Dependencies) -> Result<(Prepared, TempDir), RunError> {
    let (folder, prepare) = preparation(copy, wanted);
    let prepared = prepare.install(folder.path())?;
    Ok((prepared, folder))
}

fn preparation<'a>(copy: &'a SkillCopy, wanted: &'a Dependencies) -> (TempDir, Prepare<'a>) {
    let folder = tempfile::tempdir().unwrap();
    set_mode(folder.path(), 0o777);
    let own = std::env::var_os("PACKAGES_FOLDER").map(PathBuf::from);
    let search = SYSTEM_FOLDERS.map(PathBuf::from).into_iter().chain(own);
    let variable = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    let prepare = Prepare::new(copy, wanted)
        .with_options(run_options().with_search_path(search))
        .with_variables(Prepare::variables().iter().filter_map(variable));
    (folder, prepare)
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
    let run =
        Run::new(copy, &script).with_options(run_options().with_permissions(permissions.clone()));
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

/// Installs by the lock of an earlier installation, and returns the digest of what is installed.
fn prepare_by_lock(
    copy: &SkillCopy,
    wanted: &Dependencies,
    lock: &str,
) -> Result<Prepared, RunError> {
    let (folder, prepare) = preparation(copy, wanted);
    prepare
        .with_lock(lock.as_bytes().to_vec())
        .install(folder.path())
}

#[test]
#[ignore = "installs packages from the registries"]
fn installing_by_a_lock_gives_the_same_files_and_follows_its_versions() {
    let skills = [
        skill(&[("requirements.txt", "six>=1.16\nrequests\n"), ("a.py", "")]),
        skill(&[("a.mjs", "import 'is-odd';")]),
    ];
    for copy in &skills {
        let wanted = named(copy).unwrap().remove(0);
        let (first, _folder) = prepare(copy, &wanted).unwrap();
        let lock = std::fs::read_to_string(first.packages.lock_file()).unwrap();
        let second = prepare_by_lock(copy, &wanted, &lock).unwrap();
        assert_eq!(second.installed, first.installed);
        assert_eq!(second.tree, first.tree, "{:?}", wanted.installer);
    }
    // An earlier version than the one that a new installation would find.
    let copy = skill(&[
        ("requirements.txt", "six>=1.16\n"),
        ("a.py", "import six; print(six.__version__)"),
    ]);
    let old = skill(&[("requirements.txt", "six==1.16.0\n"), ("a.py", "")]);
    let (first, _folder) = prepare(&old, &named(&old).unwrap().remove(0)).unwrap();
    let lock = std::fs::read_to_string(first.packages.lock_file()).unwrap();
    let wanted = named(&copy).unwrap().remove(0);
    let second = prepare_by_lock(&copy, &wanted, &lock).unwrap();
    assert_eq!(second.installed, ["six 1.16.0"]);
    // Its two hashes.
    let broken = lock
        .replace("sha256:1", "sha256:2")
        .replace("sha256:8", "sha256:9");
    let error = prepare_by_lock(&copy, &wanted, &broken).unwrap_err();
    assert_eq!(error.code(), "packages_not_installed");
}

#[test]
#[ignore = "installs packages from the registries"]
fn hashes_of_a_requirements_file_are_checked() {
    let hash = "4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274";
    let prepared = |hash: &str| {
        let list = format!("Six==1.17.0 \\\n  --hash=sha256:{hash}\n");
        let copy = skill(&[("requirements.txt", &list), ("a.py", "")]);
        let wanted = named(&copy).unwrap().remove(0);
        prepare(&copy, &wanted).map(|(prepared, _)| prepared.installed)
    };
    assert_eq!(prepared(hash).unwrap(), ["six 1.17.0"]);
    let error = prepared(&"0".repeat(64)).unwrap_err().to_string();
    assert!(
        error.contains("no file of `six==1.17.0` has a hash"),
        "{error}"
    );
}

/// Returns the digest check of a run with packages in a folder.
fn checked(packages: &Packages) -> String {
    match packages.check() {
        Ok(()) => "unchanged".to_owned(),
        Err(error) => {
            let folder = packages.folder.display().to_string();
            error.to_string().replace(&folder, "FOLDER")
        }
    }
}

/// A change of a folder with packages.
type Change = fn(&std::path::Path);

#[test]
fn changed_packages_are_refused_with_and_without_a_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("packages");
    std::fs::create_dir_all(root.join("six/empty")).unwrap();
    let file = root.join("six/__init__.py");
    std::fs::write(&file, "one = 1\n").unwrap();
    std::os::unix::fs::symlink("six", root.join("link")).unwrap();
    let packages = Packages::new(path("a.py"), Installer::Uv, folder.path());
    let tree = packages.read_tree().unwrap();
    let by_reading = packages.clone().with_tree(tree);
    let by_fingerprint = packages.with_tree_by_fingerprint(tree);
    // The fingerprint counts when it is younger than all files by a second.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let both = || {
        let found = [&by_fingerprint, &by_reading].map(checked);
        assert_eq!(found[0], found[1]);
        found[0].clone()
    };
    assert_eq!(both(), "unchanged");
    let stored = folder.path().join("fingerprint.json");
    let written = || std::fs::metadata(&stored).unwrap().modified().unwrap();
    let first = written();
    assert_eq!(both(), "unchanged");
    assert_eq!(written(), first, "nothing was read again");
    // The same size, and the same modification time.
    let modified = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, "one = 2\n").unwrap();
    let handle = std::fs::File::options().write(true).open(&file).unwrap();
    handle.set_modified(modified).unwrap();
    insta::assert_snapshot!(both(), @"Packages of `a.py` changed since they were installed, in FOLDER");
    std::fs::write(&file, "one = 1\n").unwrap();
    assert_eq!(both(), "unchanged");
    let changes: [(Change, Change); 5] = [
        (
            |root| std::fs::write(root.join("new.py"), "").unwrap(),
            |root| std::fs::remove_file(root.join("new.py")).unwrap(),
        ),
        (
            |root| std::fs::remove_dir(root.join("six/empty")).unwrap(),
            |root| std::fs::create_dir(root.join("six/empty")).unwrap(),
        ),
        (
            |root| std::fs::rename(root.join("link"), root.join("other")).unwrap(),
            |root| std::fs::rename(root.join("other"), root.join("link")).unwrap(),
        ),
        (
            |root| set_mode(&root.join("six/__init__.py"), 0o755),
            |root| set_mode(&root.join("six/__init__.py"), 0o644),
        ),
        (
            |root| {
                std::fs::remove_file(root.join("link")).unwrap();
                std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
            },
            |root| {
                std::fs::remove_file(root.join("link")).unwrap();
                std::os::unix::fs::symlink("six", root.join("link")).unwrap();
            },
        ),
    ];
    for (change, undo) in changes {
        change(&root);
        assert!(both().contains("changed since"), "{}", both());
        undo(&root);
        assert_eq!(both(), "unchanged");
    }
}

fn set_mode(file: &std::path::Path, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(file, mode).unwrap();
}

#[test]
fn linked_package_folder_is_refused() {
    needs_sandbox!();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", folder.path().join("packages")).unwrap();
    let copy = skill(&[("a.py", "print()")]);
    let file = path("a.py");
    let linked = Packages::new(file.clone(), Installer::Uv, folder.path());
    let permissions = Permissions::default().with_packages([linked]);
    let run = Run::new(&copy, &file).with_options(run_options().with_permissions(permissions));
    assert_eq!(run.run().unwrap_err().code(), "packages_not_installed");
}

#[test]
#[ignore = "installs packages from the registries"]
fn installer_sees_only_the_package_names_of_the_skill() {
    let script = "#!/usr/bin/env -S python3 -cprint('[\"code of the skill\"]')\n# /// script\n# dependencies = [\"six==1.17.0\"]\n# [tool.uv]\n# index-url = \"http://127.0.0.1:1/\"\n# [tool.uv.sources]\n# six = { url = \"http://127.0.0.1:1/six.whl\" }\n# ///\n";
    let lock = r#"{"lockfileVersion": 3, "packages": {
        "": {"dependencies": {"left-pad": "1.3.0", "hidden": "1"}},
        "node_modules/left-pad": {"version": "1.3.0", "resolved": "http://127.0.0.1:1/left-pad.tgz", "integrity": "sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="},
        "node_modules/hidden": {"version": "1.0.0", "dev": true, "resolved": "git+ssh://127.0.0.1:1/hidden.git"}}}"#;
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
        .with_options(run_options().with_search_path([PathBuf::from("/nowhere")]));
    let error = missing.install(folder.path()).unwrap_err();
    insta::assert_snapshot!(error, @"`uv` is not installed; it installs the packages of `a.py`");
    assert_eq!(error.code(), "interpreter_missing");
}
