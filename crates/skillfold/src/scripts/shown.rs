//! What the user is shown before a skill may run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skillfold_core::diagnostic::visible;
use skillfold_run::toolset::ToolsetRef;
use skillfold_run::{layers, script};

use crate::scripts::RunnableSkill;
use crate::scripts::shown_path::shown_path;

/// Maximum lines of a question. Claude Code 2.1.325 shows no more of a form, however large the terminal is; Codex 0.166.0
/// shows 18 in 24 rows, and leaves out the rest without a word.
const MAX_LINES: usize = 4;

/// Maximum columns of such a line. In a terminal of 80 columns, Claude Code cuts a line after 74.
const MAX_COLUMNS: usize = 72;

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

    /// Returns what the user is asked before it may run, for a frontend that shows a short text: at most four lines of 72
    /// columns. Scripts that do not fit are counted. `None` if what it asks for does not fit or cannot be granted: the user
    /// would agree to more than they see.
    pub fn question(&self) -> Option<String> {
        self.check_grants().ok()?;
        let id = visible(&self.id);
        let mut lines = wrap(&format!("Let `{id}` run in a sandbox until it changes?"));
        let asked = self.permission_lines();
        lines.extend(wrap(&if asked.is_empty() {
            "It can access only its own files and a scratch folder; no network.".to_owned()
        } else {
            format!("It {}.", asked.join("; "))
        }));
        let states = layers().layers.into_iter();
        let missing = states.filter(|state| state.layer.is_required() && state.missing.is_some());
        let missing: Vec<String> = missing.map(|state| state.layer.to_string()).collect();
        if !missing.is_empty() {
            lines.extend(wrap(&format!("The sandbox lacks {}.", missing.join(", "))));
        }
        lines.extend(self.files_line());
        let fits = |line: &String| columns(line) <= MAX_COLUMNS;
        (lines.len() <= MAX_LINES && lines.iter().all(fits)).then(|| lines.join("\n"))
    }

    /// Returns a line that names its scripts and toolsets, as many as fit, and counts the others. `None` if it has none.
    fn files_line(&self) -> Option<String> {
        let listed = self.scripts();
        let scripts = listed.scripts.iter().map(|script| script.path.as_str());
        let toolsets = self.toolsets.iter().map(String::as_str);
        let files: Vec<_> = scripts.chain(toolsets).map(visible).collect();
        let line = |named: usize| {
            let more = files.len() - named;
            let mut parts: Vec<String> =
                files.iter().take(named).map(ToString::to_string).collect();
            if more > 0 {
                parts.push(format!("{more} more"));
            }
            format!("Runs: {}", parts.join(", "))
        };
        let mut fitting = (1..=files.len()).rev().map(line);
        let fitting = fitting.find(|line| columns(line) <= MAX_COLUMNS);
        fitting.or_else(|| (!files.is_empty()).then(|| line(0)))
    }
}

/// Breaks a sentence into lines, between words.
fn wrap(sentence: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= MAX_COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns how many columns of a terminal a text takes at most.
fn columns(text: &str) -> usize {
    text.chars()
        .map(|letter| 1 + usize::from(!letter.is_ascii()))
        .sum()
}
