//! Writes and lists proposals.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use skillfold_core::load::Digest;
use skillfold_core::text::{truncate_bytes, utc};
use skillfold_core::{Error, ErrorKind, Refusal};

use crate::change::{Change, FileEdit, Merged, merge, unified};
use crate::files::skill_files::SkillFiles;
use crate::files::skill_folder::SkillPath;
use crate::files::write_root::{Access, ReadFile, WriteRoot};
use crate::proposals::log::{Author, Event, LogRecords, Operation, Verdict};
use crate::proposals::proposal::{
    MAX_EVIDENCE_BYTES, MAX_FILE_BYTES, MAX_JUSTIFICATION_BYTES, Proposal,
};
use crate::proposals::store::{LockedStore, Store};

const FOLDER: &str = "proposals";
/// Maximum proposals that wait at one time.
const MAX_WAITING: usize = 200;
/// Maximum proposals that wait for one skill.
const MAX_WAITING_FOR_SKILL: usize = 10;

/// Maximum times that the same change is recorded as proposed again.
const MAX_REPEATS: usize = 9;
/// Maximum bytes of why the same change was proposed again.
const MAX_REPEAT_BYTES: usize = 1 << 10;

const LOG_FULL: &str =
    "The log has more than 64 MiB, so nothing can be proposed; move it aside to start a new one";
const TOO_MANY: &str =
    "Too many proposals are pending; approve or reject some with `skillfold review`";
const TOO_MANY_FOR_SKILL: &str =
    "Ten proposals for this skill are pending; approve or reject some with `skillfold review`";
const NOT_WAITING: &str =
    "It was decided, or its file was changed; `skillfold proposals` lists those pending";

/// A change to propose.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever proposes names every part"
)]
pub struct NewProposal<'a> {
    /// The id of the skill.
    pub skill: &'a str,
    /// Where the skill is, or will be.
    pub place: &'a SkillPath,
    /// The change as a unified diff.
    pub diff: &'a str,
    /// Who proposes it.
    pub author: Author,
    /// Why.
    pub justification: &'a str,
    /// What shows that it is right.
    pub evidence: Option<&'a str>,
    /// What was checked, one line each, for whoever reads the file.
    pub checks: &'a [String],
}

/// A proposal that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposed {
    /// The proposal.
    pub proposal: Proposal,
    /// Whether the same change waited already; nothing was written then but a record, and after nine of these nothing.
    pub is_repeated: bool,
    /// What of the diff was mended, one sentence each.
    pub repairs: Vec<String>,
}

/// A proposal that waits, with what the log says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingProposal {
    /// The proposal.
    pub proposal: Proposal,
    /// Whether the store wrote it. A file that was put there outside Skillfold is not recorded.
    pub is_recorded: bool,
    /// The number of its record.
    number: Option<u64>,
    /// How often the same change was proposed again, up to nine.
    pub repeated: usize,
    /// What reviewers who may not decide said: who, what and why.
    pub recommendations: Vec<(String, Verdict, String)>,
}

/// What a proposal would do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// The files that it changes.
    pub edits: Vec<FileEdit>,
    /// The skill before; without files if it is new.
    pub before: SkillFiles,
    /// The skill after.
    pub after: SkillFiles,
}

impl Preview {
    /// Returns what a diff would do to a skill as it is now.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the diff does not apply.
    pub fn of(place: &SkillPath, diff: &str) -> Result<Self, Error> {
        Self::from_files(place.read()?.unwrap_or_default(), diff)
    }

    /// Returns what a diff would do where there is no skill.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the diff does not apply.
    pub fn of_new(diff: &str) -> Result<Self, Error> {
        Self::from_files(SkillFiles::default(), diff)
    }

    pub(super) fn from_files(before: SkillFiles, diff: &str) -> Result<Self, Error> {
        let applied =
            Change::parse(diff)?.apply(|path| Ok(before.get(path).map(<[u8]>::to_vec)))?;
        Ok(Self {
            after: before.edited(&applied.edits),
            edits: applied.edits,
            before,
        })
    }
}

/// The proposals that wait, and the files that are none.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Proposals {
    /// Those that wait, oldest first.
    pub waiting: Vec<PendingProposal>,
    /// Why a file in the folder is not one.
    pub unreadable: Vec<Error>,
}

