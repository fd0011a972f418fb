//! The values of the setting `hook`.

/// What a client's hook adds to a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookMode {
    /// The instructions of skills that are certain to fit and that the client cannot load itself, and lines about others.
    #[default]
    Inject,
    /// Only lines about skills that fit.
    Suggest,
    /// Nothing.
    Off,
}
