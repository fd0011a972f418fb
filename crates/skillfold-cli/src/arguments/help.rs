//! The help: the global options, exit codes, and a hint for a command that does not exist.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};
use skillfold::core::catalog::nearest;

use super::Arguments;

const EXIT_CODES: &str = "\
Exit codes:
    0  success
    1  problems found: errors in a skill, a folder without one, a skill that
       fails its `test`, or invalid settings
    2  invalid command line or setting
    3  no such skill, file or folder
    4  refused: a rule forbids it, or the file exists already
    5  a file could not be read or written
  130  interrupted by Ctrl-C, or left without a choice";

/// The commands by what they are for. Those that few people need come last.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Start", &["setup", "init", "doctor", "config"]),
    (
        "Use",
        &[
            "list", "search", "show", "load", "files", "read", "prompt", "why", "compose",
        ],
    ),
    (
        "Install",
        &[
            "add",
            "remove",
            "install",
            "verify",
            "outdated",
            "update",
            "vendor",
            "why-installed",
        ],
    ),
    ("Write", &["new", "check", "test", "improve", "overlap"]),
    (
        "Decide",
        &[
            "trust",
            "allow",
            "propose",
            "proposals",
            "review",
            "approve",
            "reject",
        ],
    ),
    ("Run", &["run", "tools"]),
    ("Share", &["serve", "access", "hook", "report"]),
    (
        "Maintain",
        &[
            "stats",
            "history",
            "diff",
            "rollback",
            "audit",
            "passphrase",
            "cache",
            "completions",
            "man",
        ],
    ),
];

/// What people type, and the command that does it.
const OTHER_WORDS: [(&[&str], &str); 14] = [
    (&["upgrade"], "`skillfold update` proposes newer versions"),
    (&["uninstall", "rm"], "`skillfold remove` removes a skill"),
    (
        &["restore", "ci", "sync"],
        "`skillfold install --frozen` restores the lock",
    ),
    (&["ls", "skills"], "`skillfold list` lists the skills"),
    (
        &["find", "grep", "query"],
        "`skillfold search` finds skills",
    ),
    (
        &["info", "view", "describe"],
        "`skillfold show` shows a skill",
    ),
    (
        &["cat", "open"],
        "`skillfold read` prints a skill's file, `skillfold load` its instructions",
    ),
    (
        &["lint", "validate", "fix"],
        "`skillfold check` checks skills, and `--fix` fixes them",
    ),
    (&["create", "add-skill"], "`skillfold new` creates a skill"),
    (
        &["status"],
        "`skillfold` without a command shows the status and next steps",
    ),
    (
        &["accept"],
        "`skillfold trust` trusts a project or a new skill",
    ),
    (
        &["mcp", "server", "start"],
        "`skillfold serve` is the server",
    ),
    (
        &["explain", "debug"],
        "`skillfold why` explains a selection, `skillfold doctor` shows what is wrong",
    ),
    (
        &["enable", "disable", "set", "settings"],
        "`skillfold config set disable ID` disables a skill; `skillfold config` shows the settings",
    ),
];

/// Returns the command line with its help.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    let (globals, groups) = (global_options(&command), grouped_commands(&command));
    command
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\n\n{{after-help}}"
        ))
        .after_help(format!(
            "{globals}\n\n{EXIT_CODES}\n\n`skillfold help COMMAND` explains a command, with examples."
        ))
}

/// Returns the commands in their groups, each with what it does.
fn grouped_commands(command: &Command) -> String {
    let groups = GROUPS.map(|(group, names)| {
        let lines = names.iter().map(|name| {
            let about = (command.find_subcommand(name)).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            format!("\n  {name:12} {about}")
        });
        format!("{group}:{}", lines.collect::<String>())
    });
    groups.join("\n\n")
}

