//! What the review shows of a proposal: what it does, what its author says, and its diff.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use skillfold::Skills;
use skillfold::core::diagnostic::visible;
use skillfold::store::{PendingProposal, Store};
use textwrap::core::display_width;

use crate::terminal::output::pluralize;
use crate::terminal::text_diff::{self, Row, Side};

/// The fewest columns in which a proposal can be read.
pub(super) const MIN_COLUMNS: usize = 20;
/// The digits of a line number.
const NUMBER_COLUMNS: usize = 4;
/// Before each line that the author or a reviewer wrote, so that none looks like a line of ours.
const QUOTE: &str = "  │ ";

/// A line of text, wrapped behind its indent.
pub(super) struct Said {
    style: Style,
    indent: &'static str,
    text: String,
}

impl Said {
    fn new(style: Style, indent: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            style,
            indent,
            text,
        }
    }
}

pub(super) fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Returns the lines about a proposal, and its diff. What cannot be worked out is said.
pub(super) fn about(
    skills: &Skills,
    store: &Store,
    waiting: &PendingProposal,
) -> (Vec<Said>, Vec<Row>) {
    let proposal = &waiting.proposal;
    let (plain, warn) = (Style::new(), Style::new().fg(Color::Yellow));
    let mut lines = vec![Said::new(
        plain,
        "",
        format!(
            "{} by {}, {}",
            visible(proposal.name()),
            visible(&proposal.author.name),
            visible(&proposal.time)
        ),
    )];
    if !waiting.is_recorded {
        let text = "This proposal was edited outside Skillfold";
        lines.push(Said::new(warn, "", text));
    }
    if waiting.repeated > 0 {
        let times = pluralize(waiting.repeated, "more time", "more times");
        lines.push(Said::new(plain, "", format!("proposed {times}")));
    }
    lines.push(Said::new(bold(), "", "What it does"));
    match skills.effects(proposal) {
        Ok(effects) => {
            let effects = effects.lines().into_iter();
            lines.extend(effects.map(|line| Said::new(plain, "  ", line)));
        }
        Err(error) => lines.push(Said::new(warn, "  ", error.with_cause())),
    }
    let rows = match store.preview(proposal) {
        Ok(preview) => text_diff::rows(&preview.edits),
        Err(error) => {
            lines.push(Said::new(warn, "  ", error.with_cause()));
            Vec::new()
        }
    };
    (lines, rows)
}

/// Returns what its author and its reviewers say of a proposal.
pub(super) fn claims(waiting: &PendingProposal) -> Vec<Said> {
    let (plain, proposal) = (Style::new(), &waiting.proposal);
    let mut lines = Vec::new();
    let texts = [
        ("Why", Some(proposal.justification.as_str())),
        ("Evidence", proposal.evidence.as_deref()),
    ];
    for (heading, text) in texts {
        let Some(text) = text else { continue };
        lines.push(Said::new(plain, "", ""));
        lines.push(Said::new(
            bold(),
            "",
            format!("{heading}, in the author's words"),
        ));
        lines.extend(
            text.lines()
                .map(|line| Said::new(plain, QUOTE, visible(line))),
        );
    }
    for (by, verdict, reason) in &waiting.recommendations {
        let text = format!("{}'s recommendation: {verdict}", visible(by));
        lines.push(Said::new(plain, "", text));
        lines.push(Said::new(plain, QUOTE, visible(reason)));
    }
    lines
}

/// Adds the lines of a text, wrapped.
pub(super) fn draw_said(
    said: &[Said],
    columns: usize,
    style: &impl Fn(Style) -> Style,
    lines: &mut Vec<Line<'static>>,
) {
    for said in said {
        let options = textwrap::Options::new(columns.max(MIN_COLUMNS))
            .initial_indent(said.indent)
            .subsequent_indent(said.indent);
        for part in textwrap::wrap(&said.text, options) {
            lines.push(Line::styled(part.into_owned(), style(said.style)));
        }
    }
}

/// Adds the lines of a row: two versions side by side, or one below the other.
pub(super) fn draw_row(
    row: &Row,
    columns: usize,
    is_wide: bool,
    style: &impl Fn(Style) -> Style,
    lines: &mut Vec<Line<'static>>,
) {
    let red = Style::new().fg(Color::Red);
    let green = Style::new().fg(Color::Green);
    let of = |side: &Side, changed: Style| {
        style(if side.is_changed {
            changed
        } else {
            Style::new()
        })
    };
    match row {
        Row::File(path) => {
            lines.push(Line::default());
            let parts = textwrap::wrap(path, columns.max(MIN_COLUMNS)).into_iter();
            lines.extend(parts.map(|part| Line::styled(part.into_owned(), style(bold()))));
        }
        Row::Gap => lines.push(Line::from("  ⋮")),
        Row::Lines(old, new) if is_wide => {
            let half = columns / 2;
            let part = |side: &Option<Side>, mark| {
                side.as_ref()
                    .map_or_else(Vec::new, |side| numbered(side, mark, half))
            };
            let (left, right) = (part(old, '-'), part(new, '+'));
            let shown = |side: &Option<Side>, changed| {
                side.as_ref().map_or(Style::new(), |side| of(side, changed))
            };
            for number in 0..left.len().max(right.len()) {
                let cell = |parts: &[String], shown: Style| {
                    let text = parts.get(number).map_or("", String::as_str);
                    let pad = half.saturating_sub(display_width(text));
                    Span::styled(format!("{text}{}", " ".repeat(pad)), shown)
                };
                lines.push(Line::from(vec![
                    cell(&left, shown(old, red)),
                    cell(&right, shown(new, green)),
                ]));
            }
        }
        Row::Lines(Some(old), Some(new)) if !old.is_changed && !new.is_changed => {
            lines.extend(numbered(new, ' ', columns).into_iter().map(Line::from));
        }
        Row::Lines(old, new) => {
            for (side, mark, changed) in [(old, '-', red), (new, '+', green)] {
                let Some(side) = side else { continue };
                let parts = numbered(side, mark, columns).into_iter();
                lines.extend(parts.map(|part| Line::styled(part, of(side, changed))));
            }
        }
    }
}

/// Returns a line with its number and its mark, in as many parts as it needs: nothing is cut off that is to be approved.
fn numbered(side: &Side, mark: char, columns: usize) -> Vec<String> {
    let mark = if side.is_changed { mark } else { ' ' };
    let number = side.number;
    let head = format!("{number:NUMBER_COLUMNS$} {mark} ");
    let room = columns.saturating_sub(head.len() + 1).max(1);
    let mut parts = vec![head.clone()];
    let mut used = 0;
    for c in side.text.chars() {
        let width = display_width(c.encode_utf8(&mut [0; 4]));
        if used + width > room {
            parts.push(" ".repeat(head.len()));
            used = 0;
        }
        used += width;
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}
