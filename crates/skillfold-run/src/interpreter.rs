//! Picks the program that runs a script: by its shebang, else by its extension.

use std::fs;
use std::path::{Path, PathBuf};

use skillfold_core::name::ResourcePath;

use crate::error::{RunError, RunErrorKind};

/// The programs that run files with an extension; the first installed one wins. Each entry is a program and its
/// arguments before the script's path.
const BY_EXTENSION: &[(&[&str], &[&[&str]])] = &[
    (&["py"], PYTHON),
    (&["sh"], &[&["sh"]]),
    (&["bash"], &[&["bash"]]),
    (&["js", "mjs", "cjs"], &[&["node"], &["bun"], DENO]),
    (&["ts", "mts", "cts"], &[&["bun"], DENO, &["node"]]),
    (&["rb"], &[&["ruby"]]),
    (&["pl"], &[&["perl"]]),
];

const PYTHON: &[&[&str]] = &[&["python3"], &["python"]];

/// Deno asks for permissions by default; here the sandbox limits it.
pub(crate) const DENO: &[&str] = &["deno", "run", "--allow-all", "--no-prompt"];

/// Programs that choose what to do by the name they are called with.
const MULTI_CALL: [&str; 2] = ["busybox", "toybox"];

/// Maximum length of a shebang line.
const MAX_SHEBANG: usize = 256;

/// Maximum number of arguments in a shebang line.
const MAX_SHEBANG_WORDS: usize = 8;

/// A program that can run a script, not yet looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interpreter {
    /// The program's name, such as `python3`.
    pub program: String,
    /// The arguments before the script's path.
    pub arguments: Vec<String>,
}

/// An installed interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    /// The file, with links resolved.
    pub(crate) path: PathBuf,
    /// The name the program sees as its own.
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
}

/// Starts a program that is one of the skill's files.
const STARTER: &[&[&str]] = &[&["env"]];

/// Returns whether a program is Python, any version.
pub(crate) fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python");
    version.is_some_and(|rest| {
        rest.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// Returns whether a program runs JavaScript.
pub(crate) fn is_javascript(program: &str) -> bool {
    ["node", "bun", "deno"].contains(&program)
}

/// Returns whether a program is one of the languages above, any version.
#[cfg(target_os = "linux")]
pub(crate) fn is_language(program: &Path) -> bool {
    let without_version = |name: &str| -> String {
        let is_version = |last: char| last.is_ascii_digit() || last == '.' || last == '-';
        name.trim_end_matches(is_version).to_owned()
    };
    let name = program.file_name().and_then(|name| name.to_str());
    let name = without_version(name.unwrap_or_default());
    let mut words = BY_EXTENSION.iter().flat_map(|(_, programs)| *programs);
    words.any(|words| {
        words
            .first()
            .is_some_and(|word| without_version(word) == name)
    })
}

/// Returns the programs that can run a file, in order of preference; none if it is not a script.
pub(crate) fn candidates(path: &ResourcePath, bytes: &[u8]) -> Vec<Interpreter> {
    // `env` treats a word with `=` as a variable.
    if bytes.starts_with(b"\x7fELF") && !path.as_str().contains('=') {
        return programs(STARTER);
    }
    let mut found: Vec<Interpreter> = match shebang(bytes) {
        // `uv` would fetch the script's packages on each run; `prepare` fetches them once.
        Some(named) if named.program == "uv" => programs(PYTHON),
        named => named.into_iter().collect(),
    };
    let (_, name) = path
        .as_str()
        .rsplit_once('/')
        .unwrap_or(("", path.as_str()));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = BY_EXTENSION
        .iter()
        .find(|(extensions, _)| extensions.contains(&extension));
    if let Some((_, programs)) = known {
        found.extend(self::programs(programs));
    }
    found.dedup();
    found
}

/// Returns the program named in a file's shebang.
fn shebang(bytes: &[u8]) -> Option<Interpreter> {
    let line = bytes.strip_prefix(b"#!")?;
    let line = &line[..line.len().min(MAX_SHEBANG)];
    let end = line.iter().position(|byte| *byte == b'\n')?;
    let mut words: Vec<&str> = str::from_utf8(&line[..end])
        .ok()?
        .split_ascii_whitespace()
        .take(MAX_SHEBANG_WORDS)
        .collect();
    let program = file_name(words.first()?);
    if program == "env" {
        words.remove(0);
        if words.first() == Some(&"-S") {
            words.remove(0);
        }
    }
    from_words(&words)
}

/// Returns the programs in a table.
pub(crate) fn programs(table: &[&[&str]]) -> Vec<Interpreter> {
    table.iter().filter_map(|words| from_words(words)).collect()
}

fn from_words(words: &[&str]) -> Option<Interpreter> {
    let (program, arguments) = words.split_first()?;
    let program = file_name(program);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    // A leading `-` or a `=` would be an option or a variable for `env`.
    let is_name = program.bytes().all(is_plain)
        && program.starts_with(|first: char| first.is_ascii_alphanumeric());
    is_name.then(|| Interpreter {
        program: program.to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Finds the first installed program of a list in a search path.
pub(crate) fn find(
    candidates: &[Interpreter],
    search: &[PathBuf],
    script: &ResourcePath,
) -> Result<Installed, RunError> {
    for interpreter in candidates {
        for folder in search.iter().filter(|folder| folder.is_absolute()) {
            if let Some(path) = program_at(folder, &interpreter.program) {
                let real = path.file_name().and_then(|name| name.to_str());
                let is_multi_call = real.is_some_and(|real| MULTI_CALL.contains(&real));
                let name = if is_multi_call {
                    interpreter.program.clone()
                } else {
                    path.to_string_lossy().into_owned()
                };
                return Ok(Installed {
                    path,
                    name,
                    arguments: interpreter.arguments.clone(),
                });
            }
        }
    }
    let names: Vec<String> = candidates
        .iter()
        .map(|interpreter| format!("`{}`", interpreter.program))
        .collect();
    let message = format!(
        "No interpreter is installed for `{script}`: {}",
        names.join(", ")
    );
    let hint = "Install one, or add its folder to PATH";
    Err(RunError::new(
        RunErrorKind::InterpreterMissing,
        message,
        hint,
    ))
}

/// Returns the real path of a program in a folder, if there is one. Skips wrapper scripts, as installed by version
/// managers: they need files that the sandbox does not have.
#[expect(
    clippy::disallowed_methods,
    reason = "the path of an installed program, not of a skill"
)]
fn program_at(folder: &Path, name: &str) -> Option<PathBuf> {
    use std::io::Read as _;

    let names = [
        name.to_owned(),
        format!("{name}{}", std::env::consts::EXE_SUFFIX),
    ];
    let path = names
        .iter()
        .find_map(|name| fs::canonicalize(folder.join(name)).ok())?;
    let mut file = fs::File::open(&path).ok()?;
    let metadata = file.metadata().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.permissions().mode() & 0o111 == 0 {
            return None;
        }
    }
    let mut start = [0; 2];
    let is_program = metadata.is_file() && file.read_exact(&mut start).is_ok() && &start != b"#!";
    is_program.then_some(path)
}
