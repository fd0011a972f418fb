//! Runs scripts and tools of skills, in the sandbox of [`skillfold_run`], if the user has allowed it.
//!
//! Allowing is for the bytes that the user looked at: a skill that changes is not allowed any more. Loading a skill runs
//! nothing; its tools are those that it had when it was allowed.

mod tool;

mod shown_path;

mod project_access;

mod script_limits;

mod asked;
mod error;
mod protected;

mod packages;

mod allowed;

mod project;

mod allow;
mod explain;
mod granted_packages;
mod network_failure;
mod network_log;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::diagnostic::visible;
use skillfold_core::load::Digest;
use skillfold_core::name::ResourcePath;
use skillfold_core::read::parse;
use skillfold_core::source::SKILL_FILE;
use skillfold_core::{Entry, Error};
use skillfold_run::toolset::{ToolOutput, Toolset, ToolsetOptions, ToolsetRef, load_toolset};
use skillfold_run::{
    Accept, ApprovedPath, Cancel, Dependencies, Help, Layer, Permissions, Run, RunError,
    RunErrorKind, RunLimits, RunOptions, SYSTEM_FOLDERS, Scripts, SkillCopy,
};

pub use allowed::{AllowedSkill, AllowedSkills, disallow_skill};
pub use asked::AskedPermissions;
pub use error::ScriptError;
pub use packages::SkillPackages;
pub use project_access::{ProjectAccess, ProjectDecision};
pub use script_limits::ScriptLimits;
pub use tool::SkillTool;

use self::allowed::{Decided, NotAllowed};
use self::project::Project;
use crate::environment::Environment;
use crate::json::Json;
use crate::settings::Settings;
use crate::skills::Skills;
use crate::skills::toolset_pool::PoolKey;

/// A copy of a skill that can run, with what it asks for and what the user granted.
#[derive(Clone, Debug)]
pub struct RunnableSkill {
    id: String,
    folder: Option<PathBuf>,
    copy: Arc<SkillCopy>,
    digest: Digest,
    declared: Vec<ResourcePath>,
    toolsets: Vec<String>,
    asked: AskedPermissions,
    options: RunOptions,
    allowed: Result<AllowedSkill, NotAllowed>,
    packages: Vec<SkillPackages>,
    project: Project,
    /// Paths that its runs get without an allowance.
    paths: Vec<ApprovedPath>,
    /// The limits of the settings.
    limits: ScriptLimits,
    home: Option<PathBuf>,
}

impl Skills {
    /// Takes a copy of a skill, to look at what it would run and to run it. Nothing is run by this. The project is the
    /// working folder of the [`Environment`].
    ///
    /// # Errors
    ///
    /// [`NotFound`](skillfold_core::ErrorKind::NotFound) or [`Refused`](skillfold_core::ErrorKind::Refused) as for loading
    /// it; others if its files cannot be read.
    pub fn runnable(&self, id: &str) -> Result<RunnableSkill, Error> {
        self.runnable_in(id, Some(self.environment().directory()))
    }

    /// Takes a copy of a skill whose project is another folder, or that has none.
    ///
    /// # Errors
    ///
    /// Those of [`runnable`](Self::runnable).
    pub fn runnable_in(&self, id: &str, project: Option<&Path>) -> Result<RunnableSkill, Error> {
        self.with_loader(|catalog, _| self.runnable_entry(&catalog.resolve_for_user(id)?, project))
    }

