//! Finds all skills of some sources: the head of each file is read, the body never.

use std::hash::RandomState;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, quoted};
use crate::error::{Error, ErrorKind};
use crate::read::frontmatter::Extent;
use crate::read::manifest::Manifest;
use crate::read::parse::{FrontmatterReader, Parsed, parse_head};
use crate::read::source::{
    FileState, Finding, Folder, FolderIdentity, ListedFolder, Revision, ScannedFolder, Source,
    Stability, WalkOptions,
};

/// How skills are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single choices with struct update syntax"
)]
pub struct ReadOptions {
    /// How sources are searched, and the caps.
    pub walk: WalkOptions,
    /// Which reader looks at a frontmatter block first.
    pub reader: FrontmatterReader,
}

/// What was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// The skills, ordered by source and folder.
    pub skills: Vec<Arc<Skill>>,
    /// The folders that hold a `SKILL.md` and no skill, ordered likewise.
    pub refused: Vec<Arc<RefusedFolder>>,
    /// What was passed over in each source, and why.
    pub findings: Vec<SourceFinding>,
}

/// One skill: its metadata, and where to read the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skill {
    /// What the skill says about itself.
    pub manifest: Manifest,
    /// The index of its source among those that were searched.
    pub source: usize,
    /// Its folder inside the source.
    pub folder: Folder,
    /// The state of the file that was read.
    pub revision: Revision,
    /// The offset of the first byte of the instructions.
    pub body_start: u64,
    /// Whether the frontmatter was repaired.
    pub repaired: bool,
    /// What was odd about the file.
    pub diagnostics: Box<[Diagnostic]>,
}

impl Skill {
    /// Returns the length of the instructions in bytes, by the size of the file that was read.
    pub fn body_bytes(&self) -> u64 {
        self.revision.size.saturating_sub(self.body_start)
    }
}

/// A folder that holds a `SKILL.md` and no skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedFolder {
    /// The index of its source among those that were searched.
    pub source: usize,
    /// The folder inside the source.
    pub folder: Folder,
    /// The state of the file, if it could be read.
    pub revision: Option<Revision>,
    /// Why it is no skill.
    pub diagnostics: Box<[Diagnostic]>,
}

/// Something that was found about a path of one of the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFinding {
    /// The index of the source among those that were searched.
    pub source: usize,
    /// What was found.
    pub finding: Finding,
}

/// Finds all skills of `sources`.
///
/// One folder is one skill, by the first source and path that lead to it. Nothing stops the search: what cannot be
/// read is in the findings, and a broken skill never hides a good one.
pub fn discover(sources: &[&dyn Source], reading: &ReadOptions) -> Discovery {
    discover_with(sources, reading, &mut NoCache)
}

/// Finds all skills of `sources`, and reads again only what `earlier` does not know.
pub(crate) fn discover_with(
    sources: &[&dyn Source],
    reading: &ReadOptions,
    earlier: &mut dyn ScanCache,
) -> Discovery {
    let mut search = Discoverer::new(reading, earlier);
    search.make_room();
    for (index, source) in sources.iter().enumerate() {
        search.source(index, *source);
        search.end_source(index);
    }
    let mut found = search.found;
    found.skills.shrink_to_fit();
    found.put_in_order();
    found
}

/// Finds the skills of one folder of a source and below, and reads again only what `earlier` does not know. Returns nothing
/// where only a search of all can tell.
pub(crate) fn discover_at(
    (index, source): (usize, &dyn Source),
    path: &str,
    reading: &ReadOptions,
    earlier: &mut dyn ScanCache,
) -> Option<Discovery> {
    let mut search = Discoverer::new(reading, earlier);
    let mut buffer = Vec::new();
    let findings = source.survey_at(&reading.walk, path, &mut |listed| {
        search.listed(index, source, listed, &mut buffer);
    })?;
    for finding in findings {
        search.finding(index, finding);
    }
    search.end_source(index);
    let mut found = search.found;
    found.put_in_order();
    Some(found)
}

