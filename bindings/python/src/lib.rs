//! The native half of the Python package: calls into the engine, and its views as JSON. `python/skillfold` is the half
//! that people see.

mod embedder;

mod error;
mod instructions;

mod run;

mod session;

mod agent;

mod watcher;

mod skills;

/// The engine. It is private: `skillfold` wraps it.
#[pyo3::pymodule(gil_used = false)]
mod _skillfold {
    #[pymodule_export]
    use crate::agent::AgentSkills;
    #[pymodule_export]
    use crate::instructions::Instructions;
    #[pymodule_export]
    use crate::run::{Cancel, run_script};
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::skills::{Skills, stats};
    #[pymodule_export]
    use crate::watcher::Watcher;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
