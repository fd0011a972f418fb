//! What the page shows, gathered from the skills and a log.

use std::collections::BTreeMap;

use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::Severity;
use skillfold::core::load::{FileKind, read_body};
use skillfold::core::{Catalog, ContextLifetime, Entry, Policy};
use skillfold::view::TurnView;
use skillfold::{
    Skills,
    reports::{HookClientStats, LogCounts, Overlaps, Stats},
};

use crate::commands::report::clients::{ClientFacts, RequestCost};
use crate::failure::Failure;

/// Pairs that compete, and groups of copies, on the page.
const MAX_OVERLAPS: usize = 30;
/// Bytes per token of a file, as `show` estimates them: files are not read for this page.
const BYTES_PER_TOKEN: u64 = 4;

/// Requests as people type them, on topics that many skills are about, and one that needs no skill.
const REQUESTS: [&str; 6] = [
    "Fix the failing test of the login form",
    "Review my changes before I commit them",
    "Write the release notes of the next version",
    "Fill in the form in contract.pdf",
    "Make a chart of the sales by month from sales.xlsx",
    "What is the capital of France?",
];

/// What the page shows.
pub(super) struct Facts<'a> {
    /// The name of the folder that the command works in.
    pub(super) directory: String,
    pub(super) catalog: &'a Catalog,
    /// What each skill costs, the largest first.
    pub(super) costs: Vec<SkillCost<'a>>,
    pub(super) requests: Vec<RequestCost>,
    /// Tokens of a plain list of all full descriptions.
    pub(super) plain_list: u64,
    /// The clients that the page is about. The requests are those of the first one, if there is any.
    pub(super) clients: Vec<ClientFacts>,
    /// What counted the tokens.
    pub(super) counted_by: String,
    pub(super) overlaps: Overlaps,
    pub(super) search_problem: Option<String>,
    pub(super) usage: Option<Usage<'a>>,
}

/// The tokens of a skill by level.
pub(super) struct SkillCost<'a> {
    pub(super) entry: Entry<'a>,
    /// A line with its id and whole description.
    pub(super) line: u64,
    /// Its instructions; `None` if they cannot be read.
    pub(super) instructions: Option<u64>,
    /// Its other files that are text; `None` if they cannot be listed.
    pub(super) files: Option<u64>,
}

impl SkillCost<'_> {
    pub(super) fn parts(&self) -> [u64; 3] {
        let unknown = |part: Option<u64>| part.unwrap_or_default();
        [self.line, unknown(self.instructions), unknown(self.files)]
    }

    pub(super) fn total(&self) -> u64 {
        self.parts().into_iter().sum()
    }
}

/// What a log says about skills.
pub(super) struct Usage<'a> {
    /// The log, as the user calls it.
    pub(super) log: String,
    /// Those that occur in the log, the most frequent first.
    pub(super) skills: Vec<SkillUsage>,
    /// What the hook of each client did.
    pub(super) clients: Vec<HookClientStats>,
    /// The skills that a model may see and the log does not mention.
    pub(super) unused: Vec<Entry<'a>>,
    /// What the log has that is not counted.
    pub(super) notes: Vec<String>,
}

/// How often a skill was suggested, given, used, ignored and missed.
#[derive(Default)]
pub(super) struct SkillUsage {
    pub(super) id: String,
    pub(super) suggested: u64,
    pub(super) given: u64,
    pub(super) hits: u64,
    pub(super) ignored: u64,
    pub(super) missed: u64,
}

impl<'a> Facts<'a> {
    pub(super) fn gather(
        skills: &Skills,
        catalog: &'a Catalog,
        directory: String,
        log: Option<(String, Stats)>,
        clients: Vec<ClientFacts>,
        requests: &[String],
    ) -> Result<Self, Failure> {
        let policy = skills.report().settings.policy();
        let requests: Vec<&str> = match requests {
            [] => REQUESTS.to_vec(),
            requests => requests.iter().map(|request| &**request).collect(),
        };
        let (without_client, plain_list) = request_costs(skills, &policy, &requests);
        let requests = match clients.first() {
            Some(client) => {
                let requests = requests.into_iter();
                requests.map(|it| client.request_cost(skills, it)).collect()
            }
            None => without_client,
        };
        let overlaps = skills.overlaps(&[], MAX_OVERLAPS)?;
        let mut costs: Vec<_> = catalog
            .entries()
            .map(|entry| SkillCost::new(entry, &policy))
            .collect();
        costs.sort_by_key(|cost| std::cmp::Reverse(cost.total()));
        Ok(Self {
            directory,
            catalog,
            costs,
            requests,
            plain_list,
            clients,
            counted_by: policy.counter.name().to_owned(),
            overlaps,
            search_problem: skills.search_problem(),
            usage: log.map(|(log, stats)| Usage::new(log, &stats, catalog)),
        })
    }

