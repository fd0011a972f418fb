//! Proposals, decisions about them, and versions of skills. A package gives the right to decide to whom it is due: its
//! `Reviewer` alone makes those calls.

use serde::Deserialize;
use skillfold::Skills;
use skillfold::core::Error;
use skillfold::core::load::Digest;
use skillfold::store::{Approval, Author, Verdict};
use skillfold::view::{Document, History, ProposalList, ProposalView};

use crate::error::{Answer, parse, value, view};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ProposalCall {
    Update {
        new: NewProposal,
        diff: String,
    },
    New {
        new: NewProposal,
        content: String,
    },
    List,
    Show {
        name: String,
    },
    Merge {
        name: String,
    },
    History {
        id: String,
    },
    Approve {
        digest: String,
        base: Option<String>,
        decision: Decision,
    },
    Recommend {
        digest: String,
        by: String,
        verdict: String,
        reason: String,
    },
    Reject {
        digest: String,
        by: String,
        reason: String,
    },
    RollBack {
        id: String,
        version: String,
        reason: String,
        decision: Decision,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewProposal {
    id: String,
    justification: String,
    evidence: Option<String>,
    author: String,
    session: Option<String>,
}

impl NewProposal {
    fn author(&self) -> Author {
        Author::named(&self.author).in_session(self.session.as_deref())
    }
}

/// Who decides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decision {
    by: String,
    passphrase: Option<String>,
}

impl Decision {
    /// Returns a host's approval.
    pub(crate) fn approval(&self) -> Approval {
        let approval = Approval::by_host(&self.by);
        match &self.passphrase {
            Some(passphrase) => approval.with_passphrase(passphrase),
            None => approval,
        }
    }
}

pub(crate) fn answer(skills: &Skills, call: ProposalCall) -> Answer {
    Ok(view(match call {
        ProposalCall::Update { new, diff } => {
            let (why, evidence) = (&new.justification, new.evidence.as_deref());
            let made = skills.propose_update(&new.id, &diff, why, evidence, new.author())?;
            shown(skills, &made.proposed.proposal.file)?
        }
        ProposalCall::New { new, content } => {
            let (why, evidence) = (&new.justification, new.evidence.as_deref());
            let made = skills.propose_new(&new.id, &content, why, evidence, new.author())?;
            shown(skills, &made.proposed.proposal.file)?
        }
        ProposalCall::List => Document::Proposals(ProposalList::new(&skills.store()?.proposals()?)),
        ProposalCall::Show { name } => shown(skills, &name)?,
        ProposalCall::Merge { name } => {
            let waiting = skills.store()?.find_proposal(&name)?;
            let merged = skills.merge_if_moved(&waiting)?;
            let proposal = merged.map_or(waiting, |merged| merged.proposal);
            shown(skills, &proposal.proposal.file)?
        }
        ProposalCall::History { id } => {
            let place = skills.skill_place(&id)?;
            let versions = skills.store()?.history(&place, skills.now())?;
            Document::History(History::new(&id, &place, &versions))
        }
        ProposalCall::Approve {
            digest,
            base,
            decision,
        } => return value(approve(skills, &digest, base.as_deref(), &decision)?),
        ProposalCall::Recommend {
            digest,
            by,
            verdict,
            reason,
        } => {
            let verdict = match &*verdict {
                "approve" => Verdict::Approve,
                "reject" => Verdict::Reject,
                _ => Err(Error::invalid("verdict", "expected `approve` or `reject`"))?,
            };
            let (store, digest) = (skills.store()?, parse("digest", &digest)?);
            return value(store.recommend(digest, &by, verdict, &reason, skills.now())?);
        }
        ProposalCall::Reject { digest, by, reason } => {
            let (store, digest) = (skills.store()?, parse("digest", &digest)?);
            return value(store.reject(digest, &by, &reason, skills.now())?);
        }
        ProposalCall::RollBack {
            id,
            version,
            reason,
            decision,
        } => {
            let place = skills.skill_place(&id)?;
            let current = place.read()?.map(|files| files.digest());
            let (store, now) = (skills.store()?, skills.now());
            let version = parse("version", &version)?;
            store.roll_back(&place, current, version, &decision.approval(), &reason, now)?;
            skills.refresh()?;
            return value(());
        }
    }))
}

fn shown(skills: &Skills, name: &str) -> Result<Document, Error> {
    let waiting = skills.store()?.find_proposal(name)?;
    let effects = skills.effects(&waiting.proposal)?;
    let view = ProposalView::new(&waiting).with_effects(&waiting, &effects);
    Ok(Document::Proposal(Box::new(view)))
}

/// Returns the digest of the new version.
fn approve(
    skills: &Skills,
    digest: &str,
    base: Option<&str>,
    decision: &Decision,
) -> Result<String, Error> {
    let digest: Digest = parse("digest", digest)?;
    let base = base.map(|base| parse("base", base)).transpose()?;
    let (store, approval) = (skills.store()?, decision.approval());
    let waiting = store.proposals()?.waiting.into_iter();
    let found = { waiting }.find(|it| it.proposal.digest == digest);
    let version = match found {
        Some(mut found) => {
            // As it was looked at.
            found.proposal.base = base;
            skills.approve(&found.proposal, &approval)?
        }
        // Says why there is none.
        None => store.approve(digest, base, &approval, skills.now())?,
    };
    skills.refresh()?;
    Ok(version.after.to_string())
}
