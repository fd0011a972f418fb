//! Fits a listing of skills into its budget.

use std::borrow::Cow;

use crate::disclose::budget::Budget;
use crate::disclose::clip::{clip, shared_prefix_bytes};
use crate::disclose::tokens::TokenCounter;

/// Minimum characters of a clipped description. With less, a model cannot tell what a skill is for, and fewer skills are
/// listed instead.
const MIN_CLIP_CHARACTERS: usize = 40;

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

    /// Writes one line.
    fn line(&self, id: &str, description: &str) -> String;

    /// Writes a line of skills without their descriptions.
    fn names(&self, ids: &[&str]) -> String;

    /// Writes how many skills are not listed, and how to find them.
    fn more(&self, count: usize) -> String;

    /// Writes how many skills there are, and how to find them, in place of the whole listing.
    fn count(&self, count: usize) -> String;

    /// Returns the text below the lines; may be empty.
    fn footer(&self) -> &str;
}

/// How much of a listing fits its budget, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ListingDetail {
    /// No text at all.
    Nothing,
    /// Only how many skills there are, and how to find them.
    Count,
    /// Some skills, with descriptions of up to 40 characters, and a line that names or counts the others.
    Part,
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

/// A listing that fits its budget. Every skill of the input is in `lines` or in `left_out` exactly once; the first ones
/// of the input are in `lines`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FittedListing<'a> {
    /// The lines that fit.
    pub lines: Vec<FittedLine<'a>>,
    /// The ids of the skills that do not fit.
    pub left_out: Vec<&'a str>,
    /// Whether the text names the skills that do not fit.
    pub names_left_out: bool,
    /// The number of other skills that are not to be listed.
    pub unlisted: usize,
    /// How much of the listing fits.
    pub detail: ListingDetail,
    /// What the parts of the text take of the budget in total; an upper bound for the text.
    pub used: u64,
}

/// Fits a listing into its budget. The first lines matter most; `unlisted` is the number of other skills, which are only
/// counted.
///
/// If the full descriptions do not fit, all are clipped to the same length, the largest that a binary search finds. A
/// clipped description ends at a word and with `…`; of descriptions with a common beginning it keeps the part that
/// tells them apart. If not even 40 characters fit, lines are left out from the end: one line names them, or if there are
/// too many for that, says how many. If no line fits, the text only says how many skills there are; it is empty only if that does not fit either.
///
/// The result depends on the arguments alone, and a larger budget never shows or names fewer skills. Measuring stops as soon as the
/// budget is exceeded, so the time depends more on the budget than on the number of lines.
pub(crate) fn fit<'a>(
    lines: &[ListingLine<'a>],
    unlisted: usize,
    layout: &dyn Layout,
    budget: &Budget,
    counter: &dyn TokenCounter,
) -> FittedListing<'a> {
    let meter = ListingMeter {
        layout,
        budget,
        counter,
    };
    let mut fitted = meter.fit(lines, unlisted);
    fitted.unlisted = unlisted;
    fitted
}

impl FittedListing<'_> {
    /// Returns the text of the listing, in the layout for which it was fitted.
    pub(crate) fn text(&self, layout: &dyn Layout) -> String {
        let mut text = String::new();
        let missing = self.left_out.len() + self.unlisted;
        match self.detail {
            ListingDetail::Nothing => return text,
            ListingDetail::Count => return layout.count(missing),
            _ => {}
        }
        if self.lines.is_empty() {
            return text;
        }
        text.push_str(layout.header());
        for line in &self.lines {
            text.push_str(&layout.line(line.id, &line.description));
        }
        if self.names_left_out {
            text.push_str(&layout.names(&self.left_out));
        }
        let missing = if self.names_left_out {
            self.unlisted
        } else {
            missing
        };
        if missing > 0 {
            text.push_str(&layout.more(missing));
        }
        text.push_str(layout.footer());
        text
    }

    /// Returns the ids of the skills whose description was clipped.
    pub(crate) fn shortened(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter();
        lines
            .filter(|line| line.fit != DescriptionFit::Whole)
            .map(|line| line.id)
    }
}

impl<'a> FittedLine<'a> {
    fn new(line: &ListingLine<'a>, description: Cow<'a, str>) -> Self {
        Self {
            id: line.id,
            fit: if description == line.description {
                DescriptionFit::Whole
            } else {
                DescriptionFit::Clipped
            },
            description,
        }
    }
}

/// Returns a listing of the first `shown` lines, with the given descriptions.
fn part<'a>(
    lines: &[ListingLine<'a>],
    shown: usize,
    detail: ListingDetail,
    used: u64,
    description: impl Fn(usize) -> Cow<'a, str>,
) -> FittedListing<'a> {
    let (shown, left_out) = lines.split_at(shown);
    let fitted = shown
        .iter()
        .enumerate()
        .map(|(at, line)| FittedLine::new(line, description(at)));
    FittedListing {
        lines: fitted.collect(),
        left_out: left_out.iter().map(|line| line.id).collect(),
        names_left_out: false,
        unlisted: 0,
        detail,
        used,
    }
}

/// Measures the parts of a listing against a budget.
struct ListingMeter<'s> {
    layout: &'s dyn Layout,
    budget: &'s Budget,
    counter: &'s dyn TokenCounter,
}

