//! What can be granted, and what cannot.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use skillfold_run::{
    ApprovedPath, NamedInterpreter, PathAccess, PathKind, Permissions, Protected, Run, RunError,
};
use tempfile::TempDir;

use crate::skill::{path, run_options, skill};

/// A folder that root's sandbox can also write to.
fn open_folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    open(&real);
    (folder, real)
}

fn open(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

fn said(
    script: (&str, &str),
    arguments: &[&Path],
    permissions: Permissions,
) -> Result<String, RunError> {
    let (copy, file) = (skill(&[script]), path(script.0));
    let arguments = arguments.iter().map(|path| path.to_string_lossy());
    let outcome = Run::new(&copy, &file)
        .with_arguments(arguments)
        .with_options(run_options().with_permissions(permissions))
        .run()?;
    Ok(format!(
        "{}{}",
        outcome.stdout_text(),
        outcome.stderr_text()
    ))
}

/// Returns what a run that lists a path prints, or why it is refused.
fn listed(root: &Path, path: &Path, permissions: &Permissions) -> String {
    match said(("a.sh", "ls -A \"$1\""), &[path], permissions.clone()) {
        Ok(text) => text,
        Err(error) => {
            assert_eq!(error.code(), "not_permitted");
            error.to_string().replace(&*root.to_string_lossy(), "ROOT")
        }
    }
}

#[test]
fn link_in_a_granted_path_is_refused_and_named() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    let page = root.join("site/page");
    fs::create_dir_all(&page).unwrap();
    fs::create_dir_all(root.join("other/page")).unwrap();
    fs::write(root.join("other/page/key"), "secret").unwrap();
    let permissions = Permissions::default().with_read(&page);
    assert_eq!(listed(&root, &page, &permissions), "");
    fs::rename(root.join("site"), root.join("old")).unwrap();
    symlink("other", root.join("site")).unwrap();
    insta::assert_snapshot!(listed(&root, &page, &permissions), @"Granted path now leads through the link `ROOT/site`: `ROOT/site/page`");
    // A link to the very folder that was granted is a link.
    fs::remove_file(root.join("site")).unwrap();
    symlink("old", root.join("site")).unwrap();
    insta::assert_snapshot!(listed(&root, &page, &permissions), @"Granted path now leads through the link `ROOT/site`: `ROOT/site/page`");
    // A link that was there when the path was granted is where it led then.
    fs::remove_file(root.join("site")).unwrap();
    symlink("other", root.join("site")).unwrap();
    let permissions = Permissions::default().with_read(&page);
    assert_eq!(listed(&root, &page, &permissions), "key\n");
    fs::remove_file(root.join("site")).unwrap();
    symlink("old", root.join("site")).unwrap();
    assert_eq!(
        said(("a.sh", "ls -A \"$1\""), &[&page], permissions).unwrap(),
        "key\n"
    );
}

#[test]
fn another_folder_in_the_place_of_a_granted_one_is_refused() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    let (out, private) = (root.join("out"), root.join("private"));
    fs::create_dir(&out).unwrap();
    fs::create_dir(&private).unwrap();
    fs::write(private.join("key"), "secret").unwrap();
    let permissions = Permissions::default().with_write(&out);
    assert_eq!(listed(&root, &out, &permissions), "");
    fs::rename(&out, root.join("old")).unwrap();
    insta::assert_snapshot!(listed(&root, &out, &permissions), @"Granted path does not exist: `ROOT/out`");
    fs::rename(&private, &out).unwrap();
    insta::assert_snapshot!(listed(&root, &out, &permissions), @"Granted folder was replaced by another one: `ROOT/out`");
    fs::rename(&out, &private).unwrap();
    fs::write(&out, "").unwrap();
    insta::assert_snapshot!(listed(&root, &out, &permissions), @"Granted folder was replaced by another one: `ROOT/out`");
    fs::remove_file(&out).unwrap();
    fs::rename(root.join("old"), &out).unwrap();
    assert_eq!(listed(&root, &out, &permissions), "");
}

