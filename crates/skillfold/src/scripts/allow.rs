//! Allows a skill to run, and finds out whether it may.

use std::path::{Path, PathBuf};

use skillfold_core::diagnostic::visible;
use skillfold_core::load::Digest;
use skillfold_core::{Error, Refusal};
use skillfold_run::{ApprovedPath, HostRule, NamedInterpreter, RunError, RunErrorKind};
use skillfold_store::Approval;

use crate::environment::now;
use crate::scripts::allowed::{self, AllowedSkill, AllowedSkills, Decided, NotAllowed};
use crate::scripts::asked::AskedPermissions;
use crate::scripts::packages::{Earlier, SkillPackages};
use crate::scripts::project_access::ProjectAccess;
use crate::scripts::protected::protected;
use crate::scripts::tool::SkillTool;
use crate::scripts::{RunnableSkill, ScriptError, packages};
use crate::settings::ApprovalRequires;
use crate::skills::Skills;

impl Skills {
    /// Returns what a skill asks for and the user's allowance.
    pub(super) fn find_allowed(
        &self,
        folder: Option<&Path>,
        digest: Digest,
        asked: AskedPermissions,
    ) -> Result<Decided, Error> {
        let list = AllowedSkills::load(self.environment());
        let home = self.environment().home_dir();
        let refused = |asked: AskedPermissions, why| Decided {
            asked: asked.resolve(home),
            allowed: Err(why),
            entry: None,
        };
        let Some(known) = folder.and_then(|folder| list.find(digest, folder)) else {
            return Ok(refused(asked, NotAllowed::Unknown));
        };
        let (paths, programs) = (known.paths.clone(), known.interpreters.clone());
        let mut approved = asked.clone().with_approved(paths, programs, home);
        approved.set_hosts(known.hosts.clone());
        Ok(match self.check_entry(known, &approved)? {
            None => Decided {
                asked: approved,
                allowed: Ok(known.clone()),
                entry: Some(known.clone()),
            },
            // What it asks for is looked at again. What the user added to it stays.
            Some(changed @ NotAllowed::Changed(_)) => {
                let now = asked.resolve(home);
                let protected = protected(self.environment(), &self.report().roots, None);
                let programs = known.interpreters.iter();
                let programs = programs.filter_map(|program| program.resolve_again(&protected));
                let paths = now.paths().to_vec();
                let mut now = now.with_approved(paths, programs.collect(), home);
                now.set_hosts(known.hosts.clone());
                Decided {
                    asked: now,
                    allowed: Err(changed),
                    entry: Some(known.clone()),
                }
            }
            Some(why) => refused(asked, why),
        })
    }

    /// Returns why an entry of the list does not allow a skill to run.
    fn check_entry(
        &self,
        entry: &AllowedSkill,
        approved: &AskedPermissions,
    ) -> Result<Option<NotAllowed>, Error> {
        // The skill is the same, so it asks for the same.
        if entry.granted != approved.lines() {
            return Ok(Some(NotAllowed::Unknown));
        }
        // First, because the decisions of an entry that has only changed stay.
        let requires = self.report().settings.approval_requires.value;
        if requires == ApprovalRequires::Passphrase
            && !self.store()?.has_allowance(&entry.allowance())?
        {
            return Ok(Some(NotAllowed::WithoutPassphrase));
        }
        let paths = approved.paths().iter().map(ApprovedPath::check);
        let programs = approved.interpreters().iter().map(NamedInterpreter::check);
        let changed = paths.chain(programs).find_map(Result::err);
        Ok(changed.map(|changed| NotAllowed::Changed(changed.to_string())))
    }

    /// Allows a skill to run with everything that it asks for. Its toolsets are started in the sandbox, to learn and remember their
    /// tools. `approval` says who allows it.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the approval is not one that the settings accept, or the skill is
    /// not in a folder; then nothing is started. Others if a toolset cannot be loaded, or two tools would have the same name.
    pub fn allow(
        &self,
        skill: &RunnableSkill,
        approval: &Approval,
    ) -> Result<AllowedSkill, ScriptError> {
        let folder = self.check_approval(skill, approval)?;
        self.remember(skill, folder, approval)
    }

