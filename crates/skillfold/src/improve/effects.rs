//! What a change of a skill does: to what it reaches, its findings, its cost, what it may do, and when it is chosen.

use std::collections::BTreeSet;

use skillfold_core::author::lint_skill;
use skillfold_core::diagnostic::visible;
use skillfold_core::load::FileKind;
use skillfold_core::read::parse;
use skillfold_core::source::{Folder, SKILL_FILE};
use skillfold_core::{
    Catalog, CatalogOptions, Diagnostic, Error, Limits, LoadOptions, Loader, Manifest,
    MemorySource, Root, Scope,
};
use skillfold_store::change::{SuggestedBump, suggest_bump};
use skillfold_store::{Preview, SkillFiles, SkillPath};

use super::reach::{Reach, ReachKind, removed_permissions};
use crate::author::evaluate::{EvaluatedQuery, is_query_file};
use crate::environment;
use crate::skills::Skills;

/// Maximum entries of a list that are named in one line.
const MAX_NAMES: usize = 5;

/// What a change of a skill does.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is one effect")]
pub struct Effects {
    /// Whether the skill is new.
    pub is_new: bool,
    /// What the skill reaches after the change and not now, by kind.
    pub reaches: Vec<Reach>,
    /// The permissions that it no longer asks for.
    pub removed_permissions: Vec<String>,
    /// The findings of the skill after the change that it does not have now.
    pub new_findings: Vec<Diagnostic>,
    /// How many findings it has now and not after the change.
    pub fixed_findings: usize,
    /// The tokens of the description, before and after. 0 if there is none.
    pub description_tokens: [u64; 2],
    /// The tokens of the instructions, before and after. 0 if there are none.
    pub instruction_tokens: [u64; 2],
    /// Whether the name changes.
    pub is_renamed: bool,
    /// Whether the description changes, by which a skill is chosen.
    pub description_changed: bool,
    /// Whether the triggers change.
    pub triggers_changed: bool,
    /// The tools that it asks for in addition.
    pub added_tools: Vec<String>,
    /// The tools that it no longer asks for.
    pub removed_tools: Vec<String>,
    /// The scripts that are new or changed.
    pub changed_scripts: Vec<String>,
    /// The labelled requests of the skill that were run.
    pub queries: usize,
    /// Those for which the skill is chosen now and not after the change, or the other way round.
    pub changed_queries: Vec<ChangedQuery>,
    /// The suggested step of the version.
    pub bump: SuggestedBump,
    /// The suggested version, if the skill has one now.
    pub next_version: Option<String>,
}

/// A labelled request whose outcome a change turns round.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "ChangedQueryView")]
#[non_exhaustive]
pub struct ChangedQuery {
    /// The request.
    pub query: String,
    /// Whether the skill should be chosen for it.
    pub should_trigger: bool,
    /// Whether the skill is chosen after the change.
    pub is_chosen: bool,
}

impl ChangedQuery {
    /// Returns whether the outcome is the right one after the change.
    pub fn is_better(&self) -> bool {
        self.should_trigger == self.is_chosen
    }
}

impl Skills {
    pub(crate) fn effects_of(
        &self,
        id: &str,
        place: &SkillPath,
        preview: &Preview,
    ) -> Result<Effects, Error> {
        let folder = place.path();
        let folder = folder.file_name().unwrap_or_default().to_string_lossy();
        let before = MemoryVersion::new(&preview.before, &folder);
        let after = MemoryVersion::new(&preview.after, &folder);
        let profile = self.report().settings.profile.value;
        let (old, new) = (before.findings(profile)?, after.findings(profile)?);
        let is_in = |finding: &Diagnostic, list: &[Diagnostic]| {
            let same = |other: &Diagnostic| {
                (other.code, &other.message) == (finding.code, &finding.message)
            };
            list.iter().any(same)
        };
        let changed_scripts = preview.edits.iter().filter(|edit| {
            let path = edit.path.as_str();
            let is_script =
                FileKind::from_path(path) == FileKind::Script || path.starts_with("scripts/");
            is_script && edit.new.is_some()
        });
        let (queries, changed_queries) = self.compare_queries(id, preview, &after)?;
        let bump = suggest_bump(&preview.edits, &folder);
        let version = before.manifest.as_ref().and_then(Manifest::version);
        let (old_tools, new_tools) = (before.tools(), after.tools());
        let tokens = |version: &MemoryVersion| self.count_tokens(version);
        let (old_tokens, new_tokens) = (tokens(&before), tokens(&after));
        Ok(Effects {
            is_new: preview.before.is_empty(),
            reaches: Reach::of(preview, before.manifest.as_ref(), after.manifest.as_ref()),
            removed_permissions: removed_permissions(
                before.manifest.as_ref(),
                after.manifest.as_ref(),
            ),
            fixed_findings: old.iter().filter(|it| !is_in(it, &new)).count(),
            new_findings: new.iter().filter(|it| !is_in(it, &old)).cloned().collect(),
            description_tokens: [old_tokens.0, new_tokens.0],
            instruction_tokens: [old_tokens.1, new_tokens.1],
            is_renamed: before.manifest.is_some() && before.field(name) != after.field(name),
            description_changed: before.field(description) != after.field(description),
            triggers_changed: before.triggers() != after.triggers(),
            added_tools: new_tools.difference(&old_tools).cloned().collect(),
            removed_tools: old_tools.difference(&new_tools).cloned().collect(),
            changed_scripts: changed_scripts
                .map(|edit| edit.path.as_str().to_owned())
                .collect(),
            queries,
            changed_queries,
            next_version: version.and_then(|version| bump.bump.next(version)),
            bump,
        })
    }

