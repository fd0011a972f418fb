//! Arguments, file names and input reach a script byte for byte: no shell is involved.

use proptest::prelude::*;
use skillfold_run::{Permissions, Run, RunError, RunLimits, SkillCopy};

use crate::skill::{path, run_options, skill};

/// Prints each argument and the script's name in hex.
const ECHO: &str = "import sys\nprint(' '.join(word.encode('utf-8', 'surrogateescape').hex() or '-' for word in sys.argv))\n";

fn hex(text: &str) -> String {
    let digits: Vec<String> = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.concat();
    if digits.is_empty() {
        "-".to_owned()
    } else {
        digits
    }
}

#[test]
fn no_argument_or_file_name_reaches_a_shell() {
    needs_sandbox!();
    let config = ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(
        arguments in prop::collection::vec("[^\0]{0,12}|[ $`'\";|&<>(){}*?!#~\\\\\n\t-]{1,8}", 0..6),
        name in "[a-z$`';&|(){} -]{1,12}",
    )| {
        let file = format!("scripts/{name}.py");
        let Ok(script) = file.parse() else { return Ok(()) };
        let copy = skill(&[(&file, ECHO)]);
        let outcome = Run::new(&copy, &script).with_options(run_options()).with_arguments(arguments.clone()).run().unwrap();
        let expected: Vec<String> = [format!("/skill/{file}")].iter().chain(&arguments).map(|word| hex(word)).collect();
        let stdout = outcome.stdout_text();
        prop_assert_eq!(stdout.trim_end(), expected.join(" "), "{}", outcome.stderr_text());
    });
}

#[test]
fn unstartable_script_is_refused_with_a_code_and_a_hint() {
    let copy = skill(&[
        ("scripts/a.py", ""),
        ("scripts/a.zzz", ""),
        ("scripts/b", "#!/usr/bin/env no-such-program\n"),
    ]);
    let refusals = [
        refuse(&copy, "scripts/a.py", |run| {
            run.with_arguments(vec!["x"; 101])
        }),
        refuse(&copy, "scripts/a.py", |run| {
            run.with_arguments(["x".repeat(4097)])
        }),
        refuse(&copy, "scripts/a.py", |run| run.with_arguments(["a\0b"])),
        refuse(&copy, "scripts/a.py", |run| {
            run.with_input("four")
                .with_options(run_options().with_limits(RunLimits::default().with_input_bytes(3)))
        }),
        refuse(&copy, "scripts/none.py", |run| run),
        refuse(&copy, "scripts/a.zzz", |run| run),
        refuse(&copy, "scripts/b", |run| run),
        refuse(&copy, "scripts/a.py", |run| {
            run.with_options(run_options().with_search_path([]))
        }),
        refuse(&copy, "scripts/a.py", |run| {
            grant(run, |grants| grants.with_variable("LD_PRELOAD", "x"))
        }),
        refuse(&copy, "scripts/a.py", |run| {
            grant(run, |grants| grants.with_variable("A=B", "x"))
        }),
        refuse(&copy, "scripts/a.py", |run| {
            grant(run, |grants| grants.with_read("/"))
        }),
        refuse(&copy, "scripts/a.py", |run| {
            grant(run, |grants| grants.with_write("/proc/sys"))
        }),
        refuse(&copy, "scripts/a.py", |run| {
            grant(run, |grants| grants.with_read("/usr/../root"))
        }),
        refuse(&copy, "scripts/a.py", |run| {
            grant(run, |grants| grants.with_read("relative"))
        }),
        refuse(&copy, "scripts/a.py", |run| {
            grant(run, |grants| grants.with_read("/no/such/folder"))
        }),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
}

fn grant(run: Run<'_>, change: impl FnOnce(Permissions) -> Permissions) -> Run<'_> {
    run.with_options(run_options().with_permissions(change(Permissions::default())))
}

fn refuse(copy: &SkillCopy, script: &str, change: impl FnOnce(Run<'_>) -> Run<'_>) -> String {
    let script = path(script);
    let error: RunError = change(Run::new(copy, &script)).run().unwrap_err();
    format!("{}: {error}\n  {}", error.code(), error.hint())
}
