//! Proposals that take the place of others: merged with what the skill has become, or edited by the reviewer.

use skillfold_core::{Error, Refusal};
use skillfold_store::change::{FileEdit, unified};
use skillfold_store::{Author, NewProposal, PendingProposal, Proposal};

use crate::skills::Skills;

impl Skills {
    /// Merges a proposal with the skill as it is now, if that has changed since. The result is a new proposal, to be
    /// looked at; nothing is applied.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if both changed the same lines, or the skill has the change.
    pub fn merge_if_moved(
        &self,
        waiting: &PendingProposal,
    ) -> Result<Option<PendingProposal>, Error> {
        let proposal = &waiting.proposal;
        let current = proposal.place.read()?.map(|files| files.digest());
        if current == proposal.base || proposal.base.is_none() {
            return Ok(None);
        }
        let store = self.store()?;
        let (edits, conflicts) = store.merged(proposal)?;
        let refused = |what: &str, rule| Err(Error::refused(what, Refusal::Approval, rule));
        if !conflicts.is_empty() {
            let rule =
                "The skill has changed since in the same lines; edit the proposal, or reject it";
            let what = format!("{}: {}", proposal.skill, conflicts.join(", "));
            return refused(&what, rule);
        }
        if edits.is_empty() {
            let rule = "The skill has this change already; reject the proposal";
            return refused(&proposal.skill, rule);
        }
        let merged = self.replace_proposal(waiting, &edits, proposal.author.clone(), "Merged")?;
        Ok(Some(store.find_proposal(&merged.file)?))
    }

    /// Proposes other edits in the place of a proposal, which is rejected with a reason that begins with `how`.
    ///
    /// # Errors
    ///
    /// Those of proposing and rejecting.
    pub fn replace_proposal(
        &self,
        waiting: &PendingProposal,
        edits: &[FileEdit],
        author: Author,
        how: &str,
    ) -> Result<Proposal, Error> {
        let store = self.store()?;
        let proposal = &waiting.proposal;
        let new = NewProposal {
            skill: &proposal.skill,
            place: &proposal.place,
            diff: &unified(edits),
            author,
            justification: &proposal.justification,
            evidence: proposal.evidence.as_deref(),
            checks: &[],
        };
        let new = store.propose(&new, self.now())?.proposal;
        let reason = format!("{how} as {}", new.name());
        store.reject(proposal.digest, &self.user_name(), &reason, self.now())?;
        Ok(new)
    }
}
