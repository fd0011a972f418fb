//! Which packages the runs of a skill get.

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;
use skillfold_run::{Dependencies, Prepare, RunError};

use crate::environment::Environment;
use crate::scripts::RunnableSkill;
use crate::scripts::packages::SkillPackages;
use crate::settings::ApprovalRequires;

impl RunnableSkill {
    /// Returns the packages that a script names and that are not installed for it.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_dependencies` if they are named in a way that is not understood.
    pub fn missing_packages(&self, script: &ResourcePath) -> Result<Vec<String>, RunError> {
        let Some(wanted) = skillfold_run::script_dependencies(&self.copy, script)? else {
            return Ok(Vec::new());
        };
        let is_installed = (self.packages.iter()).any(|it| it.file == wanted.file.as_str());
        Ok(if is_installed {
            Vec::new()
        } else {
            wanted.requirements
        })
    }

    /// Reads everything that is installed for the skill, and returns whether it has the packages that it names, unchanged.
    ///
    /// # Errors
    ///
    /// As [`dependencies`](Self::dependencies).
    pub fn has_unchanged_packages(&self) -> Result<bool, RunError> {
        let granted = self.options.permissions().packages();
        for wanted in self.dependencies()? {
            let digest = self.prepare(&wanted).digest()?;
            let Some(packages) = self.packages.iter().find(|it| it.is_for(&wanted, digest)) else {
                return Ok(false);
            };
            let mut granted = granted.iter().filter(|it| it.file == wanted.file);
            let found = granted.next().and_then(|it| it.read_tree().ok());
            if found != Some(packages.tree) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the installation of packages, with the options of the skill's runs.
    pub(super) fn prepare<'a>(&'a self, wanted: &'a Dependencies) -> Prepare<'a> {
        Prepare::new(&self.copy, wanted).with_options(self.options.clone())
    }

    /// Returns the packages from an earlier allowance that the skill still names in the same way.
    pub(super) fn kept_packages(
        &self,
        before: &[SkillPackages],
        environment: &Environment,
    ) -> Vec<SkillPackages> {
        // A file that is not understood is shown where packages are.
        let Ok(wanted) = self.dependencies() else {
            return Vec::new();
        };
        let is_wanted = |packages: &&SkillPackages| {
            wanted.iter().any(|wanted| {
                let digest = self.prepare(wanted).digest();
                digest.is_ok_and(|digest| packages.is_for(wanted, digest))
            })
        };
        let kept = before.iter().filter(is_wanted);
        let usable = kept.filter(|packages| {
            let granted = packages.granted(environment, ApprovalRequires::default());
            packages.folder.is_dir() && granted.is_ok()
        });
        usable.cloned().collect()
    }

    pub(super) fn grant_packages(
        &mut self,
        packages: Vec<SkillPackages>,
        environment: &Environment,
        requires: ApprovalRequires,
    ) -> Result<(), Error> {
        let granted = packages.iter().map(|it| it.granted(environment, requires));
        let granted: Vec<_> = granted.collect::<Result<_, _>>()?;
        let permissions = self.options.permissions().clone().with_packages(granted);
        self.options = self.options.clone().with_permissions(permissions);
        self.packages = packages;
        Ok(())
    }
}
