//! Scripts that refuse to exit, or try to take everything down with them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillfold_run::{Run, RunLimits};

use crate::skill::{path, run_options, skill};

/// Number of runs in a normal test; `BOX_RUNS` overrides it.
const RUNS: u64 = 60;

/// Maximum number of processes in the entire test, including the sandboxes.
const PROCESSES: &str = "300";

const WALL_TIME: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(2);
const MAX_GROWTH: u64 = 16 * 1024 * 1024;

/// The scripts by name.
const SCRIPTS: [(&str, &str); 16] = [
    (
        "fork bomb.py",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
    ),
    ("fork bomb.sh", "f() { f | f & }; f; while :; do :; done"),
    ("programs.sh", "while :; do /bin/true & done"),
    (
        "daemons.py",
        "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n        os.setsid()\n        \
         if os.fork() == 0: time.sleep(60)\n        os._exit(0)\n",
    ),
    (
        "deaf.py",
        "import signal, time\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    \
         except (OSError, ValueError): pass\nwhile True: time.sleep(60)\n",
    ),
    ("endless.sh", "yes"),
    ("endless both.sh", "yes >&2 & yes"),
    ("ten gigabytes.sh", "head -c 10000000000 /dev/zero"),
    (
        "not text.py",
        "import os\nwhile True: os.write(2, b'\\xff\\x1b[2J' * 1000)\n",
    ),
    ("closed.sh", "exec 0<&- 1>&- 2>&-; sleep 60"),
    ("sleep.sh", "sleep 60"),
    ("stop.sh", "kill -STOP $$; sleep 60"),
    (
        "stopped daemons.py",
        "import os, signal\nfor _ in range(10):\n    if os.fork() == 0:\n        os.setsid()\n        \
         os.kill(os.getpid(), signal.SIGSTOP)\n",
    ),
    (
        "memory.py",
        "held = []\nwhile True:\n    try: held.append(bytearray(1 << 20))\n    except MemoryError: pass\n",
    ),
    (
        "disk.sh",
        "while :; do cat /dev/zero > /tmp/$$; head -c 100000 /dev/zero > /tmp/$RANDOM$(date +%N); done 2>/dev/null",
    ),
    (
        "threads.py",
        "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n    \
         except Exception: pass\n",
    ),
];

#[test]
fn hostile_runs_hit_their_limits_and_leave_nothing_behind() {
    needs_sandbox!();
    let runs = std::env::var("BOX_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    let inner = [
        "--ignored",
        "--exact",
        "hostile::child_that_runs_hostile_scripts",
        "--nocapture",
    ];
    let mut child = Command::new("/usr/bin/python3")
        .args(["-c", include_str!("hostile.py"), PROCESSES])
        .arg(std::env::current_exe().unwrap())
        .args(inner)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let input = json!({"runs": runs, "result": result}).to_string();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
    let report: Value = serde_json::from_str(&fs::read_to_string(&result).unwrap()).unwrap();
    println!("{report}");
    assert_eq!(report["runs"], runs);
    assert_eq!(report["faults"], json!([]));
    assert!(report["growth"].as_u64().unwrap() <= MAX_GROWTH, "{report}");
}

#[test]
#[ignore = "the test above runs it as a process of its own"]
fn child_that_runs_hostile_scripts() {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    if input.is_empty() {
        return;
    }
    let input: Value = serde_json::from_str(&input).unwrap();
    let runs = input["runs"].as_u64().unwrap();
    let (mut faults, mut ends, mut slowest) = (Vec::new(), serde_json::Map::new(), Duration::ZERO);
    run_one(0, &mut ends);
    let (before, processes) = (resident_bytes(), processes());
    for number in 0..runs {
        let (name, took) = run_one(number, &mut ends);
        slowest = slowest.max(took);
        if took > WALL_TIME + PATIENCE {
            faults.push(format!("run {number}, {name}: took {took:?}"));
        }
        let left = self::processes();
        if left != processes {
            faults.push(format!(
                "run {number}, {name}: {left} processes instead of {processes}"
            ));
        }
    }
    let report = json!({
        "runs": runs, "faults": faults, "ends": ends,
        "slowest_ms": u64::try_from(slowest.as_millis()).unwrap(),
        "growth": resident_bytes().saturating_sub(before),
    });
    fs::write(input["result"].as_str().unwrap(), report.to_string()).unwrap();
}

/// Runs one script, and returns its name and duration.
fn run_one(number: u64, ends: &mut serde_json::Map<String, Value>) -> (&'static str, Duration) {
    let index = usize::try_from(number).unwrap() % SCRIPTS.len();
    let (name, text) = SCRIPTS[index];
    let file = format!("scripts/{name}");
    let (copy, script) = (skill(&[(&file, text)]), path(&file));
    let limits = RunLimits::default()
        .with_wall_time(WALL_TIME)
        .with_output_bytes(256 * 1024)
        .with_processes(64)
        .with_memory_bytes(128 << 20)
        .with_scratch_bytes(16 << 20);
    let started = Instant::now();
    let outcome = Run::new(&copy, &script)
        .with_options(run_options().with_limits(limits))
        .run()
        .unwrap();
    let took = started.elapsed();
    let count = ends
        .entry(format!("{name}: {}", outcome.end.code()))
        .or_insert(json!(0));
    *count = json!(count.as_u64().unwrap() + 1);
    (name, took)
}

/// Counts the processes in this PID namespace, including zombies.
fn processes() -> usize {
    let is_process = |entry: &fs::DirEntry| {
        entry
            .file_name()
            .to_string_lossy()
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    };
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(is_process)
        .count()
}

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/statm").unwrap();
    4096 * status.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
}
