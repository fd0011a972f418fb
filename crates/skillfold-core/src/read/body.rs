//! Reads the instructions of a skill, on demand, through the source that listed it.

use crate::error::Error;
use crate::limits::Limits;
use crate::read::discover::Skill;
use crate::read::source::{FileBytes, SKILL_FILE, Source};

/// Returns the instructions of a skill: the bytes after its frontmatter, exactly as they stand in the file.
///
/// At most [`Limits::read_bytes`] are returned. The content's revision tells whether the file is still the one that was
/// discovered; if it is not, the place where the instructions start may have moved.
pub fn read_body(source: &dyn Source, skill: &Skill, limits: &Limits) -> Result<FileBytes, Error> {
    let path = SKILL_FILE
        .parse()
        .map_err(|_| Error::not_found(SKILL_FILE))?;
    let end = skill.body_start.saturating_add(limits.read_bytes);
    source.read(&skill.folder, &path, skill.body_start..end)
}
