//! The reference is what the command and the server say of themselves. `UPDATE_DOCS=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use skillfold::{
    Settings,
    settings::{KEYS, Key},
};
use skillfold_testkit::in_checkout;

use crate::command::World;
use crate::serve::serve;

const LIST_TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
"#;

const SETTINGS_HEAD: &str = "| key | what | form | default | a project may set it | variable |\n|---|---|---|---|---|---|\n";

#[test]
fn command_reference_matches_help() {
    let world = World::new("");
    let mut page = "# Commands and options\n\nThe help of every command. [The command](../command.md) explains each, with examples. Every command also takes the \
                    [options of\nall commands](#skillfold).\n\nGenerated: `UPDATE_DOCS=1 cargo test -p skillfold-cli reference`.\n"
        .to_owned();
    for words in all_commands(&world) {
        let help = help(&world, &words);
        let name = ["skillfold".to_owned()].into_iter().chain(words);
        let name = name.collect::<Vec<_>>().join(" ");
        write!(page, "\n## {name}\n\n```text\n{help}```\n").unwrap();
    }
    compare("docs/reference/commands.md", &page);
}

#[test]
fn command_page_explains_every_command() {
    let page = read("docs/command.md");
    for words in all_commands(&World::new("")) {
        let [name] = &*words else { continue };
        let row = format!("[`{name}`](#");
        let mut rows = page.lines().filter(|line| line.starts_with("| "));
        let link = rows.find_map(|line| line.split_once(&row));
        let (_, link) = link.unwrap_or_else(|| panic!("docs/command.md has no row for `{name}`"));
        let anchor = link.split(')').next().unwrap();
        let heading = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .any(|title| title.to_lowercase().replace(' ', "-") == anchor);
        assert!(heading, "docs/command.md has no section `{anchor}`");
    }
}

#[test]
fn settings_reference_has_every_key_with_its_default() {
    let page = read("docs/settings.md");
    let (before, after) = page.split_once(SETTINGS_HEAD).unwrap();
    let (table, after) = after.split_once("\n\n").unwrap();
    let known: BTreeMap<&str, Vec<&str>> = table
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            (cells[0].trim_matches('`'), cells)
        })
        .collect();
    let rows: Vec<String> = KEYS
        .iter()
        .map(|key| setting_row(key, known.get(key.name)))
        .collect();
    compare(
        "docs/settings.md",
        &format!("{before}{SETTINGS_HEAD}{}\n\n{after}", rows.join("\n")),
    );
}

/// Returns the row of a setting. What people wrote is kept: what it does, its values, and what a project may set.
fn setting_row(key: &Key, known: Option<&Vec<&str>>) -> String {
    let written = |cell: usize, otherwise: &str| {
        let text = known.and_then(|cells| cells.get(cell).copied());
        text.unwrap_or(otherwise).to_owned()
    };
    let values = written(2, key.accepts);
    if key.accepts.starts_with('`') {
        for word in key.accepts.split('`').skip(1).step_by(2) {
            let word = format!("`{word}`");
            assert!(values.contains(&word), "`{}` accepts {word}", key.name);
        }
    }
    let mut defaults = Settings::default().explain().into_iter();
    let default = defaults.find(|row| row.key == key.name);
    let default = default.and_then(|row| row.value);
    let default = match default.as_deref() {
        // A path that is not set.
        None | Some("none") if key.name != "fallback" => "none".to_owned(),
        value => format!("`{}`", value.unwrap()),
    };
    let by_projects = match written(4, "yes") {
        _ if !key.is_for_projects() => "no".to_owned(),
        no if no == "no" => "yes".to_owned(),
        how => how,
    };
    let variable = format!("`SKILLFOLD_{}`", key.name.to_uppercase());
    let variables = match written(5, &variable) {
        // Tables cannot be written in a variable.
        _ if key.accepts.starts_with("tables") => "none".to_owned(),
        variables if variables.split(", ").any(|one| one == variable) => variables,
        _ => variable,
    };
    let what = written(1, key.description);
    format!(
        "| `{}` | {what} | {values} | {default} | {by_projects} | {variables} |",
        key.name
    )
}

#[test]
fn tools_reference_matches_the_server() {
    let mut page = "# Tools of the server\n\nWhat a model sees of the tools of [`skillfold serve`](../mcp.md): `tools/list`, as a client gets it that lists no \
                    skills itself.\n\nGenerated: `UPDATE_DOCS=1 cargo test -p skillfold-cli reference`.\n"
        .to_owned();
    let mut tools = listed_tools(&[]);
    let others = listed_tools(&["--set", "style=bullets"]);
    for tool in others {
        if !tools.iter().any(|known| known["name"] == tool["name"]) {
            tools.push(tool);
        }
    }
    for tool in &tools {
        let text = |name: &str| tool[name].as_str().unwrap();
        write!(page, "\n## {}\n\n{}\n", text("name"), text("description")).unwrap();
        page += "\n| argument | type | required | what |\n|---|---|---|---|\n";
        let schema = &tool["inputSchema"];
        for (name, property) in schema["properties"].as_object().unwrap() {
            let required = schema["required"].as_array().unwrap();
            let required = required.iter().any(|one| one == name.as_str());
            writeln!(
                page,
                "| `{name}` | {} | {} | {} |",
                property["type"].as_str().unwrap(),
                if required { "yes" } else { "no" },
                property["description"].as_str().unwrap_or_default()
            )
            .unwrap();
        }
    }
    compare("docs/reference/tools.md", &page.replace("|  |\n", "| |\n"));
}

fn listed_tools(arguments: &[&str]) -> Vec<Value> {
    let world = World::new(
        "
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: Fills in forms
        ---
        Fill in.
        ",
    );
    let (answers, _) = serve(&world, arguments, LIST_TOOLS);
    let listed = answers.iter().find(|answer| answer["id"] == 2).unwrap();
    listed["result"]["tools"].as_array().unwrap().clone()
}

/// Returns the words of every command, the program itself first.
fn all_commands(world: &World) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut next = 0;
    while let Some(words) = commands.get(next).cloned() {
        let below = subcommands(&help(world, &words)).into_iter();
        let below: Vec<Vec<String>> = below.map(|name| [&*words, &[name]].concat()).collect();
        next += 1;
        commands.splice(next..next, below);
    }
    assert!(commands.len() > 20, "the help lists commands: {commands:?}");
    commands
}

fn subcommands(help: &str) -> Vec<String> {
    // The commands of the program are in groups.
    let grouped = help.split_once("Global options:").map(|(groups, _)| groups);
    let listed = help.split_once("Commands:\n").map(|(_, commands)| commands);
    let listed = listed.and_then(|commands| commands.split("\n\n").next());
    let lines = grouped.or(listed).unwrap_or_default().lines();
    let lines = lines.filter(|line| line.starts_with("  "));
    // A long description goes on in the next line, which is indented further.
    let names = lines.filter(|line| !line.starts_with("   "));
    let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

fn help(world: &World, words: &[String]) -> String {
    let arguments = words.iter().map(String::as_str).chain(["--help"]);
    let help = world.data(&arguments.collect::<Vec<_>>());
    help.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn compare(page: &str, is: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(in_checkout(page).parent().unwrap()).unwrap();
        std::fs::write(in_checkout(page), is).unwrap();
    }
    assert!(
        read(page) == is,
        "{page} is not what the program says; run UPDATE_DOCS=1 cargo test -p skillfold-cli reference, and read the \
         difference:\n{is}"
    );
}

fn read(page: &str) -> String {
    std::fs::read_to_string(in_checkout(page)).unwrap_or_default()
}
