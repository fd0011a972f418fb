//! Applies a change to the files of a skill, in memory.

use std::collections::BTreeMap;

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;

use crate::change::locate::{BOM, locate};
use crate::change::parts::{
    Change, FileAction, FileChange, Hunk, HunkLine, MAX_FILE_BYTES, Mark, StatedRange, invalid,
};

/// What a change makes of one file.
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

/// What a change makes of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The files that change, in the order of the diff.
    pub edits: Vec<FileEdit>,
    /// Where the diff did not fit the files, and how it was read, each as a sentence. Those that could be seen without
    /// the files are in [`Change::repairs`].
    pub repairs: Vec<String>,
}

impl Change {
    /// Applies the change to the files that `read` returns; `None` means that there is no such file.
    ///
    /// All of the change is applied, or none. A change that leaves every file as it is, is an error.
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

/// What becomes of the lines of a file.
struct LineEdits<'a> {
    /// The lines before, each with its line feed.
    old: Vec<&'a str>,
    /// What the hunks say of each of them.
    marks: Vec<Option<Mark>>,
    /// The lines to add, by the index of the line that they come before, with the hunk's line in the diff.
    added: BTreeMap<usize, (usize, Vec<&'a HunkLine>)>,
    /// Whether a line of the hunks ends with CRLF.
    shows_crlf: bool,
    /// Whether the hunks and the file have different line ends.
    has_other_ends: bool,
    /// Whether the hunks and the file disagree about the newline at the end of the file.
    has_other_last_end: bool,
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
            has_other_ends: false,
            has_other_last_end: false,
            repairs: Vec::new(),
        }
    }

    /// Notes what a hunk does whose old lines are at `start`.
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
                self.has_other_ends |= line.text.ends_with('\r') != text.ends_with('\r');
                self.has_other_last_end |= line.is_terminated != old.ends_with('\n');
                if line.mark == Mark::Remove && old.starts_with(BOM) && !line.text.starts_with(BOM)
                {
                    self.repairs
                        .push("loses a byte-order mark, which the diff does not show");
                }
                let earlier = self.marks[index].replace(line.mark);
                index += 1;
                // Two hunks may show the same unchanged line.
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

    /// Returns the new text, and in which way the file was not as the diff says.
    fn finish(&self) -> (String, Vec<&'static str>) {
        let has_crlf = self.old.iter().any(|line| line.ends_with("\r\n"));
        let keeps_ends = self.has_other_ends || (has_crlf && !self.shows_crlf);
        let mut has_new_ends = self.has_other_ends;
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
        if self.has_other_last_end {
            repairs
                .push("and the diff disagree about the newline at its end, which stays as it is");
            self.restore_last_end(&mut new);
        }
        (new, repairs)
    }

    /// Returns the line end that lines near an index have.
    fn end_near(&self, index: usize) -> &'static str {
        let (before, after) = self.old.split_at(index);
        // Only the last line of a file can be without one.
        let mut near = before.iter().rev().chain(after);
        match near.find(|line| line.ends_with('\n')) {
            Some(line) if line.ends_with("\r\n") => "\r\n",
            _ => "\n",
        }
    }

    /// Ends an added last line as the last line of the file ended.
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

/// Puts lines together such that each starts on a line of its own.
#[derive(Default)]
struct LineJoiner {
    text: String,
    /// Whether a line got a line end because another follows.
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
