//! Small libraries drawn from the labelled skills, with the requests run against each.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;

use crate::labelled::{Labelled, LabelledSkill, Request, lines, value};
use crate::random::Random;
use crate::search::half::{Half, Split};

/// The data that draws are made from.
pub(crate) struct Data {
    pub(crate) labelled: Labelled,
    /// The half's requests.
    requests: Vec<usize>,
    negatives: Vec<usize>,
    /// The half's prompts, as people typed them to coding agents.
    pub(crate) everyday: Vec<Prompt>,
    /// Each labelled skill's repository and the first word of its name.
    families: HashMap<String, (String, String)>,
}

pub(crate) struct Prompt {
    pub(crate) text: String,
    /// The repository it was found in.
    pub(crate) source: String,
}

/// A library, and what is run against it.
pub(crate) struct Draw<'d> {
    pub(crate) skills: Vec<&'d LabelledSkill>,
    /// Requests whose skill is in the library.
    pub(crate) present: Vec<&'d Request>,
    /// The same number of requests whose skill is not.
    pub(crate) absent: Vec<&'d Request>,
    /// Requests that must not start one of the library's skills.
    pub(crate) must_not: Vec<&'d Request>,
    pub(crate) everyday: Vec<&'d Prompt>,
}

impl Data {
    pub(crate) fn read(folder: &Path, half: Half) -> Result<Self, Box<dyn Error>> {
        let labelled = Labelled::read(folder)?;
        let split = Split::read(folder)?;
        let places = |requests: &[Request]| {
            let places = requests.iter().enumerate();
            let places = places.filter(|(_, request)| split.is_in(half, request));
            places.map(|(place, _)| place).collect()
        };
        let everyday = folder.join("everyday");
        let sources = value(&everyday.join("split.json"))?;
        let of_half = sources[if half == Half::Test { "test" } else { "tune" }].as_array();
        let of_half: HashSet<&str> = of_half
            .into_iter()
            .flatten()
            .filter_map(|source| source.as_str())
            .collect();
        let mut prompts = Vec::new();
        for line in lines(&everyday.join("prompts.jsonl.zst"))? {
            let line = line?;
            let prompt = line["prompt"].as_str();
            let source = line["source"].as_str();
            if let (Some(prompt), Some(source)) = (prompt, source)
                && of_half.contains(source)
            {
                prompts.push(Prompt {
                    text: prompt.to_owned(),
                    source: source.to_owned(),
                });
            }
        }
        let mut families = HashMap::new();
        for line in lines(&folder.join("pool.jsonl.zst"))? {
            let line = line?;
            if line["labelled"] == true {
                let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
                let name = text("name").to_lowercase();
                let word = name.split(['-', '_', ' ']).next().unwrap_or_default();
                families.insert(text("id"), (text("repo"), word.to_owned()));
            }
        }
        Ok(Self {
            families,
            requests: places(&labelled.requests),
            negatives: places(&labelled.negatives),
            labelled,
            everyday: prompts,
        })
    }

    /// Returns whether a skill shares the repository or the first word of its name with one that a request needs: such
    /// skills often serve the request too.
    pub(crate) fn is_sibling(&self, request: &Request, id: &str) -> bool {
        let Some((repository, word)) = self.families.get(id) else {
            return false;
        };
        let wanted = request.skills.iter().filter_map(|id| self.families.get(id));
        let mut wanted = wanted.into_iter();
        wanted.any(|other| other.0 == *repository || other.1 == *word)
    }

    /// Returns the number of an everyday prompt.
    pub(crate) fn place_of(&self, prompt: &Prompt) -> Option<usize> {
        self.everyday
            .iter()
            .position(|other| std::ptr::eq(other, prompt))
    }

    /// Returns a library of all of `skills`, with every request, every negative one, and `prompts` prompts.
    pub(crate) fn whole<'d>(&'d self, skills: &'d [LabelledSkill], prompts: usize) -> Draw<'d> {
        let mut draw = self.draw(0, 0, prompts);
        draw.skills = skills.iter().collect();
        let requests = self.requests.iter();
        draw.present = requests
            .map(|place| &self.labelled.requests[*place])
            .collect();
        let negatives = self.negatives.iter();
        draw.must_not = negatives
            .map(|place| &self.labelled.negatives[*place])
            .collect();
        draw.absent.clear();
        draw
    }

    /// Draws a library of `size` skills, and `prompts` prompts. The same seed gives the same draw.
    pub(crate) fn draw(&self, seed: u64, size: usize, prompts: usize) -> Draw<'_> {
        let mut random = Random::new(seed);
        let skills = random.sample(&self.labelled.skills, size);
        let ids: HashSet<&str> = skills.iter().map(|skill| skill.id.as_str()).collect();
        let is_present = |request: &Request| {
            self.labelled
                .meant(request)
                .iter()
                .any(|id| ids.contains(id))
        };
        let requests = self
            .requests
            .iter()
            .map(|place| &self.labelled.requests[*place]);
        let (present, absent): (Vec<_>, Vec<_>) = requests.partition(|request| is_present(request));
        let absent = random.sample(&absent, present.len().max(20));
        let must_not = self
            .negatives
            .iter()
            .map(|place| &self.labelled.negatives[*place]);
        let everyday = random.sample(&self.everyday, prompts);
        Draw {
            skills,
            present,
            absent: absent.into_iter().copied().collect(),
            must_not: must_not.filter(|request| is_present(request)).collect(),
            everyday,
        }
    }
}