    pub(super) fn with_status(&self, status: Status) -> Vec<Entry<'a>> {
        let entries = self.catalog.entries();
        entries.filter(|entry| entry.status() == status).collect()
    }

    pub(super) fn repaired(&self) -> Vec<Entry<'a>> {
        let entries = self.catalog.entries();
        entries.filter(|entry| entry.skill().repaired).collect()
    }

    /// Returns the skills that only a person may start.
    pub(super) fn for_people(&self) -> Vec<Entry<'a>> {
        let entries = self.catalog.entries();
        let is_reserved = |entry: &Entry<'_>| entry.manifest().disable_model_invocation();
        entries.filter(is_reserved).collect()
    }

    /// Returns the warnings and errors about folders: the path, the message and the hint.
    pub(super) fn folder_findings(&self) -> Vec<[String; 3]> {
        let findings = self.catalog.findings().iter();
        let findings = findings.filter(|it| it.finding.diagnostic.severity > Severity::Info);
        findings
            .map(|it| {
                let root = self.catalog.roots()[it.source].label();
                let diagnostic = &it.finding.diagnostic;
                [
                    format!("{root}/{}", it.finding.path),
                    diagnostic.to_string(),
                    diagnostic.hint().to_owned(),
                ]
            })
            .collect()
    }
}

impl<'a> SkillCost<'a> {
    /// Reads the instructions once, counts them and drops them; lists the files without reading them.
    fn new(entry: Entry<'a>, policy: &Policy) -> Self {
        let mut limits = entry.catalog().options().read.walk.limits.clone();
        limits.resources = limits.walk_entries;
        let (source, skill) = (entry.root().source(), entry.skill());
        let count = |text: &str| policy.counter.count(text);
        let instructions = read_body(source, skill, &limits);
        let files = source.resources(&skill.folder, &limits, None);
        let is_text = |path: &str| {
            matches!(
                FileKind::from_path(path),
                FileKind::Text | FileKind::Script | FileKind::Data
            )
        };
        let text_bytes = files.map(|page| {
            let files = page.files.iter();
            let texts = files.filter(|file| is_text(file.path.as_str()));
            texts.map(|file| file.size).sum::<u64>()
        });
        Self {
            line: count(&format!(
                "- {}: {}\n",
                entry.id(),
                entry.manifest().description()
            )),
            instructions: instructions
                .ok()
                .map(|content| count(&String::from_utf8_lossy(&content.bytes))),
            files: text_bytes.ok().map(|bytes| bytes.div_ceil(BYTES_PER_TOKEN)),
            entry,
        }
    }
}

/// Returns what each request costs as the first of a conversation, and what a plain list costs.
fn request_costs(skills: &Skills, policy: &Policy, requests: &[&str]) -> (Vec<RequestCost>, u64) {
    let mut first = skills.session(policy.clone(), ContextLifetime::History);
    let (listing, plain_list) = (first.listing(), first.plain_list_tokens());
    let cost = |request: &&str| {
        let turn = TurnView::new(policy, &first.clone().turn(request));
        RequestCost::new(request, listing.tokens, Some(&turn))
    };
    (requests.iter().map(cost).collect(), plain_list)
}

impl<'a> Usage<'a> {
    fn new(log: String, stats: &Stats, catalog: &'a Catalog) -> Self {
        let mut skills: BTreeMap<&str, SkillUsage> = BTreeMap::new();
        for hook in &stats.hook {
            let usage = skills.entry(&hook.id).or_default();
            let counts = hook.counts;
            usage.suggested += counts.suggested;
            usage.given += counts.given + counts.named;
            usage.hits += counts.hits;
            usage.ignored += counts.ignored;
            usage.missed += counts.missed;
        }
        for outcome in &stats.skills {
            let (usage, tally) = (skills.entry(&outcome.id).or_default(), &outcome.tally);
            usage.given += tally.used + tally.unused;
            usage.hits += tally.used;
            usage.missed += tally.missed;
        }
        let visible = catalog.visible();
        let unused = visible.filter(|entry| !skills.contains_key(entry.id()));
        let unused = unused.collect();
        let skills = skills.into_iter();
        let mut skills: Vec<_> = skills
            .map(|(id, usage)| SkillUsage {
                id: id.to_owned(),
                ..usage
            })
            .collect();
        let total = |usage: &SkillUsage| usage.suggested + usage.given + usage.hits + usage.missed;
        skills.sort_by_key(|usage| std::cmp::Reverse(total(usage)));
        Self {
            log,
            skills,
            clients: stats.clients.clone(),
            unused,
            notes: log_notes(&stats.lines),
        }
    }
}

/// Returns what a log has that is not counted.
fn log_notes(lines: &LogCounts) -> Vec<String> {
    let counts = [
        (lines.broken, "cannot be parsed"),
        (lines.too_long, "have more than 1 MiB"),
        (lines.uncounted_skills, "are about more than 10,000 skills"),
    ];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let mut notes: Vec<_> = counts
        .map(|(number, why)| format!("Lines of the log that {why}, and are not counted: {number}"))
        .collect();
    if lines.is_cut {
        notes.push("The log is longer than the 4 GiB that are read".to_owned());
    }
    notes
}
