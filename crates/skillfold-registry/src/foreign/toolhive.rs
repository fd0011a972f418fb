//! The lock file of `ToolHive`: `toolhive.lock.yaml` in version 1.

use std::collections::BTreeSet;

use skillfold_core::Error;

use crate::foreign::yaml::{self, Mapping};
use crate::foreign::{ForeignSkill, is_hex, unknown_version};

/// The name of the file.
pub const TOOLHIVE_LOCK_FILE: &str = "toolhive.lock.yaml";

/// Parses the lock file of `ToolHive`, in file order; `path` names it in messages.
///
/// # Errors
///
/// It is not valid YAML, has anchors, aliases or tags, has another version, names a skill twice, or has one without a source
/// and a full digest: all that `ToolHive` refuses too.
pub fn parse_toolhive_lock(text: &str, path: &str) -> Result<Vec<ForeignSkill>, Error> {
    let fields = yaml::parse(text, path)?;
    let top = Mapping::top(path, &fields)?;
    // ToolHive reads a file without a version too.
    top.check_any(["version", "skills"])?;
    let version = top.text("version")?;
    match version.as_deref() {
        None | Some("1") => {}
        Some(version) => return Err(unknown_version(path, version, "1")),
    }
    let mut names = BTreeSet::new();
    let mut skills = Vec::new();
    for fields in top.mappings("skills")? {
        let skill = read_skill(&fields)?;
        if !names.insert(skill.name.clone()) {
            return Err(fields.broken("name", "is the name of another entry"));
        }
        skills.push(skill);
    }
    Ok(skills)
}

fn read_skill(fields: &Mapping<'_>) -> Result<ForeignSkill, Error> {
    let Ok(name) = fields.required("name")?.parse() else {
        return Err(fields.broken("name", "is not a valid name"));
    };
    let mut skill = ForeignSkill::new(name, fields.required("source")?);
    skill.version = fields.text("version")?;
    skill.resolved = fields.text("resolvedReference")?;
    let digest = fields.required("digest")?;
    if is_sha256(&digest) {
        skill.artifact_digest = Some(digest);
    } else if is_hex(&digest, 40) || is_hex(&digest, 64) {
        skill.commit = Some(digest);
    } else {
        let reason = "is neither `sha256:` and 64 digits nor a full commit id";
        return Err(fields.broken("digest", reason));
    }
    skill.content_digest = fields.text("contentDigest")?;
    if skill
        .content_digest
        .as_deref()
        .is_some_and(|digest| !is_sha256(digest))
    {
        return Err(fields.broken("contentDigest", "is not `sha256:` and 64 digits"));
    }
    if let Some(provenance) = fields.mapping("provenance")? {
        skill.signer = provenance.text("signerIdentity")?;
    }
    skill.required_by = fields.texts("requiredBy")?;
    Ok(skill)
}

fn is_sha256(digest: &str) -> bool {
    let digits = digest.strip_prefix("sha256:");
    digits.is_some_and(|digits| is_hex(digits, 64))
}