    pub(crate) fn runnable_entry(
        &self,
        entry: &Entry<'_>,
        project: Option<&Path>,
    ) -> Result<RunnableSkill, Error> {
        let (source, folder) = (entry.root().source(), entry.folder());
        let copy = SkillCopy::read(source, folder)?;
        let digest = copy.content_digest();
        let environment = self.environment();
        // The manifest of the copy: the one of the catalog may be older.
        let file = SKILL_FILE.parse().ok().and_then(|path| copy.file(&path));
        let parsed = parse(file.unwrap_or_default(), folder.name());
        let Some(manifest) = parsed.manifest else {
            let why = "Its `SKILL.md` is no longer valid; `skillfold check` says why";
            return Err(Error::invalid(entry.id(), why));
        };
        let real_dir = entry.real_dir();
        let report = self.report();
        let asked = AskedPermissions::of(&manifest);
        let Decided {
            asked,
            allowed,
            entry: known,
        } = self.find_allowed(real_dir.as_deref(), digest, asked)?;
        let mut project = Project::find(project, asked.project, known.as_ref());
        let protected = protected::protected(environment, &report.roots, project.folder());
        let permissions = asked.permissions(environment).with_protected(protected);
        project.check(&permissions);
        let home = environment.home_dir();
        let allowed = allowed.and_then(|allowed| match project.not_allowed(home) {
            None => Ok(allowed),
            Some(refused) => Err(refused),
        });
        if allowed.is_err() {
            project.look_again(&permissions);
        }
        let limits = ScriptLimits::from_settings(&report.settings);
        let mut options = RunOptions::default()
            .with_limits(limits.apply(RunLimits::default()))
            .with_permissions(permissions)
            .with_accepted(accepted_layers(&report.settings)?)
            .with_search_path(search_path(environment));
        if let Some(observer) = network_log::observer(environment, entry.id()) {
            options = options.with_connection_observer(observer);
        }
        let mut skill = RunnableSkill {
            id: entry.id().to_owned(),
            folder: real_dir,
            digest,
            declared: manifest.script_paths().collect(),
            toolsets: manifest
                .toolsets()
                .iter()
                .map(ToString::to_string)
                .collect(),
            options,
            asked,
            allowed,
            packages: Vec::new(),
            project,
            paths: Vec::new(),
            limits,
            home: home.map(Path::to_owned),
            copy: Arc::new(copy),
        };
        let packages = if let Some(allowed) = skill.allowed() {
            allowed.packages.clone()
        } else {
            let known = self.approved_entries()?;
            let before = known.iter().find(|it| Some(&*it.folder) == skill.folder());
            let before = before.map_or(&[][..], |before| &before.packages);
            skill.kept_packages(before, environment)
        };
        let requires = report.settings.approval_requires.value;
        skill.grant_packages(packages, environment, requires)?;
        Ok(skill)
    }

    /// Calls a skill's tool that may run. Toolsets stay loaded for the next call.
    ///
    /// # Errors
    ///
    /// Fails if the skill may not run, has no such tool, or its toolset fails.
    pub fn call_skill_tool(
        &self,
        skill: &RunnableSkill,
        tool: &str,
        arguments: &Json,
    ) -> Result<ToolOutput, ScriptError> {
        self.call_skill_tool_until(skill, tool, arguments, &Cancel::default())
    }

    /// Calls a skill's tool that may run, until `cancel` ends it.
    ///
    /// # Errors
    ///
    /// Those of [`call_skill_tool`](Self::call_skill_tool), and `cancelled`.
    pub fn call_skill_tool_until(
        &self,
        skill: &RunnableSkill,
        tool: &str,
        arguments: &Json,
        cancel: &Cancel,
    ) -> Result<ToolOutput, ScriptError> {
        let allowed = skill.check_allowed()?;
        let Some(known) = allowed.tools.iter().find(|known| known.name == tool) else {
            let names: Vec<_> = allowed.tools.iter().map(|tool| &*tool.name).collect();
            let message = format!("Skill `{}` has no tool `{tool}`", skill.id);
            let hint = format!("Call one of these: {}", names.join(", "));
            return Err(RunError::new(RunErrorKind::UnknownTool, message, &hint).into());
        };
        if skill.options().permissions().may_write() {
            // What it may not create is put right when it has ended, so it ends with each call.
            let own = Cancel::default();
            own.follow(Some(cancel));
            let mut toolset = skill.load_toolset(&known.toolset, own)?;
            let answer = toolset.call(tool, &arguments.0);
            let corrections = toolset.end();
            return Ok(match answer {
                Ok(output) => output.with_corrections(corrections),
                Err(error) => return Err(corrections.added_to(error).into()),
            });
        }
        let key = PoolKey {
            entry: allowed.entry_digest(),
            toolset: known.toolset.clone(),
            directory: skill.project.directory().map(Path::to_owned),
        };
        let load = |cancel| skill.load_toolset(&known.toolset, cancel);
        let pool = self.toolset_pool();
        Ok(pool.call(&key, load, (tool, &arguments.0), cancel)?)
    }
}

impl RunnableSkill {
    /// Returns the skill's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the real path of the skill's folder, if it is in one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the digest of the copy.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns what the skill asks for.
    pub fn asked(&self) -> &AskedPermissions {
        &self.asked
    }

