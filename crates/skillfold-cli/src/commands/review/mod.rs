//! `skillfold review`: proposals one by one on the screen, with keys to decide.

mod text;

use std::io;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use skillfold::core::diagnostic::visible;
use skillfold::core::source::SKILL_FILE;
use skillfold::core::{Error, Refusal};
use skillfold::store::change::FileEdit;
use skillfold::store::{Approval, Author, PendingProposal, Store};
use skillfold::{Environment, Skills, settings::ApprovalRequires};

use crate::arguments::Global;
use crate::commands::review::text::{MIN_COLUMNS, Said, about, bold, claims, draw_row, draw_said};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::{can_ask, is_yes};
use crate::terminal::digest::short;
use crate::terminal::editor;
use crate::terminal::output::{Output, pluralize};
use crate::terminal::screen::Screen;
use crate::terminal::table::cut;
use crate::terminal::text_diff::Row;

/// The fewest columns in which two versions stand side by side.
const MIN_SIDE_BY_SIDE: u16 = 100;
/// Maximum characters that are typed.
const MAX_TYPED_CHARS: usize = 500;

const KEYS: &str = "↑↓ Space scroll, ←→ other proposal, a approve, r reject, e edit, q leave";

pub(crate) fn run(global: &Global, output: &mut Output) -> CommandResult {
    if !can_ask() {
        let rule = "A review needs a terminal; in a script, `skillfold proposals` lists and shows, `skillfold reject` rejects";
        return Err(Error::refused("review", Refusal::Approval, rule).into());
    }
    let skills = host::skills(global, output)?;
    let store = skills.store()?;
    let mut review = Review::new(host::environment(global)?, &skills, &store)?;
    if review.waiting.is_empty() {
        output.say("No pending proposals");
        return Ok(ExitCode::SUCCESS);
    }
    output.finish()?;
    let said = on_screen(&mut review)?;
    for line in said {
        output.say(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the review, and returns what was done.
fn on_screen(review: &mut Review<'_>) -> Result<Vec<String>, Failure> {
    let is_plain = AutoStream::choice(&io::stderr()) == ColorChoice::Never;
    let mut said = Vec::new();
    let mut screen = Screen::open()?;
    loop {
        screen.draw(|frame| review.draw(frame, is_plain))?;
        let Some(key) = screen.key()? else { continue };
        let done = match review.press(key) {
            Press::Stay => continue,
            Press::Leave => return Ok(said),
            Press::Approve(passphrase) => review.approve(passphrase),
            Press::Reject(reason) => review.reject(&reason),
            Press::Edit => {
                drop(screen);
                let edited = review.edit();
                screen = Screen::open()?;
                edited
            }
        };
        review.status = match done {
            Ok(done) => {
                said.push(done.clone());
                done
            }
            Err(Failure::Engine(error)) => format!("{}. {}", error.with_cause(), error.hint()),
            Err(failure) => return Err(failure),
        };
        review.load(None)?;
        if review.waiting.is_empty() {
            return Ok(said);
        }
    }
}

/// What a key leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Press {
    Stay,
    Leave,
    /// With the passphrase, if it is required.
    Approve(Option<String>),
    Reject(String),
    Edit,
}

/// What the last line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Approve,
    Passphrase,
    Reason,
}

impl Question {
    fn text(self) -> &'static str {
        match self {
            Self::Approve => "Approve? [y/N] ",
            Self::Passphrase => "Passphrase: ",
            Self::Reason => "Why not? ",
        }
    }
}

/// The proposals, and what is on the screen.
struct Review<'s> {
    environment: Environment,
    skills: &'s Skills,
    store: &'s Store,
    waiting: Vec<PendingProposal>,
    current: usize,
    /// The lines about the current proposal, before its diff.
    about: Vec<Said>,
    rows: Vec<Row>,
    /// What others say of the proposal, after its diff: however long it is, it hides nothing.
    claims: Vec<Said>,
    scroll: usize,
    /// How many lines from the first on were on the screen, at this width.
    shown: (usize, u16),
    /// How many lines fit, and how many there are.
    page: (usize, usize),
    question: Option<Question>,
    typed: String,
    status: String,
}

impl<'s> Review<'s> {
    fn new(
        environment: Environment,
        skills: &'s Skills,
        store: &'s Store,
    ) -> Result<Self, Failure> {
        let mut review = Self {
            environment,
            skills,
            store,
            waiting: Vec::new(),
            current: 0,
            about: Vec::new(),
            rows: Vec::new(),
            claims: Vec::new(),
            scroll: 0,
            shown: (0, 0),
            page: (1, 0),
            question: None,
            typed: String::new(),
            status: String::new(),
        };
        review.load(None)?;
        Ok(review)
    }

