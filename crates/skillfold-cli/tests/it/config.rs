//! `config`

use crate::command::{World, skillfold};

#[test]
fn explain_names_the_origin_of_each_value() {
    let world = World::new("//- person/.config/skillfold/config.toml\nlinks = \"refuse\"\n");
    insta::assert_snapshot!(world.run(&["config", "--explain", "--set", "max_depth=2"]), @"
    precedence         project > user > plugin > bundled  default
    roots              none                               default
    default_roots      true                               default
    enable             none                               default
    disable            none                               default
    pinned             none                               default
    trusted            none                               default
    trust_project      false                              default
    new_skills         show                               default
    version_mismatch   warn                               default
    links              refuse                             ROOT/person/.config/skillfold/config.toml:1
    hidden             skip                               default
    max_depth          2                                  argument
    profile            lenient                            default
    arguments          plain                              default
    strict             false                              default
    freshness          checked                            default
    cache_entries      100                                default
    cache_bytes        8388608                            default
    disclosure         hybrid                             default
    style              lines                              default
    listing            auto                               default
    matching           hybrid                             default
    model              none                               default
    max_per_request    3                                  default
    breadcrumb         on                                 default
    fallback           none                               default
    hook               inject                             default
    hook_inject_from   60                                 default
    hook_suggest_from  25                                 default
    hook_learn         true                               default
    hook_log           true                               default
    log_content        false                              default
    watch              on                                 default
    poll_seconds       5                                  default
    index              on                                 default
    proposals          off                                default
    approval_requires  terminal                           default
    kept_versions      50                                 default
    notify_command     none                               default
    scripts            off                                default
    sandbox_without    none                               default
    script_seconds     60                                 default
    script_memory_mb   1024                               default
    script_output_kb   1024                               default
    script_processes   128                                default
    server_url         none                               default
    server_issuer      none                               default
    server_audience    none                               default
    server_scopes      true                               default
    server_tokens      none                               default
    identities         none                               default
    agents             none                               default
    exit 0
    ");
}

#[test]
fn config_set_keeps_existing_settings() {
    let world = World::new("//- app/README.md\n");
    insta::assert_snapshot!(world.run(&["config", "set", "disable", "a, user:b"]), @"
    ROOT/person/.config/skillfold/config.toml
    exit 0
    ");
    world.write("\n//- person/.config/skillfold/config.toml\n# Mine\ndisable = [\"a\"] # not now\n\n[odd]\nx = 1\n");
    world.run(&["config", "set", "disable", "b"]);
    world.run(&["config", "set", "max_depth", "3"]);
    world.run(&["config", "set", "trusted", "."]);
    world.run(&["config", "set", "roots", "user=more:acme=plugins/acme"]);
    world.run(&["config", "set", "precedence", "user,project"]);
    let root = world.path("").canonicalize().unwrap();
    let text = world
        .read("person/.config/skillfold/config.toml")
        .replace(&*root.to_string_lossy(), "ROOT");
    insta::assert_snapshot!(text, @r#"
    # Mine
    disable = ["b"] # not now
    max_depth = 3
    trusted = ["ROOT/app"]
    roots = ["user=ROOT/app/more", "acme=ROOT/app/plugins/acme"]
    precedence = ["user", "project"]

    [odd]
    x = 1
    "#);
    world.run(&["config", "set", "--project", "roots", "tools/skills"]);
    assert_eq!(
        world.read("app/.skillfold/config.toml"),
        "roots = [\"tools/skills\"]\n"
    );
}

#[test]
fn invalid_setting_is_not_written() {
    let world = World::new("//- app/README.md\n");
    insta::assert_snapshot!(world.run(&["config", "set", "links", "maybe"]), @"
    ! error: Setting `links` is not usable: `maybe` is not one of `follow`, `refuse`, `strict` (argument)
    ! hint: Correct the setting; `skillfold config --explain` shows all
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["config", "set", "lniks", "follow"]), @"
    ! error: Setting `lniks` is not known; did you mean `links`? (argument)
    ! hint: Correct the setting; `skillfold config --explain` shows all
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["config", "set", "--project", "trusted", "."]), @"
    ! error: A project may not set `trusted` (argument)
    ! hint: Correct the setting; `skillfold config --explain` shows all
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["config", "set", "--project", "roots", "../x"]), @"
    ! error: Setting `roots` is not usable: `../x` is outside the project (argument)
    ! hint: Correct the setting; `skillfold config --explain` shows all
    exit 2
    ");
    assert!(!world.path("person/.config").exists() && !world.path("app/.skillfold").exists());
}

#[test]
fn broken_settings_stop_every_command_except_diagnostic_ones() {
    let world = World::new("//- person/.config/skillfold/config.toml\ndisable = [\n");
    insta::assert_snapshot!(world.run(&["list"]), @"
    ! error: Settings are not valid TOML: unclosed array, expected `]` (ROOT/person/.config/skillfold/config.toml:1)
    ! hint: Correct the setting; `skillfold config --explain` shows all
    exit 2
    ");
    let explained = world.run(&["config", "--explain"]);
    assert!(
        explained.contains("SF704") && explained.ends_with("exit 1\n"),
        "{explained}"
    );
    let doctor = world.run(&["doctor"]);
    assert!(
        doctor.contains("SF704") && doctor.ends_with("exit 1\n"),
        "{doctor}"
    );
}

#[test]
fn missing_root_is_reported() {
    let world = World::new("//- app/README.md\n");
    let shown = world.run(&["config", "--set", "roots=nowhere"]);
    assert!(
        shown.contains("! warning[SF705]: Root does not exist: `nowhere` (argument)"),
        "{shown}"
    );
}

#[test]
fn root_option_is_a_single_path() {
    let world = World::new(
        "//- a:b/pdf/SKILL.md\n---\nname: pdf\ndescription: Fills in forms\n---\nDo it.\n",
    );
    let shown = world.run(&["list", "--root", "../a:b"]);
    assert!(shown.starts_with("pdf  user  Fills in forms\n"), "{shown}");
    let shown = world.run(&["list", "--root", "acme=../a:b"]);
    assert!(shown.starts_with("pdf  acme  Fills in forms\n"), "{shown}");
    // A variable is a list.
    let output = skillfold(&world.path("app"), &world.path("person"))
        .env("SKILLFOLD_ROOTS", "../a:../b")
        .arg("config")
        .output()
        .unwrap();
    let shown = world.shown(&output);
    assert!(
        shown.contains("roots              ROOT/app/../a (user)"),
        "{shown}"
    );
    assert!(
        shown.contains("roots              ROOT/app/../b (user)"),
        "{shown}"
    );
}

#[test]
fn root_that_is_not_a_folder_is_reported() {
    let world = World::new("//- app/SKILL.md\nx\n");
    insta::assert_snapshot!(world.run(&["list", "--root", "SKILL.md"]), @"
    ! error: Invalid `SKILL.md`: it is a file, and a root is a folder of skills; `skillfold check` takes files
    ! hint: Correct it and try again
    exit 2
    ");
    insta::assert_snapshot!(world.run(&["list", "--root", "nowhere"]), @"
    ! error: Could not find `nowhere`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
}

#[test]
fn home_without_a_variable_is_reported_and_can_be_disabled() {
    let world = World::new("//- app/README.md\n");
    let without_home = |arguments: &[&str], forbidden: &str| {
        let output = skillfold(&world.path("app"), &world.path("person"))
            .env_remove("HOME")
            .env("SKILLFOLD_NO_HOME_LOOKUP", forbidden)
            .args(arguments)
            .output()
            .unwrap();
        world.shown(&output)
    };
    // Nothing is written with the home that the system knows.
    let shown = without_home(&["doctor", "--set", "index=off"], "");
    assert!(
        shown.contains("info[SF710]: `HOME` is not set; using the home of the user database: `/"),
        "{shown}"
    );
    let shown = without_home(&["doctor"], "1");
    assert!(
        !shown.contains("SF710") && !shown.contains("SF701"),
        "{shown}"
    );
    insta::assert_snapshot!(without_home(&["config", "set", "links", "follow"], "1"), @"
    ! error: Could not find `home`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
}

#[test]
fn config_edit_opens_a_file_the_editor_can_save() {
    let world = World::new("//- app/README.md\n");
    let edit = |editor: &str| {
        skillfold(&world.path("app"), &world.path("person"))
            .args(["config", "edit"])
            .env("EDITOR", editor)
            .env_remove("VISUAL")
            .output()
            .unwrap()
    };
    assert!(edit("sed -i s/^/#edited/").status.success());
    let quoted = world.path("person/my ed");
    std::os::unix::fs::symlink("/bin/sed", &quoted).unwrap();
    let quoted = format!("'{}' -i 's/edited/edited /'", quoted.display());
    assert!(edit(&quoted).status.success());
    let file = world.read("person/.config/skillfold/config.toml");
    assert!(file.starts_with("#edited # Skillfold settings."), "{file}");
    let output = edit("/nowhere/ed");
    assert_eq!(output.status.code(), Some(5));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`/nowhere/ed` did not start"), "{said}");
}

#[test]
fn settings_are_validated_after_editing() {
    let world = World::new("//- app/README.md\n");
    let edit = |editor: &str| {
        let output = skillfold(&world.path("app"), &world.path("person"))
            .args(["config", "edit"])
            .env("EDITOR", editor)
            .env_remove("VISUAL")
            .output()
            .unwrap();
        world.shown(&output)
    };
    insta::assert_snapshot!(edit("true"), @"exit 0");
    insta::assert_snapshot!(edit("false"), @"
    ! `false` ended with exit status: 1
    exit 1
    ");
    insta::assert_snapshot!(edit("sh -c 'echo links = 3 > \"$0\"'"), @"
    ! error[SF702] at 1:1: Setting `links` is not usable: expected a string, found a number (ROOT/person/.config/skillfold/config.toml:1)
    ! hint: Write the value as the documentation of the setting shows
    exit 1
    ");
    insta::assert_snapshot!(edit("sh -c 'echo = > \"$0\"'"), @"
    ! error[SF704] at 1:1: Settings are not valid TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_` (ROOT/person/.config/skillfold/config.toml:1)
    ! hint: Correct the file; none of it is used
    exit 1
    ");
}

#[test]
fn status_reports_broken_settings_first() {
    let world =
        World::new("//- app/README.md\n//- person/.config/skillfold/config.toml\nbroken = = [\n");
    let shown = world.run(&[]);
    assert!(
        shown.starts_with("Settings  invalid, so most commands stop"),
        "{shown}"
    );
    assert!(shown.contains("skillfold doctor"), "{shown}");
}
