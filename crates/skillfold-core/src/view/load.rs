//! Loaded instructions and files.

use crate::catalog::entry::Entry;
use crate::diagnostic::visible;
use crate::load::envelope::Envelope;
use crate::load::file::FileContent;
use crate::load::files::{FileList, SkillFile};
use crate::load::render::LoadedText;
use crate::view::finding::DiagnosticView;
use crate::view::record::{path_to_string, to_strings};

/// The loaded instructions of a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InstructionsView {
    /// The skill's id, unique in the catalog.
    pub id: String,
    /// The envelope: `plain`, `read_skill`, `skill_context` or `skill_content`.
    pub envelope: String,
    /// The text for the model: the instructions in the envelope.
    pub text: String,
    /// Tokens of the instructions without the envelope, estimated as one per 4 bytes.
    pub tokens: u64,
    /// The path of the skill's folder; absent if the skill is not in the file system or the path is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_dir: Option<String>,
    /// Ids of the skills to load first, as the skill's `requires` lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Findings about this load, such as that the file changed since discovery.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<DiagnosticView>,
    /// How the model runs the skill's scripts and calls its tools; only in the answer of a tool, and only if it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_notes: Option<String>,
}

impl InstructionsView {
    /// Creates the view of a loaded skill.
    pub fn new(loaded: &LoadedText, envelope: Envelope) -> Self {
        let instructions = &loaded.instructions;
        Self {
            id: instructions.id().to_owned(),
            envelope: envelope.to_string(),
            text: loaded.text.clone(),
            tokens: instructions.tokens(),
            base_dir: instructions.base_dir().map(str::to_owned),
            requires: to_strings(instructions.requires()),
            notes: DiagnosticView::all(&loaded.notes),
            run_notes: None,
        }
    }
}

/// A page of the files of a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileListing {
    /// The skill's id, unique in the catalog.
    pub id: String,
    /// The path of the skill's folder; absent if the skill is not in the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_dir: Option<String>,
    /// The number of files on all pages.
    pub total: usize,
    /// The files: first those that the instructions mention, in order of mention, then the others by path.
    pub files: Vec<SkillFile>,
    /// The cursor of the next page, which is the last path of this page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What was skipped, and why; only on the first page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FileFinding>,
}

/// A finding about a path inside a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileFinding {
    /// The path inside the skill; empty for the skill's folder.
    pub path: String,
    /// The finding.
    #[serde(flatten)]
    pub diagnostic: DiagnosticView,
}

impl FileFinding {
    /// Creates the view of a finding about a path inside a skill.
    pub fn new(path: &str, diagnostic: &crate::diagnostic::Diagnostic) -> Self {
        Self {
            path: visible(path).into_owned(),
            diagnostic: DiagnosticView::new(diagnostic),
        }
    }
}

impl FileListing {
    /// Creates the view of a page of files.
    pub fn new(entry: &Entry<'_>, page: &FileList) -> Self {
        let findings = page.findings.iter();
        let findings = findings.map(|finding| FileFinding::new(&finding.path, &finding.diagnostic));
        Self {
            id: entry.id().to_owned(),
            base_dir: entry.base_dir().map(|path| path_to_string(&path)),
            total: page.total,
            files: page.files.clone(),
            next: page.next.as_ref().map(|next| next.as_str().to_owned()),
            findings: findings.collect(),
        }
    }
}

/// A file of a skill, or a part of it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FilePart {
    /// The skill's id, unique in the catalog.
    pub id: String,
    /// The file's path inside the skill.
    pub path: String,
    /// The size of the whole file in bytes.
    pub size: u64,
    /// The offset of the first byte that was read.
    pub start: u64,
    /// The offset after the last byte that was read.
    pub end: u64,
    /// The offset of the rest of the file; absent if there is no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// What was read; absent if it is not UTF-8 text or contains a NUL byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What was read, in base64; present instead of `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Findings about this read, such as that the file kept changing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<DiagnosticView>,
}

impl FilePart {
    /// Creates the view of a file, or of the part that was read.
    pub fn new(entry: &Entry<'_>, content: &FileContent) -> Self {
        let text = content.text();
        Self {
            id: entry.id().to_owned(),
            path: content.path().to_string(),
            size: content.size(),
            start: content.range().start,
            end: content.range().end,
            next: content.next(),
            base64: text.is_none().then(|| base64(content.bytes())),
            text: text.map(str::to_owned),
            notes: DiagnosticView::all(&content.notes()),
        }
    }
}

/// Encodes bytes as base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            let is_padding = digit > chunk.len();
            text.push(if is_padding {
                '='
            } else {
                char::from(DIGITS[value as usize])
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn bytes_are_encoded_as_base64() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foobar", "Zm9vYmFy"),
            (b"\xff\xfe\xfd", "//79"),
        ] {
            assert_eq!(base64(bytes), text);
        }
    }
}
