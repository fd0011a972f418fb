//! The lock file of `apm`: `apm.lock.yaml` in versions 1 to 3.
//!
//! Written against version 0.35.0.

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;

use crate::foreign::yaml::{self, Mapping};
use crate::foreign::{ForeignSkill, is_hex, unknown_version};

/// The name of the file.
pub const APM_LOCK_FILE: &str = "apm.lock.yaml";

/// Parses the lock file of `apm` into its packages, in file order; `path` names it in messages.
///
/// # Errors
///
/// It is not valid YAML, has anchors, aliases or tags, has another version, or a package without a valid source. A package
/// that is replaced by another is refused, because its entry names the source that it is not from.
pub fn parse_apm_lock(text: &str, path: &str) -> Result<Vec<ForeignSkill>, Error> {
    let fields = yaml::parse(text, path)?;
    let top = Mapping::top(path, &fields)?;
    // Early files have no version.
    top.check_any(["lockfile_version", "dependencies"])?;
    let version = top.text("lockfile_version")?;
    match version.as_deref() {
        None | Some("1" | "2" | "3") => {}
        Some(version) => return Err(unknown_version(path, version, "1 to 3")),
    }
    let packages = top.mappings("dependencies")?;
    packages.iter().map(read_package).collect()
}

fn read_package(fields: &Mapping<'_>) -> Result<ForeignSkill, Error> {
    if fields.mapping("replacement")?.is_some() {
        return Err(fields.unsupported("replacement"));
    }
    let repository = fields.required("repo_url")?;
    let folder = fields.text("virtual_path")?;
    let is_inside = |folder: &String| folder.parse::<ResourcePath>().is_ok();
    if !folder.as_ref().is_none_or(is_inside) {
        return Err(fields.broken("virtual_path", "is not a path inside the source"));
    }
    let name = last_name(folder.as_deref().unwrap_or(&repository));
    let Ok(name) = name.parse() else {
        return Err(fields.broken("repo_url", "does not end with a valid name"));
    };
    let mut package = ForeignSkill::new(name, source(fields, repository)?);
    package.folder = folder;
    package.chosen = fields.texts("skill_subset")?;
    package.resolved = fields.text("resolved_url")?;
    package.version = fields.text("version")?;
    // For packages of a registry this is the version again.
    package.git_ref = match fields.text("source")?.as_deref() {
        Some("registry") => None,
        _ => fields.text("resolved_ref")?,
    };
    package.commit = commit(fields)?;
    package.artifact_digest = digest(fields, "resolved_hash")?;
    package.content_digest = digest(fields, "content_hash")?;
    package.required_by = fields.text("resolved_by")?.into_iter().collect();
    Ok(package)
}

/// Returns where a package comes from: its path if it is local, else the host, if it is given, and the repository.
fn source(fields: &Mapping<'_>, repository: String) -> Result<String, Error> {
    if fields.text("source")?.as_deref() == Some("local") {
        return fields.required("local_path");
    }
    // The other field is in lower case.
    let repository = fields
        .text("materialization_repo_url")?
        .unwrap_or(repository);
    let Some(mut source) = fields.text("host")? else {
        return Ok(repository);
    };
    if let Some(port) = fields.text("port")? {
        source = format!("{source}:{port}");
    }
    if let Some(prefix) = fields.text("registry_prefix")? {
        source = format!("{source}/{prefix}");
    }
    Ok(format!("{source}/{repository}"))
}

fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let name = path.rsplit(['/', ':']).next().unwrap_or(path);
    name.strip_suffix(".git").unwrap_or(name)
}

fn commit(fields: &Mapping<'_>) -> Result<Option<String>, Error> {
    let field = "resolved_commit";
    let Some(commit) = fields.text(field)? else {
        return Ok(None);
    };
    let commit = commit.to_ascii_lowercase();
    if is_hex(&commit, 40) || is_hex(&commit, 64) {
        return Ok(Some(commit));
    }
    Err(fields.broken(field, "is not a full commit id"))
}

fn digest(fields: &Mapping<'_>, field: &str) -> Result<Option<String>, Error> {
    let Some(digest) = fields.text(field)? else {
        return Ok(None);
    };
    match digest.strip_prefix("sha256:") {
        Some(digits) if is_hex(digits, 64) => Ok(Some(digest)),
        _ => Err(fields.broken(field, "is not `sha256:` and 64 digits")),
    }
}