    /// Does what [`allow`](Self::allow) does, and installs the packages that the skill's scripts name, in the sandbox. `observer`
    /// receives what the installers say, line by line. What is installed already is not installed again; if it is gone or
    /// changed, the same versions are.
    ///
    /// # Errors
    ///
    /// Those of [`allow`](Self::allow), and if the packages cannot be installed.
    pub fn allow_with_packages(
        &self,
        skill: &RunnableSkill,
        approval: &Approval,
        mut observer: impl FnMut(&str),
    ) -> Result<AllowedSkill, ScriptError> {
        let folder = self.check_approval(skill, approval)?;
        let environment = self.environment();
        let entries = self.approved_entries()?.into_iter();
        let known: Vec<SkillPackages> = entries.flat_map(|entry| entry.packages).collect();
        let mut installed = Vec::new();
        let allow = || {
            for wanted in skill.dependencies()? {
                let mut prepare = skill.prepare(&wanted);
                match Earlier::find(environment, &wanted, prepare.digest()?, &known)? {
                    Earlier::Installed(packages) => {
                        installed.push(packages);
                        continue;
                    }
                    Earlier::Lock(lock) => prepare = prepare.with_lock(lock),
                    Earlier::Lost => observer(&format!(
                        "The lock file of the packages of `{}` is gone or changed; their versions are chosen again",
                        visible(wanted.file.as_str())
                    )),
                    Earlier::None => {}
                }
                let prepare = prepare.with_observer(&mut observer);
                installed.push(packages::install(environment, &wanted, prepare)?);
            }
            let mut skill = skill.clone();
            let requires = self.report().settings.approval_requires.value;
            skill.grant_packages(installed.clone(), environment, requires)?;
            self.remember(&skill, folder, approval)
        };
        let allowed = allow();
        if allowed.is_err() {
            allowed::delete_unlisted(environment, &installed);
        }
        allowed
    }

    /// Returns the entries of the list; if a passphrase is required, those that were approved with it.
    pub(super) fn approved_entries(&self) -> Result<Vec<AllowedSkill>, Error> {
        let mut entries = AllowedSkills::load(self.environment()).skills;
        if self.report().settings.approval_requires.value == ApprovalRequires::Passphrase {
            let (store, all) = (self.store()?, std::mem::take(&mut entries));
            for entry in all {
                if store.has_allowance(&entry.allowance())? {
                    entries.push(entry);
                }
            }
        }
        Ok(entries)
    }

    /// Checks an approval before anything of the skill is started, and returns the folder of the skill.
    fn check_approval(
        &self,
        skill: &RunnableSkill,
        approval: &Approval,
    ) -> Result<PathBuf, ScriptError> {
        let Some(folder) = skill.folder.clone() else {
            let rule = "It is not in a folder; the program that bundles it decides what it may run";
            return Err(Error::refused(&skill.id, Refusal::NotAllowed, rule).into());
        };
        skill.check_grants()?;
        let entry = skill.entry(folder.clone(), Vec::new());
        self.store()?
            .check_allowance(&entry.allowance(), approval)?;
        Ok(folder)
    }

    fn remember(
        &self,
        skill: &RunnableSkill,
        folder: PathBuf,
        approval: &Approval,
    ) -> Result<AllowedSkill, ScriptError> {
        let allowed = skill.entry(folder, skill.list_tools()?);
        allowed::allow(self.environment(), &allowed, &self.store()?, approval)?;
        Ok(allowed)
    }

    /// Returns whether a client may ask the person if a skill may run, by a form (an elicitation of MCP). A client's hooks can
    /// answer such a form, so that only a person at a terminal turns it on.
    pub fn clients_may_ask(&self) -> bool {
        let asked = self.store().and_then(|store| store.clients_may_ask());
        asked.unwrap_or(false)
    }

