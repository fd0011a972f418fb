//! Searches a tree for skills: bounded, and with a word about everything that is passed over.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, is_transient};
use crate::invisible::hidden_characters;
use crate::read::source::folder::Reached;
use crate::read::source::fs::budget::WalkCounts;
use crate::read::source::fs::tree::{
    self, AccessRule, Encoding, EntryKind, OpenedSkillFile, RawEntry, Tree,
};
use crate::read::source::fs::{is_link_refusal, join, steady};
use crate::read::source::{
    Finding, Folder, FolderIdentity, HiddenPolicy, LinkPolicy, ListedFolder, SKILL_FILE,
    ScannedFolder, WalkOptions,
};

/// Folders that never hold skills of their own.
const NEVER: [&str; 2] = [".git", "node_modules"];

/// Searches the tree and gives each skill to `taker`; returns what was passed over and what was done, and fails only if the
/// root cannot be read.
pub(super) fn walk(
    tree: &dyn Tree,
    root_name: &str,
    walk: &WalkOptions,
    taker: &mut dyn SkillVisitor,
    over_links: &AtomicBool,
) -> io::Result<(Vec<Finding>, WalkCounts)> {
    let mut search = SkillWalk::new(tree, walk, taker, over_links);
    if !search.take_skill(&SkillCandidate::root(root_name), None) {
        search.visited.insert(tree.identity("")?);
        let entries = tree.entries("", walk.limits.walk_entries.saturating_add(1))?;
        let root = PendingFolder {
            path: String::new(),
            depth: 0,
            way: Reached::Direct,
        };
        let open = search.folder(&root, entries);
        search.search(open);
    }
    search.finish();
    let used = WalkCounts {
        folders: search.folders,
        entries: search.entries,
        skills: search.skills,
    };
    Ok((search.findings, used))
}

/// Searches one folder of the tree and what is below it, as [`walk`] does on its way; returns nothing where only a walk of
/// the whole can tell what belongs there.
pub(super) fn walk_at(
    tree: &dyn Tree,
    walk: &WalkOptions,
    path: &str,
    taker: &mut dyn SkillVisitor,
    over_links: &AtomicBool,
) -> Option<Vec<Finding>> {
    let mut search = SkillWalk::new(tree, walk, taker, over_links);
    let ends = path.match_indices('/').map(|(at, _)| at);
    let ways: Vec<&str> = ends.chain([path.len()]).map(|end| &path[..end]).collect();
    let mut above = "";
    for (depth, way) in (1..).zip(&ways) {
        // Below a skill there is no other, and a file that only looks like one ends the search too.
        match tree.stat(above) {
            Err(error) if is_absent(&error) => {}
            _ => return None,
        }
        let kind = match tree.lstat(way) {
            Ok(kind) => kind,
            Err(error) if is_absent(&error) => return Some(Vec::new()),
            Err(_) => return None,
        };
        let is_last = depth == ways.len();
        let name = way.rsplit('/').next().unwrap_or_default();
        let entry = RawEntry::new(name.into(), Encoding::Utf8, kind);
        if kind == EntryKind::Link {
            return None;
        }
        if !search.is_wanted(&entry, way) {
            // What is above was reported when it was searched.
            search
                .findings
                .truncate(if is_last { usize::MAX } else { 0 });
            return Some(search.findings);
        }
        if is_last {
            let place = SkillCandidate {
                path: way,
                root_name: None,
                way: Reached::Direct,
            };
            if !search.take_skill(&place, None) {
                let mut open = Vec::new();
                search.open(way, depth, Reached::Direct, &mut open);
                search.search(open);
            }
        }
        above = way;
    }
    search.finish();
    Some(search.findings)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns whether an error says nothing about what is there.
fn is_unknown(error: &io::Error) -> bool {
    AccessRule::of(error).is_none() && !is_link_refusal(error) && is_transient(error)
}

/// A folder that may be a skill.
pub(super) struct SkillCandidate<'a> {
    path: &'a str,
    /// The name of the root, if it is the root.
    root_name: Option<&'a str>,
    way: Reached,
}

