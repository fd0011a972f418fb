//! The sections of the page.

use askama::Template;
use skillfold::core::catalog::Status;
use skillfold::core::text::ellipsize;
use skillfold::core::{Diagnostic, Entry};

use crate::commands::overlap::{advice, copies_advice, copies_reason, list, reasons};
use crate::commands::report::clients::{self, ClientFacts, RequestCost};
use crate::commands::report::facts::{Facts, SkillCost, Usage};
use crate::commands::report::html::{Cell, Column, Grouped, HtmlTable, difference, prose, text};

/// What a page of this command has in its head.
pub(super) const MARK: &str = "<meta name=\"generator\" content=\"skillfold report\">";

/// Maximum rows of the table of tokens.
const MAX_COSTS: usize = 1_000;
/// Maximum rows of a table of skills.
const MAX_ROWS: usize = 200;
/// Maximum characters of an id.
const MAX_ID_CHARS: usize = 80;
/// Maximum findings of one skill.
const MAX_FINDINGS: usize = 5;

/// The style, whose hash is in the page's policy.
const STYLE: &str = include_str!("style.css");
const VERSION: &str = env!("CARGO_PKG_VERSION");

const DOCTOR: &str = "`skillfold doctor` lists all.";
/// The column of ids.
const NAME: Column = ("Skill", "name");
const DESCRIBED: &[Column] = &[NAME, ("Description", "")];
const FOLDERS: &[Column] = &[("Folder", "name"), ("Finding", ""), HINT];
const WHY: Column = ("Why", "");
const HINT: Column = ("What to do", "");

/// A number, what it counts, and what that is.
type Figure = (Grouped, &'static str, &'static str);

/// The page.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'f> {
    facts: &'f Facts<'f>,
    figures: [Figure; 10],
    /// What the models of clients pay, and where they find skills.
    clients: [Option<HtmlTable>; 2],
    /// The client that the requests and places are for.
    client: Option<&'f ClientFacts>,
    /// Absent if no skill is for models.
    requests: Option<HtmlTable>,
    tokens: HtmlTable,
    overlaps: Vec<HtmlTable>,
    /// What is said about skills that compete and are not listed.
    hidden: Option<String>,
    broken: Option<HtmlTable>,
    repaired: Option<HtmlTable>,
    folders: Option<HtmlTable>,
    /// The skills that models do not get, by reason.
    withheld: Vec<(&'static str, HtmlTable)>,
    usage: Option<UsageTables<'f>>,
}

/// The use of skills, and those that were not used.
struct UsageTables<'f> {
    usage: &'f Usage<'f>,
    used: HtmlTable,
    clients: Option<HtmlTable>,
    unused: Option<HtmlTable>,
}

/// Returns the page.
pub(super) fn render(facts: &Facts<'_>) -> String {
    let page = Page {
        facts,
        figures: figures(facts),
        clients: [
            clients::costs(&facts.clients).if_any(),
            clients::places(&facts.clients, facts.catalog).if_any(),
        ],
        client: facts.clients.first(),
        requests: (facts.catalog.visible().next()).map(|_| requests(facts)),
        tokens: tokens(facts),
        overlaps: overlaps(facts),
        hidden: hidden_overlaps(facts),
        broken: broken(facts).if_any(),
        repaired: repaired(facts).if_any(),
        folders: folders(facts).if_any(),
        withheld: withheld(facts),
        usage: facts.usage.as_ref().map(UsageTables::new),
    };
    // Rendering fails only if writing to memory does.
    page.render().unwrap_or_default() + "\n"
}

