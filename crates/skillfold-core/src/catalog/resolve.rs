//! Resolves ids for users and models. Errors suggest similar ids or say what is wrong.

use crate::catalog::entry::{Entry, Lookup, UNTRUSTED_REASON};
use crate::catalog::nearest::nearest;
use crate::catalog::root::Trust;
use crate::catalog::snapshot::Catalog;
use crate::diagnostic::{quoted_path, visible};
use crate::error::{Error, Refusal};

/// Maximum ids to suggest for an unknown one.
pub(crate) const MAX_SUGGESTIONS: usize = 3;

impl Catalog {
    /// Resolves an id, a name or a folder name, whatever the skill's status. The error suggests the nearest ids, or
    /// says what is wrong with a refused folder.
    ///
    /// This is for the user; answer models with [`resolve_for_model`](Self::resolve_for_model).
    pub fn resolve_or_suggest(&self, id: &str) -> Result<Entry<'_>, Error> {
        match self.resolve(id) {
            Lookup::Skill(entry) => Ok(entry),
            Lookup::Refused(refused) => Err(Error::malformed(
                format!("{} is not a valid skill", quoted_path(id)),
                refused.diagnostics.clone(),
            )),
            Lookup::NotFound => Err(Error::no_skill(id, self.nearest(id, MAX_SUGGESTIONS))),
        }
    }

    /// Resolves an id if a model may get the skill. Everything that answers a model must resolve ids with this.
    ///
    /// The error is the same for an unknown id and for a skill that is reserved for the user, switched off, held,
    /// untrusted or broken, so a model cannot find out which skills are withheld. Only ids that are listed to models are
    /// suggested. The user learns the reason from [`resolve_for_user`](Self::resolve_for_user).
    ///
    /// ```
    /// use skillfold_core::{Catalog, MemorySource, Root, CatalogOptions, Scope};
    ///
    /// let deploy = "---\nname: deploy\ndescription: Deploys\ndisable-model-invocation: true\n---\n";
    /// let root = Root::new(Scope::User, "mine", MemorySource::new([("deploy/SKILL.md", deploy)]));
    /// let catalog = Catalog::discover(vec![root], CatalogOptions::default(), std::time::SystemTime::now());
    ///
    /// assert_eq!(catalog.resolve_for_model("deploy").unwrap_err().to_string(), "There is no skill `deploy`");
    /// assert!(catalog.resolve_for_user("deploy").is_ok());
    /// ```
    pub fn resolve_for_model(&self, id: &str) -> Result<Entry<'_>, Error> {
        self.resolve_for_model_among(id, |_| true, || nearest_ids(id, self.visible()))
    }

    /// Resolves an id if the skill satisfies `is_among`. The error is the same for a skill that does not and for an
    /// unknown id, and suggests the nearest ids that do.
    pub fn resolve_among<'a>(
        &'a self,
        id: &str,
        is_among: impl Fn(&Entry<'a>) -> bool,
    ) -> Result<Entry<'a>, Error> {
        let found = self.get(id).filter(&is_among);
        found.ok_or_else(|| Error::no_skill(id, nearest_ids(id, self.entries().filter(&is_among))))
    }

    /// Resolves an id for a model that may see only some skills; `suggestions` supplies the ids for the error.
    pub(crate) fn resolve_for_model_among<'a>(
        &'a self,
        id: &str,
        may_see: impl Fn(&Entry<'a>) -> bool,
        suggestions: impl FnOnce() -> Vec<&'a str>,
    ) -> Result<Entry<'a>, Error> {
        let found = self.get(id);
        if let Some(entry) = found.filter(|entry| entry.is_for_models() && may_see(entry)) {
            return Ok(entry);
        }
        if let Some(entry) = found {
            let rule = entry.refusal().map(|(_, rule)| rule);
            tracing::warn!(
                skill = &*visible(id),
                rule = rule.unwrap_or("The skill is not for this model"),
                "refused a skill to a model"
            );
        }
        Err(Error::no_skill(id, suggestions()))
    }

    /// Resolves an id if the user may start the skill or read its files: it is trusted and enabled. The error says
    /// why not; never show it to a model.
    pub fn resolve_for_user(&self, id: &str) -> Result<Entry<'_>, Error> {
        match self.resolve(id) {
            Lookup::Skill(entry) => match entry.refusal() {
                None => Ok(entry),
                // Quote the requested id: the skill's own id is attacker-controlled text.
                Some((refusal, rule)) => Err(Error::refused(id, refusal, rule)),
            },
            Lookup::Refused(refused) if self.roots[refused.source].trust() == Trust::Untrusted => {
                Err(Error::refused(id, Refusal::Untrusted, UNTRUSTED_REASON))
            }
            Lookup::Refused(_) => self.resolve_or_suggest(id),
            Lookup::NotFound => {
                let usable = self.entries().filter(|entry| entry.refusal().is_none());
                Err(Error::no_skill(id, nearest_ids(id, usable)))
            }
        }
    }
}

fn nearest_ids<'a>(id: &str, entries: impl Iterator<Item = Entry<'a>>) -> Vec<&'a str> {
    nearest(id, entries.map(|entry| entry.id()), MAX_SUGGESTIONS)
}
