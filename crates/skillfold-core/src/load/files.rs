//! The files of a skill: all of them, those that the instructions speak of first.

use std::fmt;

use crate::catalog::entry::Entry;
use crate::codes::Code;
use crate::error::Error;
use crate::limits::Limits;
use crate::load::loader::{Loader, logged, may_be_given};
use crate::load::mentions::{MENTION_BYTES, Mentions};
use crate::name::ResourcePath;
use crate::read::body::read_body;
use crate::read::source::{Cursor, Finding, SKILL_FILE};

/// A page of the files of a skill.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileList {
    /// The files: those that the instructions speak of, in that order, then the others by path.
    pub files: Vec<SkillFile>,
    /// How many files were found in all; where a bound was reached, a finding says so.
    pub total: usize,
    /// What was passed over, and why; on the first page.
    pub findings: Vec<Finding>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillFile {
    /// Its path inside the skill.
    pub path: ResourcePath,
    /// Its size in bytes.
    pub size: u64,
    /// What it is, by its name.
    pub kind: FileKind,
    /// Whether the instructions speak of it, in their first 256 KiB.
    pub is_mentioned: bool,
}

/// What a file is, by its name; nothing is opened to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// The skill's own `SKILL.md`.
    Instructions,
    /// To be read.
    Text,
    /// To be run.
    Script,
    /// For programs, and readable.
    Data,
    /// A picture.
    Image,
    /// Anything else.
    Other,
}

const KINDS: [(FileKind, &[&str]); 4] = [
    (
        FileKind::Text,
        &[
            "md", "markdown", "txt", "rst", "adoc", "html", "htm", "tex", "mdx", "org", "css",
            "tmpl", "template", "j2", "hbs",
        ],
    ),
    (
        FileKind::Script,
        &[
            "py", "sh", "bash", "zsh", "fish", "js", "mjs", "cjs", "ts", "tsx", "jsx", "rb", "pl",
            "ps1", "bat", "cmd", "php", "lua", "r", "jl", "go", "rs", "awk", "swift", "kts",
        ],
    ),
    (
        FileKind::Data,
        &[
            "json", "jsonl", "yaml", "yml", "toml", "csv", "tsv", "xml", "ini", "sql", "xsd",
            "proto", "graphql", "env", "cfg", "conf", "lock",
        ],
    ),
    (
        FileKind::Image,
        &[
            "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "bmp", "tiff", "avif",
        ],
    ),
];

impl FileKind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Text => "text",
            Self::Script => "script",
            Self::Data => "data",
            Self::Image => "image",
            Self::Other => "other",
        }
    }

    fn of(path: &str) -> Self {
        if path == SKILL_FILE {
            return Self::Instructions;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        // A dot at the start hides a file, and begins no extension.
        let Some((_, extension)) = name.trim_start_matches('.').rsplit_once('.') else {
            return Self::Text;
        };
        let extension = extension.to_ascii_lowercase();
        let known = KINDS
            .iter()
            .find(|(_, extensions)| extensions.contains(&&*extension));
        known.map_or(Self::Other, |(kind, _)| *kind)
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Loader {
    /// Returns the files of a skill from after `cursor` on, at most `limit`; none is opened but the `SKILL.md`.
    ///
    /// Pages are of one version of the instructions: where these change in between, start again.
    pub fn files(
        &self,
        entry: &Entry<'_>,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        may_be_given(entry)?;
        let body = read_body(entry.root().source(), entry.skill(), &mention_limits(entry));
        // Instructions that cannot be read speak of nothing; loading says why.
        let bytes = body.map(|content| content.bytes).unwrap_or_default();
        let mentions = Mentions::of(&String::from_utf8_lossy(&bytes));
        let all = logged(entry, "", all_files(entry, usize::MAX))?;
        Ok(in_order(all, &mentions, cursor, limit))
    }
}

/// Returns a page of the files of a skill in the order in which they are spoken of.
pub(super) fn in_order(
    mut page: FileList,
    mentions: &Mentions,
    cursor: Option<&Cursor>,
    limit: usize,
) -> FileList {
    // What is not spoken of comes after everything that is.
    let order = |path: &str| mentions.place(path).unwrap_or(usize::MAX);
    let by_order = |file: &SkillFile| (order(file.path.as_str()), file.path.clone());
    for file in &mut page.files {
        file.is_mentioned = order(file.path.as_str()) != usize::MAX;
    }
    page.files.sort_by_cached_key(by_order);
    page.total = page.files.len();
    if let Some(cursor) = cursor {
        let after = (order(cursor.as_str()), cursor.as_str());
        let is_after = |file: &SkillFile| (order(file.path.as_str()), file.path.as_str()) > after;
        page.files.retain(is_after);
        page.findings.clear();
    }
    let limit = limit.max(1);
    if page.files.len() > limit {
        page.files.truncate(limit);
        let last = page.files.last();
        page.next = last.map(|last| Cursor::after(last.path.as_str()));
    }
    page
}

/// Returns all files of a skill, by path, after looking at no more than so many entries of its folders. What comes after
/// these is a finding.
pub(super) fn all_files(entry: &Entry<'_>, entries: usize) -> Result<FileList, Error> {
    let (source, folder) = (entry.root().source(), &entry.skill().folder);
    let limits = &entry.catalog().options().read.walk.limits;
    let entries = entries.min(limits.walk_entries);
    // A source walks anew for each page: one page of all is one walk.
    let limits = Limits {
        resources: entries,
        walk_entries: entries,
        ..limits.clone()
    };
    let (mut all, mut cursor) = (FileList::default(), None);
    loop {
        let page = source.resources(folder, &limits, cursor.as_ref())?;
        all.findings.extend(page.findings);
        all.files
            .extend(page.files.into_iter().map(|file| SkillFile {
                kind: FileKind::of(file.path.as_str()),
                path: file.path,
                size: file.size,
                is_mentioned: false,
            }));
        // A cursor that does not move would never end.
        if page.next.is_none() || page.next == cursor {
            return Ok(all);
        }
        if all.files.len() >= entries {
            let what = format!("Listing stopped after {entries} files of");
            let bound = Finding::new(Code::BoundReached, folder.path(), &what);
            all.findings.push(bound);
            return Ok(all);
        }
        cursor = page.next;
    }
}

/// Returns the limits for the start of the instructions, which is looked through for names of files.
fn mention_limits(entry: &Entry<'_>) -> Limits {
    let limits = &entry.catalog().options().read.walk.limits;
    Limits {
        read_bytes: limits.read_bytes.min(MENTION_BYTES as u64),
        ..limits.clone()
    }
}
