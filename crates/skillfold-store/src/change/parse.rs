//! Parses a unified diff into a change.

use skillfold_core::Error;

use crate::change::header::FileHeader;
use crate::change::parts::{
    Change, FileAction, FileChange, Hunk, HunkLine, MAX_DIFF_BYTES, MAX_FILES, MAX_HUNKS, Mark,
    SKILL_FILE, StatedRange, invalid, quoted,
};
use crate::change::path::check_unique;
use crate::change::surroundings::{find_diff, is_binary, starts_part};

impl Change {
    /// Parses a unified diff.
    ///
    /// ```
    /// use skillfold_store::change::Change;
    ///
    /// let error = Change::parse("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n").unwrap_err();
    /// assert!(error.to_string().starts_with("Invalid `diff`: line 2 names the file `../x`: Path traversal detected"));
    /// ```
    pub fn parse(diff: &str) -> Result<Self, Error> {
        if diff.len() > MAX_DIFF_BYTES {
            return Err(invalid(format!(
                "it is {} KiB long, the limit is {} KiB; propose several smaller changes",
                diff.len().div_ceil(1024),
                MAX_DIFF_BYTES / 1024
            )));
        }
        let mut repairs = Vec::new();
        let mut lines: Vec<&str> = diff.split('\n').collect();
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let range = find_diff(&lines, &mut repairs)?;
        if lines[range.start].ends_with('\r') {
            repairs.push("The lines of the diff end with CRLF, which was read as LF".to_owned());
            for line in &mut lines {
                *line = line.strip_suffix('\r').unwrap_or(line);
            }
        }
        let mut parser = Parser {
            lines: &lines[..range.end],
            next: range.start,
            hunks: 0,
            repairs,
        };
        let files = parser.files()?;
        Ok(Self {
            files,
            repairs: parser.repairs,
        })
    }
}

struct Parser<'a> {
    lines: &'a [&'a str],
    /// The index of the next line to read, which is also the number of the line before it.
    next: usize,
    /// Number of hunks read so far.
    hunks: usize,
    repairs: Vec<String>,
}

impl<'a> Parser<'a> {
    fn files(&mut self) -> Result<Vec<FileChange>, Error> {
        let mut files = Vec::new();
        while self.skip_blank_lines() {
            if files.len() == MAX_FILES {
                return Err(invalid(format!(
                    "line {} starts file {}, the limit is {MAX_FILES}; propose several smaller changes",
                    self.next + 1,
                    MAX_FILES + 1
                )));
            }
            let file = self.file()?;
            check_unique(&file, &files)?;
            files.push(file);
        }
        Ok(files)
    }

    /// Moves to the next non-blank line; returns whether there is one.
    fn skip_blank_lines(&mut self) -> bool {
        while self
            .peek()
            .is_some_and(|line| line.trim_matches([' ', '\t', '\r']).is_empty())
        {
            self.next += 1;
        }
        self.peek().is_some()
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    fn file(&mut self) -> Result<FileChange, Error> {
        let line = self.next + 1;
        let header = self.header()?;
        let (path, action) = header.file(line, self.next)?;
        if header.is_empty() {
            self.repairs.push(format!(
                "Line {line}: no file is named, so the hunks are for `{SKILL_FILE}`"
            ));
        }
        if header.is_executable {
            self.repairs.push(format!(
                "Line {line}: `{path}` is added without the executable bit, which a change cannot set"
            ));
        }
        if action == FileAction::Delete && path.as_str() == SKILL_FILE {
            return Err(invalid(format!(
                "line {line} deletes `{SKILL_FILE}`, without which there is no skill; change it instead"
            )));
        }
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|line| line.starts_with("@@")) {
            hunks.push(self.hunk()?);
        }
        let file = FileChange {
            path,
            action,
            line,
            hunks,
        };
        check_hunks(&file, self.next + 1)?;
        Ok(file)
    }

