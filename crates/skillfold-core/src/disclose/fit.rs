//! A listing of skills, cut so that it stays within its budget.

use std::borrow::Cow;

use crate::disclose::budget::Budget;
use crate::disclose::clip::{clip, shared_beginnings};
use crate::disclose::tokens::TokenCounter;

/// Characters below which a cut description says nothing; names alone are better then.
const LEAST_CLIP: usize = 16;

/// One line of a listing before it is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a line is made of these two and nothing else"
)]
pub struct ListingLine<'a> {
    /// The id under which the skill is loaded.
    pub id: &'a str,
    /// What the skill is for.
    pub description: &'a str,
}

/// How a listing is written.
///
/// The text of a listing is its heading, its lines, the line about what is left out if anything is, and its footing. Each
/// must end its line, so that a listing has no more tokens than its parts.
pub trait Layout {
    /// Returns what stands above the lines.
    fn heading(&self) -> &str;

    /// Writes one line. A line without a description has an empty one.
    fn line(&self, id: &str, description: &str, into: &mut String);

    /// Writes how many skills are left out, and how they are found.
    fn more(&self, left_out: usize, into: &mut String);

    /// Returns what stands below the lines; it may be empty.
    fn footing(&self) -> &str;
}

/// How much of a listing there is room for, from least to most.
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
    /// All skills, with descriptions of at most so many characters.
    Clipped(usize),
    /// All skills with all of their descriptions.
    Whole,
}

/// What became of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DescriptionFit {
    /// It is there as it was given.
    Whole,
    /// A part of it is there, with `…` for what is missing.
    Clipped,
    /// It is not there.
    Dropped,
}

/// One line of a listing that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FittedLine<'a> {
    /// The id under which the skill is loaded.
    pub id: &'a str,
    /// What there is room for of its description.
    pub description: Cow<'a, str>,
    /// What became of the description.
    pub shape: DescriptionFit,
}

/// A listing that fits: every skill that was given is in `lines` or in `left_out`, once and in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FittedListing<'a> {
    /// The lines that there is room for.
    pub lines: Vec<FittedLine<'a>>,
    /// The ids that there is no room for.
    pub left_out: Vec<&'a str>,
    /// How much there is room for.
    pub detail: ListingDetail,
    /// What the parts of the text take of the budget together; the text takes no more.
    pub used: u64,
}

/// Cuts a listing so that it stays within its budget.
///
/// All is whole if that fits. If not, all descriptions are cut to the same length, the largest that is found by halving: a
/// cut ends with a word and with `…`, and of descriptions that begin alike it keeps what tells them apart. If no length of
/// 16 characters or more fits, names stand alone; if not even these fit, names are left out from the end, and a line says
/// how many. That line stands alone if there is no room for a name, and is missing only if there is no room for it.
///
/// The result depends on nothing but what is given, and a larger budget never shows less. What is too much is seen
/// as soon as the budget is used up, so the time goes by the budget more than by the number of lines.
///
/// ```
/// use skillfold_core::{Budget, TokenEstimate, Layout, ListingLine, fit};
///
/// struct Plain;
/// impl Layout for Plain {
///     fn heading(&self) -> &str {
///         "Skills:\n"
///     }
///     fn line(&self, id: &str, description: &str, into: &mut String) {
///         into.extend(["- ", id, ": ", description, "\n"]);
///     }
///     fn more(&self, left_out: usize, into: &mut String) {
///         into.push_str(&format!("{left_out} more: call search_skills\n"));
///     }
///     fn footing(&self) -> &str {
///         ""
///     }
/// }
///
/// let lines = [
///     ListingLine { id: "pdf", description: "Use this when someone works with documents: fills in forms" },
///     ListingLine { id: "ocr", description: "Use this when someone works with documents: reads scans" },
/// ];
/// let fitted = fit(&lines, &Plain, &Budget::characters(60), &TokenEstimate);
/// assert_eq!(fitted.text(&Plain), "Skills:\n- pdf: …fills in forms\n- ocr: …reads scans\n");
/// ```
pub fn fit<'a>(
    lines: &[ListingLine<'a>],
    layout: &dyn Layout,
    budget: &Budget,
    counter: &dyn TokenCounter,
) -> FittedListing<'a> {
    let mut scale = ListingMeter {
        layout,
        budget,
        counter,
        buffer: String::new(),
    };
    if lines.is_empty() {
        return listing(lines, ListingDetail::Whole, 0, |_| Cow::Borrowed(""));
    }
    let whole = |at: usize| Cow::Borrowed(lines[at].description);
    if let Some(used) = scale.all(lines, whole) {
        return listing(lines, ListingDetail::Whole, used, whole);
    }
    let name = |_| Cow::Borrowed("");
    let Some(used) = scale.all(lines, name) else {
        return scale.part(lines);
    };
    let descriptions: Vec<&str> = lines.iter().map(|line| line.description).collect();
    let shared = shared_beginnings(&descriptions);
    let clipped = |room: usize| {
        let (descriptions, shared) = (&descriptions, &shared);
        move |at: usize| clip(descriptions[at], shared[at], room)
    };
    match scale.largest_room(lines, &descriptions, clipped) {
        Some((room, used)) => listing(lines, ListingDetail::Clipped(room), used, clipped(room)),
        None => listing(lines, ListingDetail::Names, used, name),
    }
}

