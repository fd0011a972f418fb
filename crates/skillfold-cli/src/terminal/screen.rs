//! The whole screen of the terminal, for a while: what is drawn on it, and the keys that are pressed. The terminal is given
//! back when the screen is dropped, before a panic is reported, and before a signal ends the process.

use std::sync::Once;
use std::time::Duration;
use std::{io, panic};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};

use crate::terminal::signals::HeldSignals;

/// Maximum bytes of a line that is not shown.
const MAX_HIDDEN_BYTES: usize = 1_000;

/// How long a signal waits at most.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

/// The screen of the terminal. It is drawn on stderr, because stdout may be a file.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<io::Stderr>>,
    signals: HeldSignals,
}

impl Screen {
    pub(crate) fn open() -> io::Result<Self> {
        give_back_before_panics();
        let screen = Self {
            terminal: Terminal::new(CrosstermBackend::new(io::stderr()))?,
            signals: HeldSignals::hold()?,
        };
        enable_raw_mode()?;
        execute!(io::stderr(), EnterAlternateScreen)?;
        Ok(screen)
    }

    /// Reads a line of the terminal without showing it; `None` if the user leaves.
    pub(crate) fn read_hidden_line() -> io::Result<Option<String>> {
        let _restore = RawMode::enter()?;
        let mut line = String::new();
        loop {
            let Event::Key(key) = event::read()? else {
                continue;
            };
            let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
            match key.code {
                _ if key.is_release() => {}
                KeyCode::Enter => return Ok(Some(line)),
                KeyCode::Esc => return Ok(None),
                KeyCode::Char('c' | 'd') if is_control => return Ok(None),
                KeyCode::Backspace => _ = line.pop(),
                KeyCode::Char(c) if !is_control && line.len() < MAX_HIDDEN_BYTES => line.push(c),
                _ => {}
            }
        }
    }

    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw)?;
        Ok(())
    }

    /// Waits for a key; returns none if something else has happened, such as a new size.
    pub(crate) fn key(&self) -> io::Result<Option<KeyEvent>> {
        self.signals.obey(give_back);
        while !event::poll(SIGNAL_INTERVAL)? {
            self.signals.obey(give_back);
        }
        match event::read()? {
            Event::Key(key) if !key.is_release() => Ok(Some(key)),
            _ => Ok(None),
        }
    }
}

/// The terminal without echo, until this is dropped.
struct RawMode;

impl RawMode {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // If that fails, there is nobody to tell.
        let _ = disable_raw_mode();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        self.signals.obey(|| {});
    }
}

/// Gives the terminal back. If that fails, there is nobody to tell.
fn give_back() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
}

/// Gives the terminal back before a panic is reported: the report would be lost with the screen.
fn give_back_before_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            report(info);
        }));
    });
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::IsTerminal as _;
    use std::process::Command;

    use super::Screen;

    #[test]
    #[ignore = "another test runs it on a terminal"]
    fn child_that_panics_on_a_screen() {
        // Without a terminal it was not started by that test.
        if !std::io::stdin().is_terminal() {
            return;
        }
        let _screen = Screen::open().unwrap();
        panic!("seen");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it runs itself on a terminal")]
    fn panic_is_reported_after_the_terminal_is_restored() {
        let test = std::env::current_exe().unwrap();
        let this =
            "terminal::screen::tests::child_that_panics_on_a_screen --exact --ignored --nocapture";
        let typed = format!("stty -a; {} {this}; stty -a", test.display());
        let mut terminal = Command::new("script");
        terminal
            .args(["-qc", &typed, "/dev/null"])
            .env("SHELL", "/bin/sh");
        let shown = terminal.output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout);
        let settings: Vec<_> = shown.matches(" icanon").collect();
        assert_eq!(settings.len(), 2, "{shown}");
        let (entered, left) = (shown.find("\u{1b}[?1049h"), shown.find("\u{1b}[?1049l"));
        assert!(entered.is_some() && entered < left, "{shown:?}");
        assert!(left < shown.find("seen"), "{shown:?}");
    }
}