    fn header(&mut self) -> Result<FileHeader<'a>, Error> {
        let mut header = FileHeader::default();
        while let Some(text) = self.peek() {
            let line = self.next + 1;
            if text.starts_with("@@") {
                break;
            }
            if let Some(names) = text.strip_prefix("diff --git ") {
                if header.git.is_some() {
                    break;
                }
                header.git = Some(names);
            } else if let Some(old) = text.strip_prefix("--- ") {
                let new = self.lines.get(self.next + 1);
                let Some(new) = new.and_then(|next| next.strip_prefix("+++ ")) else {
                    return Err(invalid(format!(
                        "line {line} starts with `---` and the next line does not start with `+++`; write both, with the \
                         file's name or `/dev/null`"
                    )));
                };
                header.names = Some((old, new));
                self.next += 2;
                break;
            } else if is_binary(text) {
                return Err(invalid(format!(
                    "line {line} belongs to a binary patch; only text files can be changed"
                )));
            } else if header.git.is_none() || text.trim().is_empty() {
                break;
            } else {
                header.read_git_line(text, line)?;
            }
            self.next += 1;
        }
        let is_stray = |text: &&str| header.is_empty() && !text.starts_with("@@");
        match self.peek().filter(is_stray) {
            None => Ok(header),
            Some(text) => Err(invalid(format!(
                "line {} is not part of a diff: {}; remove it, or put `--- ` and `+++ ` lines before the hunks of a file",
                self.next + 1,
                quoted(text)
            ))),
        }
    }

    fn hunk(&mut self) -> Result<Hunk, Error> {
        let line = self.next + 1;
        self.hunks += 1;
        if self.hunks > MAX_HUNKS {
            return Err(invalid(format!(
                "line {line} starts hunk {}, the limit is {MAX_HUNKS}; propose several smaller changes",
                self.hunks
            )));
        }
        let header = self.lines[self.next];
        self.next += 1;
        if header.starts_with("@@@") {
            return Err(invalid(format!(
                "line {line} belongs to a combined diff of a merge; write a diff against the skill's files"
            )));
        }
        let stated = stated_ranges(header);
        let counted = stated.and_then(|(old, new)| self.counted_end(old.count, new.count));
        let end = counted.unwrap_or_else(|| self.next_part());
        let lines = self.hunk_lines(end)?;
        let hunk = Hunk {
            line,
            stated: stated.map(|(old, _)| old),
            lines,
        };
        if counted.is_none() {
            self.repairs.push(repaired_header(&hunk, stated));
        }
        Ok(hunk)
    }

    /// Returns where a hunk ends if its header's line counts are correct: the next part or nothing follows.
    fn counted_end(&self, mut old: usize, mut new: usize) -> Option<usize> {
        let mut end = self.next;
        while old > 0 || new > 0 {
            let (of_old, of_new) = match mark(self.lines.get(end)?) {
                Some((Mark::Keep, _)) => (1, 1),
                Some((Mark::Remove, _)) => (1, 0),
                Some((Mark::Add, _)) => (0, 1),
                None if is_newline_note(self.lines[end]) => (0, 0),
                None => return None,
            };
            old = old.checked_sub(of_old)?;
            new = new.checked_sub(of_new)?;
            end += 1;
        }
        if self
            .lines
            .get(end)
            .is_some_and(|line| is_newline_note(line))
        {
            end += 1;
        }
        let rest = self.lines[end..].iter();
        let next = end + rest.take_while(|line| line.trim().is_empty()).count();
        (next == self.lines.len() || starts_part(self.lines, next)).then_some(end)
    }

    /// Returns where the next part starts, excluding blank lines before it.
    fn next_part(&self) -> usize {
        let next = (self.next..self.lines.len()).find(|line| starts_part(self.lines, *line));
        let mut end = next.unwrap_or(self.lines.len());
        while end > self.next && self.lines[end - 1].is_empty() {
            end -= 1;
        }
        end
    }

    fn hunk_lines(&mut self, end: usize) -> Result<Vec<HunkLine>, Error> {
        let mut lines: Vec<HunkLine> = Vec::new();
        while self.next < end {
            let text = self.lines[self.next];
            self.next += 1;
            let line = self.next;
            if let Some((mark, text)) = mark(text) {
                lines.push(HunkLine {
                    mark,
                    text: text.to_owned(),
                    is_terminated: true,
                    line,
                });
            } else if let Some(last) = lines.last_mut().filter(|_| is_newline_note(text)) {
                last.is_terminated = false;
            } else {
                return Err(invalid(format!(
                    "line {line} starts with neither a space, `+` nor `-`: {}; put a space before each unchanged line of \
                     a hunk, also before an empty one",
                    quoted(text)
                )));
            }
        }
        Ok(lines)
    }
}

