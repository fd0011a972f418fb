//! Reads objects with `git cat-file`: their sizes first, then the contents that are wanted.

use std::io::{self, BufRead, BufReader, Read};

use crate::git::process::{Git, GitError};

/// What an object of git is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl ObjectKind {
    /// Returns git's word for it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }
}

/// An object without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectHeader {
    pub(super) kind: ObjectKind,
    pub(super) bytes: u64,
}

/// Returns the headers of objects, by their hexadecimal ids. One that is not in the repository has none.
pub(super) fn headers(git: &Git<'_>, ids: &[&str]) -> Result<Vec<Option<ObjectHeader>>, GitError> {
    let asked: String = ids.iter().flat_map(|id| [id, "\n"]).collect();
    let output = git.run(&["cat-file", "--batch-check"], asked.as_bytes())?;
    let output = String::from_utf8_lossy(&output);
    let mut lines = output.lines();
    let headers = ids
        .iter()
        .map(|id| header(lines.next().unwrap_or_default(), id));
    headers
        .collect::<io::Result<_>>()
        .map_err(|error| GitError::Failed(error.to_string()))
}

/// Returns the contents of objects whose headers are known.
pub(super) fn contents(
    git: &Git<'_>,
    objects: &[(&str, ObjectHeader)],
) -> Result<Vec<Vec<u8>>, GitError> {
    let asked: String = objects.iter().flat_map(|(id, _)| [id, "\n"]).collect();
    git.stream(&["cat-file", "--batch"], &asked, |output| {
        let mut output = BufReader::new(output);
        let contents = objects
            .iter()
            .map(|(id, header)| content(&mut output, id, *header));
        contents.collect()
    })
}

/// Reads the line that git writes for an object: its id, its kind and its size.
fn header(line: &str, id: &str) -> io::Result<Option<ObjectHeader>> {
    let unknown = || {
        let message = format!("git answered `{line}` for object {id}");
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let words: Vec<&str> = line.split(' ').collect();
    let (kind, size) = match *words {
        [name, "missing"] if name == id => return Ok(None),
        [name, kind, size] if name == id => (kind, size),
        _ => return Err(unknown()),
    };
    let kinds = [
        ObjectKind::Commit,
        ObjectKind::Tree,
        ObjectKind::Blob,
        ObjectKind::Tag,
    ];
    let kind = kinds.into_iter().find(|known| known.as_str() == kind);
    let kind = kind.ok_or_else(unknown)?;
    let bytes = size.parse().map_err(|_| unknown())?;
    Ok(Some(ObjectHeader { kind, bytes }))
}

/// Reads an object.
fn content(output: &mut impl BufRead, id: &str, expected: ObjectHeader) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    (&mut *output).take(256).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let line = String::from_utf8_lossy(&line);
    if header(line.trim_end(), id)? != Some(expected) {
        let message = format!("object {id} is not what it was just before");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut bytes = Vec::new();
    let size = expected.bytes + 1;
    output.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size || bytes.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}
