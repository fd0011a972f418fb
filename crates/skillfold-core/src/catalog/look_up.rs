//! The skill that was asked for, or an error that says what was meant or what is wrong.

use crate::catalog::entry::{Entry, Lookup, UNTRUSTED};
use crate::catalog::nearest::nearest;
use crate::catalog::root::Trust;
use crate::catalog::snapshot::Catalog;
use crate::diagnostic::whole;
use crate::error::Error;

/// Ids that the answer to an unknown one names.
pub(crate) const MEANT: usize = 3;

impl Catalog {
    /// Returns the skill that an id, a name or a folder's name leads to; the error names the nearest ids, or says what is
    /// wrong with a folder that was refused. It is for people: [`usable`](Self::usable) is for what a model asks.
    pub fn look_up(&self, id: &str) -> Result<Entry<'_>, Error> {
        match self.find(id) {
            Lookup::Skill(entry) => Ok(entry),
            Lookup::Refused(refused) => Err(Error::malformed(
                format!("{} holds no skill", whole(id)),
                refused.diagnostics.clone(),
            )),
            Lookup::Nothing => Err(Error::no_skill(id, self.nearest(id, MEANT))),
        }
    }

    /// Returns the skill that an id leads to, if it may be given to a model. The error is fit for a model too: it has
    /// nothing in it of what is not trusted or switched off, not even a name.
    pub fn usable(&self, id: &str) -> Result<Entry<'_>, Error> {
        match self.find(id) {
            Lookup::Skill(entry) => entry.may_be_given(id).map(|()| entry),
            Lookup::Refused(refused) if self.roots[refused.source].trust() == Trust::Untrusted => {
                Err(Error::refused(id, UNTRUSTED))
            }
            Lookup::Refused(_) => self.look_up(id),
            Lookup::Nothing => {
                let usable = self
                    .entries()
                    .filter(|entry| entry.may_be_given(id).is_ok());
                let ids = usable.map(|entry| entry.id());
                Err(Error::no_skill(id, nearest(id, ids, MEANT)))
            }
        }
    }
}
