//! The values of the setting `approval_requires`.

/// What approving a change requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalRequires {
    /// A person at a terminal, or the host program.
    #[default]
    Terminal,
    /// The passphrase.
    Passphrase,
}