    /// Sets whether clients may ask if a skill may run. `approval` is by a person at a terminal, or by the host.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the approval is not one that the settings accept.
    pub fn set_client_approval(&self, allowed: bool, approval: &Approval) -> Result<(), Error> {
        self.store()?.set_client_approval(allowed, approval, now())
    }
}

impl RunnableSkill {
    /// Returns whether it may no longer run because something that it was granted has changed.
    pub fn has_changed_grants(&self) -> bool {
        matches!(self.allowed, Err(NotAllowed::Changed(_)))
    }

    /// Adds a program that the user names to run its scripts. Unless it was named before, the skill has to be allowed
    /// again.
    ///
    /// # Errors
    ///
    /// Fails with `interpreter_missing` if it is no program.
    pub fn with_interpreter(mut self, program: &Path) -> Result<Self, RunError> {
        let permissions = self.options.permissions().clone();
        let named = NamedInterpreter::resolve(program, permissions.protected())?;
        if self.asked.interpreters().contains(&named) {
            return Ok(self);
        }
        let (paths, mut all) = (self.asked.paths(), self.asked.interpreters().to_vec());
        all.push(named.clone());
        let asked = self.asked.clone();
        self.asked = asked.with_approved(paths.to_vec(), all, self.home.as_deref());
        let permissions = permissions.with_interpreter(named);
        self.options = self.options.with_permissions(permissions);
        self.allowed = Err(NotAllowed::Unknown);
        Ok(self)
    }

    /// Sets what its runs may do with the project, whatever the skill asks for. Unless the user allowed just this before,
    /// the skill has to be allowed again.
    #[must_use]
    pub fn with_project(mut self, access: ProjectAccess) -> Self {
        if self.project.choose(access) {
            self.allowed = Err(NotAllowed::Unknown);
        }
        self
    }

    /// Gives it the same access to every project, now and later. The skill has to be allowed again.
    #[must_use]
    pub fn with_every_project(mut self) -> Self {
        let access = self.project.access();
        if self.project.every != Some(access) {
            self.project.every = Some(access);
            self.allowed = Err(NotAllowed::Unknown);
        }
        self
    }

    /// Returns what its runs may do with the project, or would if it were allowed.
    pub fn project_access(&self) -> ProjectAccess {
        self.project.access()
    }

    /// Lets a host that it asks for be in a private network, such as `git.example.com` in a company's network. Unless
    /// that was so before, the skill has to be allowed again.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted` if it does not ask for this host.
    pub fn with_private_host(mut self, host: &str) -> Result<Self, RunError> {
        let mut hosts = self.asked.hosts().to_vec();
        let is_named = |rule: &HostRule| {
            let port = rule.port().map(|port| format!("{}:{port}", rule.host()));
            rule.host() == host || port.as_deref() == Some(host)
        };
        if !hosts.iter().any(is_named) {
            let message = format!("`{}` does not ask to reach `{host}`", self.id);
            let hint = "Name a host as its `permissions.network` has it; `skillfold run` with its id shows them";
            return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
        }
        for rule in hosts.iter_mut().filter(|rule| is_named(rule)) {
            *rule = rule.clone().with_private();
        }
        if hosts == self.asked.hosts() {
            return Ok(self);
        }
        self.asked.set_hosts(hosts.clone());
        let permissions = self.options.permissions().clone().with_hosts(hosts);
        self.options = self.options.with_permissions(permissions);
        self.allowed = Err(NotAllowed::Unknown);
        Ok(self)
    }

    /// Returns what the list gets for this skill.
    fn entry(&self, folder: PathBuf, tools: Vec<SkillTool>) -> AllowedSkill {
        AllowedSkill {
            folder,
            digest: self.digest,
            granted: self.asked.lines(),
            paths: self.asked.paths().to_vec(),
            interpreters: self.asked.interpreters().to_vec(),
            projects: self.project.decisions(),
            every_project: self.project.every,
            hosts: self.asked.hosts().to_vec(),
            tools,
            packages: self.packages.clone(),
        }
    }
}
