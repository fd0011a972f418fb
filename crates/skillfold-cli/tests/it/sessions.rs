//! The sessions of the documentation are what happens.

use std::path::Path;
use std::process::Command;

use skillfold_testkit::{folder, lay_out};
use tempfile::TempDir;

use crate::command::program;

#[test]
fn readme_session_is_reproducible() {
    check("README.md", "//- person/app/.git/HEAD\n");
}

#[test]
fn command_page_session_is_reproducible() {
    check(
        "docs/command.md",
        "
        //- person/app/.git/HEAD
        //- person/app/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: Fills in PDF forms.
        ---
        Fill in the form.
        //- person/app/.agents/skills/release-notes/SKILL.md
        ---
        name: release-notes
        description: Use when: a release is made
        ---
        Write the notes.
        //- person/app/.agents/skills/draft/SKILL.md
        \0 Draft
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: My own way with PDF files.
        ---
        Do it this way.
        //- person/.claude/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes and sorts mail.
        tags: [office, mail]
        ---
        Write and sort $ARGUMENTS as references/rules.md says.
        //- person/.claude/skills/mail/references/rules.md
        Be short.
        Be kind.
        ",
    );
}

#[test]
fn catalog_page_session_is_reproducible() {
    check(
        "docs/catalog.md",
        "
        //- person/app/.git/HEAD
        //- person/app/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: Fills in PDF forms.
        ---
        //- person/app/.claude/skills/pdf/SKILL.md
        ---
        name: pdf
        description: An older way of the project.
        ---
        //- person/app/plugins/acme/pdf/SKILL.md
        ---
        name: pdf
        description: The way of Acme.
        ---
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: My own way with PDF files.
        ---
        //- person/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes and sorts mail.
        ---
        ",
    );
}

