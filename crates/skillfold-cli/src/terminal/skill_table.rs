//! Skills in a table.

use skillfold::core::Entry;
use skillfold::core::catalog::Status;

use crate::terminal::output::{BOLD, DIM, PLAIN, WARN};
use crate::terminal::table::Table;

/// Returns a row for each skill: its id, where it is from, where a client's model finds it if `place` says so, and what it
/// does.
pub(crate) fn skill_table(
    entries: &[Entry<'_>],
    place: impl Fn(&Entry<'_>) -> Option<&'static str>,
) -> Table {
    let mut table = Table::default();
    for entry in entries {
        let style = if entry.status() == Status::Active {
            DIM
        } else {
            WARN
        };
        let (location, brief) = (location(entry), entry.manifest().brief());
        let (id, from, what) = ((BOLD, entry.id()), (style, &*location), (PLAIN, &*brief));
        match place(entry) {
            Some(place) => table.row([id, from, (DIM, place), what]),
            None => table.row([id, from, what]),
        }
    }
    table
}

/// Returns the scope or plugin of a skill, and its status if it is not active.
fn location(entry: &Entry<'_>) -> String {
    let qualifier = entry.root().qualifier();
    match entry.status() {
        Status::Active => qualifier.to_owned(),
        status => format!("{qualifier}, {status}"),
    }
}