impl ListingMeter<'_> {
    fn fit<'a>(&self, lines: &[ListingLine<'a>], unlisted: usize) -> FittedListing<'a> {
        let all = lines.len();
        let whole = |at: usize| Cow::Borrowed(lines[at].description);
        if lines.is_empty() {
            return if unlisted == 0 {
                part(lines, 0, ListingDetail::Whole, 0, whole)
            } else {
                self.fit_count(lines, unlisted)
            };
        }
        let more = if unlisted > 0 {
            self.measure_more(unlisted)
        } else {
            0
        };
        if let Some(used) = self.measure_all(lines, more, whole) {
            return part(lines, all, ListingDetail::Whole, used, whole);
        }
        // Lines whose names alone do not fit need not be looked at any further.
        let candidates = &lines[..self.count_names(lines)];
        let descriptions: Vec<&str> = candidates.iter().map(|line| line.description).collect();
        let shared = shared_prefix_bytes(&descriptions);
        let clipped = |max_characters: usize| {
            let (descriptions, shared) = (&descriptions, &shared);
            move |at: usize| clip(descriptions[at], shared[at], max_characters)
        };
        if candidates.len() == all
            && let Some((length, used)) = self.longest_clip(lines, more, &descriptions, clipped)
        {
            let detail = ListingDetail::Clipped(length);
            return part(lines, all, detail, used, clipped(length));
        }
        let clipped = clipped(MIN_CLIP_CHARACTERS);
        let mut used = vec![self.measure_frame()];
        for (at, line) in candidates.iter().enumerate() {
            used.push(used[at].saturating_add(self.measure_line(line.id, &clipped(at))));
        }
        // Only names that fit as lines fit into one: looking at more would take too long.
        let ids: Vec<&str> = candidates.iter().map(|line| line.id).collect();
        let counts = if ids.len() == all { 1..all } else { 0..0 };
        for shown in counts.rev() {
            let names = self.measure(&self.layout.names(&ids[shown..]));
            let used = used[shown].saturating_add(names).saturating_add(more);
            if used <= self.budget.limit {
                let mut listing = part(lines, shown, ListingDetail::Part, used, clipped);
                listing.names_left_out = true;
                return listing;
            }
        }
        for shown in (1..used.len().min(all)).rev() {
            let used = used[shown].saturating_add(self.measure_more(all - shown + unlisted));
            if used <= self.budget.limit {
                return part(lines, shown, ListingDetail::Part, used, clipped);
            }
        }
        self.fit_count(lines, unlisted)
    }

    /// Returns a listing that only says how many skills there are, or nothing.
    fn fit_count<'a>(&self, lines: &[ListingLine<'a>], unlisted: usize) -> FittedListing<'a> {
        let used = self.measure(&self.layout.count(lines.len() + unlisted));
        let none = |_| Cow::Borrowed("");
        if used <= self.budget.limit {
            part(lines, 0, ListingDetail::Count, used, none)
        } else {
            part(lines, 0, ListingDetail::Nothing, 0, none)
        }
    }

    /// Returns how many of the first lines would fit with their names alone.
    fn count_names(&self, lines: &[ListingLine<'_>]) -> usize {
        let mut used = self.measure_frame();
        let fits = |line: &&ListingLine<'_>| {
            used = used.saturating_add(self.measure_line(line.id, ""));
            used <= self.budget.limit
        };
        lines.iter().take_while(fits).count()
    }

    /// Returns what all lines take with the heading, the footing and `more`; `None` as soon as the budget is exceeded.
    fn measure_all<'t>(
        &self,
        lines: &[ListingLine<'_>],
        more: u64,
        description: impl Fn(usize) -> Cow<'t, str>,
    ) -> Option<u64> {
        let mut used = self.measure_frame().saturating_add(more);
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
        &self,
        lines: &[ListingLine<'_>],
        more: u64,
        descriptions: &[&str],
        clipped: impl Fn(usize) -> D,
    ) -> Option<(usize, u64)> {
        let longest = descriptions.iter().map(|text| text.chars().count()).max();
        let mut too_large = longest?.max(MIN_CLIP_CHARACTERS + 1);
        let mut best = (
            MIN_CLIP_CHARACTERS,
            self.measure_all(lines, more, clipped(MIN_CLIP_CHARACTERS))?,
        );
        while too_large - best.0 > 1 {
            let length = usize::midpoint(best.0, too_large);
            match self.measure_all(lines, more, clipped(length)) {
                Some(used) => best = (length, used),
                None => too_large = length,
            }
        }
        Some(best)
    }

    fn measure_frame(&self) -> u64 {
        let heading = self.measure(self.layout.header());
        heading.saturating_add(self.measure(self.layout.footer()))
    }

    fn measure_line(&self, id: &str, description: &str) -> u64 {
        self.measure(&self.layout.line(id, description))
    }

    fn measure_more(&self, left_out: usize) -> u64 {
        self.measure(&self.layout.more(left_out))
    }

    fn measure(&self, text: &str) -> u64 {
        self.budget.measure(text, self.counter)
    }
}

#[cfg(test)]
mod tests;
