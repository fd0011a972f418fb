//! One root of real skills, and all steps on it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillfold::core::author::fix;
use skillfold::core::disclose::{Mode, Style};
use skillfold::core::read::Profile;
use skillfold::core::source::SKILL_FILE;
use skillfold::core::{Budget, ContextLifetime, Entry, Envelope, Policy};
use skillfold::view::{
    Check as CheckView, Doctor, Document, FileListing, FilePart, InstructionsView, Prompt,
    SearchView, SkillList, SkillView, Why,
};
use skillfold::{Environment, Host, Session, Skills, author::CheckTarget};
use tempfile::TempDir;

use super::faults::{Check, Faults, Place};
use super::schema::Schema;
use super::terminal::Terminal;
use crate::allocator::held_by;
use crate::corpus;
use crate::layout::install;

/// Maximum bytes that a snapshot may hold per skill.
const SKILL_BYTES: usize = 8 * 1024;
/// The same with the search index, after the first search.
const INDEX_BYTES: usize = 64 * 1024;
/// Number of skills to request from a search.
const FOUND: usize = 10;
/// Number of skills per root whose instructions and files are printed on a terminal, one by one.
const SHOWN: usize = 60;
/// Budgets for listings and instructions to try.
const BUDGETS: [Budget; 3] = [
    Budget::characters(8_000),
    Budget::tokens(4_000),
    Budget::tokens(300),
];

/// A root and two independent handles to it.
pub(super) struct Root {
    size: usize,
    home: TempDir,
    texts: HashMap<PathBuf, String>,
    terminal: Terminal,
}

/// A handle, and a conversation that calls its tools.
struct World {
    skills: Skills,
    session: RefCell<Session>,
}

/// The result of a step: what is compared, and what is wrong with it.
struct Answer {
    text: String,
    wrong: Vec<(Check, Result<(), String>)>,
}

impl Answer {
    fn new() -> Self {
        Self {
            text: String::new(),
            wrong: Vec::new(),
        }
    }

    /// Adds a view, which must be valid.
    fn view(mut self, schema: &Schema, document: Document) -> Self {
        let json = document.to_json();
        self.wrong.push((Check::Schema, schema.view(&json)));
        self.text.push_str(&json);
        self
    }

    /// Adds text with a budget.
    fn within(mut self, policy: &Policy, budget: Budget, text: &str) -> Self {
        let taken = budget.measure(text, &*policy.counter);
        let is_within = taken <= budget.limit;
        let wrong = || format!("{taken} of {} {:?}", budget.limit, budget.unit);
        self.wrong
            .push((Check::Budget, is_within.then_some(()).ok_or_else(wrong)));
        self.text.push_str(text);
        self
    }

    fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }
}

