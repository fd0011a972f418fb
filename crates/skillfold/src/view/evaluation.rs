//! The JSON view of an evaluation.

use skillfold_core::view::FileFinding;

use crate::author::evaluate::{
    Confusion, EvaluatedQuery, EvaluatedSkill, Evaluation as Evaluated, QueryCounts,
};

/// The results of the trigger queries that skills ship.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EvaluationView {
    /// The disclosure mode that was used: `triggered` or `hybrid`.
    pub mode: String,
    /// The mode in the settings, if it was replaced because it gives nothing by request: `catalog`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// The requested skills, or all active skills with query files, ordered by id.
    pub skills: Vec<SkillEvaluation>,
    /// Pairs of skills of which one was given instead of the other, most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confused: Vec<Confusion>,
    /// The counts.
    pub summary: EvaluationSummary,
}

/// A skill and the results of its queries.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillEvaluation {
    /// The skill's id, unique in the catalog.
    pub id: String,
    /// What can start it besides search: `triggers` (or its name), `name` (it has no triggers), `person` (only the user
    /// may), or `id` (another skill has its name).
    pub starts_by: String,
    /// The paths of its query files, inside the skill.
    pub files: Vec<String>,
    /// Queries that were run.
    pub queries: usize,
    /// Queries with the expected result.
    pub right: usize,
    /// The queries by what should have happened and what did.
    #[serde(flatten)]
    pub counts: QueryCounts,
    /// Recall: the share of the queries that should start the skill and did, from 0 to 1; absent if none should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
    /// Precision: the share of the queries that started the skill and should have, from 0 to 1; absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// The queries without the expected result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<WrongQuery>,
    /// Query files and entries that could not be used, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FileFinding>,
}

/// A query without the expected result.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WrongQuery {
    /// The query.
    pub query: String,
    /// The path of its file, inside the skill.
    pub file: String,
    /// Whether it should start the skill.
    pub should_trigger: bool,
    /// What made the skill match: `mention`, `phrase`, `trigger` or `search`; absent if it did not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// The name, trigger or pattern that matched, or the words that search found; absent if it did not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// `given`, `no_room`, `later`, `suggested` or `failed`; absent if the skill did not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Ids of the other skills that were given, by rank.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// Counts of queries and skills.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EvaluationSummary {
    /// Queries that were run.
    pub queries: usize,
    /// Queries with the expected result.
    pub right: usize,
    /// Queries that should start a skill and did not.
    pub false_negatives: usize,
    /// Queries that should not start a skill and did.
    pub false_positives: usize,
    /// Active skills without query files; 0 if skills were requested by id.
    pub without: usize,
    /// Untrusted and held skills, whose files were not read.
    pub withheld: usize,
}

impl EvaluationView {
    /// Creates the view of an evaluation.
    pub fn new(evaluated: &Evaluated) -> Self {
        let skills: Vec<_> = evaluated.skills.iter().map(SkillEvaluation::new).collect();
        let sum = |count: fn(&SkillEvaluation) -> usize| skills.iter().map(count).sum();
        let summary = EvaluationSummary {
            queries: sum(|skill| skill.queries),
            right: sum(|skill| skill.right),
            false_negatives: sum(|skill| skill.counts.false_negatives),
            false_positives: sum(|skill| skill.counts.false_positives),
            without: evaluated.without_queries,
            withheld: evaluated.withheld,
        };
        Self {
            mode: evaluated.mode.to_string(),
            instead_of: evaluated.replaced_mode.map(|mode| mode.to_string()),
            confused: evaluated.confusions(),
            skills,
            summary,
        }
    }
}

impl SkillEvaluation {
    fn new(skill: &EvaluatedSkill) -> Self {
        let wrong = skill.queries.iter().filter(|query| !query.is_expected());
        let findings = skill.findings.iter();
        Self {
            id: skill.id.to_string(),
            starts_by: skill.triggered_by.as_str().to_owned(),
            files: skill.files.iter().map(ToString::to_string).collect(),
            queries: skill.queries.len(),
            right: skill.expected_count(),
            counts: skill.counts(),
            recall: skill.recall(),
            precision: skill.precision(),
            wrong: wrong.map(WrongQuery::new).collect(),
            findings: findings
                .map(|finding| FileFinding::new(&finding.file, &finding.diagnostic))
                .collect(),
        }
    }
}

impl WrongQuery {
    fn new(query: &EvaluatedQuery) -> Self {
        let matched = query.matched.as_ref();
        Self {
            query: query.query.to_string(),
            file: query.file.to_string(),
            should_trigger: query.should_trigger,
            signal: matched.map(|matched| matched.signal.as_str().to_owned()),
            evidence: matched.map(|matched| matched.evidence.to_string()),
            outcome: matched.map(|matched| matched.outcome.to_owned()),
            others: query.others.iter().map(ToString::to_string).collect(),
        }
    }
}
