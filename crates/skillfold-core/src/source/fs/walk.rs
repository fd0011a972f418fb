//! Searches a tree for skills, within limits, and reports everything that it skips.

use std::collections::HashSet;
use std::io;

use crate::codes::Code;
use crate::error::{Error, is_transient};
use crate::findings::LimitedFindings;
use crate::invisible::hidden_characters;
use crate::source::folder::Reached;
use crate::source::fs::budget::WalkCounts;
use crate::source::fs::tree::{
    self, AccessRule, Encoding, EntryKind, OpenedSkillFile, RawEntry, Tree,
};
use crate::source::fs::tree::{is_link_refusal, join, read_stable};
use crate::source::{
    Finding, Folder, FolderIdentity, HiddenPolicy, LinkPolicy, ListedFolder, SKILL_FILE,
    ScannedFolder, WalkOptions, WalkReport,
};

/// Folders that never hold skills of their own.
const NEVER_SEARCHED: [&str; 2] = [".git", "node_modules"];

/// How the names of folders begin in which a skill is being written.
const BEING_WRITTEN: &str = ".skillfold-write-";

/// How the names of folders begin in which an edit is kept that would have been lost when a skill was changed.
const KEPT_ASIDE: &str = ".skillfold-kept-";

/// Searches the tree and passes each skill to `visitor`. Returns a report and what was used of the limits; fails
/// only if the root cannot be read.
pub(super) fn walk(
    tree: &dyn Tree,
    root_name: &str,
    options: &WalkOptions,
    visitor: &mut dyn SkillVisitor,
) -> io::Result<(WalkReport, WalkCounts)> {
    let mut search = SkillWalk::new(tree, options, visitor);
    if !search.visit_candidate(&SkillCandidate::root(root_name), None) {
        search.visited.insert(tree.identity("")?);
        let entries = tree.entries("", options.limits.walk_entries.saturating_add(1))?;
        let root = PendingFolder {
            path: String::new(),
            depth: 0,
            reached: Reached::Direct,
        };
        let pending = search.visit_entries(&root, entries);
        search.search_pending(pending);
    }
    let used = WalkCounts {
        folders: search.folders,
        entries: search.entries,
        skills: search.skills,
    };
    Ok((search.finish(), used))
}

/// Searches one folder of the tree and everything below it, as [`walk`] would. Returns `None` if only a full walk can
/// tell what belongs there.
pub(super) fn walk_at(
    tree: &dyn Tree,
    options: &WalkOptions,
    path: &str,
    visitor: &mut dyn SkillVisitor,
) -> Option<WalkReport> {
    let mut search = SkillWalk::new(tree, options, visitor);
    let ends = path.match_indices('/').map(|(at, _)| at);
    let prefixes: Vec<&str> = ends.chain([path.len()]).map(|end| &path[..end]).collect();
    let mut parent = "";
    for (depth, prefix) in (1..).zip(&prefixes) {
        // Nothing is searched below a skill, nor below an irregular `SKILL.md`.
        match tree.stat(parent) {
            Err(error) if is_absent(&error) => {}
            _ => return None,
        }
        let kind = match tree.lstat(prefix) {
            Ok(kind) => kind,
            Err(error) if is_absent(&error) => return Some(WalkReport::default()),
            Err(_) => return None,
        };
        let is_last = depth == prefixes.len();
        let name = prefix.rsplit('/').next().unwrap_or_default();
        let entry = RawEntry::new(name.into(), Encoding::Utf8, kind);
        if kind == EntryKind::Link {
            return None;
        }
        if !search.may_hold_skill(&entry, prefix) {
            // A folder above `path` was reported by an earlier walk.
            return Some(if is_last {
                search.finish()
            } else {
                WalkReport::default()
            });
        }
        if is_last {
            let candidate = SkillCandidate {
                path: prefix,
                root_name: None,
                reached: Reached::Direct,
            };
            if !search.visit_candidate(&candidate, None) {
                let mut pending = Vec::new();
                search.push_pending(prefix, depth, Reached::Direct, &mut pending);
                search.search_pending(pending);
            }
        }
        parent = prefix;
    }
    Some(search.finish())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns whether an error is transient, so that it tells nothing about the path.
fn is_inconclusive(error: &io::Error) -> bool {
    AccessRule::from_error(error).is_none() && !is_link_refusal(error) && is_transient(error)
}

/// A folder that may be a skill.
pub(super) struct SkillCandidate<'a> {
    path: &'a str,
    /// The name of the root, if this is the root.
    root_name: Option<&'a str>,
    reached: Reached,
}

