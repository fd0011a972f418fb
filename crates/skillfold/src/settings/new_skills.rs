//! The values of the setting `new_skills`.

/// What happens to skills that the user has not trusted yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NewSkills {
    /// They are given to models like all others.
    #[default]
    Show,
    /// They are held until the user accepts them.
    Hold,
}
