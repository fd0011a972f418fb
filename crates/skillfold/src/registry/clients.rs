//! The folders of clients that do not look into `.agents/skills`.

use std::path::{Path, PathBuf};

use skillfold_core::name::SkillName;
use skillfold_core::{Error, ErrorKind};
use skillfold_store::{LinkMade, SkillFiles, SkillPath, VersionCause, WriteRoot};

use super::Registry;
use crate::client::Client;
use crate::environment;

const MOVE_AWAY: &str =
    "Move it away, or remove the client from the skill's `clients` in `skills.toml`";
const COPIED: &str = "copy for a client";

/// A skill in the folder of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientFolder {
    /// The client's id.
    pub client: String,
    /// The skill's folder there.
    pub folder: PathBuf,
    /// Whether the client finds the skill there, as it is installed.
    pub is_current: bool,
}

impl Registry<'_> {
    /// Refuses a client's folder that has something else under the skill's name.
    pub(super) fn check_clients_free(
        &self,
        name: &SkillName,
        clients: &[String],
    ) -> Result<(), Error> {
        for (client, folder) in folders(clients) {
            let (path, _) = link(folder, name);
            let there = self.base.join(&path);
            let is_taken = there.exists() || there.is_symlink();
            if is_taken && !self.is_in_client(name, folder)? {
                let message = format!("`{client}` has another `{}`", there.display());
                return Err(Error::new(ErrorKind::Exists, message, MOVE_AWAY));
            }
        }
        Ok(())
    }

    /// Links a skill into the folders of clients, or copies it where the system makes no links.
    pub(super) fn link_clients(&self, name: &SkillName, clients: &[String]) -> Result<(), Error> {
        self.check_clients_free(name, clients)?;
        let installed = self.place(name.as_str())?;
        for (_, folder) in folders(clients) {
            let (path, target) = link(folder, name);
            if self.is_same_folder(&path, &installed) {
                continue;
            }
            let made = WriteRoot::open(&self.base)?.link(&path, &target);
            match made {
                Ok(LinkMade::Done) => continue,
                Ok(_) => {}
                // Our copy of an earlier version.
                Err(error) if error.kind() == ErrorKind::Exists => {}
                Err(error) => return Err(error),
            }
            let copy = SkillPath::new(&self.base, &self.base.join(&path))?;
            let before = copy.read()?.unwrap_or_default();
            let after = installed.read()?.unwrap_or_default();
            if before.digest() != after.digest() {
                let skill = (copy, before, after);
                let copied = self
                    .store()?
                    .install(&self.lock, [skill], environment::now())?;
                copied.into_iter().collect::<Result<Vec<_>, _>>()?;
            }
        }
        Ok(())
    }

    /// Removes a skill from the folders of clients, as far as it was put there like this.
    pub(super) fn unlink_clients(&self, name: &SkillName) -> Result<(), Error> {
        let root = WriteRoot::open(&self.base)?;
        for folder in Client::ALL.iter().filter_map(Client::own_folder) {
            let (path, target) = link(folder, name);
            root.remove_link(&path, &target)?;
            if let Some((copy, files)) = self.our_copy(&path)? {
                self.store()?
                    .remove(&copy, &files, COPIED, environment::now())?;
            }
        }
        Ok(())
    }

    /// Returns whether a client's folder has a skill as we put it there, or is the folder that it is installed in.
    fn is_in_client(&self, name: &SkillName, folder: &str) -> Result<bool, Error> {
        let (path, target) = link(folder, name);
        Ok(self.is_same_folder(&path, &self.place(name.as_str())?)
            || WriteRoot::open(&self.base)?.link_target(&path) == Some(target)
            || self.our_copy(&path)?.is_some())
    }

    /// Returns whether a path leads to where a skill is installed: the client's folder may be a link to ours.
    fn is_same_folder(&self, path: &Path, installed: &SkillPath) -> bool {
        let parent = |path: &Path| environment::real_path(path.parent()?);
        let there = parent(&self.base.join(path));
        there.is_some() && there == parent(&installed.path())
    }

    /// Returns a copy that we made and nobody edited since.
    fn our_copy(&self, path: &Path) -> Result<Option<(SkillPath, SkillFiles)>, Error> {
        let copy = SkillPath::new(&self.base, &self.base.join(path))?;
        // Behind a link is no copy of ours.
        let Ok(Some(files)) = copy.read() else {
            return Ok(None);
        };
        let versions = self.store()?.history(&copy, environment::now())?;
        let is_ours = versions.last().is_some_and(|last| {
            last.digest == Some(files.digest())
                && matches!(last.cause, VersionCause::Installed { .. })
        });
        Ok(is_ours.then_some((copy, files)))
    }

    /// Returns where clients have a skill.
    pub(super) fn client_folders(
        &self,
        name: &SkillName,
        clients: &[String],
        installed: Option<&SkillFiles>,
    ) -> Result<Vec<ClientFolder>, Error> {
        let mut found = Vec::new();
        for (client, folder) in folders(clients) {
            let (path, target) = link(folder, name);
            let leads_there = self.is_same_folder(&path, &self.place(name.as_str())?)
                || WriteRoot::open(&self.base)?.link_target(&path) == Some(target);
            let is_copy = || -> Result<bool, Error> {
                let copy = SkillPath::new(&self.base, &self.base.join(&path))?.read()?;
                Ok(copy.as_ref().map(SkillFiles::digest) == installed.map(SkillFiles::digest))
            };
            found.push(ClientFolder {
                client: client.to_owned(),
                is_current: leads_there || is_copy().unwrap_or(false),
                folder: self.base.join(path),
            });
        }
        Ok(found)
    }
}

/// Refuses clients that are not known.
pub(super) fn check_clients(clients: &[String]) -> Result<(), Error> {
    let unknown = clients.iter().find(|id| Client::find(id).is_none());
    unknown.map_or(Ok(()), |id| {
        let message = format!("There is no client `{id}`");
        let hint = "`skillfold setup` lists the clients";
        let error = Error::new(ErrorKind::Invalid, message, hint);
        Err(error.with_nearest(Client::ALL.iter().map(|client| client.id).take(3)))
    })
}

/// Returns the folders of their own that clients need.
fn folders(clients: &[String]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let clients = clients.iter().filter_map(|id| Client::find(id));
    clients.filter_map(|client| Some((client.id, client.own_folder()?)))
}

/// Returns the path of a link, and where it leads.
fn link(folder: &str, name: &SkillName) -> (PathBuf, PathBuf) {
    let up = "../".repeat(folder.split('/').count());
    let target = format!("{up}{}/{name}", crate::discovery::roots::FOLDERS[0]);
    (Path::new(folder).join(name.as_str()), target.into())
}