fn figures(facts: &Facts<'_>) -> [Figure; 10] {
    let (catalog, overlaps) = (facts.catalog, &facts.overlaps);
    let visible = catalog.visible().count();
    let count = |number: usize| Grouped(number as u64);
    let instructions = facts.costs.iter().map(|cost| cost.parts()[1]).sum();
    let listing = facts.requests.first().map_or(0, |request| request.listing);
    [
        (count(catalog.len()), "skills", "found in all folders"),
        (
            count(visible),
            "for models",
            "listed and searched for a request",
        ),
        (
            count(catalog.len() - visible),
            "not for models",
            "shadowed, incompatible, disabled, held, untrusted, or user only",
        ),
        (
            count(catalog.refused().len()),
            "broken",
            "their SKILL.md cannot be read",
        ),
        (
            count(facts.repaired().len()),
            "repaired",
            "read although their YAML is invalid",
        ),
        (
            count(overlaps.competing),
            "competing pairs",
            "a request for one may select the other",
        ),
        (
            count(overlaps.copy_groups),
            "groups of copies",
            "skills with the same description",
        ),
        match without(facts) {
            Some(without) => (
                Grouped(without),
                "tokens without Skillfold",
                "the client's own list, in every request",
            ),
            None => (
                Grouped(facts.plain_list),
                "tokens in a plain list",
                "all full descriptions, as most clients list them",
            ),
        },
        match without(facts) {
            Some(_) => (
                Grouped(listing),
                "tokens with Skillfold",
                "all lists and our tools, in every request",
            ),
            None => (
                Grouped(listing),
                "tokens in the listing",
                "what a model gets instead, before any request",
            ),
        },
        (
            Grouped(instructions),
            "tokens of instructions",
            "of all skills together; a model reads only what it needs",
        ),
    ]
}

/// Returns the tokens of the client's own list without Skillfold, if there is a client and that is known.
fn without(facts: &Facts<'_>) -> Option<u64> {
    facts.clients.first().and_then(ClientFacts::without)
}

fn requests(facts: &Facts<'_>) -> HtmlTable {
    const BY_CLIENT: &[Column] = &[
        ("Request", ""),
        ("Skills it selects", ""),
        ("Tokens now", "number"),
        ("Without Skillfold", "number"),
        ("Difference", "number"),
        ("Now, of that", "wide"),
    ];
    const COLUMNS: &[Column] = &[
        ("Request", ""),
        ("Skills it selects", ""),
        ("Tokens now", "number"),
        ("Plain list", "number"),
        ("Difference", "number"),
        ("Now, of the plain list", "wide"),
    ];
    let rows = facts.requests.iter().map(|request| {
        let now = request.listing + request.added;
        let plain = without(facts).unwrap_or(facts.plain_list);
        vec![
            Cell::Text(request.request.clone()),
            Cell::Lines(brought(request)),
            Cell::number(now),
            Cell::number(plain),
            Cell::Text(difference(now, plain)),
            Cell::bar([request.listing, request.added, 0], now.max(plain)),
        ]
    });
    let (caption, columns) = match without(facts) {
        Some(_) => ("Requests: tokens now, and without Skillfold", BY_CLIENT),
        None => (
            "Requests: tokens now against a plain list of all descriptions",
            COLUMNS,
        ),
    };
    HtmlTable::new(caption, columns, rows, MAX_ROWS, "")
}

fn brought(request: &RequestCost) -> Vec<String> {
    let lists = [
        ("given", &request.given),
        ("named", &request.named),
        ("suggested", &request.suggested),
    ];
    let lists = lists.into_iter().filter(|(_, ids)| !ids.is_empty());
    let brought: Vec<_> = lists
        .map(|(how, ids)| {
            let ids = ids.iter().map(|id| ellipsize(id, MAX_ID_CHARS).into());
            format!("{how}: {}", list(&ids.collect::<Vec<Box<str>>>(), "and"))
        })
        .collect();
    if brought.is_empty() {
        return vec!["none".to_owned()];
    }
    brought
}

