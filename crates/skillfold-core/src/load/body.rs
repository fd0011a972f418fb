//! Reads the instructions of a skill on demand, through the source that listed it.

use crate::error::Error;
use crate::limits::Limits;
use crate::read::discover::Skill;
use crate::source::{FileBytes, SKILL_FILE, Source};

/// Returns the instructions of a skill: the bytes after its frontmatter, exactly as in the file.
///
/// At most [`Limits::read_bytes`] bytes are returned. If the revision of the content differs from the discovered one,
/// the file has changed and the instructions may start at another offset.
pub fn read_body(source: &dyn Source, skill: &Skill, limits: &Limits) -> Result<FileBytes, Error> {
    let path = SKILL_FILE
        .parse()
        .map_err(|_| Error::not_found(SKILL_FILE))?;
    let end = skill.body_start.saturating_add(limits.read_bytes);
    source.read(&skill.folder, &path, skill.body_start..end)
}
