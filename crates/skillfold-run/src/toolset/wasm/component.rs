//! Compiles a file's bytes into a component that can be instantiated.

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

/// Maximum size of a component: it is compiled in this process. One written in Rust has a few hundred KiB.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Maximum size of a function. Compiling the largest one takes about a thousand times as much memory.
const MAX_FUNCTION: usize = 512 * 1024;

/// The compiler's stack size. Deeply nested code needs more than a thread usually has.
const STACK: usize = 16 * 1024 * 1024;

/// How often to check for cancellation.
const POLL: Duration = Duration::from_millis(20);

/// The only import allowed in a component.
const LOGGING: &str = "skillfold:toolset/logging@0.1.0";

/// The magic bytes of a WebAssembly file.
const WEBASSEMBLY: &[u8] = b"\0asm";

/// The start of a core module outside a component.
const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// Why a component is not available.
#[derive(Debug)]
pub(super) enum Unusable {
    Interrupted(Interruption),
    Invalid(String),
}

/// Compiles a component, and checks its imports and exports.
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

/// Maximum number of abandoned compilations that still run.
const MAX_LEFT: usize = 2;

/// A running compilation.
struct Compilation {
    digest: Digest,
    is_wanted: bool,
}

static RUNNING: Mutex<Vec<Compilation>> = Mutex::new(Vec::new());

/// The turn of a compilation that someone waits for.
struct Turn(Digest);

impl Turn {
    /// Takes the turn unless another compilation has it. A compiler cannot be interrupted, so one that takes too long
    /// is abandoned: it does not hold up others, but only a few may remain, and never two for the same bytes.
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

/// Removes a compilation's record when its thread ends, for any reason.
struct Ended(Digest);

impl Drop for Ended {
    fn drop(&mut self) {
        running().retain(|it| it.digest != self.0);
    }
}

fn running() -> MutexGuard<'static, Vec<Compilation>> {
    locked(&RUNNING)
}

/// Compiles in a separate thread, which is abandoned if it takes too long.
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

/// Returns the time until the deadline, or why nobody waits any longer.
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