impl<'a> SkillCandidate<'a> {
    fn root(name: &'a str) -> Self {
        Self {
            path: "",
            root_name: Some(name),
            reached: Reached::Direct,
        }
    }

    /// Returns the folder; the walk has already refused unprintable names.
    fn folder(&self) -> Folder {
        self.root_name
            .map_or_else(|| Folder::from_walk(self.path, self.reached), Folder::root)
    }
}

/// A folder that is not a skill and is still to be searched.
struct PendingFolder {
    path: String,
    depth: usize,
    reached: Reached,
}

/// Visits the folders that may be skills.
pub(super) trait SkillVisitor {
    /// Stats the `SKILL.md` of several entries of a folder before they are visited, if batching saves work.
    fn prefetch(&mut self, tree: &dyn Tree, folder: &str, entries: &[RawEntry]) -> EntryStats {
        let _ = (tree, folder, entries);
        EntryStats::default()
    }

    /// Stats the `SKILL.md` of a folder, unless it was prefetched, and reports it if it is a regular file.
    fn visit(
        &mut self,
        tree: &dyn Tree,
        candidate: &SkillCandidate<'_>,
        prefetched: EntryStat,
    ) -> io::Result<EntryKind>;
}

/// Prefetched stats of the next entries, in order; empty if there was no prefetch.
type EntryStats = std::vec::IntoIter<io::Result<tree::Stat>>;

/// The prefetched stat of one entry, if there is one.
type EntryStat = Option<io::Result<tree::Stat>>;

/// Entries per prefetch: enough to save work, and few enough that the results stay in the CPU cache.
const PREFETCH_BATCH: usize = 512;
/// Minimum entries of a folder to prefetch.
const MIN_PREFETCH_ENTRIES: usize = 16;

/// Lists skills with the revisions of their files.
pub(super) struct StatVisitor<'a> {
    pub(super) found: &'a mut dyn FnMut(ListedFolder),
}

impl SkillVisitor for StatVisitor<'_> {
    fn prefetch(&mut self, tree: &dyn Tree, folder: &str, entries: &[RawEntry]) -> EntryStats {
        let stats = tree.stats(folder, entries);
        stats.unwrap_or_default().into_iter()
    }

    fn visit(
        &mut self,
        tree: &dyn Tree,
        candidate: &SkillCandidate<'_>,
        prefetched: EntryStat,
    ) -> io::Result<EntryKind> {
        let stat = prefetched.unwrap_or_else(|| tree.stat(candidate.path))?;
        if stat.kind == EntryKind::File {
            (self.found)(ListedFolder {
                folder: candidate.folder(),
                revision: stat.revision,
                identity: stat.identity,
            });
        }
        Ok(stat.kind)
    }
}

/// Reads the start of each skill's file.
pub(super) struct HeadVisitor<'a> {
    pub(super) bytes: usize,
    pub(super) buffer: Vec<u8>,
    pub(super) found: &'a mut dyn FnMut(ScannedFolder<'_>),
}

