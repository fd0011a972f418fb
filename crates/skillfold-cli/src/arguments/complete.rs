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
        let candidates = entries.map(|entry| {
            let brief = entry.manifest().brief();
            CompletionCandidate::new(entry.id()).help(Some(brief.to_string().into()))
        });
        candidates.collect()
    })
}

/// Offers the codes of findings.
pub(super) fn codes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let codes = Code::ALL.iter();
        let candidates = codes.map(|code| {
            CompletionCandidate::new(code.number()).help(Some(code.description().into()))
        });
        candidates.collect()
    })
}

/// Offers the names of the settings.
pub(super) fn settings() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let keys = KEYS.iter();
        let candidates =
            keys.map(|key| CompletionCandidate::new(key.name).help(Some(key.description.into())));
        candidates.collect()
    })
}
