//! Why this system refuses user namespaces, and what the user can do about it.

use std::fs;
use std::path::Path;

use rustix::process::geteuid;

/// Why the kernel refuses user namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) why: &'static str,
    pub(super) remedy: &'static str,
}

/// Settings of the kernel that refuse user namespaces: the file below `/proc/sys`, the value, whether root is refused too,
/// and the cause.
const SETTINGS: [(&str, &str, Affected, Cause); 3] = [
    (
        "user/max_user_namespaces",
        "0",
        Affected::Everybody,
        Cause {
            why: "the kernel's `user.max_user_namespaces` is 0",
            remedy: "`sudo sysctl user.max_user_namespaces=15000` allows them",
        },
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        Affected::Users,
        Cause {
            why: "the kernel's `kernel.unprivileged_userns_clone` is 0",
            remedy: "`sudo sysctl kernel.unprivileged_userns_clone=1` allows them",
        },
    ),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        Affected::Users,
        Cause {
            why: "AppArmor allows user namespaces only to programs that have a profile",
            remedy: "`skillfold run --apparmor-profile | sudo tee /etc/apparmor.d/skillfold`, then `sudo apparmor_parser -r /etc/apparmor.d/skillfold`, gives `skillfold` one",
        },
    ),
];

/// What no setting explains.
const OTHER: Cause = Cause {
    why: "something else than a setting of the kernel refuses user namespaces, as most containers do",
    remedy: "In a container, start it with a seccomp profile that allows `clone`, `mount`, `pivot_root` and `setns`",
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Affected {
    Users,
    Everybody,
}

/// Returns the cause.
pub(super) fn cause() -> Cause {
    cause_in(Path::new("/proc/sys"), geteuid().is_root())
}

#[expect(clippy::disallowed_methods, reason = "settings of the kernel")]
fn cause_in(settings: &Path, is_root: bool) -> Cause {
    let holds = |(file, value, refused, _): &(&str, &str, Affected, Cause)| {
        let found = fs::read_to_string(settings.join(file));
        let counts = *refused == Affected::Everybody || !is_root;
        counts && found.is_ok_and(|found| found.trim() == *value)
    };
    let found = SETTINGS.into_iter().find(holds);
    found.map_or(OTHER, |(.., cause)| cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test's own files")]
    fn setting_that_refuses_namespaces_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path();
        fs::create_dir(settings.join("user")).unwrap();
        fs::create_dir(settings.join("kernel")).unwrap();
        let user = |file: &str, value: &str| {
            fs::write(settings.join(file), value).unwrap();
            cause_in(settings, false).why
        };
        insta::assert_snapshot!(user("user/max_user_namespaces", "95731\n"), @"something else than a setting of the kernel refuses user namespaces, as most containers do");
        insta::assert_snapshot!(user("kernel/apparmor_restrict_unprivileged_userns", "1\n"), @"AppArmor allows user namespaces only to programs that have a profile");
        insta::assert_snapshot!(user("kernel/unprivileged_userns_clone", "0\n"), @"the kernel's `kernel.unprivileged_userns_clone` is 0");
        // These two are not for root.
        assert_eq!(cause_in(settings, true), OTHER);
        insta::assert_snapshot!(user("user/max_user_namespaces", "0\n"), @"the kernel's `user.max_user_namespaces` is 0");
        assert_ne!(cause_in(settings, true), OTHER);
    }
}
