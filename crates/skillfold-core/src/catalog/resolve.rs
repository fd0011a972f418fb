//! The skill that was asked for, or an error that says what was meant or what is wrong.

use crate::catalog::entry::{Entry, Lookup, UNTRUSTED};
use crate::catalog::nearest::nearest;
use crate::catalog::root::Trust;
use crate::catalog::snapshot::Catalog;
use crate::diagnostic::{visible, whole};
use crate::error::Error;

/// Ids that the answer to an unknown one names.
pub(crate) const MEANT: usize = 3;

impl Catalog {
    /// Returns the skill that an id, a name or a folder's name leads to; the error names the nearest ids, or says what is
    /// wrong with a folder that was refused. It is for people: [`resolve_for_model`](Self::resolve_for_model) is for what a model asks.
    pub fn resolve_or_suggest(&self, id: &str) -> Result<Entry<'_>, Error> {
        match self.resolve(id) {
            Lookup::Skill(entry) => Ok(entry),
            Lookup::Refused(refused) => Err(Error::malformed(
                format!("{} is not a valid skill", whole(id)),
                refused.diagnostics.clone(),
            )),
            Lookup::Nothing => Err(Error::no_skill(id, self.nearest(id, MEANT))),
        }
    }

    /// Returns the skill that an id leads to, if a model may get it. Whatever answers a model resolves ids with this.
    ///
    /// The error is the same for a skill that only a person may start, that is switched off, untrusted or broken, and for
    /// an id that leads to nothing: a model does not learn which skills it may not get. The nearest ids are of skills that
    /// models are told of. People learn the reason from [`resolve_for_person`](Self::resolve_for_person).
    ///
    /// ```
    /// use skillfold_core::{Catalog, MemorySource, Root, CatalogOptions, Scope};
    ///
    /// let deploy = "---\nname: deploy\ndescription: Deploys\ndisable-model-invocation: true\n---\n";
    /// let root = Root::new(Scope::User, "mine", MemorySource::new([("deploy/SKILL.md", deploy)]));
    /// let catalog = Catalog::discover(vec![root], CatalogOptions::default(), 0);
    ///
    /// assert_eq!(catalog.resolve_for_model("deploy").unwrap_err().to_string(), "There is no skill `deploy`");
    /// assert!(catalog.resolve_for_person("deploy").is_ok());
    /// ```
    pub fn resolve_for_model(&self, id: &str) -> Result<Entry<'_>, Error> {
        self.usable_among(id, |_| true, || nearest_of(id, self.visible()))
    }

    /// Returns the skill that an id leads to, if it is among some. The error is the same for one that is not among them and
    /// for an id that leads to nothing, and names the nearest of them.
    pub fn resolve_among<'a>(
        &'a self,
        id: &str,
        is_among: impl Fn(&Entry<'a>) -> bool,
    ) -> Result<Entry<'a>, Error> {
        let found = self.get(id).filter(&is_among);
        found.ok_or_else(|| Error::no_skill(id, nearest_of(id, self.entries().filter(&is_among))))
    }

    /// Returns the skill that an id leads to, if a model may get it that may see only some; `meant` are ids that may have
    /// been meant.
    pub(crate) fn usable_among<'a>(
        &'a self,
        id: &str,
        may_see: impl Fn(&Entry<'a>) -> bool,
        meant: impl FnOnce() -> Vec<&'a str>,
    ) -> Result<Entry<'a>, Error> {
        let found = self.get(id);
        if let Some(entry) = found.filter(|entry| entry.is_for_models() && may_see(entry)) {
            return Ok(entry);
        }
        if let Some(entry) = found {
            tracing::warn!(
                skill = &*visible(entry.id()),
                rule = entry.refusal().unwrap_or("The skill is not for this model"),
                "refused a skill to a model"
            );
        }
        Err(Error::no_skill(id, meant()))
    }

    /// Returns the skill that an id leads to, if a person may start it or read its files: it is trusted and on. The error
    /// says why not, and is not for a model.
    pub fn resolve_for_person(&self, id: &str) -> Result<Entry<'_>, Error> {
        match self.resolve(id) {
            Lookup::Skill(entry) => match entry.refusal() {
                None => Ok(entry),
                // By the id that was asked for: its own may be a message.
                Some(rule) => Err(Error::refused(id, rule)),
            },
            Lookup::Refused(refused) if self.roots[refused.source].trust() == Trust::Untrusted => {
                Err(Error::refused(id, UNTRUSTED))
            }
            Lookup::Refused(_) => self.resolve_or_suggest(id),
            Lookup::Nothing => {
                let usable = self.entries().filter(|entry| entry.refusal().is_none());
                Err(Error::no_skill(id, nearest_of(id, usable)))
            }
        }
    }
}

fn nearest_of<'a>(id: &str, entries: impl Iterator<Item = Entry<'a>>) -> Vec<&'a str> {
    nearest(id, entries.map(|entry| entry.id()), MEANT)
}