impl Store {
    /// Proposes a change of a skill, or a new skill where there is none. Nothing of the skill is changed.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the diff does not apply or a text is too long;
    /// [`Refused`](ErrorKind::Refused) if too many proposals wait, or the log is too large for more.
    pub fn propose(&self, new: &NewProposal<'_>, now: SystemTime) -> Result<Proposed, Error> {
        self.propose_for(new, SkillPath::read, now)
    }

    /// Proposes a new skill without looking into its folder, so that whoever proposes it does not learn what is there. It can be
    /// approved once the folder is free.
    ///
    /// # Errors
    ///
    /// As for [`propose`](Self::propose).
    pub fn propose_new(&self, new: &NewProposal<'_>, now: SystemTime) -> Result<Proposed, Error> {
        self.propose_for(new, |_| Ok(None), now)
    }

    /// Proposes a change of the version that `read` returns.
    fn propose_for(
        &self,
        new: &NewProposal<'_>,
        read: impl FnOnce(&SkillPath) -> Result<Option<SkillFiles>, Error>,
        now: SystemTime,
    ) -> Result<Proposed, Error> {
        check_texts(new)?;
        let change = Change::parse(new.diff)?;
        // No approval changes the skill while it is read.
        let mut locked = self.write(now)?;
        if !locked.log.has_room_for_proposals() {
            return Err(Error::refused(new.skill, Refusal::TooLarge, LOG_FULL));
        }
        let before = read(new.place)?;
        let files = before.clone().unwrap_or_default();
        let applied = change.apply(|path| Ok(files.get(path).map(<[u8]>::to_vec)))?;
        let proposal = Proposal {
            file: String::new(),
            digest: Digest::sha256(b""),
            skill: new.skill.to_owned(),
            place: new.place.clone(),
            base: before.as_ref().map(SkillFiles::digest),
            author: new.author.clone(),
            time: utc(now),
            diff: unified(&applied.edits),
            justification: new.justification.trim().to_owned(),
            evidence: new.evidence.map(|it| it.trim().to_owned()),
            text: String::new(),
        };
        let proposals = locked.proposals().waiting;
        let same = |it: &&PendingProposal| {
            let it = &it.proposal;
            it.place == proposal.place && it.base == proposal.base && it.diff == proposal.diff
        };
        let repairs = [change.repairs(), &applied.repairs].concat();
        if let Some(same) = proposals.iter().find(same) {
            if same.repeated < MAX_REPEATS {
                let event = Event::ProposedAgain {
                    proposal: same.proposal.digest,
                    author: proposal.author,
                    justification: truncate_bytes(&proposal.justification, MAX_REPEAT_BYTES)
                        .to_owned(),
                };
                locked.log.append(event, now)?;
            }
            return Ok(Proposed {
                proposal: same.proposal.clone(),
                is_repeated: true,
                repairs,
            });
        }
        let for_skill = proposals
            .iter()
            .filter(|it| it.proposal.place == *new.place);
        let full = if proposals.len() >= MAX_WAITING {
            Some(TOO_MANY)
        } else {
            (for_skill.count() >= MAX_WAITING_FOR_SKILL).then_some(TOO_MANY_FOR_SKILL)
        };
        if let Some(rule) = full {
            return Err(Error::refused(new.skill, Refusal::TooLarge, rule));
        }
        // A merge needs the version that was changed.
        if let Some(before) = &before {
            locked.objects().put_skill(before)?;
        }
        let proposal = locked.add(proposal, new.checks, now)?;
        Ok(Proposed {
            proposal,
            is_repeated: false,
            repairs,
        })
    }

    /// Returns the proposals that wait.
    pub fn proposals(&self) -> Result<Proposals, Error> {
        Ok(list(&self.root, &self.log()?))
    }

    /// Returns the proposal that waits under a file name or the start of a digest.
    pub fn find_proposal(&self, name: &str) -> Result<PendingProposal, Error> {
        let waiting = self.proposals()?.waiting;
        let is_meant = |it: &PendingProposal| {
            let digest = it.proposal.digest.to_string();
            let digits = digest.trim_start_matches("sha256:");
            let file = &it.proposal.file;
            *file == name
                || file.strip_suffix(".md") == Some(name)
                || digest == name
                || (name.len() >= 8 && digits.starts_with(name))
        };
        let names: Vec<String> = waiting.iter().map(|it| it.proposal.file.clone()).collect();
        let found = waiting.into_iter().find(is_meant);
        found.ok_or_else(|| {
            let message = format!("No pending proposal named `{name}`");
            let error = Error::new(ErrorKind::NotFound, message, NOT_WAITING);
            error.with_nearest(names.iter().take(3).map(String::as_str))
        })
    }

