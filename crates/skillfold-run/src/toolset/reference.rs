//! How a skill refers to a toolset: `path:Name`.

use std::fmt;
use std::str::FromStr;

use skillfold_core::name::ResourcePath;

use crate::copy::SkillCopy;
use crate::error::{RunError, RunErrorKind};

/// Extensions that may be omitted, in the order they are tried. JavaScript comes before TypeScript: if a skill has
/// both, the first was compiled from the second, and every Node runs it.
const EXTENSIONS: [&str; 9] = ["mjs", "js", "cjs", "mts", "ts", "cts", "py", "json", "wasm"];

/// Maximum length of an export's name in characters.
const MAX_NAME: usize = 64;

/// A toolset reference in the frontmatter: a path inside the skill, and the name of one of the file's exports.
///
/// ```
/// use skillfold_run::toolset::ToolsetRef;
///
/// let reference: ToolsetRef = "toolsets/index:HelloToolset".parse()?;
/// assert_eq!(reference.path().as_str(), "toolsets/index");
/// assert_eq!(reference.name(), Some("HelloToolset"));
/// assert!("../other/index:HelloToolset".parse::<ToolsetRef>().is_err());
/// # Ok::<(), skillfold_run::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsetRef {
    path: ResourcePath,
    name: Option<Box<str>>,
}

impl ToolsetRef {
    /// Returns the path as written, often without an extension.
    pub fn path(&self) -> &ResourcePath {
        &self.path
    }

    /// Returns the export's name, or `None` for the file's default.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Finds the file in a skill: the path itself, else with an extension, else `index` with an extension in the folder
    /// with that name. The extensions are tried in the order `mjs`, `js`, `cjs`, `mts`, `ts`, `cts`, `py`, `json`,
    /// `wasm`.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_toolset` if there is no such file.
    pub fn resolve(&self, copy: &SkillCopy) -> Result<ResourcePath, RunError> {
        let path = &self.path;
        let in_folder = EXTENSIONS.map(|extension| format!("{path}/index.{extension}"));
        let found = [path.to_string()]
            .into_iter()
            .chain(EXTENSIONS.map(|extension| format!("{path}.{extension}")))
            .chain(in_folder)
            .filter_map(|text| text.parse().ok())
            .find(|path| copy.file(path).is_some());
        found.ok_or_else(|| {
            let known = EXTENSIONS.join(", ");
            let message = format!(
                "Toolset `{self}` is not in the skill: there is no file `{path}`, none with an extension of {known}, and no \
                 `{path}/index` with one of them"
            );
            let hint = "Correct the path under `toolsets` in SKILL.md; it starts at the skill's folder";
            RunError::new(RunErrorKind::InvalidToolset, message, hint)
        })
    }
}

impl FromStr for ToolsetRef {
    type Err = RunError;

    /// Parses `path:Name` or `path`. The name is what follows the last colon.
    fn from_str(text: &str) -> Result<Self, RunError> {
        let invalid = |rule: &str| {
            let message = format!("Not a toolset: `{text}`. {rule}");
            let hint = "Write it as `path:Name`, such as `toolsets/index:HelloToolset`";
            RunError::new(RunErrorKind::InvalidToolset, message, hint)
        };
        let (path, name) = match text.rsplit_once(':') {
            Some((path, name)) => (path, Some(name)),
            None => (text, None),
        };
        let path = path.strip_prefix("./").unwrap_or(path);
        let path = path
            .parse::<ResourcePath>()
            .map_err(|error| invalid(error.rule()))?;
        if name.is_some_and(|name| !is_identifier(name)) {
            return Err(invalid(
                "A name has letters, digits, `_` and `$`, does not start with a digit, and has at most 64 characters",
            ));
        }
        Ok(Self {
            path,
            name: name.map(Into::into),
        })
    }
}

impl fmt::Display for ToolsetRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(formatter, "{}:{name}", self.path),
            None => write!(formatter, "{}", self.path),
        }
    }
}

/// Returns a file's extension as written: a skill's paths are case-sensitive.
pub(super) fn extension(file: &ResourcePath) -> Option<&str> {
    let (_, name) = file
        .as_str()
        .rsplit_once('/')
        .unwrap_or(("", file.as_str()));
    name.rsplit_once('.').map(|(_, extension)| extension)
}

fn is_identifier(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.bytes().all(is_part)
        && !name.starts_with(|first: char| first.is_ascii_digit())
}