#[test]
fn granted_file_may_be_replaced_by_an_editor_but_not_by_a_link_or_a_folder() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    let notes = root.join("notes.txt");
    fs::write(&notes, "one\n").unwrap();
    let permissions = Permissions::default().with_read(&notes);
    let read = || said(("a.sh", "cat \"$1\""), &[&notes], permissions.clone());
    assert_eq!(read().unwrap(), "one\n");
    fs::write(root.join("new"), "two\n").unwrap();
    fs::rename(root.join("new"), &notes).unwrap();
    assert_eq!(read().unwrap(), "two\n");
    let refused = || {
        read()
            .unwrap_err()
            .to_string()
            .replace(&*root.to_string_lossy(), "ROOT")
    };
    fs::remove_file(&notes).unwrap();
    insta::assert_snapshot!(refused(), @"Granted path does not exist: `ROOT/notes.txt`");
    symlink("/etc/hostname", &notes).unwrap();
    insta::assert_snapshot!(refused(), @"Granted path is now a link: `ROOT/notes.txt`");
    fs::remove_file(&notes).unwrap();
    fs::create_dir(&notes).unwrap();
    insta::assert_snapshot!(refused(), @"Granted file is now a folder: `ROOT/notes.txt`");
}

#[test]
fn missing_folder_is_created_below_the_folder_that_was_there() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    let above = root.join("above");
    fs::create_dir(&above).unwrap();
    let out = above.join("a/b");
    let permissions = Permissions::default().with_write(&out);
    assert_eq!(permissions.paths()[0].kind(), PathKind::Missing);
    assert_eq!(permissions.paths()[0].folder(), above);
    assert_eq!(listed(&root, &out, &permissions), "");
    assert!(out.is_dir());
    fs::write(out.join("kept"), "").unwrap();
    assert_eq!(listed(&root, &out, &permissions), "kept\n");
    // Reading creates nothing.
    let missing = above.join("none");
    let to_read = Permissions::default().with_read(&missing);
    insta::assert_snapshot!(listed(&root, &missing, &to_read), @"Granted path does not exist: `ROOT/above/none`");
    fs::remove_dir_all(above.join("a")).unwrap();
    symlink("/etc", above.join("a")).unwrap();
    insta::assert_snapshot!(listed(&root, &out, &permissions), @"Granted path now leads through the link `ROOT/above/a`: `ROOT/above/a/b`");
    fs::rename(&above, root.join("old")).unwrap();
    fs::create_dir(&above).unwrap();
    insta::assert_snapshot!(listed(&root, &out, &permissions), @"Folder of the granted path was replaced by another one: `ROOT/above/a/b`");
    assert!(!above.join("a").exists());
}

#[test]
fn nested_permissions_are_one() {
    use PathAccess::{Read, Write};

    let (_folder, root) = open_folder();
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    let merged = |wanted: &[(&str, PathAccess)]| -> String {
        let mut permissions = Permissions::default();
        for (path, access) in wanted {
            permissions = permissions.with_path(ApprovedPath::resolve(root.join(path), *access));
        }
        let line = |granted: &ApprovedPath| {
            let path = granted.path().strip_prefix(&root).unwrap();
            format!("{} {:?}; ", path.display(), granted.access())
        };
        permissions.paths().iter().map(line).collect()
    };
    assert_eq!(merged(&[("a", Write), ("a/b", Read)]), "a Write; ");
    assert_eq!(
        merged(&[("a/b", Write), ("a/b/c", Write), ("a", Write)]),
        "a Write; "
    );
    assert_eq!(merged(&[("a", Read), ("a", Write)]), "a Write; ");
    // To write in a part of what can be read is a permission of its own.
    assert_eq!(
        merged(&[("a/b", Write), ("a", Read)]),
        "a Read; a/b Write; "
    );
    // The path of a link is another path.
    symlink("a/b", root.join("link")).unwrap();
    assert_eq!(
        merged(&[("a", Write), ("link", Read)]),
        "a Write; link Read; "
    );
}

