//! Lets the user choose a skill from a list on the terminal, where a command needs one and none was named.

use std::borrow::Cow;
use std::io;

use anstream::{AutoStream, ColorChoice};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{List, ListState};
use skillfold::core::diagnostic::visible;
use skillfold::core::{Catalog, Entry};

use crate::failure::Failure;
use crate::terminal::output::{Output, pluralize};
use crate::terminal::screen::Screen;
use crate::terminal::skill_table::skill_table;
use crate::terminal::table::{Table, cut};

/// Maximum characters that are typed.
const MAX_TYPED_CHARS: usize = 100;

/// What stands before the typed text.
const QUESTION: &str = "Which skill? ";

/// What stands before the marked line; the others have as many spaces there.
const MARK: &str = "> ";

/// The fewest rows of a screen that says which keys there are.
const MIN_ROWS_WITH_KEYS: u16 = 4;

/// Returns the id that was named, or else the one that the user chooses.
pub(crate) fn skill_id<'a>(
    named: Option<&'a str>,
    catalog: &Catalog,
    output: &mut Output,
) -> Result<Cow<'a, str>, Failure> {
    if let Some(id) = named {
        return Ok(Cow::Borrowed(id));
    }
    let entries: Vec<_> = catalog.entries().collect();
    if entries.is_empty() {
        let message = "There are no skills to choose from; `skillfold new NAME` creates one";
        return Err(Failure::Usage(message.to_owned()));
    }
    let text = |entry: &Entry<'_>| {
        let (id, description) = (entry.id(), entry.manifest().description());
        (id.to_lowercase(), description.to_lowercase())
    };
    let texts = entries.iter().map(text).collect();
    let mut choice = Choice::new(texts, skill_table(&entries, |_| None));
    let is_plain = AutoStream::choice(&io::stderr()) == ColorChoice::Never;
    output.finish()?;
    let mut screen = Screen::open()?;
    loop {
        screen.draw(|frame| choice.draw(frame, is_plain))?;
        match screen.key()?.map(|key| choice.press(key)) {
            Some(KeyEffect::Choose(number)) => {
                return Ok(Cow::Owned(entries[number].id().to_owned()));
            }
            Some(KeyEffect::Leave) => return Err(Failure::Interrupted),
            Some(KeyEffect::Stay) | None => {}
        }
    }
}

/// What a key leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyEffect {
    Stay,
    Choose(usize),
    Leave,
}

/// A list of skills, and how far it is narrowed.
struct Choice {
    /// The id and the description of each skill, in lower case.
    texts: Vec<(String, String)>,
    table: Table,
    /// The lines of the table, and the columns that they fit.
    lines: (u16, Vec<String>),
    typed: String,
    /// The skills that have all typed words; those that have them in the id come first.
    matches: Vec<usize>,
    /// The marked line, and the first one on the screen.
    state: ListState,
    /// How many lines are on the screen.
    rows: u16,
}

impl Choice {
    fn new(texts: Vec<(String, String)>, table: Table) -> Self {
        let mut choice = Self {
            texts,
            table,
            lines: (0, Vec::new()),
            typed: String::new(),
            matches: Vec::new(),
            state: ListState::default(),
            rows: 1,
        };
        choice.narrow();
        choice
    }

    /// Finds the skills that have what is typed, and marks the first one.
    fn narrow(&mut self) {
        let typed = self.typed.to_lowercase();
        let words: Vec<_> = typed.split_whitespace().collect();
        let is_in_id = |number: &usize| {
            let (id, _) = &self.texts[*number];
            words.iter().all(|word| id.contains(word))
        };
        let is_match = |number: &usize| {
            let (id, description) = &self.texts[*number];
            let mut words = words.iter();
            words.all(|word| id.contains(word) || description.contains(word))
        };
        let mut matches: Vec<_> = (0..self.texts.len()).filter(is_match).collect();
        matches.sort_by_key(|number| !is_in_id(number));
        self.matches = matches;
        self.state = ListState::default().with_selected(Some(0));
    }

