//! What can be granted, and what cannot.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use skillfold_run::{Permissions, Protected, Run, RunError, RunOptions, SYSTEM_FOLDERS};
use tempfile::TempDir;

use crate::skill::{path, skill};

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
        .with_options(RunOptions::default().with_permissions(permissions))
        .run()?;
    Ok(format!(
        "{}{}",
        outcome.stdout_text(),
        outcome.stderr_text()
    ))
}

#[test]
fn granted_path_that_resolves_elsewhere_is_refused() {
    let (_folder, root) = open_folder();
    let home = root.join("site/page");
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(root.join("other/page")).unwrap();
    fs::write(root.join("other/page/key"), "secret").unwrap();
    let permissions = || {
        Permissions::default()
            .with_read(&home)
            .with_real_path(&home, &home)
    };
    let list = ("a.sh", "ls -A \"$1\"");
    assert_eq!(said(list, &[&home], permissions()).unwrap(), "");
    fs::rename(root.join("site"), root.join("old")).unwrap();
    symlink("other", root.join("site")).unwrap();
    let error = said(list, &[&home], permissions()).unwrap_err();
    assert_eq!(error.code(), "not_permitted");
    let text = error.to_string().replace(&*root.to_string_lossy(), "ROOT");
    insta::assert_snapshot!(text, @"Granted path now points elsewhere: `ROOT/site/page` is `ROOT/other/page`");
    // A link that existed when the path was granted.
    let permissions = permissions().with_real_path(&home, root.join("other/page"));
    assert_eq!(said(list, &[&home], permissions).unwrap(), "key\n");
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
fn shebang_interpreter_in_home_exposes_only_itself() {
    let (_folder, home) = open_folder();
    let install = |prefix: &str, name: &str| {
        let prefix = home.join(prefix);
        for folder in ["bin", "lib"] {
            fs::create_dir_all(prefix.join(folder)).unwrap();
            open(&prefix.join(folder));
        }
        let sh = Path::new("/bin/sh").canonicalize().unwrap();
        fs::copy(sh, prefix.join("bin").join(name)).unwrap();
        fs::write(prefix.join("lib/token"), "seen\n").unwrap();
        prefix
    };
    let seen = |prefix: &str, name: &str| {
        let prefix = install(prefix, name);
        let script = format!(
            "#!/usr/bin/env {name}\nread -r text < \"$1\" && echo \"$text\" || echo nothing\n"
        );
        let (copy, file) = (skill(&[("a", &script)]), path("a"));
        let protected = Protected::default()
            .with_home(&home)
            .with_unwritable([home.join(".local/state"), home.join(".ssh")]);
        let search = [prefix.join("bin")].into_iter();
        let options = RunOptions::default()
            .with_permissions(Permissions::default().with_protected(protected))
            .with_search_path(search.chain(SYSTEM_FOLDERS.map(PathBuf::from)));
        let run =
            Run::new(&copy, &file).with_arguments([prefix.join("lib/token").to_string_lossy()]);
        let outcome = run.with_options(options).run().unwrap();
        outcome.stdout_text().trim().to_owned()
    };
    assert_eq!(seen(".local", "mytool"), "nothing");
    assert_eq!(seen(".local", "bash"), "nothing");
    assert_eq!(seen("", "other"), "nothing");
    assert_eq!(seen("apps/other", "other"), "nothing");
    // A language installed in its own folder needs its libraries.
    assert_eq!(seen("versions/5.2", "bash"), "seen");
}
