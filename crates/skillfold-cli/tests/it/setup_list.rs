//! `setup` turns off a client's own list of skills, and the settings follow the skills.

use std::io::Write as _;
use std::process::Stdio;

use crate::command::World;

pub(crate) const SKILLS: &str = "
    //- app/.git/HEAD
    //- app/.claude/skills/of-project/SKILL.md
    ---
    name: of-project
    description: Folds paper for the project
    ---
    //- person/.claude/skills/first/SKILL.md
    ---
    name: named
    description: Cuts paper
    ---
    //- person/.claude/skills/for-people/SKILL.md
    ---
    name: for-people
    description: Burns paper
    disable-model-invocation: true
    ---
    //- person/.claude/commands/paper/burn.md
    Burns paper
    //- person/.claude/settings.json
    {
      // mine
      \"model\": \"opus\"
    }
    ";
const USER: &str = "person/.claude/settings.json";
const LOCAL: &str = "app/.claude/settings.local.json";

/// Calls the hook as a client does when a conversation starts. Returns what it prints.
pub(crate) fn start_conversation(world: &World) -> String {
    let event = r#"{"hook_event_name":"SessionStart","session_id":"1","source":"startup"}"#;
    call_hook(world, "claude-code", event)
}

fn call_hook(world: &World, client: &str, event: &str) -> String {
    let mut command = crate::command::skillfold(&world.path("app"), &world.path("person"));
    command.args(["hook", "--client", client]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(event.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn turned_off(world: &World, file: &str) -> Vec<String> {
    let text = world.read(file);
    let lines = text
        .lines()
        .filter(|line| line.contains("user-invocable-only"));
    let names = lines.filter_map(|line| line.split('"').nth(1));
    names.map(str::to_owned).collect()
}

#[test]
fn settings_follow_the_skills_and_undo_restores_every_byte() {
    let world = World::new(SKILLS);
    let before = world.read(USER);
    let shown = world.run(&["setup", "claude-code", "--list", "ours", "--yes"]);
    assert!(shown.ends_with("exit 0\n"), "{shown}");
    // A skill is named by its folder, a command by its path, and one that only people may start stays as it is.
    assert_eq!(turned_off(&world, USER), ["first", "paper:burn"]);
    assert_eq!(turned_off(&world, LOCAL), ["of-project"]);
    // A new skill, by hand and by our command.
    world.write(
        "//- person/.claude/skills/second/SKILL.md\n---\nname: second\ndescription: Glues\n---\n",
    );
    start_conversation(&world);
    assert_eq!(turned_off(&world, USER), ["first", "paper:burn", "second"]);
    let folder = world.path("person/.claude/skills");
    let made = world.run(&["new", "third", "--in", folder.to_str().unwrap()]);
    assert!(made.ends_with("exit 0\n"), "{made}");
    assert_eq!(
        turned_off(&world, USER),
        ["first", "paper:burn", "second", "third"]
    );
    // An editor saves beside it, and skills go.
    let text = world.read(USER).replace("\"opus\"", "\"sonnet\"");
    std::fs::write(world.path(USER), text).unwrap();
    std::fs::remove_dir_all(world.path("person/.claude/skills/first")).unwrap();
    std::fs::remove_dir_all(world.path("app/.claude/skills")).unwrap();
    start_conversation(&world);
    assert_eq!(turned_off(&world, USER), ["paper:burn", "second", "third"]);
    assert!(!world.path(LOCAL).exists());
    let shown = world.run(&["setup", "claude-code", "--undo", "--yes"]);
    assert!(shown.ends_with("exit 0\n"), "{shown}");
    assert_eq!(world.read(USER), before.replace("opus", "sonnet"));
    assert!(!world.path("person/.claude.json").exists());
    // Without the choice nothing follows.
    start_conversation(&world);
    assert_eq!(world.read(USER), before.replace("opus", "sonnet"));
}

#[test]
fn hook_follows_a_thousand_skills_and_gives_the_list_in_time() {
    let world = World::new("//- app/README.md\n");
    for number in 0..1_000 {
        let folder = world.path(&format!("person/.agents/skills/skill-{number}"));
        std::fs::create_dir_all(&folder).unwrap();
        let skill =
            format!("---\nname: skill-{number}\ndescription: Folds paper {number} times\n---\n");
        std::fs::write(folder.join("SKILL.md"), skill).unwrap();
    }
    let shown = world.run(&["setup", "copilot-cli", "--list", "ours", "--yes"]);
    assert!(shown.ends_with("exit 0\n"), "{shown}");
    world.write(
        "//- person/.agents/skills/later/SKILL.md\n---\nname: later\ndescription: Glues\n---\n",
    );
    let event = r#"{"hook_event_name":"sessionStart","sessionId":"1","source":"new"}"#;
    let said = call_hook(&world, "copilot-cli", event);
    assert!(said.contains("additionalContext"), "{said}");
    assert!(
        world
            .read("person/.copilot/settings.json")
            .contains("\"later\"")
    );
}

#[test]
fn setup_shows_what_each_list_costs() {
    let world = World::new(SKILLS);
    let shown = world.run(&["setup", "claude-code", "--dry-run"]);
    let said: Vec<&str> = shown.lines().filter(|line| line.starts_with('!')).collect();
    insta::assert_snapshot!(said.join("\n"), @"
    ! Claude Code: lists 3 skills itself
    !   its own list        about      25 tokens in every request
    !   our list alone      about     382
    !   both                about     230
    ! Nothing was written; this is what would change
    ! Nothing was written; this is what would change
    ");
    let refused = world.run(&["setup", "zed", "--list", "ours", "--yes"]);
    assert!(!refused.ends_with("exit 0\n"), "{refused}");
}

#[test]
fn both_lists_turn_the_clients_own_on_again() {
    let world = World::new(SKILLS);
    let before = world.read(USER);
    world.run(&[
        "setup",
        "claude-code",
        "--no-hook",
        "--list",
        "ours",
        "--yes",
    ]);
    assert_ne!(world.read(USER), before);
    world.run(&[
        "setup",
        "claude-code",
        "--no-hook",
        "--list",
        "both",
        "--yes",
    ]);
    assert_eq!(world.read(USER), before);
    assert!(!world.path(LOCAL).exists());
}

#[test]
fn hook_names_the_restore_file_if_the_program_is_gone() {
    let world = World::new(SKILLS);
    world.run(&["setup", "claude-code", "--list", "ours", "--yes"]);
    let settings: serde_json::Value =
        serde_json::from_str(&world.read(USER).replace("// mine", "")).unwrap();
    let line = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let program = line.split_whitespace().next().unwrap();
    let gone = line.replace(program, "/nowhere/skillfold");
    let output = std::process::Command::new("sh")
        .args(["-c", &gone])
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let file = said.trim().rsplit_once(": ").unwrap().1;
    assert_eq!(said.lines().count(), 1);
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .contains("\"first\": \"user-invocable-only\"")
    );
}

#[test]
fn settings_under_version_control_stay_and_setup_says_so() {
    let world = World::new(SKILLS);
    world.write("//- app/.claude/settings.local.json\n{}\n");
    std::fs::remove_dir_all(world.path("app/.git")).unwrap();
    for arguments in [&["init", "--quiet"][..], &["add", "--force", "."]] {
        let mut git = std::process::Command::new("git");
        git.current_dir(world.path("app"));
        assert!(git.args(arguments).status().unwrap().success());
    }
    let shown = world.run(&["setup", "claude-code", "--list", "ours", "--yes"]);
    let said: Vec<&str> = shown.lines().filter(|line| line.starts_with('!')).collect();
    assert!(
        said.iter()
            .any(|line| line.contains("under version control")),
        "{shown}"
    );
    start_conversation(&world);
    assert_eq!(world.read(LOCAL), "{}\n");
    assert_eq!(turned_off(&world, USER), ["first", "paper:burn"]);
}
