//! Applies a change to a skill's files, in memory.

use std::collections::BTreeMap;

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;

use crate::change::locate::{BOM, locate};
use crate::change::parts::{
    Change, FileAction, FileChange, Hunk, HunkLine, MAX_FILE_BYTES, Mark, StatedRange, invalid,
};

/// How a change edits one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEdit {
    /// The path inside the skill.
    pub path: ResourcePath,
    /// The content before; `None` if the file is new.
    pub old: Option<Vec<u8>>,
    /// The content after; `None` if the file is deleted.
    pub new: Option<Vec<u8>>,
}

impl FileEdit {
    /// Creates an edit.
    pub fn new(path: ResourcePath, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> Self {
        Self { path, old, new }
    }
}

/// The effect of a change on a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The changed files, in diff order.
    pub edits: Vec<FileEdit>,
    /// How the diff was adjusted to fit the files, one sentence each. Adjustments made without looking at the files are
    /// in [`Change::repairs`].
    pub repairs: Vec<String>,
}

impl Change {
    /// Applies the change to the files returned by `read`; `None` means there is no such file.
    ///
    /// Applies all of the change or nothing. A change that leaves every file as is is an error.
    pub fn apply(
        &self,
        mut read: impl FnMut(&str) -> Result<Option<Vec<u8>>, Error>,
    ) -> Result<Applied, Error> {
        let mut applied = Applied::default();
        for file in &self.files {
            let path = &file.path;
            let old = read(path.as_str())?;
            let text = old.as_deref().map(|old| text_of(old, path)).transpose()?;
            let new = file.apply(text, &mut applied.repairs)?;
            if new.as_ref().is_some_and(|new| new.len() > MAX_FILE_BYTES) {
                return Err(too_large(path));
            }
            if new.as_deref() == text {
                let repair =
                    format!("`{path}` is unchanged: the added lines equal the removed ones");
                applied.repairs.push(repair);
            } else {
                let new = new.map(String::into_bytes);
                applied.edits.push(FileEdit::new(path.clone(), old, new));
            }
        }
        if applied.edits.is_empty() {
            return Err(invalid(
                "it changes nothing: the added lines equal the removed ones; write the new text after `+`",
            ));
        }
        Ok(applied)
    }
}

fn text_of<'t>(content: &'t [u8], path: &ResourcePath) -> Result<&'t str, Error> {
    if content.len() > MAX_FILE_BYTES {
        return Err(too_large(path));
    }
    str::from_utf8(content).map_err(|error| {
        let offset = error.valid_up_to();
        invalid(format!(
            "`{path}` is not UTF-8 text, at byte {offset}; only text files can be changed"
        ))
    })
}

fn too_large(path: &ResourcePath) -> Error {
    invalid(format!(
        "`{path}` is larger than {} MiB, the limit for changes; split the file",
        MAX_FILE_BYTES / (1024 * 1024)
    ))
}

impl FileChange {
    fn apply(&self, old: Option<&str>, repairs: &mut Vec<String>) -> Result<Option<String>, Error> {
        let (path, line) = (&self.path, self.line);
        match (self.action, old) {
            (FileAction::Create, None) => {
                let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
                Ok(Some(lines.map(HunkLine::as_written).collect()))
            }
            (FileAction::Create, Some(_)) => Err(invalid(format!(
                "line {line} adds `{path}`, which exists; write `--- a/{path}` and `+++ b/{path}` to change it"
            ))),
            (FileAction::Edit | FileAction::Delete, None) => Err(invalid(format!(
                "line {line} is about `{path}`, which does not exist; correct the path, which starts in the skill's folder, \
                 or write `--- /dev/null` and `+++ b/{path}` to add the file"
            ))),
            (FileAction::Edit, Some(old)) => self.edit(old, repairs).map(Some),
            (FileAction::Delete, Some(old)) if self.hunks.is_empty() => {
                if !old.is_empty() {
                    repairs.push(format!(
                        "Line {line}: `{path}` is deleted, and the diff does not list its lines"
                    ));
                }
                Ok(None)
            }
            (FileAction::Delete, Some(old)) => {
                let rest = self.edit(old, repairs)?;
                if rest.is_empty() {
                    return Ok(None);
                }
                let (all, rest) = (old.lines().count(), rest.lines().count());
                Err(invalid(format!(
                    "line {line} deletes `{path}` and lists {} of its {all} lines with `-`; list all of them, or name the file \
                     after `+++` to keep the others",
                    all - rest
                )))
            }
        }
    }

    fn edit(&self, old: &str, repairs: &mut Vec<String>) -> Result<String, Error> {
        let mut edits = LineEdits::new(old);
        for hunk in &self.hunks {
            let start = locate(hunk, &edits.old, &self.path)?;
            let stated = hunk.stated.map(StatedRange::lines_before);
            if let Some(stated) = stated.filter(|stated| *stated != start) {
                repairs.push(format!(
                    "Line {}: the header says line {}, the lines are at line {} of `{}`",
                    hunk.line,
                    stated.saturating_add(1),
                    start + 1,
                    self.path
                ));
            }
            edits.add_hunk(hunk, start)?;
        }
        let (new, more) = edits.finish();
        repairs.extend(
            more.into_iter()
                .map(|repair| format!("`{}` {repair}", self.path)),
        );
        Ok(new)
    }
}

