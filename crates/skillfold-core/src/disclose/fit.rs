//! Fits a listing of skills into its budget.

use std::borrow::Cow;

use crate::disclose::budget::Budget;
use crate::disclose::clip::{clip, shared_prefix_bytes};
use crate::disclose::tokens::TokenCounter;

/// Minimum characters of a clipped description; a shorter one says so little that names alone are better.
const MIN_CLIP_CHARACTERS: usize = 16;

/// One line of a listing before it is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListingLine<'a> {
    /// The skill's id.
    pub id: &'a str,
    /// The skill's description.
    pub description: &'a str,
}

/// The layout of a listing.
///
/// The text of a listing is its heading, its lines, the line that counts the skills left out if there are any, and its
/// footing. Each part must end with a line end, so that a listing never has more tokens than its parts.
pub(crate) trait Layout {
    /// Returns the text above the lines.
    fn header(&self) -> &str;

    /// Writes one line; `description` is empty if only the name fits.
    fn line(&self, id: &str, description: &str, into: &mut String);

    /// Writes how many skills are left out, and how to find them.
    fn more(&self, left_out: usize, into: &mut String);

    /// Returns the text below the lines; may be empty.
    fn footer(&self) -> &str;
}

/// How much of a listing fits its budget, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ListingDetail {
    /// No text at all.
    Nothing,
    /// Only the line that says how many skills there are.
    Count,
    /// The names of the first skills, and the line that says how many are left out.
    Part,
    /// The names of all skills.
    Names,
    /// All skills, with descriptions of at most this many characters.
    Clipped(usize),
    /// All skills with their full descriptions.
    Whole,
}

/// How much of a description fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DescriptionFit {
    /// All of it.
    Whole,
    /// A part of it, with `…` for what is missing.
    Clipped,
    /// None of it.
    Dropped,
}

/// One line of a fitted listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FittedLine<'a> {
    /// The skill's id.
    pub id: &'a str,
    /// The part of the description that fits.
    pub description: Cow<'a, str>,
    /// How much of the description that is.
    pub fit: DescriptionFit,
}

/// A listing that fits its budget. Every skill of the input is in `lines` or in `left_out` exactly once, in input
/// order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FittedListing<'a> {
    /// The lines that fit.
    pub lines: Vec<FittedLine<'a>>,
    /// The ids of the skills that do not fit.
    pub left_out: Vec<&'a str>,
    /// How much of the listing fits.
    pub detail: ListingDetail,
    /// What the parts of the text take of the budget in total; an upper bound for the text.
    pub used: u64,
}

/// Fits a listing into its budget.
///
/// If the full descriptions do not fit, all are clipped to the same length, the largest that a binary search finds. A
/// clipped description ends at a word and with `…`; of descriptions with a common beginning it keeps the part that
/// tells them apart. If not even 16 characters fit, only names are listed. If not all names fit, names are left out
/// from the end, and a line says how many. That line is alone if no name fits, and is missing only if it does not fit
/// itself.
///
/// The result depends on the arguments alone, and a larger budget never shows less. Measuring stops as soon as the
/// budget is exceeded, so the time depends more on the budget than on the number of lines.
pub(crate) fn fit<'a>(
    lines: &[ListingLine<'a>],
    layout: &dyn Layout,
    budget: &Budget,
    counter: &dyn TokenCounter,
) -> FittedListing<'a> {
    let mut meter = ListingMeter {
        layout,
        budget,
        counter,
        buffer: String::new(),
    };
    if lines.is_empty() {
        return full_listing(lines, ListingDetail::Whole, 0, |_| Cow::Borrowed(""));
    }
    let whole = |at: usize| Cow::Borrowed(lines[at].description);
    if let Some(used) = meter.measure_all(lines, whole) {
        return full_listing(lines, ListingDetail::Whole, used, whole);
    }
    let name = |_| Cow::Borrowed("");
    let Some(used) = meter.measure_all(lines, name) else {
        return meter.fit_names(lines);
    };
    let descriptions: Vec<&str> = lines.iter().map(|line| line.description).collect();
    let shared = shared_prefix_bytes(&descriptions);
    let clipped = |max_characters: usize| {
        let (descriptions, shared) = (&descriptions, &shared);
        move |at: usize| clip(descriptions[at], shared[at], max_characters)
    };
    match meter.longest_clip(lines, &descriptions, clipped) {
        Some((length, used)) => {
            full_listing(lines, ListingDetail::Clipped(length), used, clipped(length))
        }
        None => full_listing(lines, ListingDetail::Names, used, name),
    }
}

impl FittedListing<'_> {
    /// Returns the text of the listing, in the layout for which it was fitted.
    pub(crate) fn text(&self, layout: &dyn Layout) -> String {
        let mut text = String::new();
        let has_lines = !self.lines.is_empty();
        if has_lines {
            text.push_str(layout.header());
        }
        for line in &self.lines {
            layout.line(line.id, &line.description, &mut text);
        }
        if !self.left_out.is_empty() && self.detail != ListingDetail::Nothing {
            layout.more(self.left_out.len(), &mut text);
        }
        if has_lines {
            text.push_str(layout.footer());
        }
        text
    }

    /// Returns the ids of the skills whose description was clipped or dropped.
    pub(crate) fn shortened(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter();
        lines
            .filter(|line| line.fit != DescriptionFit::Whole)
            .map(|line| line.id)
    }
}

