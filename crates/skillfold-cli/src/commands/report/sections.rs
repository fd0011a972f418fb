//! The page: its head, and the sections about costs.

use skillfold::core::Entry;
use skillfold::core::text::ellipsize;

use crate::commands::overlap::list;
use crate::commands::report::facts::{Facts, RequestCost, SkillCost};
use crate::commands::report::html::{Cell, Column, Html, HtmlTable, grouped};
use crate::commands::report::skill_lists::{
    MAX_ID_CHARS, MAX_ROWS, NAME, name, overlap, problems, usage, withheld,
};

/// What a page of this command has in its head.
pub(super) const MARK: &str = "<meta name=\"generator\" content=\"skillfold report\">";

/// Maximum rows of the table of tokens.
const MAX_COSTS: usize = 1_000;

const STYLE: &str = include_str!("style.css");
/// The policy of the page: nothing is loaded or run, and only the style with this hash is used.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
     style-src 'sha256-Yzhq83ojO+azsdLTavXPQGKXHfCkcWwJ5FCINmj7Uh8='; base-uri 'none'; form-action 'none'\">\n";

/// The sections, in order: the id and the heading.
const SECTIONS: [(&str, &str); 7] = [
    ("summary", "Summary"),
    ("requests", "What a request costs"),
    ("tokens", "Tokens per skill"),
    ("overlap", "Skills that compete"),
    ("problems", "Broken and repaired skills"),
    ("withheld", "Skills that models do not get"),
    ("usage", "Use"),
];

/// Returns the page.
pub(super) fn render(facts: &Facts<'_>) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw(MARK);
    html.raw("\n");
    html.raw(POLICY);
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.raw("<title>Skillfold report</title>\n<style>");
    html.raw(STYLE);
    html.raw(
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n",
    );
    html.raw("<header>\n<h1>Skillfold report</h1>\n");
    html.paragraph(&format!(
        "The skills that an agent in the folder `{}` has, found by skillfold {}",
        facts.directory,
        env!("CARGO_PKG_VERSION")
    ));
    html.raw("<nav aria-label=\"Sections\"><ul>");
    for (id, heading) in SECTIONS {
        html.raw("<li><a href=\"#");
        html.raw(id);
        html.raw("\">");
        html.raw(heading);
        html.raw("</a></li>");
    }
    html.raw("</ul></nav>\n</header>\n<main id=\"main\">\n");
    let writers = [
        summary, requests, tokens, overlap, problems, withheld, usage,
    ];
    for ((id, heading), write) in SECTIONS.into_iter().zip(writers) {
        html.raw("<section aria-labelledby=\"");
        html.raw(id);
        html.raw("\">\n<h2 id=\"");
        html.raw(id);
        html.raw("\">");
        html.raw(heading);
        html.raw("</h2>\n");
        write(facts, &mut html);
        html.raw("</section>\n");
    }
    html.raw("</main>\n<footer><p>This page is one file: it has no script and loads nothing.</p></footer>\n</body>\n</html>\n");
    html.finish()
}

fn summary(facts: &Facts<'_>, html: &mut Html) {
    let catalog = facts.catalog;
    let withheld = catalog.len() - catalog.visible().count();
    let overlaps = &facts.overlaps;
    let instructions: u64 = facts.costs.iter().map(|cost| cost.parts()[1]).sum();
    let listing = facts.requests.first().map_or(0, |request| request.listing);
    let figures = [
        (catalog.len() as u64, "skills", "found in all folders"),
        (
            catalog.visible().count() as u64,
            "for models",
            "listed and searched for a request",
        ),
        (
            withheld as u64,
            "not for models",
            "shadowed, incompatible, disabled, held, untrusted, or user only",
        ),
        (
            catalog.refused().len() as u64,
            "broken",
            "their SKILL.md cannot be read",
        ),
        (
            facts.repaired().len() as u64,
            "repaired",
            "read although their YAML is invalid",
        ),
        (
            overlaps.competing as u64,
            "competing pairs",
            "a request for one may select the other",
        ),
        (
            overlaps.copy_groups as u64,
            "groups of copies",
            "skills with the same description",
        ),
        (
            facts.plain_list,
            "tokens in a plain list",
            "all full descriptions, as most clients list them",
        ),
        (
            listing,
            "tokens in the listing",
            "what a model gets instead, before any request",
        ),
        (
            instructions,
            "tokens of instructions",
            "of all skills together; a model reads only what it needs",
        ),
    ];
    html.raw("<dl class=\"figures\">\n");
    for (number, name, note) in figures {
        html.raw("<div><dt>");
        html.raw(name);
        html.raw("</dt><dd>");
        html.number(number);
        html.raw("</dd><dd class=\"note\">");
        html.raw(note);
        html.raw("</dd></div>\n");
    }
    html.raw("</dl>\n");
}