#[test]
fn writable_folder_in_a_readable_one_works_in_any_order() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    fs::create_dir(root.join("in")).unwrap();
    open(&root.join("in"));
    let script = (
        "a.sh",
        "echo 1 > \"$1/in/x\"; echo 1 2>&- > \"$1/x\"; ls -A \"$1\" \"$1/in\"",
    );
    let permissions = Permissions::default()
        .with_write(root.join("in"))
        .with_read(&root);
    let text = said(script, &[&root], permissions).unwrap();
    assert!(
        !root.join("x").exists() && root.join("in/x").exists(),
        "{text}"
    );
}

#[test]
fn approved_path_is_the_same_after_it_was_stored() {
    let (_folder, root) = open_folder();
    for name in ["", "missing"] {
        let approved = ApprovedPath::resolve(root.join(name), PathAccess::Read);
        let json = serde_json::to_string(&approved).unwrap();
        let read: ApprovedPath = serde_json::from_str(&json).unwrap();
        assert_eq!(read, approved);
        read.check().unwrap();
    }
}

#[test]
fn sockets_devices_and_system_folders_cannot_be_granted() {
    let (_folder, root) = open_folder();
    let socket = root.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let refused = |permissions: Permissions| {
        let error = said(("a.sh", "ls"), &[], permissions).unwrap_err();
        error.to_string().replace(&*root.to_string_lossy(), "ROOT")
    };
    insta::assert_snapshot!(refused(Permissions::default().with_read(&socket)), @"Granted path is neither a file nor a folder: `ROOT/socket`");
    for path in [
        "/proc/self",
        "/sys/kernel",
        "/dev/null",
        "/run",
        "/run/user",
        "/",
    ] {
        let text = refused(Permissions::default().with_read(path));
        assert!(text.starts_with("Path cannot be granted: `/"), "{text}");
    }
}

#[test]
fn homes_of_other_users_cannot_be_granted() {
    let refused = |home: &str, path: &Path| {
        let protected = Protected::default().with_home(home);
        let permissions = Permissions::default()
            .with_read(path)
            .with_protected(protected);
        permissions
            .check_paths()
            .err()
            .map(|error| error.to_string())
    };
    let other = Path::new("/home").join("otto");
    for path in [
        &*other,
        &other.join("notes"),
        "/home".as_ref(),
        "/root".as_ref(),
    ] {
        assert!(refused("/home/user", path).is_some(), "{path:?}");
    }
    for path in ["/home/user/notes", "/srv/data", "/opt/data"] {
        assert_eq!(refused("/home/user", path.as_ref()), None, "{path}");
    }
}

#[test]
fn link_to_an_ungrantable_path_is_refused() {
    let (_folder, root) = open_folder();
    symlink("/", root.join("all")).unwrap();
    let permissions = Permissions::default().with_read(root.join("all"));
    let error = said(("a.sh", "ls"), &[], permissions).unwrap_err();
    assert_eq!(error.code(), "not_permitted");
}

