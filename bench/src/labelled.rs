//! Real skills, and requests whose authors say which skill they need or must not start.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Value, json};
use skillfold::core::{Entry, MemorySource, Root, Scope};
use skillfold::{Environment, Host, Skills};

/// The contents of a folder of labelled requests.
pub(crate) struct Labelled {
    /// The skills that requests point to.
    pub(crate) skills: Vec<LabelledSkill>,
    /// Requests with the skills that serve them.
    pub(crate) requests: Vec<Request>,
    /// Requests with the skills they must not start.
    pub(crate) negatives: Vec<Request>,
    /// Maps a skill to its copies.
    copies: HashMap<String, Vec<String>>,
}

/// A skill in the pool.
#[derive(Clone)]
pub(crate) struct LabelledSkill {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) tags: String,
    /// The triggers given by its author.
    pub(crate) triggers: Vec<String>,
    pub(crate) body: String,
}

/// A request and the skills named by its author.
pub(crate) struct Request {
    pub(crate) text: String,
    pub(crate) skills: Vec<String>,
    /// The request's origin: `trigger`, `task`, `route` or `skillsbench`.
    pub(crate) track: String,
    /// The repository it was found in.
    pub(crate) repository: String,
    pub(crate) wording: Wording,
    pub(crate) verdict: Verdict,
}

/// What a reader of the request and the skill alone says of the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is right; nobody judged negative requests and those of `MetaTool`.
    Fits,
    /// The skill is one that nearly any task would start.
    Process,
    /// It is wrong, or only the conversation could tell.
    Wrong,
}

/// How a request is phrased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// In English, for a skill in English, without the skill's name.
    Unnamed,
    /// The same, but including the skill's name.
    Named,
    /// The request or the skill is in Chinese, Japanese or Korean.
    Cjk,
}

/// Where skills' triggers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Triggers {
    /// From their authors; most real skills have none.
    Own,
    /// A skill without triggers gets its name as one, and the name's words as a phrase.
    Made,
}

impl Triggers {
    pub(crate) const ALL: [Self; 2] = [Self::Own, Self::Made];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Made => "made",
        }
    }
}

impl Labelled {
    pub(crate) fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut bodies = HashMap::new();
        for line in lines(&folder.join("labelled_bodies.jsonl.zst"))? {
            let line = line?;
            bodies.insert(text(&line, "id")?, text(&line, "body")?);
        }
        let mut skills = Vec::new();
        // Labelled ones come first.
        for line in lines(&folder.join("pool_10k.jsonl.zst"))? {
            let line = line?;
            if line["labelled"] != Value::Bool(true) {
                break;
            }
            let mut skill = LabelledSkill::of(&line)?;
            skill.body = bodies
                .remove(&skill.id)
                .ok_or_else(|| format!("no body of `{}`", skill.id))?;
            skills.push(skill);
        }
        Ok(Self {
            skills,
            requests: requests(&folder.join("queries.jsonl.zst"), "relevant")?,
            negatives: requests(&folder.join("negatives.jsonl.zst"), "must_not")?,
            copies: copies(&folder.join("aliases.json"))?,
        })
    }

    /// Returns the skills a request names, with their copies.
    pub(crate) fn meant<'a>(&'a self, request: &'a Request) -> HashSet<&'a str> {
        let copies = |id: &String| self.copies.get(id).into_iter().flatten();
        let all = request
            .skills
            .iter()
            .flat_map(|id| std::iter::once(id).chain(copies(id)));
        all.map(String::as_str).collect()
    }

    /// Installs the first `count` skills.
    pub(crate) fn install(
        &self,
        count: usize,
        triggers: Triggers,
    ) -> Result<Skills, skillfold::core::Error> {
        installed(self.skills.iter().take(count), triggers)
    }
}

/// Installs skills.
pub(crate) fn installed<'a>(
    skills: impl Iterator<Item = &'a LabelledSkill>,
    triggers: Triggers,
) -> Result<Skills, skillfold::core::Error> {
    installed_in(Environment::new("/nowhere"), skills, triggers)
}

/// Installs skills in an environment.
pub(crate) fn installed_in<'a>(
    environment: Environment,
    skills: impl Iterator<Item = &'a LabelledSkill>,
    triggers: Triggers,
) -> Result<Skills, skillfold::core::Error> {
    let files = skills.map(|skill| {
        // Each id is its own folder, so that skills with the same name can coexist.
        let path = format!("{}/{}/SKILL.md", skill.id, skill.name.replace(' ', "-"));
        (path, skill.file(triggers))
    });
    let root = Root::new(Scope::User, "labelled", MemorySource::new(files));
    let host = Host::new(environment).root(root);
    Ok(host.discover()?.skills)
}

/// Reads a file of requests; `key` is the field with the skills they name. The verdicts are beside the file.
pub(crate) fn requests(file: &Path, key: &str) -> Result<Vec<Request>, Box<dyn Error>> {
    let verdicts = verdicts(&file.with_file_name("verdicts.jsonl"))?;
    let request = |line: Value| Request::of(&line, key, &verdicts);
    lines(file)?.map(|line| request(line?)).collect()
}

