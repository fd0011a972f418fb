//! A proposal as a Markdown file, readable by users and by the store.
//!
//! The file has the facts in its frontmatter, then the sections Diff, Justification and Evidence, and finally the
//! checks made when it was written. It never changes: its digest is what a reviewer approves. The store reads the
//! frontmatter, the diff and the quoted texts, and never trusts the checks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use skillfold_core::Error;
use skillfold_core::load::Digest;

use crate::files::skill_folder::SkillPath;
use crate::proposals::log::Author;

/// The file format of a change. What reads no other would apply the diff.
const FORMAT: &str = "1";
/// The file format of a whole version, whose diff is for people alone.
const VERSION_FORMAT: &str = "2";

/// Maximum size of a proposal file.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum length of a justification in bytes.
pub(crate) const MAX_JUSTIFICATION_BYTES: usize = 8 << 10;
/// Maximum length of the evidence in bytes.
pub(crate) const MAX_EVIDENCE_BYTES: usize = 32 << 10;
/// Starts the names of the fields that say where a version is from.
const ORIGIN: &str = "from.";
/// Maximum length of a skill's id in a file name.
const MAX_ID_BYTES: usize = 80;

/// A change to a skill, or a new skill, pending a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// The name of its file.
    pub file: String,
    /// The digest of its file, which covers everything in it.
    pub digest: Digest,
    /// The skill's id.
    pub skill: String,
    /// The skill's current or future location.
    pub place: SkillPath,
    /// The version it changes; `None` for a new skill.
    pub base: Option<Digest>,
    /// Who proposed it.
    pub author: Author,
    /// When, in UTC.
    pub time: String,
    /// The change as a unified diff. With `after`, for people alone; a file that is not text has one line there.
    pub diff: String,
    /// The version that the skill becomes, if the proposal is of a whole version.
    pub after: Option<Digest>,
    /// Where that version is from, by field.
    pub origin: BTreeMap<String, String>,
    /// Why.
    pub justification: String,
    /// Evidence that it is right.
    pub evidence: Option<String>,
    /// The full text of the file.
    pub text: String,
}

impl Proposal {
    /// Returns its name: the file name without the extension.
    pub fn name(&self) -> &str {
        self.file.strip_suffix(".md").unwrap_or(&self.file)
    }

    /// Formats the file.
    pub(crate) fn to_text(&self, checks: &[String]) -> Result<String, Error> {
        let (base, folder) = self.place.parts();
        let format = if self.after.is_some() {
            VERSION_FORMAT
        } else {
            FORMAT
        };
        let mut fields = vec![
            ("format", format),
            ("skill", self.skill.as_str()),
            ("root", path_text(base)?),
            ("folder", path_text(folder)?),
            ("author", &self.author.name),
            ("time", &self.time),
        ];
        let base = self.base.map(|base| base.to_string());
        if let Some(base) = &base {
            fields.push(("base", base));
        }
        if let Some(session) = &self.author.session {
            fields.push(("session", session));
        }
        let after = self.after.map(|after| after.to_string());
        if let Some(after) = &after {
            fields.push(("after", after));
        }
        let origin = self.origin.iter();
        let origin: Vec<(String, &String)> = origin
            .map(|(name, value)| (format!("{ORIGIN}{name}"), value))
            .collect();
        fields.extend(origin.iter().map(|(name, value)| (&**name, value.as_str())));
        let mut text = "---\n".to_owned();
        // Writing to a string cannot fail.
        for (name, value) in fields {
            _ = writeln!(text, "{name}: {}", serde_json::Value::from(value));
        }
        let what = if self.base.is_some() {
            "Change of"
        } else {
            "New skill"
        };
        let fence = fence_for(&self.diff);
        _ = write!(
            text,
            "---\n\n# {what} {}\n\n## Diff\n\n{fence}diff\n",
            code_span(&self.skill)
        );
        text += &self.diff;
        _ = write!(
            text,
            "{fence}\n\n## Justification\n\n{}",
            quoted(&self.justification)
        );
        if let Some(evidence) = &self.evidence {
            _ = write!(text, "\n## Evidence\n\n{}", quoted(evidence));
        }
        if !checks.is_empty() {
            text += "\n## Checks\n\n";
            for check in checks {
                _ = writeln!(text, "- {}", check.replace('\n', " "));
            }
        }
        Ok(text)
    }