impl HunkLine {
    fn as_written(&self) -> String {
        let end = if self.is_terminated { "\n" } else { "" };
        format!("{}{end}", self.text)
    }
}

/// The edits to a file's lines.
struct LineEdits<'a> {
    /// The old lines, each with its line feed.
    old: Vec<&'a str>,
    /// What the hunks do with each old line.
    marks: Vec<Option<Mark>>,
    /// Lines to add, keyed by the index of the line they precede, with the hunk's line number in the diff.
    added: BTreeMap<usize, (usize, Vec<&'a HunkLine>)>,
    /// Whether any hunk line ends with CRLF.
    shows_crlf: bool,
    /// Whether the hunks' line endings differ from the file's.
    line_endings_differ: bool,
    /// Whether the hunks and the file disagree on the final newline.
    final_newline_differs: bool,
    repairs: Vec<&'static str>,
}

impl<'a> LineEdits<'a> {
    fn new(old: &'a str) -> Self {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        Self {
            marks: vec![None; old.len()],
            old,
            added: BTreeMap::new(),
            shows_crlf: false,
            line_endings_differ: false,
            final_newline_differs: false,
            repairs: Vec::new(),
        }
    }

    /// Records a hunk whose old lines start at `start`.
    fn add_hunk(&mut self, hunk: &'a Hunk, start: usize) -> Result<(), Error> {
        let mut index = start;
        for line in &hunk.lines {
            self.shows_crlf |= line.text.ends_with('\r');
            let is_free = if line.mark == Mark::Add {
                let entry = self.added.entry(index);
                let (owner, lines) = entry.or_insert_with(|| (hunk.line, Vec::new()));
                lines.push(line);
                *owner == hunk.line
            } else {
                let old = self.old[index];
                let text = old.strip_suffix('\n').unwrap_or(old);
                self.line_endings_differ |= line.text.ends_with('\r') != text.ends_with('\r');
                self.final_newline_differs |= line.is_terminated != old.ends_with('\n');
                if line.mark == Mark::Remove && old.starts_with(BOM) && !line.text.starts_with(BOM)
                {
                    self.repairs
                        .push("loses a byte-order mark, which the diff does not show");
                }
                let earlier = self.marks[index].replace(line.mark);
                index += 1;
                // Two hunks may share an unchanged line.
                earlier.is_none() || (earlier, line.mark) == (Some(Mark::Keep), Mark::Keep)
            };
            if !is_free {
                return Err(invalid(format!(
                    "line {} is about the same place as an earlier hunk; join the two hunks",
                    line.line
                )));
            }
        }
        Ok(())
    }

    /// Returns the new text, and how the file differed from the diff.
    fn finish(&self) -> (String, Vec<&'static str>) {
        let has_crlf = self.old.iter().any(|line| line.ends_with("\r\n"));
        let keeps_ends = self.line_endings_differ || (has_crlf && !self.shows_crlf);
        let mut has_new_ends = self.line_endings_differ;
        let mut joiner = LineJoiner::default();
        for index in 0..=self.old.len() {
            let added = self.added.get(&index).map_or(&[][..], |(_, lines)| lines);
            for line in added {
                let mut text = line.as_written();
                if keeps_ends && line.is_terminated {
                    let start = line.text.strip_suffix('\r').unwrap_or(&line.text);
                    text = format!("{start}{}", self.end_near(index));
                }
                has_new_ends |= text != line.as_written();
                joiner.push(&text, self.end_near(index));
            }
            if let Some(line) = self.old.get(index)
                && self.marks[index] != Some(Mark::Remove)
            {
                joiner.push(line, self.end_near(index));
            }
        }
        let mut repairs = self.repairs.clone();
        if has_new_ends && has_crlf {
            repairs.push("has CRLF line ends, which the diff does not show; they are kept");
        } else if has_new_ends {
            repairs.push("has LF line ends and the diff CRLF; LF is kept");
        }
        if joiner.has_new_end {
            repairs.push("gets a newline after a line that has none, because lines follow");
        }
        let mut new = joiner.text;
        if self.final_newline_differs {
            repairs
                .push("and the diff disagree about the newline at its end, which stays as it is");
            self.restore_last_end(&mut new);
        }
        (new, repairs)
    }

    /// Returns the line ending used near an index.
    fn end_near(&self, index: usize) -> &'static str {
        let (before, after) = self.old.split_at(index);
        // Only the last line of a file can lack one.
        let mut near = before.iter().rev().chain(after);
        match near.find(|line| line.ends_with('\n')) {
            Some(line) if line.ends_with("\r\n") => "\r\n",
            _ => "\n",
        }
    }

    /// Gives an added last line the same ending as the file's old last line.
    fn restore_last_end(&self, new: &mut String) {
        if !self.added.contains_key(&self.old.len()) {
            return;
        }
        let end = self.end_near(self.old.len());
        let was_terminated = self.old.last().is_none_or(|line| line.ends_with('\n'));
        if was_terminated && !new.ends_with('\n') {
            new.push_str(end);
        } else if !was_terminated && new.ends_with(end) {
            new.truncate(new.len() - end.len());
        }
    }
}

/// Joins lines, each starting on its own line.
#[derive(Default)]
struct LineJoiner {
    text: String,
    /// Whether a line got a line ending because another line follows.
    has_new_end: bool,
}

impl LineJoiner {
    fn push(&mut self, line: &str, end: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(end);
            self.has_new_end = true;
        }
        self.text.push_str(line);
    }
}
