//! Dependencies of a skill's scripts: inline metadata in Python scripts, `requirements.txt`, `package.json`, and imports.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;
use skillfold_core::name::ResourcePath;

use crate::copy::SkillCopy;
use crate::error::{RunError, RunErrorKind};
use crate::imports;
use crate::interpreter::{self, candidates};
use crate::requirements::{self, Requirements, is_of_index};

/// Maximum size of a file that lists packages.
const MAX_BYTES: usize = 1024 * 1024;

/// Lists the packages of Python scripts without inline metadata.
const REQUIREMENTS_FILE: &str = "requirements.txt";

/// Lists the packages of JavaScript and TypeScript.
const PACKAGE_FILE: &str = "package.json";

/// The Python of scripts that name no version.
const PYTHON: &str = "python3";

/// Maximum number of packages per file.
const MAX_REQUIREMENTS: usize = 200;

/// A package installer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Installer {
    /// `uv`, for Python.
    Uv,
    /// `npm`, for JavaScript and TypeScript.
    Npm,
}

impl Installer {
    /// Returns the program's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uv => "uv",
            Self::Npm => "npm",
        }
    }
}

impl fmt::Display for Installer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The packages a skill's file depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependencies {
    /// The Python script with inline metadata, the `requirements.txt`, the `package.json`, or the file that imports
    /// packages.
    pub file: ResourcePath,
    /// The packages as listed in the file, such as `requests>=2`; imported ones as `zod@latest`.
    pub requirements: Vec<String>,
    /// The hashes that a `requirements.txt` has for packages, such as `six sha256:…`. A package without one may have any.
    pub hashes: Vec<String>,
    /// The program that installs them.
    pub installer: Installer,
}

/// Returns the dependencies of a skill's scripts, one entry per file that lists packages.
///
/// # Errors
///
/// Fails with `invalid_dependencies` if a file's list of packages is not understood.
pub fn dependencies<'a>(
    copy: &SkillCopy,
    scripts: impl IntoIterator<Item = &'a ResourcePath>,
) -> Result<Vec<Dependencies>, RunError> {
    let files = scripts
        .into_iter()
        .filter_map(|script| dependency_file(copy, script));
    let files: BTreeSet<ResourcePath> = files.collect();
    let found = files.iter().map(|file| read(copy, file));
    found.filter_map(Result::transpose).collect()
}

/// Returns a script's dependencies: of a Python script those of its inline metadata, else of the nearest
/// `requirements.txt`; of JavaScript and TypeScript those of the nearest `package.json`, else its imports.
///
/// # Errors
///
/// As [`dependencies`].
pub fn script_dependencies(
    copy: &SkillCopy,
    script: &ResourcePath,
) -> Result<Option<Dependencies>, RunError> {
    match dependency_file(copy, script) {
        Some(file) => read(copy, &file),
        None => Ok(None),
    }
}

/// Returns the file that lists a script's dependencies.
pub(crate) fn dependency_file(copy: &SkillCopy, script: &ResourcePath) -> Option<ResourcePath> {
    let bytes = copy.file(script).unwrap_or_default();
    if is_run_by(copy, script, interpreter::is_python) {
        let nearest = || nearest(copy, script, REQUIREMENTS_FILE);
        let above = (inline_metadata(bytes).is_none()).then(nearest).flatten();
        return Some(above.unwrap_or_else(|| script.clone()));
    }
    if is_run_by(copy, script, interpreter::is_javascript) {
        let above = nearest(copy, script, PACKAGE_FILE);
        return Some(above.unwrap_or_else(|| script.clone()));
    }
    None
}

