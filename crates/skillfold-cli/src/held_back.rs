//! What is held back from models until the person trusts it.

use skillfold::core::{Catalog, Standing};

use crate::output::{Output, counted};

/// Says that skills are held back, and the way to see them.
pub(crate) fn say_held_back(catalog: &Catalog, output: &mut Output) {
    let untrusted = catalog.entries();
    let untrusted = untrusted.filter(|entry| entry.standing() == Standing::Untrusted);
    match untrusted.count() {
        0 => {}
        count => output.say(format!(
            "{} held back, as the project is not trusted; `--trust-project` trusts it for this run",
            counted(count, "skill is", "skills are")
        )),
    }
}