fn requests(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[
        Column::new("Request", ""),
        Column::new("Skills it selects", ""),
        Column::new("Tokens now", "number"),
        Column::new("Plain list", "number"),
        Column::new("Difference", "number"),
        Column::new("Now, of the plain list", "wide"),
    ];
    html.paragraph(
        "Each of these typical requests is the first message of a conversation, with your settings. The tokens now are those \
         of the listing and of what the request adds; the plain list has a line with the whole description of each skill, \
         which most clients put into every request. `skillfold prompt \"REQUEST\"` shows the text for a request of yours.",
    );
    if facts.catalog.visible().next().is_none() {
        return html.paragraph("Models get no skills, so requests cost nothing.");
    }
    html.table(HtmlTable {
        caption: "Typical requests: tokens now against a plain list of all descriptions",
        columns: COLUMNS,
        rows: facts.requests.iter().map(|request| {
            let now = request.listing + request.added;
            vec![
                Cell::Text(request.request.to_owned()),
                Cell::Lines(brought(request)),
                Cell::Number(now),
                Cell::Number(facts.plain_list),
                Cell::Text(difference(now, facts.plain_list)),
                Cell::Bar(
                    [request.listing, request.added, 0],
                    now.max(facts.plain_list),
                ),
            ]
        }),
        limit: MAX_ROWS,
        all: "",
    });
    html.raw("<p class=\"legend\"><span class=\"key a\">listing</span> <span class=\"key b\">added by the request</span></p>\n");
    html.paragraph(&format!("Tokens are counted by: {}.", facts.counted_by));
}

/// Returns the skills that a request brings, in words.
fn brought(request: &RequestCost) -> Vec<String> {
    let ids = |ids: &[String]| {
        let ids = ids.iter().map(|id| ellipsize(id, MAX_ID_CHARS).into());
        list(&ids.collect::<Vec<Box<str>>>(), "and")
    };
    let mut brought = Vec::new();
    if !request.given.is_empty() {
        brought.push(format!("given: {}", ids(&request.given)));
    }
    if !request.suggested.is_empty() {
        brought.push(format!("suggested: {}", ids(&request.suggested)));
    }
    if brought.is_empty() {
        brought.push("none".to_owned());
    }
    brought
}

fn difference(now: u64, plain: u64) -> String {
    match plain.checked_sub(now) {
        Some(less) => format!("{} less ({} %)", grouped(less), less * 100 / plain.max(1)),
        None => format!("{} more", grouped(now - plain)),
    }
}

fn tokens(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[
        NAME,
        Column::new("State", ""),
        Column::new("Line", "number"),
        Column::new("Instructions", "number"),
        Column::new("Files", "number"),
        Column::new("All levels", "wide"),
    ];
    html.paragraph(
        "The line is the id and the whole description. The instructions are read when the skill is used, and the files when \
         the instructions ask for them. The tokens of files are estimated from their size, one for four bytes, of files that \
         are text by their name.",
    );
    html.raw("<p class=\"legend\"><span class=\"key a\">line</span> <span class=\"key b\">instructions</span> <span class=\"key c\">files</span></p>\n");
    let longest = facts.costs.first().map_or(1, SkillCost::total);
    html.table(HtmlTable {
        caption: "Tokens of each skill by level, the largest first",
        columns: COLUMNS,
        rows: facts.costs.iter().map(|cost| {
            let number = |number: Option<u64>| match number {
                Some(number) => Cell::Number(number),
                None => Cell::Unknown("not readable"),
            };
            vec![
                name(&cost.entry),
                Cell::Text(state(&cost.entry)),
                Cell::Number(cost.line),
                number(cost.instructions),
                number(cost.files),
                Cell::Bar(cost.parts(), longest),
            ]
        }),
        limit: MAX_COSTS,
        all: "`skillfold list` lists all skills, and `skillfold show ID` the size of each.",
    });
}

/// Returns the status of a skill in words.
fn state(entry: &Entry<'_>) -> String {
    let mut state = entry.status().to_string();
    if entry.manifest().disable_model_invocation() {
        state += ", user only";
    }
    if entry.skill().repaired {
        state += ", repaired";
    }
    state
}

#[cfg(test)]
mod tests {
    use super::{POLICY, STYLE};
    use skillfold::core::load::Digest;

    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    #[test]
    fn content_security_policy_allows_the_inline_style() {
        let digest = Digest::sha256(STYLE.as_bytes());
        let groups = digest.as_bytes().chunks(3).map(|bytes| {
            let bits = bytes
                .iter()
                .fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
            let bits = bits << (8 * (3 - bytes.len()));
            let digits = [18, 12, 6, 0].map(|shift| char::from(ALPHABET[bits >> shift & 63]));
            digits[..=bytes.len()].iter().collect::<String>()
        });
        let hash = format!("sha256-{}=", groups.collect::<String>());
        assert!(
            POLICY.contains(&hash),
            "the style changed; write this into the policy: {hash}"
        );
    }
}
