//! The table of all settings.

use skillfold_core::{
    Breadcrumb, Dialect, Fallback, Freshness, HiddenPolicy, LinkPolicy, Mode, Precedence, Profile,
    Style, Toggle,
};

use crate::settings::{ConfiguredAgent, Origin, Setting, Settings};

/// A row of the explanation of settings: key, value as text, origin.
pub(super) type Row = (String, Option<String>, Origin);

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

    /// Returns a row for each value of the setting, or one row without a value if there is none.
    pub(super) fn rows(&self, settings: &Settings) -> Vec<Row> {
        if self.id == KeyId::Agents && !settings.agents.is_empty() {
            let agents = settings.agents.iter();
            return agents.flat_map(ConfiguredAgent::rows).collect();
        }
        let values = self.values(settings);
        if values.is_empty() {
            return vec![(self.name.to_owned(), None, Origin::Default)];
        }
        let values = values.into_iter();
        values
            .map(|(value, origin)| (self.name.to_owned(), Some(value), origin))
            .collect()
    }

    /// Returns the values as text, each with its origin.
    fn values(&self, settings: &Settings) -> Vec<(String, Origin)> {
        fn one<T>(setting: &Setting<T>, text: impl Fn(&T) -> String) -> Vec<(String, Origin)> {
            vec![(text(&setting.value), setting.origin.clone())]
        }
        fn many<T>(
            settings: &[Setting<T>],
            text: impl Fn(&T) -> Option<String>,
        ) -> Vec<(String, Origin)> {
            let rows = settings.iter();
            rows.filter_map(|setting| Some((text(&setting.value)?, setting.origin.clone())))
                .collect()
        }
        let patterns = |wanted: Toggle| {
            many(&settings.enablement, |(pattern, toggle)| {
                (*toggle == wanted).then(|| pattern.clone())
            })
        };
        match self.id {
            KeyId::Precedence => one(&settings.precedence, Precedence::to_string),
            KeyId::Roots => many(&settings.roots, |root| {
                let path = root.path.display();
                Some(match &root.plugin {
                    Some(plugin) => format!("{path} ({plugin})"),
                    None => format!("{path} ({})", root.scope),
                })
            }),
            KeyId::DefaultRoots => one(&settings.default_roots, bool::to_string),
            KeyId::Enable => patterns(Toggle::On),
            KeyId::Disable => patterns(Toggle::Off),
            KeyId::Trusted => many(&settings.trusted, |path| Some(path.display().to_string())),
            KeyId::TrustProject => one(&settings.trust_project, bool::to_string),
            KeyId::Links => one(&settings.links, |links| match links {
                LinkPolicy::Refuse => "refuse".to_owned(),
                LinkPolicy::Strict => "strict".to_owned(),
                _ => "follow".to_owned(),
            }),
            KeyId::Hidden => one(&settings.hidden, |hidden| match hidden {
                HiddenPolicy::Search => "search".to_owned(),
                _ => "skip".to_owned(),
            }),
            KeyId::MaxDepth => one(&settings.max_depth, usize::to_string),
            KeyId::Profile => one(&settings.profile, |profile| match profile {
                Profile::Spec => "spec".to_owned(),
                _ => "lenient".to_owned(),
            }),
            KeyId::Arguments => one(&settings.arguments, Dialect::to_string),
            KeyId::Strict => one(&settings.strict, bool::to_string),
            KeyId::LogContent => one(&settings.log_content, bool::to_string),
            KeyId::Watch => one(&settings.watch, on_or_off),
            KeyId::Index => one(&settings.index, on_or_off),
            KeyId::PollSeconds => one(&settings.poll_seconds, usize::to_string),
            KeyId::Freshness => one(&settings.freshness, |freshness| match freshness {
                Freshness::Snapshot => "snapshot".to_owned(),
                _ => "checked".to_owned(),
            }),
            KeyId::CacheEntries => one(&settings.cache_entries, usize::to_string),
            KeyId::CacheBytes => one(&settings.cache_bytes, usize::to_string),
            KeyId::Disclosure => one(&settings.disclosure, |mode| match mode {
                Mode::Catalog => "catalog".to_owned(),
                Mode::Triggered => "triggered".to_owned(),
                _ => "hybrid".to_owned(),
            }),
            KeyId::Style => one(&settings.style, Style::to_string),
            KeyId::Matching => one(&settings.matching, |matching| matching.as_str().to_owned()),
            KeyId::Model => one(&settings.model, |model| match model {
                Some(path) => path.display().to_string(),
                None => "none".to_owned(),
            }),
            KeyId::MaxPerRequest => one(&settings.max_per_request, usize::to_string),
            KeyId::Breadcrumb => one(&settings.breadcrumb, |breadcrumb| match breadcrumb {
                Breadcrumb::On => "on".to_owned(),
                Breadcrumb::Off => "off".to_owned(),
            }),
            KeyId::Fallback => one(&settings.fallback, |fallback| match fallback {
                Fallback::ShowAll => "show_all".to_owned(),
                Fallback::AskUser => "ask_user".to_owned(),
                _ => "none".to_owned(),
            }),
            // `rows` handles agents.
            KeyId::Agents => Vec::new(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "passed as a function on references"
)]
fn on_or_off(is_on: &bool) -> String {
    if *is_on { "on" } else { "off" }.to_owned()
}