fn tokens(facts: &Facts<'_>) -> HtmlTable {
    const COLUMNS: &[Column] = &[
        NAME,
        ("State", ""),
        ("Line", "number"),
        ("Instructions", "number"),
        ("Files", "number"),
        ("All levels", "wide"),
        ("Found in", ""),
    ];
    let client = facts.clients.first();
    // The last column is for a client.
    let columns = &COLUMNS[..COLUMNS.len() - usize::from(client.is_none())];
    let longest = facts.costs.first().map_or(1, SkillCost::total);
    let number = |number: Option<u64>| number.map_or(Cell::Unknown("not readable"), Cell::number);
    let rows = facts.costs.iter().map(|cost| {
        vec![
            name(&cost.entry),
            Cell::Text(state(&cost.entry)),
            Cell::number(cost.line),
            number(cost.instructions),
            number(cost.files),
            Cell::bar(cost.parts(), longest),
            Cell::Text(
                client
                    .map_or("", |client| client.place(&cost.entry))
                    .to_owned(),
            ),
        ]
    });
    let caption = "Tokens of each skill by level, the largest first";
    let all = "`skillfold list` lists all skills, and `skillfold show ID` the size of each.";
    HtmlTable::new(caption, columns, rows, MAX_COSTS, all)
}

fn name(entry: &Entry<'_>) -> Cell {
    Cell::Text(ellipsize(entry.id(), MAX_ID_CHARS).into_owned())
}

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

fn overlaps(facts: &Facts<'_>) -> Vec<HtmlTable> {
    const COLUMNS: &[Column] = &[("Skills", "name"), WHY, HINT];
    let pairs = facts.overlaps.pairs.iter().map(|pair| {
        let ids = pair.ids.iter();
        let ids = ids.map(|id| ellipsize(id, MAX_ID_CHARS).into_owned());
        vec![
            Cell::Lines(ids.collect()),
            Cell::Lines(reasons(pair)),
            Cell::Text(advice(pair).to_owned()),
        ]
    });
    let copies = facts.overlaps.copies.iter().map(|copies| {
        vec![
            Cell::Text(list(&copies.ids, "and")),
            Cell::Text(copies_reason(copies)),
            Cell::Text(copies_advice(copies).to_owned()),
        ]
    });
    let caption = "Pairs that compete, the worst first";
    let pairs = HtmlTable::new(caption, COLUMNS, pairs, MAX_ROWS, "");
    let caption = "Copies, the largest groups first";
    let copies = HtmlTable::new(caption, COLUMNS, copies, MAX_ROWS, "");
    pairs.if_any().into_iter().chain(copies.if_any()).collect()
}

fn hidden_overlaps(facts: &Facts<'_>) -> Option<String> {
    let overlaps = &facts.overlaps;
    let hidden = overlaps.competing - overlaps.pairs.len();
    let hidden_groups = overlaps.copy_groups - overlaps.copies.len();
    let is_any = hidden + hidden_groups + overlaps.unasked > 0;
    is_any.then(|| {
        format!(
            "Left out here: {} pairs and {} groups of copies, and {} pairs with fewer common words that were not compared; \
             `skillfold overlap --limit 1000` lists more, `skillfold overlap ID` all of one skill.",
            Grouped(hidden as u64),
            Grouped(hidden_groups as u64),
            Grouped(overlaps.unasked as u64)
        )
    })
}

/// Returns a row about something with findings.
fn with_findings(what: Cell, findings: &[Diagnostic]) -> Vec<Cell> {
    let findings = &findings[..findings.len().min(MAX_FINDINGS)];
    vec![
        what,
        Cell::Lines(findings.iter().map(ToString::to_string).collect()),
        Cell::Lines(findings.iter().map(|it| it.hint().to_owned()).collect()),
    ]
}

fn broken(facts: &Facts<'_>) -> HtmlTable {
    let rows = facts.catalog.refused().iter().map(|refused| {
        let root = facts.catalog.roots()[refused.source].label();
        let folder = Cell::Text(format!("{root}/{}", refused.folder.path()));
        with_findings(folder, &refused.diagnostics)
    });
    let caption = "Folders whose SKILL.md was refused";
    HtmlTable::new(caption, FOLDERS, rows, MAX_ROWS, DOCTOR)
}

fn repaired(facts: &Facts<'_>) -> HtmlTable {
    const COLUMNS: &[Column] = &[NAME, ("Finding", ""), HINT];
    let repaired = facts.repaired();
    let rows = repaired.iter();
    let rows = rows.map(|entry| with_findings(name(entry), &entry.skill().diagnostics));
    let caption = "Skills that had to be repaired";
    HtmlTable::new(caption, COLUMNS, rows, MAX_ROWS, DOCTOR)
}

