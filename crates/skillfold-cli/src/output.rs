//! Where data and talk go.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use skillfold::core::{Code, Diagnostic, Severity, hidden_characters, visible};
use skillfold::view::{Document, printable_json};

use crate::arguments::Arguments;
use crate::failure::Failure;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Data goes to stdout, talk to stderr. Colours are left out where nobody sees them.
pub(crate) struct Output {
    data: Buffered,
    talk: anstream::Stderr,
    is_json: bool,
}

/// What is written line by line is passed on in larger parts.
struct Buffered {
    stream: AutoStream<io::Stdout>,
    text: Vec<u8>,
}

impl Output {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        Self {
            data: Buffered {
                stream: anstream::stdout(),
                text: Vec::new(),
            },
            talk: anstream::stderr(),
            is_json: arguments.is_json(),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Prints a line of data.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        self.text(&format!("{}\n", printable(&line.to_string())))
    }

    /// Prints what the person is asked about: data, or talk where data is JSON.
    pub(crate) fn show(&mut self, line: impl Display) -> Result<(), Failure> {
        if self.is_json {
            self.say(line);
            return Ok(());
        }
        self.line(line)
    }

    /// Prints text of the command's own as it is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.data.text.extend_from_slice(text.as_bytes());
        self.pass_on(1 << 16)
    }

    /// Prints text of a skill: to a program byte by byte as it is, to a person with what a terminal would act on made
    /// visible.
    pub(crate) fn foreign(&mut self, bytes: &[u8]) -> Result<(), Failure> {
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

    pub(crate) fn json(&mut self, document: Document) -> Result<(), Failure> {
        self.text(&document.to_json())
    }

    /// Prints a part of a JSON text.
    pub(crate) fn json_part(&mut self, json: &str) -> Result<(), Failure> {
        self.text(&printable_json(json))
    }

    /// Says something that is no data. What cannot be said is no reason to fail.
    pub(crate) fn say(&mut self, line: impl Display) {
        let _ = self.pass_on(0);
        let _ = writeln!(self.talk, "{}", printable(&line.to_string()));
    }

    /// Says something and stays on the line.
    pub(crate) fn say_open(&mut self, text: impl Display) {
        let _ = self.finish();
        let text = text.to_string();
        let _ = write!(self.talk, "{}", printable(&text)).and_then(|()| self.talk.flush());
    }

    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.pass_on(0)?;
        Ok(self.data.stream.flush()?)
    }

    fn pass_on(&mut self, when_over: usize) -> Result<(), Failure> {
        if self.data.text.len() > when_over {
            self.data.stream.write_all(&self.data.text)?;
            self.data.text.clear();
        }
        Ok(())
    }
}

/// Returns a text as it may go to a terminal, whoever forgot to ask what is in it: control and invisible characters are
/// escaped but for line ends, tabs, and the colours that the command paints with.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_own = |(offset, c): &(usize, char)| match c {
        '\n' | '\t' => true,
        '\u{1b}' => is_colour(&text[*offset..]),
        _ => false,
    };
    let (mut shown, mut copied) = (String::new(), 0);
    for (offset, c) in hidden_characters(text).filter(|found| !is_own(found)) {
        shown.push_str(&text[copied..offset]);
        shown.extend(c.escape_unicode());
        copied = offset + c.len_utf8();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

/// Returns whether an escape sets what the command sets: a colour of letters, bold, dim, underlined, or none. Nothing of it moves the
/// cursor or hides text.
fn is_colour(text: &str) -> bool {
    let code = text
        .strip_prefix("\u{1b}[")
        .and_then(|rest| rest.split_once('m'));
    let code = code.and_then(|(code, _)| code.parse::<u8>().ok());
    matches!(code, Some(0..=2 | 4 | 31..=37 | 91..=97))
}

/// Returns a text in a style.
pub(crate) fn painted(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

pub(crate) fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Error => BAD,
        Severity::Warning => WARN,
        _ => DIM,
    }
}

/// Returns a finding on one line, with its place where it has one.
pub(crate) fn finding(diagnostic: &Diagnostic) -> String {
    let head = format!("{}[{}]", diagnostic.severity, diagnostic.code);
    let head = painted(style_of(diagnostic.severity), head);
    match diagnostic.span {
        Some(span) => format!("{head} at {}: {}", span.start, diagnostic.message),
        None => format!("{head}: {}", diagnostic.message),
    }
}

/// Says what there is to say beside the data, each with the way out.
pub(crate) fn say_all<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    output: &mut Output,
) {
    for diagnostic in diagnostics {
        output.say(finding(diagnostic));
        output.say(format!("{}: {}", painted(DIM, "hint"), diagnostic.hint()));
    }
}

/// Prints findings in the order of their place, each with the way out.
pub(crate) fn findings<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    indent: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut diagnostics: Vec<_> = diagnostics.into_iter().collect();
    // What has no place stands last, as it came.
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.is_none(), diagnostic.span));
    for diagnostic in diagnostics {
        output.line(format!("{indent}{}", finding(diagnostic)))?;
        let hint = painted(DIM, "hint");
        output.line(format!("{indent}{hint}: {}", diagnostic.hint()))?;
    }
    Ok(())
}

/// Findings that are not shown one by one, counted by what they are.
#[derive(Default)]
pub(crate) struct Unshown {
    numbers: BTreeMap<(Reverse<Severity>, Code), usize>,
}

impl Unshown {
    pub(crate) fn add(&mut self, finding: &Diagnostic) {
        let kind = (Reverse(finding.severity), finding.code);
        *self.numbers.entry(kind).or_default() += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Prints a line for each kind, the worst first.
    pub(crate) fn print(&self, indent: &str, output: &mut Output) -> Result<(), Failure> {
        for ((Reverse(severity), code), number) in &self.numbers {
            let head = painted(style_of(*severity), format!("{severity}[{code}]"));
            output.show(format!(
                "{indent}{number} more {head}: {}",
                code.description()
            ))?;
        }
        Ok(())
    }
}

/// Returns a path as it may be shown.
pub(crate) fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// Returns a number with its word.
pub(crate) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::{BAD, BOLD, DIM, GOOD, WARN, painted, printable};
    use skillfold::core::is_invisible;

    #[test]
    fn nothing_but_our_colours_gets_to_a_terminal() {
        for style in [BOLD, DIM, GOOD, WARN, BAD] {
            let own = painted(style, "a\tb\n⚠\u{fe0f}");
            assert_eq!(printable(&own), own);
        }
        for c in ('\0'..=char::MAX).filter(|c| c.is_control() || is_invisible(*c)) {
            let is_own = matches!(c, '\n' | '\t');
            assert_eq!(printable(&format!("a{c}b")).contains(c), is_own, "{c:?}");
        }
        let obeyed = [
            "\u{1b}[8m",
            "\u{1b}[30m",
            "\u{1b}[2J",
            "\u{1b}[1;1H",
            "\u{1b}]0;x\u{7}",
            "\u{9b}1m",
            "\u{1b}[0;5m",
        ];
        for text in obeyed {
            assert!(!printable(text).contains(['\u{1b}', '\u{9b}']), "{text:?}");
        }
    }
}
