//! Checks that a pinned folder has the skills that it was trusted with.

use std::path::Path;

use skillfold_core::{Error, Root};

use crate::environment::Environment;
use crate::pins::Pins;
use crate::roots::{self, SearchedRoot};
use crate::settings::{Origin, Settings};
use crate::trust::{TrustRule, TrustedFolder, TrustedState};

impl Pins {
    /// Returns the skills that a project has now, as they would be used if it were trusted. `folder` is the folder to pin, with
    /// its links resolved; the environment's working folder is in it.
    pub fn of_project(environment: &Environment, folder: &Path) -> Result<Self, Error> {
        let settings = Settings::load(environment, &[]);
        let rule = TrustRule::Project(Origin::Argument);
        let (roots, searched) = roots::find(environment, &settings, Some(&rule), &[]);
        Self::of_roots(folder, &roots, &searched, &settings)
    }

    /// Returns the skills of the project's roots.
    pub(crate) fn of_roots(
        folder: &Path,
        roots: &[Root],
        searched: &[SearchedRoot],
        settings: &Settings,
    ) -> Result<Self, Error> {
        let is_project = |root: &&Root| {
            let mut searched = searched.iter();
            searched.any(|searched| searched.trusted_by.is_some() && searched.is_root(root))
        };
        let options = settings.catalog_options().read;
        Self::compute(folder, roots.iter().filter(is_project), &options)
    }
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