/// Returns a hunk line's mark and text.
fn mark(line: &str) -> Option<(Mark, &str)> {
    let text = line.get(1..);
    match line.as_bytes().first() {
        // Editors and models drop the leading space of an empty unchanged line.
        None | Some(b'\r') if line.len() <= 1 => Some((Mark::Keep, line)),
        Some(b' ') => Some((Mark::Keep, text?)),
        Some(b'-') => Some((Mark::Remove, text?)),
        Some(b'+') => Some((Mark::Add, text?)),
        _ => None,
    }
}

/// Returns whether a line is `\ No newline at end of file`, in any language.
fn is_newline_note(line: &str) -> bool {
    line.starts_with('\\')
}

/// Reads the old and the new range of a hunk header: `@@ -12,3 +12,4 @@`.
fn stated_ranges(header: &str) -> Option<(StatedRange, StatedRange)> {
    let mut words = header.strip_prefix("@@")?.split_whitespace();
    let mut range = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?;
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some(StatedRange {
            start: start.parse().ok()?,
            count: count.parse().ok()?,
        })
    };
    Some((range('-')?, range('+')?))
}

fn repaired_header(hunk: &Hunk, stated: Option<(StatedRange, StatedRange)>) -> String {
    let line = hunk.line;
    let Some((old, new)) = stated else {
        return format!(
            "Line {line}: the hunk header has no line numbers, so the lines say where the hunk belongs"
        );
    };
    let added = hunk.lines.iter().filter(|line| line.mark != Mark::Remove);
    format!(
        "Line {line}: the hunk header counts {} old and {} new lines, there are {} and {}",
        old.count,
        new.count,
        hunk.old_lines().count(),
        added.count()
    )
}

/// Checks that a file's hunks are valid. `next` is the line after them.
fn check_hunks(file: &FileChange, next: usize) -> Result<(), Error> {
    let path = &file.path;
    if file.hunks.is_empty() && file.action == FileAction::Edit {
        return Err(invalid(format!(
            "there is no hunk for `{path}` at line {next}; write a line such as `@@ -12,3 +12,4 @@` before the changed lines"
        )));
    }
    let only = match file.action {
        FileAction::Create => Some((Mark::Add, "adds", '+')),
        FileAction::Delete => Some((Mark::Remove, "deletes", '-')),
        FileAction::Edit => None,
    };
    if let Some((only, does, sign)) = only {
        if let Some(second) = file.hunks.get(1) {
            return Err(invalid(format!(
                "line {} starts a second hunk of a part that {does} the file `{path}`; write all its lines in one hunk",
                second.line
            )));
        }
        let mut lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        if let Some(line) = lines.find(|line| line.mark != only) {
            return Err(invalid(format!(
                "line {} is not marked with `{sign}` in a part that {does} the file `{path}`; mark all lines, or name the \
                 file after both `---` and `+++` to change it",
                line.line
            )));
        }
    }
    file.hunks.iter().try_for_each(check_hunk)
}

fn check_hunk(hunk: &Hunk) -> Result<(), Error> {
    if hunk.lines.iter().all(|line| line.mark == Mark::Keep) {
        return Err(invalid(format!(
            "line {} starts a hunk that changes nothing; remove it, or mark its changed lines with `-` and `+`",
            hunk.line
        )));
    }
    for (index, line) in hunk.lines.iter().enumerate() {
        let is_after_it = |later: &HunkLine| {
            line.mark == Mark::Keep || later.mark == Mark::Keep || later.mark == line.mark
        };
        if !line.is_terminated && hunk.lines[index + 1..].iter().any(is_after_it) {
            return Err(invalid(format!(
                "line {} says that no newline follows, and the file has more lines; write `\\ No newline at end of file` \
                 only after the last line of the file",
                line.line + 1
            )));
        }
    }
    Ok(())
}