    /// Returns what its runs get: everything that it asks for, the project, the layers that the settings let be missing,
    /// the search path.
    pub fn options(&self) -> RunOptions {
        let options = self.project.grant(self.options.clone());
        if self.paths.is_empty() {
            return options;
        }
        let paths = self.paths.iter().cloned();
        let permissions = paths.fold(options.permissions().clone(), Permissions::with_path);
        let options = options.with_permissions(permissions);
        match self.project.directory() {
            Some(directory) => options.with_directory(directory),
            None => options,
        }
    }

    /// Grants a path to the runs of this copy, without an allowance: the host answers for it. What no skill gets is
    /// refused all the same.
    #[must_use]
    pub fn with_path(mut self, path: ApprovedPath) -> Self {
        self.paths.push(path);
        self
    }

    /// Returns the files that can be run, and those that cannot, with the reason.
    pub fn scripts(&self) -> Scripts {
        skillfold_run::scripts(&self.copy, self.declared.iter().map(ResourcePath::as_str))
    }

    /// Returns whether a file of the skill is a script, or why it is none.
    ///
    /// # Errors
    ///
    /// Fails with `not_a_script` if the skill has no such file or no program is known that runs it.
    pub fn check_script(&self, script: &ResourcePath) -> Result<(), RunError> {
        skillfold_run::script(&self.copy, script).map(|_| ())
    }

    /// Returns how a script is used: what it prints for `--help` if it may run, else the comment at its head.
    ///
    /// # Errors
    ///
    /// Fails if there is no such script, or if it did not start.
    pub fn help(&self, script: &ResourcePath) -> Result<Help, RunError> {
        if self.allowed.is_err() {
            return Help::at_head(&self.copy, script);
        }
        skillfold_run::help(&self.copy, script, self.options())
    }

    /// Returns the packages that the skill's scripts and toolsets name.
    ///
    /// # Errors
    ///
    /// Fails if a file names them in a way that is not understood.
    pub fn dependencies(&self) -> Result<Vec<Dependencies>, RunError> {
        let scripts = self.scripts().scripts.into_iter();
        let mut files: Vec<ResourcePath> = scripts.map(|script| script.path).collect();
        let toolsets = self.toolsets.iter().filter_map(|toolset| {
            let reference: ToolsetRef = toolset.parse().ok()?;
            reference.resolve(&self.copy).ok()
        });
        for toolset in toolsets {
            // The definitions of tools name scripts.
            let text = String::from_utf8_lossy(self.copy.file(&toolset).unwrap_or_default());
            let named = self
                .copy
                .paths()
                .filter(|path| text.contains(path.as_str()));
            files.extend(named.cloned());
            files.push(toolset);
        }
        skillfold_run::dependencies(&self.copy, &files)
    }

    /// Checks that the programs that install the packages are available.
    ///
    /// # Errors
    ///
    /// Fails with `interpreter_missing` if one is not, and as [`dependencies`](Self::dependencies).
    pub fn check_installers(&self) -> Result<(), RunError> {
        for wanted in self.dependencies()? {
            self.prepare(&wanted).check_installer()?;
        }
        Ok(())
    }

    /// Returns the packages that were installed for the skill.
    pub fn packages(&self) -> &[SkillPackages] {
        &self.packages
    }

    /// Returns the toolsets that the skill names.
    pub fn toolsets(&self) -> &[String] {
        &self.toolsets
    }

    /// Refuses what no skill gets: credentials, start files, the settings of clients, skills, and the folders above these;
    /// links, sockets and devices.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted`, and names the path.
    pub fn check_grants(&self) -> Result<(), RunError> {
        self.project.check_grant()?;
        let options = self.options();
        let permissions = options.permissions();
        permissions.check_paths()?;
        permissions.paths().iter().try_for_each(ApprovedPath::check)
    }

    /// Returns the user's allowance of exactly this content.
    pub fn allowed(&self) -> Option<&AllowedSkill> {
        self.allowed.as_ref().ok()
    }

    /// Returns the user's allowance, or that there is none.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) without one.
    pub fn check_allowed(&self) -> Result<&AllowedSkill, Error> {
        self.allowed.as_ref().map_err(|why| why.error(&self.id))
    }

