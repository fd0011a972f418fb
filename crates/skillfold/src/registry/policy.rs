//! The policy for sources: the machine's, the user's and the project's.

use std::io;
use std::path::Path;

use skillfold_core::Error;
use skillfold_registry::{POLICY_FILE, SourcePolicy};
use skillfold_store::WriteTarget;

use super::{InstallScope, Registry};
use crate::environment::{Environment, MAX_SETTINGS_BYTES, read_settings, real_path};
use crate::skills::Skills;

/// The folder of a project's policy, as of its settings.
const FOLDER: &str = ".skillfold";

impl Skills {
    /// Returns the policy for the sources of the project's skills: the rules of the machine, the user and the project.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if one of the files cannot be read: then nothing is allowed.
    pub fn source_policy(&self) -> Result<SourcePolicy, Error> {
        let environment = self.environment();
        Ok(of_user(environment)?.and(of_project(environment.project())?))
    }
}

impl Registry<'_> {
    /// Returns the policy for the sources of these skills: the rules of the machine, the user and, for a project's skills, the
    /// project.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if one of the files cannot be read: then nothing is allowed.
    pub fn policy(&self) -> Result<SourcePolicy, Error> {
        let policy = of_user(self.skills.environment())?;
        Ok(match self.scope {
            InstallScope::Project => policy.and(of_project(&self.base)?),
            InstallScope::User => policy,
        })
    }
}

/// Returns the rules of the machine and of the user.
fn of_user(environment: &Environment) -> Result<SourcePolicy, Error> {
    let path = environment.machine_policy();
    let text = machine_text(environment, &path);
    let machine = read(&path, text.map_err(|error| error.to_string()))?;
    let Some(path) = environment.user_policy() else {
        return Ok(machine);
    };
    let user = read_settings(&path).map_err(|error| error.to_string());
    Ok(machine.and(read(&path, user)?))
}

/// Returns the rules of a project. No link inside the project is followed.
fn of_project(project: &Path) -> Result<SourcePolicy, Error> {
    let path = project.join(FOLDER).join(POLICY_FILE);
    let text = || {
        let target = WriteTarget::within(project, &path)?;
        let file = target.read(MAX_SETTINGS_BYTES)?;
        Ok(target.text(file.as_ref())?.map(str::to_owned))
    };
    let why = |error: Error| match error.refusal() {
        Some(_) => error.hint().to_owned(),
        None => error.with_cause(),
    };
    read(&path, text().map_err(why))
}

fn machine_text(environment: &Environment, path: &Path) -> io::Result<Option<String>> {
    let Some(text) = read_settings(path)? else {
        let mut ways = path.ancestors().take(2);
        return match ways.find(|way| way.is_symlink()) {
            Some(_) => Err(io::Error::other("it is a link that leads nowhere")),
            None => Ok(None),
        };
    };
    let real = real_path(path).unwrap_or_else(|| path.to_owned());
    let mut paths = [path, &real].into_iter();
    match paths.find_map(|path| environment.machine_policy_writer(path)) {
        Some(why) => Err(io::Error::other(why)),
        None => Ok(Some(text)),
    }
}

fn read(path: &Path, text: Result<Option<String>, String>) -> Result<SourcePolicy, Error> {
    let file = path.to_string_lossy();
    match text {
        Ok(Some(text)) => SourcePolicy::parse(&file, &text),
        Ok(None) => Ok(SourcePolicy::default()),
        Err(why) => Err(SourcePolicy::unreadable(&file, &why)),
    }
}
