//! Many concurrent conversations on one live handle while its skills are swapped: each listing and each turn must
//! belong to one generation, and no memory may remain afterwards.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use skillfold::core::disclose::SkillOutcome;
use skillfold::core::disclose::Turn;
use skillfold::core::{
    Budget, Catalog, CatalogOptions, ContextLifetime, FsSource, Policy, Root, Scope,
};
use skillfold::{Environment, Host, Session, Skills};

use crate::allocator::{held, held_by};
use crate::layout::far_future;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of concurrent conversations
    #[arg(long, default_value_t = 500)]
    sessions: usize,
    /// Turns per conversation
    #[arg(long, default_value_t = 20)]
    turns: usize,
    /// How often all skills are swapped meanwhile
    #[arg(long, default_value_t = 20)]
    swaps: usize,
}

/// Threads that the conversations are spread over.
const THREADS: usize = 2;
/// Skills per generation.
const SKILLS: usize = 20;
/// Number of skills over all generations.
const ALL: usize = SKILLS + 1;
/// Consecutive turns in one conversation before the next one runs, so that some skills were already given.
const BURST: usize = 5;
/// Warm-up generations before counting starts: the first, and one that is swapped in.
const WARM: usize = 1;
/// Maximum bytes that may remain after the conversations are gone: thread-local caches, and the overlays of the trigger
/// matcher and the search index. Independent of the number of conversations and swaps.
const GROWTH: isize = 256 * 1024;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (result, _) = held_by(|| Run::new(arguments).and_then(|run| run.all()));
    let Counted {
        told,
        before,
        with_sessions,
        after,
    } = result?;
    let sessions = isize::try_from(arguments.sessions.max(1))?;
    let growth = after - before;
    writeln!(
        out,
        "{}",
        json!({
            "sessions": arguments.sessions,
            "turns": arguments.turns,
            "swaps": arguments.swaps,
            "listings": told.turns,
            "given": told.given,
            "known": told.known,
            "wrong_listings": told.wrong_listings,
            "wrong_turns": told.wrong_turns,
            "bytes_per_session": (with_sessions - after) / sessions,
            "bytes_before": before,
            "growth_bytes": growth,
        })
    )?;
    if let Some(wrong) = told.first_wrong {
        return Err(format!("a conversation was told what is not so: {wrong}").into());
    }
    if growth > GROWTH {
        return Err(format!("{growth} bytes are held after the conversations are gone").into());
    }
    Ok(())
}

/// The result of one run.
struct Counted {
    told: Told,
    before: isize,
    with_sessions: isize,
    after: isize,
}

/// What conversations were given.
#[derive(Default)]
struct Told {
    turns: usize,
    given: usize,
    known: usize,
    wrong_listings: usize,
    wrong_turns: usize,
    first_wrong: Option<String>,
}

/// State shared by the threads.
struct Run<'a> {
    arguments: &'a Arguments,
    _folder: tempfile::TempDir,
    home: PathBuf,
    skills: Skills,
    policy: Policy,
    /// Each generation's listing, built separately.
    listings: Vec<String>,
    /// The newest generation that is certainly swapped in.
    newest: AtomicUsize,
    /// Turns so far.
    turns: AtomicUsize,
    is_over: AtomicBool,
}

impl<'a> Run<'a> {
    fn new(arguments: &'a Arguments) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().join("home");
        let policy = Policy::hybrid(Budget::tokens(4_000));
        let mut listings = Vec::new();
        for generation in 0..=arguments.swaps + WARM {
            let place = standby(&home, generation);
            lay_out(&place, generation)?;
            let root = Root::new(Scope::User, "by itself", FsSource::open(&place)?);
            let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
            listings.push(catalog.listing(&policy).text);
        }
        fs::create_dir_all(home.join("app"))?;
        fs::create_dir_all(home.join(".agents"))?;
        fs::rename(standby(&home, 0), current(&home))?;
        let skills = Host::new(Environment::new(home.join("app")).home(&home))
            .discover()?
            .skills;
        Ok(Self {
            arguments,
            _folder: folder,
            home,
            skills,
            policy,
            listings,
            newest: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        })
    }

