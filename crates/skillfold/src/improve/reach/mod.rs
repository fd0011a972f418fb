//! What a version of a skill newly reaches: hosts, programs, paths, permissions, and characters that nobody sees.
//!
//! Only the difference between two versions is found, by reading their text. It shows a reviewer where to look; what a script
//! does in the end only running it shows.

mod kind;
mod names;
mod shell;

mod programs;

use std::collections::{BTreeMap, BTreeSet};

use skillfold_core::diagnostic::visible;
use skillfold_core::read::{Manifest, Value};
use skillfold_core::source::SKILL_FILE;
use skillfold_core::text::ellipsize;
use skillfold_store::{Preview, SkillFiles};

pub use self::kind::ReachKind;
use self::programs::{is_notable, starts_in};

/// Maximum bytes of a file that are searched.
const MAX_FILE_BYTES: usize = 1 << 20;
/// Maximum bytes of a version that are searched.
const MAX_BYTES: usize = 8 << 20;
/// Maximum mentions that are listed; all are counted.
const MAX_MENTIONS: usize = 100;
/// Maximum characters of a name.
const MAX_CHARS: usize = 100;
/// Words in `permissions` that ask for nothing.
const NOTHING: [&str; 4] = ["", "false", "no", "none"];

/// What a version reaches of one kind, and the version before does not.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "ReachView")]
#[non_exhaustive]
pub struct Reach {
    /// `hidden_characters`, `permission`, `load_command`, `host`, `command`, `path` or `unread_file`.
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub kind: ReachKind,
    /// How many there are.
    pub total: usize,
    /// The first 100, those to look at first in front.
    pub mentions: Vec<Mention>,
}

/// Where a skill mentions something.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "MentionView")]
#[non_exhaustive]
pub struct Mention {
    /// What it is, without control and invisible characters, cut to 100 characters.
    pub name: String,
    /// The file in the skill.
    pub file: String,
    /// The line of the first mention.
    pub line: usize,
}

impl Mention {
    /// Returns the file and the line, such as `SKILL.md:12`. It has no control or invisible characters.
    pub fn place(&self) -> String {
        format!("{}:{}", visible(&self.file), self.line)
    }
}

impl Reach {
    /// Returns what the skill reaches after a change and not before, by kind. Kinds with nothing new are left out.
    pub(super) fn of(
        preview: &Preview,
        before: Option<&Manifest>,
        after: Option<&Manifest>,
    ) -> Vec<Self> {
        let mut old = Scan::default();
        old.read(preview.before.iter());
        let mut new = Scan::default();
        let changed = preview.edits.iter().filter(|edit| edit.new.is_some());
        new.read(changed.filter_map(|edit| Some((edit.path.as_str(), edit.new.as_deref()?))));
        let old_permissions = permissions(before);
        for entry in permissions(after).difference(&old_permissions) {
            let place = (
                SKILL_FILE.to_owned(),
                line_of(&preview.after, "permissions:"),
            );
            new.found.insert(
                (ReachKind::Permission, entry.clone()),
                (entry.clone(), place),
            );
        }
        let mut reaches = BTreeMap::new();
        for ((kind, key), (name, (file, line))) in new.found {
            if kind != ReachKind::UnreadFile && old.found.contains_key(&(kind, key)) {
                continue;
            }
            let name = visible(&ellipsize(&name, MAX_CHARS)).into_owned();
            let mention = Mention { name, file, line };
            reaches.entry(kind).or_insert_with(Vec::new).push(mention);
        }
        let reaches = reaches.into_iter().map(|(kind, mut mentions)| {
            mentions.sort_by_key(|it| kind == ReachKind::Command && !is_notable(&it.name));
            let total = mentions.len();
            mentions.truncate(MAX_MENTIONS);
            Self {
                kind,
                total,
                mentions,
            }
        });
        reaches.collect()
    }
}

/// What a version mentions.
#[derive(Default)]
struct Scan {
    /// The name and the first place of each thing, by kind and by what makes it the same thing in both versions.
    found: BTreeMap<(ReachKind, String), (String, (String, usize))>,
    bytes: usize,
}

impl Scan {
    fn read<'f>(&mut self, files: impl Iterator<Item = (&'f str, &'f [u8])>) {
        for (path, bytes) in files {
            let most = MAX_FILE_BYTES.min(MAX_BYTES - self.bytes);
            let searched = bytes.get(..most).unwrap_or(bytes);
            let is_binary = searched.contains(&0);
            if is_binary || searched.len() < bytes.len() {
                self.add(ReachKind::UnreadFile, path, path, path, 1);
            }
            if !is_binary {
                self.bytes += searched.len();
                self.read_text(path, &String::from_utf8_lossy(searched));
            }
        }
    }

    fn read_text(&mut self, path: &str, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_code = programs::is_code(path, text);
        for (number, line) in (1..).zip(text.split('\n')) {
            for host in names::hosts(line, is_code) {
                self.add(ReachKind::Host, &host, &host, path, number);
            }
            for found in names::paths(line).filter(|_| number > 1 || !line.starts_with("#!")) {
                self.add(ReachKind::Path, &found, &found, path, number);
            }
            if let Some(hidden) = names::hidden(line) {
                self.add(ReachKind::HiddenCharacters, line, &hidden, path, number);
            }
        }
        for (kind, line, command) in starts_in(path, text) {
            self.add(kind, &command, &command, path, line);
        }
    }

    fn add(&mut self, kind: ReachKind, key: &str, name: &str, file: &str, line: usize) {
        let place = || (name.to_owned(), (file.to_owned(), line));
        self.found
            .entry((kind, key.to_owned()))
            .or_insert_with(place);
    }
}

/// Returns the entries of `permissions` in a manifest, as `key: value`, whatever a client makes of them.
fn permissions(manifest: Option<&Manifest>) -> BTreeSet<String> {
    fn add(key: &str, value: &Value, entries: &mut BTreeSet<String>) {
        let inside = |name: &str| match key {
            "" => name.to_owned(),
            key => format!("{key}: {name}"),
        };
        match value {
            Value::Scalar(text) if NOTHING.contains(&text.as_str().trim()) => {}
            Value::Scalar(text) => _ = entries.insert(inside(text.as_str())),
            Value::List(items) => items.iter().for_each(|item| add(key, item, entries)),
            Value::Map(fields) => fields
                .iter()
                .for_each(|(name, value)| add(&inside(name), value, entries)),
            _ => {}
        }
    }
    let mut entries = BTreeSet::new();
    if let Some(value) = manifest.and_then(|it| it.other().get("permissions")) {
        add("", value, &mut entries);
    }
    entries
}

/// Returns the entries of `permissions` that a version has and the next has not.
pub(super) fn removed_permissions(
    before: Option<&Manifest>,
    after: Option<&Manifest>,
) -> Vec<String> {
    permissions(before)
        .difference(&permissions(after))
        .cloned()
        .collect()
}

/// Returns the first line of `SKILL.md` that starts with a text, or 1.
fn line_of(files: &SkillFiles, start: &str) -> usize {
    let text = String::from_utf8_lossy(files.get(SKILL_FILE).unwrap_or_default());
    let line = text.lines().position(|line| line.starts_with(start));
    line.map_or(1, |line| line + 1)
}

#[cfg(test)]
mod tests;
