//! Runs the trigger queries that skills ship.

mod query_file;
mod report;

use std::collections::BTreeSet;

use skillfold_core::catalog::Status;
use skillfold_core::disclose::{Mode, SkillOutcome};
use skillfold_core::load::FileContent;
use skillfold_core::{
    Code, ContextLifetime, Diagnostic, Entry, Error, Loader, Matcher, Policy, SessionState,
};

#[cfg(feature = "store")]
pub(crate) use self::query_file::MAX_QUERY_BYTES;
pub use self::report::{
    Confusion, EvaluatedQuery, EvaluatedSkill, Evaluation, EvaluationFinding, QueryCounts,
    QueryMatch, TriggeredBy,
};
use crate::skills::Skills;

/// Maximum size of a query file. Real ones have some ten kilobytes.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum queries to run per skill. The specification's guide recommends about 20.
const MAX_QUERIES: usize = 1_000;
/// Maximum query files to read per skill.
const MAX_FILES: usize = 10;

impl Skills {
    /// Runs the trigger queries of some skills, or of all skills if `ids` is empty. Each query is the first message of
    /// a conversation, matched against all skills of one snapshot. A skill is triggered if its instructions are given.
    ///
    /// Queries are read from the skill's files, see `docs/evaluations.md`. Unusable files and entries are reported in
    /// the findings. A mode that gives nothing by request is replaced by [`Mode::Hybrid`]. An id that does not resolve
    /// to a usable skill is an error.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::{MemorySource, Policy}};
    /// let source = MemorySource::new([
    ///     ("greet/SKILL.md", "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\nSay hello.\n"),
    ///     ("greet/evals/eval_queries.json", r#"[
    ///         {"query": "Say bonjour to Alice", "should_trigger": true},
    ///         {"query": "Greet Alice", "should_trigger": true},
    ///         {"query": "What is 2 + 2?", "should_trigger": false}
    ///     ]"#),
    /// ]);
    /// let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
    /// let evaluation = skills.evaluate(&[], &Policy::default())?;
    /// let greet = &evaluation.skills[0];
    /// assert_eq!((greet.recall(), greet.precision()), (Some(0.5), Some(1.0)));
    /// assert!(greet.meets_threshold(60) && !greet.meets_threshold(100));
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn evaluate(&self, ids: &[&str], policy: &Policy) -> Result<Evaluation, Error> {
        self.with_matcher(|matcher, loader| evaluate(matcher, loader, ids, policy))
    }
}

/// Returns how many labelled requests a query file has.
#[cfg(feature = "store")]
pub(crate) fn count_queries(path: &str, text: &str) -> usize {
    let unlabelled = query_file::classify(path).unwrap_or(query_file::Unlabelled::Mistake);
    let parsed = query_file::parse(text, unlabelled);
    parsed.queries.len()
}

/// Returns whether a file of a skill has labelled requests, by its path.
#[cfg(feature = "store")]
pub(crate) fn is_query_file(path: &str) -> bool {
    query_file::classify(path).is_some()
}

fn evaluate(
    matcher: &Matcher,
    loader: &Loader,
    ids: &[&str],
    policy: &Policy,
) -> Result<Evaluation, Error> {
    let catalog = matcher.catalog();
    let instead_of = (policy.mode == Mode::Catalog).then_some(policy.mode);
    let mode = match instead_of {
        Some(_) => Mode::Hybrid,
        None => policy.mode,
    };
    let with_status = |status| {
        let entries = catalog.entries();
        entries.filter(move |entry| entry.status() == status)
    };
    let mut evaluation = Evaluation {
        mode,
        replaced_mode: instead_of,
        skills: Vec::new(),
        without_queries: 0,
        withheld: with_status(Status::Untrusted)
            .chain(with_status(Status::Held))
            .count(),
    };
    let mut entries = Vec::new();
    if ids.is_empty() {
        entries.extend(with_status(Status::Active));
    }
    for id in ids {
        entries.push(catalog.resolve_for_user(id)?);
    }
    let mut known_ids = BTreeSet::new();
    entries.retain(|entry| known_ids.insert(entry.id()));
    entries.sort_by_key(Entry::id);
    let runner = QueryRunner {
        matcher,
        loader,
        policy: &policy.clone().with_mode(mode),
    };
    for entry in entries {
        let skill = runner.run_skill(&entry);
        if ids.is_empty() && skill.files.is_empty() && skill.findings.is_empty() {
            evaluation.without_queries += 1;
        } else {
            evaluation.skills.push(skill);
        }
    }
    Ok(evaluation)
}