impl Root {
    /// Installs `size` of all skills, evenly spread.
    pub(super) fn new(
        all: &[corpus::Entry],
        size: usize,
        skillfold: Option<&Path>,
    ) -> Result<Self, Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let folder = home.path().join("skills");
        let some: Vec<&corpus::Entry> = (0..size)
            .map(|number| &all[number * all.len() / size])
            .collect();
        let files = install(&folder, some.iter().copied())?;
        let texts = files.into_iter().zip(some);
        Ok(Self {
            size,
            texts: texts
                .map(|(file, entry)| (file, entry.text.clone()))
                .collect(),
            terminal: Terminal::new(skillfold, &folder, home.path())?,
            home,
        })
    }

    /// Runs all steps, and returns the number of requests cut.
    pub(super) fn run(
        &self,
        schema: &Schema,
        faults: &mut Faults,
        requests: &mut dyn FnMut(&str) -> Vec<String>,
        labelled: &[String],
    ) -> Result<usize, Box<dyn Error>> {
        let worlds = [self.world(faults)?, self.world(faults)?];
        self.listed(&worlds, schema, faults);
        self.judged(&worlds, schema, faults)?;
        let catalog = worlds[0].skills.catalog();
        let mut asked = 0;
        for entry in catalog.entries() {
            faults.begin(self.size, entry.id());
            self.given(&worlds, &entry, schema, faults);
            let file = entry.root().path_of(&entry.skill().folder);
            let file = file.unwrap_or_default().join(SKILL_FILE);
            let text = self.texts.get(&file).map_or("", String::as_str);
            for request in requests(text) {
                self.asked(&worlds, entry.id(), &request, asked, schema, faults);
                asked += 1;
            }
            faults.end();
        }
        for (number, request) in labelled.iter().enumerate() {
            self.asked(
                &worlds,
                "a labelled request",
                request,
                number,
                schema,
                faults,
            );
        }
        self.printed(&worlds[0], faults);
        Ok(asked)
    }

    fn world(&self, faults: &mut Faults) -> Result<World, Box<dyn Error>> {
        let roots = self.home.path().join("skills").display().to_string();
        let host = || Host::new(Environment::new(self.home.path())).set("roots", &*roots);
        let (skills, held) = held_by(|| host().discover());
        let skills = skills?.skills;
        self.bytes("discover", held, SKILL_BYTES, faults);
        let (_, held) = held_by(|| skills.search("a", 1));
        self.bytes("first search", held, INDEX_BYTES, faults);
        let session = skills.session(Policy::default(), ContextLifetime::History);
        let session = RefCell::new(session);
        Ok(World { skills, session })
    }

    /// Checks the bytes held per skill.
    fn bytes(&self, step: &'static str, held: isize, most: usize, faults: &mut Faults) {
        let most = most * self.size;
        let is_within = held.unsigned_abs() <= most;
        let wrong = || format!("{held} bytes are held, and not {most}");
        let found = is_within.then_some(()).ok_or_else(wrong);
        faults.check(Check::Memory, self.place(step, "all"), found);
    }

    fn place<'a>(&self, step: &'static str, skill: &'a str) -> Place<'a> {
        Place {
            root: self.size,
            skill,
            step,
        }
    }

    /// Runs a step with both handles. Anything wrong with the first result is a fault, and so is a different second
    /// one.
    fn both(
        &self,
        worlds: &[World; 2],
        step: &'static str,
        skill: &str,
        faults: &mut Faults,
        run_step: impl Fn(&World) -> Answer,
    ) {
        let place = self.place(step, skill);
        let first = faults.attempt(place, || run_step(&worlds[0]));
        let second = faults.attempt(place, || run_step(&worlds[1]));
        let (Some(first), Some(second)) = (first, second) else {
            return;
        };
        for (check, found) in first.wrong {
            faults.check(check, place, found);
        }
        let is_same = first.text == second.text;
        let wrong = || difference(&first.text, &second.text);
        faults.check(
            Check::SameTwice,
            place,
            is_same.then_some(()).ok_or_else(wrong),
        );
    }

    /// Lists all skills, also in every style and budget.
    fn listed(&self, worlds: &[World; 2], schema: &Schema, faults: &mut Faults) {
        self.both(worlds, "list", "all", faults, |world| {
            let catalog = world.skills.catalog();
            let page = catalog.page(
                &skillfold::core::catalog::Filter::default(),
                None,
                usize::MAX,
            );
            let listing = SkillList::new(&page).with_refused(&catalog);
            Answer::new().view(schema, Document::Skills(listing))
        });
        self.both(worlds, "doctor", "all", faults, |world| {
            Answer::new().view(schema, Document::Doctor(Doctor::new(&world.skills)))
        });
        for style in Style::ALL {
            for catalog in BUDGETS {
                self.both(worlds, "listing", style.as_str(), faults, |world| {
                    let policy = Policy::default().with_style(style).with_catalog(catalog);
                    let mut session = world.skills.session(policy, ContextLifetime::History);
                    let listing = session.listing();
                    let turn = session.turn("");
                    let prompt = Prompt::new("", session.policy(), &listing, &turn, 0);
                    Answer::new()
                        .within(session.policy(), catalog, &listing.text)
                        .view(schema, Document::Prompt(Box::new(prompt)))
                });
            }
        }
    }

    /// Checks every file, and fixes a copy of it.
    fn judged(
        &self,
        worlds: &[World; 2],
        schema: &Schema,
        faults: &mut Faults,
    ) -> Result<(), Box<dyn Error>> {
        let targets = worlds.each_ref().map(|world| {
            let all = CheckTarget::all_in(&world.skills.catalog());
            let files = all.into_iter().map(|target| (target.file(), target));
            files.collect::<HashMap<_, _>>()
        });
        let mut files: Vec<&PathBuf> = targets[0].keys().collect();
        files.sort();
        for file in files {
            let shown = file.display().to_string();
            faults.begin(self.size, &shown);
            for profile in [Profile::Lenient, Profile::Spec] {
                let place = self.place("check", &shown);
                let check = |targets: &HashMap<PathBuf, CheckTarget>| {
                    let limits = skillfold::core::Limits::default();
                    let checked = targets.get(file).map(|one| one.check(profile, &limits));
                    match checked {
                        Some(Ok(checked)) => {
                            let view = Document::Check(CheckView::new(&[checked]));
                            Answer::new().view(schema, view)
                        }
                        other => Answer::new().text(&format!("{other:?}")),
                    }
                };
                let first = faults.attempt(place, || check(&targets[0]));
                let second = faults.attempt(place, || check(&targets[1]));
                if let (Some(first), Some(second)) = (first, second) {
                    for (check, found) in first.wrong {
                        faults.check(check, place, found);
                    }
                    let is_same = first.text == second.text;
                    let wrong = || difference(&first.text, &second.text);
                    let found = is_same.then_some(()).ok_or_else(wrong);
                    faults.check(Check::SameTwice, place, found);
                }
                self.corrected(file, &shown, profile, faults);
            }
            faults.end();
        }
        self.corrected_on_disk(faults)
    }

    /// Fixes a text, then fixes the result, which must change nothing.
    fn corrected(&self, file: &Path, shown: &str, profile: Profile, faults: &mut Faults) {
        let Some(text) = self.texts.get(file) else {
            return;
        };
        let folder = file.parent().and_then(Path::file_name);
        let folder = folder.unwrap_or_default().to_string_lossy();
        let place = self.place("fix", shown);
        let fixed = faults.attempt(place, || fix(text.as_bytes(), &folder, profile));
        let Some(bytes) = fixed.and_then(|fixed| fixed.bytes) else {
            return;
        };
        let again = faults.attempt(place, || fix(&bytes, &folder, profile));
        let left = again.is_some_and(|again| again.bytes.is_some());
        let found = (!left).then_some(());
        let wrong = || "what was corrected is corrected again".to_owned();
        faults.check(Check::Fixed, place, found.ok_or_else(wrong));
    }

    /// Fixes the files in a small root, which are copies from the corpus, and checks that a second run changes nothing.
    fn corrected_on_disk(&self, faults: &mut Faults) -> Result<(), Box<dyn Error>> {
        if self.size > SHOWN {
            return Ok(());
        }
        let copy = tempfile::tempdir()?;
        let entries: Vec<corpus::Entry> = self
            .texts
            .iter()
            .map(|(file, text)| corpus::Entry {
                folder: file
                    .parent()
                    .and_then(Path::file_name)
                    .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
                text: text.clone(),
            })
            .collect();
        install(copy.path(), entries.iter())?;
        let limits = skillfold::core::Limits::default();
        let reading = skillfold::core::read::ReadOptions::default();
        for target in CheckTarget::at_path(
            copy.path(),
            &reading,
            skillfold::core::source::LinkPolicy::Refuse,
        )? {
            let shown = target.file().display().to_string();
            let place = self.place("fix a file", &shown);
            for is_second in [false, true] {
                let fixed =
                    faults.attempt(place, || target.fix(copy.path(), Profile::Spec, &limits));
                let found = match fixed {
                    Some(Ok(checked)) if is_second && !checked.fixed.is_empty() => {
                        Err("what was corrected is corrected again".to_owned())
                    }
                    Some(Err(error)) => Err(error.to_string()),
                    _ => Ok(()),
                };
                faults.check(Check::Fixed, place, found);
            }
        }
        Ok(())
    }

    /// Shows, loads and reads a skill, in process and through the tools.
    fn given(&self, worlds: &[World; 2], entry: &Entry<'_>, schema: &Schema, faults: &mut Faults) {
        let id = entry.id();
        self.both(worlds, "show", id, faults, |world| {
            let catalog = world.skills.catalog();
            match catalog.resolve_or_suggest(id) {
                Ok(entry) => {
                    Answer::new().view(schema, Document::Skill(Box::new(SkillView::new(&entry))))
                }
                Err(error) => Answer::new().text(&error.to_string()),
            }
        });
        for envelope in Envelope::ALL {
            self.both(worlds, "render", id, faults, |world| {
                match world.skills.render(id, "one \"two 三\" $3", envelope) {
                    Ok(loaded) => {
                        let view = InstructionsView::new(&loaded, envelope);
                        Answer::new().view(schema, Document::Instructions(view))
                    }
                    Err(error) => Answer::new().text(&envelope.render_failure(id, &error)),
                }
            });
        }
        self.both(worlds, "files", id, faults, |world| {
            let catalog = world.skills.catalog();
            let (Ok(entry), Ok(page), Ok(read)) = (
                catalog.resolve_or_suggest(id),
                world.skills.files(id, None, 1_000),
                world.skills.read(id, SKILL_FILE),
            ) else {
                return Answer::new().text("refused");
            };
            Answer::new()
                .view(schema, Document::Files(FileListing::new(&entry, &page)))
                .view(schema, Document::File(FilePart::new(&entry, &read)))
        });
        for (tool, arguments) in [
            ("load_skill", json!({ "skill_id": id })),
            (
                "read_skill_resource",
                json!({ "skill_id": id, "path": SKILL_FILE }),
            ),
        ] {
            self.called(worlds, tool, id, &arguments, schema, faults);
        }
    }

    /// Calls a tool.
    fn called(
        &self,
        worlds: &[World; 2],
        tool: &'static str,
        skill: &str,
        arguments: &Value,
        schema: &Schema,
        faults: &mut Faults,
    ) {
        self.both(worlds, tool, skill, faults, |world| {
            let answer = world
                .session
                .borrow_mut()
                .call(tool, &arguments.to_string());
            let mut result = Answer::new().text(&answer.text());
            result
                .wrong
                .push((Check::Schema, schema.answer(tool, &answer)));
            result
        });
    }

    /// Runs a request: searches, takes a turn, explains it, and calls the search tool.
    fn asked(
        &self,
        worlds: &[World; 2],
        skill: &str,
        request: &str,
        number: usize,
        schema: &Schema,
        faults: &mut Faults,
    ) {
        self.both(worlds, "search", skill, faults, |world| {
            let found = world.skills.search(request, FOUND);
            Answer::new().view(schema, Document::Search(SearchView::new(request, &found)))
        });
        let arguments = json!({ "query": request });
        self.called(worlds, "search_skills", skill, &arguments, schema, faults);
        let style = Style::ALL[number % Style::ALL.len()];
        let bodies = [Budget::tokens(24_000), BUDGETS[0], BUDGETS[2]][number % 3];
        let policy = Policy::default()
            .with_mode([Mode::Triggered, Mode::Hybrid][number % 2])
            .with_style(style)
            .with_bodies(bodies);
        self.both(worlds, "turn", skill, faults, |world| {
            let mut session = world
                .skills
                .session(policy.clone(), ContextLifetime::History);
            let turn = session.turn(request);
            let text = turn.text.as_deref().unwrap_or_default();
            // A request for the list of skills gets the listing first, which has its own budget.
            let listing = Policy::catalog(policy.catalog);
            let listing = listing.with_style(style);
            let listing = || {
                world
                    .skills
                    .session(listing, ContextLifetime::History)
                    .listing()
            };
            let is_over = bodies.measure(text, &*policy.counter) > bodies.limit;
            let listing = is_over
                .then(listing)
                .map_or_else(String::new, |listing| listing.text);
            let text = text.strip_prefix(&listing).unwrap_or(text);
            let decisions = format!("{:?}", turn.decisions.len());
            Answer::new().within(&policy, bodies, text).text(&decisions)
        });
        self.both(worlds, "why", skill, faults, |world| {
            let session = world
                .skills
                .session(policy.clone(), ContextLifetime::History);
            match session.why(request, &[]) {
                Ok(explanation) => {
                    let why = Why::new(request, &policy, &explanation);
                    Answer::new().view(schema, Document::Why(Box::new(why)))
                }
                Err(error) => Answer::new().text(&error.to_string()),
            }
        });
    }

    /// Runs the command as users do.
    fn printed(&self, world: &World, faults: &mut Faults) {
        let terminal = &self.terminal;
        for command in ["list", "check", "doctor"] {
            let found = terminal.print(&[command]);
            faults.check(Check::Terminal, self.place(command, "all"), found);
        }
        let catalog = world.skills.catalog();
        let every = (catalog.len() / SHOWN).max(1);
        for entry in catalog.entries().step_by(every) {
            let (id, described) = (entry.id(), entry.manifest().description());
            let printed = [
                ("show", terminal.print(&["show", id])),
                ("search", terminal.print(&["search", "--", described])),
                ("load", terminal.show(&["load", id])),
                ("read", terminal.show(&["read", id, SKILL_FILE])),
            ];
            for (step, found) in printed {
                faults.check(Check::Terminal, self.place(step, id), found);
            }
        }
    }
}

/// Returns where two texts differ.
fn difference(first: &str, second: &str) -> String {
    let same = skillfold::core::text::common_prefix(first, second).len();
    let part = |text: &str| text[same..].chars().take(60).collect::<String>();
    format!("{:?} and {:?}", part(first), part(second))
}