#[test]
fn settings_page_session_is_reproducible() {
    check(
        "docs/settings.md",
        "
        //- person/.config/skillfold/config.toml
        profile = \"lenient\"
        disable = [\"mail\", \"pfd\"]
        //- person/app/.skillfold/config.toml
        disable = [\"draft\"]
        links = \"follow\"
        //- person/app/.git/HEAD
        //- person/app/.agents/skills/draft/SKILL.md
        ---
        name: draft
        description: Writes a draft.
        ---
        //- person/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes and sorts mail.
        ---
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: My own way with PDF files.
        ---
        ",
    );
}

#[test]
fn observability_page_session_is_reproducible() {
    check(
        "docs/observability.md",
        r#"
        //- person/app/.git/HEAD
        //- person/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes and sorts mail.
        triggers: [mail]
        ---
        Write it.
        //- person/app/agent.jsonl
        {"time_ms":1763110800000,"level":"INFO","event":"skills found","skills":3}
        {"time_ms":1763110801000,"level":"INFO","event":"skills for a request","decisions":1}
        {"time_ms":1763110900000,"level":"INFO","event":"feedback on a skill","skill":"mail","feedback":"used","chosen":{"by":"trigger","rank":1,"told":"full","turn":1},"turn":1}
        {"time_ms":1763197200000,"level":"INFO","event":"skills for a request","decisions":2}
        {"time_ms":1763197260000,"level":"INFO","event":"feedback on a skill","skill":"mail","feedback":"used","chosen":{"by":"mention","rank":1,"told":"full","turn":2},"turn":2}
        {"time_ms":1763197261000,"level":"INFO","event":"feedback on a skill","skill":"notes","feedback":"unused","chosen":{"by":"trigger","rank":2,"told":"full","turn":2},"turn":2}
        {"time_ms":1763283600000,"level":"INFO","event":"skills for a request","decisions":0}
        {"time_ms":1763283660000,"level":"INFO","event":"feedback on a skill","skill":"pdf","feedback":"missed","turn":3}
        {"time_ms":17632836
        "#,
    );
}

#[test]
fn loading_page_session_is_reproducible() {
    check(
        "docs/loading.md",
        "
        //- person/app/.git/HEAD
        //- person/.agents/skills/fonts/SKILL.md
        ---
        name: fonts
        description: Finds fonts.
        arguments: [family, fallback]
        ---
        Look for $family, else for $fallback. They cost at most $1.50.
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: Fills in PDF forms.
        requires: [fonts]
        ---
        # PDF

        Fill in $ARGUMENTS as `references/forms.md` says. Run `scripts/fill.py`.
        //- person/.agents/skills/pdf/LICENSE
        MIT
        //- person/.agents/skills/pdf/references/forms.md
        Every field has a name, a größe and a value.
        //- person/.agents/skills/pdf/scripts/fill.py
        print()
        ",
    );
}

#[test]
fn injection_page_session_is_reproducible() {
    check_with_examples("docs/injection.md");
}

#[test]
fn prompt_to_skill_guide_session_is_reproducible() {
    check_with_examples("docs/guide-prompt-to-skill.md");
}

#[test]
fn first_steps_session_is_reproducible() {
    check("docs/first-steps.md", "//- person/app/.git/HEAD\n");
}

#[test]
fn skill_that_fires_guide_session_is_reproducible() {
    check(
        "docs/guide-skill-that-fires.md",
        "//- person/app/.git/HEAD\n",
    );
}

#[test]
fn examples_session_is_reproducible() {
    check_with_examples("examples/README.md");
}

#[test]
fn example_skills_session_is_reproducible() {
    check_with_examples("examples/skills/README.md");
}

/// Runs the sessions of a page beside the examples of the workspace.
fn check_with_examples(page: &str) {
    let world = folder("//- person/app/.git/HEAD\n");
    lay_out("examples", &world.path().join("person/app/examples"));
    check_in(page, &world);
}

#[test]
fn evaluations_page_session_is_reproducible() {
    check(
        "docs/evaluations.md",
        r#"
        //- person/app/.git/HEAD
        //- person/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes mail.
        triggers: [mail]
        ---
        Write it.
        //- person/.agents/skills/mail/evals/eval_queries.json
        [
          { "query": "Send a mail to Alice", "should_trigger": true },
          { "query": "Drop Bob a note about the party", "should_trigger": true },
          { "query": "What is the weather?", "should_trigger": false }
        ]
        //- person/.agents/skills/notes/SKILL.md
        ---
        name: notes
        description: Takes notes.
        triggers: [note]
        ---
        Take them.
        //- person/.agents/skills/notes/evals/trigger-evals.json
        {
          "should_trigger": ["Take a note: milk, eggs"],
          "should_not_trigger": ["Open the notebook of last year"]
        }
        "#,
    );
}

#[test]
fn client_page_sessions_are_reproducible() {
    for (client, tree) in CLIENTS {
        let world = folder(&format!("//- person/app/.git/HEAD\n{tree}"));
        let programs = world.path().join("person/.cargo/bin");
        std::fs::create_dir_all(&programs).unwrap();
        let program = env!("CARGO_BIN_EXE_skillfold");
        std::os::unix::fs::symlink(program, programs.join("skillfold")).unwrap();
        check_in(&format!("docs/clients/{client}.md"), &world);
    }
}

/// The pages of clients, and a configuration that a user may have.
const CLIENTS: [(&str, &str); 6] = [
    (
        "claude-code",
        "//- person/.claude.json\n{\n  \"numStartups\": 42,\n  \"mcpServers\": {},\n  \"projects\": {}\n}\n",
    ),
    (
        "codex",
        "//- person/.codex/config.toml\nmodel = \"gpt-5\" # the large one\n\n[mcp_servers.docs]\nurl = \"https://docs.example.com/mcp\"\n",
    ),
    (
        "cursor",
        "//- person/.cursor/mcp.json\n{\n  \"mcpServers\": {\n    \"docs\": { \"url\": \"https://docs.example.com/mcp\" }\n  }\n}\n",
    ),
    (
        "gemini",
        "//- person/.gemini/settings.json\n{\n  \"ui\": { \"theme\": \"Default\" }\n}\n",
    ),
    ("vscode", ""),
    (
        "others",
        concat!(
            "//- person/.config/Claude/claude_desktop_config.json\n{\n  \"mcpServers\": {}\n}\n",
            "//- person/.config/goose/config.yaml\nGOOSE_MODEL: large # the good one\nextensions:\n  developer:\n    enabled: true\n    name: developer\n    type: builtin\n",
            "//- person/.config/opencode/opencode.jsonc\n{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    // only at work\n    \"docs\": { \"type\": \"remote\", \"url\": \"https://docs.example.com/mcp\", \"enabled\": false },\n  },\n}\n",
            "//- person/.codeium/windsurf/mcp_config.json\n{\n  \"mcpServers\": {\n    \"docs\": { \"serverUrl\": \"https://docs.example.com/mcp\" }\n  }\n}\n",
            "//- person/.config/zed/settings.json\n// Zed settings\n{\n  \"theme\": \"One Dark\", // at night\n  \"context_servers\": {},\n}\n",
        ),
    ),
];

/// Runs the sessions of a page in the project `app` in the home of a person; `UPDATE_DOCS=1` writes what happened.
fn check(page: &str, tree: &str) {
    check_in(page, &folder(tree));
}

fn check_in(page: &str, world: &TempDir) {
    let path = skillfold_testkit::in_checkout(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let home = world.path().join("person").canonicalize().unwrap();
    let happened = replayed(&text, &home);
    assert!(
        happened.contains("\n```console\n$ "),
        "{page} has no session"
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, happened).unwrap();
    } else {
        assert!(
            text == happened,
            "{page} is not what happens; run UPDATE_DOCS=1 cargo test -p skillfold-cli sessions, and read the \
             difference:\n{happened}"
        );
    }
}

/// Returns a page with what the commands of its `console` blocks print now, one after the other.
fn replayed(page: &str, home: &Path) -> String {
    let mut replayed = String::new();
    let mut is_session = false;
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        if is_fence {
            is_session = line == "```console";
        }
        let typed = line.strip_prefix("$ ").filter(|_| is_session);
        if is_fence || !is_session || typed.is_some() {
            replayed += line;
            replayed += "\n";
        }
        if let Some(typed) = typed {
            replayed += &printed(typed, home);
        }
    }
    replayed
}

/// Returns what a command prints, without blank space at line ends and blank lines at its end, which Markdown does not
/// show.
fn printed(typed: &str, home: &Path) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_skillfold")).parent().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {typed}; }} 2>&1")])
        .current_dir(home.join("app"))
        .env_clear()
        .env(
            "PATH",
            format!(
                "{}/.cargo/bin:{}:/usr/bin:/bin",
                home.display(),
                binaries.display()
            ),
        )
        .env("HOME", home)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.replace(&*home.to_string_lossy(), "/home/user");
    let text = text.replace(
        &*program().to_string_lossy(),
        "/home/user/skillfold/target/debug/skillfold",
    );
    let lines = text.trim_end().lines();
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}