    /// Returns what a proposal would do to the version that it was made for.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if its diff does not apply; [`NotFound`](ErrorKind::NotFound) if the version is
    /// not kept and the skill has another by now.
    pub fn preview(&self, proposal: &Proposal) -> Result<Preview, Error> {
        let before = match proposal.base {
            None => SkillFiles::default(),
            Some(base) => match proposal.place.read()? {
                Some(files) if files.digest() == base => files,
                _ => self
                    .version(base)?
                    .ok_or_else(|| Error::not_found(base.to_string()))?,
            },
        };
        Preview::from_files(before, &proposal.diff)
    }

    /// Returns the edits of a proposal merged with the skill as it is now, and the paths at which both changed the same
    /// lines. The content of such a file has both, with markers.
    pub fn merged(&self, proposal: &Proposal) -> Result<(Vec<FileEdit>, Vec<String>), Error> {
        let preview = self.preview(proposal)?;
        let current = proposal.place.read()?.unwrap_or_default();
        let (mut merged, mut conflicts) = (current.clone(), Vec::new());
        for edit in preview.edits {
            let path = edit.path.as_str();
            let (base, now) = (preview.before.get(path), current.get(path));
            let new = if now == base {
                edit.new.clone()
            } else if now == edit.new.as_deref() {
                continue;
            } else {
                let empty = &[][..];
                let proposed = edit.new.as_deref().unwrap_or(empty);
                match merge(base.unwrap_or(empty), now.unwrap_or(empty), proposed) {
                    Merged::Clean(bytes) if now.is_some() && edit.new.is_some() => Some(bytes),
                    Merged::Clean(bytes) | Merged::Conflict(bytes) => {
                        conflicts.push(path.to_owned());
                        Some(bytes)
                    }
                }
            };
            merged = merged.edited(&[FileEdit { new, ..edit }]);
        }
        Ok((current.edits_to(&merged), conflicts))
    }
}

impl LockedStore<'_> {
    pub(crate) fn proposals(&self) -> Proposals {
        list(&self.store.root, &self.log.read)
    }

    /// Returns the proposal with this digest.
    pub(crate) fn waiting(&self, digest: Digest) -> Result<Proposal, Error> {
        let waiting = self.proposals().waiting.into_iter();
        let mut proposals = waiting.map(|it| it.proposal);
        let found = proposals.find(|it| it.digest == digest);
        found.ok_or_else(|| not_waiting(digest))
    }

    /// Writes a proposal under the first name that is free, and records it.
    fn add(
        &mut self,
        mut proposal: Proposal,
        checks: &[String],
        now: SystemTime,
    ) -> Result<Proposal, Error> {
        let text = proposal.to_text(checks)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(Error::invalid(
                &proposal.skill,
                "The proposal is larger than 1 MiB",
            ));
        }
        let folder = self.store.root.names_in(FOLDER).unwrap_or_default();
        let names =
            (1..).map(|number| Proposal::file_name(&proposal.skill, &proposal.time, number));
        let is_free = |name: &String| !folder.iter().any(|taken| taken == name.as_str());
        let file = names.into_iter().find(is_free).unwrap_or_default();
        proposal.digest = self.objects().put(text.as_bytes())?;
        let event = Event::Proposed {
            proposal: proposal.digest,
            file: file.clone(),
            skill: proposal.skill.clone(),
            author: proposal.author.clone(),
        };
        self.log.append(event, now)?;
        (proposal.file, proposal.text) = (file, text);
        self.restore_proposal()?;
        Ok(proposal)
    }

    /// Writes the file of a proposal that was recorded last.
    pub(crate) fn restore_proposal(&mut self) -> Result<(), Error> {
        let Some(Event::Proposed { proposal, file, .. }) =
            self.log.read.records.last().map(|record| &record.event)
        else {
            return Ok(());
        };
        let path = Path::new(FOLDER).join(file);
        if self.store.root.read(&path, MAX_FILE_BYTES)?.is_some() {
            // Whoever wrote it may have been killed before its name was on the disk.
            return self.store.root.flush_parent(&path);
        }
        match self.objects().get(*proposal)? {
            Some(bytes) => self.store.root.create(&path, &bytes, Access::Private),
            None => Ok(()),
        }
    }

    /// Keeps the bytes of a proposal, which may be put there outside Skillfold.
    pub(crate) fn keep(&self, proposal: &Proposal) -> Result<(), Error> {
        match self.file_of(proposal)? {
            Some(file) => self.objects().put(file.bytes()).map(|_| ()),
            None => Err(not_waiting(proposal.digest)),
        }
    }

    /// Takes away the file of a proposal that is decided. A file that was changed since is another proposal.
    pub(crate) fn remove_file(&self, proposal: &Proposal) -> Result<(), Error> {
        let path = Path::new(FOLDER).join(&proposal.file);
        match self.file_of(proposal)? {
            Some(file) => self.store.root.remove(&path, &file),
            None => Ok(()),
        }
    }

    /// Reads the file of a proposal; `None` if it is no longer what was read.
    fn file_of(&self, proposal: &Proposal) -> Result<Option<ReadFile>, Error> {
        let path = Path::new(FOLDER).join(&proposal.file);
        let file = self.store.root.read(&path, MAX_FILE_BYTES)?;
        Ok(file.filter(|file| Digest::sha256(file.bytes()) == proposal.digest))
    }
}

