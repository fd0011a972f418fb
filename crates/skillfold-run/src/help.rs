//! A script's help text.

use std::time::Duration;

use skillfold_core::name::ResourcePath;
use skillfold_core::text::truncate_bytes;

use crate::copy::SkillCopy;
use crate::error::RunError;
use crate::limits::RunLimits;
use crate::options::RunOptions;
use crate::run::Run;
use crate::scripts::script;

/// Maximum size of a help text.
const MAX_BYTES: usize = 16 * 1024;

/// Maximum time to print it.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Quotes around a script's docstring.
const QUOTES: [&str; 2] = ["\"\"\"", "'''"];

/// Where a help text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Help {
    /// The script printed it for `--help`.
    Printed(String),
    /// The comment or string at the top of the script.
    Head(String),
}

impl Help {
    /// Returns the comment at the top of a script, which may be empty. Runs nothing.
    ///
    /// # Errors
    ///
    /// Fails if there is no such script.
    pub fn at_head(copy: &SkillCopy, path: &ResourcePath) -> Result<Self, RunError> {
        script(copy, path)?;
        let bytes = copy.file(path).unwrap_or_default();
        Ok(Self::Head(head(&String::from_utf8_lossy(bytes))))
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        match self {
            Self::Printed(text) | Self::Head(text) => text,
        }
    }
}

/// Returns what a script prints for `--help`, run with only that argument and small limits; what it may write otherwise, it
/// can only read. If it fails or prints nothing, returns the comment at its top, which may be empty.
///
/// # Errors
///
/// Fails if there is no such script, or if it did not start.
pub fn help(copy: &SkillCopy, path: &ResourcePath, options: RunOptions) -> Result<Help, RunError> {
    let limits = RunLimits::default()
        .with_wall_time(MAX_TIME)
        .with_output_bytes(MAX_BYTES);
    let permissions = options.permissions().read_only();
    let options = options.with_permissions(permissions).with_limits(limits);
    let outcome = Run::new(copy, path)
        .with_arguments(["--help"])
        .with_options(options)
        .run()?;
    let printed = outcome.stdout_text();
    if outcome.is_success() && !printed.trim().is_empty() {
        return Ok(Help::Printed(printed.into_owned()));
    }
    Help::at_head(copy, path)
}

/// Returns what follows the inline metadata at the top of a Python script.
fn without_metadata(body: &str) -> &str {
    let metadata = body.strip_prefix("# /// script\n");
    let rest = metadata.and_then(|metadata| metadata.split_once("\n# ///\n"));
    rest.map_or(body, |(_, rest)| rest.trim_start())
}

/// Returns the comment or docstring at the top of a script.
pub(crate) fn head(text: &str) -> String {
    let text = truncate_bytes(text, MAX_BYTES);
    let body = match text.strip_prefix("#!") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, body)| body),
        None => text,
    };
    let body = without_metadata(body.trim_start());
    for quote in QUOTES {
        if let Some((documentation, _)) = body
            .strip_prefix(quote)
            .and_then(|rest| rest.split_once(quote))
        {
            return documentation.trim().to_owned();
        }
    }
    if let Some((comment, _)) = body
        .strip_prefix("/*")
        .and_then(|rest| rest.split_once("*/"))
    {
        let lines = comment
            .lines()
            .map(|line| line.trim().trim_start_matches('*').trim());
        return lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    }
    let comment = |line: &str| {
        let rest = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
        Some(rest.trim().to_owned())
    };
    let lines: Vec<String> = body.lines().map_while(comment).collect();
    lines.join("\n").trim().to_owned()
}