impl FittedListing<'_> {
    /// Returns the listing as text, in the layout for which it was fitted.
    pub fn text(&self, layout: &dyn Layout) -> String {
        let mut text = String::new();
        let has_lines = !self.lines.is_empty();
        if has_lines {
            text.push_str(layout.heading());
        }
        for line in &self.lines {
            layout.line(line.id, &line.description, &mut text);
        }
        if !self.left_out.is_empty() && self.detail != ListingDetail::Nothing {
            layout.more(self.left_out.len(), &mut text);
        }
        if has_lines {
            text.push_str(layout.footing());
        }
        text
    }

    /// Returns the ids of the skills whose descriptions are not whole.
    pub fn shortened(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter();
        lines
            .filter(|line| line.shape != DescriptionFit::Whole)
            .map(|line| line.id)
    }
}

/// Returns a listing of all lines.
fn listing<'a>(
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
            shape,
        }
    }
}

/// Measures parts of a listing.
struct ListingMeter<'s> {
    layout: &'s dyn Layout,
    budget: &'s Budget,
    counter: &'s dyn TokenCounter,
    buffer: String,
}

impl ListingMeter<'_> {
    /// Returns what all lines take with the heading and the footing, or nothing as soon as that is too much.
    fn all<'t>(
        &mut self,
        lines: &[ListingLine<'_>],
        description: impl Fn(usize) -> Cow<'t, str>,
    ) -> Option<u64> {
        let mut used = self.frame();
        for (at, line) in lines.iter().enumerate() {
            if used > self.budget.limit {
                return None;
            }
            used = used.saturating_add(self.line(line.id, &description(at)));
        }
        (used <= self.budget.limit).then_some(used)
    }

    /// Returns the largest room for which all fits, found by halving, and what is used then.
    ///
    /// What is halved depends on the descriptions alone, so that a larger budget takes the same turns until it finds more.
    fn largest_room<'t, D: Fn(usize) -> Cow<'t, str>>(
        &mut self,
        lines: &[ListingLine<'_>],
        descriptions: &[&str],
        clipped: impl Fn(usize) -> D,
    ) -> Option<(usize, u64)> {
        let longest = descriptions.iter().map(|text| text.chars().count()).max();
        let mut too_large = longest?.max(LEAST_CLIP + 1);
        let mut best = (LEAST_CLIP, self.all(lines, clipped(LEAST_CLIP))?);
        while too_large - best.0 > 1 {
            let room = usize::midpoint(best.0, too_large);
            match self.all(lines, clipped(room)) {
                Some(used) => best = (room, used),
                None => too_large = room,
            }
        }
        Some(best)
    }

    /// Returns as many names as fit with the line about the others, or that line alone, or nothing.
    fn part<'a>(&mut self, lines: &[ListingLine<'a>]) -> FittedListing<'a> {
        let mut sums = vec![self.frame()];
        for line in lines {
            let before = sums[sums.len() - 1];
            if before > self.budget.limit {
                break;
            }
            sums.push(before.saturating_add(self.line(line.id, "")));
        }
        for named in (1..sums.len().min(lines.len())).rev() {
            let used = sums[named].saturating_add(self.more(lines.len() - named));
            if used <= self.budget.limit {
                return partly(lines, named, ListingDetail::Part, used);
            }
        }
        match self.more(lines.len()) {
            used if used <= self.budget.limit => partly(lines, 0, ListingDetail::Count, used),
            _ => partly(lines, 0, ListingDetail::Nothing, 0),
        }
    }

    fn frame(&self) -> u64 {
        let heading = self.measure(self.layout.heading());
        heading.saturating_add(self.measure(self.layout.footing()))
    }

    fn line(&mut self, id: &str, description: &str) -> u64 {
        self.buffer.clear();
        self.layout.line(id, description, &mut self.buffer);
        self.measure(&self.buffer)
    }

    fn more(&mut self, left_out: usize) -> u64 {
        self.buffer.clear();
        self.layout.more(left_out, &mut self.buffer);
        self.measure(&self.buffer)
    }

    fn measure(&self, text: &str) -> u64 {
        self.budget.measure(text, self.counter)
    }
}

/// Returns a listing of the first names; the others are left out.
fn partly<'a>(
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
