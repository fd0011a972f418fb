//! The user's project: the folder that a skill's scripts work on, if the user lets them.

use std::path::{Path, PathBuf};

use skillfold_run::{
    ApprovedPath, PathAccess, PathKind, Permissions, RunError, RunErrorKind, RunOptions,
};

use crate::scripts::allowed::{AllowedSkill, NotAllowed};
use crate::scripts::project_access::{ProjectAccess, ProjectDecision, project_line};
use crate::scripts::protected::protected;
use crate::scripts::shown_path::shown_path;
use crate::skills::Skills;

impl Skills {
    /// Returns whether a folder can be the user's project, at least one that scripts read.
    pub fn can_be_project(&self, folder: &Path) -> bool {
        let (environment, report) = (self.environment(), self.report());
        let protected = protected(environment, &report.roots, Some(folder));
        let permissions = Permissions::default().with_protected(protected);
        let found = ApprovedPath::resolve(folder, PathAccess::Read);
        let checked = permissions.check_project(found.real(), PathAccess::Read);
        found.kind() == PathKind::Folder && checked.is_ok()
    }
}

/// The project of a skill's runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Project {
    /// The folder that the host works in; `None` if it works in none.
    directory: Option<PathBuf>,
    /// The project around it, or the folder itself.
    folder: Option<ApprovedPath>,
    /// Why the folder cannot be a project.
    refusal: Option<Refusal>,
    /// Why it cannot be one that is written.
    write_refusal: Option<Refusal>,
    access: ProjectAccess,
    asked: ProjectAccess,
    /// Whether the user decided about it, here or for every project.
    is_decided: bool,
    /// Whether the user decided about this very project.
    is_decided_here: bool,
    /// The decisions about other projects.
    others: Vec<ProjectDecision>,
    pub(super) every: Option<ProjectAccess>,
}

/// Why a folder cannot be a project.
#[derive(Clone, Debug)]
struct Refusal {
    message: String,
    hint: String,
}

impl Project {
    /// Finds the project that a host works in, and what the user decided about it.
    pub(super) fn find(
        directory: Option<&Path>,
        asked: ProjectAccess,
        allowed: Option<&AllowedSkill>,
    ) -> Self {
        let Some(directory) = directory.filter(|directory| directory.is_absolute()) else {
            let access = ProjectAccess::None;
            return Self {
                access,
                asked,
                is_decided: true,
                others: allowed.map_or_else(Vec::new, |allowed| allowed.projects.clone()),
                every: allowed.and_then(|allowed| allowed.every_project),
                ..Self::default()
            };
        };
        let decisions = allowed.map_or(&[][..], |allowed| &allowed.projects);
        let around = decisions
            .iter()
            .filter(|decision| directory.starts_with(decision.folder.real()));
        let decision = around.max_by_key(|decision| decision.folder.real().as_os_str().len());
        let every = allowed.and_then(|allowed| allowed.every_project);
        let access = decision.map(|decision| decision.access).or(every);
        let folder = decision.map(|decision| decision.folder.clone());
        let others = decisions.iter().filter(|it| Some(*it) != decision);
        let mut project = Self {
            directory: Some(directory.to_owned()),
            folder,
            refusal: None,
            write_refusal: None,
            access: access.unwrap_or(asked),
            asked,
            is_decided: access.is_some() || asked == ProjectAccess::None,
            is_decided_here: decision.is_some(),
            others: others.cloned().collect(),
            every,
        };
        if decision.is_none() {
            project.resolve();
        }
        project
    }

    /// Finds out what the folder is now.
    fn resolve(&mut self) {
        let access = self.access.path_access().unwrap_or(PathAccess::Read);
        let folder = match &self.folder {
            Some(folder) => Some(folder.path().to_owned()),
            None => self.directory.clone(),
        };
        self.folder = folder.map(|folder| ApprovedPath::resolve(folder, access));
    }

    /// Finds out what the folder is now, to be shown and allowed again.
    pub(super) fn look_again(&mut self, permissions: &Permissions) {
        self.resolve();
        self.check(permissions);
    }