impl SkillVisitor for HeadVisitor<'_> {
    fn visit(
        &mut self,
        tree: &dyn Tree,
        candidate: &SkillCandidate<'_>,
        _: EntryStat,
    ) -> io::Result<EntryKind> {
        self.buffer.clear();
        let mut stat = None;
        let state = read_stable(&mut self.buffer, |into| {
            let OpenedSkillFile {
                stat: opened,
                after,
            } = tree.open_head(candidate.path, self.bytes, into)?;
            let before = opened.revision;
            stat = Some(opened);
            Ok((before, after))
        });
        let state = match state {
            Ok(state) => state,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return self.visit_unreadable(tree, candidate, error);
            }
            Err(error) => return Err(error),
        };
        let Some(stat) = stat else {
            return Ok(EntryKind::Other);
        };
        if stat.kind == EntryKind::File {
            let listed = ListedFolder {
                folder: candidate.folder(),
                revision: state.revision,
                identity: stat.identity,
            };
            (self.found)(ScannedFolder {
                listed,
                state: Ok(state),
                head: &self.buffer,
            });
        }
        Ok(stat.kind)
    }
}

impl HeadVisitor<'_> {
    /// Reports a file that exists but may not be read, as [`StatVisitor`] would, with the error.
    fn visit_unreadable(
        &mut self,
        tree: &dyn Tree,
        candidate: &SkillCandidate<'_>,
        error: io::Error,
    ) -> io::Result<EntryKind> {
        let stat = tree.stat(candidate.path)?;
        if stat.kind == EntryKind::File {
            let listed = ListedFolder {
                folder: candidate.folder(),
                revision: stat.revision,
                identity: stat.identity,
            };
            let error = Error::read(join(candidate.path, SKILL_FILE), error);
            (self.found)(ScannedFolder::new(listed, Err(error), &[]));
        }
        Ok(stat.kind)
    }
}

/// Returns whether a name has no invisible characters.
fn is_printable_name(name: &str) -> bool {
    let is_plain = |byte: u8| (b' '..0x7f).contains(&byte);
    name.bytes().all(is_plain) || hidden_characters(name).next().is_none()
}

struct SkillWalk<'a> {
    tree: &'a dyn Tree,
    options: &'a WalkOptions,
    visitor: &'a mut dyn SkillVisitor,
    /// Set when a link is followed, wherever it leads: its target may change later.
    followed_links: bool,
    findings: LimitedFindings<Finding>,
    visited: HashSet<FolderIdentity>,
    skills: usize,
    folders: usize,
    entries: usize,
    /// What was temporarily unreadable. Every path is needed, since the known state below it is kept.
    unavailable: Vec<Finding>,
    /// Where a limit ended the search, and which one. Reported even if there are too many other findings.
    stopped_at: Option<Finding>,
}

impl<'a> SkillWalk<'a> {
    fn new(
        tree: &'a dyn Tree,
        options: &'a WalkOptions,
        visitor: &'a mut dyn SkillVisitor,
    ) -> Self {
        Self {
            tree,
            options,
            visitor,
            followed_links: false,
            findings: LimitedFindings::new(options.limits.findings),
            visited: HashSet::new(),
            skills: 0,
            folders: 0,
            entries: 0,
            unavailable: Vec::new(),
            stopped_at: None,
        }
    }

    /// Searches the pending folders, last one first.
    fn search_pending(&mut self, mut pending: Vec<PendingFolder>) {
        while let Some(next) = pending.pop() {
            if self.is_stopped(&next.path) {
                break;
            }
            pending.extend(self.descend(&next));
        }
    }

    /// Adds a folder to the pending ones, unless it is too deep.
    fn push_pending(
        &mut self,
        path: &str,
        depth: usize,
        reached: Reached,
        pending: &mut Vec<PendingFolder>,
    ) {
        if depth >= self.options.limits.walk_depth {
            self.report(
                Code::BoundReached,
                path,
                "Folder is nested too deep and was not searched:",
            );
        } else {
            let path = path.to_owned();
            pending.push(PendingFolder {
                path,
                depth,
                reached,
            });
        }
    }

