//! Which parts of a file start programs: shell scripts, shell blocks and commands in Markdown, and calls in other languages.

use std::path::Path;

use skillfold_core::load::FileKind;
use skillfold_core::text::truncate_bytes;

use super::kind::ReachKind;
use super::shell;

const SHELL: [&str; 15] = [
    "bash",
    "bat",
    "batch",
    "cmd",
    "console",
    "fish",
    "ksh",
    "powershell",
    "ps1",
    "pwsh",
    "sh",
    "shell",
    "shellscript",
    "terminal",
    "zsh",
];
const CODE: [&str; 21] = [
    "cjs",
    "go",
    "golang",
    "javascript",
    "js",
    "jsx",
    "lua",
    "mjs",
    "perl",
    "php",
    "pl",
    "py",
    "python",
    "python3",
    "r",
    "rb",
    "rs",
    "ruby",
    "rust",
    "ts",
    "typescript",
];
/// Calls that start a program or run a text.
const CALLS: [&str; 27] = [
    "Bun.spawn",
    "Command::new",
    "Deno.Command",
    "Popen",
    "check_call",
    "check_output",
    "child_process.exec",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "eval",
    "exec",
    "exec.Command",
    "execFile",
    "execFileSync",
    "execSync",
    "execlp",
    "execv",
    "execvp",
    "getoutput",
    "popen",
    "shell_exec",
    "spawn",
    "spawnSync",
    "startfile",
    "subprocess.call",
    "subprocess.run",
    "system",
];
/// Programs that reach others, run what they are given, or change rights: named first.
const NOTABLE: [&str; 42] = [
    "aws",
    "base64",
    "bash",
    "certutil",
    "chmod",
    "chown",
    "crontab",
    "curl",
    "dd",
    "docker",
    "eval",
    "exec",
    "gh",
    "git",
    "gcloud",
    "kill",
    "kubectl",
    "launchctl",
    "mkfs",
    "nc",
    "ncat",
    "netcat",
    "npm",
    "npx",
    "openssl",
    "osascript",
    "perl",
    "pip",
    "powershell",
    "pwsh",
    "python",
    "rm",
    "rsync",
    "scp",
    "sh",
    "socat",
    "source",
    "ssh",
    "sudo",
    "systemctl",
    "uvx",
    "wget",
];

/// Maximum bytes of a command in data.
const MAX_VALUE: usize = 1024;
/// Before a command in a block that shows output too.
const PROMPT: &str = "$ ";

/// How a text is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Shell,
    Code,
    Markdown,
    Data,
    /// Text that names no language.
    Unknown,
}

impl Language {
    fn of_name(name: &str) -> Self {
        match name {
            name if SHELL.contains(&name) => Self::Shell,
            name if CODE.contains(&name) => Self::Code,
            _ => Self::Unknown,
        }
    }

    fn of_file(path: &str, text: &str) -> Self {
        let extension = Path::new(path).extension();
        let extension = extension.map(|it| it.to_string_lossy().to_ascii_lowercase());
        let program = interpreter(text).unwrap_or_default();
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match (
            FileKind::from_path(path),
            extension.as_deref().unwrap_or_default(),
        ) {
            (_, name) if SHELL.contains(&name) => Self::Shell,
            _ if SHELL.contains(&program) => Self::Shell,
            (FileKind::Script, _) => Self::Code,
            _ if !program.is_empty() => Self::Code,
            (FileKind::Instructions, _) | (_, "md" | "markdown" | "mdx" | "txt" | "") => {
                Self::Markdown
            }
            (FileKind::Data, _) => Self::Data,
            _ => Self::Unknown,
        }
    }
}

/// Returns the program of a line `#!`.
fn interpreter(text: &str) -> Option<&str> {
    // `#![…]` is an attribute in Rust.
    let line = text
        .strip_prefix("#!")
        .filter(|rest| !rest.starts_with('['))?;
    let words = line.lines().next()?.split_whitespace();
    let mut names = words.filter_map(|word| word.rsplit('/').next());
    names.find(|name| *name != "env" && !name.starts_with('-') && !name.contains('='))
}

/// Returns whether a file is a program in another language than a shell's.
pub(super) fn is_code(path: &str, text: &str) -> bool {
    Language::of_file(path, text) == Language::Code
}

/// Returns whether a command is one to look at first.
pub(super) fn is_notable(command: &str) -> bool {
    let program = command.split(' ').next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or(program);
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    NOTABLE.contains(&name) || NOTABLE.contains(&unversioned) || command.contains(['$', '('])
}

/// Returns the commands that a file starts, each with its line.
pub(super) fn starts_in(path: &str, text: &str) -> Vec<(ReachKind, usize, String)> {
    let mut found = Vec::new();
    if let Some(program) = interpreter(text) {
        found.push((ReachKind::Command, 1, program.to_owned()));
    }
    read(Language::of_file(path, text), text, 1, &mut found);
    found
}

fn read(
    language: Language,
    text: &str,
    first_line: usize,
    found: &mut Vec<(ReachKind, usize, String)>,
) {
    let mut add = |commands: Vec<(usize, String)>| {
        let commands = commands.into_iter();
        found.extend(commands.map(|(line, command)| (ReachKind::Command, line, command)));
    };
    match language {
        Language::Shell => add(shell::programs(text, first_line)),
        Language::Code => add(calls(text, first_line)),
        Language::Data => add(command_fields(text)),
        Language::Markdown => {
            add(command_fields(text));
            read_markdown(text, found);
        }
        Language::Unknown => {
            // Output and examples look like commands too, so only those that matter most count.
            let mut programs = shell::programs(text, first_line);
            programs.retain(|(_, program)| is_notable(program) && !program.starts_with('$'));
            add(programs);
        }
    }
}

