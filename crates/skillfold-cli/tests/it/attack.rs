//! No path that anybody types leads out of a skill.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use skillfold_testkit::{
    ATTACKED_SKILL, Arena, RaceOutcome, contains_secret, expect_no_leak, hostile_tree,
};

use crate::command::skillfold;

#[test]
fn no_path_argument_reads_a_byte_from_outside_the_skill() {
    let tree = hostile_tree();
    let attacks = tree.attacks();
    assert!(attacks.len() >= 500, "{}", attacks.len());
    let next = AtomicUsize::new(0);
    // Nobody can type a NUL; the system refuses to start such a command.
    let attacks: Vec<_> = attacks
        .iter()
        .filter(|attack| !attack.text.contains('\0'))
        .collect();
    let attack = || {
        while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::SeqCst)) {
            let mut root = OsStr::new("--root=").to_owned();
            root.push(tree.root());
            let output = skillfold(&tree.root(), &tree.root())
                .args(["read", "--range=..65536"])
                .arg(root)
                .args(["--", ATTACKED_SKILL])
                .arg(OsStr::from_bytes(attack.text.as_bytes()))
                .output();
            // The system itself has a limit on what is typed.
            let Ok(output) = output else {
                assert!(attack.text.len() > 100_000, "{attack:?}");
                continue;
            };
            assert!(!contains_secret(&output.stdout), "{attack:?}");
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 3 | 4)), "{attack:?}: {output:?}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(attack);
        scope.spawn(attack);
    });
}

#[test]
fn nothing_swapped_in_while_the_command_runs_is_printed() {
    for (command, swapped, outside) in [
        (&["load", "pdf"][..], "root/pdf", "outside/skill"),
        (
            &["read", "pdf", "inner/file.txt"],
            "root/pdf/inner",
            "outside/inner",
        ),
        (&["files", "pdf"], "root/pdf/inner", "outside/inner"),
    ] {
        let arena = Arena::new();
        let root = format!("--root={}", arena.at("root").display());
        let counts = arena.swap(swapped, outside).race(|| {
            let output = skillfold(&arena.at("root"), &arena.at("root"))
                .args(["--set=links=refuse", &root])
                .args(command)
                .output()
                .unwrap();
            let has_inner =
                command[0] != "files" || output.stdout.windows(5).any(|window| window == b"inner");
            if output.status.success() && has_inner {
                RaceOutcome::Given(output.stdout)
            } else {
                RaceOutcome::Refused
            }
        });
        expect_no_leak(
            &format!("{command:?}, {swapped} swapped for {outside}"),
            counts,
        );
    }
}
