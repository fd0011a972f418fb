//! The list of skills that a client makes itself, and the setting that turns it off.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold_core::disclose::{ClientList, TokenCounter};
use skillfold_core::source::SkillLayout;
use skillfold_core::{Catalog, Entry, Root, Scope};

use super::Client;
use super::settings_file::read_settings;
use super::staying::{BundledSkills, PluginFolders};
use crate::environment::Environment;

/// The setting that turns off a client's own list of skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ListSwitch {
    /// The files with the user's settings, inside the home; the last one is created if none exists.
    files: &'static [&'static str],
    /// The file with a user's own settings for a project, which is not under version control.
    local_file: Option<&'static str>,
    /// The keys that lead to the setting.
    pub keys: &'static [&'static str],
    /// What the setting turns off.
    pub form: SwitchForm,
    /// What the user can still do, or no longer, as a sentence.
    pub remains: &'static str,
    /// The skills that come with the client and stay in its list.
    pub bundled: Option<BundledSkills>,
    /// Where plugins are whose skills stay in its list.
    pub(super) plugins: PluginFolders,
}

/// The form of a setting that turns off a list of skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SwitchForm {
    /// `false` turns off the whole list.
    False,
    /// This word turns off the whole list.
    Word(&'static str),
    /// A table with a key per skill, the name of its folder, and this word as its value.
    Folders(&'static str),
    /// A list of the names of skills.
    Names,
}

impl ListSwitch {
    /// `skillOverrides` of Claude Code. The user can still start such a skill with `/name`.
    pub(super) const CLAUDE_CODE: Self = Self {
        files: &[".claude/settings.json"],
        local_file: Some(".claude/settings.local.json"),
        keys: &["skillOverrides"],
        form: SwitchForm::Folders("user-invocable-only"),
        remains: "`/NAME` still starts a skill",
        bundled: Some(BundledSkills {
            count: 13,
            version: "2.1.325",
        }),
        plugins: PluginFolders::NamedIn(".claude/plugins/installed_plugins.json"),
    };
    /// The table `skills` of Codex. `$name` still works.
    pub(super) const CODEX: Self = Self {
        files: &[".codex/config.toml"],
        local_file: None,
        keys: &["skills", "include_instructions"],
        form: SwitchForm::False,
        remains: "`$NAME` still starts a skill; Codex's own skills leave the list too",
        bundled: None,
        plugins: PluginFolders::Nowhere,
    };
    pub(super) const GEMINI: Self = Self {
        files: &[".gemini/settings.json"],
        local_file: None,
        keys: &["skills", "enabled"],
        form: SwitchForm::False,
        remains: "`/NAME` starts a skill through our server",
        bundled: None,
        plugins: PluginFolders::Nowhere,
    };
    pub(super) const OPENCODE: Self = Self {
        files: &[
            ".config/opencode/opencode.jsonc",
            ".config/opencode/opencode.json",
        ],
        local_file: None,
        keys: &["permission", "skill", "*"],
        form: SwitchForm::Word("deny"),
        remains: "`/NAME` still starts a skill",
        bundled: None,
        plugins: PluginFolders::Nowhere,
    };
    pub(super) const QWEN: Self = Self {
        files: &[".qwen/settings.json"],
        local_file: None,
        keys: &["skills", "disabled"],
        form: SwitchForm::Names,
        remains: "`/NAME` starts a skill through our server; its command `/skills` no longer does",
        bundled: Some(BundledSkills {
            count: 14,
            version: "0.24.4",
        }),
        plugins: PluginFolders::Below(".qwen/extensions", 1),
    };
    pub(super) const COPILOT_CLI: Self = Self {
        files: &[".copilot/settings.json"],
        local_file: None,
        keys: &["disabledSkills"],
        form: SwitchForm::Names,
        remains: "it no longer starts them by name",
        bundled: Some(BundledSkills {
            count: 2,
            version: "1.0.102",
        }),
        plugins: PluginFolders::Below(".copilot/installed-plugins", 2),
    };

    /// Returns the file with the user's settings.
    pub fn user_file(&self, environment: &Environment) -> Option<PathBuf> {
        let files: Vec<_> = self
            .files
            .iter()
            .filter_map(|file| environment.user_path(file))
            .collect();
        let existing = files.iter().find(|file| file.exists());
        existing.or_else(|| files.last()).cloned()
    }

    /// Returns the file with the user's own settings for the project, which is not under version control.
    pub fn local_file(&self, environment: &Environment) -> Option<PathBuf> {
        let project = environment.project();
        let is_home = environment.home_dir() == Some(project);
        self.local_file
            .filter(|_| !is_home)
            .map(|file| project.join(file))
    }

    /// Returns the project of a file with a user's own settings for it.
    pub fn project_of<'p>(&self, file: &'p Path) -> Option<&'p Path> {
        let local = self.local_file?;
        file.ancestors().find(|folder| folder.join(local) == file)
    }

    /// Returns whether skills are turned off one by one.
    pub fn is_by_skill(&self) -> bool {
        matches!(self.form, SwitchForm::Folders(_) | SwitchForm::Names)
    }

    /// Returns what the setting calls a skill. A command in a folder is `folder:command`.
    pub fn name_of<'a>(&self, entry: &Entry<'a>) -> Cow<'a, str> {
        let folder = entry.folder();
        match self.form {
            SwitchForm::Names => entry.manifest().name().as_str().into(),
            _ if entry.root().source().layout() == SkillLayout::Files => {
                folder.path().replace('/', ":").into()
            }
            _ => folder.name().into(),
        }
    }

    /// Returns how many skills and commands of the user's plugins stay in the client's list. Counts those where plugins have
    /// them by default.
    pub fn plugin_skills(&self, environment: &Environment) -> usize {
        let settings = self.user_file(environment);
        let settings = settings.and_then(|file| read_settings(&file));
        self.plugins.count_skills(environment, settings.as_ref())
    }

    fn read(&self, file: &Path) -> Hidden {
        let value = read_settings(file);
        let Some(mut value) = value.as_ref() else {
            return Hidden::default();
        };
        for key in self.keys {
            match value.get(key) {
                Some(inner) => value = inner,
                None => return Hidden::default(),
            }
        }
        match self.form {
            SwitchForm::False if *value == Value::Bool(false) => Hidden::All,
            SwitchForm::Word(word) if value.as_str() == Some(word) => Hidden::All,
            SwitchForm::Folders(word) => {
                let table = value.as_object().into_iter().flatten();
                // `off` hides a skill too.
                let hidden =
                    table.filter(|(_, value)| [Some(word), Some("off")].contains(&value.as_str()));
                Hidden::Skills(hidden.map(|(name, _)| name.clone()).collect())
            }
            SwitchForm::Names => {
                let names = value.as_array().into_iter().flatten();
                let names = names.filter_map(Value::as_str).map(str::to_owned);
                Hidden::Skills(names.collect())
            }
            _ => Hidden::default(),
        }
    }
}