/// Finds the commands in Markdown: those that run when it is loaded, and the blocks between fences.
fn read_markdown(text: &str, found: &mut Vec<(ReachKind, usize, String)>) {
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        for (start, _) in line.match_indices("!`") {
            // After a letter or a backtick it ends a sentence or a code span.
            let is_text = |c: char| c.is_alphanumeric() || c == '`';
            if let Some((command, _)) = line[start + 2..].split_once('`')
                && !line[..start].ends_with(is_text)
            {
                found.push((ReachKind::LoadCommand, at, command.trim().to_owned()));
            }
        }
        let Some((fence, language)) = opening(line) else {
            continue;
        };
        let rest = &lines[at..];
        let is_close = |line: &&str| {
            let line = unquoted(line).trim_end();
            line.len() >= fence.len() && line.chars().all(|c| fence.starts_with(c))
        };
        let length = rest.iter().position(is_close).unwrap_or(rest.len());
        let block = rest[..length].iter().map(|line| unquoted(line));
        let prompted: Vec<bool> = block.clone().map(|line| line.starts_with(PROMPT)).collect();
        let block: Vec<&str> = block
            .map(|line| line.strip_prefix(PROMPT).unwrap_or(line))
            .collect();
        if language == "!" {
            let commands = (at + 1..)
                .zip(&block)
                .filter(|(_, line)| !line.trim().is_empty());
            found
                .extend(commands.map(|(number, line)| {
                    (ReachKind::LoadCommand, number, line.trim().to_owned())
                }));
        } else {
            let mut commands = Vec::new();
            read(
                Language::of_name(&language),
                &block.join("\n"),
                at + 1,
                &mut commands,
            );
            // Where lines have a prompt, the others are output.
            let is_command = |line: usize| !prompted.contains(&true) || prompted[line - at - 1];
            commands.retain(|(_, line, command)| is_command(*line) || is_notable(command));
            found.extend(commands);
        }
        at += length + 1;
    }
}

/// Returns the fence and the language of a line that opens a block.
fn opening(line: &str) -> Option<(&str, String)> {
    let line = unquoted(line);
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let fence = &line[..line.len() - rest.len()];
    if fence.len() < 3 || sign == '`' && rest.contains('`') {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '{', '.']);
    if rest.starts_with('!') {
        return Some((fence, "!".to_owned()));
    }
    let language = rest.split(|c: char| !c.is_alphanumeric()).next();
    Some((fence, language.unwrap_or_default().to_lowercase()))
}

/// Returns a line without its indent and the marks of a quote.
fn unquoted(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>'])
}

/// Finds the commands of hooks and servers in data: fields with the name `command`.
fn command_fields(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        for (at, _) in line.match_indices("command") {
            let before = line[..at].trim_end_matches(['"', '\'']);
            let rest = line[at + "command".len()..].trim_start_matches(['"', '\'']);
            let Some(value) = rest.strip_prefix([':', '=']) else {
                continue;
            };
            let is_key = before.is_empty() || before.ends_with([' ', '\t', '{', ',', '-']);
            let value = truncate_bytes(value, MAX_VALUE).trim();
            let value = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
                _ => value,
            };
            if is_key {
                found.extend(shell::programs(value, number));
            }
        }
    }
    found
}

/// Finds the calls in other languages that start a program. What is not written out is shown as `system(…)`.
fn calls(text: &str, first_line: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut line, mut counted) = (first_line, 0);
    for (at, _) in text.match_indices('(') {
        line += text[counted..at].matches('\n').count();
        counted = at;
        let Some(call) = call_before(&text[..at]) else {
            continue;
        };
        let words = literals(&text[at + 1..]);
        let programs = match &*words {
            [] => vec![format!("{call}(…)")],
            [text] => shell::programs(text, line)
                .into_iter()
                .map(|(_, it)| it)
                .collect(),
            words => shell::of_words(words),
        };
        found.extend(programs.into_iter().map(|program| (line, program)));
    }
    found
}

fn call_before(text: &str) -> Option<&'static str> {
    let is_call = |call: &&&str| {
        text.strip_suffix(**call).is_some_and(|before| {
            let last = before.chars().next_back();
            let is_method = last == Some('.') && matches!(**call, "exec" | "eval");
            let is_defined = before.ends_with("def ")
                || before.ends_with("function ")
                || before.ends_with("fn ");
            !is_method && !is_defined && !last.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    };
    // The longest says most.
    CALLS
        .iter()
        .filter(is_call)
        .max_by_key(|call| call.len())
        .copied()
}

/// Returns the texts that a call starts with: one, or those of a list and of the next arguments.
fn literals(text: &str) -> Vec<String> {
    const MAX_WORDS: usize = 8;
    let mut words = Vec::new();
    let mut rest = text;
    while words.len() < MAX_WORDS {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "[(,&".contains(c));
        let literal = rest.trim_start_matches(['f', 'r', 'b', 'u', 'F', 'R']);
        let Some(quote) = literal.chars().next().filter(|c| "\"'`".contains(*c)) else {
            break;
        };
        let inside = literal.trim_start_matches(quote);
        let Some((word, after)) = inside.split_once(quote) else {
            break;
        };
        words.push(word.to_owned());
        rest = after.trim_start_matches(quote);
        if rest.trim_start().starts_with([']', ')']) {
            break;
        }
    }
    words
}
