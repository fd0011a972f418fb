//! The process's engine, and the thread that makes guests interruptible.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Config, Engine};

use crate::process::locked;

/// How often a running guest checks whether it must stop.
const TICK: Duration = Duration::from_millis(10);

/// What all components in the process share.
pub(super) struct Runtime {
    pub(super) engine: Engine,
    ticker: Arc<Ticker>,
    thread: Thread,
}

impl Runtime {
    /// Returns the runtime; the first call starts it.
    pub(super) fn get() -> io::Result<&'static Self> {
        static RUNTIME: OnceLock<Runtime> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        if let Some(runtime) = RUNTIME.get() {
            return Ok(runtime);
        }
        let _one_starts = locked(&STARTING);
        if let Some(runtime) = RUNTIME.get() {
            return Ok(runtime);
        }
        let runtime = Self::start()?;
        Ok(RUNTIME.get_or_init(|| runtime))
    }

    fn start() -> io::Result<Self> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            // Features that no toolset needs and hostile ones could abuse.
            .concurrency_support(false)
            .wasm_memory64(false)
            .wasm_backtrace_max_frames(None);
        let engine = Engine::new(&config).map_err(io::Error::other)?;
        let ticker = Arc::new(Ticker::default());
        let (shared, clock) = (Arc::clone(&ticker), engine.clone());
        let thread = thread::Builder::new()
            .name("skillfold-wasm".to_owned())
            .spawn(move || shared.tick(&clock))?;
        Ok(Self {
            engine,
            ticker,
            thread: thread.thread().clone(),
        })
    }

    /// Advances the epoch until the returned value is dropped.
    pub(super) fn run(&self) -> ActiveGuest<'_> {
        self.ticker.running.fetch_add(1, Ordering::SeqCst);
        // Waking costs a system call, so only wake a sleeping thread.
        if self.ticker.is_parked.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        ActiveGuest(&self.ticker)
    }
}

/// A running guest.
pub(super) struct ActiveGuest<'a>(&'a Ticker);

impl Drop for ActiveGuest<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Advances the epoch while guests run, and sleeps otherwise.
#[derive(Default)]
struct Ticker {
    running: AtomicUsize,
    is_parked: AtomicBool,
}

impl Ticker {
    fn tick(&self, engine: &Engine) {
        loop {
            // A guest that starts after this store wakes the thread; the load sees one that started before it.
            self.is_parked.store(true, Ordering::SeqCst);
            if self.running.load(Ordering::SeqCst) == 0 {
                thread::park();
            }
            self.is_parked.store(false, Ordering::SeqCst);
            thread::sleep(TICK);
            engine.increment_epoch();
        }
    }
}
