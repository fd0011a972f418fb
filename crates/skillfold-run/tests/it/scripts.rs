//! Scripts that do what they should.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use skillfold_run::{Cancel, End, Help, Permissions, Run, RunLimits, Stream, layers};

use crate::skill::{path, run, run_options, skill};

#[test]
fn this_system_has_every_required_layer() {
    needs_sandbox!();
    assert!(layers().is_complete(), "{:?}", layers());
}

#[test]
fn shell_script_gets_its_arguments_verbatim() {
    needs_sandbox!();
    let text = "#!/bin/sh\nprintf '%s|' \"$@\"; pwd; cat";
    let outcome = run("scripts/a.sh", text, |run| {
        run.with_arguments(["a b", "$(id)", "'\"", ""])
            .with_input("from stdin")
    });
    assert_eq!(outcome.stderr_text(), "");
    assert_eq!(outcome.stdout_text(), "a b|$(id)|'\"||/skill\nfrom stdin");
    assert_eq!(outcome.end, End::Exited(0));
}

#[test]
fn exit_code_is_the_scripts_own() {
    needs_sandbox!();
    for code in [0, 1, 128, 200, 255] {
        let outcome = run("a.sh", &format!("exit {code}"), |run| run);
        assert_eq!(outcome.end, End::Exited(code));
    }
}

#[test]
fn python_script_runs_with_its_modules_and_a_scratch_folder() {
    needs_sandbox!();
    let text = "import json, os, tempfile, subprocess, multiprocessing, getpass, ctypes\n\
                with tempfile.NamedTemporaryFile() as f: f.write(b'x')\n\
                lock = multiprocessing.Lock()\n\
                out = subprocess.run(['sh', '-c', 'echo from a child'], capture_output=True, text=True).stdout\n\
                print(json.dumps([out, os.getcwd(), getpass.getuser(), sorted(os.environ), os.getpid() < 5]))\n";
    let outcome = run("scripts/a.py", text, |run| run);
    assert_eq!(outcome.stderr_text(), "");
    let expected = "[\"from a child\\n\", \"/skill\", \"skill\", [\"HOME\", \"LANG\", \"PATH\", \"TMPDIR\"], true]\n";
    assert_eq!(outcome.stdout_text(), expected);
}

#[test]
fn node_script_runs_within_the_memory_limit() {
    needs_sandbox!();
    let text = "const fs = require('fs'), file = process.env.TMPDIR + '/x'; fs.writeFileSync(file, 'ok'); console.log(fs.readFileSync(file, 'utf8'))";
    let outcome = run("scripts/a.cjs", text, |run| run);
    assert_eq!(outcome.stderr_text(), "");
    assert_eq!(outcome.stdout_text(), "ok\n");
}

#[test]
fn perl_script_runs() {
    needs_sandbox!();
    let outcome = run("scripts/a.pl", "print 6 * 7;", |run| run);
    assert_eq!(outcome.stdout_text(), "42", "{}", outcome.stderr_text());
}

#[test]
fn script_can_start_another_script_of_the_skill() {
    needs_sandbox!();
    let copy = skill(&[
        ("scripts/a.sh", "#!/bin/sh\n./lib/b.sh\n"),
        ("lib/b.sh", "#!/bin/sh\necho second\n"),
    ]);
    let script = path("scripts/a.sh");
    let outcome = Run::new(&copy, &script)
        .with_options(run_options())
        .run()
        .unwrap();
    assert_eq!(
        outcome.stdout_text(),
        "second\n",
        "{}",
        outcome.stderr_text()
    );
}

#[test]
fn exit_codes_and_signals_are_reported() {
    needs_sandbox!();
    let exited = run("scripts/a.sh", "exit 7", |run| run);
    assert_eq!(exited.end, End::Exited(7));
    let killed = run("scripts/a.sh", "kill -TERM $$", |run| run);
    assert_eq!(killed.end, End::Signalled(15));
}

#[test]
fn run_is_limited_to_a_minute_and_a_mebibyte_by_default() {
    let limits = RunLimits::default();
    assert_eq!(limits.wall_time, Duration::from_secs(60));
    assert_eq!(limits.output_bytes, 1024 * 1024);
    assert_eq!((limits.arguments, limits.argument_bytes), (100, 4096));
}