    /// Reads the proposals again, and turns to one of them.
    fn load(&mut self, file: Option<&str>) -> Result<(), Failure> {
        self.waiting = self.store.proposals()?.waiting;
        let named = file.and_then(|file| {
            let mut files = self.waiting.iter().map(|it| it.proposal.file.as_str());
            files.position(|it| it == file)
        });
        let last = self.waiting.len().saturating_sub(1);
        self.turn_to(named.unwrap_or(self.current.min(last)));
        Ok(())
    }

    fn turn_to(&mut self, number: usize) {
        (self.current, self.scroll, self.shown) = (number, 0, (0, 0));
        (self.about, self.rows, self.claims) = match self.waiting.get(number) {
            Some(waiting) => {
                let (about, rows) = about(self.skills, self.store, waiting);
                (about, rows, claims(waiting))
            }
            None => (Vec::new(), Vec::new(), Vec::new()),
        };
    }

    /// Records which lines are on the screen. Those that were jumped over were not.
    fn record_shown(&mut self, columns: u16) {
        let (page, lines) = self.page;
        let is_all_shown = self.shown.0 == usize::MAX;
        if self.shown.1 != columns && !is_all_shown {
            self.shown = (0, columns);
        }
        if self.scroll <= self.shown.0 {
            self.shown.0 = self.shown.0.max(self.scroll + page);
        }
        if self.shown.0 >= lines {
            self.shown.0 = usize::MAX;
        }
    }

    /// Asks whether to approve the proposal, once all of it was on the screen.
    fn ask_to_approve(&mut self) {
        match self.page.1.saturating_sub(self.shown.0) {
            0 => self.ask(Question::Approve),
            lines => {
                let lines = pluralize(lines, "line was", "lines were");
                self.status = format!(
                    "{lines} not on the screen yet: read on with Space from where you left off, then approve"
                );
            }
        }
    }

