//! Checks that a pinned folder has the skills that it was trusted with, and that nothing else is read from it.

use std::path::Path;

use skillfold_core::{Error, Root};

use crate::discovery::roots::{self, SearchedRoot};
use crate::environment::Environment;
use crate::settings::{Origin, Settings};
use crate::trust::pinned_source::PinnedSource;
use crate::trust::pins::Pins;
use crate::trust::trusted::{TrustRule, TrustedFolder, TrustedState};

impl Pins {
    /// Returns the skills that a project has now, as they would be used if it were trusted. `folder` is the folder to pin, with
    /// its links resolved; the environment's working folder is in it.
    pub fn of_project(environment: &Environment, folder: &Path) -> Result<Self, Error> {
        let settings = Settings::load(environment);
        let rule = TrustRule::Project(Origin::Argument);
        let (roots, searched) = roots::find(environment, &settings, Some(&rule), &[]);
        let roots = roots.iter().filter(|root| is_of_project(root, &searched));
        let (pins, _) = Self::compute(folder, roots, &settings.catalog_options().read)?;
        Ok(pins)
    }

    /// Returns which skills of the project's roots are not as they were pinned, as a phrase. If all are, makes the roots refuse
    /// whatever is not.
    pub(crate) fn enforce(
        &self,
        folder: &Path,
        roots: &mut [Root],
        searched: &[SearchedRoot],
        settings: &Settings,
    ) -> Result<Option<String>, Error> {
        let is_pinned = |root: &Root| is_of_project(root, searched);
        let (current, files) = {
            let roots = roots.iter().filter(|root| is_pinned(root));
            Self::compute(folder, roots, &settings.catalog_options().read)?
        };
        let changes = self.changes(&current);
        if changes.is_none() {
            let roots = roots.iter_mut().filter(|root| is_pinned(root));
            for (root, files) in roots.zip(files) {
                *root = root
                    .clone()
                    .checked_by(|source| PinnedSource::new(source, files));
            }
        }
        Ok(changes)
    }
}

/// Returns whether a root belongs to the project that a rule trusts.
fn is_of_project(root: &Root, searched: &[SearchedRoot]) -> bool {
    let mut searched = searched.iter();
    searched.any(|searched| searched.trusted_by.is_some() && searched.is_root(root))
}

impl TrustedFolder {
    /// Checks whether it is still the folder that was trusted and, if it is pinned, whether it has the same skills. Reads all
    /// files of these; `environment` has the user's home and variables.
    pub fn state_with_content(&self, environment: &Environment) -> TrustedState {
        let (TrustedState::Pinned, Some(pins)) = (self.state(), self.pins()) else {
            return self.state();
        };
        match Pins::of_project(&environment.at(self.path()), self.path()) {
            Ok(current) if pins.changes(&current).is_none() => TrustedState::Pinned,
            _ => TrustedState::Changed,
        }
    }
}
