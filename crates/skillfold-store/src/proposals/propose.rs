//! Writes and lists proposals.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use skillfold_core::load::Digest;
use skillfold_core::text::{truncate_bytes, utc};
use skillfold_core::{Error, ErrorKind, Refusal};

use crate::change::{Change, FileEdit, Merged, merge, unified};
use crate::files::merge_skills::merge_skills;
use crate::files::skill_files::SkillFiles;
use crate::files::skill_folder::SkillPath;
use crate::files::write_root::{Access, ReadFile, WriteRoot};
use crate::proposals::log::{Author, Event, LogRecords, Operation, Verdict};
use crate::proposals::proposal::{
    MAX_EVIDENCE_BYTES, MAX_FILE_BYTES, MAX_JUSTIFICATION_BYTES, Proposal,
};
use crate::proposals::store::{LockedStore, Store};

const FOLDER: &str = "proposals";
/// Maximum number of pending proposals.
const MAX_PENDING: usize = 200;
/// Maximum number of pending proposals of whole versions. No agent makes them.
pub(crate) const MAX_PENDING_VERSIONS: usize = 10_000;
/// Maximum number of pending proposals per skill.
const MAX_PENDING_PER_SKILL: usize = 10;

/// How often the same change is recorded as proposed again.
const MAX_REPEATS: usize = 9;
/// Maximum length in bytes of the reason for proposing the same change again.
const MAX_REPEAT_BYTES: usize = 1 << 10;

pub(crate) const LOG_FULL: &str =
    "The log has more than 64 MiB, so nothing can be proposed; move it aside to start a new one";
pub(crate) const TOO_MANY: &str =
    "Too many proposals are pending; approve or reject some with `skillfold review`";
const TOO_MANY_FOR_SKILL: &str =
    "Ten proposals for this skill are pending; approve or reject some with `skillfold review`";
const NOT_PENDING: &str =
    "It was decided, or its file was changed; `skillfold proposals` lists those pending";

/// A change to propose.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever proposes names every part"
)]
pub struct NewProposal<'a> {
    /// The skill's id.
    pub skill: &'a str,
    /// The skill's current or future location.
    pub place: &'a SkillPath,
    /// The change as a unified diff.
    pub diff: &'a str,
    /// Who proposes it.
    pub author: Author,
    /// Why.
    pub justification: &'a str,
    /// Evidence that it is right.
    pub evidence: Option<&'a str>,
    /// The checks made, one per line, for whoever reads the file.
    pub checks: &'a [String],
}

/// The result of proposing a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposed {
    /// The proposal.
    pub proposal: Proposal,
    /// Whether the same change was already pending. Then only a record is written, and nothing after nine of them.
    pub is_repeated: bool,
    /// How the diff was repaired, one sentence each.
    pub repairs: Vec<String>,
}

/// A pending proposal, with its log entries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingProposal {
    /// The proposal.
    pub proposal: Proposal,
    /// Whether the store wrote it. A file put there outside Skillfold is not recorded.
    pub is_recorded: bool,
    /// The number of its record.
    number: Option<u64>,
    /// How often the same change was proposed again, up to nine.
    pub repeated: usize,
    /// Opinions of reviewers who may not decide: who, what and why.
    pub recommendations: Vec<(String, Verdict, String)>,
}

/// The effect of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// The files it changes.
    pub edits: Vec<FileEdit>,
    /// The skill before; no files if it is new.
    pub before: SkillFiles,
    /// The skill after.
    pub after: SkillFiles,
}

impl Preview {
    /// Returns the effect of a diff on a skill's current files.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the diff does not apply.
    pub fn of(place: &SkillPath, diff: &str) -> Result<Self, Error> {
        Self::from_files(place.read()?.unwrap_or_default(), diff)
    }

    /// Returns the effect of a diff that creates a skill.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the diff does not apply.
    pub fn of_new(diff: &str) -> Result<Self, Error> {
        Self::from_files(SkillFiles::default(), diff)
    }

    /// Returns the effect of making a skill another version.
    pub fn of_version(before: SkillFiles, after: SkillFiles) -> Self {
        Self {
            edits: before.edits_to(&after),
            before,
            after,
        }
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

/// The pending proposals, and files that could not be read as one.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Proposals {
    /// Pending proposals, oldest first.
    pub waiting: Vec<PendingProposal>,
    /// Why a file in the folder is not a proposal.
    pub unreadable: Vec<Error>,
}

impl Store {
    /// Proposes a change to a skill, or a new skill if there is none. Leaves the skill unchanged.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the diff does not apply or a text is too long;
    /// [`Refused`](ErrorKind::Refused) if too many proposals are pending, or the log is too large for more.
    pub fn propose(&self, new: &NewProposal<'_>, now: SystemTime) -> Result<Proposed, Error> {
        self.propose_for(new, SkillPath::read, now)
    }

