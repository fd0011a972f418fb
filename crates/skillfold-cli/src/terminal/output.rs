//! Writes data to stdout and messages to stderr.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use skillfold::core::Diagnostic;
use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::text::hidden_characters;
use skillfold::view::{Document, printable_json};
use terminal_size::terminal_size;
use textwrap::core::display_width;

use crate::arguments::Arguments;
use crate::failure::{CommandResult, Failure};
use crate::terminal::progress;
use crate::terminal::table::{Table, wrap_at, wrap_lines};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// The command's output: data goes to stdout, messages to stderr. Colours are dropped if the stream does not support
/// them.
pub(crate) struct Output {
    stdout: BufferedStdout,
    stderr: anstream::Stderr,
    is_json: bool,
    is_quiet: bool,
    /// The columns of the terminal that stdout is; none for a file or a pipe.
    columns: Option<usize>,
    /// The same for stderr.
    message_columns: Option<usize>,
}

/// Collects lines and writes them to stdout in larger chunks.
struct BufferedStdout {
    stream: AutoStream<io::Stdout>,
    buffer: Vec<u8>,
}

impl Output {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        Self {
            stdout: BufferedStdout {
                stream: anstream::stdout(),
                buffer: Vec::new(),
            },
            stderr: anstream::stderr(),
            is_json: arguments.is_json(),
            is_quiet: arguments.global.quiet,
            columns: terminal_columns(&io::stdout()),
            message_columns: terminal_columns(&io::stderr()),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Returns the columns of the terminal that data is printed on; none if it is a file or a pipe.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Prints a line of data. On a terminal it is wrapped.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        let line = line.to_string();
        let line = printable(&line);
        let line = match self.columns {
            Some(columns) => wrap_lines(&line, columns),
            None => line,
        };
        self.text(&format!("{line}\n"))
    }

    /// Prints a name and its value. On a terminal, what does not fit goes on below the value.
    pub(crate) fn field(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let line = format!("{name}  {value}");
        let line = match self.columns {
            Some(columns) => wrap_at(&line, display_width(name) + 2, columns),
            None => line,
        };
        self.drawing(line)
    }

    /// Prints lines whose layout must stay, such as a drawn excerpt or a difference.
    pub(crate) fn drawing(&mut self, lines: impl Display) -> Result<(), Failure> {
        self.text(&format!("{}\n", printable(&lines.to_string())))
    }

    /// Prints a table that fits the terminal.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), Failure> {
        let columns = self.columns;
        let mut lines = table.lines(columns).into_iter();
        lines.try_for_each(|line| self.drawing(line))
    }

    /// Prints a line, whose layout must stay, of what the user is asked to confirm.
    pub(crate) fn show_drawing(&mut self, line: impl Display) -> Result<(), Failure> {
        if self.is_json {
            self.say(line);
            return Ok(());
        }
        self.drawing(line)
    }

    /// Prints a table of what the user is asked to confirm.
    pub(crate) fn show_table(&mut self, table: &Table) -> Result<(), Failure> {
        let mut lines = table.lines(self.columns).into_iter();
        lines.try_for_each(|line| self.show_drawing(line))
    }

    /// Prints what the user is asked to confirm: as data, or as a message if the data is JSON.
    pub(crate) fn show(&mut self, line: impl Display) -> Result<(), Failure> {
        if self.is_json {
            self.say(line);
            return Ok(());
        }
        self.line(line)
    }

    /// Returns whether lines that were shown, and a question after them, are on the user's screen at once.
    pub(crate) fn shows_whole(&self, lines: &[String]) -> bool {
        // The question, and what may be said before it.
        const BELOW: usize = 4;
        let (wrapped_at, is_seen) = if self.is_json {
            (self.message_columns, io::stderr().is_terminal())
        } else {
            (self.columns, io::stdout().is_terminal())
        };
        let (columns, rows) = match terminal_size() {
            Some((columns, rows)) => (usize::from(columns.0), usize::from(rows.0)),
            None => DEFAULT_SIZE,
        };
        let rows_of = |line: &str| display_width(line).div_ceil(columns.max(1)).max(1);
        let wrapped_at = wrapped_at.unwrap_or(columns);
        let needed: usize = (lines.iter())
            .map(|line| {
                wrap_lines(line, wrapped_at)
                    .lines()
                    .map(rows_of)
                    .sum::<usize>()
            })
            .sum();
        lines.is_empty() || is_seen && needed + BELOW <= rows
    }

    /// Prints the command's own text unchanged.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.stdout.buffer.extend_from_slice(text.as_bytes());
        self.flush_above(1 << 16)
    }

    /// Prints text of a skill: unchanged to a program; on a terminal, with control and invisible characters made
    /// visible.
    pub(crate) fn skill_text(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.finish()?;
        let mut stdout = io::stdout().lock();
        if stdout.is_terminal() {
            let text = String::from_utf8_lossy(bytes);
            for line in text.split_inclusive('\n') {
                let line = line.replace('\t', "    ");
                let (line, end) = line
                    .strip_suffix('\n')
                    .map_or((&*line, ""), |line| (line, "\n"));
                write!(stdout, "{}{end}", visible(line))?;
            }
            if !text.ends_with('\n') {
                writeln!(stdout)?;
            }
        } else {
            stdout.write_all(bytes)?;
        }
        Ok(stdout.flush()?)
    }

    /// Prints a JSON document. Returns the exit code of a command that ends with it.
    pub(crate) fn json(&mut self, document: Document) -> CommandResult {
        self.text(&document.to_json())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints a part of a JSON document.
    pub(crate) fn json_part(&mut self, json: &str) -> Result<(), Failure> {
        self.text(&printable_json(json))
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Prints messages from now on, also with `--quiet`: the command failed.
    pub(crate) fn speak_up(&mut self) {
        self.is_quiet = false;
    }

    /// Prints a message to stderr, unless the command is to be quiet. A write error is ignored.
    pub(crate) fn say(&mut self, line: impl Display) {
        if !self.is_quiet {
            self.say_problem(line);
        }
    }

    /// Prints to stderr what did not work, also with `--quiet`. A write error is ignored.
    pub(crate) fn say_problem(&mut self, line: impl Display) {
        let _ = self.flush_above(0);
        progress::clear();
        let line = line.to_string();
        let line = printable(&line);
        let line = match self.message_columns {
            Some(columns) => wrap_lines(&line, columns),
            None => line,
        };
        let _ = writeln!(self.stderr, "{line}");
    }

    /// Prints a message without a line break.
    pub(crate) fn say_inline(&mut self, text: impl Display) {
        let _ = self.finish();
        progress::clear();
        let text = text.to_string();
        let _ = write!(self.stderr, "{}", printable(&text)).and_then(|()| self.stderr.flush());
    }

    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        progress::clear();
        self.flush_above(0)?;
        Ok(self.stdout.stream.flush()?)
    }

    fn flush_above(&mut self, bytes: usize) -> Result<(), Failure> {
        if self.stdout.buffer.len() > bytes {
            progress::clear();
            self.stdout.stream.write_all(&self.stdout.buffer)?;
            self.stdout.buffer.clear();
        }
        Ok(())
    }
}

