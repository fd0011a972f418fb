//! `list`, `show`, `new` and `doctor`

use crate::command::{World, skill};

fn world() -> World {
    let world = World::new("//- app/README.md\nA project\n");
    world.write(&format!(
        "
//- app/.agents/skills/pdf/SKILL.md
{}
//- app/.agents/skills/notes/SKILL.md
\0 is not text
//- person/.agents/skills/pdf/SKILL.md
{}
//- person/.agents/skills/mail/SKILL.md
{}
",
        skill("pdf", "Fills in forms. Use it for PDF."),
        skill("pdf", "Mine"),
        skill("mail", "Sends: mail"),
    ));
    world
}

#[test]
fn list_shows_scope_and_status() {
    insta::assert_snapshot!(world().run(&["list"]), @"
    mail         user                Sends: mail
    pdf          user                Mine
    project:pdf  project, untrusted  Fills in forms.
    ! 3 skills, 1 untrusted, 1 invalid SKILL.md; `skillfold doctor` says why
    exit 0
    ");
    insta::assert_snapshot!(world().run(&["list", "--trust-project"]), @"
    mail      user            Sends: mail
    pdf       project         Fills in forms.
    user:pdf  user, shadowed  Mine
    ! 3 skills, 1 shadowed, 1 invalid SKILL.md; `skillfold doctor` says why
    ! The project is trusted by `trust_project` (argument)
    exit 0
    ");
    insta::assert_snapshot!(world().run(&["list", "mai"]), @"
    mail  user  Sends: mail
    ! 1 of 3 skills
    exit 0
    ");
    insta::assert_snapshot!(world().run(&["list", "--limit", "1"]), @"
    mail  user  Sends: mail
    ! There are more: `--after mail`
    ! 1 of 3 skills
    exit 0
    ");
}

#[test]
fn list_without_skills_suggests_next_steps() {
    let world = World::new("//- app/README.md\n");
    insta::assert_snapshot!(world.run(&["list"]), @"
    ! No skills found. `skillfold new NAME` creates one; `skillfold doctor` lists the folders that were searched
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["check"]), @"
    ! No skills to check
    exit 0
    ");
}

#[test]
fn mistakes_get_the_nearest_suggestion() {
    let world = world();
    insta::assert_snapshot!(world.run(&["show", "mial"]), @"
    ! error: There is no skill `mial`
    ! hint: Did you mean `mail`?
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["show", "notes"]), @"
    ! error: `notes` is not a valid skill
    !   error[SF009] at 1:1: File is not encoded as UTF-8
    !   hint: Save the file as UTF-8
    exit 1
    ");
    insta::assert_snapshot!(world.run(&["check", "pfd"]), @"
    ! error: There is no skill `pfd`
    ! hint: Did you mean `pdf` or `project:pdf`?
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["lst"]), @"
    ! error: There is no command `lst`
    ! hint: Did you mean `list`?
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["list", "--scope", "team"]), @"
    ! error: invalid value 'team' for '--scope <SCOPE>': Scope is not one of `project`, `user` (or `personal`), `plugin`, `bundled`
    ! 
    ! For more information, try '--help'.
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["list", "--name", "("]), @"
    ! error: Invalid `(`: unclosed group
    ! hint: Correct it and try again
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["list", "--set", "linsk=follow"]), @"
    ! error: Setting `linsk` is not known; did you mean `links`? (argument)
    ! hint: Correct the setting; `skillfold config --explain` shows all
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["list", "--set", "links"]), @"
    ! error: `--set links` is not written as KEY=VALUE
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["list", "--root", "nowhere"]), @"
    ! error: Could not find `nowhere`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["-C", "nowhere", "list"]), @"
    ! error: Could not find `nowhere`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["man", "lists"]), @"
    ! error: There is no command `lists`. Did you mean `list`?
    exit 2
    ");
}

#[test]
fn show_prints_everything_about_a_skill() {
    let world = world();
    insta::assert_snapshot!(world.run(&["show", "pdf"]), @"
    pdf
    Mine

           status  active
            scope  user (~/.agents/skills)
             file  ROOT/person/.agents/skills/pdf/SKILL.md
     instructions  8 bytes, about 2 tokens
           digest  sha256:100e60e29ccf4eee4e028d9e1041c03f006fc66b2d4eaccdc86153af321a0563
          shadows  project:pdf
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["show", "project:pdf"]), @"
    project:pdf
    Fills in forms. Use it for PDF.

           status  untrusted, shadowed by pdf
            scope  project (.agents/skills)
             name  pdf
             file  ROOT/app/.agents/skills/pdf/SKILL.md
     instructions  8 bytes, about 2 tokens
           digest  sha256:b17d7fe304c77edacb175ec739851331d87708695792a38673ee02ab5b21c044

    warning[SF601]: Skill `project:pdf` is shadowed by `pdf` of `~/.agents/skills`
    hint: Use the qualified id, rename one of the two, or change the precedence
    info[SF604]: Skill `project:pdf` is in a root that is not trusted: `.agents/skills`
    hint: Review the skill; if it is good, trust its project with `skillfold trust`
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["show", "mail"]), @"
    mail
    Sends: mail

           status  active
            scope  user (~/.agents/skills)
             file  ROOT/person/.agents/skills/mail/SKILL.md
     instructions  7 bytes, about 2 tokens
           digest  sha256:c6b4e548b19000b33582107d38f556d639a8a709b4276c217339079da625e4eb

    warning[SF101] at 3:14: Value of `description` has an unquoted `: `
    hint: Put the value in quotes
    warning[SF010] at 3:19: A second `: ` on the line of a field
    hint: Correct the line; other clients may drop this skill
    exit 0
    ");
}

