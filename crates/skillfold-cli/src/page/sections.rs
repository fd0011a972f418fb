//! The sections of the page.

use skillfold::core::Entry;
use skillfold::core::catalog::Status;
use skillfold::core::text::ellipsize;

use crate::overlap::{COPIES_HINT, advice, copies_reason, list, reasons};
use crate::page::facts::{Facts, RequestCost};
use crate::page::html::{Cell, Column, Html, Table, grouped};

/// What a page of this command has in its head.
pub(super) const MARK: &str = "<meta name=\"generator\" content=\"skillfold report\">";

/// Maximum rows of the table of tokens.
const MAX_COSTS: usize = 1_000;
/// Maximum rows of any other table.
const MAX_ROWS: usize = 200;
/// Maximum characters of an id.
const MAX_ID_CHARS: usize = 80;
/// Maximum findings of one skill.
const MAX_FINDINGS: usize = 5;

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

const NAME: Column = Column {
    head: "Skill",
    class: "name",
};
const WHY: Column = Column {
    head: "Why",
    class: "",
};
const HINT: Column = Column {
    head: "What to do",
    class: "",
};

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
        "The skills that are found in the folder `{}`, by skillfold {}",
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
            "shadowed, disabled, untrusted, or for people only",
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
            "a request for one may bring the other",
        ),
        (
            overlaps.copy_groups as u64,
            "groups of copies",
            "skills that say the same about themselves",
        ),
        (
            facts.plain_list,
            "tokens in a plain list",
            "all full descriptions, as most clients list them",
        ),
        (
            listing,
            "tokens in the listing",
            "what a model is told instead, before any request",
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
        Column {
            head: "Request",
            class: "",
        },
        Column {
            head: "Skills that it brings",
            class: "",
        },
        Column {
            head: "Tokens now",
            class: "number",
        },
        Column {
            head: "Plain list",
            class: "number",
        },
        Column {
            head: "Difference",
            class: "number",
        },
        Column {
            head: "Now, of the plain list",
            class: "wide",
        },
    ];
    html.paragraph(
        "Each of these typical requests is the first message of a conversation, with your settings. The tokens now are those \
         of the listing and of what the request adds; the plain list has a line with the whole description of each skill, \
         which most clients put into every request. `skillfold prompt \"REQUEST\"` shows the text for a request of yours.",
    );
    if facts.catalog.visible().next().is_none() {
        return html.paragraph("No skill is for models, so no request costs anything.");
    }
    html.table(Table {
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
        Column {
            head: "State",
            class: "",
        },
        Column {
            head: "Line",
            class: "number",
        },
        Column {
            head: "Instructions",
            class: "number",
        },
        Column {
            head: "Files",
            class: "number",
        },
        Column {
            head: "All levels",
            class: "wide",
        },
    ];
    html.paragraph(
        "The line is the id and the whole description. The instructions are read when the skill is used, and the files when \
         the instructions ask for them. The tokens of files are estimated from their size, one for four bytes, of files that \
         are text by their name.",
    );
    html.raw("<p class=\"legend\"><span class=\"key a\">line</span> <span class=\"key b\">instructions</span> <span class=\"key c\">files</span></p>\n");
    let longest = facts.costs.first().map_or(1, |cost| cost.total());
    html.table(Table {
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

fn name(entry: &Entry<'_>) -> Cell {
    Cell::Text(ellipsize(entry.id(), MAX_ID_CHARS).into_owned())
}

/// Returns the status of a skill in words.
fn state(entry: &Entry<'_>) -> String {
    let mut state = entry.status().to_string();
    if entry.manifest().disable_model_invocation() {
        state += ", for people only";
    }
    if entry.skill().repaired {
        state += ", repaired";
    }
    state
}

fn overlap(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[
        Column {
            head: "Skills",
            class: "name",
        },
        WHY,
        HINT,
    ];
    let overlaps = &facts.overlaps;
    html.paragraph(
        "These skills compete for the same requests. They were found by their own words: a sentence of one description, as \
         a request, finds the other skill, or both have the same triggers.",
    );
    if let Some(problem) = &facts.search_problem {
        html.paragraph(&format!("The search was incomplete: {problem}"));
    }
    if overlaps.competing == 0 && overlaps.copy_groups == 0 {
        return html.paragraph("No skills compete.");
    }
    if !overlaps.pairs.is_empty() {
        html.table(Table {
            caption: "Pairs that compete, the worst first",
            columns: COLUMNS,
            rows: overlaps.pairs.iter().map(|pair| {
                let ids = pair
                    .ids
                    .iter()
                    .map(|id| ellipsize(id, MAX_ID_CHARS).into_owned());
                vec![
                    Cell::Lines(ids.collect()),
                    Cell::Lines(reasons(pair)),
                    Cell::Text(advice(pair).to_owned()),
                ]
            }),
            limit: MAX_ROWS,
            all: "",
        });
    }
    if !overlaps.copies.is_empty() {
        html.table(Table {
            caption: "Copies, the largest groups first",
            columns: COLUMNS,
            rows: overlaps.copies.iter().map(|copies| {
                vec![
                    Cell::Text(list(&copies.ids, "and")),
                    Cell::Text(copies_reason(copies)),
                    Cell::Text(COPIES_HINT.to_owned()),
                ]
            }),
            limit: MAX_ROWS,
            all: "",
        });
    }
    let hidden = overlaps.competing - overlaps.pairs.len();
    let hidden_groups = overlaps.copy_groups - overlaps.copies.len();
    if hidden + hidden_groups + overlaps.unasked > 0 {
        html.raw("<p class=\"cut\">");
        html.prose(&format!(
            "Left out here: {} pairs and {} groups of copies, and {} pairs with fewer common words that were not looked at; \
             `skillfold overlap --limit 1000` lists more, `skillfold overlap ID` all of one skill.",
            grouped(hidden as u64),
            grouped(hidden_groups as u64),
            grouped(overlaps.unasked as u64)
        ));
        html.raw("</p>\n");
    }
}

fn problems(facts: &Facts<'_>, html: &mut Html) {
    const FOLDERS: &[Column] = &[
        Column {
            head: "Folder",
            class: "name",
        },
        Column {
            head: "Finding",
            class: "",
        },
        HINT,
    ];
    const REPAIRED: &[Column] = &[
        NAME,
        Column {
            head: "Finding",
            class: "",
        },
        HINT,
    ];
    const ALL: &str = "`skillfold doctor` lists all.";
    let (refused, repaired) = (facts.catalog.refused(), facts.repaired());
    let folders = facts.folder_findings();
    if refused.is_empty() && repaired.is_empty() && folders.is_empty() {
        return html.paragraph("No skill is broken, and none had to be repaired.");
    }
    if !refused.is_empty() {
        html.raw("<h3>Broken</h3>\n");
        html.paragraph("These are not skills for any model until their `SKILL.md` is corrected.");
        html.table(Table {
            caption: "Folders whose SKILL.md was refused",
            columns: FOLDERS,
            rows: refused.iter().map(|refused| {
                let root = facts.catalog.roots()[refused.source].label();
                let findings = &refused.diagnostics[..refused.diagnostics.len().min(MAX_FINDINGS)];
                vec![
                    Cell::Text(format!("{root}/{}", refused.folder.path())),
                    Cell::Lines(findings.iter().map(ToString::to_string).collect()),
                    Cell::Lines(findings.iter().map(|it| it.hint().to_owned()).collect()),
                ]
            }),
            limit: MAX_ROWS,
            all: ALL,
        });
    }
    if !repaired.is_empty() {
        html.raw("<h3>Repaired</h3>\n");
        html.paragraph(
            "Skillfold reads these although their frontmatter is invalid; other clients may drop them. `skillfold check --fix` \
             writes the repair to the file.",
        );
        html.table(Table {
            caption: "Skills that had to be repaired",
            columns: REPAIRED,
            rows: repaired.iter().map(|entry| {
                let findings = &entry.skill().diagnostics;
                let findings = &findings[..findings.len().min(MAX_FINDINGS)];
                vec![
                    name(entry),
                    Cell::Lines(findings.iter().map(ToString::to_string).collect()),
                    Cell::Lines(findings.iter().map(|it| it.hint().to_owned()).collect()),
                ]
            }),
            limit: MAX_ROWS,
            all: ALL,
        });
    }
    if !folders.is_empty() {
        html.raw("<h3>Folders</h3>\n");
        html.table(Table {
            caption: "Warnings about folders",
            columns: FOLDERS,
            rows: folders
                .into_iter()
                .map(|texts| texts.map(Cell::Text).into()),
            limit: MAX_ROWS,
            all: ALL,
        });
    }
}

fn withheld(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[NAME, WHY, HINT];
    let groups = [
        (
            "<h3>Untrusted</h3>\n",
            "Skills of projects that are not trusted",
            Status::Untrusted,
        ),
        (
            "<h3>Disabled</h3>\n",
            "Skills that are disabled",
            Status::Disabled,
        ),
        (
            "<h3>Shadowed</h3>\n",
            "Skills whose name another skill has",
            Status::Shadowed,
        ),
    ];
    let for_people = facts.for_people();
    let mut is_empty = for_people.is_empty();
    for (heading, caption, status) in groups {
        let entries = facts.with_status(status);
        if entries.is_empty() {
            continue;
        }
        is_empty = false;
        html.raw(heading);
        html.table(Table {
            caption,
            columns: COLUMNS,
            rows: entries.iter().map(|entry| {
                let notes = entry.notes();
                let (messages, hints): (Vec<_>, Vec<_>) = notes
                    .iter()
                    .map(|note| (note.message.to_string(), note.hint().to_owned()))
                    .unzip();
                vec![name(entry), Cell::Lines(messages), Cell::Lines(hints)]
            }),
            limit: MAX_ROWS,
            all: "`skillfold doctor` lists all.",
        });
    }
    if !for_people.is_empty() {
        html.raw("<h3>For people only</h3>\n");
        html.table(Table {
            caption: "Skills that only a person may start",
            columns: &[
                NAME,
                Column {
                    head: "Description",
                    class: "",
                },
            ],
            rows: for_people.iter().map(|entry| {
                vec![
                    name(entry),
                    Cell::Text(entry.manifest().brief().into_owned()),
                ]
            }),
            limit: MAX_ROWS,
            all: "`skillfold doctor` lists all.",
        });
    }
    if is_empty {
        html.paragraph("Models get every skill.");
    }
}

fn usage(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[
        NAME,
        Column {
            head: "Suggested",
            class: "number",
        },
        Column {
            head: "Given",
            class: "number",
        },
        Column {
            head: "Used",
            class: "number",
        },
        Column {
            head: "Missed",
            class: "number",
        },
    ];
    let Some(usage) = &facts.usage else {
        return html.paragraph(
            "No log is kept, so it is not known which skills are used. Set `hook_log = true` in your settings and use the hook, \
             or name the log of an agent with `--log FILE`.",
        );
    };
    html.paragraph(&format!(
        "From the log `{}`. Suggested: a line told the model about it. Given: the model got its instructions, or its client \
         was told to load it. Used: the model loaded it after a suggestion, or its host reported it as used. Missed: its host \
         reported that it was needed and not given.",
        usage.log
    ));
    for note in &usage.notes {
        html.paragraph(note);
    }
    html.table(Table {
        caption: "How often each skill was suggested, given and used",
        columns: COLUMNS,
        rows: usage.skills.iter().map(|skill| {
            let counts = [skill.suggested, skill.given, skill.used, skill.missed];
            let id = Cell::Text(ellipsize(&skill.id, MAX_ID_CHARS).into_owned());
            std::iter::once(id)
                .chain(counts.map(Cell::Number))
                .collect()
        }),
        limit: MAX_ROWS,
        all: "`skillfold stats --json` lists all.",
    });
    if usage.unused.is_empty() {
        return;
    }
    html.raw("<h3>Never used</h3>\n");
    html.table(Table {
        caption: "Skills for models that the log does not mention",
        columns: &[
            NAME,
            Column {
                head: "Description",
                class: "",
            },
        ],
        rows: usage.unused.iter().map(|entry| {
            vec![
                name(entry),
                Cell::Text(entry.manifest().brief().into_owned()),
            ]
        }),
        limit: MAX_ROWS,
        all: "`skillfold list` lists all skills.",
    });
}

#[cfg(test)]
mod tests {
    use super::{POLICY, STYLE};
    use skillfold::core::load::Digest;

    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    #[test]
    fn policy_allows_the_style() {
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
