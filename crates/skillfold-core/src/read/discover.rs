//! Finds all skills of some sources. Reads the head of each `SKILL.md`, never the body.

use std::hash::RandomState;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Report, quoted};
use crate::error::{Error, ErrorKind};
use crate::findings::LimitedFindings;
use crate::read::bare::SEARCHED_BYTES;
use crate::read::frontmatter::Extent;
use crate::read::manifest::Manifest;
use crate::read::parse::{FrontmatterReader, Parsed, parse_head};
use crate::source::progress;
use crate::source::{
    FileState, Finding, Folder, FolderIdentity, ListedFolder, Revision, ScannedFolder, SkillLayout,
    Source, Stability, WalkOptions, WalkReport,
};

/// Options for finding and reading skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// How sources are searched, and the limits.
    pub walk: WalkOptions,
    /// Which reader parses a frontmatter block first.
    pub reader: FrontmatterReader,
}

setters! {
    ReadOptions {
        with_walk(walk: WalkOptions),
        with_reader(reader: FrontmatterReader),
    }
}

/// The result of searching some sources.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// The skills, ordered by source and folder.
    pub skills: Vec<Arc<Skill>>,
    /// The folders whose `SKILL.md` is not a skill, ordered by source and folder.
    pub refused: Vec<Arc<RefusedFolder>>,
    /// What was skipped in each source, and why.
    pub findings: Vec<SourceFinding>,
    /// Whether a link was followed in any source.
    pub(crate) followed_links: bool,
}

/// One skill: its metadata, and where to read the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skill {
    /// The metadata from the frontmatter.
    pub manifest: Manifest,
    /// The index of its source in the list that was searched.
    pub source: usize,
    /// Its folder inside the source.
    pub folder: Folder,
    /// The revision of the file that was read.
    pub revision: Revision,
    /// The offset of the first byte of the instructions.
    pub body_start: u64,
    /// Whether the frontmatter was repaired.
    pub repaired: bool,
    /// The diagnostics of the file.
    pub diagnostics: Box<[Diagnostic]>,
}

impl Skill {
    /// Returns the length of the instructions in bytes, from the size of the file.
    pub fn body_bytes(&self) -> u64 {
        self.revision.size().saturating_sub(self.body_start)
    }

    /// Returns whether the file has a description, so that none was taken from its instructions.
    pub(crate) fn describes_itself(&self) -> bool {
        let mut diagnostics = self.diagnostics.iter();
        diagnostics.all(|diagnostic| diagnostic.code != Code::DescriptionFromBody)
    }
}

/// A folder whose `SKILL.md` is not a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedFolder {
    /// The index of its source in the list that was searched.
    pub source: usize,
    /// The folder inside the source.
    pub folder: Folder,
    /// The revision of the file, if it could be read.
    pub revision: Option<Revision>,
    /// Why it is not a skill.
    pub diagnostics: Box<[Diagnostic]>,
}

/// A finding about a path in one of the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFinding {
    /// The index of the source in the list that was searched.
    pub source: usize,
    /// The finding.
    pub finding: Finding,
}

/// Finds all skills of `sources`.
///
/// A folder that is reachable several ways is one skill, known by the first source and path that lead to it. The search
/// never fails: what cannot be read is in the findings, and a broken skill never hides a good one.
pub fn discover(sources: &[&dyn Source], options: &ReadOptions) -> Discovery {
    discover_with(sources, options, &mut NoCache)
}

/// Finds all skills of `sources`, and reads only the files that `cache` does not know.
pub(crate) fn discover_with(
    sources: &[&dyn Source],
    options: &ReadOptions,
    cache: &mut dyn ScanCache,
) -> Discovery {
    let mut discoverer = Discoverer::new(options, cache);
    discoverer.reserve();
    for (index, source) in sources.iter().enumerate() {
        discoverer.search_source(index, *source);
        discoverer.finish_source(index);
    }
    let mut found = discoverer.found;
    found.skills.shrink_to_fit();
    found.sort();
    found
}

