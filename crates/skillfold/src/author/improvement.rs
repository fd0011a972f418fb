//! Adds requests that missed a skill to the requests that `test` runs, and finds the terms that they share.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold_core::read::Triggers;
use skillfold_core::search::{SharedTerm, shared_terms};
use skillfold_core::source::SKILL_FILE;
use skillfold_core::{Entry, Error, Refusal};
use skillfold_store::{Access, ReadFile, WriteTarget};

use crate::author::check::CheckTarget;
use crate::author::evaluate::{MAX_FILE_BYTES, MAX_QUERY_BYTES, count_queries};
use crate::environment::{Environment, real_path};
use crate::skills::Skills;

/// The files that are created, the first that is not there yet.
const NEW_FILES: [&str; 3] = [
    "evals/eval_queries.json",
    "evals/trigger_queries.json",
    "evals/trigger_evals.json",
];

/// Maximum requests to add at once.
const MAX_REQUESTS: usize = 100;

/// Maximum terms to propose.
const MAX_TERMS: usize = 10;

/// Labelled requests that a skill would get, and the terms that it lacks for them. Nothing is written until [`write`](Self::write).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Improvement {
    /// The skill's id.
    pub id: String,
    /// The requests to add: those that the skill does not have yet.
    pub added: Vec<String>,
    /// How many requests the skill has already.
    pub known: usize,
    /// The file that gets them.
    pub file: PathBuf,
    /// The text of the file; `None` if there is none yet.
    pub before: Option<String>,
    /// Its text with the requests.
    pub after: String,
    /// Terms that the requests share, and that the skill's name, description and triggers lack.
    pub terms: Vec<SharedTerm>,
    target: WriteTarget,
    old: Option<ReadFile>,
}

impl Improvement {
    /// Writes the file atomically.
    ///
    /// # Errors
    ///
    /// As for [`WriteTarget::write`]: if the file changed since it was read, or may not be written.
    pub fn write(&self) -> Result<(), Error> {
        let bytes = self.after.as_bytes();
        self.target
            .write(self.old.as_ref(), bytes, Access::Ordinary)
    }
}

impl Skills {
    /// Plans to add requests that should have selected a skill to the requests that [`evaluate`](Self::evaluate) runs.
    ///
    /// They go to the first of the skill's query files that is a list, or else to a new one. A file outside the skill's folder, or
    /// behind a link, is refused.
    ///
    /// # Errors
    ///
    /// If the skill is not found or not trusted, has no folder of its own, or has only query files of other forms.
    pub fn improve(
        &self,
        id: &str,
        requests: &[String],
        environment: &Environment,
    ) -> Result<Improvement, Error> {
        let catalog = self.catalog();
        let entry = catalog.resolve_for_user(id)?;
        let evaluation = self.evaluate(&[entry.id()], &self.report().settings.policy())?;
        let evaluated = evaluation.skills.into_iter().next();
        let (mut known, files) = match evaluated {
            Some(skill) => {
                let texts = skill.queries.into_iter().map(|query| query.query);
                (texts.collect(), skill.files)
            }
            None => (BTreeSet::new(), Vec::new()),
        };
        let requests = clean(requests)?;
        let is_new = |request: &&String| known.insert((**request).as_str().into());
        let added: Vec<String> = requests.iter().filter(is_new).cloned().collect();
        let target = CheckTarget::by_id(&catalog, entry.id());
        let folder = target.and_then(|target| writable_folder(&target, environment));
        let Some(folder) = folder else {
            let rule = "Only a skill with a folder of its own, inside the folder that it was found in, can be changed";
            return Err(Error::refused(entry.id(), Refusal::Write, rule));
        };
        let planned = plan_file(&folder, &files, &added)?;
        Ok(Improvement {
            id: entry.id().to_owned(),
            known: requests.len() - added.len(),
            terms: lacking_terms(&entry, &requests),
            added,
            file: planned.file,
            before: planned.before,
            after: planned.after,
            target: planned.target,
            old: planned.old,
        })
    }
}