impl<'a> SkillCandidate<'a> {
    fn root(name: &'a str) -> Self {
        Self {
            path: "",
            root_name: Some(name),
            way: Reached::Direct,
        }
    }

    /// Returns the folder of a skill; the walk has refused what cannot be carried.
    fn folder(&self) -> Folder {
        self.root_name
            .map_or_else(|| Folder::walked(self.path, self.way), Folder::root)
    }
}

/// A folder that is no skill and is to be searched.
struct PendingFolder {
    path: String,
    depth: usize,
    way: Reached,
}

/// What is done with a folder that may be a skill.
pub(super) trait SkillVisitor {
    /// Looks at the `SKILL.md` of some entries of a folder before they are taken, where that is less work together.
    fn look(&mut self, tree: &dyn Tree, folder: &str, entries: &[RawEntry]) -> EntryStats {
        let _ = (tree, folder, entries);
        EntryStats::default()
    }

    /// Looks at the `SKILL.md` of a folder, unless somebody did, and takes it if it is a regular file.
    fn take(
        &mut self,
        tree: &dyn Tree,
        place: &SkillCandidate<'_>,
        looked: EntryStat,
    ) -> io::Result<EntryKind>;
}

/// What was seen of the next entries, in their order; nothing where nobody looked.
type EntryStats = std::vec::IntoIter<io::Result<tree::Stat>>;

/// What was seen of one entry, if somebody looked.
type EntryStat = Option<io::Result<tree::Stat>>;

/// Entries that are looked at together: so many that it saves work, and so few that what was seen is still at hand.
const TOGETHER: usize = 512;
/// Entries of a folder from which on it is worth it.
const WORTH_IT: usize = 16;

/// Lists skills with the state of their files.
pub(super) struct StatVisitor<'a> {
    pub(super) found: &'a mut dyn FnMut(ListedFolder),
}