    /// Returns the tokens of a version's description and of its instructions.
    fn count_tokens(&self, version: &MemoryVersion) -> (u64, u64) {
        let counter = self.report().settings.policy().counter;
        let text = version.instructions();
        let count = |text: Option<&str>| text.map_or(0, |text| counter.count(text));
        (
            count(version.field(description).as_deref()),
            count(text.as_deref()),
        )
    }

    /// Runs the labelled requests that the skill ships, without the change and with it. Returns how many there are, and
    /// those with another outcome.
    fn compare_queries(
        &self,
        id: &str,
        preview: &Preview,
        after: &MemoryVersion,
    ) -> Result<(usize, Vec<ChangedQuery>), Error> {
        let policy = self.report().settings.policy();
        let mut paths = preview.after.iter().map(|(path, _)| path);
        let ships_queries = paths.any(is_query_file);
        let Some(name) = after.field(name).filter(|_| ships_queries) else {
            return Ok((0, Vec::new()));
        };
        let catalog = self.catalog();
        let scope = catalog.get(id).map_or(Scope::User, |entry| entry.scope());
        // The new version comes first, so that it wins the name.
        let changed = self.with_roots_before(vec![Root::new(
            scope,
            "proposed",
            memory(&preview.after, &after.folder),
        )]);
        let changed = changed.evaluate(&[&name], &policy)?;
        let after = changed.skills.into_iter().flat_map(|skill| skill.queries);
        let after: Vec<EvaluatedQuery> = after.collect();
        if after.is_empty() {
            return Ok((0, Vec::new()));
        }
        let is_chosen = EvaluatedQuery::is_given;
        let before = match catalog.get(id) {
            Some(_) => self.evaluate(&[id], &policy)?.skills,
            None => Vec::new(),
        };
        let chosen: BTreeSet<Box<str>> = before
            .into_iter()
            .flat_map(|skill| skill.queries)
            .filter(is_chosen)
            .map(|query| query.query)
            .collect();
        let changed = after.iter().filter(|query| {
            !preview.before.is_empty() && is_chosen(query) != chosen.contains(&query.query)
        });
        let changed = changed.map(|query| ChangedQuery {
            query: query.query.to_string(),
            should_trigger: query.should_trigger,
            is_chosen: is_chosen(query),
        });
        Ok((after.len(), changed.collect()))
    }
}

