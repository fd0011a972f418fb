//! Proposals, decisions about them, and versions of skills.

use pyo3::prelude::*;
use skillfold::Skills;
use skillfold::core::Error;
use skillfold::core::load::Digest;
use skillfold::store::{Approval, Author, Verdict};
use skillfold::view::{Document, History, ProposalList, ProposalView};

use crate::error::{detached, json, parse};

/// The store of proposals and versions. Whoever has it can decide, so `skillfold._improve` wraps it twice: with and without
/// that right.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct Store {
    skills: Skills,
}

impl Store {
    pub(crate) fn new(skills: &Skills) -> Self {
        Self {
            skills: skills.clone(),
        }
    }

    fn shown(&self, name: &str) -> Result<String, Error> {
        let waiting = self.skills.store()?.find_proposal(name)?;
        let effects = self.skills.effects(&waiting.proposal)?;
        let view = ProposalView::new(&waiting).with_effects(&waiting, &effects);
        Ok(json(Document::Proposal(Box::new(view))))
    }
}

/// A proposal, as `skillfold._improve` passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct NewProposal {
    id: String,
    justification: String,
    evidence: Option<String>,
    author: String,
    session: Option<String>,
}

/// Who decides, as `skillfold._improve` passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Decision {
    by: String,
    passphrase: Option<String>,
}

impl Decision {
    fn approval(&self) -> Approval {
        approval(&self.by, self.passphrase.as_deref())
    }
}

/// Returns a host's approval.
pub(crate) fn approval(by: &str, passphrase: Option<&str>) -> Approval {
    let approval = Approval::by_host(by);
    match passphrase {
        Some(passphrase) => approval.with_passphrase(passphrase),
        None => approval,
    }
}

#[pymethods]
impl Store {
    #[expect(clippy::needless_pass_by_value, reason = "Python passes a dict")]
    fn propose_update(&self, py: Python<'_>, new: NewProposal, diff: &str) -> PyResult<String> {
        detached(py, || {
            let author = Author::named(&new.author).in_session(new.session.as_deref());
            let (justification, evidence) = (&new.justification, new.evidence.as_deref());
            let skills = &self.skills;
            let made = skills.propose_update(&new.id, diff, justification, evidence, author)?;
            self.shown(&made.proposed.proposal.file)
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a dict")]
    fn propose_new(&self, py: Python<'_>, new: NewProposal, content: &str) -> PyResult<String> {
        detached(py, || {
            let author = Author::named(&new.author).in_session(new.session.as_deref());
            let (justification, evidence) = (&new.justification, new.evidence.as_deref());
            let skills = &self.skills;
            let made = skills.propose_new(&new.id, content, justification, evidence, author)?;
            self.shown(&made.proposed.proposal.file)
        })
    }

    fn proposals(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let proposals = self.skills.store()?.proposals()?;
            Ok(json(Document::Proposals(ProposalList::new(&proposals))))
        })
    }

    fn proposal(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        detached(py, || self.shown(name))
    }

    fn merge(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        detached(py, || {
            let waiting = self.skills.store()?.find_proposal(name)?;
            let merged = self.skills.merge_if_moved(&waiting)?;
            let proposal = merged.map_or(waiting, |merged| merged.proposal);
            self.shown(&proposal.proposal.file)
        })
    }

    fn history(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        detached(py, || {
            let place = self.skills.skill_place(id)?;
            let versions = self.skills.store()?.history(&place, self.skills.now())?;
            Ok(json(Document::History(History::new(id, &place, &versions))))
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a dict")]
    fn approve(
        &self,
        py: Python<'_>,
        digest: &str,
        base: Option<&str>,
        decision: Decision,
    ) -> PyResult<String> {
        detached(py, || {
            let digest: Digest = parse("digest", digest)?;
            let base = base.map(|base| parse("base", base)).transpose()?;
            let (store, approval) = (self.skills.store()?, decision.approval());
            let waiting = store.proposals()?.waiting.into_iter();
            let found = { waiting }.find(|it| it.proposal.digest == digest);
            let version = match found {
                Some(mut found) => {
                    // As it was looked at.
                    found.proposal.base = base;
                    self.skills.approve(&found.proposal, &approval)?
                }
                // Says why there is none.
                None => store.approve(digest, base, &approval, self.skills.now())?,
            };
            self.skills.refresh()?;
            Ok(version.after.to_string())
        })
    }

    fn recommend(
        &self,
        py: Python<'_>,
        digest: &str,
        by: &str,
        verdict: &str,
        reason: &str,
    ) -> PyResult<()> {
        detached(py, || {
            let verdict = match verdict {
                "approve" => Verdict::Approve,
                "reject" => Verdict::Reject,
                _ => return Err(Error::invalid("verdict", "expected `approve` or `reject`")),
            };
            let (store, now) = (self.skills.store()?, self.skills.now());
            store.recommend(parse("digest", digest)?, by, verdict, reason, now)
        })
    }

    fn reject(&self, py: Python<'_>, digest: &str, by: &str, reason: &str) -> PyResult<()> {
        detached(py, || {
            let (store, now) = (self.skills.store()?, self.skills.now());
            store.reject(parse("digest", digest)?, by, reason, now)
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a dict")]
    fn roll_back(
        &self,
        py: Python<'_>,
        id: &str,
        version: &str,
        reason: &str,
        decision: Decision,
    ) -> PyResult<()> {
        detached(py, || {
            let place = self.skills.skill_place(id)?;
            let current = place.read()?.map(|files| files.digest());
            let (store, now) = (self.skills.store()?, self.skills.now());
            let version = parse("version", version)?;
            store.roll_back(&place, current, version, &decision.approval(), reason, now)?;
            self.skills.refresh()?;
            Ok(())
        })
    }
}
