//! The values of the setting `approval_requires`.

/// What the approval of a change needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalRequires {
    /// A person at a terminal, or the host program.
    #[default]
    Terminal,
    /// The passphrase.
    Passphrase,
}