/// Returns the options that every command has. They would bury those of a command in its own help.
fn global_options(command: &Command) -> String {
    let mut text = "Global options:".to_owned();
    for argument in command
        .get_arguments()
        .filter(|argument| argument.is_global_set())
    {
        let short = argument
            .get_short()
            .map_or("    ".to_owned(), |c| format!("-{c}, "));
        let long = argument.get_long().unwrap_or_default();
        let value = match argument.get_value_names() {
            Some([name]) if argument.get_action().takes_values() => format!(" <{name}>"),
            _ => String::new(),
        };
        let option = format!("{short}--{long}{value}");
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let _ = write!(text, "\n  {option:26}  {help}");
    }
    text
}

/// Returns what to type instead of a command that does not exist.
pub(crate) fn instead_of(word: &str, parent: Option<&str>) -> Option<String> {
    let word = word.to_lowercase();
    let mut command = Arguments::command();
    // Commands below others are known once it is built.
    command.build();
    let below = parent.and_then(|parent| command.find_subcommand(parent));
    if let Some(below) = below.filter(|below| below.has_subcommands()) {
        let names = below.get_subcommands().map(Command::get_name);
        let name = below.get_name();
        let hint = match nearest(&word, names, 1).first() {
            Some(meant) => format!("Did you mean `{name} {meant}`?"),
            None => format!("`skillfold help {name}` lists its commands"),
        };
        return Some(hint);
    }
    let names = command.get_subcommands().map(Command::get_name);
    let others = OTHER_WORDS.iter().flat_map(|(words, _)| *words);
    let meant = nearest(&word, names.chain(others.copied()), 1);
    let meant = *meant.first()?;
    let mut others = OTHER_WORDS.iter();
    match others.find(|(words, _)| words.contains(&meant)) {
        Some((_, hint)) => Some((*hint).to_owned()),
        None => Some(format!("Did you mean `{meant}`?")),
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, OTHER_WORDS, command, instead_of};
    use clap::Parser as _;

    #[test]
    fn every_command_has_examples_that_parse() {
        let command = command();
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let help = sub.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_else(|| panic!("`{}` has no example", sub.get_name()));
            let examples = help.lines().skip(1).take_while(|line| !line.is_empty());
            for line in examples {
                let typed = line.split([';', '|', '<', '>', '#']).next().unwrap();
                let mut quoted = false;
                let words = typed.split(|c: char| {
                    quoted ^= c == '"';
                    c == ' ' && !quoted
                });
                let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
                assert_eq!(words[1], sub.get_name(), "{line}");
                let parsed = super::Arguments::try_parse_from(&words);
                assert!(parsed.is_ok(), "{line}: {parsed:?}");
            }
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = command();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
        let commands = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let mut commands: Vec<_> = commands.map(clap::Command::get_name).collect();
        grouped.sort();
        commands.sort_unstable();
        assert!(grouped.into_iter().eq(&commands), "{commands:?}");
    }

    #[test]
    fn words_suggested_for_commands_are_not_commands() {
        let command = command();
        for word in OTHER_WORDS.iter().flat_map(|(words, _)| *words) {
            assert!(command.find_subcommand(word).is_none(), "{word}");
        }
    }

    #[test]
    fn misspelt_word_suggests_the_right_command() {
        let hint = |word, parent| instead_of(word, parent).unwrap_or_default();
        assert_eq!(hint("chek", None), "Did you mean `check`?");
        assert_eq!(hint("instal", None), "Did you mean `install`?");
        assert!(hint("upgrade", None).contains("`skillfold update`"));
        assert_eq!(hint("gt", Some("config")), "Did you mean `config get`?");
        assert_eq!(instead_of("qqqqqq", None), None);
    }

    #[test]
    fn help_of_a_command_is_short_and_has_no_global_options() {
        let mut command = command();
        command.build();
        for mut sub in command.get_subcommands().cloned().collect::<Vec<_>>() {
            let text = sub.render_long_help().to_string();
            assert!(!text.contains("--trust-project"), "{text}");
        }
    }
}
