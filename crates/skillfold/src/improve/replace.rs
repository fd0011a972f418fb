//! Proposals that take the place of others: merged with what the skill has become, or edited by the reviewer.

use skillfold_core::{Error, Refusal};
use skillfold_store::change::{FileEdit, unified};
use skillfold_store::{Author, NewProposal, PendingProposal, Proposal, ProposedVersion};

use crate::skills::Skills;

const HAS_IT: &str = "The skill has this change already; reject the proposal";

/// A proposal merged with what its skill has become.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MergedProposal {
    /// The new proposal.
    pub proposal: PendingProposal,
    /// The files that the user and the author of a version both changed in the same lines. The user's stays; the author's is
    /// beside it.
    pub conflicts: Vec<String>,
}

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
    ) -> Result<Option<MergedProposal>, Error> {
        let proposal = &waiting.proposal;
        let current = proposal.place.read()?.map(|files| files.digest());
        if current == proposal.base || proposal.base.is_none() {
            return Ok(None);
        }
        let store = self.store()?;
        #[cfg(feature = "registry")]
        if let Some(lock) = proposal.origin.get("lock") {
            let added = self.registry_of(lock.as_ref())?.propose_again(proposal)?;
            let Some(new) = added.proposal else {
                return Err(Error::refused(&proposal.skill, Refusal::Approval, HAS_IT));
            };
            return Ok(Some(MergedProposal {
                proposal: store.find_proposal(&new.file)?,
                conflicts: added.conflicts,
            }));
        }
        let (edits, conflicts) = store.merged(proposal)?;
        let refused = |what: &str, rule| Err(Error::refused(what, Refusal::Approval, rule));
        if !conflicts.is_empty() {
            let rule =
                "The skill has changed since in the same lines; edit the proposal, or reject it";
            let what = format!("{}: {}", proposal.skill, conflicts.join(", "));
            return refused(&what, rule);
        }
        if edits.is_empty() {
            return refused(&proposal.skill, HAS_IT);
        }
        let merged = self.replace_proposal(waiting, &edits, proposal.author.clone(), "Merged")?;
        Ok(Some(MergedProposal {
            proposal: store.find_proposal(&merged.file)?,
            conflicts: Vec::new(),
        }))
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
        if proposal.after.is_some() {
            let before = proposal.place.read()?.unwrap_or_default();
            let after = before.edited(edits);
            let new = ProposedVersion {
                skill: &proposal.skill,
                place: &proposal.place,
                before: &before,
                after: &after,
                origin: proposal.origin.clone(),
                author,
                justification: &proposal.justification,
                evidence: proposal.evidence.as_deref(),
                checks: &[],
            };
            // It takes the place of the old one by itself.
            return Ok(store.propose_version(&new, self.now())?.proposal);
        }
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
