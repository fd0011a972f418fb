//! The table of all settings.

/// A setting and its description.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    pub(super) id: KeyId,
    /// Its name in a settings file. The variable is `SKILLFOLD_` and the name in upper case.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub description: &'static str,
    /// The values that it accepts.
    pub accepts: &'static str,
    #[cfg_attr(
        not(feature = "store"),
        expect(dead_code, reason = "only used to write settings")
    )]
    pub(super) kind: ValueForm,
    pub(super) set_by: SetBy,
}

/// One variant per setting, so that the compiler checks that each is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyId {
    Precedence,
    Roots,
    DefaultRoots,
    Enable,
    Disable,
    Trusted,
    TrustProject,
    Links,
    Hidden,
    MaxDepth,
    Profile,
    Arguments,
    Strict,
    Freshness,
    CacheEntries,
    CacheBytes,
    Disclosure,
    Style,
    Matching,
    Model,
    MaxPerRequest,
    Breadcrumb,
    Fallback,
    LogContent,
    Watch,
    PollSeconds,
    Index,
    Agents,
}

/// The form of a value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    Boolean,
    Number,
    Word,
    Words,
    Paths,
    Roots,
    Tables,
}

/// Who may set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetBy {
    /// The user, and a project for its own skills.
    Project,
    /// The user alone: the setting decides about trust, or also affects the user's own skills.
    User,
}

/// All settings, in the order of the documentation.
pub const KEYS: &[Key] = &[
    Key {
        id: KeyId::Precedence,
        name: "precedence",
        description: "Which scope wins a name",
        accepts: "a client (`default`, `claude-code`, ...) or scopes in their order",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Roots,
        name: "roots",
        description: "More folders of skills, beside the defaults",
        accepts: "paths, `scope=path`, `plugin=path`, or tables of `path`, `scope` and `plugin`",
        kind: ValueForm::Roots,
        set_by: SetBy::Project,
    },
    Key {
        id: KeyId::DefaultRoots,
        name: "default_roots",
        description: "Whether the default folders are searched",
        accepts: "`true` or `false`",
        kind: ValueForm::Boolean,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Enable,
        name: "enable",
        description: "Skills to enable",
        accepts: "what leads to a skill, `scope:*`, `plugin:*` or `*`",
        kind: ValueForm::Words,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Disable,
        name: "disable",
        description: "Skills to disable",
        accepts: "what leads to a skill, `scope:*`, `plugin:*` or `*`",
        kind: ValueForm::Words,
        set_by: SetBy::Project,
    },
    Key {
        id: KeyId::Trusted,
        name: "trusted",
        description: "Folders whose projects are trusted",
        accepts: "paths",
        kind: ValueForm::Paths,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::TrustProject,
        name: "trust_project",
        description: "Whether the project is trusted, whichever it is",
        accepts: "`true` or `false`",
        kind: ValueForm::Boolean,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Links,
        name: "links",
        description: "How links to skill folders, and hard links, are treated",
        accepts: "`follow`, `refuse` or `strict`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Hidden,
        name: "hidden",
        description: "How hidden folders are treated",
        accepts: "`skip` or `search`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::MaxDepth,
        name: "max_depth",
        description: "Maximum depth of a skill below its root",
        accepts: "a whole number",
        kind: ValueForm::Number,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Profile,
        name: "profile",
        description: "How strict `check` is",
        accepts: "`lenient` or `spec`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Arguments,
        name: "arguments",
        description: "Which argument placeholders instructions may use",
        accepts: "`plain`, `claude-code` or `goose`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Strict,
        name: "strict",
        description: "Whether loading refuses a skill that needed repair",
        accepts: "`true` or `false`",
        kind: ValueForm::Boolean,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Freshness,
        name: "freshness",
        description: "How changes to a loaded file are detected",
        accepts: "`checked` or `snapshot`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::CacheEntries,
        name: "cache_entries",
        description: "Maximum number of cached instructions",
        accepts: "a whole number",
        kind: ValueForm::Number,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::CacheBytes,
        name: "cache_bytes",
        description: "Maximum bytes of cached instructions",
        accepts: "a whole number",
        kind: ValueForm::Number,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Disclosure,
        name: "disclosure",
        description: "How skills are disclosed to a model",
        accepts: "`catalog`, `triggered` or `hybrid`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Style,
        name: "style",
        description: "The format of listings",
        accepts: "`xml-rules`, `xml`, `markdown`, `tiers` or `bullets`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Matching,
        name: "matching",
        description: "How a message is matched",
        accepts: "`keyword`, `hybrid` or `semantic`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Model,
        name: "model",
        description: "The folder of an embedding model",
        accepts: "a path",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::MaxPerRequest,
        name: "max_per_request",
        description: "Maximum skills loaded for one request",
        accepts: "a whole number",
        kind: ValueForm::Number,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Breadcrumb,
        name: "breadcrumb",
        description: "Whether a model is told the number of skills when nothing matches",
        accepts: "`on` or `off`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Fallback,
        name: "fallback",
        description: "What a model is told when nothing matches",
        accepts: "`none`, `show_all` or `ask_user`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::LogContent,
        name: "log_content",
        description: "Whether logs include requests and the text given to models",
        accepts: "`true` or `false`",
        kind: ValueForm::Boolean,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Watch,
        name: "watch",
        description: "Whether file changes are followed by system notifications",
        accepts: "`on` or `off`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::PollSeconds,
        name: "poll_seconds",
        description: "Seconds between scans where notifications are not available",
        accepts: "a whole number; 0 for never",
        kind: ValueForm::Number,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Index,
        name: "index",
        description: "Whether metadata of many skills is cached on disk for the next start",
        accepts: "`on` or `off`",
        kind: ValueForm::Word,
        set_by: SetBy::User,
    },
    Key {
        id: KeyId::Agents,
        name: "agents",
        description: "Agents, and the skills each uses and may see",
        accepts: "tables `[agents.ID]` of `uses_skills` and `sees`, in the user's file",
        kind: ValueForm::Tables,
        set_by: SetBy::User,
    },
];

impl Key {
    /// Returns whether a project may set it for its own skills.
    pub fn is_for_projects(&self) -> bool {
        self.set_by == SetBy::Project
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
}
