//! The tools with which a model proposes changes of skills. No tool approves one.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::json;
use skillfold_core::Error;
use skillfold_core::diagnostic::visible;

use crate::answer::failure::Failure;
use crate::answer::{Payload, ProposedSkill, Tool, ToolAnswer};
use crate::conversation::session::Session;
use crate::improve::MadeProposal;
use crate::tools::definition::{ToolDefinition, definition};

/// Arguments of the tool that proposes a change.
#[derive(Deserialize)]
pub(super) struct UpdateArguments {
    skill_id: String,
    diff: String,
    justification: String,
    #[serde(default)]
    evidence: Option<String>,
}

/// Arguments of the tool that proposes a new skill.
#[derive(Deserialize)]
pub(super) struct NewArguments {
    skill_id: String,
    content: String,
    justification: String,
    #[serde(default)]
    evidence: Option<String>,
}

/// Returns the definitions of the tools.
pub(super) fn definitions() -> [ToolDefinition; 2] {
    let text = json!({ "type": "string" });
    let described = |what: &str| json!({ "type": "string", "description": what });
    let justification = described("Why, in a sentence or two for the reviewer");
    let evidence = described("What shows it: an error, a command and its output");
    [
        definition(
            Tool::ProposeUpdate,
            Tool::PROPOSE_UPDATE,
            "Propose a change to a skill",
            "Proposes a change to a skill whose instructions turned out wrong, outdated or incomplete. The user decides; \
             until then the skill is unchanged."
                .to_owned(),
            json!({
                "skill_id": text,
                "diff": described("A unified diff of the skill's files; SKILL.md includes its frontmatter"),
                "justification": justification,
                "evidence": evidence,
            }),
            &["skill_id", "diff", "justification"],
        ),
        definition(
            Tool::ProposeNew,
            Tool::PROPOSE_NEW,
            "Propose a new skill",
            "Proposes a new skill for a kind of task that will come up again and has none. The user decides; until then \
             it does not exist."
                .to_owned(),
            json!({
                "skill_id": described("Its name: lower case words with hyphens"),
                "content": described("Its SKILL.md: frontmatter with name and description, then instructions"),
                "justification": justification,
                "evidence": evidence,
            }),
            &["skill_id", "content", "justification"],
        ),
    ]
}

impl Session {
    /// Returns whether the model may propose changes.
    pub(super) fn may_propose(&self) -> bool {
        self.skills.report().settings.proposals.value
    }

    pub(super) fn run_propose_update(&self, asked: &UpdateArguments) -> ToolAnswer {
        let may_see = self.skills.with_catalog(|catalog| {
            let entry = self.state.resolve(catalog, &asked.skill_id)?;
            Ok::<_, Error>(entry.id().to_owned())
        });
        let made = may_see.and_then(|id| {
            self.skills.propose_update(
                &id,
                &asked.diff,
                &asked.justification,
                asked.evidence.as_deref(),
                self.author.clone(),
            )
        });
        answer(made)
    }

    pub(super) fn run_propose_new(&self, asked: &NewArguments) -> ToolAnswer {
        let may_see = self.skills.with_catalog(|catalog| {
            let entry = self.state.resolve(catalog, &asked.skill_id);
            entry.is_ok().then_some(&*asked.skill_id)
        });
        answer(self.skills.propose_new_unless(
            may_see,
            (&asked.skill_id, &asked.content),
            &asked.justification,
            asked.evidence.as_deref(),
            self.author.clone(),
        ))
    }
}

fn answer(made: Result<MadeProposal, Error>) -> ToolAnswer {
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            let text = format!("{}. {}.", error.with_cause(), error.hint());
            return ToolAnswer::failure(text, Failure::new(&error));
        }
    };
    let proposal = &made.proposed.proposal;
    let (name, skill) = (visible(proposal.name()), visible(&proposal.skill));
    let mut text = if made.proposed.is_repeated {
        format!("This change to `{skill}` is already pending review, as `{name}`.\n")
    } else {
        format!("Proposed as `{name}`. It is pending review; go on without it.\n")
    };
    let effects = made.effects.lines();
    for line in made.proposed.repairs.iter().chain(&effects) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "- {line}");
    }
    let proposed = ProposedSkill {
        proposal: name.into_owned(),
        skill_id: proposal.skill.clone(),
        is_repeated: made.proposed.is_repeated,
        effects,
        repairs: made.proposed.repairs.clone(),
    };
    ToolAnswer::new(text, Payload::Proposed(proposed))
}
