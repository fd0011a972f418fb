//! `stats`

use std::io::Write as _;
use std::process::Stdio;

use crate::command::{World, skillfold};

fn world() -> World {
    World::new(
        r#"
        //- app/agent.jsonl
        {"time_ms":1763110801000,"event":"skills for a request","decisions":1}
        {"time_ms":1763110900000,"event":"feedback on a skill","skill":"mail","feedback":"used","chosen":{"by":"trigger"}}
        {"time_ms":1763197200000,"event":"skills for a request","decisions":2}
        {"time_ms":1763197261000,"event":"feedback on a skill","skill":"notes\u001b[31m","feedback":"unused","chosen":{"by":"trigger"}}
        {"time_ms":1763283600000,"event":"skills for a request","decisions":0}
        {"time_ms":1763283660000,"event":"feedback on a skill","skill":"pdf","feedback":"missed"}
        {"time_ms":1763283660000,"event":"skills found"}
        {"time_ms":17632
        //- app/idle.jsonl
        {"time_ms":1763110801000,"event":"skills for a request","decisions":1}
        //- app/empty.jsonl
        "#,
    )
}

#[test]
fn stats_report_selection_accuracy_over_time() {
    insta::assert_snapshot!(world().run(&["stats", "agent.jsonl"]), @r#"
    day         turns  matched  used  unused  missed  precision  recall
    2025-11-14      1        1     1       0       0      100 %   100 %
    2025-11-15      1        1     0       1       0        0 %       -
    2025-11-16      1        0     0       0       1          -     0 %
    all             3        2     1       1       1       50 %    50 %

    Wrong most often
      notes\u{1b}[31m  1 unused  precision 0 %
      pdf              1 missed  precision -

    Chosen by
      trigger  1 used, 1 unused  precision 50 %
      unknown  1 missed  precision -

    Requests, at most 1
      ⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉




    Requests with a skill, at most 1
      ⠉⠉⠉⠉⠉⠉⠉⠉⡇
              ⡇
              ⡇
              ⣇⣀⣀⣀
    ! 8 lines read, 1 of other events; 3 lines of requests, 3 lines of skills
    ! warning: left out: 1 line that could not be parsed, the first is line 8
    exit 0
    "#);
    insta::assert_snapshot!(world().run(&["stats", "agent.jsonl", "--every", "2"]), @r#"
    from              turns  matched  used  unused  missed  precision  recall
    2025-11-14 09:00      2        2     1       1       0       50 %   100 %
    2025-11-16 09:00      1        0     0       0       1          -     0 %
    all                   3        2     1       1       1       50 %    50 %

    Wrong most often
      notes\u{1b}[31m  1 unused  precision 0 %
      pdf              1 missed  precision -

    Chosen by
      trigger  1 used, 1 unused  precision 50 %
      unknown  1 missed  precision -

    Requests, at most 2
      ⠉⠉⠉⠉⡇
          ⡇
          ⠉⠉⠉⠉


    Requests with a skill, at most 2
      ⠉⠉⠉⠉⡇
          ⡇
          ⡇
          ⣇⣀⣀⣀
    ! 8 lines read, 1 of other events; 3 lines of requests, 3 lines of skills
    ! warning: left out: 1 line that could not be parsed, the first is line 8
    exit 0
    "#);
}

#[test]
fn log_without_outcomes_says_where_they_come_from() {
    insta::assert_snapshot!(world().run(&["stats", "idle.jsonl"]), @"
    day         turns  matched  used  unused  missed  precision  recall
    2025-11-14      1        1     0       0       0          -       -
    ! 1 line read, 0 of other events; 1 line of requests, 0 lines of skills
    ! No line has feedback on a skill: a host records it with `Session::record_feedback` and logs it with `TraceLines`
    exit 0
    ");
    insta::assert_snapshot!(world().run(&["stats", "empty.jsonl"]), @"
    ! 0 lines read, 0 of other events; 0 lines of requests, 0 lines of skills
    ! No line has feedback on a skill: a host records it with `Session::record_feedback` and logs it with `TraceLines`
    exit 0
    ");
}

#[test]
fn log_that_cannot_be_read_is_an_error() {
    let world = world();
    insta::assert_snapshot!(world.run(&["stats", "missing.jsonl"]), @"
    ! error: Could not find `missing.jsonl`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["stats", "."]), @"
    ! error: Could not read `.`: Is a directory (os error 21)
    ! hint: Check that the file may be read
    exit 5
    ");
    insta::assert_snapshot!(world.run(&["stats", "agent.jsonl", "--every", "0"]), @"
    ! error: invalid value '0' for '--every <NUMBER>': not a whole number of at least 1
    ! 
    ! For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn log_is_read_from_stdin_and_from_another_folder() {
    let world = world();
    let mut command = skillfold(&world.path("app"), &world.path("person"));
    command.args(["stats", "-", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let log = world.read("app/agent.jsonl");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(log.as_bytes())
        .unwrap();
    let piped = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let app = world.path("app");
    let from = [
        "-C",
        app.to_str().unwrap(),
        "stats",
        "agent.jsonl",
        "--json",
    ];
    assert!(piped.contains("\"kind\": \"stats\""), "{piped}");
    assert_eq!(piped, world.data(&from));
}

#[test]
fn long_statistics_are_truncated_with_a_note() {
    let line = |number: u64| {
        let time_ms = 1_763_110_801_000 + number * 86_400_000;
        format!(
            "{{\"time_ms\":{time_ms},\"event\":\"feedback on a skill\",\"skill\":\"s{number}\",\"feedback\":\"unused\"}}\n"
        )
    };
    let lines: String = (0..100).map(line).collect();
    let log = format!("//- app/agent.jsonl\n{lines}");
    let world = World::new(&log);
    let shown = world.run(&["stats", "agent.jsonl"]);
    assert!(
        shown.contains("(40 earlier periods; `--json` has them all)"),
        "{shown}"
    );
    assert!(
        shown.contains("80 more skills; `--json` has them all"),
        "{shown}"
    );
    assert_eq!(
        shown.lines().filter(|line| line.starts_with("202")).count(),
        60
    );
}