#[test]
fn new_creates_a_skill_that_passes_check_and_overwrites_nothing() {
    let world = World::new("//- app/README.md\n");
    insta::assert_snapshot!(world.run(&["new", "hello"]), @"
    .agents/skills/hello/SKILL.md
    ! Write the agent's instructions in it, then run `skillfold check`
    ! No model gets the project's skills until you run `skillfold trust`
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["check", "--profile", "spec", "--strict"]), @"
    warning[SF411]: Description is still the template's
     --> .agents/skills/hello/SKILL.md:3:14
      |
    3 | description: Describe here what the skill does and when an agent should use it.
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: Write what the skill does, when to use it, and what the agent should do

    warning[SF411]: Instructions are still the template's
     --> .agents/skills/hello/SKILL.md:8:1
      |
    8 | Write here what the agent should do, step by step. It reads this only when it uses the skill.
      | ^
      |
      = help: Write what the skill does, when to use it, and what the agent should do

    ! 1 skill: 2 warnings
    exit 1
    ");
    let file = world.path("app/.agents/skills/hello/SKILL.md");
    let template = std::fs::read_to_string(&file).unwrap();
    let written = template
        .replace("Describe here what", "Says what")
        .replace("Write here what", "Say what");
    std::fs::write(&file, written).unwrap();
    insta::assert_snapshot!(world.run(&["check", "--profile", "spec", "--strict"]), @"
    ! 1 skill, nothing to report
    exit 0
    ");
    std::fs::write(&file, template).unwrap();
    insta::assert_snapshot!(world.run(&["new", "hello"]), @"
    ! error: File already exists: `ROOT/app/.agents/skills/hello/SKILL.md`
    ! hint: Choose another name; the existing file was not changed
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["new", "Hello World"]), @"
    ! error: Invalid `Hello World`: Name has upper-case letters: `Hello World`; `hello-world` would do
    ! hint: Correct it and try again
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["new", "odd", "--user", "--description", "It's: \"odd\""]), @"
    ROOT/person/.agents/skills/odd/SKILL.md
    ! Write the agent's instructions in it, then run `skillfold check`
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["new", "third", "--in", "more/skills"]), @"
    more/skills/third/SKILL.md
    ! Write the agent's instructions in it, then run `skillfold check`
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["list"]), @r#"
    hello  project, untrusted  Describe here what the skill does and when an agent should use it.
    odd    user                It's: "odd"
    ! 2 skills, 1 untrusted; `skillfold doctor` says why
    exit 0
    "#);
}