/// Returns a listing of all lines, with the given descriptions.
fn full_listing<'a>(
    lines: &[ListingLine<'a>],
    detail: ListingDetail,
    used: u64,
    description: impl Fn(usize) -> Cow<'a, str>,
) -> FittedListing<'a> {
    let fitted = lines
        .iter()
        .enumerate()
        .map(|(at, line)| FittedLine::new(line, description(at)));
    FittedListing {
        lines: fitted.collect(),
        left_out: Vec::new(),
        detail,
        used,
    }
}

impl<'a> FittedLine<'a> {
    fn new(line: &ListingLine<'a>, description: Cow<'a, str>) -> Self {
        let shape = if description == line.description {
            DescriptionFit::Whole
        } else if description.is_empty() {
            DescriptionFit::Dropped
        } else {
            DescriptionFit::Clipped
        };
        Self {
            id: line.id,
            description,
            fit: shape,
        }
    }
}

/// Measures the parts of a listing against a budget.
struct ListingMeter<'s> {
    layout: &'s dyn Layout,
    budget: &'s Budget,
    counter: &'s dyn TokenCounter,
    buffer: String,
}

impl ListingMeter<'_> {
    /// Returns what all lines take with the heading and the footing; `None` as soon as the budget is exceeded.
    fn measure_all<'t>(
        &mut self,
        lines: &[ListingLine<'_>],
        description: impl Fn(usize) -> Cow<'t, str>,
    ) -> Option<u64> {
        let mut used = self.measure_frame();
        for (at, line) in lines.iter().enumerate() {
            if used > self.budget.limit {
                return None;
            }
            used = used.saturating_add(self.measure_line(line.id, &description(at)));
        }
        (used <= self.budget.limit).then_some(used)
    }

    /// Returns the largest clip length at which all lines fit, found by binary search, and what they take then.
    ///
    /// The search interval depends on the descriptions alone, so a larger budget takes the same steps until it finds
    /// more.
    fn longest_clip<'t, D: Fn(usize) -> Cow<'t, str>>(
        &mut self,
        lines: &[ListingLine<'_>],
        descriptions: &[&str],
        clipped: impl Fn(usize) -> D,
    ) -> Option<(usize, u64)> {
        let longest = descriptions.iter().map(|text| text.chars().count()).max();
        let mut too_large = longest?.max(MIN_CLIP_CHARACTERS + 1);
        let mut best = (
            MIN_CLIP_CHARACTERS,
            self.measure_all(lines, clipped(MIN_CLIP_CHARACTERS))?,
        );
        while too_large - best.0 > 1 {
            let length = usize::midpoint(best.0, too_large);
            match self.measure_all(lines, clipped(length)) {
                Some(used) => best = (length, used),
                None => too_large = length,
            }
        }
        Some(best)
    }

    /// Returns as many names as fit together with the line that counts the others, or that line alone, or no text.
    fn fit_names<'a>(&mut self, lines: &[ListingLine<'a>]) -> FittedListing<'a> {
        let mut sums = vec![self.measure_frame()];
        for line in lines {
            let before = sums[sums.len() - 1];
            if before > self.budget.limit {
                break;
            }
            sums.push(before.saturating_add(self.measure_line(line.id, "")));
        }
        for named in (1..sums.len().min(lines.len())).rev() {
            let used = sums[named].saturating_add(self.measure_more(lines.len() - named));
            if used <= self.budget.limit {
                return names_listing(lines, named, ListingDetail::Part, used);
            }
        }
        match self.measure_more(lines.len()) {
            used if used <= self.budget.limit => {
                names_listing(lines, 0, ListingDetail::Count, used)
            }
            _ => names_listing(lines, 0, ListingDetail::Nothing, 0),
        }
    }

    fn measure_frame(&self) -> u64 {
        let heading = self.measure(self.layout.header());
        heading.saturating_add(self.measure(self.layout.footer()))
    }

    fn measure_line(&mut self, id: &str, description: &str) -> u64 {
        self.buffer.clear();
        self.layout.line(id, description, &mut self.buffer);
        self.measure(&self.buffer)
    }

    fn measure_more(&mut self, left_out: usize) -> u64 {
        self.buffer.clear();
        self.layout.more(left_out, &mut self.buffer);
        self.measure(&self.buffer)
    }

    fn measure(&self, text: &str) -> u64 {
        self.budget.measure(text, self.counter)
    }
}

/// Returns a listing of the first `named` names; the others are left out.
fn names_listing<'a>(
    lines: &[ListingLine<'a>],
    named: usize,
    detail: ListingDetail,
    used: u64,
) -> FittedListing<'a> {
    let (shown, hidden) = lines.split_at(named);
    FittedListing {
        lines: shown
            .iter()
            .map(|line| FittedLine::new(line, Cow::Borrowed("")))
            .collect(),
        left_out: hidden.iter().map(|line| line.id).collect(),
        detail,
        used,
    }
}

#[cfg(test)]
mod tests;