#[test]
fn protected_paths_their_parents_and_children_cannot_be_granted() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    for name in [".ssh/keys", ".agents/skills", "notes"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    symlink("../.ssh", root.join("notes/in")).unwrap();
    let protected = Protected::default()
        .with_secret([root.join(".ssh")])
        .with_unwritable([root.join(".agents/skills")]);
    let granted = |read: &[&str], write: &[&str]| {
        let mut permissions = Permissions::default().with_protected(protected.clone());
        for name in read {
            permissions = permissions.with_read(root.join(name));
        }
        for name in write {
            permissions = permissions.with_write(root.join(name));
        }
        match said(("a.sh", "echo ran"), &[], permissions) {
            Ok(text) => text,
            Err(error) => error.to_string().replace(&*root.to_string_lossy(), "~"),
        }
    };
    insta::assert_snapshot!(granted(&[".ssh"], &[]), @"Path cannot be granted to be read, it is protected: `~/.ssh`");
    insta::assert_snapshot!(granted(&[".ssh/keys"], &[]), @"Path cannot be granted to be read, because of `~/.ssh`: `~/.ssh/keys`");
    insta::assert_snapshot!(granted(&[""], &[]), @"Path cannot be granted to be read, because of `~/.ssh`: `~/`");
    insta::assert_snapshot!(granted(&["notes/in"], &[]), @"Path cannot be granted to be read, because of `~/.ssh`: `~/notes/in`");
    insta::assert_snapshot!(granted(&[], &[".agents"]), @"Path cannot be granted to be written, because of `~/.agents/skills`: `~/.agents`");
    insta::assert_snapshot!(granted(&[], &[".ssh"]), @"Path cannot be granted to be written, it is protected: `~/.ssh`");
    insta::assert_snapshot!(granted(&[".agents/skills"], &["notes"]), @"ran");
}

#[test]
fn run_leaves_no_setuid_or_setgid_file() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    let script = "import ctypes, os, sys\n\
        place, at = sys.argv[1], -100\n\
        call = ctypes.CDLL(None, use_errno=True).syscall\n\
        path = lambda name: os.path.join(place, name).encode()\n\
        for name in 'abc': open(path(name), 'w').close()\n\
        def openat2(name):\n    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)\n    if call(437, at, path(name), how, 24) < 0: raise OSError(ctypes.get_errno(), 'refused')\n\
        def fchmodat2(name):\n    if call(452, at, path(name), 0o4755, 0) < 0: raise OSError(ctypes.get_errno(), 'refused')\n\
        tries = [lambda: os.chmod(path('a'), 0o4755), lambda: os.chmod(path('a'), 0o2755), lambda: os.fchmod(os.open(path('b'), os.O_RDONLY), 0o6755),\n\
            lambda: os.chmod('c', 0o4755, dir_fd=os.open(place, os.O_RDONLY)), lambda: os.open(path('d'), os.O_CREAT | os.O_WRONLY, 0o4755),\n\
            lambda: os.mknod(path('e'), 0o104755), lambda: os.open(place, os.O_TMPFILE | os.O_WRONLY, 0o4700), lambda: openat2('f'), lambda: fchmodat2('a')]\n\
        if os.uname().machine == 'x86_64':\n    tries.append(lambda: 1 / (1 + call(85, path('g'), 0o4755)))\n\
        for number, attempt in enumerate(tries):\n    try: attempt(); print('done', number)\n    except (OSError, ZeroDivisionError): pass\n\
        os.chmod(path('a'), 0o755); os.close(os.open(path('h'), os.O_CREAT | os.O_WRONLY, 0o644)); os.listdir(place); print('else', oct(os.stat(path('a')).st_mode))\n";
    let permissions = Permissions::default().with_write(&root);
    let text = said(("a.py", script), &[&root], permissions).unwrap();
    assert_eq!(text, "else 0o100755\n");
    for entry in fs::read_dir(&root).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o6000, 0, "{:?} {mode:o}", entry.path());
    }
}

#[test]
fn run_leaves_no_extended_attributes() {
    needs_sandbox!();
    let (_folder, root) = open_folder();
    let script = "import errno, os, sys\n\
        path = os.path.join(sys.argv[1], 'a')\n\
        open(path, 'w').close()\n\
        for name in ('user.x', 'security.capability', 'system.posix_acl_access'):\n    \
            for attempt in (lambda: os.setxattr(path, name, b'1'), lambda: os.setxattr(path, name, b'1', follow_symlinks=False),\n            \
                lambda: os.setxattr(os.open(path, os.O_RDONLY), name, b'1'), lambda: os.removexattr(path, name)):\n        \
                try: attempt(); print('done', name)\n        \
                except OSError as error: print(errno.errorcode[error.errno]) if error.errno != errno.ENOTSUP else None\n\
        import shutil; shutil.copy2(path, path + '2'); print('copied')\n";
    let permissions = Permissions::default().with_write(&root);
    let text = said(("a.py", script), &[&root], permissions).unwrap();
    assert_eq!(text, "copied\n");
}

