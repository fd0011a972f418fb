//! Skills in a table.

use skillfold::core::Entry;
use skillfold::core::catalog::Status;

use crate::terminal::output::{BOLD, DIM, PLAIN, WARN};
use crate::terminal::table::Table;

/// Returns a row for each skill: its id, where it is from, and what it does.
pub(crate) fn skill_table(entries: &[Entry<'_>]) -> Table {
    let mut table = Table::default();
    for entry in entries {
        let style = if entry.status() == Status::Active {
            DIM
        } else {
            WARN
        };
        table.row([
            (BOLD, entry.id()),
            (style, &location(entry)),
            (PLAIN, &entry.manifest().brief()),
        ]);
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
