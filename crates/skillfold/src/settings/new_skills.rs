//! The values of the setting `new_skills`.

/// What becomes of skills that the user has not accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NewSkills {
    /// They are given to models like all others.
    #[default]
    Show,
    /// They are held until the user accepts them.
    Hold,
}