#[test]
fn run_ends_at_its_time_limit() {
    needs_sandbox!();
    let limits = RunLimits::default().with_wall_time(Duration::from_millis(300));
    let outcome = run("scripts/a.sh", "echo early; sleep 20", |run| {
        run.with_options(run_options().with_limits(limits))
    });
    assert_eq!((outcome.end, outcome.end.code()), (End::Timeout, "timeout"));
    assert_eq!(outcome.stdout_text(), "early\n");
    assert!(
        outcome.duration < Duration::from_secs(2),
        "{:?}",
        outcome.duration
    );
}

#[test]
fn output_over_the_limit_ends_the_run_and_its_start_is_returned() {
    needs_sandbox!();
    let limits = RunLimits::default().with_output_bytes(1000);
    let outcome = run("scripts/a.sh", "yes >&2 & yes", |run| {
        run.with_options(run_options().with_limits(limits))
    });
    assert_eq!(outcome.end.code(), "output_too_large");
    assert_eq!(outcome.stdout.len() + outcome.stderr.len(), 1000);
    let exact = RunLimits::default().with_output_bytes(3);
    let outcome = run("scripts/a.sh", "echo ok", |run| {
        run.with_options(run_options().with_limits(exact))
    });
    assert_eq!(outcome.end, End::Exited(0));
}

#[test]
fn cpu_time_and_file_size_are_limited() {
    needs_sandbox!();
    let limits = RunLimits::default().with_cpu_time(Duration::from_secs(1));
    let outcome = run("scripts/a.py", "while True: pass", |run| {
        run.with_options(run_options().with_limits(limits))
    });
    assert_eq!(outcome.end.code(), "cpu_time_exceeded");
    let limits = RunLimits::default().with_file_bytes(4096);
    let text = "exec head -c 8192 /dev/zero > ~/x";
    let outcome = run("scripts/a.sh", text, |run| {
        run.with_options(run_options().with_limits(limits))
    });
    assert_eq!(outcome.end.code(), "file_too_large");
}

#[test]
fn memory_scratch_and_processes_are_limited() {
    needs_sandbox!();
    let limits = RunLimits::default()
        .with_memory_bytes(128 << 20)
        .with_scratch_bytes(1 << 20)
        .with_processes(20);
    let text = "import errno, os\n\
                try: bytearray(256 << 20); print('memory')\n\
                except MemoryError: pass\n\
                try: open(os.environ['TMPDIR'] + '/big', 'wb').write(bytes(2 << 20)); print('scratch')\n\
                except OSError as e: assert e.errno == errno.ENOSPC\n\
                try:\n    for _ in range(30):\n        if os.fork() == 0: os.pause() if hasattr(os, 'pause') else __import__('signal').pause()\n    \
                print('processes')\n\
                except OSError as e: assert e.errno == errno.EAGAIN\n\
                print('end')\n";
    let outcome = run("scripts/a.py", text, |run| {
        run.with_options(run_options().with_limits(limits))
    });
    assert_eq!(
        (&*outcome.stdout_text(), &*outcome.stderr_text()),
        ("end\n", "")
    );
}

#[test]
fn cancelled_run_ends_soon() {
    needs_sandbox!();
    let cancel = Cancel::default();
    let other = cancel.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        other.cancel();
    });
    let outcome = run("scripts/a.sh", "sleep 30", |run| {
        run.with_options(run_options().with_cancel(cancel))
    });
    assert_eq!(outcome.end.code(), "cancelled");
    assert!(
        outcome.duration < Duration::from_secs(2),
        "{:?}",
        outcome.duration
    );
}

#[test]
fn output_is_streamed_while_the_script_runs() {
    needs_sandbox!();
    let text = "echo first; sleep 1; echo last >&2";
    let (copy, script) = (skill(&[("scripts/a.sh", text)]), path("scripts/a.sh"));
    let (started, mut seen) = (Instant::now(), Vec::new());
    let observer = |stream, bytes: &[u8]| seen.push((stream, bytes.to_vec(), started.elapsed()));
    Run::new(&copy, &script)
        .with_observer(observer)
        .run()
        .unwrap();
    let [(Stream::Stdout, first, early), (Stream::Stderr, last, late)] = &seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!((&first[..], &last[..]), (&b"first\n"[..], &b"last\n"[..]));
    assert!(*late > *early + Duration::from_millis(500));
}

#[test]
fn background_processes_end_with_the_script() {
    needs_sandbox!();
    let outcome = run("scripts/a.sh", "setsid sleep 30 & echo done", |run| run);
    assert_eq!(outcome.end, End::Exited(0));
    assert!(
        outcome.duration < Duration::from_secs(2),
        "{:?}",
        outcome.duration
    );
}

