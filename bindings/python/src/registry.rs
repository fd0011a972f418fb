//! Skills from repositories, archives and folders.

use std::path::PathBuf;

use pyo3::prelude::*;
use skillfold::Skills;
use skillfold::core::Error;
use skillfold::registry::{self, AddRequest, InstallOptions, InstallScope, Names};
use skillfold::view::{
    Document, InstallView, OriginView, OutdatedView, SkillProposals, SourceSkills, UpdateView,
    VerificationView,
};

use crate::error::{detached, json};

/// What is installed from sources, of a project or of the person. `skillfold._registry` wraps it.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct Registry {
    skills: Skills,
    scope: InstallScope,
}

/// What to add, as `skillfold._registry` passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct NewSkills {
    source: String,
    /// The names; without them all skills of the source if `all`, or the only one.
    names: Vec<String>,
    all: bool,
    clients: Vec<String>,
}

impl NewSkills {
    fn request(self, registry: &registry::Registry<'_>) -> Result<AddRequest, Error> {
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

impl Registry {
    pub(crate) fn new(skills: &Skills, is_user: bool) -> Self {
        Self {
            skills: skills.clone(),
            scope: if is_user {
                InstallScope::User
            } else {
                InstallScope::Project
            },
        }
    }

    fn open(&self) -> Result<registry::Registry<'_>, Error> {
        self.skills.registry(self.scope)
    }

    /// Makes a call that may change skills, and brings the catalog up to date, also if the call failed half way.
    fn changing<T>(
        &self,
        act: impl FnOnce(registry::Registry<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let done = act(self.open()?);
        let refreshed = self.skills.refresh();
        let done = done?;
        refreshed?;
        Ok(done)
    }
}

#[pymethods]
impl Registry {
    /// Returns the paths of `skills.toml` and `skills.lock`.
    fn files(&self, py: Python<'_>) -> PyResult<(PathBuf, PathBuf)> {
        detached(py, || {
            let registry = self.open()?;
            let (wanted, lock) = (registry.wanted_file(), registry.lock_file());
            Ok((wanted.to_owned(), lock.to_owned()))
        })
    }

    fn skills_in(
        &self,
        py: Python<'_>,
        source: &str,
        request: &str,
        limit: usize,
    ) -> PyResult<String> {
        detached(py, || {
            let registry = self.open()?;
            let address = registry.address(source)?;
            let found = match request {
                "" => registry.skills_in(&address)?,
                request => registry.search(&address, request, limit)?,
            };
            let view = SourceSkills::new(source, &found);
            Ok(json(Document::SourceSkills(view)))
        })
    }

    fn add(&self, py: Python<'_>, new: NewSkills) -> PyResult<String> {
        detached(py, || {
            let registry = self.open()?;
            let added = registry.propose(&new.request(&registry)?)?;
            let view = SkillProposals::new(&added.skills, &added.failed);
            Ok(json(Document::SkillProposals(view)))
        })
    }

    fn install(
        &self,
        py: Python<'_>,
        frozen: bool,
        offline: bool,
        discard_edits: bool,
    ) -> PyResult<String> {
        detached(py, || {
            let mut options = InstallOptions::default();
            options.frozen = frozen;
            options.discard_edits = discard_edits;
            let report = self.changing(|registry| {
                if offline {
                    registry.offline().install(options)
                } else {
                    registry.install(options)
                }
            })?;
            Ok(json(Document::Installed(InstallView::new(&report))))
        })
    }

    fn verify(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let view = VerificationView::new(&self.open()?.verify()?);
            Ok(json(Document::Verification(view)))
        })
    }

    fn outdated(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let view = OutdatedView::new(&self.open()?.outdated()?);
            Ok(json(Document::Outdated(view)))
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a list")]
    fn update(&self, py: Python<'_>, names: Vec<String>, dry_run: bool) -> PyResult<String> {
        detached(py, || {
            let registry = self.open()?;
            let updated = if dry_run {
                registry.preview_update(&names)?
            } else {
                registry.update(&names)?
            };
            Ok(json(Document::Updated(UpdateView::new(&updated))))
        })
    }

    fn remove(&self, py: Python<'_>, name: &str, discard_edits: bool) -> PyResult<()> {
        detached(py, || {
            self.changing(|registry| registry.remove(name, discard_edits))?;
            Ok(())
        })
    }

    fn vendor(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let view = InstallView::new(&self.open()?.vendor()?);
            Ok(json(Document::Installed(view)))
        })
    }

    fn why_installed(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        detached(py, || {
            let view = OriginView::new(&self.open()?.why_installed(name)?);
            Ok(json(Document::Origin(view)))
        })
    }
}