impl Discovery {
    pub(crate) fn put_in_order(&mut self) {
        // The walk leaves a few long stretches in order, which a stable sort only has to merge.
        let by_place = |a: (usize, &Folder), b: (usize, &Folder)| a.cmp(&b);
        self.skills
            .sort_by(|a, b| by_place((a.source, &a.folder), (b.source, &b.folder)));
        self.refused
            .sort_by(|a, b| by_place((a.source, &a.folder), (b.source, &b.folder)));
    }
}

/// What an earlier search found.
pub(crate) trait ScanCache {
    /// Returns whether anything of a source may be known, so that looking before reading is worth it.
    fn knows(&self, source: usize) -> bool;

    /// Returns how many folders were known, of all sources together.
    fn expected(&self) -> usize;

    /// Returns what a folder holds, if it cannot have changed since.
    fn unchanged(&mut self, source: usize, listed: &ListedFolder) -> Option<FoundFolder>;
}

/// What a folder holds.
#[derive(Clone, Debug)]
pub(crate) enum FoundFolder {
    Skill(Arc<Skill>),
    Refused(Arc<RefusedFolder>),
}

impl FoundFolder {
    pub(crate) fn source(&self) -> usize {
        match self {
            Self::Skill(skill) => skill.source,
            Self::Refused(refused) => refused.source,
        }
    }

    pub(crate) fn folder(&self) -> &Folder {
        match self {
            Self::Skill(skill) => &skill.folder,
            Self::Refused(refused) => &refused.folder,
        }
    }
}

/// What is known of a folder's file.
enum FolderContent {
    Known(FoundFolder),
    Read(Parsed, FileState),
}

/// There was no earlier search.
struct NoCache;

impl ScanCache for NoCache {
    fn knows(&self, _: usize) -> bool {
        false
    }

    fn expected(&self) -> usize {
        0
    }

    fn unchanged(&mut self, _: usize, _: &ListedFolder) -> Option<FoundFolder> {
        None
    }
}

struct Discoverer<'a> {
    reading: &'a ReadOptions,
    earlier: &'a mut dyn ScanCache,
    found: Discovery,
    /// What each folder is, and where it was found first.
    identities: Vec<(FolderIdentity, FoundIndex)>,
    /// The same by its hash. It holds numbers alone, so that it stays at hand among many.
    known: HashTable<u32>,
    hasher: RandomState,
    /// Findings of this source that were reported, and that were only counted.
    reported: usize,
    unreported: usize,
}

/// An index into what was found.
#[derive(Clone, Copy)]
enum FoundIndex {
    Skill(u32),
    Refused(u32),
    /// It vanished while it was read, or cannot be read right now.
    Nowhere,
}

impl<'a> Discoverer<'a> {
    fn new(reading: &'a ReadOptions, earlier: &'a mut dyn ScanCache) -> Self {
        Self {
            reading,
            earlier,
            found: Discovery::default(),
            identities: Vec::new(),
            known: HashTable::new(),
            hasher: RandomState::new(),
            reported: 0,
            unreported: 0,
        }
    }

    /// Makes room for as much as was there before.
    fn make_room(&mut self) {
        let expected = self.earlier.expected();
        self.found.skills.reserve(expected);
        self.identities.reserve(expected);
        let (identities, hasher) = (&self.identities, &self.hasher);
        let hash = |at: &u32| identities[*at as usize].0.hash(hasher);
        self.known.reserve(expected, hash);
    }

    fn source(&mut self, index: usize, source: &dyn Source) {
        let walk = &self.reading.walk;
        let head_bytes = walk.limits.head_bytes.max(1);
        let findings = if self.earlier.knows(index) {
            let mut buffer = Vec::new();
            source.survey(walk, &mut |listed| {
                self.listed(index, source, listed, &mut buffer);
            })
        } else {
            source.scan(walk, head_bytes, &mut |scanned| {
                self.scanned(index, source, scanned);
            })
        };
        match findings {
            Ok(findings) => findings
                .into_iter()
                .for_each(|finding| self.finding(index, finding)),
            Err(error) => {
                let (code, when) = if error.is_transient() {
                    (Code::Unavailable, " just now")
                } else {
                    (Code::FolderUnreadable, "")
                };
                let what = format!("Source could not be listed{when} ({}):", chain(&error));
                self.finding(index, Finding::new(code, "", &what));
            }
        }
    }

