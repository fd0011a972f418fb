//! How much more a warm call to a WebAssembly tool costs than the same function called natively.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillfold_core::name::ResourcePath;
use skillfold_run::toolset::{
    ToolOutput, ToolSpec, Toolset, ToolsetLoader, ToolsetOptions, ToolsetRef, load_toolset,
};
use skillfold_run::{RunError, SkillCopy};

use crate::measure::{median, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of calls of each kind, alternating
    #[arg(long, default_value_t = 20_001)]
    calls: usize,
    /// Number of calls of each kind after a pause in which the runtime goes to sleep
    #[arg(long, default_value_t = 101)]
    pauses: usize,
    /// Fail if a call takes this many microseconds longer
    #[arg(long)]
    at_most_us: Option<f64>,
}

/// The examples' toolset.
const COMPONENT: &[u8] = include_bytes!("../../examples/skills/hello-extended/toolsets/hello.wasm");

/// Long enough for the runtime to go to sleep.
const PAUSE: Duration = Duration::from_millis(25);

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let files = [
        ("hello.wasm".parse()?, COMPONENT.to_vec()),
        ("hello".parse()?, Vec::new()),
    ];
    let copy = Arc::new(SkillCopy::new(files)?);
    let started = Instant::now();
    let mut component = load_toolset(&copy, &"hello.wasm".parse()?, &ToolsetOptions::default())?;
    let load_ms = started.elapsed().as_secs_f64() * 1000.0;
    let options = ToolsetOptions::default().with_loader(Arc::new(NativeLoader));
    let mut native = load_toolset(&copy, &"hello".parse()?, &options)?;
    if native.tools() != component.tools() {
        return Err("the native tools are others than those of the component".into());
    }
    let mut compare = |calls, pause| -> Result<Value, Box<dyn Error>> {
        let (mut natives, mut components) = (Vec::new(), Vec::new());
        for _ in 0..calls {
            natives.push(timed(&mut *native, pause)?);
            components.push(timed(&mut *component, pause)?);
        }
        let (native, component) = (median(natives), median(components));
        let more = rounded(component - native);
        Ok(json!({"native_us": rounded(native), "wasm_us": rounded(component), "more_us": more}))
    };
    let warm = compare(arguments.calls, Duration::ZERO)?;
    let after_pause = compare(arguments.pauses, PAUSE)?;
    let more = warm["more_us"].as_f64().unwrap_or(f64::MAX);
    let report = json!({
        "calls": arguments.calls, "load_ms": rounded(load_ms), "warm": warm, "after_a_pause": after_pause,
    });
    writeln!(out, "{report}")?;
    match arguments.at_most_us {
        Some(most) if more > most => Err(format!("a call takes {more} µs longer").into()),
        _ => Ok(()),
    }
}

/// Returns a call's duration in microseconds.
fn timed(toolset: &mut dyn Toolset, pause: Duration) -> Result<f64, Box<dyn Error>> {
    let arguments = json!({ "name": "Ada" });
    if !pause.is_zero() {
        thread::sleep(pause);
    }
    let started = Instant::now();
    let answer = toolset.call("greet", &arguments)?;
    let time = started.elapsed().as_secs_f64() * 1_000_000.0;
    if answer.output != "Hello, Ada!" || answer.metadata != json!({ "greeted": 1 }) {
        return Err(format!("another answer than expected: {answer:?}").into());
    }
    Ok(time)
}

/// Gives every file the component's tool as a native function.
#[derive(Debug)]
struct NativeLoader;

impl ToolsetLoader for NativeLoader {
    fn takes(&self, _: &SkillCopy, _: &ResourcePath, _: &ToolsetRef) -> bool {
        true
    }

    fn load(
        &self,
        _: &Arc<SkillCopy>,
        _: &ResourcePath,
        _: &ToolsetRef,
        _: &ToolsetOptions,
    ) -> Result<Box<dyn Toolset>, RunError> {
        let schema = json!({
            "type": "object",
            "properties": { "name": { "type": "string" } },
            "required": ["name"],
            "additionalProperties": false,
        });
        let tool = ToolSpec::new("greet", "Greets one person, in English", schema);
        Ok(Box::new(Native(vec![tool])))
    }
}

#[derive(Debug)]
struct Native(Vec<ToolSpec>);

impl Toolset for Native {
    fn tools(&self) -> &[ToolSpec] {
        &self.0
    }

    fn call(&mut self, _: &str, arguments: &Value) -> Result<ToolOutput, RunError> {
        let name = arguments["name"].as_str().unwrap_or_default();
        if name.contains(['"', '\\', '\n']) {
            let message = "A name has no quotes, no backslashes and no line ends";
            return Ok(ToolOutput::new(message).failed());
        }
        Ok(ToolOutput::new(format!("Hello, {name}!"))
            .with_title("Greeted")
            .with_metadata(json!({ "greeted": 1 })))
    }
}
