//! What `--fix` would correct: here, and in skills that have to be named for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillfold::core::author::{fix, is_fixable};
use skillfold::core::read::Profile;
use skillfold::{
    Environment,
    author::{CheckTarget, CheckedSkill},
};

use crate::terminal::output::{Output, display_path, pluralize};

/// Maximum bytes of a file for which the fixable findings are counted.
const MAX_FIX_TRIAL_BYTES: usize = 1 << 20;

/// Maximum commands shown that fix skills elsewhere.
const MAX_COMMANDS: usize = 3;

/// Whether a skill may be fixed. Without names only the project's own skills are fixed, and below a named folder only
/// what is inside it: the user's skills, a plugin's, and link targets are not changed along the way.
pub(super) enum FixScope {
    /// It is fixed if it is inside this folder when it is written.
    Fixable(PathBuf),
    CheckOnly,
}

impl FixScope {
    pub(super) fn within(folder: Option<PathBuf>) -> Self {
        folder.map_or(Self::CheckOnly, Self::Fixable)
    }
}

/// Findings that `--fix` would correct.
#[derive(Default)]
pub(super) struct Fixable {
    /// Those that it corrects if no skill is named.
    pub(super) here: usize,
    /// The others: the real folder of each skill, and how many it has.
    elsewhere: Vec<(PathBuf, usize)>,
}

impl Fixable {
    pub(super) fn add(
        &mut self,
        target: &CheckTarget,
        scope: &FixScope,
        checked: &CheckedSkill,
        profile: Profile,
    ) {
        let number = count(checked, profile);
        match scope {
            FixScope::Fixable(_) => self.here += number,
            FixScope::CheckOnly if number > 0 => {
                let folder = target.real_folder();
                self.elsewhere.extend(folder.map(|folder| (folder, number)));
            }
            FixScope::CheckOnly => {}
        }
    }

    /// Says which commands fix the skills elsewhere: one for each folder of skills, or for a skill alone in one.
    pub(super) fn say_elsewhere(&self, environment: &Environment, output: &mut Output) {
        let mut roots = BTreeMap::<&Path, Vec<&(PathBuf, usize)>>::new();
        for skill in &self.elsewhere {
            let root = skill.0.parent().unwrap_or(&skill.0);
            roots.entry(root).or_default().push(skill);
        }
        for (root, skills) in roots.iter().take(MAX_COMMANDS) {
            let folder = match &**skills {
                [(folder, _)] => folder,
                _ => *root,
            };
            let home = environment.home_dir();
            let below_home = home.and_then(|home| folder.strip_prefix(home).ok());
            let shown = match below_home {
                Some(inside) => display_path(&Path::new("~").join(inside)),
                None => display_path(folder),
            };
            let number = skills.iter().map(|(_, number)| number).sum::<usize>();
            let skills = pluralize(skills.len(), "skill", "skills");
            output.say(format!(
                "`skillfold check {shown} --fix` fixes {number} in {skills} elsewhere"
            ));
        }
        if let Some(more @ 1..) = roots.len().checked_sub(MAX_COMMANDS) {
            let more = pluralize(more, "more folder has", "more folders have");
            output.say(format!("{more} skills that can be fixed"));
        }
    }
}

/// Returns how many findings `--fix` would correct.
fn count(checked: &CheckedSkill, profile: Profile) -> usize {
    if !is_fixable(&checked.findings) || checked.text.len() > MAX_FIX_TRIAL_BYTES {
        return 0;
    }
    let folder = checked.file.parent().and_then(Path::file_name);
    let folder = folder
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    fix(checked.text.as_bytes(), &folder, profile).fixed.len()
}