#[test]
fn granted_paths_and_variables_are_available() {
    needs_sandbox!();
    let folder = tempfile::tempdir().unwrap();
    let open = OpenFolders::at(folder.path());
    let text = "import os\n\
                print(os.environ['TOKEN'])\n\
                print(sorted(os.listdir(os.environ['FOLDER'])))\n\
                open(os.environ['FOLDER'] + '/written/file', 'w').write('from the sandbox')\n\
                try: open(os.environ['FOLDER'] + '/read/file', 'w'); print('wrote')\n\
                except OSError: pass\n";
    let permissions = Permissions::default()
        .with_read(open.read.clone())
        .with_write(open.write.clone())
        .with_variable("TOKEN", "secret")
        .with_variable("FOLDER", folder.path().to_str().unwrap());
    let outcome = run("scripts/a.py", text, |run| {
        run.with_options(run_options().with_permissions(permissions))
    });
    let expected = "secret\n['read', 'written']\n";
    assert_eq!(
        (&*outcome.stdout_text(), &*outcome.stderr_text()),
        (expected, "")
    );
    assert_eq!(
        fs::read_to_string(open.write.join("file")).unwrap(),
        "from the sandbox"
    );
}

/// Two folders that every user may write to: root's runs have another user.
struct OpenFolders {
    read: PathBuf,
    write: PathBuf,
}

impl OpenFolders {
    fn at(folder: &Path) -> Self {
        let (read, write) = (folder.join("read"), folder.join("written"));
        for path in [&read, &write] {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        }
        Self { read, write }
    }
}

#[test]
fn long_lived_process_answers_over_its_pipes() {
    needs_sandbox!();
    let text = "import sys\nfor line in sys.stdin: print('got', line.strip(), flush=True)\n";
    let (copy, script) = (skill(&[("scripts/a.py", text)]), path("scripts/a.py"));
    let mut running = Run::new(&copy, &script)
        .with_options(run_options())
        .start()
        .unwrap();
    let mut stdin = running.take_stdin().unwrap();
    let mut lines = BufReader::new(running.take_stdout().unwrap()).lines();
    for word in ["one", "two"] {
        writeln!(stdin, "{word}").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), format!("got {word}"));
    }
    running.stopper().stop();
    assert_eq!(running.wait().unwrap(), None);
    assert!(lines.next().is_none());
}

#[test]
fn interpreter_outside_the_system_folders_runs() {
    needs_sandbox!();
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy("/bin/sh", bin.join("sh")).unwrap();
    fs::write(folder.path().join("secret"), "secret").unwrap();
    let text = format!("cat {0}/secret; ls {0}; echo ran", folder.path().display());
    let outcome = run("scripts/a.sh", &text, |run| {
        run.with_options(run_options().with_search_path([bin]))
    });
    assert_eq!(outcome.stdout_text(), "bin\nran\n");
}

#[test]
fn help_is_the_scripts_usage_output_or_its_head() {
    needs_sandbox!();
    let printed = "import argparse\nargparse.ArgumentParser(prog='fill').parse_args()\n";
    let head = "#!/bin/sh\n# Fills in forms.\n#\n# Usage: fill FILE\nexit 3\n";
    let metadata =
        "# /// script\n# dependencies = []\n# ///\n\n'''Counts.'''\nraise SystemExit(1)\n";
    let copy = skill(&[
        ("scripts/a.py", printed),
        ("scripts/b.sh", head),
        ("scripts/c.py", metadata),
    ]);
    let help = |name: &str| {
        let script = path(name);
        skillfold_run::help(&copy, &script, run_options()).unwrap()
    };
    assert!(help("scripts/a.py").text().starts_with("usage: fill [-h]"));
    let expected = Help::Head("Fills in forms.\n\nUsage: fill FILE".to_owned());
    assert_eq!(help("scripts/b.sh"), expected);
    assert_eq!(help("scripts/c.py").text(), "Counts.");
}

#[test]
fn out_of_memory_kills_the_run_before_the_host() {
    needs_sandbox!();
    let text = "import os\nprint(open('/proc/self/oom_score_adj').read())\n";
    let outcome = run("scripts/a.py", text, |run| run);
    assert_eq!(
        outcome.stdout_text().trim(),
        "1000",
        "{}",
        outcome.stderr_text()
    );
}