/// Finds the skills at and below one folder of a source, and reads only the files that `cache` does not know. Returns
/// `None` if only a full search can tell.
pub(crate) fn discover_at(
    (index, source): (usize, &dyn Source),
    path: &str,
    options: &ReadOptions,
    cache: &mut dyn ScanCache,
) -> Option<Discovery> {
    let mut discoverer = Discoverer::new(options, cache);
    let mut buffer = Vec::new();
    let report = source.survey_at(&options.walk, path, &mut |listed| {
        discoverer.visit_listed(index, source, listed, &mut buffer);
    })?;
    discoverer.add_report(report);
    discoverer.finish_source(index);
    let mut found = discoverer.found;
    found.sort();
    Some(found)
}

impl Discovery {
    /// Adds a folder at the end.
    pub(crate) fn push(&mut self, folder: FoundFolder) {
        match folder {
            FoundFolder::Skill(skill) => self.skills.push(skill),
            FoundFolder::Refused(refused) => self.refused.push(refused),
        }
    }

    /// Sorts skills and refused folders by source and folder.
    pub(crate) fn sort(&mut self) {
        // The walk yields a few long sorted runs, which a stable sort only has to merge.
        let by_location = |a: (usize, &Folder), b: (usize, &Folder)| a.cmp(&b);
        self.skills
            .sort_by(|a, b| by_location((a.source, &a.folder), (b.source, &b.folder)));
        self.refused
            .sort_by(|a, b| by_location((a.source, &a.folder), (b.source, &b.folder)));
    }
}

/// The results of an earlier scan.
pub(crate) trait ScanCache {
    /// Returns whether anything of a source is cached, so that checking revisions before reading pays off.
    fn has_entries(&self, source: usize) -> bool;

    /// Returns the number of cached folders of all sources.
    fn len(&self) -> usize;

    /// Returns the cached content of a folder, if it cannot have changed since.
    fn find_unchanged(&mut self, source: usize, listed: &ListedFolder) -> Option<FoundFolder>;
}

/// A skill or a refused folder.
#[derive(Clone, Debug, PartialEq)]
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

    pub(crate) fn revision(&self) -> Option<Revision> {
        match self {
            Self::Skill(skill) => Some(skill.revision),
            Self::Refused(refused) => refused.revision,
        }
    }

    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Skill(skill) => &skill.diagnostics,
            Self::Refused(refused) => &refused.diagnostics,
        }
    }

    /// Returns the folder with its source index updated; shares it if the index is the same.
    pub(crate) fn with_source(self, source: usize) -> Self {
        match self {
            Self::Skill(skill) if skill.source != source => Self::Skill(Arc::new(Skill {
                source,
                ..Skill::clone(&skill)
            })),
            Self::Refused(refused) if refused.source != source => {
                Self::Refused(Arc::new(RefusedFolder {
                    source,
                    ..RefusedFolder::clone(&refused)
                }))
            }
            same => same,
        }
    }
}

/// The content of a folder's file: from the cache, or parsed.
enum FolderContent {
    Known(FoundFolder),
    Read(Parsed, FileState),
}

/// The empty cache.
struct NoCache;

impl ScanCache for NoCache {
    fn has_entries(&self, _: usize) -> bool {
        false
    }

    fn len(&self) -> usize {
        0
    }

    fn find_unchanged(&mut self, _: usize, _: &ListedFolder) -> Option<FoundFolder> {
        None
    }
}

struct Discoverer<'a> {
    options: &'a ReadOptions,
    cache: &'a mut dyn ScanCache,
    found: Discovery,
    /// The identity of each folder, and its index in `found`.
    identities: Vec<(FolderIdentity, FoundIndex)>,
    /// Indices into `identities` by hash. Storing only numbers keeps the table small enough for the CPU cache.
    by_identity: HashTable<u32>,
    hasher: RandomState,
    /// Findings about the current source.
    findings: LimitedFindings<Finding>,
}

/// An index into a [`Discovery`].
#[derive(Clone, Copy)]
enum FoundIndex {
    Skill(u32),
    Refused(u32),
    /// The file vanished while it was read, or was temporarily unreadable.
    Unread,
}

impl<'a> Discoverer<'a> {
    fn new(options: &'a ReadOptions, cache: &'a mut dyn ScanCache) -> Self {
        Self {
            options,
            cache,
            found: Discovery::default(),
            identities: Vec::new(),
            by_identity: HashTable::new(),
            hasher: RandomState::new(),
            findings: LimitedFindings::new(options.walk.limits.findings),
        }
    }

