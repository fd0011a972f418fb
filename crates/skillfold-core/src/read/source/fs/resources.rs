//! Lists the files of a skill: all of them in order, page by page, bounded, and with a word about what is passed over.

use std::io;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::name::{ResourcePath, is_of_version_control};
use crate::read::source::fs::join;
use crate::read::source::fs::tree::{Encoding, EntryKind, RawEntry, Tree};
use crate::read::source::{Cursor, Finding, Folder, Resource, Resources};

/// Returns a page of the files of a skill; fails only if the skill's folder cannot be read.
///
/// All folders are listed for each page, so that its order is that of paths and not that of the file system; only the
/// files of the page are looked at. What the listing passes over is on the first page, and a file that cannot be looked
/// at on the page on which it would stand.
pub(super) fn page(
    tree: &dyn Tree,
    folder: &Folder,
    limits: &Limits,
    cursor: Option<&Cursor>,
) -> io::Result<Resources> {
    let mut search = ResourceWalk {
        tree,
        folder,
        limits,
        files: Vec::new(),
        findings: Findings::new(limits),
        entries: 0,
    };
    search.run()?;
    let ResourceWalk {
        mut files,
        mut findings,
        ..
    } = search;
    files.sort_unstable();
    if let Some(cursor) = cursor {
        files.retain(|path| path.as_str() > cursor.as_str());
        findings = Findings::new(limits);
    }
    let mut page = Resources::default();
    let mut files = files.into_iter().peekable();
    while page.files.len() < limits.resources.max(1)
        && let Some(path) = files.next()
    {
        let next = files.peek().map(|_| Cursor::after(path.as_str()));
        match resource(tree, folder, path) {
            Ok(resource) => page.files.push(resource),
            Err(finding) => findings.push(finding),
        }
        page.next = next;
    }
    page.findings = findings.finish();
    Ok(page)
}

/// Looks at one file.
fn resource(tree: &dyn Tree, folder: &Folder, path: ResourcePath) -> Result<Resource, Finding> {
    let finding = |code, what: &str| Err(Finding::new(code, path.as_str(), what));
    match tree.stat_beneath(folder, &path) {
        Ok(stat) => match stat.kind {
            EntryKind::File => Ok(Resource::new(path, stat.revision.size)),
            EntryKind::Shared => finding(Code::HardLinks, "File has several hard links:"),
            EntryKind::Folder | EntryKind::Link | EntryKind::Other => {
                finding(Code::SkillFileKind, "Not a regular file:")
            }
        },
        Err(error) => Err(unreadable(path.as_str(), &error)),
    }
}

fn unreadable(path: &str, error: &io::Error) -> Finding {
    let what = format!("Could not be read ({error}):");
    Finding::new(Code::FolderUnreadable, path, &what)
}

struct ResourceWalk<'a> {
    tree: &'a dyn Tree,
    folder: &'a Folder,
    limits: &'a Limits,
    files: Vec<ResourcePath>,
    findings: Findings,
    entries: usize,
}

impl ResourceWalk<'_> {
    /// Lists the skill's folder and all below it.
    fn run(&mut self) -> io::Result<()> {
        let entries = self.entries(None)?;
        let mut open = self.take(None, entries);
        while let Some(path) = open.pop() {
            match self.entries(Some(&path)) {
                Ok(entries) => open.extend(self.take(Some(&path), entries)),
                Err(error) => self.findings.push(unreadable(path.as_str(), &error)),
            }
            if self.entries > self.limits.walk_entries {
                break;
            }
        }
        Ok(())
    }

    /// Returns the entries of a folder, ordered by name. One more than the bound allows is asked for, to see that it is
    /// reached.
    fn entries(&mut self, path: Option<&ResourcePath>) -> io::Result<Vec<RawEntry>> {
        let left = self.limits.walk_entries.saturating_sub(self.entries);
        let limit = left.saturating_add(1);
        let mut entries = self.tree.entries_beneath(self.folder, path, limit)?;
        self.entries = self.entries.saturating_add(entries.len());
        entries.sort_unstable_by(RawEntry::by_name);
        Ok(entries)
    }

    /// Takes the files of a folder, and returns the folders to list next, last one first.
    fn take(&mut self, here: Option<&ResourcePath>, entries: Vec<RawEntry>) -> Vec<ResourcePath> {
        let here = here.map_or("", ResourcePath::as_str);
        if self.entries > self.limits.walk_entries {
            // A part of the folder would be the part that the file system happens to name first.
            let bound = format!(
                "Listing stopped after {} entries, before the files of",
                self.limits.walk_entries
            );
            self.findings
                .cut(Finding::new(Code::BoundReached, here, &bound));
            return Vec::new();
        }
        let mut next = Vec::new();
        for entry in entries {
            let full = join(here, &entry.name);
            if is_of_version_control(&entry.name) {
                let what = "Belongs to version control, not to the skill:";
                self.findings
                    .push(Finding::new(Code::VersionControl, &full, what));
                continue;
            }
            match full.parse::<ResourcePath>() {
                Ok(path) if entry.encoding == Encoding::Utf8 => match self.judge(&path, entry.kind)
                {
                    Some(finding) => self.findings.push(finding),
                    None if entry.kind == EntryKind::Folder => next.push(path),
                    None => self.files.push(path),
                },
                _ => self.findings.push(Finding::new(
                    Code::FolderName,
                    &full,
                    "Name is not printable:",
                )),
            }
        }
        next.reverse();
        next
    }

    /// Returns why an entry is passed over, if it is.
    fn judge(&self, path: &ResourcePath, kind: EntryKind) -> Option<Finding> {
        let (code, what) = match kind {
            EntryKind::Link => (Code::LinkNotFollowed, "Link is not followed:"),
            EntryKind::Other => (Code::SkillFileKind, "Not a regular file:"),
            EntryKind::Folder if path.components().count() > self.limits.resource_depth => {
                (Code::BoundReached, "Folder is nested too deep:")
            }
            EntryKind::Folder | EntryKind::File | EntryKind::Shared => return None,
        };
        Some(Finding::new(code, path.as_str(), what))
    }
}

/// Findings up to their limit; the rest are counted.
struct Findings {
    limit: usize,
    found: Vec<Finding>,
    unreported: usize,
    /// Where a bound ended the listing. It is reported whatever else there is to report.
    cut: Option<Finding>,
}

impl Findings {
    fn new(limits: &Limits) -> Self {
        Self {
            limit: limits.findings,
            found: Vec::new(),
            unreported: 0,
            cut: None,
        }
    }

    fn push(&mut self, finding: Finding) {
        if self.found.len() < self.limit {
            self.found.push(finding);
        } else {
            self.unreported += 1;
        }
    }

    fn cut(&mut self, finding: Finding) {
        self.cut = Some(finding);
    }

    fn finish(mut self) -> Vec<Finding> {
        self.found.extend(self.cut);
        if self.unreported > 0 {
            let message = format!("{} more findings are not listed", self.unreported);
            self.found.push(Finding {
                path: "".into(),
                diagnostic: Diagnostic::new(Code::MoreFindings, None, message),
            });
        }
        self.found
    }
}
