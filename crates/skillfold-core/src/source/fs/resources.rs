//! Lists the files of a skill in order, page by page, within limits, and reports what it skips.

use std::io;

use crate::codes::Code;
use crate::findings::LimitedFindings;
use crate::limits::Limits;
use crate::name::{ResourcePath, is_vcs_name};
use crate::source::fs::tree::join;
use crate::source::fs::tree::{Encoding, EntryKind, RawEntry, Tree};
use crate::source::{Cursor, Finding, Folder, Resource, Resources};

/// Returns a page of the files of a skill. Fails only if the skill's folder cannot be read.
///
/// All folders are listed for each page, so that pages are ordered by path and not by the file system; only the files
/// of the page are statted. Findings of the listing are on the first page, and a file that cannot be statted is
/// reported on the page it belongs to.
pub(super) fn list_page(
    tree: &dyn Tree,
    folder: &Folder,
    limits: &Limits,
    cursor: Option<&Cursor>,
) -> io::Result<Resources> {
    let mut walk = ResourceWalk {
        tree,
        folder,
        limits,
        files: Vec::new(),
        findings: LimitedFindings::new(limits.findings),
        entries: 0,
    };
    walk.run()?;
    let ResourceWalk {
        mut files,
        mut findings,
        ..
    } = walk;
    files.sort_unstable();
    if let Some(cursor) = cursor {
        files.retain(|path| path.as_str() > cursor.as_str());
        findings = LimitedFindings::new(limits.findings);
    }
    let mut page = Resources::default();
    let mut files = files.into_iter().peekable();
    while page.files.len() < limits.resources.max(1)
        && let Some(path) = files.next()
    {
        let next = files.peek().map(|_| Cursor::after(path.as_str()));
        match stat_resource(tree, folder, path) {
            Ok(resource) => page.files.push(resource),
            Err(finding) => push(&mut findings, finding),
        }
        page.next = next;
    }
    page.findings = findings.finish(Finding::without_path);
    Ok(page)
}

/// Stats one file.
fn stat_resource(
    tree: &dyn Tree,
    folder: &Folder,
    path: ResourcePath,
) -> Result<Resource, Finding> {
    let finding = |code, what: &str| Err(Finding::new(code, path.as_str(), what));
    match tree.stat_beneath(folder, &path) {
        Ok(stat) => match stat.kind {
            EntryKind::File => Ok(Resource::new(path, stat.revision.size)),
            EntryKind::HardLinked => finding(Code::HardLinks, "File has several hard links:"),
            EntryKind::Folder | EntryKind::Link | EntryKind::Other => {
                finding(Code::SkillFileKind, "Not a regular file:")
            }
        },
        Err(error) => Err(unreadable(path.as_str(), &error)),
    }
}

/// Adds a finding. The first that leaves out files is listed whatever the limit, since a skill without it looks complete.
fn push(findings: &mut LimitedFindings<Finding>, finding: Finding) {
    let is_known = || findings.listed().iter().any(Finding::leaves_out_files);
    if finding.leaves_out_files() && !is_known() {
        findings.push_always(finding);
    } else {
        findings.push(|| finding);
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
    findings: LimitedFindings<Finding>,
    entries: usize,
}

impl ResourceWalk<'_> {
    /// Lists the skill's folder and all folders below it.
    fn run(&mut self) -> io::Result<()> {
        let entries = self.list_folder(None)?;
        let mut pending = self.add_entries(None, entries);
        while let Some(path) = pending.pop() {
            match self.list_folder(Some(&path)) {
                Ok(entries) => pending.extend(self.add_entries(Some(&path), entries)),
                Err(error) => push(&mut self.findings, unreadable(path.as_str(), &error)),
            }
            if self.entries > self.limits.walk_entries {
                break;
            }
        }
        Ok(())
    }

    /// Returns the entries of a folder, ordered by name. Requests one more than the limit allows, to detect that it is
    /// exceeded.
    fn list_folder(&mut self, path: Option<&ResourcePath>) -> io::Result<Vec<RawEntry>> {
        let left = self.limits.walk_entries.saturating_sub(self.entries);
        let limit = left.saturating_add(1);
        let mut entries = self.tree.entries_beneath(self.folder, path, limit)?;
        self.entries = self.entries.saturating_add(entries.len());
        entries.sort_unstable_by(RawEntry::cmp_by_name);
        Ok(entries)
    }

    /// Adds the files of a folder, and returns its subfolders in reverse order.
    fn add_entries(
        &mut self,
        here: Option<&ResourcePath>,
        entries: Vec<RawEntry>,
    ) -> Vec<ResourcePath> {
        let here = here.map_or("", ResourcePath::as_str);
        if self.entries > self.limits.walk_entries {
            // A partial listing would depend on the order of the file system.
            let bound = format!(
                "Listing stopped after {} entries, before the files of",
                self.limits.walk_entries
            );
            self.findings
                .push_always(Finding::new(Code::BoundReached, here, &bound));
            return Vec::new();
        }
        let mut next = Vec::new();
        for entry in entries {
            let full = join(here, &entry.name);
            if is_vcs_name(&entry.name) {
                let what = "Belongs to version control, not to the skill:";
                self.findings
                    .push(|| Finding::new(Code::VersionControl, &full, what));
                continue;
            }
            let unusable = |why: &str| Finding::new(Code::FolderName, &full, why);
            match full.parse::<ResourcePath>() {
                _ if entry.encoding != Encoding::Utf8 => {
                    push(&mut self.findings, unusable("Name is not UTF-8:"));
                }
                Ok(path) => match self.skip_reason(&path, entry.kind) {
                    Some(finding) => push(&mut self.findings, finding),
                    None if entry.kind == EntryKind::Folder => next.push(path),
                    None => self.files.push(path),
                },
                Err(error) => push(&mut self.findings, unusable(&format!("{error}:"))),
            }
        }
        next.reverse();
        next
    }

    /// Returns why an entry is skipped, if it is.
    fn skip_reason(&self, path: &ResourcePath, kind: EntryKind) -> Option<Finding> {
        let (code, what) = match kind {
            EntryKind::Link => (Code::LinkNotFollowed, "Link is not followed:"),
            EntryKind::Other => (Code::SkillFileKind, "Not a regular file:"),
            EntryKind::Folder if path.components().count() > self.limits.resource_depth => {
                (Code::BoundReached, "Folder is nested too deep:")
            }
            EntryKind::Folder | EntryKind::File | EntryKind::HardLinked => return None,
        };
        Some(Finding::new(code, path.as_str(), what))
    }
}