#[test]
fn doctor_reports_the_status_of_each_root_and_skill() {
    let world = world();
    insta::assert_snapshot!(world.run(&["doctor", "--set", "disable=mail,gone"]), @"
    Settings
      argument
          warning[SF706]: There is no skill `gone`
          hint: Correct the name, or remove it

    Broken
      .agents/skills/notes  found, refused
          error[SF009] at 1:1: File is not encoded as UTF-8
          hint: Save the file as UTF-8

    Skills
      mail         found, repaired, disabled
          warning[SF101] at 3:14: Value of `description` has an unquoted `: `
          hint: Put the value in quotes
          warning[SF010] at 3:19: A second `: ` on the line of a field
          hint: Correct the line; other clients may drop this skill
          info[SF605]: Skill `mail` is disabled by `mail`
          hint: Add it to `enable` in the settings, or take it out of `disable`
      project:pdf  found, parsed, untrusted, shadowed by pdf
          warning[SF601]: Skill `project:pdf` is shadowed by `pdf` of `~/.agents/skills`
          hint: Use the qualified id, rename one of the two, or change the precedence
          info[SF604]: Skill `project:pdf` is in a root that is not trusted: `.agents/skills`
          hint: Review the skill; if it is good, trust its project with `skillfold trust`

    Roots
      ~/.agents/skills  user                2 skills
      .agents/skills    project, untrusted  1 skill, 1 invalid SKILL.md
      searched too, but missing: ~/.claude/skills, ~/.agent/skills, ~/.skillfold/skills, .claude/skills, .agent/skills, .skillfold/skills, folders of single clients

    Program
      PROGRAM
          built by cargo and not installed; to update, build it again from the newer sources

    ! 4 found: 3 parsed, 1 repaired, 1 active, 1 shadowed, 1 disabled, 1 untrusted, 1 refused
    exit 1
    ");
}

#[test]
fn doctor_names_skills_served_over_mcp_by_tools_only() {
    let world = world();
    let shown = world.run(&["doctor"]);
    let lines: Vec<_> = shown
        .lines()
        .filter(|line| line.contains("over MCP"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"");
}

#[test]
fn skill_text_cannot_inject_terminal_escapes() {
    let world = World::new("//- app/README.md\n");
    world.write(
        "
//- app/.agents/skills/evil/SKILL.md
---
name: evil
description: \"a\\e[2J\\u202Eb\\u009Bc\"
---
",
    );
    for arguments in [
        ["list", "--color=always"],
        ["doctor", "--color=always"],
        ["show", "evil"],
    ] {
        let shown = world.data(&arguments);
        assert!(
            !shown.contains("\u{1b}[2J") && !shown.contains(['\u{202e}', '\u{9b}']),
            "{shown:?}"
        );
    }
}

#[test]
fn list_mentions_skipped_folders() {
    let world = World::new("//- app/README.md\n");
    world.write(&format!(
        "\n//- app/.agents/skills/a/b/c/SKILL.md\n{}",
        skill("c", "Deep")
    ));
    insta::assert_snapshot!(world.run(&["list", "--set", "max_depth=1"]), @"
    ! 0 skills, 1 warning about a folder; `skillfold doctor` says why
    exit 0
    ");
    let refused = world.run(&["list", "--limit", "0"]);
    assert!(refused.ends_with("exit 2\n"), "{refused}");
}

#[test]
fn doctor_finds_missing_roots_and_invalid_skill_folders() {
    let world = World::new("//- app/.agents/skills/l/README.md\n");
    let code = |arguments: &[&str]| world.run(arguments).lines().last().unwrap().to_owned();
    assert_eq!(code(&["doctor"]), "exit 0");
    assert_eq!(code(&["doctor", "--root", "nowhere"]), "exit 1");
    std::os::unix::fs::symlink("README.md", world.path("app/.agents/skills/l/SKILL.md")).unwrap();
    assert_eq!(
        code(&["doctor"]),
        "exit 1",
        "a `SKILL.md` that is a link is no skill"
    );
}

#[test]
fn version_mismatch_is_reported_and_hidden_if_configured() {
    let world = World::new(
        "//- person/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Fills in forms\nengines: { skillfold: '>=1000' }\n---\nDo it.\n",
    );
    insta::assert_snapshot!(shown(&world, &["list"]), @r"
    pdf  user  Fills in forms
    ! 1 skill
    exit 0
    ");
    insta::assert_snapshot!(shown(&world, &["show", "pdf"]), @r"
    pdf
    Fills in forms

           status  active
            scope  user (~/.agents/skills)
             file  ROOT/person/.agents/skills/pdf/SKILL.md
     instructions  7 bytes, about 2 tokens
           digest  sha256:32d39f055e576d9fae1c169a9edeabe19ae2c4da8f25a4abdb67329edfc3ae29
            needs  skillfold >=1000

    warning[SF607]: Skill `pdf` does not fit: it needs `skillfold` `>=1000`, and this is VERSION
    hint: Update the program or the skill; the setting `version_mismatch` says whether models get it all the same
    exit 0
    ");
    let hide = |arguments: &[&str]| {
        let arguments = [arguments, &["--set", "version_mismatch=hide"]].concat();
        shown(&world, &arguments)
    };
    insta::assert_snapshot!(hide(&["list"]), @r"
    pdf  user, incompatible  Fills in forms
    ! 1 skill, 1 incompatible; `skillfold doctor` says why
    exit 0
    ");
    insta::assert_snapshot!(hide(&["why", "Fill in the form", "--skill", "pdf"]), @"
    no skill is selected
    -  pdf
       it needs another version of a program
       hint: update the program, which `skillfold show` names, or set `version_mismatch` to `warn`
    ! hybrid mode, 0 tokens (estimate)
    exit 0
    ");
    insta::assert_snapshot!(hide(&["load", "pdf"]), @r"
    ! error: Refused to open `pdf`
    ! hint: The skill needs another version of a program, which `skillfold show` names; to use it all the same, set `version_mismatch` to `warn`
    exit 4
    ");
}

/// Runs the command, and leaves out the version, which changes.
fn shown(world: &World, arguments: &[&str]) -> String {
    world
        .run(arguments)
        .replace(env!("CARGO_PKG_VERSION"), "VERSION")
}
