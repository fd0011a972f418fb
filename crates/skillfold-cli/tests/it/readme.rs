//! The README's session is what happens.

use std::process::Command;

use crate::command::World;

/// A command of a session and what it printed.
struct Step {
    typed: String,
    printed: String,
}

/// Returns the steps of all `console` blocks of a page, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_inside = line == "```console";
        } else if !is_inside {
        } else if let Some(typed) = line.strip_prefix("$ ") {
            steps.push(Step {
                typed: typed.to_owned(),
                printed: String::new(),
            });
        } else if let Some(step) = steps.last_mut() {
            step.printed += line;
            step.printed += "\n";
        }
    }
    steps
}

#[test]
fn session_of_the_readme_is_what_happens() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let page = std::fs::read_to_string(path).unwrap();
    let steps = steps(&page);
    assert!(steps.len() >= 6, "the README shows a session");
    let world = World::new("//- app/README.md\n");
    let binaries = std::path::Path::new(env!("CARGO_BIN_EXE_skillfold"))
        .parent()
        .unwrap();
    let mut happened = page.clone();
    for step in &steps {
        let path = format!("{}:/usr/bin:/bin", binaries.display());
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {}; }} 2>&1", step.typed)])
            .current_dir(world.path("app"))
            .env_clear()
            .envs([
                ("PATH", path.as_str()),
                ("HOME", &world.path("person").to_string_lossy()),
            ])
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let (old, new) = (
            format!("$ {}\n{}", step.typed, step.printed),
            format!("$ {}\n{}", step.typed, trimmed(&printed)),
        );
        happened = happened.replacen(&old, &new, 1);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &happened).unwrap();
    }
    assert!(
        page == happened || std::env::var_os("UPDATE_DOCS").is_some(),
        "{happened}"
    );
}

/// Returns text without blank space at line ends and blank lines at its end, which Markdown does not show.
fn trimmed(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n"),
    }
}