impl Effects {
    /// Returns what to say before the names of what it reaches.
    pub fn says(&self, kind: ReachKind) -> &'static str {
        if self.is_new {
            kind.of_new()
        } else {
            kind.of_update()
        }
    }

    /// Returns the effects as sentences, those that matter most first. None of them has control characters.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.reach_lines();
        for finding in &self.new_findings {
            let code = finding.code;
            lines.push(format!("New finding {code}: {}", visible(&finding.message)));
        }
        match self.fixed_findings {
            0 => {}
            1 => lines.push("One finding is fixed".to_owned()),
            number => lines.push(format!("{number} findings are fixed")),
        }
        for (is_changed, what) in [
            (self.is_renamed, "The name changes"),
            (
                self.description_changed,
                "The description changes, which affects when it is selected",
            ),
            (self.triggers_changed, "The triggers change"),
        ] {
            if is_changed && !self.is_new {
                lines.push(what.to_owned());
            }
        }
        for query in &self.changed_queries {
            let word = if query.is_better() { "better" } else { "worse" };
            let chosen = if query.is_chosen {
                "chosen"
            } else {
                "not chosen"
            };
            let query = visible(&query.query);
            lines.push(format!("Now {chosen} for \"{query}\": {word}"));
        }
        if self.queries > 0 && self.changed_queries.is_empty() {
            let number = self.queries;
            lines.push(format!(
                "Its {number} labelled requests have the same outcome"
            ));
        }
        let tokens = |[before, after]: [u64; 2]| match before {
            _ if self.is_new => after.to_string(),
            before if before == after => format!("{after} as before"),
            before => format!("{before} before, {after} after"),
        };
        lines.push(format!(
            "Tokens of the description: {}",
            tokens(self.description_tokens)
        ));
        lines.push(format!(
            "Tokens of the instructions: {}",
            tokens(self.instruction_tokens)
        ));
        if self.is_new {
            return lines;
        }
        let next = self.next_version.as_ref();
        let next = next.map_or_else(String::new, |next| format!(" to {next}"));
        lines.push(format!(
            "Suggested version bump: {}{next} ({})",
            self.bump.bump,
            visible(&self.bump.reason)
        ));
        lines
    }

    /// Returns what the skill reaches and asks for.
    fn reach_lines(&self) -> Vec<String> {
        let reaches = self.reaches.iter().map(|reach| {
            let names = reach.mentions.iter().map(|it| match reach.kind {
                ReachKind::HiddenCharacters => format!("{} ({})", it.place(), it.name),
                _ => it.name.clone(),
            });
            format!("{}: {}", self.says(reach.kind), list(names, reach.total))
        });
        let lists = [
            (&self.added_tools, "Wants more tools"),
            (&self.changed_scripts, "New or changed scripts"),
            (&self.removed_tools, "Wants fewer tools"),
            (&self.removed_permissions, "Asks for fewer permissions"),
        ];
        let lists = lists.into_iter().filter(|(words, _)| !words.is_empty());
        let lists = lists.map(|(words, what)| {
            let shown = words.iter().map(|word| visible(word).into_owned());
            format!("{what}: {}", list(shown, words.len()))
        });
        reaches.chain(lists).collect()
    }
}

/// Returns the first names of a list, and how many more there are.
fn list(names: impl Iterator<Item = String>, total: usize) -> String {
    let shown: Vec<String> = names.take(MAX_NAMES).collect();
    match total.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A version of a skill in memory.
struct MemoryVersion {
    catalog: Catalog,
    manifest: Option<Manifest>,
    folder: String,
    is_empty: bool,
}

impl MemoryVersion {
    fn new(files: &SkillFiles, folder: &str) -> Self {
        let root = Root::new(Scope::Bundled, "version", memory(files, folder));
        let options = CatalogOptions::default();
        Self {
            catalog: Catalog::discover(vec![root], options, environment::now()),
            manifest: files
                .get(SKILL_FILE)
                .and_then(|bytes| parse(bytes, folder).manifest),
            folder: folder.to_owned(),
            is_empty: files.is_empty(),
        }
    }

    fn findings(&self, profile: skillfold_core::read::Profile) -> Result<Vec<Diagnostic>, Error> {
        if self.is_empty {
            return Ok(Vec::new());
        }
        let source = self.catalog.roots()[0].source();
        let folder = Folder::new(self.folder.as_str());
        let folder = folder.map_err(|error| Error::invalid(&self.folder, error.rule()))?;
        lint_skill(source, &folder, profile, &Limits::default())
    }

    fn field(&self, field: fn(&Manifest) -> String) -> Option<String> {
        self.manifest.as_ref().map(field)
    }

    fn triggers(&self) -> String {
        let triggers = self.manifest.as_ref().and_then(Manifest::triggers);
        format!("{triggers:?}")
    }

    fn tools(&self) -> BTreeSet<String> {
        let tools = self.manifest.iter().flat_map(Manifest::allowed_tools);
        tools.map(ToString::to_string).collect()
    }

    fn instructions(&self) -> Option<String> {
        let entry = self.catalog.entries().next()?;
        let loader = Loader::new(LoadOptions::default(), environment::now);
        let instructions = loader.load(&entry, "").ok()?;
        Some(instructions.text().to_owned())
    }
}

fn name(manifest: &Manifest) -> String {
    manifest.name().to_string()
}

fn description(manifest: &Manifest) -> String {
    manifest.description().to_owned()
}

fn memory(files: &SkillFiles, folder: &str) -> MemorySource {
    MemorySource::new(
        files
            .iter()
            .map(|(path, bytes)| (format!("{folder}/{path}"), bytes)),
    )
}