    /// Proposes a new skill without looking into its folder, so the proposer does not learn what is there. It can be
    /// approved once the folder is free.
    ///
    /// # Errors
    ///
    /// As for [`propose`](Self::propose).
    pub fn propose_new(&self, new: &NewProposal<'_>, now: SystemTime) -> Result<Proposed, Error> {
        self.propose_for(new, |_| Ok(None), now)
    }

    /// Proposes a change to the version returned by `read`.
    fn propose_for(
        &self,
        new: &NewProposal<'_>,
        read: impl FnOnce(&SkillPath) -> Result<Option<SkillFiles>, Error>,
        now: SystemTime,
    ) -> Result<Proposed, Error> {
        check_texts(new.justification, new.evidence)?;
        let change = Change::parse(new.diff)?;
        // The lock keeps approvals from changing the skill during the read.
        let mut locked = self.write(now)?;
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
            after: None,
            origin: BTreeMap::new(),
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
        locked.check_room(new.skill, new.place)?;
        // Merging needs the base version.
        if let Some(before) = &before {
            locked.contents().put_skill(before)?;
        }
        let proposal = locked.add(proposal, new.checks, now)?;
        Ok(Proposed {
            proposal,
            is_repeated: false,
            repairs,
        })
    }

    /// Returns the pending proposals.
    pub fn proposals(&self) -> Result<Proposals, Error> {
        Ok(list(&self.root, &self.log()?))
    }

    /// Finds a pending proposal by file name or digest prefix.
    pub fn find_proposal(&self, name: &str) -> Result<PendingProposal, Error> {
        let pending = self.proposals()?.waiting;
        let is_meant = |it: &PendingProposal| {
            let digest = it.proposal.digest.to_string();
            let digits = digest.trim_start_matches("sha256:");
            let file = &it.proposal.file;
            *file == name
                || file.strip_suffix(".md") == Some(name)
                || digest == name
                || (name.len() >= 8 && digits.starts_with(name))
        };
        let names: Vec<String> = pending.iter().map(|it| it.proposal.file.clone()).collect();
        let found = pending.into_iter().find(is_meant);
        found.ok_or_else(|| {
            let message = format!("No pending proposal named `{name}`");
            let error = Error::new(ErrorKind::NotFound, message, NOT_PENDING);
            error.with_nearest(names.iter().take(3).map(String::as_str))
        })
    }

    /// Returns the effect of a proposal on its base version.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if its diff does not apply; [`NotFound`](ErrorKind::NotFound) if the base
    /// version is not stored and the skill has changed since.
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
        self.effect(proposal, before)
    }

    /// Returns the effect of a proposal on a skill's files.
    pub(super) fn effect(&self, proposal: &Proposal, before: SkillFiles) -> Result<Preview, Error> {
        let Some(after) = proposal.after else {
            return Preview::from_files(before, &proposal.diff);
        };
        let found = self.version(after)?;
        let after = found.ok_or_else(|| Error::not_found(after.to_string()))?;
        Ok(Preview::of_version(before, after))
    }