/// Returns the requests on one line each, without empty and repeated ones.
fn clean(requests: &[String]) -> Result<Vec<String>, Error> {
    let mut cleaned: Vec<String> = Vec::new();
    for request in requests {
        let request = request.split_whitespace().collect::<Vec<_>>().join(" ");
        if request.len() > MAX_QUERY_BYTES {
            let why = format!("It has more than {MAX_QUERY_BYTES} bytes");
            return Err(Error::invalid("the request", why));
        }
        if !request.is_empty() && !cleaned.contains(&request) {
            cleaned.push(request);
        }
    }
    if cleaned.len() > MAX_REQUESTS {
        let why = format!("There are more than {MAX_REQUESTS}; add them in parts");
        return Err(Error::invalid("the requests", why));
    }
    Ok(cleaned)
}

/// Returns the real folder of a skill, if it may be written to: it is that of a `SKILL.md`, and inside the skill's project or root.
fn writable_folder(target: &CheckTarget, environment: &Environment) -> Option<PathBuf> {
    let is_folder = target.file().file_name()? == SKILL_FILE;
    let (folder, bounds) = (target.real_folder()?, target.fix_bounds(environment)?);
    let is_inside = folder.starts_with(real_path(&bounds)?);
    (is_folder && is_inside).then_some(folder)
}

/// Returns the terms that the requests share and the skill lacks.
fn lacking_terms(entry: &Entry<'_>, requests: &[String]) -> Vec<SharedTerm> {
    let manifest = entry.manifest();
    let mut known = vec![manifest.name().as_str(), manifest.description()];
    match manifest.triggers() {
        Some(Triggers::Flat(texts)) => known.extend(texts.iter().map(|text| &**text)),
        Some(Triggers::Structured {
            keywords,
            verbs,
            patterns,
        }) => {
            let texts = [keywords, verbs, patterns].into_iter().flatten();
            known.extend(texts.map(|text| &**text));
        }
        _ => {}
    }
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    shared_terms(&requests, &known, MAX_TERMS)
}

/// A file and its text with more requests.
struct PlannedFile {
    file: PathBuf,
    before: Option<String>,
    after: String,
    target: WriteTarget,
    old: Option<ReadFile>,
}

/// Plans to add requests to the first query file that is a list, or to a new file.
fn plan_file(folder: &Path, existing: &[Box<str>], added: &[String]) -> Result<PlannedFile, Error> {
    let candidates = existing.iter().map(|path| &**path).chain(NEW_FILES);
    for path in candidates {
        let file = folder.join(path);
        let target = WriteTarget::within(folder, &file)?;
        let old = target.read(MAX_FILE_BYTES)?;
        let before = target.text(old.as_ref())?.map(str::to_owned);
        if let Some(after) = append(path, before.as_deref(), added) {
            return Ok(PlannedFile {
                file,
                before,
                after,
                target,
                old,
            });
        }
    }
    let why = "None of the skill's query files is a list; add the requests yourself";
    Err(Error::invalid(folder.to_string_lossy(), why))
}

/// Returns the text of a file with more requests; `None` if it is not a list of requests.
fn append(path: &str, before: Option<&str>, added: &[String]) -> Option<String> {
    let lines: Vec<String> = added
        .iter()
        .map(|request| {
            let request = Value::from(request.as_str());
            format!("  {{ \"query\": {request}, \"should_trigger\": true }}")
        })
        .collect();
    let lines = lines.join(",\n");
    let text = match before {
        None => format!("[\n{lines}\n]\n"),
        Some(before) if added.is_empty() => before.to_owned(),
        Some(before) => {
            let list: Vec<Value> = serde_json::from_str(before).ok()?;
            let end = before.rfind(']')?;
            let (start, rest) = (before[..end].trim_end(), &before[end..]);
            let comma = if list.is_empty() { "" } else { "," };
            format!("{start}{comma}\n{lines}\n{rest}")
        }
    };
    let number = |text: &str| count_queries(path, text);
    // A file that `test` reads otherwise is left alone.
    let is_read = number(&text) == number(before.unwrap_or("[]")) + added.len();
    is_read.then_some(text)
}
