//! What a skill can reach.

/// A kind of thing that a skill reaches. Those that matter most come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReachKind {
    /// Invisible characters, or characters that change the order of the text, in a line of a file.
    HiddenCharacters,
    /// An entry of `permissions` in the frontmatter.
    Permission,
    /// A command in `` !`…` ``, which some clients run before a model sees the skill.
    LoadCommand,
    /// A host that the text or a script names.
    Host,
    /// A program that a script or a shell block starts.
    Command,
    /// An absolute path, or one in the user's home.
    Path,
    /// A new or changed file that was not searched, or not whole: it is binary or too large.
    UnreadFile,
}

impl ReachKind {
    /// All kinds, in order.
    pub const ALL: [Self; 7] = [
        Self::HiddenCharacters,
        Self::Permission,
        Self::LoadCommand,
        Self::Host,
        Self::Command,
        Self::Path,
        Self::UnreadFile,
    ];

    /// Returns its id, such as `new-host`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::HiddenCharacters => "hidden-characters",
            Self::Permission => "new-permission",
            Self::LoadCommand => "new-load-command",
            Self::Host => "new-host",
            Self::Command => "new-command",
            Self::Path => "new-path",
            Self::UnreadFile => "unread-file",
        }
    }

    /// Returns what an updated skill does, before the names.
    pub const fn of_update(self) -> &'static str {
        match self {
            Self::HiddenCharacters => "Hidden characters in",
            Self::Permission => "Asks for more permissions",
            Self::LoadCommand => "Runs new commands when it is loaded",
            Self::Host => "Contacts new hosts",
            Self::Command => "Runs new commands",
            Self::Path => "Uses new paths outside the skill",
            Self::UnreadFile => "Binary or too large to search",
        }
    }

    /// Returns what a new skill does, before the names.
    pub(in crate::improve) const fn of_new(self) -> &'static str {
        match self {
            Self::Permission => "Asks for permissions",
            Self::LoadCommand => "Runs commands when it is loaded",
            Self::Host => "Contacts hosts",
            Self::Command => "Runs commands",
            Self::Path => "Uses paths outside the skill",
            other => other.of_update(),
        }
    }
}
