//! The values of the setting `matching`.

/// How requests are matched against skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Matching {
    /// By triggers alone: skills are neither searched nor matched by name.
    Keyword,
    /// By triggers, by name, and by search: by words, and by meaning if there is a model.
    #[default]
    Hybrid,
    /// Like [`Hybrid`](Self::Hybrid), but a missing model is an error.
    Semantic,
}