/// Reads the verdict of each request by its id; none if there is no such file.
fn verdicts(file: &Path) -> Result<HashMap<String, Verdict>, Box<dyn Error>> {
    if !file.exists() {
        return Ok(HashMap::new());
    }
    let verdict = |line: Value| {
        let verdict = match line["verdict"].as_str() {
            Some("fits") => Verdict::Fits,
            Some("process") => Verdict::Process,
            Some("wrong" | "context") => Verdict::Wrong,
            _ => return Err(format!("unknown verdict: {line}").into()),
        };
        Ok((text(&line, "qid")?, verdict))
    };
    lines(file)?.map(|line| verdict(line?)).collect()
}

/// Returns a skill's id in the pool.
pub(crate) fn pool_id<'a>(entry: &Entry<'a>) -> &'a str {
    let path = entry.skill().folder.path();
    path.split('/').next().unwrap_or(path)
}

impl LabelledSkill {
    /// Parses a line from a pool. Missing fields are empty.
    pub(crate) fn of(line: &Value) -> Result<Self, Box<dyn Error>> {
        let optional = |key: &str| line[key].as_str().unwrap_or_default();
        let triggers = optional("triggers");
        Ok(Self {
            id: text(line, "id")?,
            name: text(line, "name")?,
            description: text(line, "description")?,
            tags: optional("tags").to_owned(),
            triggers: triggers
                .split(',')
                .map(|trigger| trigger.trim().to_owned())
                .filter(|trigger| !trigger.is_empty())
                .collect(),
            body: optional("body").to_owned(),
        })
    }

    /// Returns its `SKILL.md`. Strings are written as JSON, which is valid YAML.
    fn file(&self, triggers: Triggers) -> String {
        let triggers = match triggers {
            _ if !self.triggers.is_empty() => json!(self.triggers),
            Triggers::Own => json!([]),
            Triggers::Made => {
                let words = self.name.replace(['-', '_', ' '], " ");
                json!({ "keywords": [words] })
            }
        };
        let field = if triggers == json!([]) {
            String::new()
        } else {
            format!("triggers: {triggers}\n")
        };
        format!(
            "---\nname: {}\ndescription: {}\ntags: [{}]\n{field}---\n{}",
            json!(self.name),
            json!(self.description),
            if self.tags.is_empty() {
                String::new()
            } else {
                json!(self.tags).to_string()
            },
            self.body
        )
    }
}

impl Request {
    fn of(
        line: &Value,
        key: &str,
        verdicts: &HashMap<String, Verdict>,
    ) -> Result<Self, Box<dyn Error>> {
        let skills = line[key].as_array().into_iter().flatten();
        let source = line["source"].as_str().unwrap_or_default();
        let is = |key: &str| line[key] == Value::Bool(true);
        let verdict = line["qid"].as_str().and_then(|id| verdicts.get(id));
        Ok(Self {
            text: text(line, "query")?,
            skills: skills.filter_map(Value::as_str).map(Into::into).collect(),
            track: line["track"].as_str().unwrap_or("negative").to_owned(),
            repository: source.split(':').next().unwrap_or_default().to_owned(),
            wording: match () {
                () if is("cjk") || is("skill_cjk") => Wording::Cjk,
                () if is("names_skill") => Wording::Named,
                () => Wording::Unnamed,
            },
            verdict: verdict.copied().unwrap_or(Verdict::Fits),
        })
    }
}

fn text(line: &Value, key: &str) -> Result<String, Box<dyn Error>> {
    let text = line[key].as_str();
    Ok(text
        .ok_or_else(|| format!("an entry has no `{key}`"))?
        .to_owned())
}

/// Reads a JSON lines file line by line; decompresses it if its name ends in `zst`.
pub(crate) fn lines(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Value, Box<dyn Error>>>, Box<dyn Error>> {
    let file = open(path)?;
    let reader: Box<dyn BufRead> = if path.extension().is_some_and(|end| end == "zst") {
        Box::new(BufReader::new(zstd::Decoder::new(file)?))
    } else {
        Box::new(BufReader::new(file))
    };
    Ok(reader.lines().map(|line| Ok(serde_json::from_str(&line?)?)))
}

/// Reads a file with a single JSON value.
pub(crate) fn value(path: &Path) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_reader(BufReader::new(open(path)?))?)
}

/// Reads each skill's copies.
pub(crate) fn copies(path: &Path) -> Result<HashMap<String, Vec<String>>, Box<dyn Error>> {
    let value = value(path)?;
    let pairs = value.as_object().into_iter().flatten();
    let ids = |ids: &Value| {
        let ids = ids.as_array().into_iter().flatten();
        ids.filter_map(Value::as_str).map(Into::into).collect()
    };
    Ok(pairs
        .map(|(id, others)| (id.clone(), ids(others)))
        .collect())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the data is a folder that the caller names"
)]
fn open(path: &Path) -> Result<File, Box<dyn Error>> {
    File::open(path).map_err(|error| format!("{}: {error}", path.display()).into())
}
