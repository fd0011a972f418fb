//! The skills that stay in a client's own list, whatever its settings turn off.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::settings_file::read_settings;
use crate::environment::Environment;

/// The skills that come with a client and stay in its list: how many, and in which version they were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BundledSkills {
    /// How many.
    pub count: usize,
    /// The client's version.
    pub version: &'static str,
}

/// Where a client keeps plugins whose skills stay in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PluginFolders {
    /// Nowhere: their skills leave the list too.
    Nowhere,
    /// The folders that this file names.
    NamedIn(&'static str),
    /// All folders so many levels below this one.
    Below(&'static str, usize),
}

impl PluginFolders {
    /// Returns how many skills and commands the plugins have that the client's settings do not turn off.
    pub(super) fn count_skills(self, environment: &Environment, settings: Option<&Value>) -> usize {
        let folders = self.folders(environment, settings);
        let has_skill = |folder: &PathBuf| folder.join("SKILL.md").exists();
        let is_command = |file: &PathBuf| file.extension().is_some_and(|it| it == "md");
        let count = |folder: PathBuf| {
            let skills = children(&folder.join("skills"))
                .into_iter()
                .filter(has_skill);
            let commands = children(&folder.join("commands")).into_iter();
            // Others list no commands to their model.
            let has_commands = matches!(self, Self::NamedIn(_));
            skills.count() + commands.filter(|it| has_commands && is_command(it)).count()
        };
        folders.into_iter().map(count).sum()
    }

    fn folders(self, environment: &Environment, settings: Option<&Value>) -> Vec<PathBuf> {
        let path = |path: &str| environment.user_path(path);
        match self {
            Self::Nowhere => Vec::new(),
            Self::Below(folder, depth) => {
                let start: Vec<PathBuf> = path(folder).into_iter().collect();
                (0..depth).fold(start, |level, _| {
                    level.iter().flat_map(|folder| children(folder)).collect()
                })
            }
            Self::NamedIn(file) => {
                let named = path(file).and_then(|file| read_settings(&file));
                let plugins = named
                    .as_ref()
                    .and_then(|named| named["plugins"].as_object());
                let is_on = |name: &str| {
                    let enabled = settings.map(|settings| &settings["enabledPlugins"][name]);
                    enabled != Some(&Value::Bool(false))
                };
                let is_here = |place: &&Value| {
                    let project = place["projectPath"].as_str().map(Path::new);
                    project.is_none_or(|project| project == environment.project())
                };
                let plugins = plugins
                    .into_iter()
                    .flatten()
                    .filter(|(name, _)| is_on(name));
                let places = plugins
                    .filter_map(|(_, places)| places.as_array())
                    .flatten();
                let folders = places
                    .filter(is_here)
                    .filter_map(|it| it["installPath"].as_str());
                folders.map(PathBuf::from).collect()
            }
        }
    }
}

/// Returns what a folder contains; nothing if it cannot be read.
#[expect(
    clippy::disallowed_methods,
    reason = "counts what a client lists; opens no file"
)]
fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use skillfold_testkit::folder;

    use crate::client::Client;
    use crate::environment::Environment;

    #[expect(clippy::disallowed_methods, reason = "the tree has no absolute paths")]
    fn plugin_skills(client: &str, tree: &str) -> usize {
        let tree = tree.replace("\nSKILL\n", "\n---\nname: a\ndescription: A\n---\n");
        let world = folder(&tree);
        let home = world.path().join("person");
        // The file of Claude Code has absolute paths.
        let file = home.join(".claude/plugins/installed_plugins.json");
        if let Ok(text) = std::fs::read_to_string(&file) {
            let text = text.replace("HOME", &home.to_string_lossy());
            std::fs::write(&file, text).unwrap();
        }
        let environment = Environment::new(home.join("app")).home(&home);
        let switch = Client::find(client).unwrap().list_switch.unwrap();
        switch.plugin_skills(&environment)
    }

    #[test]
    fn skills_of_plugins_are_counted() {
        let claude = r#"
//- person/app/.git/HEAD
//- person/.claude/settings.json
{"enabledPlugins": {"tea@m": true, "off@m": false}}
//- person/.claude/plugins/installed_plugins.json
{"version": 2, "plugins": {
  "tea@m": [{"scope": "user", "installPath": "HOME/p/tea"}],
  "off@m": [{"scope": "user", "installPath": "HOME/p/tea"}],
  "far@m": [{"scope": "project", "projectPath": "/else", "installPath": "HOME/p/tea"}]
}}
//- person/p/tea/skills/one/SKILL.md
SKILL
//- person/p/tea/skills/two/SKILL.md
SKILL
//- person/p/tea/skills/none/notes.md
Nothing
//- person/p/tea/commands/brew.md
Brew
"#;
        assert_eq!(plugin_skills("claude-code", claude), 3);
        let qwen = r"
//- person/app/.git/HEAD
//- person/.qwen/extensions/tea/skills/one/SKILL.md
SKILL
//- person/.qwen/extensions/tea/commands/brew.md
Brew
";
        assert_eq!(plugin_skills("qwen", qwen), 1);
        let copilot = r"
//- person/app/.git/HEAD
//- person/.copilot/installed-plugins/_direct/tea/skills/one/SKILL.md
SKILL
";
        assert_eq!(plugin_skills("copilot-cli", copilot), 1);
        assert_eq!(plugin_skills("codex", copilot), 0);
    }
}
