//! Runs the trigger queries that skills ship.

mod file;

mod report;

use std::collections::BTreeSet;

use skillfold_core::{
    Code, ContextLifetime, Diagnostic, Entry, Error, FileContent, Loader, Matcher, Mode, Outcome,
    Policy, Session, Status,
};

pub use self::report::{
    Confusion, EvaluatedQuery, EvaluatedSkill, Evaluation, EvaluationFinding, QueryCounts,
    QueryMatch, StartsBy,
};
use crate::skills::Skills;

/// Bytes of a file of evaluations. Real ones are of some ten kilobytes.
const FILE_BYTES: u64 = 1 << 20;
/// Queries of one skill that are run. The guide of the specification has about 20.
const QUERIES: usize = 1_000;
/// Files of one skill that are read.
const FILES: usize = 10;
/// Bytes of a query that are run and kept. A request of a person is far shorter.
const QUERY_BYTES: usize = 8 * 1024;

impl Skills {
    /// Runs the trigger queries of some skills, or of all where none is named: each as the first message of a
    /// conversation, against all skills of one snapshot. A skill has fired where its instructions are given.
    ///
    /// Queries are read from the files of the skill, see `docs/evaluations.md`. What cannot be used is in the findings. A
    /// mode that gives nothing by request is replaced by [`Mode::Hybrid`]. An id that leads to no skill that may be given
    /// to a model is an error.
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
    /// let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
    /// let evaluation = skills.evaluate(&[], &Policy::default())?;
    /// let greet = &evaluation.skills[0];
    /// assert_eq!((greet.recall(), greet.precision()), (Some(0.5), Some(1.0)));
    /// assert!(greet.reaches(60) && !greet.reaches(100));
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn evaluate(&self, ids: &[&str], policy: &Policy) -> Result<Evaluation, Error> {
        self.with_matcher(|matcher, loader| evaluate(matcher, loader, ids, policy))
    }
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
        instead_of,
        skills: Vec::new(),
        without: 0,
        withheld: with_status(Status::Untrusted).count(),
    };
    let mut entries = Vec::new();
    if ids.is_empty() {
        entries.extend(with_status(Status::Active));
    }
    for id in ids {
        entries.push(catalog.resolve_for_person(id)?);
    }
    let mut seen = BTreeSet::new();
    entries.retain(|entry| seen.insert(entry.id()));
    entries.sort_by_key(Entry::id);
    let run = Run {
        matcher,
        loader,
        policy: &Policy {
            mode,
            ..policy.clone()
        },
    };
    for entry in entries {
        let skill = run.skill(&entry);
        if ids.is_empty() && skill.files.is_empty() && skill.findings.is_empty() {
            evaluation.without += 1;
        } else {
            evaluation.skills.push(skill);
        }
    }
    Ok(evaluation)
}

/// What queries are run with.
struct Run<'a> {
    matcher: &'a Matcher,
    loader: &'a Loader,
    policy: &'a Policy,
}

impl Run<'_> {
    fn skill(&self, entry: &Entry<'_>) -> EvaluatedSkill {
        let mut skill = EvaluatedSkill {
            id: entry.id().into(),
            starts_by: StartsBy::of(entry),
            files: Vec::new(),
            queries: Vec::new(),
            findings: Vec::new(),
        };
        skill.find(entry, self.loader);
        let mut unread = 0;
        for file in skill.files.clone() {
            let content = self.loader.read(entry, &file, ..=FILE_BYTES);
            let held = match content {
                Ok(content) => held(&content),
                Err(error) => Err(error.with_cause()),
            };
            match held {
                Ok(held) => {
                    let room = QUERIES.saturating_sub(skill.queries.len());
                    unread += held.queries.len().saturating_sub(room);
                    let queries = held.queries.into_iter().take(room);
                    let run = queries.map(|query| self.query(entry, &file, query));
                    skill.queries.extend(run);
                    for diagnostic in held.findings {
                        skill.report(&file, diagnostic);
                    }
                }
                Err(why) => skill.report(&file, Diagnostic::new(Code::EvaluationUnread, None, why)),
            }
        }
        if unread > 0 {
            let message = format!("{QUERIES} queries were run, and {unread} were not");
            skill.report("", Diagnostic::new(Code::TooManyQueries, None, message));
        }
        skill
    }

    fn query(&self, entry: &Entry<'_>, file: &str, query: file::Query) -> EvaluatedQuery {
        let session = Session::new(ContextLifetime::History);
        let turn = session.preview(self.matcher, self.loader, self.policy, &query.text);
        let (mut matched, mut others) = (None, Vec::new());
        for decision in turn.decisions {
            if &*decision.id == entry.id() {
                matched = Some(QueryMatch::of(decision));
            } else if matches!(decision.outcome, Outcome::Given(..)) {
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
    /// Finds the files of evaluations, ordered by path, and reports those that were passed over.
    fn find(&mut self, entry: &Entry<'_>, loader: &Loader) {
        let listed = match loader.files(entry, None, usize::MAX) {
            Ok(listed) => listed,
            Err(error) => {
                let why = error.with_cause();
                return self.report("", Diagnostic::new(Code::EvaluationUnread, None, why));
            }
        };
        let paths = listed.files.iter().map(|file| file.path.as_str());
        let files = paths.filter(|path| file::kind(path).is_some());
        self.files.extend(files.map(Box::from));
        self.files.sort();
        for file in self
            .files
            .drain(FILES.min(self.files.len())..)
            .collect::<Vec<_>>()
        {
            let why = format!("Only {FILES} files of a skill are read");
            self.report(&file, Diagnostic::new(Code::EvaluationUnread, None, why));
        }
        for finding in listed.findings {
            let path = &*finding.path;
            let is_ours = file::kind(path).is_some() || path == file::FOLDER;
            if is_ours || finding.diagnostic.code == Code::BoundReached {
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

/// Returns what a file holds, or why it cannot be used.
fn held(content: &FileContent) -> Result<file::QueryFile, String> {
    if content.size() > FILE_BYTES {
        let size = content.size();
        return Err(format!(
            "The file has {size} bytes, the limit is {FILE_BYTES}"
        ));
    }
    let text = content.text().ok_or("The file is not text in UTF-8")?;
    let unlabelled = file::kind(content.path().as_str()).unwrap_or(file::Unlabelled::Wrong);
    Ok(file::read(text, unlabelled))
}
