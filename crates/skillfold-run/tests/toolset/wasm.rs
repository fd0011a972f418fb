//! Toolsets that are WebAssembly components.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::json;
use skillfold_run::toolset::ToolsetOptions;
use skillfold_run::{Cancel, RunLimits, RunOptions};
use skillfold_testkit::in_checkout;

use crate::component::{Parts, load_bytes};
use crate::skill::{show_call, show_error, show_tools, within};

fn example_path() -> PathBuf {
    in_checkout("examples/skills/hello-extended/toolsets/hello.wasm")
}

fn example() -> Vec<u8> {
    fs::read(example_path()).unwrap()
}

fn limited(limits: RunLimits) -> ToolsetOptions {
    ToolsetOptions::default().with_run(RunOptions::default().with_limits(limits))
}

#[test]
fn wasm_example_matches_its_source() {
    let file = example_path();
    let made = wat::parse_file(file.with_extension("wat")).unwrap();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    assert!(
        fs::read(&file).unwrap() == made,
        "hello.wasm is not hello.wat; run UPDATE_DOCS=1 cargo test -p skillfold-run --features wasm example"
    );
}

#[test]
fn component_provides_tools() {
    let mut toolset = load_bytes(example(), "t", &ToolsetOptions::default()).unwrap();
    let toolset = &mut *toolset;
    insta::assert_snapshot!(show_tools(toolset), @r#"
    greet: Greets one person, in English
      {"additionalProperties":false,"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}
    "#);
    insta::assert_snapshot!(show_call(toolset, "greet", &json!({ "name": "Zoë" })), @r#"ok: "Hello, Zoë!", title "Greeted", metadata {"greeted":1}"#);
    insta::assert_snapshot!(show_call(toolset, "greet", &json!({ "name": "a\nb" })), @r#"failed: "A name has no quotes, no backslashes and no line ends", title "", metadata {}"#);
    insta::assert_snapshot!(show_call(toolset, "greet", &json!({ "name": "" })), @r#"failed: "There is nobody to greet", title "", metadata {}"#);
    insta::assert_snapshot!(show_call(toolset, "greet", &json!({})), @r"
    invalid_arguments: Tool `greet`: the argument `name` is missing
    hint: Call it again with arguments that fit its schema
    ");
    let long = "ü".repeat(200_000);
    let answer = toolset.call("greet", &json!({ "name": long })).unwrap();
    assert_eq!(answer.output, format!("Hello, {long}!"));
}

#[test]
fn name_in_a_reference_is_the_interface() {
    load_bytes(example(), "t:tools", &ToolsetOptions::default()).unwrap();
    let error = load_bytes(example(), "t:Hello", &ToolsetOptions::default()).unwrap_err();
    insta::assert_snapshot!(show_error(&error), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: it has no export `Hello`; leave the name out, or write `tools`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
}

/// Returns the number of calls so far. Arguments over 9 bytes are a fault.
const COUNTER: Parts<'_> = Parts {
    items: r#"(global $calls (mut i32) (i32.const 48)) (data (i32.const 700) "at the end")"#,
    call: "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (i32.store8 (i32.const 600) (global.get $calls))
        (i32.store (i32.const 532) (i32.const 600))
        (i32.store (i32.const 536) (i32.const 1))
        (if (i32.gt_u (local.get 3) (i32.const 9)) (then (call $log (i32.const 700) (i32.const 10)) unreachable))
        (i32.const 512)",
    imports: "",
    memory: "1",
    realloc: "(i32.const 32768)",
    list: "(i32.const 0)",
    listed: "list $tool",
    exported: "skillfold:toolset/tools@0.1.0",
};

#[test]
fn instance_keeps_state_until_a_trap_which_is_reported() {
    let mut toolset = COUNTER.load(&ToolsetOptions::default()).unwrap();
    let mut call = |n: u64| show_call(&mut *toolset, "run", &json!({ "n": n }));
    insta::assert_snapshot!(call(1), @r#"ok: "1", title "", metadata {}"#);
    insta::assert_snapshot!(call(1), @r#"ok: "2", title "", metadata {}"#);
    insta::assert_snapshot!(call(123_456), @r"
    toolset_failed: Toolset `t.wasm` ended before it answered `call`: wasm `unreachable` instruction executed. It said: at the end
    hint: Try again, which restarts it; its last output may say why
    ");
    insta::assert_snapshot!(call(1), @r#"ok: "1", title "", metadata {}"#);
}

#[test]
fn cancelling_ends_the_running_call_and_every_later_one() {
    let cancel = Cancel::default();
    let options =
        ToolsetOptions::default().with_run(RunOptions::default().with_cancel(cancel.clone()));
    let parts = Parts {
        call: "(loop $for_ever (br $for_ever)) (i32.const 512)",
        ..Parts::default()
    };
    let mut toolset = parts.load(&options).unwrap();
    let later = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        cancel.cancel();
    });
    let started = Instant::now();
    let cancelled =
        "cancelled: Toolset `t.wasm` was cancelled\nhint: Call it again if you still need it";
    assert_eq!(show_call(&mut *toolset, "run", &json!({})), cancelled);
    assert_eq!(show_call(&mut *toolset, "run", &json!({})), cancelled);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(parts.refusal(&options), cancelled);
    later.join().unwrap();
}

#[test]
fn concurrent_toolsets_each_end_in_time() {
    let bytes: Arc<[u8]> = Parts {
        call: "(loop $for_ever (br $for_ever)) (i32.const 512)",
        ..Parts::default()
    }
    .bytes()
    .into();
    let call = |milliseconds| {
        let bytes = Arc::clone(&bytes);
        thread::spawn(move || {
            let options = within(Duration::from_secs(60));
            let quick = within(Duration::from_millis(milliseconds));
            // Loading gets as much time as a busy machine needs.
            load_bytes(bytes.to_vec(), "t", &options).unwrap();
            let Ok(mut toolset) = load_bytes(bytes.to_vec(), "t", &quick) else {
                return "timeout";
            };
            toolset.call("run", &json!({})).unwrap_err().code()
        })
    };
    let started = Instant::now();
    for thread in [50, 300, 100, 200].map(call) {
        assert_eq!(thread.join().unwrap(), "timeout");
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn arguments_are_limited_in_size() {
    let options = limited(RunLimits::default().with_input_bytes(100));
    let mut toolset = load_bytes(example(), "t", &options).unwrap();
    let mut call = |length| {
        show_call(
            &mut *toolset,
            "greet",
            &json!({ "name": "a".repeat(length) }),
        )
    };
    insta::assert_snapshot!(call(90), @r"
    input_too_large: The arguments for toolset `t.wasm` have more than 100 bytes
    hint: Give less
    ");
    assert!(call(89).starts_with("ok"));
}

#[test]
fn answer_of_exactly_the_limit_is_accepted() {
    let options = limited(RunLimits::default().with_output_bytes(50));
    let mut toolset = load_bytes(example(), "t", &options).unwrap();
    let mut call = |length| {
        show_call(
            &mut *toolset,
            "greet",
            &json!({ "name": "a".repeat(length) }),
        )
    };
    // `Greeted`, `{"greeted":1}` and `Hello, !` count too.
    assert!(call(22).starts_with("ok"));
    insta::assert_snapshot!(call(23), @r"
    toolset_failed: Toolset `t.wasm` gave more than 50 bytes at once
    hint: Return less in one answer
    ");
    assert!(call(22).starts_with("ok"));
}

#[test]
#[ignore = "measures; run it alone"]
fn warm_call_takes_microseconds() {
    let mut toolset = load_bytes(example(), "t", &ToolsetOptions::default()).unwrap();
    let arguments = json!({ "name": "Ada" });
    let mut times: Vec<Duration> = (0..2000)
        .map(|_| {
            let started = Instant::now();
            toolset.call("greet", &arguments).unwrap();
            started.elapsed()
        })
        .collect();
    times.sort();
    let (median, most) = (times[1000], times[1900]);
    println!("call median {median:?}, 95 of 100 within {most:?}");
    assert!(median < Duration::from_micros(200), "{median:?}");
}
