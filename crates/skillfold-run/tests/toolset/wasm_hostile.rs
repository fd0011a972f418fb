//! WebAssembly components that break the rules. Each causes an error of the call, and the host carries on.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;
use skillfold_run::toolset::ToolsetOptions;
use skillfold_run::{RunLimits, RunOptions};

use crate::component::{Parts, load_bytes};
use crate::skill::{show_error, within};

const FOR_EVER: &str = "(loop $for_ever (br $for_ever)) (i32.const 512)";

const MIB: u64 = 1024 * 1024;

fn options() -> ToolsetOptions {
    ToolsetOptions::default()
}

fn with_memory(bytes: u64) -> ToolsetOptions {
    let limits = RunLimits::default().with_memory_bytes(bytes);
    options().with_run(RunOptions::default().with_limits(limits))
}

/// Returns why bytes are not a toolset.
fn refused(bytes: &[u8]) -> String {
    show_error(&load_bytes(bytes.to_vec(), "t", &options()).unwrap_err())
}

#[test]
fn endless_loop_anywhere_ends_in_time() {
    let started = Instant::now();
    let second = within(Duration::from_secs(1));
    let in_call = Parts {
        call: FOR_EVER,
        ..Parts::default()
    };
    insta::assert_snapshot!(in_call.called_twice(&second), @r"
    timeout: Toolset `t.wasm` did not answer `call` within 1 s and was stopped
    hint: Try again with less to do, or raise the time limit
    timeout: Toolset `t.wasm` did not answer `call` within 1 s and was stopped
    hint: Try again with less to do, or raise the time limit
    ");
    let in_list = Parts {
        list: FOR_EVER,
        ..Parts::default()
    };
    insta::assert_snapshot!(in_list.refusal(&second), @r"
    timeout: Toolset `t.wasm` did not answer `list` within 1 s and was stopped
    hint: Try again with less to do, or raise the time limit
    ");
    let at_start = Parts {
        items: "(func $start (loop $for_ever (br $for_ever))) (start $start)",
        ..Parts::default()
    };
    insta::assert_snapshot!(at_start.refusal(&second), @r"
    timeout: Toolset `t.wasm` did not start within 1 s and was stopped
    hint: Try again with less to do, or raise the time limit
    ");
    let asked_for_room = Parts {
        realloc: FOR_EVER,
        ..Parts::default()
    };
    let twice = asked_for_room.called_twice(&second);
    assert_eq!(twice.matches("timeout: ").count(), 2, "{twice}");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn endless_recursion_exhausts_only_the_guest_stack() {
    let endless = "(func $deeper (param i64 i64) (result i32) (call $deeper (local.get 1) (local.get 0)) drop (i32.const 0))";
    let deeper = "(call $deeper (i64.const 1) (i64.const 2))";
    let in_call = Parts {
        items: endless,
        call: deeper,
        ..Parts::default()
    };
    insta::assert_snapshot!(in_call.called_twice(&options()), @r"
    toolset_failed: Toolset `t.wasm` ended before it answered `call`: call stack exhausted
    hint: Try again, which restarts it; its last output may say why
    toolset_failed: Toolset `t.wasm` ended before it answered `call`: call stack exhausted
    hint: Try again, which restarts it; its last output may say why
    ");
    let in_list = Parts {
        items: endless,
        list: deeper,
        ..Parts::default()
    };
    insta::assert_snapshot!(in_list.refusal(&options()), @r"
    toolset_failed: Toolset `t.wasm` ended before it answered `list`: call stack exhausted
    hint: Try again, which restarts it; its last output may say why
    ");
}

#[test]
fn initial_memory_is_limited() {
    let huge = Parts {
        memory: "65536",
        ..Parts::default()
    };
    insta::assert_snapshot!(huge.refusal(&options()), @r"
    toolset_failed: Toolset `t.wasm` needs more than 1073741824 bytes of memory and was stopped
    hint: Give it less to do, or raise the memory limit
    ");
    let tables = Parts {
        items: "(table 9000000 funcref)",
        ..Parts::default()
    };
    insta::assert_snapshot!(tables.refusal(&with_memory(100 * MIB)), @r"
    toolset_failed: Toolset `t.wasm` needs more than 104857600 bytes of memory and was stopped
    hint: Give it less to do, or raise the memory limit
    ");
    // 40 MiB each, more than 100 together.
    let many = "(core module $more (memory 640))
        (core instance (instantiate $more)) (core instance (instantiate $more)) (core instance (instantiate $more))";
    let many = Parts {
        imports: many,
        ..Parts::default()
    };
    insta::assert_snapshot!(many.refusal(&with_memory(100 * MIB)), @r"
    toolset_failed: Toolset `t.wasm` needs more than 104857600 bytes of memory and was stopped
    hint: Give it less to do, or raise the memory limit
    ");
    many.load(&options()).unwrap();
    let instances = "(core instance (instantiate $none))".repeat(100);
    let instances = Parts {
        imports: &format!("(core module $none) {instances}"),
        ..Parts::default()
    };
    insta::assert_snapshot!(instances.refusal(&options()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: resource limit exceeded: instance count too high at 33
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
}

#[test]
fn grown_memory_is_limited() {
    // Grows page by page until refused, and reports the result.
    let grow = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))";
    let goes_on = Parts {
        items: r#"(data (i32.const 700) "enough")"#,
        call: &format!(
            "{grow} (i32.store (i32.const 532) (i32.const 700)) (i32.store (i32.const 536) (i32.const 6)) (i32.const 512)"
        ),
        ..Parts::default()
    };
    insta::assert_snapshot!(goes_on.called_twice(&with_memory(20 * MIB)), @r#"
    ok: "enough", title "", metadata {}
    ok: "enough", title "", metadata {}
    "#);
    let gives_up = Parts {
        call: &format!("{grow} unreachable"),
        ..Parts::default()
    };
    insta::assert_snapshot!(gives_up.called_twice(&with_memory(20 * MIB)), @r"
    toolset_failed: Toolset `t.wasm` needs more than 20971520 bytes of memory and was stopped
    hint: Give it less to do, or raise the memory limit
    toolset_failed: Toolset `t.wasm` needs more than 20971520 bytes of memory and was stopped
    hint: Give it less to do, or raise the memory limit
    ");
}

#[test]
fn traps_are_named() {
    let fault = |call: &str| {
        let parts = Parts {
            call,
            ..Parts::default()
        };
        let said = parts.called_twice(&options());
        let line = said.lines().next().unwrap().to_owned();
        line.replace("toolset_failed: Toolset `t.wasm` ", "")
    };
    insta::assert_snapshot!(fault("unreachable"), @"ended before it answered `call`: wasm `unreachable` instruction executed");
    insta::assert_snapshot!(fault("(i32.load (i32.const 65534))"), @"ended before it answered `call`: out of bounds memory access");
    insta::assert_snapshot!(fault("(i32.div_u (i32.const 1) (i32.const 0))"), @"ended before it answered `call`: integer divide by zero");
    // The result is out of bounds, misaligned, or not a result.
    insta::assert_snapshot!(fault("(i32.const -4)"), @"broke a rule of the interface: pointer out of bounds of memory");
    insta::assert_snapshot!(fault("(i32.const 513)"), @"broke a rule of the interface: return pointer not aligned");
    insta::assert_snapshot!(fault("(i32.store8 (i32.const 512) (i32.const 7)) (i32.const 512)"), @"broke a rule of the interface: invalid expected discriminant");
}

/// Returns the outcome of a result with this metadata.
fn with_metadata(metadata: &str) -> String {
    let length = metadata.len();
    let escape = |text: String, byte: u8| text + &format!("\\{byte:02x}");
    let escaped = metadata.bytes().fold(String::new(), escape);
    let parts = Parts {
        items: &format!(r#"(data (i32.const 1024) "{escaped}")"#),
        call: &format!(
            "(i32.store (i32.const 524) (i32.const 1024)) (i32.store (i32.const 528) (i32.const {length})) (i32.const 512)"
        ),
        ..Parts::default()
    };
    let said = parts.called_twice(&options());
    said.lines().next().unwrap().to_owned()
}

#[test]
fn non_json_metadata_is_an_error() {
    insta::assert_snapshot!(with_metadata(r#"{"a":1}"#), @r#"ok: "", title "", metadata {"a":1}"#);
    insta::assert_snapshot!(with_metadata(r#"{"a":"#), @"toolset_failed: Toolset `t.wasm` answered with metadata that is not JSON: EOF while parsing a value at line 1 column 5");
    insta::assert_snapshot!(with_metadata(&"[".repeat(20_000)), @"toolset_failed: Toolset `t.wasm` answered with metadata that is not JSON: recursion limit exceeded at line 1 column 128");
}

#[test]
fn non_utf8_answer_is_an_error() {
    let parts = Parts {
        items: r#"(data (i32.const 700) "a\ff\fe")"#,
        call: "(i32.store (i32.const 532) (i32.const 700)) (i32.store (i32.const 536) (i32.const 3)) (i32.const 512)",
        ..Parts::default()
    };
    insta::assert_snapshot!(parts.called_twice(&options()), @r"
    toolset_failed: Toolset `t.wasm` broke a rule of the interface: invalid utf-8 sequence of 1 bytes from index 1
    hint: Generate its bindings from toolset.wit
    toolset_failed: Toolset `t.wasm` broke a rule of the interface: invalid utf-8 sequence of 1 bytes from index 1
    hint: Generate its bindings from toolset.wit
    ");
}

#[test]
fn enormous_answer_is_rejected() {
    // The entire memory as the result's text: zeros are text.
    let whole = Parts {
        memory: "1600",
        call: "(i32.store (i32.const 532) (i32.const 65536)) (i32.store (i32.const 536) (i32.const 104000000)) (i32.const 512)",
        ..Parts::default()
    };
    insta::assert_snapshot!(whole.called_twice(&options()), @r"
    toolset_failed: Toolset `t.wasm` gave more than 1048576 bytes at once
    hint: Return less in one answer
    toolset_failed: Toolset `t.wasm` gave more than 1048576 bytes at once
    hint: Return less in one answer
    ");
    // Longer than memory.
    let beyond = Parts {
        call: "(i32.store (i32.const 532) (i32.const 0)) (i32.store (i32.const 536) (i32.const -1)) (i32.const 512)",
        ..Parts::default()
    };
    insta::assert_snapshot!(beyond.called_twice(&options()), @r"
    toolset_failed: Toolset `t.wasm` broke a rule of the interface: string pointer/length out of bounds of memory
    hint: Generate its bindings from toolset.wit
    toolset_failed: Toolset `t.wasm` broke a rule of the interface: string pointer/length out of bounds of memory
    hint: Generate its bindings from toolset.wit
    ");
    // A million tools, all the same 100 MB string.
    let tools = Parts {
        memory: "1600",
        list: "(local $at i32)
            (local.set $at (i32.const 65536))
            (loop $next
              (i32.store (local.get $at) (i32.const 0)) (i32.store offset=4 (local.get $at) (i32.const 100000000))
              (local.set $at (i32.add (local.get $at) (i32.const 8)))
              (br_if $next (i32.lt_u (local.get $at) (i32.const 24065536))))
            (i32.store (i32.const 4000) (i32.const 65536)) (i32.store (i32.const 4004) (i32.const 1000000))
            (i32.const 4000)",
        ..Parts::default()
    };
    insta::assert_snapshot!(tools.refusal(&options()), @r"
    toolset_failed: Toolset `t.wasm` gave more than 4194304 bytes at once
    hint: Return less in one answer
    ");
}

#[test]
fn only_the_tail_of_the_log_is_kept() {
    let parts = Parts {
        items: r#"(data (i32.const 700) "a line of the log with forty characters!")
            (data (i32.const 800) "last words")"#,
        call: "(local $i i32)
            (loop $more
              (call $log (i32.const 700) (i32.const 40))
              (local.set $i (i32.add (local.get $i) (i32.const 1)))
              (br_if $more (i32.lt_u (local.get $i) (i32.const 50000))))
            (call $log (i32.const 800) (i32.const 10))
            unreachable",
        ..Parts::default()
    };
    let said = parts.called_twice(&options());
    let first = said.lines().next().unwrap();
    assert!(first.ends_with("forty characters! / last words"), "{first}");
    assert!(first.len() < 500, "{first}");
    let huge = Parts {
        memory: "1600",
        call: "(call $log (i32.const 65536) (i32.const 100000000)) (i32.const 512)",
        ..Parts::default()
    };
    insta::assert_snapshot!(huge.called_twice(&options()), @r"
    toolset_failed: Toolset `t.wasm` gave more than 1048576 bytes at once
    hint: Return less in one answer
    toolset_failed: Toolset `t.wasm` gave more than 1048576 bytes at once
    hint: Return less in one answer
    ");
    let beyond = Parts {
        call: "(call $log (i32.const 65535) (i32.const 2)) (i32.const 512)",
        ..Parts::default()
    };
    insta::assert_snapshot!(beyond.called_twice(&options()), @r"
    toolset_failed: Toolset `t.wasm` broke a rule of the interface: string pointer/length out of bounds of memory
    hint: Generate its bindings from toolset.wit
    toolset_failed: Toolset `t.wasm` broke a rule of the interface: string pointer/length out of bounds of memory
    hint: Generate its bindings from toolset.wit
    ");
}

#[test]
fn failed_argument_allocation_is_an_error() {
    for (realloc, expected) in [
        ("(i32.const -16)", "realloc return: beyond end of memory"),
        ("unreachable", "`unreachable`"),
    ] {
        let parts = Parts {
            realloc,
            ..Parts::default()
        };
        let twice = parts.called_twice(&options());
        assert_eq!(twice.matches(expected).count(), 2, "{twice}");
    }
}

#[test]
fn wasm_tool_list_is_validated_like_any_toolset() {
    let listed = |tool: &str| {
        let parts = Parts {
            items: tool,
            ..Parts::default()
        };
        parts.refusal(&options())
    };
    insta::assert_snapshot!(listed(r#"(data (i32.const 80) "{\22type\22: \22object\22")"#), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: the parameters of `run` are not JSON: EOF while parsing an object at line 1 column 17
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    insta::assert_snapshot!(listed(r#"(data (i32.const 64) "r n")"#), @r"
    invalid_toolset: Toolset `t.wasm`: a tool's name has 1 to 128 visible characters and no spaces: `r n`
    hint: Correct the toolset; none of its tools can be used before that
    ");
    let many = Parts {
        list: "(i32.store (i32.const 4000) (i32.const 8192)) (i32.store (i32.const 4004) (i32.const 300)) (i32.const 4000)",
        ..Parts::default()
    };
    insta::assert_snapshot!(many.refusal(&options()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: it has more than 256 tools
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
}

#[test]
fn only_the_log_can_be_imported() {
    for import in [
        r#"(import "wasi:filesystem/types@0.2.0" (instance (export "a" (func))))"#,
        r#"(import "wasi:clocks/monotonic-clock@0.2.0" (instance))"#,
        r#"(import "skillfold:toolset/files@0.1.0" (instance))"#,
        r#"(import "read" (func (result string)))"#,
    ] {
        let name = import.split('"').nth(1).unwrap();
        let parts = Parts {
            imports: import,
            ..Parts::default()
        };
        let expected = format!(
            "invalid_toolset: Toolset `t.wasm` cannot be loaded: it imports `{name}`; a toolset may import only \
             `skillfold:toolset/logging@0.1.0`\n"
        );
        let said = parts.refusal(&options());
        assert!(said.starts_with(&expected), "{said}");
    }
    let other_function = Parts::default().text().replace(
        r#""log" (func (param "message" string))"#,
        r#""read" (func (param "message" string))"#,
    );
    let other_function = other_function.replace(r#"$logging "log""#, r#"$logging "read""#);
    insta::assert_snapshot!(refused(&wat::parse_str(other_function).unwrap()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: component imports instance `skillfold:toolset/logging@0.1.0`, but a matching implementation was not found in the linker: instance export `read` has the wrong type: function implementation is missing
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
}

#[test]
fn component_without_the_tools_interface_is_refused() {
    let other = Parts {
        exported: "skillfold:toolset/tools@0.2.0",
        ..Parts::default()
    };
    insta::assert_snapshot!(other.refusal(&options()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: no exported instance named `skillfold:toolset/tools@0.1.0`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    let other_type = Parts {
        listed: "list string",
        ..Parts::default()
    };
    insta::assert_snapshot!(other_type.refusal(&options()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: failed to convert function to given type: type mismatch with results: expected `record` found `string`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    insta::assert_snapshot!(refused(&wat::parse_str("(component)").unwrap()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: no exported instance named `skillfold:toolset/tools@0.1.0`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
}

#[test]
fn invalid_component_bytes_are_refused() {
    insta::assert_snapshot!(refused(&wat::parse_str("(module (func (export \"run\")))").unwrap()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: it is a module, not a component; convert it with `wasm-tools component new`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    insta::assert_snapshot!(refused(b""), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: it is not WebAssembly; convert the text format with `wasm-tools parse`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    insta::assert_snapshot!(refused(b"no component\n"), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: it is not WebAssembly; convert the text format with `wasm-tools parse`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    insta::assert_snapshot!(refused(Parts::default().text().as_bytes()), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: it is not WebAssembly; convert the text format with `wasm-tools parse`
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    insta::assert_snapshot!(refused(&vec![0; 17 * 1024 * 1024]), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: the file has more than 16777216 bytes
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
    let whole = Parts::default().bytes();
    for end in (0..whole.len()).step_by(7) {
        let said = refused(&whole[..end]);
        assert!(said.starts_with("invalid_toolset: "), "{said}");
    }
}

#[test]
fn function_that_would_exhaust_the_compiler_is_refused() {
    let of_size = |size: usize| {
        let body = "i32.eqz ".repeat(size);
        let function = format!("(func (param i32) (result i32) (local.get 0) {body})");
        // In a module in a nested component.
        let nested = format!("(component (core module {function}))");
        Parts {
            imports: &nested,
            ..Parts::default()
        }
        .bytes()
    };
    load_bytes(of_size(10_000), "t", &options()).unwrap();
    insta::assert_snapshot!(refused(&of_size(600_000)), @r"
    invalid_toolset: Toolset `t.wasm` cannot be loaded: a function has more than 524288 bytes
    hint: Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`
    ");
}

#[test]
fn slow_compilation_does_not_block_other_components() {
    let function = format!(
        "(func (param i32) (result i32) (local.get 0) {})",
        "i32.eqz ".repeat(200_000)
    );
    let module = format!("(core module {})", function.repeat(8));
    let slow = Parts {
        imports: &module,
        ..Parts::default()
    }
    .bytes();
    let in_time = |time| {
        let limits = RunLimits::default().with_wall_time(time);
        options().with_run(RunOptions::default().with_limits(limits))
    };
    let hurried = in_time(Duration::from_millis(50));
    for _ in 0..3 {
        let error = load_bytes(slow.clone(), "t", &hurried).unwrap_err();
        assert_eq!(error.code(), "timeout");
    }
    // It is still compiling, which nobody can stop.
    let small = Parts::default().bytes();
    let patient = in_time(Duration::from_secs(20));
    let started = Instant::now();
    load_bytes(small, "t", &patient).unwrap();
    let took = started.elapsed();
    let error = load_bytes(slow, "t", &hurried).unwrap_err();
    assert_eq!(
        error.code(),
        "timeout",
        "the slow one ended too early to prove anything, after {took:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn mutated_component_never_harms_the_host(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = Parts::default().bytes();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Ok(mut toolset) = load_bytes(bytes, "t", &within(Duration::from_secs(1))) {
            let tool = toolset.tools().first().map(|tool| tool.name.clone());
            let _ = toolset.call(&tool.unwrap_or_default(), &json!({ "n": 1 }));
        }
    }
}
