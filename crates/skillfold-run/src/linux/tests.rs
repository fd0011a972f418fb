//! Sandbox setup on a system that refuses a call or kills the process.

use std::thread;

use libc::c_long;
use rustix::io::Errno;
use seccompiler::sock_filter;
use skillfold_testkit::needs_sandbox;

use super::built_in::BuiltIn;
use super::report::{probe_sandbox, with_probe};
use super::seccomp::install;
use super::sys::{clone_mount, open_checked};
use crate::copy::SkillCopy;
use crate::layers::{Layer, SandboxReport};
use crate::request::{Inode, RunRequest};
use crate::run::{Run, layers};
use crate::sandbox::Sandbox as _;

const KILL_PROCESS: u32 = 0x8000_0000;
const REFUSE: u32 = 0x0005_0000 | libc::EPERM.unsigned_abs();

/// Runs a closure in a thread where a system call kills the process or is refused.
fn without<T: Send + 'static>(
    number: c_long,
    action: u32,
    closure: impl FnOnce() -> T + Send + 'static,
) -> T {
    let one = |code, k, jf| sock_filter { code, jt: 0, jf, k };
    let number = u32::try_from(number).unwrap();
    let filter = vec![
        one(0x20, 0, 0),
        one(0x15, number, 1),
        one(0x06, action, 0),
        one(0x06, 0x7fff_0000, 0),
    ];
    // Probes the layers beforehand.
    assert!(layers().is_complete());
    let closure = move || {
        install(&[filter]).unwrap();
        closure()
    };
    thread::spawn(closure).join().unwrap()
}

/// Returns why a script did not start.
fn failure() -> String {
    let path = "a.sh".parse().unwrap();
    let copy = SkillCopy::new([("a.sh".parse().unwrap(), b"echo".to_vec())]).unwrap();
    let error = Run::new(&copy, &path).run().unwrap_err();
    error.with_cause()
}

#[test]
fn init_killed_during_setup_is_a_start_failure() {
    needs_sandbox!(layers());
    let why = without(libc::SYS_pivot_root, KILL_PROCESS, failure);
    insta::assert_snapshot!(why, @"Could not start `a.sh` in the sandbox: set up the sandbox: its first process was killed");
    let report = || probe_sandbox(SandboxReport::new("built-in", [Layer::Namespaces]));
    let report = without(libc::SYS_pivot_root, KILL_PROCESS, report);
    let why = report.layers[0].missing.as_deref();
    insta::assert_snapshot!(why.unwrap(), @"could not set up the sandbox: its first process was killed; something else than a setting of the kernel refuses user namespaces, as most containers do");
}

#[test]
fn nothing_runs_without_namespaces_and_without_landlock() {
    let report = SandboxReport::new("built-in", [Layer::Namespaces, Layer::Landlock])
        .without(Layer::Namespaces, "refused")
        .without(Layer::Landlock, "missing");
    let start = |request: &RunRequest<'_>| Ok(BuiltIn.start(request).map(drop));
    let error = with_probe(&report, start).unwrap().unwrap_err();
    insta::assert_snapshot!(error, @"Nothing here keeps a script from your files");
}

#[test]
fn rejected_limit_is_not_reported_as_set() {
    needs_sandbox!(layers());
    let why = without(libc::SYS_prlimit64, REFUSE, failure);
    insta::assert_snapshot!(why, @"Could not start `a.sh` in the sandbox: set resource limits: Operation not permitted (os error 1)");
}

#[test]
fn mounts_are_copied_without_following_links() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/etc", &link).unwrap();
    for path in [link.clone(), link.join("hosts")] {
        let path = super::plan::c_string(path.as_os_str()).unwrap();
        assert_eq!(clone_mount(&path, None).unwrap_err(), Errno::LOOP);
    }
}

#[test]
fn only_the_folder_that_was_checked_is_mounted() {
    use std::os::unix::fs::MetadataExt as _;

    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let inode = |name: &str| {
        let path = real.join(name);
        std::fs::create_dir(&path).unwrap();
        let found = path.metadata().unwrap();
        Inode {
            device: found.dev(),
            number: found.ino(),
        }
    };
    let (one, other) = (inode("one"), inode("other"));
    let path = super::plan::c_string(real.join("one").as_os_str()).unwrap();
    assert!(open_checked(&path, Some(one)).is_ok());
    assert_eq!(open_checked(&path, Some(other)).unwrap_err(), Errno::STALE);
    assert_eq!(clone_mount(&path, Some(other)).unwrap_err(), Errno::STALE);
}
