//! Remembers what is in the writable folders before a run, and puts right afterwards what is not the same.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use super::aside::{move_aside, put_back};
use super::clock::RunStart;
use super::correction::Correction;
use super::folders::{FileNumber, When, open_again, open_inside};
use super::lead::{Lead, LeadEnd, LeadSource, follow, git_folder};
use super::locks::lock;
use super::search::{Found, Known, Part, Search, Stopped};
use crate::approved_path::{OpenedPath, PathAccess};
use crate::error::{RunError, RunErrorKind};
use crate::protected::Protected;

/// What is watched during a run.
#[derive(Debug)]
pub(super) struct Watched {
    protected: Protected,
    folders: Vec<Folder>,
    leads: Vec<Lead>,
    /// Keeps other runs from writing to the folders, and to those around them and in them.
    _locks: Vec<OwnedFd>,
}

/// A folder that a run may write, and what it had before the run.
#[derive(Debug)]
struct Folder {
    handle: OwnedFd,
    path: PathBuf,
    real: PathBuf,
    before: Vec<Part>,
    /// The parts, and the links in them.
    links: Vec<PathBuf>,
    start: RunStart,
}

impl Folder {
    fn search(granted: &OpenedPath, protected: &Protected) -> Result<Self, RunError> {
        let refused = |stopped: Stopped| stopped.error(&granted.path);
        let closed = |error| match error {
            Errno::ACCESS => refused(Stopped::Closed(PathBuf::new())),
            error => refused(Stopped::Failed(PathBuf::new(), error)),
        };
        let mut folder = Self {
            handle: open_again(granted.handle()).map_err(closed)?,
            path: granted.path.clone(),
            real: granted.real.clone(),
            before: Vec::new(),
            links: Vec::new(),
            start: RunStart::on(granted.handle()),
        };
        let mut before = Vec::new();
        let mut visit = |found: Found<'_>| {
            before.push(found.part);
            Known::Yes
        };
        let search = Search {
            protected,
            own_names: folder.own_names(),
            when: When::Before,
            visit: &mut visit,
        };
        let rest = search.run(folder.handle.as_fd()).map_err(refused)?;
        folder.links = rest.links;
        folder.before = before;
        Ok(folder)
    }

    fn own_names(&self) -> Vec<std::ffi::OsString> {
        let names = [&self.path, &self.real].map(|path| path.file_name());
        names.into_iter().flatten().map(ToOwned::to_owned).collect()
    }

    /// Returns the path inside the folder, if something is in it.
    fn inside<'p>(&self, real: &'p Path) -> Option<&'p Path> {
        let inside = real.strip_prefix(&self.real).ok()?;
        (!inside.as_os_str().is_empty()).then_some(inside)
    }
}

