//! Every setting in one table.

use skillfold_core::{Choice, Hidden, Links, Precedence, Profile};

use crate::settings::{Origin, Setting, Settings};

/// A setting.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
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
    pub(super) kind: Form,
    pub(super) reach: Reach,
}

/// How a value is written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Boolean,
    Number,
    Word,
    Words,
    Paths,
}

/// Who may make a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The person, and a project for itself.
    Project,
    /// The person alone: it says what is trusted or what of the person's is seen.
    Person,
}

/// Every setting, in the order in which they are explained.
pub const KEYS: &[Key] = &[
    Key {
        name: "precedence",
        meaning: "Which scope wins a name",
        form: "a client (`default`, `claude-code`, ...) or scopes in their order",
        kind: Form::Word,
        reach: Reach::Project,
    },
    Key {
        name: "roots",
        meaning: "Folders of skills beside the default ones",
        form: "paths, or tables of `path`, `scope` and `plugin`",
        kind: Form::Paths,
        reach: Reach::Project,
    },
    Key {
        name: "default_roots",
        meaning: "Whether the default folders are searched",
        form: "`true` or `false`",
        kind: Form::Boolean,
        reach: Reach::Person,
    },
    Key {
        name: "enable",
        meaning: "Skills that are on",
        form: "names, `scope:name`, `scope:*` or `*`",
        kind: Form::Words,
        reach: Reach::Project,
    },
    Key {
        name: "disable",
        meaning: "Skills that are off",
        form: "names, `scope:name`, `scope:*` or `*`",
        kind: Form::Words,
        reach: Reach::Project,
    },
    Key {
        name: "trusted",
        meaning: "Folders whose projects are trusted",
        form: "paths",
        kind: Form::Paths,
        reach: Reach::Person,
    },
    Key {
        name: "trust_project",
        meaning: "Whether the project is trusted, whichever it is",
        form: "`true` or `false`",
        kind: Form::Boolean,
        reach: Reach::Person,
    },
    Key {
        name: "links",
        meaning: "What is done with links to folders of skills",
        form: "`follow` or `refuse`",
        kind: Form::Word,
        reach: Reach::Person,
    },
    Key {
        name: "hidden",
        meaning: "What is done with folders whose name starts with a dot",
        form: "`skip` or `search`",
        kind: Form::Word,
        reach: Reach::Project,
    },
    Key {
        name: "max_depth",
        meaning: "Folders between a root and a skill",
        form: "a whole number",
        kind: Form::Number,
        reach: Reach::Project,
    },
    Key {
        name: "profile",
        meaning: "How strictly `check` judges",
        form: "`lenient` or `spec`",
        kind: Form::Word,
        reach: Reach::Project,
    },
];

impl Key {
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Returns the values of the setting as text, each with its origin.
    pub(super) fn rows(&self, settings: &Settings) -> Vec<(String, Origin)> {
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
        let chosen = |wanted: Choice| {
            many(&settings.enablement, |(pattern, choice)| {
                (*choice == wanted).then(|| pattern.clone())
            })
        };
        match self.name {
            "precedence" => one(&settings.precedence, Precedence::to_string),
            "roots" => many(&settings.roots, |root| {
                let path = root.path.display();
                Some(match &root.plugin {
                    Some(plugin) => format!("{path} ({plugin})"),
                    None => format!("{path} ({})", root.scope),
                })
            }),
            "default_roots" => one(&settings.default_roots, bool::to_string),
            "enable" => chosen(Choice::On),
            "disable" => chosen(Choice::Off),
            "trusted" => many(&settings.trusted, |path| Some(path.display().to_string())),
            "trust_project" => one(&settings.trust_project, bool::to_string),
            "links" => one(&settings.links, |links| match links {
                Links::Refuse => "refuse".to_owned(),
                _ => "follow".to_owned(),
            }),
            "hidden" => one(&settings.hidden, |hidden| match hidden {
                Hidden::Search => "search".to_owned(),
                _ => "skip".to_owned(),
            }),
            "max_depth" => one(&settings.max_depth, usize::to_string),
            "profile" => one(&settings.profile, |profile| match profile {
                Profile::Spec => "spec".to_owned(),
                _ => "lenient".to_owned(),
            }),
            _ => Vec::new(),
        }
    }
}
