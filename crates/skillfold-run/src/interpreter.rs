//! Picks the program that runs a script: by its shebang, else by its extension.

use skillfold_core::name::ResourcePath;

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

/// Other programs that a shebang may name.
const OTHERS: [&str; 14] = [
    "awk", "dash", "env", "fish", "gawk", "julia", "ksh", "lua", "mawk", "php", "pwsh", "Rscript",
    "tclsh", "zsh",
];

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

impl Interpreter {
    /// Returns whether it is one that Skillfold knows. Any other runs only if the user
    /// [named](crate::Permissions::with_interpreter) it.
    pub fn is_known(&self) -> bool {
        is_known(&self.program)
    }
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

/// Returns whether a program is one that Skillfold knows, any version.
pub(crate) fn is_known(program: &str) -> bool {
    let name = without_version(program);
    let words = BY_EXTENSION.iter().flat_map(|(_, programs)| *programs);
    let known = words.filter_map(|words| words.first());
    let mut known = known.chain(&OTHERS);
    known.any(|known| without_version(known) == name)
}

/// Returns a program's name without the version at its end: `python` for `python3.12`.
pub(crate) fn without_version(program: &str) -> &str {
    program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-')
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