    /// Returns a run of a script, with what the user granted.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the user has not allowed it.
    pub fn run<'a>(&'a self, script: &'a ResourcePath) -> Result<Run<'a>, Error> {
        self.check_allowed()?;
        Ok(self.run_as_host(script))
    }

    /// Returns a run of a script, whatever the user has allowed: the host answers for it. It has everything that the skill asks
    /// for; [`options`](Self::options) with less can be [set](Run::with_options).
    pub fn run_as_host<'a>(&'a self, script: &'a ResourcePath) -> Run<'a> {
        Run::new(&self.copy, script).with_options(self.options())
    }

    /// Sets limits of its runs, at most those of the settings.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted` if one is higher.
    pub fn with_limits(self, limits: ScriptLimits) -> Result<Self, RunError> {
        limits.check(self.limits)?;
        Ok(self.with_limits_of_user(limits))
    }

    /// Sets limits of its runs, whatever the settings say: the user asked for them.
    #[must_use]
    pub fn with_limits_of_user(mut self, limits: ScriptLimits) -> Self {
        let own = limits.apply(self.options.limits().clone());
        self.options = self.options.with_limits(own);
        self
    }

    /// Sets the token that cancels its runs.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.options = self.options.with_cancel(cancel);
        self
    }

    /// Starts the skill's toolsets in the sandbox, with everything that it asks for, and returns their tools.
    fn list_tools(&self) -> Result<Vec<SkillTool>, ScriptError> {
        let mut tools: Vec<SkillTool> = Vec::new();
        for toolset in &self.toolsets {
            let mut loaded = self.load_toolset(toolset, self.options.cancel().clone())?;
            let corrections = loaded.end();
            if !corrections.is_empty() {
                let message =
                    format!("Toolset `{toolset}` did what no skill may when it was started");
                let hint = "Tell the skill's author; with `skillfold allow` and `--project read` it cannot do that";
                let error = RunError::new(RunErrorKind::NotPermitted, message, hint);
                return Err(corrections.added_to(error).into());
            }
            for spec in loaded.tools() {
                if let Some(other) = tools.iter().find(|tool| tool.name == spec.name) {
                    let message = format!(
                        "Tool `{}` is in two toolsets: `{}` and `{toolset}`",
                        spec.name, other.toolset
                    );
                    let hint = "Rename one of them";
                    return Err(RunError::new(RunErrorKind::InvalidToolset, message, hint).into());
                }
                tools.push(SkillTool::new(toolset, spec));
            }
        }
        Ok(tools)
    }

    fn load_toolset(&self, toolset: &str, cancel: Cancel) -> Result<Box<dyn Toolset>, RunError> {
        let reference: ToolsetRef = toolset.parse()?;
        let options = ToolsetOptions::default().with_run(self.options().with_cancel(cancel));
        load_toolset(&self.copy, &reference, &options).map_err(|error| {
            let file = reference.resolve(&self.copy);
            let missing = match file.map(|file| self.missing_packages(&file)) {
                Ok(Ok(missing)) => missing,
                Ok(Err(invalid)) => return error.with_hint(&invalid.to_string()),
                Err(_) => Vec::new(),
            };
            if missing.is_empty() {
                return error;
            }
            let (packages, id) = (missing.join(", "), visible(&self.id));
            error.with_hint(&format!(
                "Its packages are not installed: {}; `skillfold run {id} --prepare` installs them",
                visible(&packages)
            ))
        })
    }
}

/// Returns the folders in which programs are looked for that run scripts: those of the system, then those of `PATH`.
fn search_path(environment: &Environment) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = SYSTEM_FOLDERS.map(PathBuf::from).into();
    let path = environment.granted_variable("PATH").unwrap_or_default();
    let own = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    for folder in own {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// Returns the layers of the sandbox that the settings accept to be missing.
fn accepted_layers(settings: &Settings) -> Result<Accept, Error> {
    let mut accept = Accept::default();
    let names = settings.sandbox_without.value.split(',').map(str::trim);
    for name in names.filter(|name| !name.is_empty()) {
        let Some(layer) = Layer::from_name(name) else {
            let names: Vec<_> = Layer::ALL.iter().map(|layer| layer.as_str()).collect();
            let why = format!(
                "`{name}` is not a layer; the layers are {}",
                names.join(", ")
            );
            return Err(Error::invalid("sandbox_without", why));
        };
        accept = accept.missing(layer);
    }
    Ok(accept)
}
