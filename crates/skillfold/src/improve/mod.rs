//! Lets agents propose changes of skills, and shows people what a change does.
//!
//! Nothing here approves: who may, and how, is decided by the store that [`Skills::store`] opens.

mod reach;

mod effects;
mod from_path;
mod replace;

use std::time::SystemTime;

use skillfold_core::catalog::Status;
use skillfold_core::diagnostic::Severity;
use skillfold_core::load::skill_digest;
use skillfold_core::name::SkillName;
use skillfold_core::source::SKILL_FILE;
use skillfold_core::{Entry, Error, Refusal};
use skillfold_store::change::{FileEdit, unified};
use skillfold_store::{
    Author, NewProposal, PendingProposal, Preview, Proposal, Proposed, SkillPath, Store,
};

pub use self::effects::{ChangedQuery, Effects};
pub use self::reach::{Mention, Reach, ReachKind};
pub use self::replace::MergedProposal;
use crate::author::scaffold::find_problem;
use crate::discovery::roots::FOLDERS;
use crate::environment;
use crate::settings::ApprovalRequires;
use crate::skills::Skills;

/// A proposal that was made, with what it would do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MadeProposal {
    /// What the store made of it.
    pub proposed: Proposed,
    /// What it would do.
    pub effects: Effects,
}

impl Skills {
    /// Opens the store of proposals, versions and decisions, in the user's data folder.
    ///
    /// # Errors
    ///
    /// [`NotFound`](skillfold_core::ErrorKind::NotFound) without a home; others if the folder cannot be written.
    pub fn store(&self) -> Result<Store, Error> {
        let folder = self.environment().data_folder();
        let folder = folder.ok_or_else(|| Error::not_found("home"))?;
        let report = self.report();
        let requirement = match report.settings.approval_requires.value {
            ApprovalRequires::Terminal => skillfold_store::Requirement::Terminal,
            ApprovalRequires::Passphrase => skillfold_store::Requirement::Passphrase,
        };
        let store = Store::open(&folder)?.require(requirement);
        Ok(store.keep_versions(report.settings.kept_versions.value))
    }

