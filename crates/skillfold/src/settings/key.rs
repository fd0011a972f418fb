//! Every setting in one table.

use skillfold_core::{
    Breadcrumb, Dialect, Fallback, Freshness, HiddenPolicy, LinkPolicy, Mode, Precedence, Profile,
    Style, Toggle,
};

use crate::settings::{ConfiguredAgent, Origin, Setting, Settings};

/// A setting as it is explained: its key, its value as text, its origin.
pub(super) type Row = (String, Option<String>, Origin);

/// A setting.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    pub(super) id: Name,
    /// Its name in a settings file. The variable is `SKILLFOLD_` and the name in upper case.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    /// What it may be.
    pub form: &'static str,
    #[cfg_attr(
        not(feature = "store"),
        expect(dead_code, reason = "only what writes asks for it")
    )]
    pub(super) kind: ValueForm,
    pub(super) reach: SetBy,
}

/// Every setting by itself, so that none is forgotten where they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
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

/// How a value is written in a file.
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

/// Who may make a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetBy {
    /// The person, and a project for its own skills.
    Project,
    /// The person alone: it says what is trusted, or it counts for the person's own skills too.
    Person,
}

/// Every setting, in the order in which they are explained.
pub const KEYS: &[Key] = &[
    Key {
        id: Name::Precedence,
        name: "precedence",
        meaning: "Which scope wins a name",
        form: "a client (`default`, `claude-code`, ...) or scopes in their order",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Roots,
        name: "roots",
        meaning: "More folders of skills, beside the defaults",
        form: "paths, `scope=path`, `plugin=path`, or tables of `path`, `scope` and `plugin`",
        kind: ValueForm::Roots,
        reach: SetBy::Project,
    },
    Key {
        id: Name::DefaultRoots,
        name: "default_roots",
        meaning: "Whether the default folders are searched",
        form: "`true` or `false`",
        kind: ValueForm::Boolean,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Enable,
        name: "enable",
        meaning: "Skills to enable",
        form: "what leads to a skill, `scope:*`, `plugin:*` or `*`",
        kind: ValueForm::Words,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Disable,
        name: "disable",
        meaning: "Skills to disable",
        form: "what leads to a skill, `scope:*`, `plugin:*` or `*`",
        kind: ValueForm::Words,
        reach: SetBy::Project,
    },
    Key {
        id: Name::Trusted,
        name: "trusted",
        meaning: "Folders whose projects are trusted",
        form: "paths",
        kind: ValueForm::Paths,
        reach: SetBy::Person,
    },
    Key {
        id: Name::TrustProject,
        name: "trust_project",
        meaning: "Whether the project is trusted, whichever it is",
        form: "`true` or `false`",
        kind: ValueForm::Boolean,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Links,
        name: "links",
        meaning: "How links to skill folders, and hard links, are treated",
        form: "`follow`, `refuse` or `strict`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Hidden,
        name: "hidden",
        meaning: "How hidden folders are treated",
        form: "`skip` or `search`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::MaxDepth,
        name: "max_depth",
        meaning: "Maximum depth of a skill below its root",
        form: "a whole number",
        kind: ValueForm::Number,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Profile,
        name: "profile",
        meaning: "How strict `check` is",
        form: "`lenient` or `spec`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Arguments,
        name: "arguments",
        meaning: "Which argument placeholders instructions may use",
        form: "`plain`, `claude-code` or `goose`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Strict,
        name: "strict",
        meaning: "Whether loading refuses a skill that needed repair",
        form: "`true` or `false`",
        kind: ValueForm::Boolean,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Freshness,
        name: "freshness",
        meaning: "How changes to a loaded file are detected",
        form: "`checked` or `snapshot`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::CacheEntries,
        name: "cache_entries",
        meaning: "Maximum number of cached instructions",
        form: "a whole number",
        kind: ValueForm::Number,
        reach: SetBy::Person,
    },
    Key {
        id: Name::CacheBytes,
        name: "cache_bytes",
        meaning: "Maximum bytes of cached instructions",
        form: "a whole number",
        kind: ValueForm::Number,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Disclosure,
        name: "disclosure",
        meaning: "How skills are disclosed to a model",
        form: "`catalog`, `triggered` or `hybrid`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Style,
        name: "style",
        meaning: "The format of listings",
        form: "`xml-rules`, `xml`, `markdown`, `tiers` or `bullets`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Matching,
        name: "matching",
        meaning: "How a message is matched",
        form: "`keyword`, `hybrid` or `semantic`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Model,
        name: "model",
        meaning: "The folder of an embedding model",
        form: "a path",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::MaxPerRequest,
        name: "max_per_request",
        meaning: "Maximum skills loaded for one request",
        form: "a whole number",
        kind: ValueForm::Number,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Breadcrumb,
        name: "breadcrumb",
        meaning: "Whether a model is told the number of skills when nothing matches",
        form: "`on` or `off`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Fallback,
        name: "fallback",
        meaning: "What a model is told when nothing matches",
        form: "`none`, `show_all` or `ask_user`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::LogContent,
        name: "log_content",
        meaning: "Whether logs include requests and the text given to models",
        form: "`true` or `false`",
        kind: ValueForm::Boolean,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Watch,
        name: "watch",
        meaning: "Whether file changes are followed by system notifications",
        form: "`on` or `off`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::PollSeconds,
        name: "poll_seconds",
        meaning: "Seconds between scans where notifications are not available",
        form: "a whole number; 0 for never",
        kind: ValueForm::Number,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Index,
        name: "index",
        meaning: "Whether metadata of many skills is cached on disk for the next start",
        form: "`on` or `off`",
        kind: ValueForm::Word,
        reach: SetBy::Person,
    },
    Key {
        id: Name::Agents,
        name: "agents",
        meaning: "Agents, and the skills each uses and may see",
        form: "tables `[agents.ID]` of `uses_skills` and `sees`, in the user's file",
        kind: ValueForm::Tables,
        reach: SetBy::Person,
    },
];