/// Runs queries in one snapshot with one policy.
struct QueryRunner<'a> {
    matcher: &'a Matcher,
    loader: &'a Loader,
    policy: &'a Policy,
}

impl QueryRunner<'_> {
    fn run_skill(&self, entry: &Entry<'_>) -> EvaluatedSkill {
        let mut skill = EvaluatedSkill {
            id: entry.id().into(),
            triggered_by: TriggeredBy::from_entry(entry),
            files: Vec::new(),
            queries: Vec::new(),
            findings: Vec::new(),
        };
        skill.find_files(entry, self.loader);
        let mut skipped = 0;
        for file in skill.files.clone() {
            let content = self.loader.read(entry, &file, ..=MAX_FILE_BYTES);
            let parsed = match content {
                Ok(content) => parse_file(&content),
                Err(error) => Err(error.with_cause()),
            };
            match parsed {
                Ok(parsed) => {
                    let remaining = MAX_QUERIES.saturating_sub(skill.queries.len());
                    skipped += parsed.queries.len().saturating_sub(remaining);
                    let queries = parsed.queries.into_iter().take(remaining);
                    let evaluated = queries.map(|query| self.run_query(entry, &file, query));
                    skill.queries.extend(evaluated);
                    for diagnostic in parsed.findings {
                        skill.report(&file, diagnostic);
                    }
                }
                Err(why) => skill.report(&file, Diagnostic::new(Code::EvaluationUnread, None, why)),
            }
        }
        if skipped > 0 {
            let message = format!("{MAX_QUERIES} queries were run, and {skipped} were not");
            skill.report("", Diagnostic::new(Code::TooManyQueries, None, message));
        }
        skill
    }

    fn run_query(&self, entry: &Entry<'_>, file: &str, query: query_file::Query) -> EvaluatedQuery {
        let session = SessionState::new(ContextLifetime::History);
        let turn = session.preview(self.matcher, self.loader, self.policy, &query.text);
        let (mut matched, mut others) = (None, Vec::new());
        for decision in turn.decisions {
            if &*decision.id == entry.id() {
                matched = Some(QueryMatch::from_decision(decision));
            } else if matches!(decision.outcome, SkillOutcome::Given(..)) {
                others.push(decision.id);
            }
        }
        EvaluatedQuery {
            file: file.into(),
            query: query.text,
            should_trigger: query.should_trigger,
            matched,
            others,
        }
    }
}

impl EvaluatedSkill {
    /// Finds the query files, ordered by path, and reports those that are skipped.
    fn find_files(&mut self, entry: &Entry<'_>, loader: &Loader) {
        let listed = match loader.files(entry, None, usize::MAX) {
            Ok(listed) => listed,
            Err(error) => {
                let why = error.with_cause();
                return self.report("", Diagnostic::new(Code::EvaluationUnread, None, why));
            }
        };
        let paths = listed.files.iter().map(|file| file.path.as_str());
        let files = paths.filter(|path| query_file::classify(path).is_some());
        self.files.extend(files.map(Box::from));
        self.files.sort();
        for file in self
            .files
            .drain(MAX_FILES.min(self.files.len())..)
            .collect::<Vec<_>>()
        {
            let why = format!("Only {MAX_FILES} files of a skill are read");
            self.report(&file, Diagnostic::new(Code::EvaluationUnread, None, why));
        }
        for finding in listed.findings {
            let path = &*finding.path;
            let is_query_file = query_file::classify(path).is_some() || path == query_file::FOLDER;
            if is_query_file || finding.diagnostic.code == Code::BoundReached {
                let why = finding.diagnostic.message;
                self.report(path, Diagnostic::new(Code::EvaluationUnread, None, why));
            }
        }
    }

    fn report(&mut self, file: &str, diagnostic: Diagnostic) {
        self.findings.push(EvaluationFinding {
            file: file.into(),
            diagnostic,
        });
    }
}

/// Returns the queries of a file, or why it cannot be used.
fn parse_file(content: &FileContent) -> Result<query_file::QueryFile, String> {
    if content.size() > MAX_FILE_BYTES {
        let size = content.size();
        return Err(format!(
            "The file has {size} bytes, the limit is {MAX_FILE_BYTES}"
        ));
    }
    let text = content.text().ok_or("The file is not UTF-8 text")?;
    let unlabelled =
        query_file::classify(content.path().as_str()).unwrap_or(query_file::Unlabelled::Mistake);
    Ok(query_file::parse(text, unlabelled))
}
