//! What is set where, and what a project may not set.

use skillfold::core::ErrorKind;
use skillfold::{Environment, Host, Settings};

use crate::world::{World, tree};

fn explained(world: &World, settings: &Settings) -> String {
    let rows = settings.explain().into_iter();
    let lines = rows.map(|(key, value, origin)| format!("{key} = {value} ({origin})\n"));
    world.shown(&lines.collect::<String>())
}

#[test]
fn each_layer_wins_over_the_one_before() {
    let world = World::new(
        "
        //- person/.config/skillfold/config.toml
        precedence = \"claude-code\"
        links = \"refuse\"
        max_depth = 2
        disable = [\"a\", \"b\"]
        trusted = [\"~/app\"]
        //- person/app/.skillfold/config.toml
        precedence = [\"bundled\", \"user\"]
        max_depth = 3
        enable = [\"a\"]
        roots = [\"tools/skills\"]
        //- person/app/tools/skills/README.md
        ",
    );
    let environment = world
        .environment("person/app")
        .variable("SKILLFOLD_MAX_DEPTH", "4")
        .variable("SKILLFOLD_DISABLE", "c, user:d")
        .variable("SKILLFOLD_HIDDEN", "search");
    let arguments = [("hidden".to_owned(), "skip".to_owned())];
    let settings = Settings::load(&environment, &arguments);
    insta::assert_snapshot!(explained(&world, &settings), @"
    precedence = bundled > user > project > plugin (/person/app/.skillfold/config.toml:1)
    roots = /person/app/tools/skills (project) (/person/app/.skillfold/config.toml:4)
    default_roots = true (default)
    enable = a (/person/app/.skillfold/config.toml:3)
    disable = a (/person/.config/skillfold/config.toml:4)
    disable = b (/person/.config/skillfold/config.toml:4)
    disable = c (SKILLFOLD_DISABLE)
    disable = user:d (SKILLFOLD_DISABLE)
    trusted = /person/app (/person/.config/skillfold/config.toml:5)
    trust_project = false (default)
    links = refuse (/person/.config/skillfold/config.toml:2)
    hidden = skip (argument)
    max_depth = 4 (SKILLFOLD_MAX_DEPTH)
    profile = lenient (default)
    ");
    assert!(settings.findings.is_empty());
}

#[test]
fn project_may_not_set_trust_or_roots_outside_itself() {
    let world = World::new(
        "
        //- person/app/.skillfold/config.toml
        trusted = [\".\"]
        trust_project = true
        links = \"follow\"
        default_roots = false
        roots = [\"../elsewhere\"]
        //- person/app/other.toml
        ",
    );
    let findings = |text: &str| {
        world.write(&format!(
            "\n//- person/app/.skillfold/config.toml\n{text}\n"
        ));
        let skills = world.skills();
        world.findings(&skills.report())
    };
    insta::assert_snapshot!(world.findings(&world.skills().report()), @"
    /person/app/.skillfold/config.toml:1 error[SF703]: A project may not set `trusted`
    /person/app/.skillfold/config.toml:2 error[SF703]: A project may not set `trust_project`
    /person/app/.skillfold/config.toml:3 error[SF703]: A project may not set `links`
    /person/app/.skillfold/config.toml:4 error[SF703]: A project may not set `default_roots`
    /person/app/.skillfold/config.toml:5 error[SF702]: Setting `roots` is not usable: `../elsewhere` leads out of the project
    ");
    for root in ["/etc", "~/x", "a/../../b", "..", ""] {
        let found = findings(&format!("roots = [\"{root}\"]"));
        assert!(found.contains("SF702"), "{root}: {found}");
    }
    for root in [
        "{ path = \"a\", scope = \"user\" }",
        "{ path = \"a\", plugin = \"x\" }",
    ] {
        let found = findings(&format!("roots = [{root}]"));
        assert!(found.contains("scope `project`"), "{root}: {found}");
    }
}

#[cfg(unix)]
#[test]
fn root_of_a_project_may_not_lead_out_by_a_link() {
    let world = World::new(&tree(&["elsewhere/a"]));
    std::os::unix::fs::symlink(world.path("elsewhere"), world.path("person/app/skills")).unwrap();
    world.write("\n//- person/app/.skillfold/config.toml\nroots = [\"skills\"]\n");
    let skills = world.skills();
    assert!(skills.catalog().is_empty());
    insta::assert_snapshot!(world.findings(&skills.report()), @"/person/app/.skillfold/config.toml:1 error[SF702]: Setting `roots` is not usable: `skills` leads out of the project");
}

#[test]
fn unknown_key_is_reported_with_the_nearest() {
    let world = World::new(
        "
        //- person/.config/skillfold/config.toml
        # A comment
        precedense = \"default\"
        quux = 1
        ",
    );
    let environment = world
        .environment("person/app")
        .variable("SKILLFOLD_DISABEL", "x");
    let skills = Host::new(environment).discover().unwrap();
    insta::assert_snapshot!(world.findings(&skills.report()), @"
    /person/.config/skillfold/config.toml:2 warning[SF701]: Setting `precedense` is not known; `precedence` may be meant
    /person/.config/skillfold/config.toml:3 warning[SF701]: Setting `quux` is not known
    SKILLFOLD_DISABEL warning[SF701]: Setting `disabel` is not known; `disable` may be meant
    ");
}

#[test]
fn setting_of_the_person_that_cannot_be_followed_is_an_error() {
    let world = World::new("//- person/.config/skillfold/config.toml\n");
    let error = |text: &str| {
        world.write(&format!(
            "\n//- person/.config/skillfold/config.toml\n{text}\n"
        ));
        let error = world.host().discover().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        world.shown(&error.to_string())
    };
    let errors: String = [
        "disable = [",
        "disable = \"a\"",
        "max_depth = \"deep\"",
        "links = \"maybe\"",
        "precedence = [\"user\", \"team\"]",
        "default_roots = 1",
        "roots = [{ scope = \"user\" }]",
        "roots = [{ path = \"a\", plugin = \"user\" }]",
        "roots = [{ path = \"a\", name = \"b\" }]",
    ]
    .into_iter()
    .map(|text| error(text) + "\n")
    .collect();
    insta::assert_snapshot!(errors, @"
    Could not understand `/person/.config/skillfold/config.toml:1`: Settings are not valid TOML: unclosed array, expected `]`
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `disable` is not usable: expected a list, found a string
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `max_depth` is not usable: expected a whole number, found a string
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `links` is not usable: `maybe` is none of `follow`, `refuse`
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `precedence` is not usable: `team` is none of `default`, `agent-harness`, `claude-code`, `gemini-cli`, `goose`, `openclaw`, `project`, `user`, `plugin`, `bundled`
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `default_roots` is not usable: expected `true` or `false`, found a number
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `roots` is not usable: a root needs a `path`
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `roots` is not usable: plugin `user`: Name is the word for a scope
    Could not understand `/person/.config/skillfold/config.toml:1`: Setting `roots` is not usable: a root has no `name`; it has `path`, `scope` and `plugin`
    ");
    // A person who wants to see what is wrong can.
    let report = world.host().discover_anyway().report();
    assert_eq!(report.settings.findings.len(), 1);
}

#[test]
fn wrong_settings_of_a_project_are_left_out_and_reported() {
    let world = World::new(&tree(&["person/.agents/skills/a"]));
    world.write("\n//- person/app/.skillfold/config.toml\ndisable = [\"a\"\nprecedence = 3\n");
    let skills = world.skills();
    assert_eq!(skills.catalog().len(), 1);
    insta::assert_snapshot!(world.findings(&skills.report()), @"/person/app/.skillfold/config.toml:2 error[SF704]: Settings are not valid TOML: missing comma between array elements, expected `,`");
}

#[test]
fn pattern_that_switches_nothing_is_reported() {
    let world = World::new(&tree(&["person/.agents/skills/report"]));
    let skills = world
        .host()
        .set("disable", "reprot,user:*,nothing-like-it")
        .discover()
        .unwrap();
    insta::assert_snapshot!(world.findings(&skills.report()), @"
    argument warning[SF706]: There is no skill `reprot`; `report` may be meant
    argument warning[SF706]: There is no skill `nothing-like-it`
    ");
}

#[test]
fn settings_file_can_be_named_by_a_variable() {
    let world = World::new("//- special.toml\nmax_depth = 1\n");
    let environment = Environment::new(world.path("person/app")).variable(
        "SKILLFOLD_CONFIG",
        world.path("special.toml").to_string_lossy(),
    );
    assert_eq!(Settings::load(&environment, &[]).max_depth.value, 1);
    let elsewhere = Environment::new(world.path("person/app"))
        .home(world.path("person"))
        .variable("XDG_CONFIG_HOME", world.path("settings").to_string_lossy());
    let expected = world.path("settings/skillfold/config.toml");
    if !cfg!(windows) {
        assert_eq!(elsewhere.user_settings().unwrap(), expected);
    }
}
