//! Time of a tool call in a running language host.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use skillfold_run::SkillCopy;
use skillfold_run::toolset::{ToolsetOptions, load_toolset};

use crate::measure::{median, rounded};

/// A toolset in each language, with the same tool.
const TOOLSETS: [(&str, &str); 2] = [
    (
        "toolsets/greet.py",
        "tools = [{'name': 'greet', 'description': 'Greets.', 'parameters': {'type': 'object'}, 'execute': lambda args, ctx: 'Hello ' + args['name']}]\n",
    ),
    (
        "toolsets/greet.mjs",
        "export const tools = [{ name: 'greet', description: 'Greets.', parameters: { type: 'object' }, execute: (args) => `Hello ${args.name}` }];\n",
    ),
];

/// Returns the median milliseconds per call, by file, and a message for each file slower than `most_ms`.
pub(crate) fn measure(
    calls: usize,
    most_ms: Option<f64>,
) -> Result<(Value, Vec<String>), Box<dyn Error>> {
    let (mut figures, mut slow) = (Map::new(), Vec::new());
    for (file, text) in TOOLSETS {
        let copy = Arc::new(SkillCopy::new([(file.parse()?, text.into())])?);
        let reference = format!("{file}:tools").parse()?;
        let mut toolset = load_toolset(&copy, &reference, &ToolsetOptions::default())?;
        let mut times = Vec::new();
        for _ in 0..calls {
            let started = Instant::now();
            let answer = toolset.call("greet", &json!({ "name": "Ada" }))?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            if answer.output != "Hello Ada" {
                return Err(format!("`{file}` did not answer: {answer:?}").into());
            }
        }
        let time = median(times);
        if most_ms.is_some_and(|most| time > most) {
            slow.push(format!("a call of `{file}` takes {time:.2} ms"));
        }
        figures.insert(file.to_owned(), json!({ "call_ms": rounded(time) }));
    }
    Ok((Value::Object(figures), slow))
}