    /// Reserves capacity for as many folders as the cache has.
    fn reserve(&mut self) {
        let expected = self.cache.len();
        self.found.skills.reserve(expected);
        self.identities.reserve(expected);
        let (identities, hasher) = (&self.identities, &self.hasher);
        let hash = |at: &u32| identities[*at as usize].0.hash(hasher);
        self.by_identity.reserve(expected, hash);
    }

    fn search_source(&mut self, index: usize, source: &dyn Source) {
        let walk = &self.options.walk;
        let head_bytes = walk.limits.head_bytes.max(1);
        let walked = if self.cache.has_entries(index) {
            let mut buffer = Vec::new();
            source.survey(walk, &mut |listed| {
                self.visit_listed(index, source, listed, &mut buffer);
            })
        } else {
            source.scan(walk, head_bytes, &mut |scanned| {
                self.visit_scanned(index, source, scanned);
            })
        };
        match walked {
            Ok(report) => self.add_report(report),
            Err(error) => {
                let (code, when) = if error.is_transient() {
                    (Code::Unavailable, " just now")
                } else {
                    (Code::FolderUnreadable, "")
                };
                let what = format!(
                    "Source could not be listed{when} ({}):",
                    describe_error(&error)
                );
                self.report(Finding::new(code, "", &what));
            }
        }
    }

    /// Adds a listed folder, and reads its file unless the cache has it.
    fn visit_listed(
        &mut self,
        index: usize,
        source: &dyn Source,
        listed: ListedFolder,
        buffer: &mut Vec<u8>,
    ) {
        if let Some(found) = self.cache.find_unchanged(index, &listed) {
            return self.add_folder(index, listed, |_, _| Ok(FolderContent::Known(found)));
        }
        let head_bytes = self.options.walk.limits.head_bytes.max(1);
        self.add_folder(index, listed, |discoverer, folder| {
            buffer.clear();
            let state = source.head(folder, head_bytes, buffer)?;
            progress::report("reading", discoverer.found.skills.len() + 1, 0);
            let (parsed, state) = discoverer.parse_file(source, folder, buffer, state)?;
            Ok(FolderContent::Read(parsed, state))
        });
    }

    fn add_report(&mut self, report: WalkReport) {
        self.found.followed_links |= report.followed_links;
        for finding in report.findings {
            self.report(finding);
        }
    }

    /// Reports a finding about the current source. Over the limit, informational findings are only counted.
    fn report(&mut self, finding: Finding) {
        if finding.diagnostic.severity == Severity::Info {
            self.findings.push(|| finding);
        } else {
            self.findings.push_always(finding);
        }
    }

    /// Moves the findings about the current source into the result.
    fn finish_source(&mut self, source: usize) {
        let next = LimitedFindings::new(self.options.walk.limits.findings);
        let findings = std::mem::replace(&mut self.findings, next);
        let findings = findings.finish(Finding::without_path).into_iter();
        let findings = findings.map(|finding| SourceFinding { source, finding });
        self.found.findings.extend(findings);
    }

    fn visit_scanned(&mut self, index: usize, source: &dyn Source, scanned: ScannedFolder<'_>) {
        let ScannedFolder {
            listed,
            state,
            head,
        } = scanned;
        self.add_folder(index, listed, |discoverer, folder| {
            let read = state.and_then(|state| discoverer.parse_file(source, folder, head, state));
            read.map(|(parsed, state)| FolderContent::Read(parsed, state))
        });
    }

