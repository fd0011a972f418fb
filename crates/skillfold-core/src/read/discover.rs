//! Finds all skills of some sources: the head of each file is read, the body never.

use std::collections::HashMap;

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, quoted};
use crate::error::{Error, ErrorKind};
use crate::read::frontmatter::Extent;
use crate::read::manifest::Manifest;
use crate::read::parse::{Parsed, Reader, parse_head};
use crate::read::source::{
    Finding, Folder, Identity, Listed, Revision, Scanned, Source, State, Steadiness, Walk,
};

/// How skills are read.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single choices with struct update syntax"
)]
pub struct Reading {
    /// How sources are searched, and the caps.
    pub walk: Walk,
    /// Which reader looks at a frontmatter block first.
    pub reader: Reader,
}

/// What was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// The skills, ordered by source and folder.
    pub skills: Vec<Skill>,
    /// The folders that hold a `SKILL.md` and no skill, ordered likewise.
    pub refused: Vec<Refused>,
    /// What was passed over in each source, and why.
    pub findings: Vec<SourceFinding>,
}

/// One skill: its metadata, and where to read the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skill {
    /// What the skill says about itself.
    pub manifest: Manifest,
    /// The index of its source among those that were searched.
    pub source: usize,
    /// Its folder inside the source.
    pub folder: Folder,
    /// The state of the file that was read.
    pub revision: Revision,
    /// The offset of the first byte of the instructions.
    pub body_start: u64,
    /// Whether the frontmatter was repaired.
    pub repaired: bool,
    /// What was odd about the file.
    pub diagnostics: Box<[Diagnostic]>,
}

impl Skill {
    /// Returns the length of the instructions in bytes, by the size of the file that was read.
    pub fn body_bytes(&self) -> u64 {
        self.revision.size.saturating_sub(self.body_start)
    }
}

/// A folder that holds a `SKILL.md` and no skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The index of its source among those that were searched.
    pub source: usize,
    /// The folder inside the source.
    pub folder: Folder,
    /// The state of the file, if it could be read.
    pub revision: Option<Revision>,
    /// Why it is no skill.
    pub diagnostics: Box<[Diagnostic]>,
}

/// Something that was found about a path of one of the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFinding {
    /// The index of the source among those that were searched.
    pub source: usize,
    /// What was found.
    pub finding: Finding,
}

/// Finds all skills of `sources`.
///
/// One folder is one skill, by the first source and path that lead to it. Nothing stops the search: what cannot be
/// read is in the findings, and a broken skill never hides a good one.
pub fn discover(sources: &[&dyn Source], reading: &Reading) -> Discovery {
    let mut search = Search {
        reading,
        found: Discovery::default(),
        known: HashMap::new(),
        reported: 0,
        unreported: 0,
    };
    for (index, source) in sources.iter().enumerate() {
        search.source(index, *source);
        search.end_source(index);
    }
    let Discovery {
        skills,
        mut refused,
        findings,
    } = search.found;
    refused.sort_by(|a, b| (a.source, &a.folder).cmp(&(b.source, &b.folder)));
    Discovery {
        skills: in_order(skills),
        refused,
        findings,
    }
}

/// Orders skills by source and folder. Skills are large; where they are out of order their places are sorted first, so
/// that each is moved only once.
fn in_order(mut skills: Vec<Skill>) -> Vec<Skill> {
    skills.shrink_to_fit();
    let key = |at: usize| (skills[at].source, &skills[at].folder);
    let mut places: Vec<usize> = (0..skills.len()).collect();
    if places.is_sorted_by_key(|at| key(*at)) {
        return skills;
    }
    // The walk leaves a few long stretches in order, which a stable sort only has to merge.
    places.sort_by(|a, b| key(*a).cmp(&key(*b)));
    // Each place says which skill belongs there; those before it have been put right, and theirs say where it went.
    for at in 0..places.len() {
        let mut from = places[at];
        while from < at {
            from = places[from];
        }
        places[at] = from;
        skills.swap(at, from);
    }
    skills
}

struct Search<'a> {
    reading: &'a Reading,
    found: Discovery,
    /// Where each folder was found first.
    known: HashMap<Identity, Place>,
    /// Findings of this source that were reported, and that were only counted.
    reported: usize,
    unreported: usize,
}

/// An index into what was found.
#[derive(Clone, Copy)]
enum Place {
    Skill(usize),
    Refused(usize),
    /// It vanished while it was read.
    Nowhere,
}

