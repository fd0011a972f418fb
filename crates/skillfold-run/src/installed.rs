//! Where the program is that runs a script, and what a run sees of its folder.

use std::path::{Path, PathBuf};

use skillfold_core::name::ResourcePath;

use crate::approved_path::{ApprovedPath, OpenedPath};
use crate::error::{RunError, RunErrorKind};
use crate::interpreter::{Interpreter, is_known};
use crate::named_interpreter::{file_name, libraries, program_at};
use crate::permissions::Permissions;
use crate::protected::Protected;

/// Programs that choose what to do by the name they are called with.
const MULTI_CALL: [&str; 2] = ["busybox", "toybox"];

/// Where version managers keep what they install, in a home: a folder, and how many folders below it one version is.
const MANAGERS: [(&str, usize); 8] = [
    (".asdf/installs", 2),
    (".local/share/fnm/node-versions", 1),
    (".local/share/mise/installs", 2),
    (".local/share/uv/python", 1),
    (".nvm/versions/node", 1),
    (".pyenv/versions", 1),
    ("Library/Application Support/fnm/node-versions", 1),
    ("Library/Application Support/uv/python", 1),
];

/// Programs in a home that need nothing beside them.
const ALONE: [&str; 4] = [
    ".bun/bin/bun",
    ".cargo/bin/uv",
    ".deno/bin/deno",
    ".local/bin/uv",
];

/// An installed interpreter.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The file, with links resolved.
    pub(crate) path: PathBuf,
    /// The name the program sees as its own.
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    /// The folders that a run sees with it.
    pub(crate) folders: Vec<PathBuf>,
    /// The program and its folders, if the user named it.
    pub(crate) named: Vec<OpenedPath>,
}

impl Installed {
    fn new(path: PathBuf, interpreter: &Interpreter) -> Self {
        let is_multi_call = MULTI_CALL.contains(&file_name(&path));
        let name = if is_multi_call {
            interpreter.program.clone()
        } else {
            path.to_string_lossy().into_owned()
        };
        Self {
            path,
            name,
            arguments: interpreter.arguments.clone(),
            folders: Vec::new(),
            named: Vec::new(),
        }
    }
}

/// Finds the first installed program of a list: one that the user named, else a known one in the search path. In a
/// home, only what a known version manager installed counts.
pub(crate) fn find(
    candidates: &[Interpreter],
    search: &[PathBuf],
    permissions: &Permissions,
    script: &ResourcePath,
) -> Result<Installed, RunError> {
    let protected = permissions.protected();
    let mut in_home = None;
    for interpreter in candidates {
        let mut named = permissions.interpreters().iter();
        if let Some(named) = named.find(|named| named.runs(&interpreter.program)) {
            let opened = named.paths().map(ApprovedPath::open);
            let mut found = Installed::new(named.program().real().to_owned(), interpreter);
            found.named = opened.collect::<Result<_, _>>()?;
            return Ok(found);
        }
        if !is_known(&interpreter.program) && interpreter.program != "uv" {
            continue;
        }
        for folder in search.iter().filter(|folder| folder.is_absolute()) {
            let Some(path) = program_in(folder, &interpreter.program) else {
                continue;
            };
            match folders_of(&path, protected) {
                Some(folders) => {
                    let mut found = Installed::new(path, interpreter);
                    found.folders = folders;
                    return Ok(found);
                }
                None => in_home = in_home.or(Some(path)),
            }
        }
    }
    Err(not_found(candidates, in_home, script))
}

/// Returns the folders that a run sees with a program that was found in the search path; `None` if it is in a home
/// and no known manager put it there.
fn folders_of(program: &Path, protected: &Protected) -> Option<Vec<PathBuf>> {
    let Some(home) = protected.home_of(program) else {
        return Some(libraries(program, protected));
    };
    let inside = program.strip_prefix(&home).ok()?;
    if ALONE.iter().any(|alone| inside == Path::new(alone)) {
        return Some(Vec::new());
    }
    MANAGERS.iter().find_map(|(manager, depth)| {
        let version: Vec<_> = inside.strip_prefix(manager).ok()?.components().collect();
        let version = version.get(..*depth)?;
        let folder = home.join(manager).join(version.iter().collect::<PathBuf>());
        (folder != program).then(|| vec![folder])
    })
}

fn not_found(
    candidates: &[Interpreter],
    in_home: Option<PathBuf>,
    script: &ResourcePath,
) -> RunError {
    if let Some(path) = in_home {
        let path = path.display();
        let message = format!("Interpreter of `{script}` is in a home: `{path}`");
        let hint = "Skillfold shows a script nothing of your home that you did not name; allow the skill with `--interpreter` and the path";
        return RunError::new(RunErrorKind::InterpreterMissing, message, hint);
    }
    let names: Vec<String> = candidates
        .iter()
        .map(|interpreter| format!("`{}`", interpreter.program))
        .collect();
    let names = names.join(", ");
    if candidates.iter().any(|it| is_known(&it.program)) {
        let message = format!("No interpreter is installed for `{script}`: {names}");
        let hint = "Install one, or add its folder to PATH";
        return RunError::new(RunErrorKind::InterpreterMissing, message, hint);
    }
    let message = format!("Unknown interpreter of `{script}`: {names}");
    let hint =
        "If you want it to run the script, allow the skill with `--interpreter` and its path";
    RunError::new(RunErrorKind::InterpreterMissing, message, hint)
}

fn program_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let suffixed = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    program_at(&folder.join(name)).or_else(|| program_at(&folder.join(suffixed)))
}