    /// Merges a proposal's edits with the skill's current files. Also returns the paths with conflicts; the content of
    /// such a file has both versions, with markers.
    pub fn merged(&self, proposal: &Proposal) -> Result<(Vec<FileEdit>, Vec<String>), Error> {
        let preview = self.preview(proposal)?;
        let current = proposal.place.read()?.unwrap_or_default();
        if proposal.after.is_some() {
            let merged = merge_skills(&preview.before, &current, &preview.after)?;
            return Ok((current.edits_to(&merged.files), merged.conflicts));
        }
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

    /// Returns the pending proposal with this digest.
    pub(crate) fn waiting(&self, digest: Digest) -> Result<Proposal, Error> {
        let pending = self.proposals().waiting.into_iter();
        let mut proposals = pending.map(|it| it.proposal);
        let found = proposals.find(|it| it.digest == digest);
        found.ok_or_else(|| not_pending(digest))
    }

    /// Refuses one more proposed edit if there is no room for it.
    fn check_room(&self, skill: &str, place: &SkillPath) -> Result<(), Error> {
        let pending = self.proposals().waiting;
        let for_skill = pending.iter().filter(|it| it.proposal.place == *place);
        let edits = pending.iter().filter(|it| it.proposal.after.is_none());
        let edits = edits.count();
        let full = if !self.log.has_room_for_proposals() {
            Some(LOG_FULL)
        } else if edits >= MAX_PENDING {
            Some(TOO_MANY)
        } else {
            (for_skill.count() >= MAX_PENDING_PER_SKILL).then_some(TOO_MANY_FOR_SKILL)
        };
        full.map_or(Ok(()), |rule| {
            Err(Error::refused(skill, Refusal::TooLarge, rule))
        })
    }

    /// Writes a proposal under the first free name, and records it.
    pub(crate) fn add(
        &mut self,
        mut proposal: Proposal,
        checks: &[String],
        now: SystemTime,
    ) -> Result<Proposal, Error> {
        let mut text = proposal.to_text(checks)?;
        // One that was decided within this second has the same text, and so the same digest.
        let (decided, mut later) = (decided(&self.log.read), now);
        while decided.contains(&Digest::sha256(text.as_bytes())) {
            later += Duration::from_secs(1);
            proposal.time = utc(later);
            text = proposal.to_text(checks)?;
        }
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
        proposal.digest = self.contents().put(text.as_bytes())?;
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

    /// Writes the file of the last recorded proposal if it is missing.
    pub(crate) fn restore_proposal(&mut self) -> Result<(), Error> {
        let Some(Event::Proposed { proposal, file, .. }) =
            self.log.read.records.last().map(|record| &record.event)
        else {
            return Ok(());
        };
        let path = Path::new(FOLDER).join(file);
        if self.store.root.read(&path, MAX_FILE_BYTES)?.is_some() {
            // Its writer may have been killed before the name was on disk.
            return self.store.root.flush_parent(&path);
        }
        match self.contents().get(*proposal)? {
            Some(bytes) => self.store.root.create(&path, &bytes, Access::Private),
            None => Ok(()),
        }
    }

    /// Stores a proposal's bytes; its file may have been written outside Skillfold.
    pub(crate) fn keep(&self, proposal: &Proposal) -> Result<(), Error> {
        match self.read_proposal_file(proposal)? {
            Some(file) => self.contents().put(file.bytes()).map(|_| ()),
            None => Err(not_pending(proposal.digest)),
        }
    }

    /// Removes a decided proposal's file. A file that changed since is another proposal.
    pub(crate) fn remove_file(&self, proposal: &Proposal) -> Result<(), Error> {
        let path = Path::new(FOLDER).join(&proposal.file);
        match self.read_proposal_file(proposal)? {
            Some(file) => self.store.root.remove(&path, &file),
            None => Ok(()),
        }
    }

    /// Reads a proposal's file; `None` if it has changed.
    fn read_proposal_file(&self, proposal: &Proposal) -> Result<Option<ReadFile>, Error> {
        let path = Path::new(FOLDER).join(&proposal.file);
        let file = self.store.root.read(&path, MAX_FILE_BYTES)?;
        Ok(file.filter(|file| Digest::sha256(file.bytes()) == proposal.digest))
    }
}

pub(crate) fn not_pending(digest: Digest) -> Error {
    let message = format!("No pending proposal with the digest `{digest}`");
    Error::new(ErrorKind::NotFound, message, NOT_PENDING)
}

pub(crate) fn check_texts(justification: &str, evidence: Option<&str>) -> Result<(), Error> {
    let invalid = |what: &str, why: String| Err(Error::invalid(what, why));
    if justification.trim().is_empty() {
        return invalid("justification", "Say why the change is needed".to_owned());
    }
    let evidence = evidence.unwrap_or_default();
    for (what, text, max) in [
        ("justification", justification, MAX_JUSTIFICATION_BYTES),
        ("evidence", evidence, MAX_EVIDENCE_BYTES),
    ] {
        if text.len() > max {
            let why = format!("It has {} bytes, and at most {max} are kept", text.len());
            return invalid(what, why);
        }
    }
    Ok(())
}

/// Reads the undecided proposals.
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
    for name in names
        .iter()
        .filter(is_proposal)
        .take(MAX_PENDING * 2 + MAX_PENDING_VERSIONS)
    {
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
            Ok(proposal) => proposals.waiting.push(pending_proposal(proposal, log)),
        }
    }
    // Several may have the same second.
    proposals
        .waiting
        .sort_by_cached_key(|it| (it.proposal.time.clone(), it.number));
    proposals
}

fn pending_proposal(proposal: Proposal, log: &LogRecords) -> PendingProposal {
    let mut pending = PendingProposal {
        proposal,
        is_recorded: false,
        number: None,
        repeated: 0,
        recommendations: Vec::new(),
    };
    for record in &log.records {
        match &record.event {
            Event::Proposed { proposal, .. } if *proposal == pending.proposal.digest => {
                pending.is_recorded = true;
                pending.number = Some(record.number);
            }
            Event::ProposedAgain { proposal, .. } if *proposal == pending.proposal.digest => {
                pending.repeated += 1;
            }
            Event::Recommended {
                proposal,
                by,
                verdict,
                reason,
            } if *proposal == pending.proposal.digest => {
                pending
                    .recommendations
                    .push((by.clone(), *verdict, reason.clone()));
            }
            _ => {}
        }
    }
    pending
}

/// Returns the approved and rejected proposals.
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
