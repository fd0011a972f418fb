//! What a shell offers while a command is typed.

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use skillfold::core::Code;
use skillfold::{Environment, Host, settings::KEYS};

/// Offers the ids of the skills that are visible from the working folder.
pub(super) fn skill_ids() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Ok(environment) = Environment::from_process(".") else {
            return Vec::new();
        };
        let cache = environment.cache_folder();
        let mut host = Host::new(environment);
        if let Some(cache) = cache {
            host = host.cache(cache);
        }
        let skills = host.discover_lenient().skills;
        let catalog = skills.catalog();
        let entries = catalog.entries();
        let entries = entries.map(|entry| (entry.id(), entry.manifest().brief().into_owned()));
        candidates(entries)
    })
}

/// Offers the codes of findings.
pub(super) fn codes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        candidates(
            Code::ALL
                .iter()
                .map(|code| (code.number(), code.description().to_owned())),
        )
    })
}

/// Offers the names of the settings.
pub(super) fn settings() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        candidates(
            KEYS.iter()
                .map(|key| (key.name, key.description.to_owned())),
        )
    })
}

/// Returns values with what a shell says about each.
fn candidates<'v>(values: impl Iterator<Item = (&'v str, String)>) -> Vec<CompletionCandidate> {
    values
        .map(|(value, help)| CompletionCandidate::new(value).help(Some(help.into())))
        .collect()
}