    /// Runs all conversations while the skills are swapped.
    fn all(&self) -> Result<Counted, Box<dyn Error>> {
        // What a handle allocates on first use and first swap does not belong to a conversation.
        self.use_once()?;
        self.swap_in(WARM)?;
        self.use_once()?;
        // The bench's own records are allocated before counting starts.
        let share = self.arguments.sessions.div_ceil(THREADS);
        let mut notes: [Vec<Note>; THREADS] = [(); THREADS].map(|()| vec![Note::default(); share]);
        let before = held();
        let (sessions, told) = thread::scope(|scope| {
            let threads: Vec<_> = notes
                .iter_mut()
                .enumerate()
                .map(|(thread, notes)| {
                    let first = thread * share;
                    let count = self.arguments.sessions.saturating_sub(first).min(share);
                    scope.spawn(move || self.converse(first, &mut notes[..count]))
                })
                .collect();
            let swapped = self.swap();
            let (mut sessions, mut told) = (Vec::new(), Told::default());
            for thread in threads {
                let (of_thread, told_there) =
                    thread.join().map_err(|_| "a conversation panicked")?;
                sessions.push(of_thread);
                told.add(told_there);
            }
            swapped?;
            Ok::<_, Box<dyn Error>>((sessions, told))
        })?;
        let with_sessions = held();
        drop(sessions);
        Ok(Counted {
            with_sessions: with_sessions - told.bytes(),
            after: held() - told.bytes(),
            before,
            told,
        })
    }

    /// Makes every thread match and load every skill.
    fn use_once(&self) -> Result<(), Box<dyn Error>> {
        thread::scope(|scope| {
            let say = || {
                let mut session = self
                    .skills
                    .session(self.policy.clone(), ContextLifetime::History);
                (0..ALL).for_each(|skill| drop(session.turn(&message(&[skill]))));
            };
            let threads = [(); THREADS].map(|()| scope.spawn(say));
            for thread in threads {
                thread.join().map_err(|_| "a conversation panicked")?;
            }
            Ok(())
        })
    }

    /// Swaps in the generations one by one, spread over the turns.
    fn swap(&self) -> Result<(), Box<dyn Error>> {
        let all = self.arguments.sessions * self.arguments.turns;
        let swaps = self.arguments.swaps;
        let result = (1..=swaps).try_for_each(|number| {
            while self.turns.load(Ordering::SeqCst) < all * number / (swaps + 1) {
                if self.is_over.load(Ordering::SeqCst) {
                    return Ok(());
                }
                thread::sleep(Duration::from_micros(100));
            }
            self.swap_in(WARM + number)
        });
        if result.is_err() {
            self.is_over.store(true, Ordering::SeqCst);
        }
        result
    }

    /// Replaces the current generation with the next one, and refreshes.
    fn swap_in(&self, generation: usize) -> Result<(), Box<dyn Error>> {
        fs::rename(current(&self.home), standby(&self.home, generation - 1))?;
        fs::rename(standby(&self.home, generation), current(&self.home))?;
        if self.skills.refresh()?.is_empty() {
            return Err("a refresh saw no change".into());
        }
        self.newest.store(generation, Ordering::SeqCst);
        Ok(())
    }

    /// Returns the newest generation that may have been swapped in by now.
    fn latest(&self) -> usize {
        (self.newest.load(Ordering::SeqCst) + 1).min(self.listings.len() - 1)
    }