fn folders(facts: &Facts<'_>) -> HtmlTable {
    let rows = facts.folder_findings().into_iter();
    let rows = rows.map(|texts| texts.map(Cell::Text).into());
    HtmlTable::new("Warnings about folders", FOLDERS, rows, MAX_ROWS, DOCTOR)
}

fn withheld(facts: &Facts<'_>) -> Vec<(&'static str, HtmlTable)> {
    const COLUMNS: &[Column] = &[NAME, WHY, HINT];
    let groups = [
        (
            "Untrusted",
            "Skills of projects that are not trusted",
            Status::Untrusted,
        ),
        ("Held", "New skills that you do not trust yet", Status::Held),
        ("Disabled", "Skills that are disabled", Status::Disabled),
        (
            "Incompatible",
            "Skills that need another version of a program",
            Status::Incompatible,
        ),
        (
            "Shadowed",
            "Skills whose name another skill has",
            Status::Shadowed,
        ),
    ];
    let groups = groups.into_iter().map(|(heading, caption, status)| {
        let entries = facts.with_status(status);
        let rows = entries.iter().map(|entry| {
            let notes = entry.notes();
            let (messages, hints) = notes
                .iter()
                .map(|note| (note.message.to_string(), note.hint().to_owned()))
                .unzip();
            vec![name(entry), Cell::Lines(messages), Cell::Lines(hints)]
        });
        let table = HtmlTable::new(caption, COLUMNS, rows, MAX_ROWS, DOCTOR);
        (heading, table)
    });
    let caption = "Skills that only the user may start";
    let for_people = described(caption, &facts.for_people(), DOCTOR);
    groups
        .chain([("User only", for_people)])
        .filter_map(|(heading, table)| Some((heading, table.if_any()?)))
        .collect()
}

fn described(caption: &'static str, entries: &[Entry<'_>], all: &'static str) -> HtmlTable {
    let rows = entries.iter().map(|entry| {
        let brief = entry.manifest().brief().into_owned();
        vec![name(entry), Cell::Text(brief)]
    });
    HtmlTable::new(caption, DESCRIBED, rows, MAX_ROWS, all)
}

impl<'f> UsageTables<'f> {
    fn new(usage: &'f Usage<'f>) -> Self {
        const COLUMNS: &[Column] = &[
            NAME,
            ("Suggested", "number"),
            ("Given", "number"),
            ("Hits", "number"),
            ("Ignored", "number"),
            ("Missed", "number"),
        ];
        const CLIENT_COLUMNS: &[Column] = &[
            ("Client", ""),
            ("Suggested", "number"),
            ("Given", "number"),
            ("Hits", "number"),
            ("Ignored", "number"),
            ("Missed", "number"),
        ];
        let rows = usage.skills.iter().map(|skill| {
            let counts = [
                skill.suggested,
                skill.given,
                skill.hits,
                skill.ignored,
                skill.missed,
            ];
            let id = Cell::Text(ellipsize(&skill.id, MAX_ID_CHARS).into_owned());
            let counts = counts.map(Cell::number);
            std::iter::once(id).chain(counts).collect()
        });
        let caption = "How often each skill was suggested, given, used, ignored and missed";
        let all = "`skillfold stats --json` lists all.";
        let used = HtmlTable::new(caption, COLUMNS, rows, MAX_ROWS, all);
        let caption = "Skills for models that the log does not mention";
        let all = "`skillfold list` lists all skills.";
        let unused = described(caption, &usage.unused, all).if_any();
        let rows = usage.clients.iter().map(|client| {
            let it = client.counts;
            let counts = [
                it.suggested,
                it.given + it.named,
                it.hits,
                it.ignored,
                it.missed,
            ];
            let name = Cell::Text(client.client.to_string());
            std::iter::once(name)
                .chain(counts.map(Cell::number))
                .collect()
        });
        let caption = "The same for each client's hook";
        let clients = HtmlTable::new(caption, CLIENT_COLUMNS, rows, MAX_ROWS, "").if_any();
        Self {
            usage,
            used,
            clients,
            unused,
        }
    }
}