    /// Parses the file named `file`.
    pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Self, Error> {
        let invalid = |why: &str| Error::invalid(file, why);
        let text = str::from_utf8(bytes).map_err(|_| invalid("It is not UTF-8"))?;
        let mut lines = text.split('\n').peekable();
        if lines.next() != Some("---") {
            return Err(invalid("It does not start with `---`"));
        }
        let mut fields = read_fields(lines.by_ref().take_while(|line| *line != "---"))
            .ok_or_else(|| invalid("A line of its frontmatter is not `name: \"value\"`"))?;
        let mut take = |name: &str| {
            let missing = || Error::invalid(file, format!("Its frontmatter has no `{name}`"));
            fields.remove(name).ok_or_else(missing)
        };
        let format = take("format")?;
        if ![FORMAT, VERSION_FORMAT].contains(&&*format) {
            let other = other_format(&format!("format {format}"), VERSION_FORMAT);
            return Err(invalid(&format!("It {other}")));
        }
        let (skill, root, folder) = (take("skill")?, take("root")?, take("folder")?);
        let (name, time) = (take("author")?, take("time")?);
        let base = take("base").ok().map(|base| base.parse()).transpose();
        let base = base.map_err(|_| invalid("Its `base` is not a digest"))?;
        let session = take("session").ok();
        let after = take("after").ok().map(|after| after.parse()).transpose();
        let after = after.map_err(|_| invalid("Its `after` is not a digest"))?;
        let origin = fields.into_iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(ORIGIN)?;
            Some((name.to_owned(), value))
        });
        let origin = origin.collect();
        let mut section = |heading: &str| {
            lines.by_ref().find(|line| *line == heading)?;
            lines.next_if(|line| line.is_empty())
        };
        section("## Diff").ok_or_else(|| invalid("It has no section `## Diff`"))?;
        let fence = lines.next().and_then(|line| line.strip_suffix("diff"));
        let fence = fence.filter(|fence| fence.len() >= 3 && fence.bytes().all(|it| it == b'`'));
        let fence = fence.ok_or_else(|| invalid("Its diff is not in a fence"))?;
        let mut diff = String::new();
        loop {
            match lines.next() {
                Some(line) if line == fence => break,
                Some(line) => {
                    diff.push_str(line);
                    diff.push('\n');
                }
                None => return Err(invalid("The fence around its diff is not closed")),
            }
        }
        let mut section = |heading: &str| {
            lines.next_if(|line| line.is_empty());
            lines.next_if(|line| *line == heading)?;
            lines.next_if(|line| line.is_empty())?;
            let mut quoted = Vec::new();
            while let Some(line) = lines.next_if(|line| line.starts_with('>')) {
                let line = &line[1..];
                quoted.push(line.strip_prefix(' ').unwrap_or(line));
            }
            Some(quoted.join("\n"))
        };
        let justification = section("## Justification");
        let justification =
            justification.ok_or_else(|| invalid("It has no section `## Justification`"))?;
        let evidence = section("## Evidence");
        Ok(Self {
            file: file.to_owned(),
            digest: Digest::sha256(bytes),
            skill,
            place: SkillPath::from_parts(PathBuf::from(root), PathBuf::from(folder))?,
            base,
            author: Author { name, session },
            time,
            diff,
            after,
            origin,
            justification,
            evidence,
            text: text.to_owned(),
        })
    }

    /// Returns the file name for a skill and a time. `number` distinguishes proposals made in the same second.
    pub(crate) fn file_name(skill: &str, time: &str, number: usize) -> String {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        let mut id: String = skill
            .chars()
            .map(|it| if is_plain(it) { it } else { '_' })
            .take(MAX_ID_BYTES)
            .collect();
        if id.starts_with('.') {
            id.replace_range(..1, "_");
        }
        let time: String = time.chars().filter(|it| !matches!(it, '-' | ':')).collect();
        match number {
            0 | 1 => format!("{id}-{time}.md"),
            number => format!("{id}-{time}-{number}.md"),
        }
    }
}

/// Reads the lines of the frontmatter.
fn read_fields<'t>(lines: impl Iterator<Item = &'t str>) -> Option<BTreeMap<&'t str, String>> {
    let fields = lines.map(|line| {
        let (name, value) = line.split_once(": ")?;
        let value: String = serde_json::from_str(value).ok()?;
        Some((name, value))
    });
    fields.collect()
}

/// Describes what is wrong with a user's file in another format than `known`, the one this version writes.
pub fn other_format(found: &str, known: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "has {found}, and skillfold {version} reads format {known}; update skillfold, or move the file aside"
    )
}

fn path_text(path: &std::path::Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| {
        let why = "Its path is not UTF-8 and cannot be stored";
        Error::invalid(path.to_string_lossy(), why)
    })
}

/// Returns a fence longer than any in the text.
fn fence_for(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max();
    "`".repeat(longest.unwrap_or(0).max(2) + 1)
}

/// Returns single-line text as a code span.
fn code_span(text: &str) -> String {
    let fence = fence_for(text);
    let fence = &fence[..fence.len() - 2];
    format!("{fence}{}{fence}", text.replace('\n', " "))
}

/// Returns the text as a block quote, so that none of its lines is a heading.
fn quoted(text: &str) -> String {
    let lines = text.trim_end_matches('\n').split('\n');
    lines
        .map(|line| {
            if line.is_empty() {
                ">\n".to_owned()
            } else {
                format!("> {line}\n")
            }
        })
        .collect()
}