/// Installs a shell under another name in a home, with a file beside it.
fn install(home: &Path, prefix: &str, name: &str) -> PathBuf {
    let prefix = home.join(prefix);
    for folder in ["bin", "lib", "share"] {
        fs::create_dir_all(prefix.join(folder)).unwrap();
        open(&prefix.join(folder));
        fs::write(prefix.join(folder).join("token"), "seen\n").unwrap();
    }
    let sh = Path::new("/bin/sh").canonicalize().unwrap();
    fs::copy(sh, prefix.join("bin").join(name)).unwrap();
    prefix
}

/// Runs a script that reads a file, with a program in this folder of a home. Says what it saw, or why it did not run.
fn seen(home: &Path, prefix: &str, name: &str, file: &str, named: &[PathBuf]) -> String {
    let prefix = install(home, prefix, name);
    let script =
        format!("#!/usr/bin/env {name}\nread -r text < \"$1\" && echo \"$text\" || echo nothing\n");
    let (copy, script_path) = (skill(&[("a", &script)]), path("a"));
    let protected = Protected::default()
        .with_home(home)
        .with_unwritable([home.join(".local/state"), home.join(".ssh")]);
    let mut permissions = Permissions::default().with_protected(protected.clone());
    for program in named {
        let named = NamedInterpreter::resolve(program, &protected).unwrap();
        permissions = permissions.with_interpreter(named);
    }
    let options = run_options()
        .with_permissions(permissions)
        .with_search_path([prefix.join("bin")]);
    let run = Run::new(&copy, &script_path).with_arguments([prefix.join(file).to_string_lossy()]);
    match run.with_options(options).run() {
        Ok(outcome) => outcome.stdout_text().trim().to_owned(),
        Err(error) => error.to_string().replace(&*home.to_string_lossy(), "~"),
    }
}

#[test]
fn interpreter_in_a_home_runs_only_from_a_known_managers_version() {
    needs_sandbox!();
    let (_folder, home) = open_folder();
    let seen = |prefix: &str, name: &str, file: &str| seen(&home, prefix, name, file, &[]);
    insta::assert_snapshot!(seen(".local", "bash", "lib/token"), @"Interpreter of `a` is in a home: `~/.local/bin/bash`");
    insta::assert_snapshot!(seen("versions/5.2", "bash", "lib/token"), @"Interpreter of `a` is in a home: `~/versions/5.2/bin/bash`");
    insta::assert_snapshot!(seen(".local/share/mise/installs/mytool/1", "mytool", "lib/token"), @"Unknown interpreter of `a`: `mytool`");
    // The folder of the version, and not that of all versions.
    for (prefix, name) in [
        (".nvm/versions/node/v22.1.0", "node"),
        (".pyenv/versions/3.12.1", "python3"),
        (".local/share/mise/installs/ruby/3.3", "ruby"),
        (".asdf/installs/perl/5.38", "perl"),
        (".local/share/uv/python/cpython-3.12", "python3"),
        (".local/share/fnm/node-versions/v22/installation", "node"),
    ] {
        assert_eq!(seen(prefix, name, "share/token"), "seen", "{prefix}");
        fs::write(home.join(prefix).join("../token"), "seen\n").unwrap();
        if !prefix.contains("fnm") {
            assert_eq!(seen(prefix, name, "../token"), "nothing", "{prefix}");
        }
    }
    assert_eq!(seen(".bun", "bun", "share/token"), "nothing");
    assert_eq!(seen(".deno", "deno", "share/token"), "nothing");
}

