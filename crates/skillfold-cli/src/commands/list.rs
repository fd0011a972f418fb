//! `skillfold list`

use std::num::NonZeroUsize;
use std::process::ExitCode;

use skillfold::core::catalog::{Filter, Status};
use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::source::Cursor;
use skillfold::core::{Catalog, Entry};
use skillfold::view::{ClientPlaces, Document, SkillList};

use crate::arguments::{Global, List};
use crate::client_state::{Places, chosen, title};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{Output, pluralize};
use crate::terminal::skill_table::skill_table;

pub(crate) fn run(global: &Global, options: &List, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let catalog = skills.catalog();
    let filter = filter(options)?;
    let cursor = options.after.as_deref().map(Cursor::after);
    let limit = options.limit.map_or(usize::MAX, NonZeroUsize::get);
    let page = catalog.page(&filter, cursor.as_ref(), limit);
    let client = chosen(options.client, &host::environment(global)?);
    let places = client.map(|client| Places::new(&skills, client));
    if output.is_json() {
        let mut listing = SkillList::new(&page);
        listing.client = client.zip(places.as_ref()).map(|(client, places)| {
            let entries = page.entries.iter();
            ClientPlaces {
                client: client.id.to_owned(),
                places: entries
                    .map(|entry| (entry.id().to_owned(), places.of(entry).to_owned()))
                    .collect(),
            }
        });
        let listing = if is_unfiltered(options) {
            listing.with_refused(&catalog)
        } else {
            listing
        };
        return output.json(Document::Skills(listing));
    }
    let place = |entry: &Entry<'_>| places.as_ref().map(|places| places.of(entry));
    output.table(&skill_table(&page.entries, place))?;
    if let Some(next) = &page.next {
        output.say(format!(
            "There are more: `--after {}`",
            visible(next.as_str())
        ));
    }
    if is_unfiltered(options) {
        say_summary(&catalog, output);
        host::say_held(&catalog, output);
        host::say_proposals(&skills, output);
        host::say_trust_rule(&skills, output);
    } else {
        let all = pluralize(catalog.len(), "skill", "skills");
        output.say(format!("{} of {all}", page.entries.len()));
    }
    if let Some(client) = client {
        let name = title(client);
        output.say(format!(
            "`own list` is {name}'s; `--client` shows another's"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn is_unfiltered(options: &List) -> bool {
    let List {
        query,
        scope,
        name,
        words,
        tag,
        limit,
        after,
        client: _,
    } = options;
    let texts = [query, name, words, after];
    texts.iter().all(|text| text.is_none()) && scope.is_empty() && tag.is_empty() && limit.is_none()
}

fn filter(options: &List) -> Result<Filter, Failure> {
    let mut filter = Filter::default();
    for scope in &options.scope {
        filter = filter.scope(*scope);
    }
    if let Some(pattern) = &options.name {
        filter = filter.name(pattern)?;
    }
    if let Some(words) = &options.words {
        filter = filter.words(words);
    }
    for tag in &options.tag {
        filter = filter.tag(tag);
    }
    if let Some(query) = &options.query {
        filter = filter.query(query);
    }
    Ok(filter)
}

/// Prints how many skills there are, and a hint about those that cannot be used.
fn say_summary(catalog: &Catalog, output: &mut Output) {
    let refused = catalog.refused().len();
    let findings = catalog.findings().iter();
    let warnings = findings
        .filter(|sourced| sourced.finding.diagnostic.severity > Severity::Info)
        .count();
    if catalog.is_empty() && refused == 0 && warnings == 0 {
        return output.say(
            "No skills found. `skillfold new NAME` creates one; `skillfold doctor` lists the folders that were searched",
        );
    }
    let mut notes = Vec::new();
    for status in [
        Status::Untrusted,
        Status::Held,
        Status::Disabled,
        Status::Incompatible,
        Status::Shadowed,
    ] {
        let entries = catalog.entries();
        match entries.filter(|entry| entry.status() == status).count() {
            0 => {}
            count => notes.push(format!("{count} {status}")),
        }
    }
    if refused > 0 {
        notes.push(pluralize(
            refused,
            "invalid SKILL.md",
            "invalid SKILL.md files",
        ));
    }
    if warnings > 0 {
        notes.push(pluralize(
            warnings,
            "warning about a folder",
            "warnings about folders",
        ));
    }
    let skills = pluralize(catalog.len(), "skill", "skills");
    if notes.is_empty() {
        output.say(skills);
    } else {
        let notes = notes.join(", ");
        output.say(format!("{skills}, {notes}; `skillfold doctor` says why"));
    }
}
