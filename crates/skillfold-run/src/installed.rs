//! Where the program is that runs a script, and what a run sees of its folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillfold_core::name::ResourcePath;

use crate::approved_path::{ApprovedPath, OpenedPath, PathAccess, PathKind};
use crate::error::{RunError, RunErrorKind};
use crate::interpreter::{Interpreter, is_known, without_version};
use crate::options::RunOptions;
use crate::protected::Protected;
use crate::scripts::Script;

/// Programs that choose what to do by the name they are called with.
const MULTI_CALL: [&str; 2] = ["busybox", "toybox"];

/// Folders besides `bin` that an interpreter outside the system folders needs.
const BESIDE_BIN: [&str; 3] = ["lib", "lib64", "libexec"];

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

/// A program that the user named to run a skill's scripts, with the libraries beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedInterpreter {
    name: String,
    program: ApprovedPath,
    libraries: Vec<ApprovedPath>,
}

impl NamedInterpreter {
    /// Finds out what a program is now. It runs scripts whose `#!` line or extension asks for its name.
    ///
    /// # Errors
    ///
    /// Fails with `interpreter_missing` if it is no program: it does not exist, cannot be executed, or is a script
    /// that starts one.
    pub fn resolve(path: &Path, protected: &Protected) -> Result<Self, RunError> {
        let Some(real) = program_at(path) else {
            let message = format!("Not a program: `{}`", path.display());
            let hint = "Name the file of an installed program, not a script that starts it";
            return Err(RunError::new(
                RunErrorKind::InterpreterMissing,
                message,
                hint,
            ));
        };
        let libraries = libraries(&real, protected);
        let resolve = |folder| ApprovedPath::resolve(folder, PathAccess::Read);
        Ok(Self {
            name: file_name(path).to_owned(),
            program: ApprovedPath::resolve(real, PathAccess::Read),
            libraries: libraries.into_iter().map(resolve).collect(),
        })
    }

    /// Returns the program.
    pub fn program(&self) -> &ApprovedPath {
        &self.program
    }

    /// Returns the folders that it is mounted with.
    pub fn libraries(&self) -> &[ApprovedPath] {
        &self.libraries
    }

    /// Returns the program and its folders.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &ApprovedPath> {
        [&self.program].into_iter().chain(&self.libraries)
    }

    fn runs(&self, program: &str) -> bool {
        let same_language =
            is_known(program) && without_version(&self.name) == without_version(program);
        self.name == program || same_language
    }
}

/// An installed interpreter.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The file, with links resolved.
    pub(crate) path: PathBuf,
    /// The name the program sees as its own.
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    /// The folders that a run sees with it.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "mounted on Linux alone")
    )]
    pub(crate) folders: Vec<PathBuf>,
    /// The program and its folders, if the user named it.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "mounted on Linux alone")
    )]
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
    options: &RunOptions,
    script: &ResourcePath,
) -> Result<Installed, RunError> {
    let protected = options.permissions.protected();
    let mut in_home = None;
    for interpreter in candidates {
        let mut named = options.permissions.interpreters().iter();
        if let Some(named) = named.find(|named| named.runs(&interpreter.program)) {
            let opened = named.paths().map(ApprovedPath::open);
            let mut found = Installed::new(named.program.real().to_owned(), interpreter);
            found.named = opened.collect::<Result<_, _>>()?;
            return Ok(found);
        }
        if !is_known(&interpreter.program) && interpreter.program != "uv" {
            continue;
        }
        for folder in options.search.iter().filter(|folder| folder.is_absolute()) {
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

/// Returns the folders with a program's libraries: beside its `bin`, never the entire folder above, which may be a
/// home.
fn libraries(program: &Path, protected: &Protected) -> Vec<PathBuf> {
    let bin = program.parent().filter(|folder| folder.ends_with("bin"));
    let prefix = bin.and_then(Path::parent);
    let prefix = prefix.filter(|prefix| protected.is_free_of_others(prefix));
    let folders = prefix.into_iter().flat_map(|prefix| {
        let folder = |name| prefix.join(name);
        BESIDE_BIN.map(folder)
    });
    let is_folder = |folder: &PathBuf| {
        let found = ApprovedPath::resolve(folder, PathAccess::Read);
        found.kind() == PathKind::Folder && protected.read_exposes(found.real()).is_none()
    };
    folders.filter(is_folder).collect()
}

/// Returns the parts of a home that a script's runs see with its interpreter, read-only, although nobody granted them:
/// the program or its version's folder. Programs that the user [named](NamedInterpreter) are not among them.
pub fn home_folders(script: &Script, options: &RunOptions) -> Vec<PathBuf> {
    let Ok(found) = find(&script.interpreters, options, &script.path) else {
        return Vec::new();
    };
    let home = options.permissions.protected().home_of(&found.path);
    match (home, found.folders.is_empty()) {
        (Some(_), _) if !found.named.is_empty() => Vec::new(),
        (Some(_), true) => vec![found.path],
        (Some(_), false) => found.folders,
        (None, _) => Vec::new(),
    }
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

/// Returns the real path of a program, if there is one. Skips wrapper scripts, as installed by version managers: they
/// need files that the sandbox does not have.
#[expect(
    clippy::disallowed_methods,
    reason = "the path of an installed program, not of a skill"
)]
fn program_at(path: &Path) -> Option<PathBuf> {
    use std::io::Read as _;

    let path = fs::canonicalize(path).ok()?;
    // Opening a pipe would wait for its other end.
    if !fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut file = fs::File::open(&path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata().ok()?.permissions().mode() & 0o111 == 0 {
            return None;
        }
    }
    let mut start = [0; 2];
    let is_program = file.read_exact(&mut start).is_ok() && &start != b"#!";
    is_program.then_some(path)
}

fn file_name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}
