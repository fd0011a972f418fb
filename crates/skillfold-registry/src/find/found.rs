//! The skills of a source, and what was left out.

use skillfold_core::diagnostic::visible;
use skillfold_core::name::SkillName;

/// Maximum reasons that are listed one by one; the rest are counted.
const MAX_LEFT_OUT: usize = 1_000;

/// A skill found in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedSkill {
    /// Its name, from its frontmatter; that of its folder if there is none.
    pub name: SkillName,
    /// Its folder in the source; empty if the source is the skill.
    pub folder: String,
    /// Its description, on one line.
    pub description: String,
    /// The plugin that lists it, if one does.
    pub plugin: Option<String>,
}

/// What a source has that is not among its skills, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LeftOut {
    /// The file or folder in the source, with invisible characters escaped.
    pub path: String,
    /// Why it was left out, as a sentence on one line.
    pub reason: String,
}

/// The skills of a source, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The skills, sorted by name, then folder. Two may have the same name.
    pub skills: Vec<ListedSkill>,
    /// Skills that could not be read, plugins that are somewhere else, and broken plugin manifests, sorted by path. At
    /// most 1,000 are listed; a last entry counts the rest.
    pub left_out: Vec<LeftOut>,
}

impl Found {
    pub(super) fn leave_out(&mut self, path: &str, reason: impl AsRef<str>) {
        self.left_out.push(LeftOut {
            path: visible(path).into_owned(),
            reason: visible(reason.as_ref()).into_owned(),
        });
    }

    pub(super) fn finish(mut self) -> Self {
        self.skills
            .sort_by(|a, b| (&a.name, &a.folder).cmp(&(&b.name, &b.folder)));
        self.left_out.sort();
        self.left_out.dedup();
        let more = self.left_out.len().saturating_sub(MAX_LEFT_OUT);
        if more > 0 {
            self.left_out.truncate(MAX_LEFT_OUT);
            self.leave_out("", format!("{more} more are not listed"));
        }
        self
    }
}