impl Watched {
    /// Finds what stays read-only in the writable folders; `None` if there are none. Waits until no other run writes to
    /// them, or `is_over`.
    pub(super) fn new(
        granted: &[OpenedPath],
        protected: &Protected,
        is_over: &impl Fn() -> bool,
    ) -> Result<Option<Self>, RunError> {
        let is_folder = |it: &&OpenedPath| {
            let found = fstat(it.handle());
            found.is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Directory)
        };
        let writable = granted.iter().filter(|it| it.access == PathAccess::Write);
        let writable: Vec<&OpenedPath> = writable.filter(is_folder).collect();
        let has_nothing =
            protected.read_only_names().is_empty() && protected.read_only_paths().is_empty();
        if writable.is_empty() || has_nothing {
            return Ok(None);
        }
        let locks = lock(&writable, protected, is_over)?;
        let folders = writable
            .iter()
            .map(|granted| Folder::search(granted, protected));
        let mut watched = Self {
            protected: protected.clone(),
            folders: folders.collect::<Result<_, _>>()?,
            leads: Vec::new(),
            _locks: locks,
        };
        watched.leads = watched.find_leads();
        watched.check_leads_before()?;
        Ok(Some(watched))
    }

    /// Returns what the links and the files in the folders lead to, and the protected paths.
    fn find_leads(&self) -> Vec<Lead> {
        let mut leads = Vec::new();
        let mut add = |source, start: &Path, way: PathBuf| {
            let end = follow(&start.join(&way));
            leads.push(Lead { source, way, end });
        };
        for (index, folder) in self.folders.iter().enumerate() {
            for (number, part) in folder.before.iter().enumerate() {
                let start = folder.real.join(&part.inside);
                let links = folder.links.iter();
                for way in links.filter_map(|link| link.strip_prefix(&part.inside).ok()) {
                    add(LeadSource::Link(index, number), &start, way.to_owned());
                }
                let name = part.inside.file_name().unwrap_or_default();
                if name.as_bytes().eq_ignore_ascii_case(b".git")
                    && let Some(path) = git_folder(folder.handle.as_fd(), &part.inside)
                {
                    let start = start.parent().unwrap_or(&folder.real);
                    add(LeadSource::GitFile(index, number), start, path);
                }
            }
        }
        let is_near = |path: &Path, end: &Path| {
            let mut folders = self.folders.iter();
            folders.any(|it| path.starts_with(&it.path) || end.starts_with(&it.real))
        };
        for path in self.protected.read_only_paths() {
            let (LeadEnd::At(end, _) | LeadEnd::Nowhere(end)) = follow(path);
            if is_near(path, &end) {
                add(LeadSource::Path, Path::new(""), path.clone());
            }
        }
        leads
    }

    /// Refuses a run that could change where something leads: to something new, or to what is in the folder.
    fn check_leads_before(&self) -> Result<(), RunError> {
        let parts = self.read_only_parts();
        let is_writable = |path: &Path| {
            self.folders.iter().any(|it| path.starts_with(&it.real))
                && !parts.iter().any(|(real, ..)| path.starts_with(real))
        };
        for lead in &self.leads {
            let what = match lead.source {
                LeadSource::Link(..) => "Link",
                LeadSource::GitFile(..) => "Repository of this file",
                // What a run creates there is moved aside.
                LeadSource::Path => continue,
            };
            let place = self.shown(lead);
            let place = place.display();
            let (message, hint) = match &lead.end {
                LeadEnd::Nowhere(folder) if is_writable(folder) => (
                    format!(
                        "{what} leads nowhere, and a script could create what it leads to: `{place}`"
                    ),
                    "Remove it, or create what it leads to",
                ),
                LeadEnd::At(real, _) if self.folders.iter().any(|it| it.real.starts_with(real)) => {
                    (
                        format!(
                            "{what} leads to the folder that a script could write to: `{place}`"
                        ),
                        "Remove it, or allow another folder",
                    )
                }
                _ => continue,
            };
            return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
        }
        Ok(())
    }

    /// Returns the path that leads somewhere, as the user knows it.
    fn shown(&self, lead: &Lead) -> PathBuf {
        match lead.source {
            LeadSource::Link(folder, part) | LeadSource::GitFile(folder, part) => {
                let folder = &self.folders[folder];
                let place = folder.path.join(&folder.before[part].inside);
                match lead.source {
                    LeadSource::Link(..) => {
                        place.components().chain(lead.way.components()).collect()
                    }
                    _ => place,
                }
            }
            LeadSource::Path => lead.way.clone(),
        }
    }

    /// Returns what stays read-only: its path without links, where the run sees it, and its inode. What is in another
    /// one is left out.
    pub(super) fn read_only_parts(&self) -> Vec<(PathBuf, PathBuf, FileNumber)> {
        let mut ends: Vec<(PathBuf, FileNumber)> = Vec::new();
        for folder in &self.folders {
            let parts = folder.before.iter().filter(|part| part.target.is_none());
            ends.extend(parts.map(|part| (folder.real.join(&part.inside), part.inode)));
        }
        ends.extend(self.leads.iter().filter_map(|lead| match &lead.end {
            LeadEnd::At(real, inode) => Some((real.clone(), *inode)),
            LeadEnd::Nowhere(_) => None,
        }));
        ends.sort();
        ends.dedup();
        let mut all: Vec<(PathBuf, PathBuf, FileNumber)> = Vec::new();
        for (real, inode) in ends {
            for folder in &self.folders {
                let Some(inside) = folder.inside(&real) else {
                    continue;
                };
                let path = folder.path.join(inside);
                let is_in = |(known, seen, _): &(PathBuf, PathBuf, FileNumber)| {
                    real.starts_with(known) && path.starts_with(seen)
                };
                if !all.iter().any(is_in) {
                    all.push((real.clone(), path, inode));
                }
            }
        }
        all
    }

    /// Moves aside what the run created, puts links back, and checks where they lead.
    pub(super) fn check(&self) -> Vec<Correction> {
        let mut corrections = Vec::new();
        let folders = 0..self.folders.len();
        let seen: Vec<Vec<Part>> = folders
            .map(|index| self.check_names(index, &mut corrections))
            .collect();
        for (folder, seen) in self.folders.iter().zip(&seen) {
            put_back_links(folder, seen, &mut corrections);
        }
        self.check_leads(&seen, &mut corrections);
        corrections
    }

    /// Moves aside what has a name that no run may create, and returns what was there before.
    fn check_names(&self, index: usize, corrections: &mut Vec<Correction>) -> Vec<Part> {
        let folder = &self.folders[index];
        let mut seen = Vec::new();
        let mut visit = |found: Found<'_>| {
            let mut before = folder.before.iter();
            let is_right = match before.position(|part| part.is(&found.part)) {
                Some(part) => self.leads_to_the_same(index, part, &found.part.inside),
                None => folder.start.is_after(found.part.inode, found.changed),
            };
            if is_right {
                seen.push(found.part);
                return Known::Yes;
            }
            let path = folder.path.join(&found.renamed);
            corrections.push(match move_aside(found.parent, found.name) {
                Some(name) => Correction::MovedAside {
                    to: path.with_file_name(name),
                    path,
                },
                None => Correction::Failed(path),
            });
            Known::No
        };
        let search = Search {
            protected: &self.protected,
            own_names: folder.own_names(),
            when: When::After,
            visit: &mut visit,
        };
        // Nothing stops this search.
        let unsearched = search
            .run(folder.handle.as_fd())
            .map(|rest| rest.unsearched);
        let unsearched = unsearched.unwrap_or_else(|_| vec![PathBuf::new()]);
        let paths = unsearched.iter().map(|inside| {
            let parts = inside.components();
            parts.fold(folder.path.clone(), |path, part| path.join(part))
        });
        corrections.extend(paths.map(Correction::Unsearched));
        seen
    }

    /// Returns whether a part that is a link leads from another place to what it led to before. In its own place this is
    /// checked later.
    fn leads_to_the_same(&self, folder: usize, part: usize, place: &Path) -> bool {
        let source = LeadSource::Link(folder, part);
        let folder = &self.folders[folder];
        if folder.before[part].inside == place {
            return true;
        }
        let mut leads = self.leads.iter().filter(|lead| lead.source == source);
        let own = leads.find(|lead| lead.way.as_os_str().is_empty());
        own.is_none_or(|lead| follow(&folder.real.join(place)).is(&lead.end))
    }

    /// Checks that everything still leads to the same, and moves aside what it leads to otherwise.
    fn check_leads(&self, seen: &[Vec<Part>], corrections: &mut Vec<Correction>) {
        let mut new: Vec<(PathBuf, PathBuf)> = Vec::new();
        for lead in &self.leads {
            let Some(path) = self.path_after(lead, seen) else {
                continue;
            };
            match follow(&path) {
                end if end.is(&lead.end) => {}
                LeadEnd::At(real, _) => new.push((real, self.shown(lead))),
                LeadEnd::Nowhere(_) => corrections.push(Correction::Failed(self.shown(lead))),
            }
        }
        new.sort();
        let mut moved: Vec<PathBuf> = Vec::new();
        for (real, shown) in new {
            // With what is around it.
            if moved.iter().any(|around| real.starts_with(around)) {
                continue;
            }
            let correction = self.move_end_aside(&real, seen);
            corrections.push(correction.unwrap_or(Correction::Failed(shown)));
            moved.push(real);
        }
    }

    /// Returns the path that leads somewhere, after the run; `None` if it is gone.
    fn path_after(&self, lead: &Lead, seen: &[Vec<Part>]) -> Option<PathBuf> {
        Some(match lead.source {
            LeadSource::Link(folder, part) | LeadSource::GitFile(folder, part) => {
                let before = &self.folders[folder].before[part];
                let same = seen[folder].iter().filter(|it| it.is(before));
                let place = same.max_by_key(|it| it.inside == before.inside);
                let place = match (place, &before.target) {
                    (Some(place), _) => &place.inside,
                    // It was put back.
                    (None, Some(_)) => &before.inside,
                    (None, None) => return None,
                };
                let place = self.folders[folder].real.join(place);
                match (lead.source, place.parent()) {
                    (LeadSource::GitFile(..), Some(around)) => around.join(&lead.way),
                    _ => place.join(&lead.way),
                }
            }
            LeadSource::Path => lead.way.clone(),
        })
    }

    /// Moves aside what something leads to now.
    fn move_end_aside(&self, real: &Path, seen: &[Vec<Part>]) -> Option<Correction> {
        let is_in_part = |(folder, seen): (&Folder, &Vec<Part>)| {
            let inside = folder.inside(real);
            inside.is_some_and(|inside| seen.iter().any(|part| inside.starts_with(&part.inside)))
        };
        // That is the user's.
        if self.folders.iter().zip(seen).any(is_in_part) {
            return None;
        }
        self.folders.iter().find_map(|folder| {
            let inside = folder.inside(real)?;
            let parent = open_inside(folder.handle.as_fd(), inside.parent()?).ok()?;
            let name = CString::new(inside.file_name()?.as_bytes()).ok()?;
            let new = move_aside(parent.as_fd(), &name)?;
            let path = folder.path.join(inside);
            Some(Correction::MovedAside {
                to: path.with_file_name(new),
                path,
            })
        })
    }
}

/// Creates links again that are not in their place, unless the folder around one was renamed.
fn put_back_links(folder: &Folder, seen: &[Part], corrections: &mut Vec<Correction>) {
    for part in &folder.before {
        let Some(target) = &part.target else { continue };
        let mut same = seen.iter().filter(|it| it.is(part)).peekable();
        let is_elsewhere = same.peek().is_some();
        if same.any(|it| it.inside == part.inside) {
            continue;
        }
        let around = part.inside.parent().unwrap_or(Path::new(""));
        if is_elsewhere && open_inside(folder.handle.as_fd(), around).is_err() {
            continue;
        }
        let path = folder.path.join(&part.inside);
        match put_back(folder.handle.as_fd(), &part.inside, target) {
            Ok(true) => corrections.push(Correction::PutBack(path)),
            Ok(false) => {}
            Err(_) => corrections.push(Correction::Failed(path)),
        }
    }
}
