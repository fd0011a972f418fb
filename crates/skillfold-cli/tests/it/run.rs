//! What `skillfold run` says before anything runs.

use crate::command::{World, skill};

fn world() -> World {
    let world = World::new("//- app/README.md\n");
    let text = skill("tidy", "Tidies folders. Use when one is a mess.");
    world.write(&format!(
        "\n//- person/.agents/skills/tidy/SKILL.md\n{text}"
    ));
    world.write("\n//- person/.agents/skills/tidy/scripts/big.sh\n#!/bin/sh\necho big\n");
    let text = skill("plain", "Has no scripts. Use it for nothing.");
    world.write(&format!(
        "\n//- person/.agents/skills/plain/SKILL.md\n{text}"
    ));
    world
}

#[test]
fn skill_without_scripts_has_nothing_to_allow() {
    insta::assert_snapshot!(world().run(&["run", "plain"]), @"
    ! `plain` has no scripts and no tools to run
    exit 0
    ");
}

#[test]
fn unknown_interpreter_is_shown_before_the_skill_is_allowed() {
    let world = world();
    world.write("\n//- person/.agents/skills/tidy/scripts/x\n#!/usr/bin/env mytool\n");
    let shown = world.run(&["run", "tidy"]);
    let lines: Vec<_> = shown
        .lines()
        .filter(|line| line.contains("scripts/"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    scripts/big.sh  sh
    scripts/x       mytool is unknown; name it with `--interpreter PATH`
    ");
}

#[test]
fn script_without_its_folder_is_suggested() {
    insta::assert_snapshot!(world().run(&["run", "tidy", "big.sh"]), @"
    ! error: The skill has no file `big.sh`
    ! hint: Did you mean `scripts/big.sh`?
    exit 5
    ");
}

#[test]
fn script_argument_without_double_dash_gets_a_hint() {
    let world = world();
    for argument in ["--all", "form.json"] {
        let shown = world.run(&["run", "tidy", "scripts/big.sh", argument]);
        let hint = "! hint: Put the script's own arguments after `--`";
        assert!(
            shown.contains(hint) && shown.ends_with("exit 2\n"),
            "{shown}"
        );
    }
}

#[test]
fn missing_installer_is_reported_before_the_prompt() {
    let world = world();
    let script = "# /// script\n# dependencies = ['six']\n# ///\nimport six\n";
    world.write(&format!(
        "\n//- person/.agents/skills/tidy/scripts/six.py\n{script}"
    ));
    insta::assert_snapshot!(world.run(&["run", "tidy", "--prepare"]), @"
    ! error: `uv` is not installed; it installs the packages of `scripts/six.py`
    ! hint: Install it, or add its folder to PATH: https://docs.astral.sh/uv/
    exit 5
    ");
}

#[test]
fn allow_says_that_packages_are_not_installed_and_what_installs_them() {
    let world = world();
    world.write("\n//- person/.agents/skills/tidy/requirements.txt\nsix>=1\n");
    world.write("\n//- person/.agents/skills/tidy/scripts/six.py\nimport six\n");
    let shown = world.run(&["allow", "tidy"]);
    let lines = shown.lines().filter(|line| {
        ["packages", "Packages", "`uv`"]
            .iter()
            .any(|word| line.contains(word))
    });
    let lines: Vec<_> = lines.collect();
    insta::assert_snapshot!(lines.join("\n"), @"
      requirements.txt  packages, not installed: six>=1
    ! Packages are not installed by this: `skillfold run tidy --prepare` installs them
    ! `uv` is not installed; it installs the packages of `requirements.txt`
    ");
    world.write("\n//- person/.agents/skills/tidy/requirements.txt\nsix>=1\n-r more.txt\n");
    insta::assert_snapshot!(world.run(&["run", "tidy", "--prepare"]), @"
    ! error: Cannot parse the packages of `requirements.txt:2`: `-r more.txt` is an option
    ! hint: List packages of an index there, such as `requests>=2`, or give the script inline metadata
    exit 5
    ");
}

#[test]
fn show_prints_triggers_and_toolsets_written_by_new() {
    let world = world();
    let arguments = [
        "new",
        "greet",
        "--user",
        "--description",
        "Greets people. Use when somebody arrives.",
        "--trigger",
        "say hello",
        "--trigger",
        "it's: me",
        "--toolset",
    ];
    insta::assert_snapshot!(world.run(&arguments), @"
    ROOT/person/.agents/skills/greet/SKILL.md
    ! Write the agent's instructions in it, then run `skillfold check`
    ! Its toolset is in `toolsets` beside it; `skillfold allow greet` lets it run
    exit 0
    ");
    let shown = world.run(&["show", "greet"]);
    insta::assert_snapshot!(shown, @"
    greet
    Greets people. Use when somebody arrives.

           status  active
            scope  user (~/.agents/skills)
             file  ROOT/person/.agents/skills/greet/SKILL.md
     instructions  241 bytes, about 61 tokens
           digest  sha256:cf5ea4e71bb66ed12ab57c4d501769c05ad3236e2a464ce44d5d87c3659c82b4
         triggers  `say hello`, `it's: me`
         toolsets  toolsets/greet.py:tools
    exit 0
    ");
    let checked = world.run(&["check", "greet", "--only", "SF308"]);
    assert!(checked.ends_with("exit 0\n"), "{checked}");
}

/// Returns a world with a skill that asks for this network.
fn networked(network: &str) -> World {
    let world = world();
    world.write(&format!(
        "\n//- person/.agents/skills/tidy/SKILL.md\n---\nname: tidy\ndescription: Tidies folders. Use when one is a mess.\npermissions:\n  network: {network}\n---\n"
    ));
    world
}

/// Returns the lines about permissions.
fn asked(shown: &str) -> String {
    let is_asked = |line: &&str| line.contains("asks for") || line.contains("unknown permission");
    let lines: Vec<_> = shown.lines().filter(is_asked).collect();
    lines.join("\n")
}

#[test]
fn each_host_is_shown_and_the_whole_network_is_said_loudly() {
    let hosts = "[api.example.com, '*.internal:8443', 'https://other.example/']";
    insta::assert_snapshot!(asked(&networked(hosts).run(&["run", "tidy"])), @"
    unknown permission `https://other.example/` (ignored)
    asks for network access to api.example.com
    asks for network access to *.internal:8443 (private)
    ");
    insta::assert_snapshot!(asked(&networked("true").run(&["run", "tidy"])), @"  asks for the WHOLE network, your machine's own services included");
}

#[test]
fn private_network_is_allowed_for_a_host_that_the_skill_asks_for() {
    let world = networked("[git.example.com]");
    insta::assert_snapshot!(world.run(&["allow", "tidy", "--private-network", "other.example.com"]), @"
    ! error: `tidy` does not ask to reach `other.example.com`
    ! hint: Name a host as its `permissions.network` has it; `skillfold run` with its id shows them
    exit 5
    ");
    let shown = world.run(&["allow", "tidy", "--private-network", "git.example.com"]);
    insta::assert_snapshot!(asked(&shown), @"  asks for network access to git.example.com (private)");
}