#[test]
fn interpreter_that_the_user_named_runs_with_its_libraries_alone() {
    needs_sandbox!();
    let (_folder, home) = open_folder();
    let seen = |prefix: &str, name: &str, file: &str| {
        let program = home.join(prefix).join("bin").join(name);
        install(&home, prefix, name);
        seen(&home, prefix, name, file, &[program])
    };
    assert_eq!(seen("apps/x", "mytool", "lib/token"), "seen");
    assert_eq!(seen("apps/x", "mytool", "share/token"), "nothing");
    assert_eq!(seen("apps/python", "python3", "lib/token"), "seen");
    // Folders of the home that hold more than one program.
    assert_eq!(seen(".local", "mytool", "lib/token"), "nothing");
    assert_eq!(seen("", "other", "lib/token"), "nothing");
    let wrapper = home.join("wrapper");
    fs::write(&wrapper, "#!/bin/sh\n").unwrap();
    open(&wrapper);
    for path in [wrapper, home.join("none"), home.clone()] {
        NamedInterpreter::resolve(&path, &Protected::default()).unwrap_err();
    }
}

#[test]
fn what_stays_read_only_cannot_be_granted_to_be_written() {
    let (_folder, root) = open_folder();
    for folder in [
        "app/.git/hooks",
        "app/.claude/skills",
        "app/.github/hooks/x",
        "app/my-skills/x",
        "bare/objects",
        "bare/refs",
        "bare/hooks",
        "bare/tree/src",
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("bare/HEAD"), "").unwrap();
    fs::write(root.join("bare/tree/.git"), "gitdir: ../worktrees/tree").unwrap();
    symlink(root.join("app/.git/hooks"), root.join("link")).unwrap();
    symlink(root.join("app/my-skills"), root.join("app/skills")).unwrap();
    let refused = |path: &str, access: PathAccess| {
        let protected = Protected::default()
            .with_read_only_names([".git", ".claude", ".github/hooks"].map(str::to_owned))
            .with_read_only_paths([root.join("app/skills")]);
        let permissions = Permissions::default()
            .with_path(ApprovedPath::resolve(root.join(path), access))
            .with_protected(protected);
        let error = permissions.check_paths().err()?;
        Some(error.to_string().replace(&*root.to_string_lossy(), "ROOT"))
    };
    let paths = [
        "app/.git",
        "app/.git/hooks",
        "app/.Git/new",
        "app/.claude/skills",
        "app/.github/hooks/x",
        "app/my-skills/x",
        "app/skills",
        "link",
        "bare",
        "bare/hooks",
    ];
    let told = paths.map(|path| refused(path, PathAccess::Write).unwrap_or_default());
    insta::assert_snapshot!(told.join("\n"), @"
    Path cannot be granted to be written, it is protected: `ROOT/app/.git`
    Path cannot be granted to be written, because of `ROOT/app/.git`: `ROOT/app/.git/hooks`
    Path cannot be granted to be written, because of `ROOT/app/.Git`: `ROOT/app/.Git/new`
    Path cannot be granted to be written, because of `ROOT/app/.claude`: `ROOT/app/.claude/skills`
    Path cannot be granted to be written, because of `ROOT/app/.github/hooks`: `ROOT/app/.github/hooks/x`
    Path cannot be granted to be written, because of `ROOT/app/skills`: `ROOT/app/my-skills/x`
    Path cannot be granted to be written, it is protected: `ROOT/app/skills`
    Path cannot be granted to be written, because of `ROOT/app/.git`: `ROOT/link`
    Path cannot be granted to be written, it is protected: `ROOT/bare`
    Path cannot be granted to be written, because of `ROOT/bare`: `ROOT/bare/hooks`
    ");
    for path in ["app", "app/.github", "bare/tree", "bare/tree/src"] {
        assert_eq!(refused(path, PathAccess::Write), None);
    }
    for path in paths {
        assert_eq!(refused(path, PathAccess::Read), None);
    }
}
