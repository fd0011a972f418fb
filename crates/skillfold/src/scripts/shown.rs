//! What the user is shown before a skill may run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use skillfold_core::diagnostic::visible;
use skillfold_run::toolset::ToolsetRef;
use skillfold_run::{layers, script};

use crate::scripts::RunnableSkill;
use crate::scripts::shown_path::shown_path;

/// Maximum lines of what a skill asks for, and of its files, in a question.
const MAX_LISTED: usize = 20;

/// Maximum characters of what a skill asks for, in a question.
const MAX_ASKED: usize = 200;

impl RunnableSkill {
    /// Returns a line for everything that a run gets beyond the skill's own files, to be shown whole before the user
    /// decides: what it asks for, the project, and what it sees of the home because its interpreter is there.
    pub fn permission_lines(&self) -> Vec<String> {
        let asked = self.asked.lines().into_iter();
        let asked = asked.map(|line| format!("asks for {line}"));
        let toolsets = self.toolsets.iter().filter_map(|toolset| {
            let file = toolset.parse::<ToolsetRef>().ok()?.resolve(&self.copy);
            script(&self.copy, &file.ok()?).ok()
        });
        let scripts = self.scripts().scripts.into_iter().chain(toolsets);
        let seen: BTreeSet<PathBuf> = scripts
            .flat_map(|script| self.options.home_folders(&script))
            .collect();
        let seen = seen.iter().map(|folder| {
            let folder = shown_path(folder, self.home.as_deref());
            format!("sees {folder}, where its interpreter is (read-only)")
        });
        let project = self.project.lines(self.home.as_deref());
        asked.chain(project).chain(seen).collect()
    }

    /// Returns one line for each thing that it asks for, the project included.
    pub fn asked_lines(&self) -> Vec<String> {
        let project = self.project.asked_line(self.home.as_deref());
        self.asked.lines().into_iter().chain(project).collect()
    }

    /// Returns what the user is asked before it may run, for a frontend that has only text. `None` if what it asks for is too long to
    /// show in full or cannot be granted: the user would agree to more than they see.
    pub fn question(&self) -> Option<String> {
        let asked = self.permission_lines();
        let fits = |line: &String| line.chars().count() <= MAX_ASKED;
        if asked.len() > MAX_LISTED || !asked.iter().all(fits) || self.check_grants().is_err() {
            return None;
        }
        let id = visible(&self.id);
        let mut text = format!(
            "Let the skill `{id}` run its scripts and tools, in a sandbox, while it is unchanged?\n"
        );
        let listed = self.scripts();
        let scripts = listed.scripts.iter().map(|script| script.path.as_str());
        let files: Vec<_> = scripts
            .chain(self.toolsets.iter().map(String::as_str))
            .collect();
        for file in files.iter().take(MAX_LISTED) {
            let _ = writeln!(text, "- {}", visible(file));
        }
        if files.len() > MAX_LISTED {
            let _ = writeln!(text, "- and {} more", files.len() - MAX_LISTED);
        }
        for asked in asked {
            let _ = writeln!(text, "It {asked}.");
        }
        for state in layers().layers {
            if let Some(why) = &state.missing {
                let _ = writeln!(text, "The sandbox lacks {}: {why}.", state.layer);
            }
        }
        Some(text)
    }
}
