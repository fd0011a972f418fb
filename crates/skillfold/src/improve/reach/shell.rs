//! The programs that shell text starts: the first words of its commands.
//!
//! It reads what a shell would run, without running or expanding anything. Where a text is not clear, such as a quote that is not
//! closed, it finds too much rather than too little.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::CharIndices;

/// How deep commands in commands are followed.
const MAX_DEPTH: usize = 8;
/// Maximum lines of a document (`<<END`) that is not read as commands.
const MAX_DOCUMENT_LINES: usize = 200;
/// Words before a command.
const KEYWORDS: [&str; 11] = [
    "!", "{", "}", "do", "elif", "else", "if", "then", "time", "until", "while",
];
/// Statements that start no program.
const STATEMENTS: [&str; 48] = [
    ":", "[", "[[", "]]", "alias", "break", "case", "cd", "continue", "declare", "done", "echo",
    "esac", "exit", "export", "false", "fi", "for", "getopts", "hash", "in", "let", "local",
    "mapfile", "popd", "printf", "pushd", "pwd", "read", "readonly", "rem", "return", "select",
    "set", "shift", "shopt", "test", "trap", "true", "typeset", "ulimit", "umask", "unalias",
    "unset", "wait", "REM", "setlocal", "endlocal",
];
/// Programs that start the program named after them.
const STARTERS: [&str; 13] = [
    "builtin", "command", "doas", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "sudo",
    "timeout", "watch", "xargs",
];
/// Their options that have an argument; numbers are skipped anyway.
const ARGUMENT_OPTIONS: [&str; 4] = ["-C", "-I", "-g", "-u"];
/// Programs that run a text given as an argument.
const SHELLS: [&str; 8] = [
    "bash",
    "cmd",
    "dash",
    "fish",
    "ksh",
    "powershell",
    "sh",
    "zsh",
];
const INTERPRETERS: [&str; 9] = [
    "bun",
    "deno",
    "node",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "ruby",
];

/// Returns the programs that shell text starts, each with its line.
pub(super) fn programs(text: &str, first_line: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut functions = BTreeSet::new();
    let lines: Vec<&str> = text.split('\n').collect();
    let mut at = 0;
    while at < lines.len() {
        let number = first_line + at;
        let mut line = lines[at].trim_end_matches('\r').to_owned();
        at += 1;
        while line.ends_with('\\') && at < lines.len() {
            line.pop();
            line.push(' ');
            line.push_str(lines[at].trim_end_matches('\r'));
            at += 1;
        }
        let mut reader = Reader::new(&line, 0);
        reader.statements('\0');
        let is_fed = reader.programs.iter().any(|it| is_shell(it));
        functions.append(&mut reader.functions);
        found.extend(reader.programs.into_iter().map(|it| (number, it)));
        for quoted in reader.documents {
            let end = quoted.trim_matches(['"', '\'', '\\']);
            let mut rest = lines[at..].iter().take(MAX_DOCUMENT_LINES);
            let length = rest.position(|line| line.trim() == end);
            let Some(length) = length.filter(|_| !end.is_empty() && !is_fed) else {
                continue;
            };
            let expanded = lines[at..at + length].iter().filter(|_| end == quoted);
            for (number, line) in (first_line + at..).zip(expanded) {
                let mut reader = Reader::new(line, 0);
                reader.substitutions();
                found.extend(reader.programs.into_iter().map(|it| (number, it)));
            }
            at += length + 1;
        }
    }
    found.retain(|(_, program)| !functions.contains(program));
    found
}

/// Returns the programs that a command starts whose words are known.
pub(super) fn of_words(words: &[String]) -> Vec<String> {
    let mut reader = Reader::new("", 0);
    reader.command(words);
    reader.programs
}

fn is_shell(program: &str) -> bool {
    let word = program.split(' ').next().unwrap_or_default();
    SHELLS.contains(&word.rsplit('/').next().unwrap_or(word))
}

