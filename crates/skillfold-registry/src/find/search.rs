//! Decides which folders of a source are skills.

use std::collections::{BTreeMap, BTreeSet};

use skillfold_core::name::{ResourcePath, is_vcs_name};

use crate::find::found::Found;
use crate::find::paths::{
    ANOTHER_REPOSITORY, SKILL_FILE, ancestors, components, folder_of, is_in, join, last_name,
    parent,
};
use crate::find::plugins::Plugins;
use crate::tree::EntryKind;

/// Maximum folders between the folder where a search starts and a skill's folder, which counts too.
const MAX_DEPTH: usize = 8;

/// Hidden folders of clients whose folder `skills` is searched.
const CLIENT_FOLDERS: [&str; 4] = [".agents", ".claude", ".codex", ".github"];
/// Hidden folders that are searched below a folder `skills`.
const SKILLS_GROUPS: [&str; 3] = [".curated", ".experimental", ".system"];

/// Returns the folders in `top` that are skills, and reports those that cannot be read. `""` is the whole source.
pub(super) fn skill_folders(
    entries: &BTreeMap<String, EntryKind>,
    plugins: &Plugins,
    top: &str,
    found: &mut Found,
) -> BTreeSet<String> {
    let mut candidates: Vec<(usize, &str, EntryKind)> = Vec::new();
    for (path, kind) in entries {
        if let Some(folder) = folder_of(path, SKILL_FILE).filter(|folder| is_in(folder, top)) {
            candidates.push((components(folder).count(), folder, *kind));
        }
    }
    candidates.sort_unstable_by_key(|(depth, folder, _)| (*depth, *folder));
    let mut search = Search {
        top,
        starts: plugins.folders().collect(),
        skills: BTreeSet::new(),
    };
    search.starts.insert(match top {
        "" if entries.contains_key(SKILL_FILE) => "skills".to_owned(),
        top => top.to_owned(),
    });

    let mut folders = BTreeSet::new();
    for (_, folder, kind) in candidates {
        match search.place(folder) {
            Place::NotSearched => continue,
            Place::LeftOut(reason) => {
                found.leave_out(&join(folder, SKILL_FILE), reason);
                continue;
            }
            Place::Searched => {}
        }
        // Whatever it is, it makes the folder a skill, whose other files are not skills.
        search.skills.insert(folder.to_owned());
        match kind {
            EntryKind::File => _ = folders.insert(folder.to_owned()),
            EntryKind::Link => {
                found.leave_out(&join(folder, SKILL_FILE), "File is a link");
            }
            EntryKind::Submodule => {
                found.leave_out(&join(folder, SKILL_FILE), ANOTHER_REPOSITORY);
            }
            EntryKind::Other => {
                found.leave_out(&join(folder, SKILL_FILE), "Not a file that can be read");
            }
        }
    }
    report_other_entries(entries, &search, found);
    folders
}

/// Reports other repositories, and links where a skill's folder would be.
fn report_other_entries(
    entries: &BTreeMap<String, EntryKind>,
    search: &Search<'_>,
    found: &mut Found,
) {
    let names: BTreeSet<&str> = search.skills.iter().map(|f| last_name(f)).collect();
    for (path, kind) in entries {
        let reason = match kind {
            EntryKind::Submodule if last_name(path) != SKILL_FILE => ANOTHER_REPOSITORY,
            // A link with a skill's name most likely leads to that skill.
            EntryKind::Link
                if last_name(parent(path)) == "skills" && !names.contains(last_name(path)) =>
            {
                "Folder is a link"
            }
            EntryKind::File | EntryKind::Link | EntryKind::Submodule | EntryKind::Other => continue,
        };
        if is_in(path, search.top) && matches!(search.place(path), Place::Searched) {
            found.leave_out(path, reason);
        }
    }
}

/// What is done with a folder.
enum Place {
    Searched,
    /// Belongs to another skill, or not to the source's own files.
    NotSearched,
    LeftOut(String),
}

struct Search<'t> {
    /// The folder that is searched.
    top: &'t str,
    /// The folders where a search starts: that one, the plugins' folders, and what they list.
    starts: BTreeSet<String>,
    /// The skills so far. Those above a folder are found before it.
    skills: BTreeSet<String>,
}

impl Search<'_> {
    fn place(&self, folder: &str) -> Place {
        if folder.is_empty() {
            return Place::Searched;
        }
        let inner = folder.strip_prefix(self.top).unwrap_or(folder);
        if components(inner).any(|name| is_vcs_name(name) || name == "node_modules") {
            return Place::NotSearched;
        }
        let is_start = |above: &&str| self.starts.contains(*above);
        let Some(start) = ancestors(folder).find(is_start) else {
            return Place::NotSearched;
        };
        let is_skill = |above: &str| above != folder && self.skills.contains(above);
        if ancestors(folder)
            .take_while(|above| above.len() >= start.len())
            .any(|above| !above.is_empty() && is_skill(above))
        {
            return Place::NotSearched;
        }
        if let Err(error) = folder.parse::<ResourcePath>() {
            return Place::LeftOut(error.rule().to_owned());
        }
        let depth = components(folder).count() - components(start).count();
        if depth > MAX_DEPTH {
            let reason = format!("Folder is {depth} folders deep, the limit is {MAX_DEPTH}");
            return Place::LeftOut(reason);
        }
        match unknown_hidden_name(start, folder) {
            Some(name) => Place::LeftOut(format!("Hidden folder `{name}` is not searched")),
            None => Place::Searched,
        }
    }
}

/// Returns the first hidden folder below `start` that is not known to hold skills.
fn unknown_hidden_name<'f>(start: &str, folder: &'f str) -> Option<&'f str> {
    let names: Vec<&str> = components(folder).collect();
    let below = components(start).count()..names.len();
    let is_unknown = |at: &usize| {
        let name = names[*at];
        let before = at.checked_sub(1).and_then(|before| names.get(before));
        let is_client = CLIENT_FOLDERS.contains(&name) && names.get(at + 1) == Some(&"skills");
        let is_group = SKILLS_GROUPS.contains(&name) && before == Some(&"skills");
        name.starts_with('.') && !is_client && !is_group
    };
    below.into_iter().find(is_unknown).map(|at| names[at])
}