impl SkillVisitor for StatVisitor<'_> {
    fn look(&mut self, tree: &dyn Tree, folder: &str, entries: &[RawEntry]) -> EntryStats {
        let seen = tree.stats(folder, entries);
        seen.unwrap_or_default().into_iter()
    }

    fn take(
        &mut self,
        tree: &dyn Tree,
        place: &SkillCandidate<'_>,
        looked: EntryStat,
    ) -> io::Result<EntryKind> {
        let stat = looked.unwrap_or_else(|| tree.stat(place.path))?;
        if stat.kind == EntryKind::File {
            (self.found)(ListedFolder {
                folder: place.folder(),
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
    fn take(
        &mut self,
        tree: &dyn Tree,
        place: &SkillCandidate<'_>,
        _: EntryStat,
    ) -> io::Result<EntryKind> {
        self.buffer.clear();
        let mut stat = None;
        let state = steady(&mut self.buffer, |into| {
            let OpenedSkillFile {
                stat: opened,
                after,
            } = tree.open_head(place.path, self.bytes, into)?;
            let before = opened.revision;
            stat = Some(opened);
            Ok((before, after))
        });
        let state = match state {
            Ok(state) => state,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return self.unreadable(tree, place, error);
            }
            Err(error) => return Err(error),
        };
        let Some(stat) = stat else {
            return Ok(EntryKind::Other);
        };
        if stat.kind == EntryKind::File {
            let listed = ListedFolder {
                folder: place.folder(),
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
    /// Takes a file that is there and may not be read, as one who only looks at its state would.
    fn unreadable(
        &mut self,
        tree: &dyn Tree,
        place: &SkillCandidate<'_>,
        error: io::Error,
    ) -> io::Result<EntryKind> {
        let stat = tree.stat(place.path)?;
        if stat.kind == EntryKind::File {
            let listed = ListedFolder {
                folder: place.folder(),
                revision: stat.revision,
                identity: stat.identity,
            };
            let error = Error::read(join(place.path, SKILL_FILE), error);
            (self.found)(ScannedFolder::new(listed, Err(error), &[]));
        }
        Ok(stat.kind)
    }
}

/// Returns whether a folder's name has no characters that a person does not see.
fn is_printable_name(name: &str) -> bool {
    let is_plain = |byte: u8| (b' '..0x7f).contains(&byte);
    name.bytes().all(is_plain) || hidden_characters(name).next().is_none()
}

struct SkillWalk<'a> {
    tree: &'a dyn Tree,
    walk: &'a WalkOptions,
    taker: &'a mut dyn SkillVisitor,
    /// Set where a link is followed, wherever it leads: what it leads to may be another tomorrow.
    over_links: &'a AtomicBool,
    findings: Vec<Finding>,
    visited: HashSet<FolderIdentity>,
    skills: usize,
    folders: usize,
    entries: usize,
    unreported: usize,
    /// What cannot be read right now. Each path is needed: what was known there stays.
    unavailable: Vec<Finding>,
    /// Where a bound ended the search, and which. It is reported whatever else there is to report.
    cut: Option<Finding>,
}

impl<'a> SkillWalk<'a> {
    fn new(
        tree: &'a dyn Tree,
        walk: &'a WalkOptions,
        taker: &'a mut dyn SkillVisitor,
        over_links: &'a AtomicBool,
    ) -> Self {
        Self {
            tree,
            walk,
            taker,
            over_links,
            findings: Vec::new(),
            visited: HashSet::new(),
            skills: 0,
            folders: 0,
            entries: 0,
            unreported: 0,
            unavailable: Vec::new(),
            cut: None,
        }
    }

    /// Searches folders that are no skills, the last one first.
    fn search(&mut self, mut open: Vec<PendingFolder>) {
        while let Some(next) = open.pop() {
            if self.is_done(&next.path) {
                break;
            }
            open.extend(self.descend(&next));
        }
    }

    /// Notes a folder that is to be searched, unless it is too deep.
    fn open(&mut self, path: &str, depth: usize, way: Reached, next: &mut Vec<PendingFolder>) {
        if depth >= self.walk.limits.walk_depth {
            self.report(
                Code::BoundReached,
                path,
                "Folder is nested too deep and was not searched:",
            );
        } else {
            let path = path.to_owned();
            next.push(PendingFolder { path, depth, way });
        }
    }

    /// Lists a folder that is no skill, and returns the folders to search next, last one first.
    fn descend(&mut self, open: &PendingFolder) -> Vec<PendingFolder> {
        let path = &*open.path;
        self.folders += 1;
        let left = (self.walk.limits.walk_entries.saturating_add(1)).saturating_sub(self.entries);
        // Many links may lead to one large folder; it is listed once.
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
            Ok(entries) => return self.folder(open, entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.report(Code::Vanished, path, "Folder vanished:");
            }
            Err(error) if is_unknown(&error) => self.unavailable(path, "Folder", &error),
            Err(error) => self.report(
                Code::FolderUnreadable,
                path,
                &format!("Folder could not be read ({error}):"),
            ),
        }
        Vec::new()
    }

    /// Takes the skills among the entries of a folder, and returns the folders to search next, last one first.
    fn folder(&mut self, open: &PendingFolder, mut entries: Vec<RawEntry>) -> Vec<PendingFolder> {
        let depth = open.depth + 1;
        // Real folders come first: a skill that links lead to as well is known by its own folder.
        let is_link = |entry: &RawEntry| entry.kind == EntryKind::Link;
        entries.sort_unstable_by(|a, b| is_link(a).cmp(&is_link(b)).then_with(|| a.by_name(b)));
        let mut next = Vec::new();
        // One path after the other, in the same place.
        let mut full = join(&open.path, "");
        let start = full.len();
        let mut looked = EntryStats::default();
        for (at, entry) in entries.iter().enumerate() {
            full.truncate(start);
            full.push_str(&entry.name);
            if self.is_done(&full) {
                break;
            }
            if at % TOGETHER == 0 && entries.len() >= WORTH_IT {
                let end = entries.len().min(at + TOGETHER);
                looked = self.taker.look(self.tree, &open.path, &entries[at..end]);
            }
            let seen = looked.next();
            self.entries += 1;
            if !self.is_wanted(entry, &full) {
                continue;
            }
            // What is below a link was found over it.
            let way = if is_link(entry) {
                Reached::Linked
            } else {
                open.way
            };
            let place = SkillCandidate {
                path: &full,
                root_name: None,
                way,
            };
            if is_link(entry) {
                self.over_links.store(true, Ordering::Relaxed);
            }
            if self.take_skill(&place, seen) || !self.leads_on(entry, &full) {
                continue;
            }
            self.open(&full, depth, way, &mut next);
        }
        next.reverse();
        next
    }

    /// Returns whether an entry can be or lead to a skill, and reports it if a rule speaks against it.
    fn is_wanted(&mut self, entry: &RawEntry, full: &str) -> bool {
        let name = &*entry.name;
        match entry.kind {
            EntryKind::Other => return false,
            EntryKind::File | EntryKind::Shared => {
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
        if NEVER.contains(&name)
            || (name.starts_with('.') && self.walk.hidden == HiddenPolicy::Skip)
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

    /// Returns whether an entry that is no skill is a folder that can be searched.
    fn leads_on(&mut self, entry: &RawEntry, full: &str) -> bool {
        if entry.kind == EntryKind::Folder {
            return true;
        }
        match self.tree.target(full) {
            Ok(target) => return target == EntryKind::Folder,
            Err(error) if is_unknown(&error) => self.unavailable(full, "Link", &error),
            Err(_) => self.report(Code::DanglingLink, full, "Link target does not exist:"),
        }
        false
    }

    /// Takes a folder if it holds a `SKILL.md`; returns whether the search ends there.
    fn take_skill(&mut self, place: &SkillCandidate<'_>, looked: EntryStat) -> bool {
        let path = place.path;
        let kind = match self.taker.take(self.tree, place, looked) {
            Ok(kind) => kind,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return false;
            }
            Err(error) if is_link_refusal(&error) => {
                self.report(Code::Loop, path, "Link forms a loop:");
                return true;
            }
            Err(error) if is_unknown(&error) => {
                self.unavailable(path, "`SKILL.md`", &error);
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
            EntryKind::Shared => {
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

    /// Returns whether a bound ended the search before or ends it here.
    fn is_done(&mut self, path: &str) -> bool {
        let limits = &self.walk.limits;
        let bound = if self.cut.is_some() {
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
        self.cut = Some(Finding::new(Code::BoundReached, path, &bound));
        true
    }

    fn report(&mut self, code: Code, path: &str, what: &str) {
        if self.findings.len() < self.walk.limits.findings {
            self.findings.push(Finding::new(code, path, what));
        } else {
            self.unreported += 1;
        }
    }

    /// Reports what could not be read for a reason that may pass. Too many of them stand for the whole root.
    fn unavailable(&mut self, path: &str, what: &str, error: &io::Error) {
        if self.unavailable.len() <= self.walk.limits.findings {
            let what = format!("{what} cannot be read right now ({error}):");
            self.unavailable
                .push(Finding::new(Code::Unavailable, path, &what));
        }
    }

    fn finish(&mut self) {
        if self.unavailable.len() > self.walk.limits.findings {
            let what = format!(
                "More than {} folders cannot be read right now in",
                self.walk.limits.findings
            );
            self.unavailable = vec![Finding::new(Code::Unavailable, "", &what)];
        }
        self.findings.append(&mut self.unavailable);
        self.findings.extend(self.cut.take());
        if self.unreported > 0 {
            let message = format!("{} more findings are not listed", self.unreported);
            self.findings.push(Finding {
                path: "".into(),
                diagnostic: Diagnostic::new(Code::MoreFindings, None, message),
            });
        }
    }
}
