//! From the bytes of a file to a component that can be instantiated.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use skillfold_core::load::Digest;
use wasmtime::component::{Component, HasSelf, Linker};

use super::bindings::{Toolset, ToolsetPre};
use super::functions::largest_function;
use super::guest::one_line;
use super::state::{Interruption, State};
use super::ticker::Runtime;
use crate::process::locked;
use crate::supervise::Cancel;

/// Maximum bytes of a component: it is compiled in this process. One that is written in Rust has some hundred KiB.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Maximum bytes of one function. The compiler takes about a thousand times as much memory for the largest.
const MAX_FUNCTION: usize = 512 * 1024;

/// The stack of the compiler. Code that is nested deeply needs more than a thread usually has.
const STACK: usize = 16 * 1024 * 1024;

/// How often cancellation is looked for.
const POLL: Duration = Duration::from_millis(20);

/// What a component may import.
const LOGGING: &str = "skillfold:toolset/logging@0.1.0";

/// The start of every file with WebAssembly.
const WEBASSEMBLY: &[u8] = b"\0asm";

/// The start of a module that is not in a component.
const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// Why there is no component.
#[derive(Debug)]
pub(super) enum Unusable {
    Interrupted(Interruption),
    Invalid(String),
}

/// Compiles a component, and checks what it imports and exports.
pub(super) fn prepare(
    runtime: &'static Runtime,
    bytes: &[u8],
    cancel: &Cancel,
    deadline: Instant,
) -> Result<ToolsetPre<State>, Unusable> {
    let invalid = |error: wasmtime::Error| Unusable::Invalid(one_line(&error));
    if bytes.len() > MAX_BYTES {
        let why = format!("the file has more than {MAX_BYTES} bytes");
        return Err(Unusable::Invalid(why));
    }
    if !bytes.starts_with(WEBASSEMBLY) {
        let why = "it is not WebAssembly; convert the text format with `wasm-tools parse`";
        return Err(Unusable::Invalid(why.to_owned()));
    }
    if bytes.starts_with(CORE_MODULE) {
        let why = "it is a module, not a component; convert it with `wasm-tools component new`";
        return Err(Unusable::Invalid(why.to_owned()));
    }
    if largest_function(bytes) > MAX_FUNCTION {
        let why = format!("a function has more than {MAX_FUNCTION} bytes");
        return Err(Unusable::Invalid(why));
    }
    let component = compile(runtime, bytes.to_vec(), cancel, deadline)?;
    let component_type = component.component_type();
    for (name, _) in component_type.imports(&runtime.engine) {
        if name != LOGGING {
            let why = format!("it imports `{name}`; a toolset may import only `{LOGGING}`");
            return Err(Unusable::Invalid(why));
        }
    }
    let mut linker = Linker::new(&runtime.engine);
    Toolset::add_to_linker::<_, HasSelf<_>>(&mut linker, |state: &mut State| state)
        .map_err(invalid)?;
    let component = linker.instantiate_pre(&component).map_err(invalid)?;
    ToolsetPre::new(component).map_err(invalid)
}

/// Maximum compilations that nobody waits for any more, and that still run.
const MAX_LEFT: usize = 2;

/// A compilation that runs.
struct Compilation {
    digest: Digest,
    is_wanted: bool,
}

static RUNNING: Mutex<Vec<Compilation>> = Mutex::new(Vec::new());

/// The turn of one compilation that somebody waits for.
struct Turn(Digest);

impl Turn {
    /// Takes the turn unless there is another one. A compiler cannot be interrupted, so that one that takes too long is left
    /// behind: it does not hold up others, but there are never more than some, and never two for the same bytes.
    fn take(digest: Digest) -> Option<Self> {
        let mut running = running();
        let left = running.iter().filter(|it| !it.is_wanted).count();
        let is_taken = running.iter().any(|it| it.is_wanted || it.digest == digest);
        if is_taken || left >= MAX_LEFT {
            return None;
        }
        running.push(Compilation {
            digest,
            is_wanted: true,
        });
        Some(Self(digest))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut running = running();
        let own = running.iter_mut().find(|it| it.digest == self.0);
        if let Some(own) = own {
            own.is_wanted = false;
        }
    }
}

/// Ends the record of a compilation when its thread ends, however it does.
struct Ended(Digest);

impl Drop for Ended {
    fn drop(&mut self) {
        running().retain(|it| it.digest != self.0);
    }
}

fn running() -> MutexGuard<'static, Vec<Compilation>> {
    locked(&RUNNING)
}

/// Compiles in a thread of its own, which is left behind if it takes too long.
fn compile(
    runtime: &'static Runtime,
    bytes: Vec<u8>,
    cancel: &Cancel,
    deadline: Instant,
) -> Result<Component, Unusable> {
    let digest = Digest::sha256(&bytes);
    let _turn = loop {
        let left = time_left(cancel, deadline)?;
        match Turn::take(digest) {
            Some(turn) => break turn,
            None => thread::sleep(left.min(POLL)),
        }
    };
    let (sender, receiver) = sync_channel(1);
    let ended = Ended(digest);
    let compile = move || {
        let _ended = ended;
        let _ = sender.send(Component::new(&runtime.engine, bytes));
    };
    let thread = thread::Builder::new().stack_size(STACK).spawn(compile);
    thread.map_err(|error| Unusable::Invalid(format!("no thread can be started: {error}")))?;
    loop {
        let left = time_left(cancel, deadline)?;
        match receiver.recv_timeout(left.min(POLL)) {
            Ok(Ok(component)) => return Ok(component),
            Ok(Err(error)) => return Err(Unusable::Invalid(one_line(&error))),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let why = "it cannot be compiled: the compiler failed";
                return Err(Unusable::Invalid(why.to_owned()));
            }
        }
    }
}

/// Returns the time until the deadline, or why nobody waits any more.
fn time_left(cancel: &Cancel, deadline: Instant) -> Result<Duration, Unusable> {
    if cancel.is_cancelled() {
        return Err(Unusable::Interrupted(Interruption::Cancelled));
    }
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Unusable::Interrupted(Interruption::Timeout));
    }
    Ok(left)
}