    /// Lists a folder that is not a skill, and returns the subfolders to search in reverse order.
    fn descend(&mut self, folder: &PendingFolder) -> Vec<PendingFolder> {
        let path = &*folder.path;
        self.folders += 1;
        let left =
            (self.options.limits.walk_entries.saturating_add(1)).saturating_sub(self.entries);
        // Many links may lead to one large folder, so list it only once.
        let entries = match self.tree.identity(path) {
            Ok(identity) if !self.visited.insert(identity.clone()) => {
                self.report(
                    Code::Loop,
                    path,
                    "Folder was already searched by another path:",
                );
                return Vec::new();
            }
            Ok(_) => self.tree.entries(path, left),
            Err(error) => Err(error),
        };
        match entries {
            Ok(entries) => return self.visit_entries(folder, entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.report(Code::Vanished, path, "Folder vanished:");
            }
            Err(error) if is_inconclusive(&error) => {
                self.report_unavailable(path, "Folder", &error);
            }
            Err(error) => self.report(
                Code::FolderUnreadable,
                path,
                &format!("Folder could not be read ({error}):"),
            ),
        }
        Vec::new()
    }

    /// Visits the skills among the entries of a folder, and returns the subfolders to search in reverse order.
    fn visit_entries(
        &mut self,
        folder: &PendingFolder,
        mut entries: Vec<RawEntry>,
    ) -> Vec<PendingFolder> {
        let depth = folder.depth + 1;
        // Visit real folders first, so that a skill that is also linked is known by its own path.
        let is_link = |entry: &RawEntry| entry.kind == EntryKind::Link;
        entries.sort_unstable_by(|a, b| is_link(a).cmp(&is_link(b)).then_with(|| a.cmp_by_name(b)));
        let mut subfolders = Vec::new();
        // All paths are built in one buffer.
        let mut full = join(&folder.path, "");
        let prefix_length = full.len();
        let mut prefetched = EntryStats::default();
        for (at, entry) in entries.iter().enumerate() {
            full.truncate(prefix_length);
            full.push_str(&entry.name);
            if self.is_stopped(&full) {
                break;
            }
            if at % PREFETCH_BATCH == 0 && entries.len() >= MIN_PREFETCH_ENTRIES {
                let end = entries.len().min(at + PREFETCH_BATCH);
                prefetched = self
                    .visitor
                    .prefetch(self.tree, &folder.path, &entries[at..end]);
            }
            let stat = prefetched.next();
            self.entries += 1;
            if !self.may_hold_skill(entry, &full) {
                continue;
            }
            // Everything below a link was reached through it.
            let reached = if is_link(entry) {
                Reached::Linked
            } else {
                folder.reached
            };
            let candidate = SkillCandidate {
                path: &full,
                root_name: None,
                reached,
            };
            if is_link(entry) {
                self.followed_links = true;
            }
            if self.visit_candidate(&candidate, stat) || !self.is_searchable(entry, &full) {
                continue;
            }
            self.push_pending(&full, depth, reached, &mut subfolders);
        }
        subfolders.reverse();
        subfolders
    }

    /// Returns whether an entry can be a skill or contain one; reports it if a rule excludes it.
    fn may_hold_skill(&mut self, entry: &RawEntry, full: &str) -> bool {
        let name = &*entry.name;
        match entry.kind {
            EntryKind::Other => return false,
            EntryKind::File | EntryKind::HardLinked => {
                if name.eq_ignore_ascii_case(SKILL_FILE) && name != SKILL_FILE {
                    self.report(Code::FileName, full, "File is not named `SKILL.md`:");
                }
                return false;
            }
            EntryKind::Folder | EntryKind::Link => {}
        }
        if entry.encoding == Encoding::Other || !is_printable_name(name) {
            self.report(Code::FolderName, full, "Folder name is not printable:");
            return false;
        }
        if name.starts_with(KEPT_ASIDE) {
            self.report(Code::KeptAside, full, "Edit was saved aside:");
            return false;
        }
        if NEVER_SEARCHED.contains(&name)
            || name.starts_with(BEING_WRITTEN)
            || (name.starts_with('.') && self.options.hidden == HiddenPolicy::Skip)
        {
            self.report(Code::Skipped, full, "Folder was not searched:");
            return false;
        }
        if entry.kind == EntryKind::Link && self.tree.links() != LinkPolicy::Follow {
            self.report(Code::LinkNotFollowed, full, "Link was not followed:");
            return false;
        }
        true
    }