impl Search<'_> {
    fn source(&mut self, index: usize, source: &dyn Source) {
        let walk = &self.reading.walk;
        match source.scan(walk, walk.limits.head_bytes.max(1), &mut |scanned| {
            self.scanned(index, source, scanned);
        }) {
            Ok(findings) => findings
                .into_iter()
                .for_each(|finding| self.finding(index, finding)),
            Err(error) => {
                let what = format!("Source could not be listed ({}):", chain(&error));
                self.finding(index, Finding::new(Code::FolderUnreadable, "", &what));
            }
        }
    }

    /// Reports a finding about a source, or counts it if there are too many.
    fn finding(&mut self, source: usize, finding: Finding) {
        if self.reported < self.reading.walk.limits.findings
            || finding.diagnostic.severity != Severity::Info
        {
            self.reported += 1;
            self.found.findings.push(SourceFinding { source, finding });
        } else {
            self.unreported += 1;
        }
    }

    /// Ends the findings about a source with the number of those that were only counted.
    fn end_source(&mut self, source: usize) {
        if self.unreported > 0 {
            let message = format!("{} more findings are not listed", self.unreported);
            let diagnostic = Diagnostic::new(Code::MoreFindings, None, message);
            self.found.findings.push(SourceFinding {
                source,
                finding: Finding {
                    path: "".into(),
                    diagnostic,
                },
            });
        }
        (self.reported, self.unreported) = (0, 0);
    }

    fn scanned(&mut self, index: usize, source: &dyn Source, scanned: Scanned<'_>) {
        let Scanned {
            listed,
            state,
            head,
        } = scanned;
        let Listed {
            folder, identity, ..
        } = listed;
        if let Some(place) = identity
            .as_ref()
            .and_then(|identity| self.known.get(identity))
        {
            let first = match place {
                Place::Skill(at) => &self.found.skills[*at].folder,
                Place::Refused(at) => &self.found.refused[*at].folder,
                Place::Nowhere => &folder,
            };
            let what = format!("Same folder as {}:", quoted(&first.to_string()));
            return self.finding(index, Finding::new(Code::SameFolder, folder.path(), &what));
        }
        let place = match state.and_then(|state| self.read(source, &folder, head, state)) {
            Ok((parsed, state)) => self.parsed(index, folder, parsed, state),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.finding(
                    index,
                    Finding::new(
                        Code::Vanished,
                        folder.path(),
                        "Skill vanished while it was read:",
                    ),
                );
                Place::Nowhere
            }
            Err(error) => {
                let message = format!("`SKILL.md` could not be read: {}", chain(&error));
                self.refused(
                    index,
                    folder,
                    None,
                    Box::new([Diagnostic::new(Code::SkillFileUnreadable, None, message)]),
                )
            }
        };
        if let Some(identity) = identity {
            self.known.insert(identity, place);
        }
    }

    /// Reads the head of a file, and more of it where the frontmatter is longer than the head.
    fn read(
        &self,
        source: &dyn Source,
        folder: &Folder,
        head: &[u8],
        state: State,
    ) -> Result<(Parsed, State), Error> {
        let limits = &self.reading.walk.limits;
        let parse = |bytes: &[u8], wanted: usize, state: &State| {
            // The last step reads past the cap, so that a frontmatter just over it is seen to be.
            let last = wanted > limits.frontmatter_bytes;
            let extent = if last || bytes.len() < wanted {
                Extent::Whole
            } else {
                Extent::Head
            };
            parse_head(
                bytes,
                extent,
                state.revision.size,
                folder.name(),
                self.reading.reader,
                limits,
            )
        };
        let mut wanted = limits.head_bytes.max(1);
        if let Some(parsed) = parse(head, wanted, &state) {
            return Ok((parsed, state));
        }
        let mut buffer = Vec::new();
        loop {
            wanted = if wanted < limits.frontmatter_bytes / 4 {
                wanted * 4
            } else {
                limits.frontmatter_bytes + 4096
            };
            buffer.clear();
            let state = source.head(folder, wanted, &mut buffer)?;
            if let Some(parsed) = parse(&buffer, wanted, &state) {
                return Ok((parsed, state));
            }
        }
    }

    fn parsed(&mut self, source: usize, folder: Folder, parsed: Parsed, state: State) -> Place {
        let Parsed {
            manifest,
            body,
            repaired,
            mut diagnostics,
        } = parsed;
        if state.steadiness == Steadiness::Changing {
            diagnostics.push(Diagnostic::new(
                Code::Changing,
                None,
                "File kept changing while it was read",
            ));
        }
        let (revision, diagnostics) = (state.revision, diagnostics.into_boxed_slice());
        let Some(manifest) = manifest else {
            return self.refused(source, folder, Some(revision), diagnostics);
        };
        let body_start = body.unwrap_or_default() as u64;
        self.found.skills.push(Skill {
            manifest,
            source,
            folder,
            revision,
            body_start,
            repaired,
            diagnostics,
        });
        Place::Skill(self.found.skills.len() - 1)
    }

    fn refused(
        &mut self,
        source: usize,
        folder: Folder,
        revision: Option<Revision>,
        diagnostics: Box<[Diagnostic]>,
    ) -> Place {
        self.found.refused.push(Refused {
            source,
            folder,
            revision,
            diagnostics,
        });
        Place::Refused(self.found.refused.len() - 1)
    }
}

/// Returns an error with its cause.
fn chain(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => format!("{error}. {}", error.hint()),
    }
}