    /// Returns the proposals that wait for a decision. Unlike [`store`](Self::store), this creates no folder.
    ///
    /// # Errors
    ///
    /// Those of [`store`](Self::store), and of the log.
    pub fn waiting_proposals(&self) -> Result<Vec<PendingProposal>, Error> {
        match self.environment().data_folder() {
            Some(folder) if folder.exists() => Ok(self.store()?.proposals()?.waiting),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns where a skill is on the disk, to change it.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the skill is not in a folder.
    pub fn skill_place(&self, id: &str) -> Result<SkillPath, Error> {
        match self.catalog().resolve_for_user(id) {
            Ok(entry) => self.place_of(&entry),
            // One that was removed, or that models do not have, still has its versions.
            Err(error) => self.recorded_place(id)?.ok_or(error),
        }
    }

    /// Returns where a skill was installed that has versions, in the project or for the user.
    fn recorded_place(&self, id: &str) -> Result<Option<SkillPath>, Error> {
        let environment = self.environment();
        let (project, store) = (environment.project(), self.store()?);
        let in_project = Some((project.to_owned(), project.join(FOLDERS[0])));
        let of_user = environment.home_dir().map(|home| home.join(FOLDERS[0]));
        let of_user = of_user.map(|folder| (folder.clone(), folder));
        if id.parse::<SkillName>().is_err() {
            return Ok(None);
        }
        for (base, folder) in in_project.into_iter().chain(of_user) {
            let place = SkillPath::new(&base, &folder.join(id))?;
            if !store.history(&place, self.now())?.is_empty() {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    fn place_of(&self, entry: &Entry<'_>) -> Result<SkillPath, Error> {
        let root = entry.root().source().location();
        let (Some(root), Some(folder)) = (root, entry.base_dir()) else {
            let rule = "The skill is not in a folder, so it cannot be changed; change it where it comes from";
            return Err(Error::refused(entry.id(), Refusal::Write, rule));
        };
        // In a project, links on the way to the root may be anyone's.
        let base = match self.environment().relative_to_project(root) {
            Some(_) => self.environment().project(),
            None => root,
        };
        SkillPath::new(base, &folder)
    }

    /// Proposes a change of a skill as a unified diff. A person decides; until then nothing changes.
    ///
    /// # Errors
    ///
    /// [`Invalid`](skillfold_core::ErrorKind::Invalid) if the diff does not apply, or the skill would not be one
    /// afterwards.
    pub fn propose_update(
        &self,
        id: &str,
        diff: &str,
        justification: &str,
        evidence: Option<&str>,
        author: Author,
    ) -> Result<MadeProposal, Error> {
        self.check_trust();
        let entry = self.get(id)?;
        let entry = entry.entry();
        if matches!(entry.status(), Status::Untrusted) {
            return Err(Error::not_found(id));
        }
        let place = self.place_of(&entry)?;
        let preview = Preview::of(&place, diff);
        // What does not apply is answered with what stands there instead: nothing that a pinned folder was not trusted with.
        skill_digest(entry.root().source(), entry.folder())?;
        let preview = preview?;
        let new = NewProposal {
            skill: entry.id(),
            place: &place,
            diff,
            author,
            justification,
            evidence,
            checks: &[],
        };
        self.propose(new, &preview, Store::propose)
    }

    /// Proposes a new skill of the user: its `SKILL.md`. It is on no disk and shown to no model until it is approved.
    ///
    /// # Errors
    ///
    /// [`Invalid`](skillfold_core::ErrorKind::Invalid) if the name or the content is not that of a skill;
    /// [`Exists`](skillfold_core::ErrorKind::Exists) if there is a skill of that name that this handle may give. One that it may
    /// not give is not mentioned: the user learns of it when they review the proposal.
    pub fn propose_new(
        &self,
        id: &str,
        content: &str,
        justification: &str,
        evidence: Option<&str>,
        author: Author,
    ) -> Result<MadeProposal, Error> {
        self.check_trust();
        let existing = self.get(id).is_ok().then_some(id);
        self.propose_new_unless(existing, (id, content), justification, evidence, author)
    }

    /// Proposes a new skill, unless whoever proposes it may have `existing`, the skill of that name.
    pub(crate) fn propose_new_unless(
        &self,
        existing: Option<&str>,
        (id, content): (&str, &str),
        justification: &str,
        evidence: Option<&str>,
        author: Author,
    ) -> Result<MadeProposal, Error> {
        if let Some(why) = find_problem(id, content) {
            return Err(Error::invalid(id, why));
        }
        if let Some(existing) = existing {
            return Err(Error::new(
                skillfold_core::ErrorKind::Exists,
                format!("There is a skill `{existing}`"),
                "Propose a change to it, or choose another name",
            ));
        }
        let place = self.new_place(id)?;
        let path = SKILL_FILE
            .parse()
            .map_err(|_| Error::not_found(SKILL_FILE))?;
        let diff = unified(&[FileEdit::new(path, None, Some(content.into()))]);
        let preview = Preview::of_new(&diff)?;
        let new = NewProposal {
            skill: id,
            place: &place,
            diff: &diff,
            author,
            justification,
            evidence,
            checks: &[],
        };
        self.propose(new, &preview, Store::propose_new)
    }

    /// Returns where a new skill of the user is.
    fn new_place(&self, id: &str) -> Result<SkillPath, Error> {
        let home = self.environment().home_dir();
        let root = home
            .ok_or_else(|| Error::not_found("home"))?
            .join(FOLDERS[0]);
        SkillPath::new(&root, &root.join(id))
    }

    /// Checks what a proposal would do, and makes it.
    fn propose(
        &self,
        new: NewProposal<'_>,
        preview: &Preview,
        make: impl FnOnce(&Store, &NewProposal<'_>, SystemTime) -> Result<Proposed, Error>,
    ) -> Result<MadeProposal, Error> {
        let effects = self.effects_of(new.skill, new.place, preview)?;
        if let Some(error) = effects.new_errors().next() {
            let why = format!("The skill would have an error: {}", error.message);
            return Err(Error::invalid(new.skill, why));
        }
        let checks = &*effects.lines();
        let new = NewProposal { checks, ..new };
        let proposed = make(&self.store()?, &new, environment::now())?;
        if !proposed.is_repeated {
            self.tell_of_proposal(&proposed.proposal);
        }
        Ok(MadeProposal { proposed, effects })
    }

    /// Returns what a proposal would do, worked out anew: what its file says is not believed.
    ///
    /// # Errors
    ///
    /// As for [`Store::preview`].
    pub fn effects(&self, proposal: &Proposal) -> Result<Effects, Error> {
        let preview = self.store()?.preview(proposal)?;
        self.effects_of(&proposal.skill, &proposal.place, &preview)
    }

    /// Returns the name of the user, for what they decide.
    pub fn user_name(&self) -> String {
        let name = self.environment().user_name();
        name.unwrap_or("user").to_owned()
    }

    /// Returns the time, for what is decided now.
    pub fn now(&self) -> SystemTime {
        environment::now()
    }
}

impl Effects {
    /// Returns the errors that the skill would have and does not have now.
    fn new_errors(&self) -> impl Iterator<Item = &skillfold_core::Diagnostic> {
        let findings = self.new_findings.iter();
        findings.filter(|finding| finding.severity == Severity::Error)
    }
}