/// The skills that a client lists itself, by its settings at one time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnList {
    client: &'static Client,
    hidden: Hidden,
    /// The client's folders that variables moved out of the home.
    moved_folders: Vec<PathBuf>,
}

/// What a client's settings hide from its list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Hidden {
    All,
    Skills(BTreeSet<String>),
}

impl Default for Hidden {
    fn default() -> Self {
        Self::Skills(BTreeSet::new())
    }
}

impl OwnList {
    /// Reads the client's settings. Settings that cannot be read turn nothing off.
    pub fn read(client: &'static Client, environment: &Environment) -> Self {
        let hidden = client.list_switch.map_or_else(Hidden::default, |switch| {
            let files = [
                switch.user_file(environment),
                switch.local_file(environment),
            ];
            let mut names = BTreeSet::new();
            for file in files.into_iter().flatten() {
                match switch.read(&file) {
                    Hidden::All => return Hidden::All,
                    Hidden::Skills(more) => names.extend(more),
                }
            }
            Hidden::Skills(names)
        });
        let folders = client.folders.iter();
        let moved = folders.filter_map(|folder| environment.moved_path(folder));
        Self {
            client,
            hidden,
            moved_folders: moved.collect(),
        }
    }

    /// Returns the client.
    pub fn client(&self) -> &'static Client {
        self.client
    }

    /// Returns whether the client lists a skill: it is in one of the client's folders, and not turned off.
    pub fn lists(&self, entry: &Entry<'_>) -> bool {
        let is_hidden = match &self.hidden {
            Hidden::All => true,
            Hidden::Skills(names) => self
                .client
                .list_switch
                .is_some_and(|switch| names.contains(&*switch.name_of(entry))),
        };
        !is_hidden && self.searches(entry.root())
    }

    /// Returns whether the client lists a skill to its model if its settings turn nothing off.
    pub fn would_list(&self, entry: &Entry<'_>) -> bool {
        let is_for_people = entry.manifest().disable_model_invocation();
        self.searches(entry.root()) && (self.client.lists_for_people || !is_for_people)
    }

    /// Returns whether the client lists a skill to its model now.
    pub fn shows(&self, entry: &Entry<'_>) -> bool {
        self.lists(entry) && self.would_list(entry)
    }

    /// Returns the skills that the client lists if its settings turn nothing off, as these settings name them.
    pub fn names(&self, catalog: &Catalog) -> SkillNames {
        let mut names = SkillNames::default();
        let Some(switch) = self.client.list_switch else {
            return names;
        };
        for entry in catalog.entries().filter(|entry| self.would_list(entry)) {
            let name = switch.name_of(&entry).into_owned();
            match entry.scope() {
                Scope::Project => names.project.insert(name),
                _ => names.user.insert(name),
            };
        }
        names
    }

    /// Returns the tokens of the client's own list, about as it writes it; `None` if that is not known.
    pub fn tokens(&self, catalog: &Catalog, counter: &dyn TokenCounter) -> Option<u64> {
        let listed = catalog.entries().filter(|entry| self.shows(entry));
        Some(self.client.native_list?.tokens(listed, counter))
    }

    /// Returns the list as it is if the settings turn off all of it.
    #[must_use]
    pub fn turned_off(&self) -> Self {
        Self {
            hidden: Hidden::All,
            ..self.clone()
        }
    }

    /// Returns the list as it is if the settings turn off nothing.
    #[must_use]
    pub fn turned_on(&self) -> Self {
        Self {
            hidden: Hidden::default(),
            ..self.clone()
        }
    }

    /// Returns whether the client finds skills in a root.
    fn searches(&self, root: &Root) -> bool {
        let Some(path) = root.source().location() else {
            return false;
        };
        let mut folders = self.client.folders.iter();
        folders.any(|folder| path.ends_with(folder))
            || self.moved_folders.iter().any(|it| it == path)
    }
}

/// The skills that a client lists itself, as its settings name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillNames {
    /// Those of the user.
    pub user: BTreeSet<String>,
    /// Those of the project.
    pub project: BTreeSet<String>,
}

impl ClientList for OwnList {
    fn lists(&self, entry: &Entry<'_>) -> bool {
        self.lists(entry)
    }
}