    /// Adds the content of a folder, unless the folder is already known by another path.
    fn add_folder(
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
            let is_equal = |at: &u32| self.identities[*at as usize].0 == *identity;
            self.by_identity.find(hash, is_equal)
        });
        if let Some(at) = known {
            let first = match &self.identities[*at as usize].1 {
                FoundIndex::Skill(at) => &self.found.skills[*at as usize].folder,
                FoundIndex::Refused(at) => &self.found.refused[*at as usize].folder,
                FoundIndex::Unread => &folder,
            };
            let what = format!("Same folder as {}:", quoted(&first.to_string()));
            return self.report(Finding::new(Code::SameFolder, folder.path(), &what));
        }
        let found = match read(self, &folder) {
            Ok(FolderContent::Known(found)) => Some(found),
            Ok(FolderContent::Read(parsed, state)) => {
                Some(to_found_folder(index, folder, parsed, state))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let what = "Skill vanished while it was read:";
                self.report(Finding::new(Code::Vanished, folder.path(), what));
                None
            }
            Err(error) if error.is_transient() => {
                let what = format!(
                    "`SKILL.md` cannot be read right now ({}):",
                    describe_error(&error)
                );
                self.report(Finding::new(Code::Unavailable, folder.path(), &what));
                None
            }
            Err(error) => {
                let message = format!("`SKILL.md` could not be read: {}", describe_error(&error));
                let unreadable = Diagnostic::new(Code::SkillFileUnreadable, None, message);
                Some(FoundFolder::Refused(Arc::new(RefusedFolder {
                    source: index,
                    folder,
                    revision: None,
                    diagnostics: Box::new([unreadable]),
                })))
            }
        };
        let found_index = found.map_or(FoundIndex::Unread, |found| self.push(found));
        if let Some((hash, identity)) = hash.zip(identity) {
            self.identities.push((identity, found_index));
            let (identities, hasher) = (&self.identities, &self.hasher);
            let hash_of = |at: &u32| identities[*at as usize].0.hash(hasher);
            self.by_identity
                .insert_unique(hash, last_index(identities), hash_of);
        }
    }

    fn push(&mut self, found: FoundFolder) -> FoundIndex {
        let is_skill = matches!(found, FoundFolder::Skill(_));
        self.found.push(found);
        if is_skill {
            FoundIndex::Skill(last_index(&self.found.skills))
        } else {
            FoundIndex::Refused(last_index(&self.found.refused))
        }
    }

    /// Parses the head of a file, and reads more of it if the frontmatter is longer than the head.
    fn parse_file(
        &self,
        source: &dyn Source,
        folder: &Folder,
        head: &[u8],
        state: FileState,
    ) -> Result<(Parsed, FileState), Error> {
        let limits = &self.options.walk.limits;
        let parse = |bytes: &[u8], wanted: usize, state: &FileState| {
            // The last step reads past the limit, so that frontmatter just above it is detected.
            let last = wanted > limits.frontmatter_bytes;
            let extent = if last || bytes.len() < wanted {
                Extent::Whole
            } else {
                Extent::Head
            };
            parse_head(
                bytes,
                extent,
                state.revision.size(),
                folder.name(),
                self.options.reader,
                limits,
            )
        };
        let finish = |mut parsed: Parsed| {
            drop_unneeded(&mut parsed.diagnostics, source.layout());
            parsed
        };
        let mut wanted = limits.head_bytes.max(1);
        if let Some(parsed) = parse(head, wanted, &state) {
            return Ok((finish(parsed), state));
        }
        let mut buffer = Vec::new();
        loop {
            wanted = if wanted < limits.frontmatter_bytes / 4 {
                wanted * 4
            } else {
                limits.frontmatter_bytes + 2 * SEARCHED_BYTES
            };
            buffer.clear();
            let state = source.head(folder, wanted, &mut buffer)?;
            if let Some(parsed) = parse(&buffer, wanted, &state) {
                return Ok((finish(parsed), state));
            }
        }
    }
}

/// Drops the findings about what a command need not have.
pub(crate) fn drop_unneeded(findings: &mut Vec<Diagnostic>, layout: SkillLayout) {
    let is_unneeded = |code: Code| {
        matches!(
            code,
            Code::NoFrontmatter | Code::MissingName | Code::MissingDescription
        )
    };
    if layout == SkillLayout::Files {
        findings.retain(|finding| !is_unneeded(finding.code));
    }
}

/// Returns the index of the last element. The limits on sources keep it far below `u32::MAX`.
fn last_index<T>(list: &[T]) -> u32 {
    u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
}

/// Builds a skill from a parsed file, or a refused folder if it is not a skill.
pub(crate) fn to_found_folder(
    source: usize,
    folder: Folder,
    parsed: Parsed,
    state: FileState,
) -> FoundFolder {
    let Parsed {
        manifest,
        body_start: body,
        repaired,
        mut diagnostics,
    } = parsed;
    if state.stability == Stability::Changing {
        let message = "File kept changing while it was read";
        diagnostics.report(Code::Changing, None, message);
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

/// Describes an error with its cause or, for a refusal, with its rule.
fn describe_error(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Refused => format!("{error}. {}", error.hint()),
        _ => error.with_cause(),
    }
}