    /// Runs some conversations concurrently, with several turns each before the next.
    fn converse(&self, first: usize, notes: &mut [Note]) -> (Vec<Session>, Told) {
        let mut told = Told::default();
        let begin = |_: &Note| {
            self.skills
                .session(self.policy.clone(), ContextLifetime::History)
        };
        let mut sessions: Vec<Session> = notes.iter().map(begin).collect();
        for start in (0..self.arguments.turns).step_by(BURST) {
            for (number, session) in sessions.iter_mut().enumerate() {
                for turn in start..self.arguments.turns.min(start + BURST) {
                    if self.is_over.load(Ordering::SeqCst) {
                        return (sessions, told);
                    }
                    let asked = asked(first + number, turn);
                    self.say(session, &mut notes[number], &asked, &mut told);
                    self.turns.fetch_add(1, Ordering::SeqCst);
                }
            }
        }
        (sessions, told)
    }

    /// Requests the listing, sends one message, and compares the results with what is expected.
    fn say(&self, session: &mut Session, note: &mut Note, asked: &[usize], told: &mut Told) {
        told.turns += 1;
        let oldest = self.newest.load(Ordering::SeqCst);
        let listing = session.listing().text;
        let between = self.newest.load(Ordering::SeqCst);
        let generations = oldest..=self.latest();
        if !self.listings[generations.clone()].contains(&listing) {
            told.wrong_listings += 1;
            told.wrong(|| format!("a listing is of none of {generations:?}: {listing}"));
        }
        let said = session.turn(&message(asked));
        let mut generations = between..=self.latest();
        if !generations.any(|generation| note.agrees(&said, asked, generation)) {
            told.wrong_turns += 1;
            told.wrong(|| format!("a turn is of no generation from {between} on: {said:?}"));
        }
        told.note(&said, note);
    }
}

/// The generation of each skill that a conversation was given.
#[derive(Clone, Default)]
struct Note {
    given: [Option<usize>; ALL],
}

impl Note {
    /// Returns whether a turn matches one generation for the requested skills: each one's full instructions, once, and
    /// nothing else.
    fn agrees(&self, turn: &Turn, asked: &[usize], generation: usize) -> bool {
        let mut decided: Vec<&str> = turn
            .decisions
            .iter()
            .map(|decision| &*decision.id)
            .collect();
        decided.sort_unstable();
        let mut expected: Vec<String> = asked
            .iter()
            .filter(|skill| has_skill(**skill, generation))
            .map(|skill| name(*skill))
            .collect();
        expected.sort_unstable();
        let text = turn.text.as_deref().unwrap_or_default();
        let is_one = |decision: &skillfold::core::disclose::Decision| match &decision.outcome {
            SkillOutcome::Given(_, instructions, _) => {
                let body = body(number_of(&decision.id), generation);
                instructions.body() == body && text.matches(&*body).count() == 1
            }
            SkillOutcome::Known => self.given[number_of(&decision.id)] == Some(generation),
            _ => false,
        };
        let given = turn
            .decisions
            .iter()
            .filter(|decision| decision.outcome.tokens().is_some());
        decided == expected
            && turn.decisions.iter().all(is_one)
            && text.matches("End of generation").count() == given.count()
    }
}

impl Told {
    fn wrong(&mut self, what: impl FnOnce() -> String) {
        self.first_wrong.get_or_insert_with(what);
    }

    /// Returns the bytes taken by the first error message itself.
    fn bytes(&self) -> isize {
        let text = self.first_wrong.as_ref();
        text.map_or(0, |text| text.capacity().cast_signed())
    }

    fn add(&mut self, other: Self) {
        self.turns += other.turns;
        self.given += other.given;
        self.known += other.known;
        self.wrong_listings += other.wrong_listings;
        self.wrong_turns += other.wrong_turns;
        if let Some(wrong) = other.first_wrong {
            self.wrong(|| wrong);
        }
    }

    /// Counts and records what a turn gave.
    fn note(&mut self, turn: &Turn, note: &mut Note) {
        for decision in &turn.decisions {
            match &decision.outcome {
                SkillOutcome::Given(_, instructions, _) => {
                    self.given += 1;
                    note.given[number_of(&decision.id)] = generation_of(instructions.body());
                }
                _ => self.known += 1,
            }
        }
    }
}

