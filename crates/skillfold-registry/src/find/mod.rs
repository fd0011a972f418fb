//! Finds the skills in a source.
//!
//! A skill is a folder with a file named exactly `SKILL.md`; what is below it are its files, not other skills. A source
//! with a `SKILL.md` at its top is one skill, unless it also has a folder `skills` or a plugin manifest: then those skills
//! count too. In any other source, all folders down to a depth of 8 are searched, except those of version control and
//! `node_modules`, and hidden ones that are not known to hold skills. A folder that the user names is searched as a source is.

mod found;

mod paths;

mod plugin;

mod marketplace;

mod plugins;

mod search;

#[cfg(test)]
mod tests;

use skillfold_core::diagnostic::visible;
use skillfold_core::read;
use skillfold_core::{Code, Diagnostic, Error, ErrorKind};

use crate::tree::Tree;

pub use self::found::{Found, LeftOut, ListedSkill};
use self::paths::{MANIFESTS, SKILL_FILE, is_in, join, last_name, too_large};
use self::plugins::Plugins;

/// Maximum skills in a source.
const MAX_SKILLS: usize = 10_000;

/// Finds the skills in a source, or in one folder of it, whatever that is named. Files are read in six batches at most.
///
/// # Errors
///
/// The source cannot be read, or has more than 10,000 skills.
pub(crate) fn find_skills(tree: &mut dyn Tree, folder: Option<&str>) -> Result<Found, Error> {
    let mut found = Found::default();
    let mut plugins = Plugins::declared(tree, &mut found)?;
    let folder = folder.unwrap_or_default();
    let folders = search::skill_folders(tree.entries(), &plugins, folder, &mut found);
    if folders.len() > MAX_SKILLS {
        let message = format!("Source has {} skills, the limit is 10,000", folders.len());
        let hint = "Add one of its folders instead of the whole source";
        return Err(Error::new(ErrorKind::Refused, message, hint));
    }
    plugins.add_nested(tree, &folders, &mut found)?;

    let files: Vec<String> = folders.iter().map(|f| join(f, SKILL_FILE)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let contents = tree.read(&files, MANIFESTS)?;
    for ((skill, file), content) in folders.iter().zip(files).zip(contents) {
        let content = content.map_err(too_large);
        match content.and_then(|bytes| read_skill_file(skill, &bytes, &plugins)) {
            Ok(skill) => found.skills.push(skill),
            Err(reason) => found.leave_out(file, reason),
        }
    }
    let shown = visible(folder);
    found.left_out.retain(|it| is_in(&it.path, &shown));
    Ok(found.finish())
}

/// Reads the `SKILL.md` of a folder. The error says why it is not a skill.
fn read_skill_file(folder: &str, bytes: &[u8], plugins: &Plugins) -> Result<ListedSkill, String> {
    let parsed = read::parse(bytes, last_name(folder));
    let Some(manifest) = parsed.manifest else {
        let finding = parsed.diagnostics.iter().max_by_key(|it| it.severity);
        let has_name = |finding: &&Diagnostic| finding.code != Code::UnsafeName;
        let finding = finding.filter(|finding| !folder.is_empty() || has_name(finding));
        let no_name = "Skill has no usable `name`, and no folder to take one from".to_owned();
        return Err(finding.map_or(no_name, ToString::to_string));
    };
    let words: Vec<&str> = manifest.description().split_whitespace().collect();
    Ok(ListedSkill {
        name: manifest.name().clone(),
        folder: folder.to_owned(),
        description: words.join(" "),
        plugin: plugins.plugin_of(folder).map(str::to_owned),
    })
}
