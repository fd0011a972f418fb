//! The examples below the help of a command.

/// Returns what stands below the help of a command: its examples, a line each.
pub(super) fn examples(lines: &[&str]) -> String {
    let lines = lines.join("\n  ");
    format!("Examples:\n  {lines}\n\nGlobal options, such as --json: `skillfold --help`")
}
