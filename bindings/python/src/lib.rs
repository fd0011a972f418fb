//! The native half of the Python package: calls into the engine, and its views as JSON. `python/skillfold` is the half
//! that people see.

mod embedder;

mod error;
mod instructions;

mod reading;

mod host;

mod session;

mod agent;

mod watcher;

mod improve;

mod registry;

mod scripts;

mod skills;

mod stats;

/// The engine. It is private: `skillfold` wraps it.
#[pyo3::pymodule(gil_used = false)]
mod _skillfold {
    #[pymodule_export]
    use crate::agent::AgentSkills;
    #[pymodule_export]
    use crate::improve::Store;
    #[pymodule_export]
    use crate::instructions::Instructions;
    #[pymodule_export]
    use crate::registry::Registry;
    #[pymodule_export]
    use crate::scripts::{Cancel, Runner, run_script};
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::skills::Skills;
    #[pymodule_export]
    use crate::stats::stats;
    #[pymodule_export]
    use crate::watcher::Watcher;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