/// Returns the skills that a conversation's message asks for: at most three, or none.
fn asked(session: usize, turn: usize) -> Vec<usize> {
    let first = session.wrapping_mul(7).wrapping_add(turn);
    (0..(session + turn) % 4)
        .map(|number| (first + number * 2) % ALL)
        .collect()
}

fn message(asked: &[usize]) -> String {
    let jobs: Vec<String> = asked
        .iter()
        .map(|skill| format!("job {skill:03}"))
        .collect();
    if jobs.is_empty() {
        "What is 2+2?".to_owned()
    } else {
        format!("Please do {} now", jobs.join(" and "))
    }
}

/// Returns whether a generation has a skill: the first is in even generations, the last in odd ones.
fn has_skill(skill: usize, generation: usize) -> bool {
    (generation % 2..generation % 2 + SKILLS).contains(&skill)
}

fn name(skill: usize) -> String {
    format!("job-{skill:03}")
}

fn number_of(id: &str) -> usize {
    let digits = id.trim_start_matches("job-");
    digits.parse().unwrap_or_default()
}

fn body(skill: usize, generation: usize) -> String {
    let line =
        "Read the input, check it against the rules above, and write the result beside it.\n";
    format!(
        "Generation {generation:06} of job {skill:03}.\n{}End of generation {generation:06}.\n",
        line.repeat(skill + 1)
    )
}

fn generation_of(body: &str) -> Option<usize> {
    body.strip_prefix("Generation ")?.get(..6)?.parse().ok()
}

/// The folder where the handle finds skills.
fn current(home: &Path) -> PathBuf {
    home.join(".agents/skills")
}

/// Where a generation is kept before and after it is current. Threads still reading it can continue.
fn standby(home: &Path, generation: usize) -> PathBuf {
    home.join(format!("generations/{generation}"))
}

#[expect(clippy::disallowed_methods, reason = "a bench lays out its own files")]
fn lay_out(folder: &Path, generation: usize) -> std::io::Result<()> {
    for skill in (0..ALL).filter(|skill| has_skill(*skill, generation)) {
        let folder = folder.join(name(skill));
        fs::create_dir_all(&folder)?;
        let head = format!(
            "---\nname: {}\ndescription: Does job {skill:03} as of generation {generation:06}\ntriggers:\n  keywords: ['job {skill:03}']\n---\n",
            name(skill)
        );
        fs::write(folder.join("SKILL.md"), head + &body(skill, generation))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Run};

    #[test]
    fn concurrent_conversations_each_see_one_generation() {
        let arguments = Arguments {
            sessions: 40,
            turns: 10,
            swaps: 10,
        };
        let told = Run::new(&arguments).unwrap().all().unwrap().told;
        assert_eq!(told.first_wrong, None);
        assert_eq!(told.turns, 400);
        assert!(told.given > 0 && told.known > 0);
    }

    #[test]
    fn turn_mixing_two_generations_is_detected() {
        let arguments = Arguments {
            sessions: 1,
            turns: 1,
            swaps: 1,
        };
        let run = Run::new(&arguments).unwrap();
        let mut session = run
            .skills
            .session(run.policy.clone(), super::ContextLifetime::History);
        let turn = session.turn(&super::message(&[3, 4]));
        let mut note = super::Note::default();
        assert!(note.agrees(&turn, &[3, 4], 0));
        assert!(!note.agrees(&turn, &[3, 4], 1), "another generation");
        assert!(
            !note.agrees(&turn, &[3], 0),
            "a skill that nobody asked for"
        );
        let again = session.turn(&super::message(&[3]));
        assert!(!note.agrees(&again, &[3], 0), "known, and never given");
        note.given[3] = Some(0);
        assert!(note.agrees(&again, &[3], 0));
    }
}
