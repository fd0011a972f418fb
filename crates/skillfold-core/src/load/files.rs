//! The files of a skill, those that the instructions mention first.

use crate::catalog::entry::Entry;
use crate::codes::Code;
use crate::error::Error;
use crate::limits::Limits;
use crate::load::body::read_body;
use crate::load::loader::{Loader, check_refusal, log_refusal};
use crate::load::mentions::{MENTION_BYTES, Mentions};
use crate::name::ResourcePath;
use crate::source::{Cursor, Finding, SKILL_FILE};

/// A page of the files of a skill.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileList {
    /// The files: first those that the instructions mention, in the order of mention, then the others by path.
    pub files: Vec<SkillFile>,
    /// The number of files found in all; a finding says if a limit stopped the listing.
    pub total: usize,
    /// What was skipped, and why; only on the first page.
    pub findings: Vec<Finding>,
    /// The cursor of the next page, if there is one.
    pub next: Option<Cursor>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "FileEntry")]
#[non_exhaustive]
pub struct SkillFile {
    /// The path inside the skill.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub path: ResourcePath,
    /// The size in bytes.
    pub size: u64,
    /// The kind, by name: `instructions` (the `SKILL.md`), `text`, `script`, `data`, `image` or `other`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: FileKind,
    /// Whether the first 256 KiB of the instructions mention it.
    #[serde(rename = "mentioned")]
    pub is_mentioned: bool,
}

words! {
    /// The kind of a file, derived from its name without opening it.
    #[derive(serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FileKind {
        /// The skill's own `SKILL.md`.
        Instructions = "instructions",
        /// Text for people or models to read.
        Text = "text",
        /// Source code or a script.
        Script = "script",
        /// Structured data in a text format.
        Data = "data",
        /// An image.
        Image = "image",
        /// Anything else.
        Other = "other",
    }
}

/// The file extensions of each kind, in lower case.
const EXTENSIONS: [(FileKind, &[&str]); 4] = [
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
    /// Returns the kind of the file at a path inside a skill.
    pub fn from_path(path: &str) -> Self {
        if path == SKILL_FILE {
            return Self::Instructions;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        // A leading dot hides a file and does not start an extension.
        let Some((_, extension)) = name.trim_start_matches('.').rsplit_once('.') else {
            return Self::Text;
        };
        let extension = extension.to_ascii_lowercase();
        let known = EXTENSIONS
            .iter()
            .find(|(_, extensions)| extensions.contains(&&*extension));
        known.map_or(Self::Other, |(kind, _)| *kind)
    }
}

impl Loader {
    /// Returns at most `limit` files of a skill, starting after `cursor`. Opens no file but the `SKILL.md`.
    ///
    /// The order depends on the instructions; if they change between two pages, start again.
    pub fn files(
        &self,
        entry: &Entry<'_>,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        check_refusal(entry)?;
        let body = read_body(entry.root().source(), entry.skill(), &mention_limits(entry));
        // Unreadable instructions mention no files; loading the skill reports why.
        let bytes = body.map(|content| content.bytes).unwrap_or_default();
        let mentions = Mentions::find_in(&String::from_utf8_lossy(&bytes));
        let all = log_refusal(entry, "", list_all(entry, usize::MAX))?;
        Ok(page_by_mention(all, &mentions, cursor, limit))
    }
}

/// Returns a page of a skill's files in the order in which the instructions mention them.
pub(super) fn page_by_mention(
    mut page: FileList,
    mentions: &Mentions,
    cursor: Option<&Cursor>,
    limit: usize,
) -> FileList {
    // Files that are not mentioned come last.
    let position = |path: &str| mentions.position(path).unwrap_or(usize::MAX);
    let sort_key = |file: &SkillFile| (position(file.path.as_str()), file.path.clone());
    for file in &mut page.files {
        file.is_mentioned = position(file.path.as_str()) != usize::MAX;
    }
    page.files.sort_by_cached_key(sort_key);
    page.total = page.files.len();
    if let Some(cursor) = cursor {
        let last = (position(cursor.as_str()), cursor.as_str());
        let is_after = |file: &SkillFile| (position(file.path.as_str()), file.path.as_str()) > last;
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

/// Returns all files of a skill, sorted by path. Walks at most `max_entries` folder entries; if there are more, a
/// finding says so.
pub(super) fn list_all(entry: &Entry<'_>, max_entries: usize) -> Result<FileList, Error> {
    let (source, folder) = (entry.root().source(), &entry.skill().folder);
    let limits = &entry.catalog().options().read.walk.limits;
    let max_entries = max_entries.min(limits.walk_entries);
    // A source walks again for each page, so ask for everything as one page.
    let limits = Limits {
        resources: max_entries,
        walk_entries: max_entries,
        ..limits.clone()
    };
    let (mut all, mut cursor) = (FileList::default(), None);
    loop {
        let page = source.resources(folder, &limits, cursor.as_ref())?;
        all.findings.extend(page.findings);
        all.files
            .extend(page.files.into_iter().map(|file| SkillFile {
                kind: FileKind::from_path(file.path.as_str()),
                path: file.path,
                size: file.size,
                is_mentioned: false,
            }));
        // A cursor that does not advance would loop forever.
        if page.next.is_none() || page.next == cursor {
            return Ok(all);
        }
        if all.files.len() >= max_entries {
            let what = format!("Listing stopped after {max_entries} files of");
            let bound = Finding::new(Code::BoundReached, folder.path(), &what);
            all.findings.push(bound);
            return Ok(all);
        }
        cursor = page.next;
    }
}

/// Returns the limits for reading the start of the instructions, which is searched for mentions of files.
fn mention_limits(entry: &Entry<'_>) -> Limits {
    let limits = &entry.catalog().options().read.walk.limits;
    Limits {
        read_bytes: limits.read_bytes.min(MENTION_BYTES as u64),
        ..limits.clone()
    }
}
