//! Skills from repositories, archives and folders.

use serde::Deserialize;
use skillfold::Skills;
use skillfold::core::Error;
use skillfold::registry::{AddRequest, InstallOptions, InstallScope, Names, Registry};
use skillfold::view::{
    Document, InstallView, OriginView, OutdatedView, SkillProposals, SourceSkills, UpdateView,
    VerificationView,
};

use crate::error::{Answer, value, view};

/// A call about what is installed, of the project or of the person.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryCall {
    user: bool,
    call: InstalledCall,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum InstalledCall {
    /// The paths of `skills.toml` and `skills.lock`.
    Files,
    /// The skills of a source that answer a request best; all for an empty one.
    Search {
        source: String,
        request: String,
        limit: usize,
    },
    Add(NewSkills),
    Install {
        frozen: bool,
        offline: bool,
        discard_edits: bool,
    },
    Verify,
    Outdated,
    Update {
        names: Vec<String>,
        dry_run: bool,
    },
    Remove {
        name: String,
        discard_edits: bool,
    },
    Vendor,
    WhyInstalled {
        name: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSkills {
    source: String,
    /// The names; without them all skills of the source if `all`, or the only one.
    names: Vec<String>,
    all: bool,
    clients: Vec<String>,
}

impl NewSkills {
    fn request(self, registry: &Registry<'_>) -> Result<AddRequest, Error> {
        let mut request = AddRequest::new(registry.address(&self.source)?);
        request.names = match (self.all, self.names) {
            (true, names) if !names.is_empty() => {
                return Err(Error::invalid("all", "It has names beside it"));
            }
            (true, _) => Names::All,
            (false, names) if names.is_empty() => Names::Only,
            (false, names) => Names::These(names),
        };
        request.clients = self.clients;
        Ok(request)
    }
}

pub(crate) fn answer(skills: &Skills, call: RegistryCall) -> Answer {
    let scope = if call.user {
        InstallScope::User
    } else {
        InstallScope::Project
    };
    let registry = skills.registry(scope)?;
    Ok(view(match call.call {
        InstalledCall::Files => {
            return value((registry.wanted_file(), registry.lock_file()));
        }
        InstalledCall::Search {
            source,
            request,
            limit,
        } => {
            let address = registry.address(&source)?;
            let found = match &*request {
                "" => registry.skills_in(&address)?,
                request => registry.search(&address, request, limit)?,
            };
            Document::SourceSkills(SourceSkills::new(&source, &found))
        }
        InstalledCall::Add(new) => {
            let added = registry.propose(&new.request(&registry)?)?;
            Document::SkillProposals(SkillProposals::new(&added.skills, &added.failed))
        }
        InstalledCall::Install {
            frozen,
            offline,
            discard_edits,
        } => {
            let mut options = InstallOptions::default();
            options.frozen = frozen;
            options.discard_edits = discard_edits;
            let report = changing(skills, || {
                if offline {
                    registry.offline().install(options)
                } else {
                    registry.install(options)
                }
            })?;
            Document::Installed(InstallView::new(&report))
        }
        InstalledCall::Verify => Document::Verification(VerificationView::new(&registry.verify()?)),
        InstalledCall::Outdated => Document::Outdated(OutdatedView::new(&registry.outdated()?)),
        InstalledCall::Update { names, dry_run } => {
            let updated = if dry_run {
                registry.preview_update(&names)?
            } else {
                registry.update(&names)?
            };
            Document::Updated(UpdateView::new(&updated))
        }
        InstalledCall::Remove {
            name,
            discard_edits,
        } => {
            changing(skills, || registry.remove(&name, discard_edits))?;
            return value(());
        }
        InstalledCall::Vendor => Document::Installed(InstallView::new(&registry.vendor()?)),
        InstalledCall::WhyInstalled { name } => {
            Document::Origin(OriginView::new(&registry.why_installed(&name)?))
        }
    }))
}

/// Makes a call that may change skills, and brings the catalog up to date, also if the call failed half way.
fn changing<T>(skills: &Skills, act: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let done = act();
    let refreshed = skills.refresh();
    let done = done?;
    refreshed?;
    Ok(done)
}
