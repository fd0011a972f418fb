//! The pools of skills to search.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::str::FromStr;

use skillfold::core::load::Digest;

use crate::labelled::{LabelledSkill, Request, lines};

/// Maps a skill to its copies.
pub(crate) type Copies = HashMap<String, Vec<String>>;

/// The available pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// The skills that requests point to.
    Labelled,
    /// Plus other skills.
    TenThousand,
    /// All skills, with metadata only.
    All,
}

impl Size {
    const ALL: [Self; 3] = [Self::Labelled, Self::TenThousand, Self::All];

    pub(crate) fn skills(self) -> usize {
        match self {
            Self::Labelled => 659,
            Self::TenThousand => 10_000,
            Self::All => 87_643,
        }
    }

    /// Returns which of a skill's texts is searched in this pool if `wanted` is requested.
    pub(crate) fn text(self, wanted: Text) -> Text {
        match self {
            Self::Labelled | Self::TenThousand => wanted,
            Self::All => Text::Metadata,
        }
    }
}

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL
            .into_iter()
            .find(|size| size.skills().to_string() == word);
        found.ok_or("there are pools of 659, 10000 and 87643")
    }
}

/// Which of a skill's texts is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Name, description, tags and triggers.
    Metadata,
    /// The same plus the first 6,000 characters of the body.
    WithBody,
}

impl Text {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::WithBody => "body",
        }
    }
}

/// Skills searched together.
pub(crate) struct Pool {
    pub(crate) skills: Vec<LabelledSkill>,
    places: HashMap<String, usize>,
}

impl Pool {
    pub(crate) fn read(folder: &Path, size: Size, text: Text) -> Result<Self, Box<dyn Error>> {
        let file = match size {
            Size::Labelled | Size::TenThousand => "pool_10k.jsonl.zst",
            Size::All => "pool.jsonl.zst",
        };
        let mut pool = Self::of(&folder.join(file), size.skills())?;
        if pool.skills.len() < size.skills() {
            return Err(format!("{file} has {} skills only", pool.skills.len()).into());
        }
        if text == Text::Metadata {
            for skill in &mut pool.skills {
                skill.body = String::new();
            }
        }
        Ok(pool)
    }

    /// Reads the `MetaTool` tools.
    pub(crate) fn tools(folder: &Path) -> Result<Self, Box<dyn Error>> {
        Self::of(&folder.join("pool.jsonl"), usize::MAX)
    }

    fn of(file: &Path, count: usize) -> Result<Self, Box<dyn Error>> {
        let skills = lines(file)?
            .take(count)
            .map(|line| LabelledSkill::of(&line?))
            .collect::<Result<Vec<_>, _>>()?;
        let ids = skills.iter().map(|skill| skill.id.clone());
        Ok(Self {
            places: ids.zip(0..).collect(),
            skills,
        })
    }

    /// Returns the pool in parts of `size` skills each, shuffled by a hash of their ids.
    pub(crate) fn parts(&self, size: usize) -> Vec<Self> {
        let mixed = |skill: &&LabelledSkill| Digest::sha256(skill.id.as_bytes()).to_string();
        let mut skills: Vec<&LabelledSkill> = self.skills.iter().collect();
        skills.sort_by_cached_key(mixed);
        let parts = skills.chunks(size.max(1)).map(|part| Self {
            places: part.iter().map(|skill| skill.id.clone()).zip(0..).collect(),
            skills: part.iter().copied().cloned().collect(),
        });
        parts.collect()
    }

    /// Returns the position of the skill with an id.
    pub(crate) fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Returns the position of each skill a request names, with those of its copies. Copies may be outside the pool.
    pub(crate) fn wanted(
        &self,
        request: &Request,
        copies: &Copies,
    ) -> Result<Vec<Vec<usize>>, Box<dyn Error>> {
        let wanted = |id: &String| {
            let first = self.place(id);
            let first = first.ok_or_else(|| format!("`{id}` is not in the pool"))?;
            let others = copies.get(id).into_iter().flatten();
            let others = others.filter_map(|copy| self.place(copy));
            Ok(std::iter::once(first).chain(others).collect())
        };
        request.skills.iter().map(wanted).collect()
    }
}