    /// Returns whether an entry that is not a skill is a folder or a link to one.
    fn is_searchable(&mut self, entry: &RawEntry, full: &str) -> bool {
        if entry.kind == EntryKind::Folder {
            return true;
        }
        match self.tree.target_kind(full) {
            Ok(target) => return target == EntryKind::Folder,
            Err(error) if is_inconclusive(&error) => self.report_unavailable(full, "Link", &error),
            Err(_) => self.report(Code::DanglingLink, full, "Link target does not exist:"),
        }
        false
    }

    /// Visits a folder that may have a `SKILL.md`. Returns whether the search ends there.
    fn visit_candidate(&mut self, candidate: &SkillCandidate<'_>, prefetched: EntryStat) -> bool {
        let path = candidate.path;
        let kind = match self.visitor.visit(self.tree, candidate, prefetched) {
            Ok(kind) => kind,
            Err(error) if is_absent(&error) => return false,
            Err(error) if is_link_refusal(&error) => {
                self.report(Code::Loop, path, "Link forms a loop:");
                return true;
            }
            Err(error) if is_inconclusive(&error) => {
                self.report_unavailable(path, "`SKILL.md`", &error);
                return true;
            }
            Err(error) => {
                self.report(
                    Code::SkillFileUnreadable,
                    path,
                    &format!("`SKILL.md` could not be read ({error}):"),
                );
                return true;
            }
        };
        match kind {
            EntryKind::File => self.skills += 1,
            EntryKind::Link => self.report(Code::SkillFileLink, path, "`SKILL.md` is a link:"),
            EntryKind::HardLinked => {
                self.report(Code::HardLinks, path, "`SKILL.md` has several hard links:");
            }
            EntryKind::Folder | EntryKind::Other => self.report(
                Code::SkillFileKind,
                path,
                "`SKILL.md` is not a regular file:",
            ),
        }
        true
    }

    /// Returns whether a limit has ended the search, or ends it at this path.
    fn is_stopped(&mut self, path: &str) -> bool {
        let limits = &self.options.limits;
        let bound = if self.stopped_at.is_some() {
            return true;
        } else if self.skills >= limits.skills {
            format!("Search stopped after {} skills, before", limits.skills)
        } else if self.entries >= limits.walk_entries {
            format!(
                "Search stopped after {} entries, before",
                limits.walk_entries
            )
        } else if self.folders > limits.walk_folders {
            format!(
                "Search stopped after {} folders without a skill, before",
                limits.walk_folders
            )
        } else {
            return false;
        };
        self.stopped_at = Some(Finding::new(Code::BoundReached, path, &bound));
        true
    }

    fn report(&mut self, code: Code, path: &str, what: &str) {
        self.findings.push(|| Finding::new(code, path, what));
    }

    /// Reports a path that is temporarily unreadable. Too many of them are replaced by one for the whole root.
    fn report_unavailable(&mut self, path: &str, what: &str, error: &io::Error) {
        if self.unavailable.len() <= self.options.limits.findings {
            let what = format!("{what} cannot be read right now ({error}):");
            self.unavailable
                .push(Finding::new(Code::Unavailable, path, &what));
        }
    }

    fn finish(mut self) -> WalkReport {
        if self.unavailable.len() > self.options.limits.findings {
            let what = format!(
                "More than {} folders cannot be read right now in",
                self.options.limits.findings
            );
            self.unavailable = vec![Finding::new(Code::Unavailable, "", &what)];
        }
        for finding in self.unavailable.into_iter().chain(self.stopped_at) {
            self.findings.push_always(finding);
        }
        WalkReport {
            findings: self.findings.finish(Finding::without_path),
            followed_links: self.followed_links,
        }
    }
}
