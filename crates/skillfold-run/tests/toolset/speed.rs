//! Duration of a call.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::skill::load;

const CALLS: usize = 200;

#[test]
#[ignore = "measures; run it alone"]
fn warm_call_is_much_cheaper_than_loading() {
    let python = "tools = [{'name': 'a', 'execute': lambda args, ctx: 'ok'}]";
    let python_async = "async def a(args, ctx): return 'ok'\ntools = [{'name': 'a', 'execute': a}]";
    let javascript = "export default [{name: 'a', execute: async () => 'ok'}]";
    for (file, text) in [
        ("t.py", python),
        ("async.py", python_async),
        ("t.mjs", javascript),
    ] {
        let started = Instant::now();
        let mut toolset = load(&[(file, text)], file).unwrap();
        let start = started.elapsed();
        let mut times: Vec<Duration> = (0..CALLS)
            .map(|_| {
                let started = Instant::now();
                toolset.call("a", &json!({ "n": 1 })).unwrap();
                started.elapsed()
            })
            .collect();
        times.sort();
        let (median, most) = (times[CALLS / 2], times[CALLS * 95 / 100]);
        println!("{file}: load {start:?}, call median {median:?}, 95 of 100 within {most:?}");
        assert!(median * 10 < start, "{file}: {median:?} of {start:?}");
    }
}