/// A text in a command.
#[derive(Clone, Copy)]
enum Nested {
    /// It is commands.
    Commands,
    /// It is text with commands in it.
    Quoted,
}

/// Reads one line.
struct Reader<'l> {
    line: &'l str,
    chars: Peekable<CharIndices<'l>>,
    depth: usize,
    programs: Vec<String>,
    functions: BTreeSet<String>,
    /// The last lines of the documents that follow (`<<END`), in quotes if these are text only.
    documents: Vec<String>,
}

impl<'l> Reader<'l> {
    fn new(line: &'l str, depth: usize) -> Self {
        Self {
            line,
            chars: line.char_indices().peekable(),
            depth,
            programs: Vec::new(),
            functions: BTreeSet::new(),
            documents: Vec::new(),
        }
    }

    /// Reads statements up to `end`.
    fn statements(&mut self, end: char) {
        let (mut words, mut word, mut open) = (Vec::new(), None::<String>, 0_usize);
        while let Some((at, c)) = self.chars.next() {
            match c {
                c if c == end && open == 0 => break,
                '#' if word.is_none() => break,
                c if c.is_whitespace() => words.extend(word.take()),
                '\'' | '"' if self.quoted(at, c, word.get_or_insert_default()) => {}
                '\\' => word
                    .get_or_insert_default()
                    .extend(self.chars.next().map(|(_, c)| c)),
                '`' | '$' if self.substitution(c) => word.get_or_insert_default().push_str("$(…)"),
                '<' | '>' => {
                    // The number of a stream before it.
                    word = word.filter(|it| it.parse::<u32>().is_err());
                    words.extend(word.take());
                    self.redirection(c);
                }
                '(' if word.is_some() && self.chars.next_if(|(_, c)| *c == ')').is_some() => {
                    self.functions.extend(word.take());
                    words.clear();
                }
                ';' | '&' | '|' | '(' | ')' | '"' | '\'' | '`' => {
                    words.extend(word.take());
                    match c {
                        '(' => open += 1,
                        // The pattern of a `case`.
                        ')' if open == 0 => words.clear(),
                        ')' => open -= 1,
                        _ => {}
                    }
                    self.command(&words);
                    words.clear();
                }
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        self.command(&words);
    }

    /// Reads what is between quotes, and commands in it. Returns whether the quote is closed.
    fn quoted(&mut self, at: usize, quote: char, word: &mut String) -> bool {
        let mut is_escaped = false;
        let inside = &self.line[at + 1..];
        let end = inside.find(|c: char| {
            let is_end = c == quote && !is_escaped;
            is_escaped = quote == '"' && c == '\\' && !is_escaped;
            is_end
        });
        let Some(end) = end else {
            return false;
        };
        let inside = &inside[..end];
        if quote == '"' {
            self.nested(inside, Nested::Quoted);
        }
        word.push_str(inside);
        while self
            .chars
            .next_if(|(offset, _)| *offset <= at + 1 + end)
            .is_some()
        {}
        true
    }

    /// Reads `$(…)` or `` `…` `` and the commands in it. Returns whether it is one.
    fn substitution(&mut self, first: char) -> bool {
        if self.depth >= MAX_DEPTH {
            return false;
        }
        let end = match first {
            '`' => '`',
            _ if self.chars.next_if(|(_, c)| *c == '(').is_some() => ')',
            _ => return false,
        };
        // Arithmetic.
        if let Some((at, _)) = self.chars.next_if(|(_, c)| end == ')' && *c == '(') {
            let inside = self.line[at + 1..].split("))").next().unwrap_or_default();
            self.nested(inside, Nested::Quoted);
            let end = at + 1 + inside.len() + "))".len();
            while self.chars.next_if(|(offset, _)| *offset < end).is_some() {}
            return true;
        }
        self.depth += 1;
        self.statements(end);
        self.depth -= 1;
        true
    }

    /// Reads only the commands in a text that is not a command itself.
    fn substitutions(&mut self) {
        while let Some((_, c)) = self.chars.next() {
            match c {
                '\\' => _ = self.chars.next(),
                '`' | '$' => _ = self.substitution(c),
                _ => {}
            }
        }
    }

    fn nested(&mut self, text: &str, nested: Nested) {
        if self.depth < MAX_DEPTH {
            let mut reader = Reader::new(text, self.depth + 1);
            match nested {
                Nested::Commands => reader.statements('\0'),
                Nested::Quoted => reader.substitutions(),
            }
            self.programs.append(&mut reader.programs);
        }
    }

    /// Reads what follows `<` or `>`: a file, a stream, the end of a document, or a command.
    fn redirection(&mut self, first: char) {
        let mut signs = 1;
        while self.chars.next_if(|(_, c)| *c == first).is_some() {
            signs += 1;
        }
        let is_mark = |c: char| matches!(c, '&' | '|' | '-');
        while self.chars.next_if(|(_, c)| is_mark(*c)).is_some() {}
        if signs == 1 && self.chars.next_if(|(_, c)| *c == '(').is_some() {
            if self.depth < MAX_DEPTH {
                self.depth += 1;
                self.statements(')');
                self.depth -= 1;
            }
            return;
        }
        while self
            .chars
            .next_if(|(_, c)| matches!(c, ' ' | '\t'))
            .is_some()
        {}
        let mut target = String::new();
        let is_part = |c: char| !c.is_whitespace() && !";&|()<>`$".contains(c);
        while let Some((_, c)) = self.chars.next_if(|(_, c)| is_part(*c)) {
            target.push(c);
        }
        if first == '<' && signs == 2 {
            self.documents.push(target);
        }
    }

    /// Adds the programs that a command starts.
    fn command(&mut self, words: &[String]) {
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            let program = word.trim_start_matches(['@', '&', '(']);
            let is_assignment = program.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty()
                    && name
                        .chars()
                        .all(|c| c.is_alphanumeric() || "_+[]$:".contains(c))
            });
            if is_assignment || KEYWORDS.contains(&program) || words.next_if_eq(&"=").is_some() {
                continue;
            }
            if program == "function" {
                self.functions.extend(words.next().map(str::to_owned));
                continue;
            }
            let is_name = program.contains(|c: char| c.is_alphabetic() || c == '$')
                && !program.starts_with('-');
            if STATEMENTS.contains(&program)
                || !is_name && program != "."
                || program.ends_with([':', ','])
            {
                return;
            }
            let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
            if STARTERS.contains(&name) {
                self.programs.push(program.to_owned());
                let is_option =
                    |word: &&str| word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
                while let Some(option) = words.next_if(is_option) {
                    if ARGUMENT_OPTIONS.contains(&option) {
                        words.next();
                    }
                }
                continue;
            }
            self.program(program, name, &words.collect::<Vec<_>>());
            return;
        }
    }

    /// Adds a program, with the option by which it runs a text, and the programs of that text.
    fn program(&mut self, program: &str, name: &str, arguments: &[&str]) {
        let is_shell = SHELLS.contains(&name);
        let versioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_text = |word: &&str| {
            let option = word.strip_prefix(['-', '/']).unwrap_or_default();
            let is_short = option.len() <= 4 && option.ends_with(['c', 'C']);
            let is_long = ["-eval", "command"].contains(&option.to_ascii_lowercase().as_str());
            is_short || is_long || !is_shell && option == "e"
        };
        if name == "eval" {
            self.programs.push("eval".to_owned());
            self.nested(&arguments.join(" "), Nested::Commands);
            return;
        }
        let text = arguments.iter().position(is_text);
        match text.filter(|_| is_shell || INTERPRETERS.contains(&versioned)) {
            Some(at) => {
                self.programs.push(format!("{program} {}", arguments[at]));
                if let Some(text) = arguments.get(at + 1).filter(|_| is_shell) {
                    self.nested(text, Nested::Commands);
                }
            }
            None if program == "." => self.programs.push("source".to_owned()),
            None => self.programs.push(program.to_owned()),
        }
    }
}