/// Returns the file with a name that is in a script's folder, or in the nearest one above it.
fn nearest(copy: &SkillCopy, script: &ResourcePath, name: &str) -> Option<ResourcePath> {
    let mut folder = script.as_str();
    loop {
        folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = match folder {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        let path = path.parse().ok()?;
        if copy.file(&path).is_some() {
            return Some(path);
        }
        if folder.is_empty() {
            return None;
        }
    }
}

fn read(copy: &SkillCopy, path: &ResourcePath) -> Result<Option<Dependencies>, RunError> {
    let bytes = copy.file(path).unwrap_or_default();
    let mut hashes = Vec::new();
    let (requirements, installer) = if has_name(path, REQUIREMENTS_FILE) {
        let found = listed_packages(path, bytes)?;
        hashes = found.hashes;
        (found.packages, Installer::Uv)
    } else if has_name(path, PACKAGE_FILE) {
        (node_packages(path, bytes)?, Installer::Npm)
    } else if is_run_by(copy, path, interpreter::is_python) {
        match inline_metadata(bytes) {
            Some(text) => (python_packages(path, &text)?, Installer::Uv),
            None => return Ok(None),
        }
    } else {
        (imported_packages(copy, bytes), Installer::Npm)
    };
    if requirements.len() > MAX_REQUIREMENTS {
        let why = format!("it names more than {MAX_REQUIREMENTS} packages");
        return Err(invalid(path, &why));
    }
    Ok((!requirements.is_empty()).then(|| Dependencies {
        file: path.clone(),
        requirements,
        hashes,
        installer,
    }))
}

/// Returns the Python that runs what a file names packages for, such as `python3.12`; `python3` if none is named.
///
/// # Errors
///
/// Fails with `invalid_dependencies` if two scripts that share a `requirements.txt` name different versions.
pub(crate) fn python_of(copy: &SkillCopy, file: &ResourcePath) -> Result<String, RunError> {
    let program = |path: &ResourcePath| {
        let found = candidates(path, copy.file(path).unwrap_or_default());
        let mut programs = found.into_iter().map(|candidate| candidate.program);
        programs.find(|program| interpreter::is_python(program))
    };
    if !has_name(file, REQUIREMENTS_FILE) {
        return Ok(program(file).unwrap_or_else(|| PYTHON.to_owned()));
    }
    let users = copy
        .paths()
        .filter(|path| dependency_file(copy, path).as_ref() == Some(file));
    let versions: BTreeSet<String> = users
        .filter_map(program)
        .filter(|program| program.contains('.'))
        .collect();
    let mut versions = versions.into_iter();
    match (versions.next(), versions.next()) {
        (Some(one), Some(other)) => {
            let why = format!("scripts that use it name different Pythons, `{one}` and `{other}`");
            let hint = "Give one of them inline metadata, which names packages for one script";
            Err(invalid_list(&file.to_string(), &why, hint))
        }
        (one, _) => Ok(one.unwrap_or_else(|| PYTHON.to_owned())),
    }
}

fn is_run_by(copy: &SkillCopy, path: &ResourcePath, is_program: fn(&str) -> bool) -> bool {
    let interpreters = candidates(path, copy.file(path).unwrap_or_default());
    let first = interpreters.first();
    first.is_some_and(|first| is_program(&first.program))
}

fn has_name(path: &ResourcePath, name: &str) -> bool {
    path.as_str().rsplit('/').next() == Some(name)
}

/// Returns the TOML between `# /// script` and `# ///`, as in the Python packaging guide.
pub(crate) fn inline_metadata(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(&bytes[..bytes.len().min(MAX_BYTES)]).ok()?;
    let mut lines = text.lines();
    lines.find(|line| line.trim_end() == "# /// script")?;
    let mut metadata = String::new();
    // The comment's last closing line counts, as in the reference implementation.
    let mut closed = None;
    for line in lines {
        let line = line.trim_end();
        let Some(line) = line.strip_prefix("# ").or((line == "#").then_some("")) else {
            break;
        };
        if line == "///" {
            closed = Some(metadata.len());
        }
        metadata.push_str(line);
        metadata.push('\n');
    }
    metadata.truncate(closed?);
    Some(metadata)
}

fn python_packages(path: &ResourcePath, metadata: &str) -> Result<Vec<String>, RunError> {
    let table: toml::Table =
        toml::from_str(metadata).map_err(|error| invalid(path, error.message()))?;
    match table.get("dependencies") {
        None => Ok(Vec::new()),
        Some(list) => {
            let names: Vec<String> = (list.clone())
                .try_into()
                .map_err(|_| invalid(path, "`dependencies` is not a list of strings"))?;
            match names.iter().find(|name| !is_of_index(name)) {
                Some(name) => Err(invalid(
                    path,
                    &format!("`{name}` is not the name of a package"),
                )),
                None => Ok(names),
            }
        }
    }
}

fn listed_packages(path: &ResourcePath, bytes: &[u8]) -> Result<Requirements, RunError> {
    if bytes.len() > MAX_BYTES {
        return Err(invalid(path, "it has more than 1 MiB"));
    }
    let text = str::from_utf8(bytes).map_err(|_| invalid(path, "it is not UTF-8"))?;
    requirements::parse(text).map_err(|error| {
        let place = format!("{path}:{}", error.line);
        let hint = "List packages of an index there, such as `requests>=2`, or give the script inline metadata";
        invalid_list(&place, &error.why, hint)
    })
}

/// Returns the Python versions that a script's inline metadata requires, such as `>=3.9`; empty if it has none.
pub(crate) fn requires_python(bytes: &[u8]) -> String {
    let table: Option<toml::Table> =
        inline_metadata(bytes).and_then(|text| toml::from_str(&text).ok());
    let version = table.and_then(|table| Some(table.get("requires-python")?.as_str()?.to_owned()));
    version.unwrap_or_default()
}

fn node_packages(path: &ResourcePath, bytes: &[u8]) -> Result<Vec<String>, RunError> {
    if bytes.len() > MAX_BYTES {
        return Err(invalid(path, "it has more than 1 MiB"));
    }
    let file: Value =
        serde_json::from_slice(bytes).map_err(|error| invalid(path, &error.to_string()))?;
    let Some(list) = file.get("dependencies") else {
        return Ok(Vec::new());
    };
    let list = list
        .as_object()
        .ok_or_else(|| invalid(path, "`dependencies` is not an object"))?;
    // Other specifiers name URLs, folders and repositories.
    let is_range = |text: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".*^~<>=| +-".contains(&byte);
        text.bytes().all(is_part)
    };
    let package = |(name, version): (&String, &Value)| match version {
        Value::String(version) if is_range(version) => Ok(format!("{name}@{version}")),
        _ => Err(invalid(
            path,
            &format!("the version of `{name}` is not from a registry"),
        )),
    };
    list.iter().map(package).collect()
}

/// Returns the packages a file imports that are not part of the skill.
fn imported_packages(copy: &SkillCopy, bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
    let is_own = |name: &str| {
        let folder = format!("node_modules/{name}/");
        copy.paths().any(|path| path.as_str().contains(&folder))
    };
    let names = imports::packages(&text).into_iter();
    names
        .filter(|name| !is_own(name))
        .map(|name| format!("{name}@latest"))
        .collect()
}

fn invalid(path: &ResourcePath, why: &str) -> RunError {
    let hint = "Correct the file; https://packaging.python.org/en/latest/specifications/inline-script-metadata/ documents the form for Python";
    invalid_list(path.as_str(), why, hint)
}

fn invalid_list(place: &str, why: &str, hint: &str) -> RunError {
    let message = format!("Cannot parse the packages of `{place}`: {why}");
    RunError::new(RunErrorKind::InvalidDependencies, message, hint)
}