/// The fewest columns that output is fitted to; a terminal that says less is not believed.
const MIN_COLUMNS: usize = 40;

/// The columns and rows of a terminal that does not say.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

fn terminal_columns(stream: &impl IsTerminal) -> Option<usize> {
    let (columns, _) = terminal_size().filter(|_| stream.is_terminal())?;
    Some(usize::from(columns.0).max(MIN_COLUMNS))
}

/// Escapes control and invisible characters, except line ends, tabs, and the styles that the command itself uses. This
/// protects the terminal even if a caller forgot to escape.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_own = |(offset, c): &(usize, char)| match c {
        '\n' | '\t' => true,
        '\u{1b}' => is_own_style(&text[*offset..]),
        _ => false,
    };
    let (mut escaped, mut copied) = (String::new(), 0);
    for (offset, c) in hidden_characters(text).filter(|item| !is_own(item)) {
        escaped.push_str(&text[copied..offset]);
        escaped.extend(c.escape_unicode());
        copied = offset + c.len_utf8();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

/// Returns whether an escape sequence is one that the command itself uses: a text colour, bold, dim, underline or
/// reset. None of them moves the cursor or hides text.
fn is_own_style(text: &str) -> bool {
    let code = text
        .strip_prefix("\u{1b}[")
        .and_then(|rest| rest.split_once('m'));
    let code = code.and_then(|(code, _)| code.parse::<u8>().ok());
    matches!(code, Some(0..=2 | 4 | 31..=37 | 91..=97))
}

/// Returns a text in a style.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

pub(crate) fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => BAD,
        Severity::Warning => WARN,
        _ => DIM,
    }
}

/// Formats a finding on one line, with its position if it has one.
pub(crate) fn format_finding(diagnostic: &Diagnostic) -> String {
    let head = format!("{}[{}]", diagnostic.severity, diagnostic.code);
    let head = paint(severity_style(diagnostic.severity), head);
    match diagnostic.span {
        Some(span) => format!("{head} at {}: {}", span.start, diagnostic.message),
        None => format!("{head}: {}", diagnostic.message),
    }
}

/// Prints diagnostics to stderr, each with its hint.
pub(crate) fn say_diagnostics<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    output: &mut Output,
) {
    for diagnostic in diagnostics {
        output.say(format_finding(diagnostic));
        output.say(format!("{}: {}", paint(DIM, "hint"), diagnostic.hint()));
    }
}

/// Prints findings in the order of their positions, each with its hint.
pub(crate) fn print_findings<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    indent: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut diagnostics: Vec<_> = diagnostics.into_iter().collect();
    // Findings without a position come last, in their original order.
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.is_none(), diagnostic.span));
    for diagnostic in diagnostics {
        output.line(format!("{indent}{}", format_finding(diagnostic)))?;
        let hint = paint(DIM, "hint");
        output.line(format!("{indent}{hint}: {}", diagnostic.hint()))?;
    }
    Ok(())
}

/// Returns a path with control and invisible characters made visible.
pub(crate) fn display_path(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// Returns a number with its noun in the singular or plural.
pub(crate) fn pluralize(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::{BAD, BOLD, DIM, GOOD, WARN, paint, printable};
    use skillfold::core::text::is_invisible;

    #[test]
    fn only_our_own_colours_reach_a_terminal() {
        for style in [BOLD, DIM, GOOD, WARN, BAD] {
            let styled = paint(style, "a\tb\n⚠\u{fe0f}");
            assert_eq!(printable(&styled), styled);
        }
        for c in ('\0'..=char::MAX).filter(|c| c.is_control() || is_invisible(*c)) {
            let is_own = matches!(c, '\n' | '\t');
            assert_eq!(printable(&format!("a{c}b")).contains(c), is_own, "{c:?}");
        }
        let dangerous = [
            "\u{1b}[8m",
            "\u{1b}[30m",
            "\u{1b}[2J",
            "\u{1b}[1;1H",
            "\u{1b}]0;x\u{7}",
            "\u{9b}1m",
            "\u{1b}[0;5m",
        ];
        for text in dangerous {
            assert!(!printable(text).contains(['\u{1b}', '\u{9b}']), "{text:?}");
        }
    }
}