    /// Takes a folder that was listed, and reads its file unless it is known.
    fn listed(
        &mut self,
        index: usize,
        source: &dyn Source,
        listed: ListedFolder,
        buffer: &mut Vec<u8>,
    ) {
        if let Some(found) = self.earlier.unchanged(index, &listed) {
            return self.take(index, listed, |_, _| Ok(FolderContent::Known(found)));
        }
        let head_bytes = self.reading.walk.limits.head_bytes.max(1);
        self.take(index, listed, |search, folder| {
            buffer.clear();
            let state = source.head(folder, head_bytes, buffer)?;
            let (parsed, state) = search.read(source, folder, buffer, state)?;
            Ok(FolderContent::Read(parsed, state))
        });
    }

    /// Reports a finding about a source, or counts it if there are too many.
    fn finding(&mut self, source: usize, finding: Finding) {
        if self.reported < self.reading.walk.limits.findings
            || finding.diagnostic.severity != Severity::Info
        {
            self.reported += 1;
            self.found.findings.push(SourceFinding { source, finding });
        } else {
            self.unreported += 1;
        }
    }

    /// Ends the findings about a source with the number of those that were only counted.
    fn end_source(&mut self, source: usize) {
        if self.unreported > 0 {
            let message = format!("{} more findings are not listed", self.unreported);
            let diagnostic = Diagnostic::new(Code::MoreFindings, None, message);
            self.found.findings.push(SourceFinding {
                source,
                finding: Finding {
                    path: "".into(),
                    diagnostic,
                },
            });
        }
        (self.reported, self.unreported) = (0, 0);
    }

    fn scanned(&mut self, index: usize, source: &dyn Source, scanned: ScannedFolder<'_>) {
        let ScannedFolder {
            listed,
            state,
            head,
        } = scanned;
        self.take(index, listed, |search, folder| {
            let read = state.and_then(|state| search.read(source, folder, head, state));
            read.map(|(parsed, state)| FolderContent::Read(parsed, state))
        });
    }

    /// Takes what a folder holds, unless the folder is already known by another path.
    fn take(
        &mut self,
        index: usize,
        listed: ListedFolder,
        read: impl FnOnce(&Self, &Folder) -> Result<FolderContent, Error>,
    ) {
        let ListedFolder {
            folder, identity, ..
        } = listed;
        let hash = identity
            .as_ref()
            .map(|identity| identity.hash(&self.hasher));
        let known = hash.zip(identity.as_ref()).and_then(|(hash, identity)| {
            let is_it = |at: &u32| self.identities[*at as usize].0 == *identity;
            self.known.find(hash, is_it)
        });
        if let Some(at) = known {
            let first = match &self.identities[*at as usize].1 {
                FoundIndex::Skill(at) => &self.found.skills[*at as usize].folder,
                FoundIndex::Refused(at) => &self.found.refused[*at as usize].folder,
                FoundIndex::Nowhere => &folder,
            };
            let what = format!("Same folder as {}:", quoted(&first.to_string()));
            return self.finding(index, Finding::new(Code::SameFolder, folder.path(), &what));
        }
        let place = match read(self, &folder) {
            Ok(FolderContent::Known(found)) => self.found(found),
            Ok(FolderContent::Read(parsed, state)) => {
                self.found(found(index, folder, parsed, state))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let what = "Skill vanished while it was read:";
                self.finding(index, Finding::new(Code::Vanished, folder.path(), what));
                FoundIndex::Nowhere
            }
            Err(error) if error.is_transient() => {
                let what = format!("`SKILL.md` cannot be read right now ({}):", chain(&error));
                self.finding(index, Finding::new(Code::Unavailable, folder.path(), &what));
                FoundIndex::Nowhere
            }
            Err(error) => {
                let message = format!("`SKILL.md` could not be read: {}", chain(&error));
                let unreadable = Diagnostic::new(Code::SkillFileUnreadable, None, message);
                self.found(FoundFolder::Refused(Arc::new(RefusedFolder {
                    source: index,
                    folder,
                    revision: None,
                    diagnostics: Box::new([unreadable]),
                })))
            }
        };
        if let Some((hash, identity)) = hash.zip(identity) {
            self.identities.push((identity, place));
            let (identities, hasher) = (&self.identities, &self.hasher);
            let hash_of = |at: &u32| identities[*at as usize].0.hash(hasher);
            self.known.insert_unique(hash, last(identities), hash_of);
        }
    }

