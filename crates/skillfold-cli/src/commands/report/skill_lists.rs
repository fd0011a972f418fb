//! The sections that list skills: those that compete, are broken or withheld, and their use.

use skillfold::core::Entry;
use skillfold::core::catalog::Status;
use skillfold::core::text::ellipsize;

use crate::commands::overlap::{advice, copies_advice, copies_reason, list, reasons};
use crate::commands::report::facts::Facts;
use crate::commands::report::html::{Cell, Column, Html, HtmlTable, grouped};

/// Maximum rows of a table of skills.
pub(super) const MAX_ROWS: usize = 200;
/// Maximum characters of an id.
pub(super) const MAX_ID_CHARS: usize = 80;
/// Maximum findings of one skill.
const MAX_FINDINGS: usize = 5;

/// The column of ids.
pub(super) const NAME: Column = Column::new("Skill", "name");
const DESCRIBED: &[Column] = &[NAME, Column::new("Description", "")];
const WHY: Column = Column::new("Why", "");
const HINT: Column = Column::new("What to do", "");

/// Returns the cell of a skill.
pub(super) fn name(entry: &Entry<'_>) -> Cell {
    Cell::Text(ellipsize(entry.id(), MAX_ID_CHARS).into_owned())
}

pub(super) fn overlap(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[Column::new("Skills", "name"), WHY, HINT];
    let overlaps = &facts.overlaps;
    html.paragraph(
        "These skills compete for the same requests. They were found by their own words: a sentence of one description, as \
         a request, finds the other skill, the words that they share find either, or both have the same triggers.",
    );
    if let Some(problem) = &facts.search_problem {
        html.paragraph(&format!("The search was incomplete: {problem}"));
    }
    if overlaps.competing == 0 && overlaps.copy_groups == 0 {
        return html.paragraph("No skills compete.");
    }
    if !overlaps.pairs.is_empty() {
        html.table(HtmlTable {
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
        html.table(HtmlTable {
            caption: "Copies, the largest groups first",
            columns: COLUMNS,
            rows: overlaps.copies.iter().map(|copies| {
                vec![
                    Cell::Text(list(&copies.ids, "and")),
                    Cell::Text(copies_reason(copies)),
                    Cell::Text(copies_advice(copies).to_owned()),
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
            "Left out here: {} pairs and {} groups of copies, and {} pairs with fewer common words that were not compared; \
             `skillfold overlap --limit 1000` lists more, `skillfold overlap ID` all of one skill.",
            grouped(hidden as u64),
            grouped(hidden_groups as u64),
            grouped(overlaps.unasked as u64)
        ));
        html.raw("</p>\n");
    }
}

pub(super) fn problems(facts: &Facts<'_>, html: &mut Html) {
    const FOLDERS: &[Column] = &[
        Column::new("Folder", "name"),
        Column::new("Finding", ""),
        HINT,
    ];
    const REPAIRED: &[Column] = &[NAME, Column::new("Finding", ""), HINT];
    const ALL: &str = "`skillfold doctor` lists all.";
    let (refused, repaired) = (facts.catalog.refused(), facts.repaired());
    let folders = facts.folder_findings();
    if refused.is_empty() && repaired.is_empty() && folders.is_empty() {
        return html.paragraph("No skill is broken, and none had to be repaired.");
    }
    if !refused.is_empty() {
        html.raw("<h3>Broken</h3>\n");
        html.paragraph("These are not skills for any model until their `SKILL.md` is corrected.");
        html.table(HtmlTable {
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
        html.table(HtmlTable {
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
        html.table(HtmlTable {
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

pub(super) fn withheld(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[NAME, WHY, HINT];
    let groups = [
        (
            "<h3>Untrusted</h3>\n",
            "Skills of projects that are not trusted",
            Status::Untrusted,
        ),
        (
            "<h3>Held</h3>\n",
            "New skills that you do not trust yet",
            Status::Held,
        ),
        (
            "<h3>Disabled</h3>\n",
            "Skills that are disabled",
            Status::Disabled,
        ),
        (
            "<h3>Incompatible</h3>\n",
            "Skills that need another version of a program",
            Status::Incompatible,
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
        html.table(HtmlTable {
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
        html.raw("<h3>User only</h3>\n");
        html.table(HtmlTable {
            caption: "Skills that only the user may start",
            columns: DESCRIBED,
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

pub(super) fn usage(facts: &Facts<'_>, html: &mut Html) {
    const COLUMNS: &[Column] = &[
        NAME,
        Column::new("Suggested", "number"),
        Column::new("Given", "number"),
        Column::new("Used", "number"),
        Column::new("Missed", "number"),
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
    html.table(HtmlTable {
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
    html.table(HtmlTable {
        caption: "Skills for models that the log does not mention",
        columns: DESCRIBED,
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
