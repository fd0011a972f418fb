//! Which packages the runs of a skill get.

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;
use skillfold_run::Prepare;

use crate::environment::Environment;
use crate::scripts::RunnableSkill;
use crate::scripts::packages::SkillPackages;

impl RunnableSkill {
    /// Returns the packages that a script names and that are not installed for it.
    pub fn missing_packages(&self, script: &ResourcePath) -> Vec<String> {
        let wanted = match skillfold_run::script_dependencies(&self.copy, script) {
            Ok(Some(wanted)) => wanted,
            Ok(None) => return Vec::new(),
            Err(error) => return vec![error.to_string()],
        };
        let is_installed = (self.packages.iter()).any(|it| it.file == wanted.file.as_str());
        if is_installed {
            Vec::new()
        } else {
            wanted.requirements
        }
    }

    /// Returns the packages from an earlier allowance that the skill still names in the same way.
    pub(super) fn kept_packages(
        &self,
        before: &[SkillPackages],
        environment: &Environment,
    ) -> Vec<SkillPackages> {
        let Ok(wanted) = self.dependencies() else {
            return Vec::new();
        };
        let is_wanted = |packages: &&SkillPackages| {
            wanted.iter().any(|wanted| {
                let digest = Prepare::new(&self.copy, wanted).digest();
                digest.is_ok_and(|digest| packages.is_for(wanted, digest))
            })
        };
        let kept = before.iter().filter(is_wanted);
        let usable = kept
            .filter(|packages| packages.folder.is_dir() && packages.granted(environment).is_ok());
        usable.cloned().collect()
    }

    pub(super) fn grant_packages(
        &mut self,
        packages: Vec<SkillPackages>,
        environment: &Environment,
    ) -> Result<(), Error> {
        let granted = packages.iter().map(|it| it.granted(environment));
        let granted: Vec<_> = granted.collect::<Result<_, _>>()?;
        let permissions = self.options.permissions().clone().with_packages(granted);
        self.options = self.options.clone().with_permissions(permissions);
        self.packages = packages;
        Ok(())
    }
}