    fn found(&mut self, found: FoundFolder) -> FoundIndex {
        match found {
            FoundFolder::Skill(skill) => {
                self.found.skills.push(skill);
                FoundIndex::Skill(last(&self.found.skills))
            }
            FoundFolder::Refused(refused) => {
                self.found.refused.push(refused);
                FoundIndex::Refused(last(&self.found.refused))
            }
        }
    }

    /// Reads the head of a file, and more of it where the frontmatter is longer than the head.
    fn read(
        &self,
        source: &dyn Source,
        folder: &Folder,
        head: &[u8],
        state: FileState,
    ) -> Result<(Parsed, FileState), Error> {
        let limits = &self.reading.walk.limits;
        let parse = |bytes: &[u8], wanted: usize, state: &FileState| {
            // The last step reads past the cap, so that a frontmatter just over it is seen to be.
            let last = wanted > limits.frontmatter_bytes;
            let extent = if last || bytes.len() < wanted {
                Extent::Whole
            } else {
                Extent::Head
            };
            parse_head(
                bytes,
                extent,
                state.revision.size,
                folder.name(),
                self.reading.reader,
                limits,
            )
        };
        let mut wanted = limits.head_bytes.max(1);
        if let Some(parsed) = parse(head, wanted, &state) {
            return Ok((parsed, state));
        }
        let mut buffer = Vec::new();
        loop {
            wanted = if wanted < limits.frontmatter_bytes / 4 {
                wanted * 4
            } else {
                limits.frontmatter_bytes + 4096
            };
            buffer.clear();
            let state = source.head(folder, wanted, &mut buffer)?;
            if let Some(parsed) = parse(&buffer, wanted, &state) {
                return Ok((parsed, state));
            }
        }
    }
}

/// Returns the place of what was put into a list just now; sources are capped far below what fits.
fn last<T>(list: &[T]) -> u32 {
    u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
}

/// Returns the skill that a file holds, or why it holds none.
pub(crate) fn found(
    source: usize,
    folder: Folder,
    parsed: Parsed,
    state: FileState,
) -> FoundFolder {
    let Parsed {
        manifest,
        body,
        repaired,
        mut diagnostics,
    } = parsed;
    if state.stability == Stability::Changing {
        let message = "File kept changing while it was read";
        diagnostics.push(Diagnostic::new(Code::Changing, None, message));
    }
    let revision = state.revision;
    let diagnostics = diagnostics.into_boxed_slice();
    match manifest {
        Some(manifest) => FoundFolder::Skill(Arc::new(Skill {
            manifest,
            source,
            folder,
            revision,
            body_start: body.unwrap_or_default() as u64,
            repaired,
            diagnostics,
        })),
        None => FoundFolder::Refused(Arc::new(RefusedFolder {
            source,
            folder,
            revision: Some(revision),
            diagnostics,
        })),
    }
}

/// Returns an error with its cause, or with its rule.
fn chain(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Refused => format!("{error}. {}", error.hint()),
        _ => error.with_cause(),
    }
}