fn not_waiting(digest: Digest) -> Error {
    let message = format!("No pending proposal with the digest `{digest}`");
    Error::new(ErrorKind::NotFound, message, NOT_WAITING)
}

fn check_texts(new: &NewProposal<'_>) -> Result<(), Error> {
    let invalid = |what: &str, why: String| Err(Error::invalid(what, why));
    if new.justification.trim().is_empty() {
        return invalid("justification", "Say why the change is needed".to_owned());
    }
    let evidence = new.evidence.unwrap_or_default();
    for (what, text, max) in [
        ("justification", new.justification, MAX_JUSTIFICATION_BYTES),
        ("evidence", evidence, MAX_EVIDENCE_BYTES),
    ] {
        if text.len() > max {
            let why = format!("It has {} bytes, and at most {max} are kept", text.len());
            return invalid(what, why);
        }
    }
    Ok(())
}

/// Reads the files of proposals that are not decided.
fn list(root: &WriteRoot, log: &LogRecords) -> Proposals {
    let decided = decided(log);
    let mut proposals = Proposals::default();
    let mut names = root.names_in(FOLDER).unwrap_or_default();
    names.sort();
    let is_proposal = |name: &&std::ffi::OsString| {
        let path = Path::new(name);
        !name.as_encoded_bytes().starts_with(b".")
            && path.extension().is_some_and(|extension| extension == "md")
    };
    for name in names.iter().filter(is_proposal).take(MAX_WAITING * 2) {
        let file = name.to_string_lossy();
        let path = PathBuf::from(FOLDER).join(name);
        let parsed = match root.read(&path, MAX_FILE_BYTES) {
            Ok(None) => continue,
            Ok(Some(read)) => Proposal::parse(&file, read.bytes()),
            Err(error) => Err(error),
        };
        match parsed {
            Err(error) => proposals.unreadable.push(error),
            Ok(proposal) if decided.contains(&proposal.digest) => {}
            Ok(proposal) => proposals.waiting.push(waiting(proposal, log)),
        }
    }
    // Several can be of the same second.
    proposals
        .waiting
        .sort_by_cached_key(|it| (it.proposal.time.clone(), it.number));
    proposals
}

fn waiting(proposal: Proposal, log: &LogRecords) -> PendingProposal {
    let mut waiting = PendingProposal {
        proposal,
        is_recorded: false,
        number: None,
        repeated: 0,
        recommendations: Vec::new(),
    };
    for record in &log.records {
        match &record.event {
            Event::Proposed { proposal, .. } if *proposal == waiting.proposal.digest => {
                waiting.is_recorded = true;
                waiting.number = Some(record.number);
            }
            Event::ProposedAgain { proposal, .. } if *proposal == waiting.proposal.digest => {
                waiting.repeated += 1;
            }
            Event::Recommended {
                proposal,
                by,
                verdict,
                reason,
            } if *proposal == waiting.proposal.digest => {
                waiting
                    .recommendations
                    .push((by.clone(), *verdict, reason.clone()));
            }
            _ => {}
        }
    }
    waiting
}

/// Returns the proposals that were approved or rejected.
fn decided(log: &LogRecords) -> BTreeSet<Digest> {
    let rejected = log.records.iter().filter_map(|record| match &record.event {
        Event::Rejected { proposal, .. } => Some(*proposal),
        _ => None,
    });
    let approved = log.done().filter_map(|record| match &record.event {
        Event::Started {
            operation: Operation::Approve { proposal, .. },
            ..
        } => Some(*proposal),
        _ => None,
    });
    rejected.chain(approved).collect()
}