    fn press(&mut self, key: KeyEvent) -> Press {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Press::Leave;
        }
        if let Some(question) = self.question {
            return self.answer(question, key.code);
        }
        let (page, last) = (self.page.0, self.page.1.saturating_sub(self.page.0));
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Press::Leave,
            KeyCode::Char('a') => self.ask_to_approve(),
            KeyCode::Char('r') => self.ask(Question::Reason),
            KeyCode::Char('e') => return Press::Edit,
            KeyCode::Left if self.current > 0 => self.turn_to(self.current - 1),
            KeyCode::Right if self.current + 1 < self.waiting.len() => {
                self.turn_to(self.current + 1);
            }
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down => self.scroll = (self.scroll + 1).min(last),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll = (self.scroll + page).min(last),
            KeyCode::Home => self.scroll = 0,
            KeyCode::End => self.scroll = last,
            _ => {}
        }
        Press::Stay
    }

    fn ask(&mut self, question: Question) {
        self.question = Some(question);
        self.typed.clear();
        self.status.clear();
    }

    fn answer(&mut self, question: Question, key: KeyCode) -> Press {
        match key {
            KeyCode::Esc => self.question = None,
            KeyCode::Backspace => _ = self.typed.pop(),
            KeyCode::Char(c) if self.typed.chars().count() < MAX_TYPED_CHARS => self.typed.push(c),
            KeyCode::Enter => {
                self.question = None;
                let typed = std::mem::take(&mut self.typed);
                let requires = self.skills.report().settings.approval_requires.value;
                return match question {
                    Question::Approve if !is_yes(&typed) => {
                        "Not approved".clone_into(&mut self.status);
                        Press::Stay
                    }
                    Question::Approve if requires == ApprovalRequires::Passphrase => {
                        self.ask(Question::Passphrase);
                        Press::Stay
                    }
                    Question::Approve => Press::Approve(None),
                    Question::Passphrase => Press::Approve(Some(typed)),
                    Question::Reason => Press::Reject(typed.trim().to_owned()),
                };
            }
            _ => {}
        }
        Press::Stay
    }

    fn approve(&mut self, passphrase: Option<String>) -> Result<String, Failure> {
        let Some(waiting) = self.waiting.get(self.current) else {
            return Ok(String::new());
        };
        if let Some(merged) = self.skills.merge_if_moved(waiting)? {
            self.load(Some(&merged.proposal.proposal.file))?;
            let text =
                "The skill has changed since; this is the change merged with it; review it again";
            let files: Vec<_> = merged.conflicts.iter().map(|it| visible(it)).collect();
            return Ok(match files.len() {
                0 => text.to_owned(),
                _ => format!(
                    "{text}; you and the author both changed {}",
                    files.join(", ")
                ),
            });
        }
        let proposal = &waiting.proposal;
        let mut approval = Approval::at_terminal(self.skills.user_name());
        if let Some(passphrase) = passphrase {
            approval = approval.with_passphrase(passphrase);
        }
        let applied = self.skills.approve(proposal, &approval)?;
        let version = short(&applied.after.to_string());
        Ok(format!(
            "Approved: {} is now {version}",
            visible(&proposal.skill)
        ))
    }

    fn reject(&mut self, reason: &str) -> Result<String, Failure> {
        let Some(waiting) = self.waiting.get(self.current) else {
            return Ok(String::new());
        };
        let (digest, by) = (waiting.proposal.digest, self.skills.user_name());
        self.store.reject(digest, &by, reason, self.skills.now())?;
        Ok(format!("Rejected: {}", visible(waiting.proposal.name())))
    }

    /// Lets the reviewer edit the new content. The result is a proposal of their own, to be approved.
    fn edit(&mut self) -> Result<String, Failure> {
        let Some(waiting) = self.waiting.get(self.current) else {
            return Ok(String::new());
        };
        let (mut edits, _) = self.store.merged(&waiting.proposal)?;
        let is_text = |edit: &&mut FileEdit| {
            let new = edit.new.as_deref().unwrap_or_default();
            new.len() as u64 <= editor::MAX_BYTES && str::from_utf8(new).is_ok()
        };
        let written = edits.iter_mut().filter(|edit| edit.new.is_some());
        // `SKILL.md` comes first.
        let first = written.filter(is_text).min_by_key(|edit| {
            let path = edit.path.as_str();
            (path != SKILL_FILE, path.to_owned())
        });
        let Some(text) = first.and_then(|edit| edit.new.as_mut()) else {
            return Ok("It changes no text that an editor can open".to_owned());
        };
        let edited = editor::edit_text(&self.environment, text)?;
        if edited == *text {
            return Ok("Nothing was edited".to_owned());
        }
        *text = edited;
        let author = Author::named(self.skills.user_name());
        let edited = self
            .skills
            .replace_proposal(waiting, &edits, author, "Edited")?;
        self.load(Some(&edited.file))?;
        Ok("This is your edit; press `a` to approve it".to_owned())
    }

    fn draw(&mut self, frame: &mut Frame<'_>, is_plain: bool) {
        let area = frame.area();
        let rows = [
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(1),
            Constraint::Length(1),
        ];
        let [title, body, status, keys] = Layout::vertical(rows).areas(area);
        let columns = usize::from(area.width);
        let style = |style: Style| if is_plain { Style::new() } else { style };
        frame.render_widget(
            Line::styled(cut(&self.title(), columns), style(bold())),
            title,
        );
        let mut lines: Vec<Line<'_>> = Vec::new();
        draw_said(&self.about, columns, &style, &mut lines);
        let is_wide = area.width >= MIN_SIDE_BY_SIDE;
        for row in &self.rows {
            draw_row(row, columns, is_wide, &style, &mut lines);
        }
        draw_said(&self.claims, columns, &style, &mut lines);
        self.page = (usize::from(body.height).max(1), lines.len());
        let last = lines.len().saturating_sub(self.page.0);
        self.scroll = self.scroll.min(last);
        if body.height > 0 && columns >= MIN_COLUMNS {
            self.record_shown(area.width);
        }
        let shown: Vec<_> = lines.into_iter().skip(self.scroll).collect();
        frame.render_widget(Paragraph::new(shown), body);
        let text = match self.question {
            Some(question) => {
                let typed = match question {
                    Question::Passphrase => "*".repeat(self.typed.chars().count()),
                    _ => visible(&self.typed).into_owned(),
                };
                format!("{}{typed}", question.text())
            }
            None => self.status.clone(),
        };
        frame.render_widget(Line::styled(cut(&text, columns), style(bold())), status);
        let keys_text = match self.question {
            Some(_) => "Enter to answer, Esc to go back",
            None => KEYS,
        };
        let dim = Style::new().add_modifier(Modifier::DIM);
        frame.render_widget(Line::styled(cut(keys_text, columns), style(dim)), keys);
    }

    fn title(&self) -> String {
        let Some(waiting) = self.waiting.get(self.current) else {
            return "No pending proposals".to_owned();
        };
        let proposal = &waiting.proposal;
        let what = if proposal.base.is_some() {
            "change of"
        } else {
            "new skill"
        };
        format!(
            "{} of {}: {what} {}",
            self.current + 1,
            self.waiting.len(),
            visible(&proposal.skill)
        )
    }
}