    fn press(&mut self, key: KeyEvent) -> KeyEffect {
        let marked = self.state.selected().unwrap_or_default();
        let page = usize::from(self.rows);
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return KeyEffect::Leave,
            KeyCode::Char('c' | 'd') if is_control => return KeyEffect::Leave,
            KeyCode::Enter => {
                let chosen = self.matches.get(marked);
                return chosen.map_or(KeyEffect::Stay, |number| KeyEffect::Choose(*number));
            }
            KeyCode::Up => self.mark(marked.saturating_sub(1)),
            KeyCode::Down => self.mark(marked + 1),
            KeyCode::PageUp => self.mark(marked.saturating_sub(page)),
            KeyCode::PageDown => self.mark(marked + page),
            KeyCode::Home => self.mark(0),
            KeyCode::End => self.mark(usize::MAX),
            KeyCode::Backspace => {
                self.typed.pop();
                self.narrow();
            }
            KeyCode::Char('u') if is_control => {
                self.typed.clear();
                self.narrow();
            }
            KeyCode::Char(c) if !is_control && self.typed.chars().count() < MAX_TYPED_CHARS => {
                self.typed.push(c);
                self.narrow();
            }
            _ => {}
        }
        KeyEffect::Stay
    }

    fn mark(&mut self, number: usize) {
        let last = self.matches.len().saturating_sub(1);
        self.state.select(Some(number.min(last)));
    }

    fn draw(&mut self, frame: &mut Frame<'_>, is_plain: bool) {
        let area = frame.area();
        let has_keys = area.height >= MIN_ROWS_WITH_KEYS;
        let rows = [
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(has_keys.into()),
        ];
        let [question, list, keys] = Layout::vertical(rows).areas(area);
        let asked = Line::from(format!("{QUESTION}{}", visible(&self.typed)));
        let end = u16::try_from(asked.width()).unwrap_or(u16::MAX);
        frame.render_widget(asked, question);
        frame.set_cursor_position((end.min(area.width.saturating_sub(1)), question.y));
        let style = |modifier| {
            if is_plain {
                Style::new()
            } else {
                Style::new().add_modifier(modifier)
            }
        };
        self.rows = list.height.max(1);
        self.fit(area.width);
        let lines = self.matches.iter().map(|number| &*self.lines.1[*number]);
        let lines = List::new(lines)
            .highlight_symbol(MARK)
            .highlight_style(style(Modifier::REVERSED));
        frame.render_stateful_widget(lines, list, &mut self.state);
        let all = pluralize(self.texts.len(), "skill", "skills");
        let text = format!(
            "{} of {all}; type to narrow, ↑↓ to move, Enter to choose, Esc to leave",
            self.matches.len()
        );
        let text = cut(&text, area.width.into());
        frame.render_widget(Line::styled(text, style(Modifier::DIM)), keys);
    }

    /// Makes the lines fit the screen.
    fn fit(&mut self, columns: u16) {
        if self.lines.0 != columns {
            let room = usize::from(columns).saturating_sub(MARK.len());
            let lines = self.table.lines(Some(room)).into_iter();
            let plain = lines.map(|line| anstream::adapter::strip_str(&line).to_string());
            self.lines = (columns, plain.collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use anstyle::Style;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::{Choice, KeyEffect};
    use crate::terminal::table::Table;

    const SKILLS: [(&str, &str); 5] = [
        ("deploy", "Deploys a service. Use when PDF reports are due."),
        ("pdf", "Fills in forms"),
        ("pdf-merge", "Joins files"),
        ("部署", "把结果写成一份简短的报告"),
        (
            "write",
            "Writes a text that is much too long for a small screen",
        ),
    ];

    /// Presses keys, and returns the screen and what the last one led to. `<` and `>` are the arrows up and down, `!` is
    /// Enter, `~` Escape, `-` Backspace, `^` Ctrl-U.
    fn check(keys: &str, columns: u16, rows: u16) -> String {
        let mut table = Table::default();
        for skill in SKILLS {
            table.row(<[&str; 2]>::from(skill).map(|cell| (Style::new(), cell)));
        }
        let texts = SKILLS.map(|(id, description)| (id.to_owned(), description.to_lowercase()));
        let mut choice = Choice::new(texts.into(), table);
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut effect = KeyEffect::Stay;
        for key in keys.chars() {
            terminal.draw(|frame| choice.draw(frame, true)).unwrap();
            effect = choice.press(match key {
                '<' => KeyCode::Up.into(),
                '>' => KeyCode::Down.into(),
                '!' => KeyCode::Enter.into(),
                '~' => KeyCode::Esc.into(),
                '-' => KeyCode::Backspace.into(),
                '^' => KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL),
                key => KeyCode::Char(key).into(),
            });
        }
        terminal.draw(|frame| choice.draw(frame, true)).unwrap();
        let drawn = terminal.backend().to_string();
        // Wide characters are noted behind the line.
        let lines = drawn.lines().filter_map(|line| line.split('"').nth(1));
        let lines: Vec<_> = lines.map(str::trim_end).collect();
        format!("{}\n{effect:?}", lines.join("\n"))
    }

    #[test]
    fn typing_filters_the_list_and_ranks_id_matches_first() {
        insta::assert_snapshot!(check("", 80, 8), @"
        Which skill?
        > deploy     Deploys a service. Use when PDF reports are due.
          pdf        Fills in forms
          pdf-merge  Joins files
          部署       把结果写成一份简短的报告
          write      Writes a text that is much too long for a small screen

        5 of 5 skills; type to narrow, ↑↓ to move, Enter to choose, Esc to leave
        Stay
        ");
        insta::assert_snapshot!(check("PDF", 80, 8), @"
        Which skill? PDF
        > pdf        Fills in forms
          pdf-merge  Joins files
          deploy     Deploys a service. Use when PDF reports are due.



        3 of 5 skills; type to narrow, ↑↓ to move, Enter to choose, Esc to leave
        Stay
        ");
        insta::assert_snapshot!(check("pdf due", 80, 8), @"
        Which skill? pdf due
        > deploy     Deploys a service. Use when PDF reports are due.





        1 of 5 skills; type to narrow, ↑↓ to move, Enter to choose, Esc to leave
        Stay
        ");
        insta::assert_snapshot!(check("pdf x", 80, 8), @"
        Which skill? pdf x






        0 of 5 skills; type to narrow, ↑↓ to move, Enter to choose, Esc to leave
        Stay
        ");
        assert_eq!(check("pdf x--", 80, 8), check("pdf", 80, 8));
        assert_eq!(check("pdf x^", 80, 8), check("", 80, 8));
    }

    #[test]
    fn enter_chooses_the_marked_entry() {
        let chosen = |keys| check(keys, 80, 8).lines().last().unwrap().to_owned();
        assert_eq!(chosen("!"), "Choose(0)");
        assert_eq!(chosen(">>!"), "Choose(2)");
        assert_eq!(chosen(">>>>>>>><!"), "Choose(3)");
        assert_eq!(chosen("<<!"), "Choose(0)");
        assert_eq!(chosen("pdf>!"), "Choose(2)");
        assert_eq!(chosen("nothing has this!"), "Stay");
        assert_eq!(chosen("pdf~"), "Leave");
    }

    #[test]
    fn list_fits_any_screen() {
        insta::assert_snapshot!(check(">>>>", 40, 4), @"
        Which skill?
          部署       把结果写成一份简短的报告
        > write      Writes a text that is much…
        5 of 5 skills; type to narrow, ↑↓ to mo…
        Stay
        ");
        insta::assert_snapshot!(check(">", 24, 2), @"
        Which skill?
        > pdf        Fills in f…
        Stay
        ");
        for (columns, rows) in [(1, 1), (2, 9), (9, 1), (3, 3)] {
            check("pdf\u{202e}\u{7}>>!", columns, rows);
        }
        assert!(check("\u{202e}", 80, 8).contains(r"Which skill? \u{202e}"));
    }
}
