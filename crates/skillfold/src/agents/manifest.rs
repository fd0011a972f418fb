//! Agents described in a project's `manifest.yaml`.

use std::path::Path;

use skillfold_core::bind::Visibility;
use skillfold_core::read::{Fields, Value, yaml_fields};
use skillfold_core::{Agent, Code, Diagnostic, Error, Limits, Refusal};

use crate::environment::{read_user_file, real_path};
use crate::skills::Skills;
use crate::trust::trusted::TrustRule;

/// The name of the file that describes an agent.
const MANIFEST: &str = "manifest.yaml";

/// The name of the prompt beside it.
const PROMPT: &str = "prompt.jinja2";

/// Maximum bytes of either file.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a template would fill in, run or leave out.
const TEMPLATE_MARKS: [&str; 3] = ["{{", "{%", "{#"];

/// An agent described by the files of a trusted project: `manifest.yaml`, and `prompt.jinja2` beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentManifest {
    /// The agent: `id`, `agent.uses_skills` and `agent.sees`.
    pub agent: Agent,
    /// The prompt, as it is written; empty if there is none.
    pub prompt: String,
    /// The agent's own instructions: `agent.instructions`.
    pub instructions: String,
    /// Findings about the prompt.
    pub findings: Vec<Diagnostic>,
}

/// Returns whether an agent is named by the path of its manifest: with a `/`, or ending in `.yaml`.
pub(crate) fn is_path(agent: &str) -> bool {
    agent.contains('/') || has_extension(agent)
}

fn has_extension(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml")
}

impl Skills {
    /// Reads the manifest of an agent of the project. `path` starts at the working folder, and is that of the file or of
    /// the folder that holds it.
    ///
    /// The project decides there what a model is told, so it must be trusted as a whole; one that is trusted with pinned
    /// skills is not. The files must be inside the project.
    pub fn agent_manifest(&self, path: &str) -> Result<AgentManifest, Error> {
        self.check_trust();
        match self.report().trusted_by {
            None => return Err(Error::refused(path, Refusal::Untrusted, NOT_TRUSTED)),
            Some(TrustRule::Pinned(_)) => {
                return Err(Error::refused(path, Refusal::Untrusted, PINNED));
            }
            Some(_) => {}
        }
        let mut file = self.environment().directory().join(path);
        if !has_extension(path) {
            file.push(MANIFEST);
        }
        let text = self
            .read_in_project(&file, path)?
            .ok_or_else(|| Error::not_found(path))?;
        let mut manifest =
            parse(&text, &file).map_err(|finding| Error::invalid(path, finding.to_string()))?;
        let prompt = self.read_in_project(&file.with_file_name(PROMPT), PROMPT)?;
        manifest.prompt = prompt.unwrap_or_default();
        let mut marks = TEMPLATE_MARKS.iter();
        if let Some(mark) = marks.find(|mark| manifest.prompt.contains(**mark)) {
            let message = format!(
                "`{PROMPT}` has template placeholders, such as `{mark}`, which are not filled in"
            );
            let finding = Diagnostic::new(Code::TemplateMarks, None, message);
            manifest.findings.push(finding);
        }
        Ok(manifest)
    }

    /// Returns the text of a file of the project; `None` if there is none. A link may not lead out of the project.
    fn read_in_project(&self, file: &Path, shown: &str) -> Result<Option<String>, Error> {
        let Some(real) = real_path(file) else {
            return Ok(None);
        };
        let project = real_path(self.environment().project());
        if !project.is_some_and(|project| real.starts_with(project)) {
            return Err(Error::refused(shown, Refusal::Traversal, OUTSIDE));
        }
        read_user_file(&real, MAX_BYTES).map_err(|error| Error::read(shown, error))
    }
}

const NOT_TRUSTED: &str = "The project is not trusted, so its agents are not read: review it and run \
                           `skillfold trust` there, or describe the agent under `[agents]` in your own settings";

const PINNED: &str = "Only the project's pinned skills are trusted, not its agents: run \
                      `skillfold trust` there without `--pin`, or describe the agent under `[agents]` in your own settings";

const OUTSIDE: &str =
    "The manifest and its prompt must be inside the project: run this in their project";

/// Reads a manifest; the prompt is still empty.
fn parse(text: &str, file: &Path) -> Result<AgentManifest, Diagnostic> {
    let fields = yaml_fields(text, &Limits::default())?;
    let agent = match fields.get("agent") {
        Some(Value::Map(agent)) => agent,
        Some(_) => return Err(wrong("agent", "a mapping")),
        None => return Err(wrong("agent", "there")),
    };
    let folder = file.parent().and_then(Path::file_name);
    let folder = folder.map(|name| name.to_string_lossy().into_owned());
    let id = match text_field(&fields, "id")? {
        Some(id) => id.to_owned(),
        None => folder.unwrap_or_default(),
    };
    let sees = match text_field(agent, "sees")? {
        None => Visibility::default(),
        Some(word) => Visibility::ALL
            .into_iter()
            .find(|sees| sees.as_str() == word)
            .ok_or_else(|| wrong("agent.sees", "`all` or `used`"))?,
    };
    let instructions = text_field(agent, "instructions")?.unwrap_or_default();
    Ok(AgentManifest {
        agent: Agent::new(id)
            .with_skills(used_skills(agent)?)
            .with_visibility(sees),
        prompt: String::new(),
        instructions: instructions.to_owned(),
        findings: Vec::new(),
    })
}

/// Returns the skills that an agent uses.
fn used_skills(agent: &Fields) -> Result<Vec<&str>, Diagnostic> {
    let wrong = || wrong("agent.uses_skills", "a list of skills");
    match agent.get("uses_skills") {
        None => Ok(Vec::new()),
        Some(Value::Scalar(scalar)) if scalar.as_str().is_empty() => Ok(Vec::new()),
        Some(Value::List(items)) => items
            .iter()
            .map(|item| match item {
                Value::Scalar(scalar) => Ok(scalar.as_str().trim()),
                _ => Err(wrong()),
            })
            .collect(),
        Some(_) => Err(wrong()),
    }
}

/// Returns a field that is text; `None` if it is missing or empty.
fn text_field<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, Diagnostic> {
    match fields.get(name) {
        None => Ok(None),
        Some(Value::Scalar(scalar)) => Ok(Some(scalar.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(wrong(name, "text")),
    }
}

fn wrong(field: &str, expected: &str) -> Diagnostic {
    Diagnostic::new(
        Code::SettingForm,
        None,
        format!("`{field}` is not {expected}"),
    )
}
