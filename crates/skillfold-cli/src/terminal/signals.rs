//! Signals that would end the process, while it has something to put right first.

use std::io;
#[cfg(unix)]
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

#[cfg(unix)]
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};
#[cfg(unix)]
use signal_hook::{flag, low_level};

/// Keeps signals from ending the process until it is dropped. There are none on Windows.
pub(crate) struct HeldSignals {
    #[cfg(unix)]
    handlers: &'static Handlers,
}

impl HeldSignals {
    pub(crate) fn hold() -> io::Result<Self> {
        #[cfg(unix)]
        {
            let handlers = Handlers::installed()?;
            handlers.arrived.store(0, Ordering::Relaxed);
            handlers.is_free.store(false, Ordering::Relaxed);
            Ok(Self { handlers })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Ends the process as a signal that has arrived would have done, after `before`. Does nothing if none has.
    pub(crate) fn obey(&self, before: impl FnOnce()) {
        #[cfg(unix)]
        if let Ok(signal @ 1..) = i32::try_from(self.handlers.arrived.load(Ordering::Relaxed)) {
            before();
            let _ = low_level::emulate_default_handler(signal);
        }
        #[cfg(not(unix))]
        let _ = before;
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.handlers.is_free.store(true, Ordering::Relaxed);
    }
}

/// Handlers stay for good: nothing gives a signal its own effect back, so they have it while signals are free.
#[cfg(unix)]
struct Handlers {
    is_free: Arc<AtomicBool>,
    /// The number of the last signal; 0 for none.
    arrived: Arc<AtomicUsize>,
}

#[cfg(unix)]
impl Handlers {
    fn installed() -> io::Result<&'static Self> {
        static INSTALLED: OnceLock<Handlers> = OnceLock::new();
        if let Some(handlers) = INSTALLED.get() {
            return Ok(handlers);
        }
        let handlers = Self {
            is_free: Arc::new(AtomicBool::new(true)),
            arrived: Arc::default(),
        };
        // A hangup ends the process at once: the terminal is gone, and reading its keys would never end.
        for signal in [SIGINT, SIGQUIT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&handlers.is_free))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&handlers.arrived), number)?;
        }
        Ok(INSTALLED.get_or_init(|| handlers))
    }
}