impl Key {
    /// Returns whether a project may make the setting, for its own skills.
    pub fn is_for_projects(&self) -> bool {
        self.reach == SetBy::Project
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Returns the setting as it is explained: a row for each value, and one without a value where there is none.
    pub(super) fn rows(&self, settings: &Settings) -> Vec<Row> {
        if self.id == Name::Agents && !settings.agents.is_empty() {
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

    /// Returns the values of the setting as text, each with its origin.
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
        let chosen = |wanted: Toggle| {
            many(&settings.enablement, |(pattern, choice)| {
                (*choice == wanted).then(|| pattern.clone())
            })
        };
        match self.id {
            Name::Precedence => one(&settings.precedence, Precedence::to_string),
            Name::Roots => many(&settings.roots, |root| {
                let path = root.path.display();
                Some(match &root.plugin {
                    Some(plugin) => format!("{path} ({plugin})"),
                    None => format!("{path} ({})", root.scope),
                })
            }),
            Name::DefaultRoots => one(&settings.default_roots, bool::to_string),
            Name::Enable => chosen(Toggle::On),
            Name::Disable => chosen(Toggle::Off),
            Name::Trusted => many(&settings.trusted, |path| Some(path.display().to_string())),
            Name::TrustProject => one(&settings.trust_project, bool::to_string),
            Name::Links => one(&settings.links, |links| match links {
                LinkPolicy::Refuse => "refuse".to_owned(),
                LinkPolicy::Strict => "strict".to_owned(),
                _ => "follow".to_owned(),
            }),
            Name::Hidden => one(&settings.hidden, |hidden| match hidden {
                HiddenPolicy::Search => "search".to_owned(),
                _ => "skip".to_owned(),
            }),
            Name::MaxDepth => one(&settings.max_depth, usize::to_string),
            Name::Profile => one(&settings.profile, |profile| match profile {
                Profile::Spec => "spec".to_owned(),
                _ => "lenient".to_owned(),
            }),
            Name::Arguments => one(&settings.arguments, Dialect::to_string),
            Name::Strict => one(&settings.strict, bool::to_string),
            Name::LogContent => one(&settings.log_content, bool::to_string),
            Name::Watch => one(&settings.watch, on_or_off),
            Name::Index => one(&settings.index, on_or_off),
            Name::PollSeconds => one(&settings.poll_seconds, usize::to_string),
            Name::Freshness => one(&settings.freshness, |freshness| match freshness {
                Freshness::Snapshot => "snapshot".to_owned(),
                _ => "checked".to_owned(),
            }),
            Name::CacheEntries => one(&settings.cache_entries, usize::to_string),
            Name::CacheBytes => one(&settings.cache_bytes, usize::to_string),
            Name::Disclosure => one(&settings.disclosure, |mode| match mode {
                Mode::Catalog => "catalog".to_owned(),
                Mode::Triggered => "triggered".to_owned(),
                _ => "hybrid".to_owned(),
            }),
            Name::Style => one(&settings.style, Style::to_string),
            Name::Matching => one(&settings.matching, |matching| matching.as_str().to_owned()),
            Name::Model => one(&settings.model, |model| match model {
                Some(path) => path.display().to_string(),
                None => "none".to_owned(),
            }),
            Name::MaxPerRequest => one(&settings.max_per_request, usize::to_string),
            Name::Breadcrumb => one(&settings.breadcrumb, |breadcrumb| match breadcrumb {
                Breadcrumb::On => "on".to_owned(),
                Breadcrumb::Off => "off".to_owned(),
            }),
            Name::Fallback => one(&settings.fallback, |fallback| match fallback {
                Fallback::ShowAll => "show_all".to_owned(),
                Fallback::AskUser => "ask_user".to_owned(),
                _ => "none".to_owned(),
            }),
            // Each has rows of its own.
            Name::Agents => Vec::new(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "settings are shown by reference"
)]
fn on_or_off(is_on: &bool) -> String {
    if *is_on { "on" } else { "off" }.to_owned()
}