    /// Returns the folder, which is or could be the project.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(ApprovedPath::real)
    }

    /// Returns the folder that the host works in.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    pub(super) fn access(&self) -> ProjectAccess {
        self.access
    }

    /// Checks whether the folder can be a project. One that cannot is none, unless the user chose it.
    pub(super) fn check(&mut self, permissions: &Permissions) {
        let Some(folder) = &self.folder else { return };
        let refusal = |access| {
            let found = permissions.check_project(folder.real(), access);
            let found = found.and_then(|()| permissions.check_project(folder.path(), access));
            found.err().map(|error| Refusal {
                message: error.to_string(),
                hint: error.hint().to_owned(),
            })
        };
        let (to_read, to_write) = (refusal(PathAccess::Read), refusal(PathAccess::Write));
        let is_folder = folder.kind() == PathKind::Folder;
        (self.refusal, self.write_refusal) = (to_read, to_write);
        let can_be = is_folder && self.refusal_of(self.access).is_none();
        if !can_be && !self.is_decided_here {
            self.is_decided = true;
            self.access = ProjectAccess::None;
        }
    }

    /// Returns why the folder cannot be a project with an access.
    fn refusal_of(&self, access: ProjectAccess) -> Option<&Refusal> {
        match access {
            ProjectAccess::Write => self.write_refusal.as_ref(),
            ProjectAccess::None | ProjectAccess::Read => self.refusal.as_ref(),
        }
    }

    /// Returns why a skill that the user allowed may not run here.
    pub(super) fn not_allowed(&self, home: Option<&Path>) -> Option<NotAllowed> {
        let folder = self.folder.as_ref()?;
        if !self.is_decided {
            let folder = shown_path(folder.path(), home);
            return Some(NotAllowed::OtherProject(folder));
        }
        if self.access == ProjectAccess::None {
            return None;
        }
        let refused = self.refusal_of(self.access);
        let refused = refused.map(|refusal| refusal.message.clone());
        let changed = || folder.check().err().map(|error| error.to_string());
        refused.or_else(changed).map(NotAllowed::Changed)
    }

    /// Refuses what cannot be the project.
    pub(super) fn check_grant(&self) -> Result<(), RunError> {
        self.check_grant_of(self.access)
    }

    /// Refuses a folder that cannot be the project.
    pub(super) fn check_grant_of(&self, access: ProjectAccess) -> Result<(), RunError> {
        match (self.refusal_of(access), access) {
            (Some(refusal), ProjectAccess::Read | ProjectAccess::Write) => {
                let Refusal { message, hint } = refusal;
                let kind = RunErrorKind::NotPermitted;
                Err(RunError::new(kind, message.clone(), hint))
            }
            _ => Ok(()),
        }
    }

    /// Sets the user's choice; returns whether it is another one than before.
    pub(super) fn choose(&mut self, access: ProjectAccess) -> bool {
        let is_other = self.access != access || !self.is_decided;
        if is_other {
            self.access = access;
            self.is_decided = true;
            self.resolve();
        }
        is_other
    }

    /// Returns the decisions that an allowance stores.
    pub(super) fn decisions(&self) -> Vec<ProjectDecision> {
        let mut decisions = self.others.clone();
        let is_choice = self.access != ProjectAccess::None || self.asked != ProjectAccess::None;
        if let Some(folder) = self
            .folder
            .clone()
            .filter(|_| is_choice && self.refusal_of(self.access).is_none())
        {
            decisions.push(ProjectDecision {
                folder,
                access: self.access,
            });
        }
        decisions
    }

    /// Returns what the skill asks for.
    pub(super) fn asked_line(&self, home: Option<&Path>) -> Option<String> {
        let folder = self.folder.as_ref()?;
        let folder = shown_path(folder.path(), home);
        (self.asked != ProjectAccess::None).then(|| project_line(self.asked, &folder))
    }

    /// Returns what the user is shown of it, before they decide and after.
    pub(super) fn lines(&self, home: Option<&Path>) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(folder) = &self.folder {
            let folder = shown_path(folder.path(), home);
            match (self.access, self.asked) {
                (ProjectAccess::None, ProjectAccess::None) => {}
                (ProjectAccess::None, _) if self.refusal.is_some() => {}
                (ProjectAccess::None, asked) => lines.push(format!(
                    "gets no access to the project {folder}; it asks for {}",
                    asked.describe()
                )),
                (access, asked) => {
                    let verb = if access == asked { "asks for" } else { "gets" };
                    lines.push(format!("{verb} {}", project_line(access, &folder)));
                }
            }
        }
        if let Some(every) = self.every {
            lines.push(format!(
                "gets {} to every project in which you use it",
                every.describe()
            ));
        }
        lines
    }

    /// Adds the project to what a run gets.
    pub(super) fn grant(&self, options: RunOptions) -> RunOptions {
        let (Some(directory), Some(folder)) = (&self.directory, &self.folder) else {
            return options;
        };
        if self.access == ProjectAccess::None {
            return options;
        }
        let permissions = options.permissions().clone().with_path(folder.clone());
        options
            .with_permissions(permissions)
            .with_directory(directory)
    }
}
