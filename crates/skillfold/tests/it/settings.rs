//! What is set where, and what a project may not set.

use skillfold::core::disclose::{Breadcrumb, Fallback, LogDetail, Mode, Style};
use skillfold::core::{Code, ErrorKind};
use skillfold::settings::SettingFinding;
use skillfold::{Environment, Host, Settings, discovery::RootStatus};

use crate::world::{World, tree};

fn explained(world: &World, settings: &Settings) -> String {
    let rows = settings.explain().into_iter();
    let lines = rows.map(|row| {
        let value = row.value.unwrap_or_else(|| "none".to_owned());
        format!("{} = {value} ({})\n", row.key, row.origin)
    });
    world.shown(&lines.collect::<String>())
}

#[test]
fn server_token_is_not_a_setting_and_is_never_shown() {
    let environment = Environment::new("/nowhere").variable("SKILLFOLD_HTTP_TOKEN", "s3cret");
    let settings = Settings::load(&environment);
    assert_eq!(settings.findings, []);
    assert!(!format!("{:?}", settings.explain()).contains("s3cret"));
    assert_eq!(environment.http_token(), Some("s3cret"));
    let empty = Environment::new("/nowhere").variable("SKILLFOLD_HTTP_TOKEN", "");
    assert_eq!(empty.http_token(), None);
}

#[expect(clippy::too_many_lines, reason = "a list of all settings")]
#[test]
fn each_settings_layer_overrides_the_previous_one() {
    let world = World::new(
        "
        //- person/.config/skillfold/config.toml
        precedence = \"claude-code\"
        links = \"refuse\"
        profile = \"lenient\"
        max_depth = 2
        disable = [\"a\", \"b\"]
        trusted = [\"~/app\"]
        //- person/app/.skillfold/config.toml
        disable = [\"a\", \"*\"]
        roots = [\"tools/skills\"]
        //- person/app/tools/skills/README.md
        ",
    );
    let environment = world
        .environment("person/app")
        .variable("SKILLFOLD_MAX_DEPTH", "4")
        .variable("SKILLFOLD_DISABLE", "c, user:d")
        .variable("SKILLFOLD_HIDDEN", "search");
    let host = Host::new(environment).set("hidden", "skip");
    let settings = host.discover_lenient().skills.report().settings.clone();
    insta::assert_snapshot!(explained(&world, &settings), @"
    precedence = user > project > plugin > bundled (/person/.config/skillfold/config.toml:1)
    roots = /person/app/tools/skills (project) (/person/app/.skillfold/config.toml:2)
    default_roots = true (default)
    enable = none (default)
    disable = a (/person/.config/skillfold/config.toml:5)
    disable = b (/person/.config/skillfold/config.toml:5)
    disable = project:a (/person/app/.skillfold/config.toml:1)
    disable = project:* (/person/app/.skillfold/config.toml:1)
    disable = c (SKILLFOLD_DISABLE)
    disable = user:d (SKILLFOLD_DISABLE)
    pinned = none (default)
    trusted = /person/app (/person/.config/skillfold/config.toml:6)
    trust_project = false (default)
    new_skills = show (default)
    version_mismatch = warn (default)
    links = refuse (/person/.config/skillfold/config.toml:2)
    hidden = skip (argument)
    max_depth = 4 (SKILLFOLD_MAX_DEPTH)
    profile = lenient (/person/.config/skillfold/config.toml:3)
    arguments = plain (default)
    strict = false (default)
    freshness = checked (default)
    cache_entries = 100 (default)
    cache_bytes = 8388608 (default)
    disclosure = hybrid (default)
    style = lines (default)
    listing = auto (default)
    matching = hybrid (default)
    model = none (default)
    max_per_request = 3 (default)
    breadcrumb = on (default)
    fallback = none (default)
    hook = inject (default)
    hook_inject_from = 60 (default)
    hook_suggest_from = 25 (default)
    hook_learn = true (default)
    hook_log = true (default)
    log_content = false (default)
    watch = on (default)
    poll_seconds = 5 (default)
    index = on (default)
    proposals = off (default)
    approval_requires = terminal (default)
    kept_versions = 50 (default)
    notify_command = none (default)
    scripts = off (default)
    sandbox_without = none (default)
    script_seconds = 60 (default)
    script_memory_mb = 1024 (default)
    script_output_kb = 1024 (default)
    script_processes = 128 (default)
    server_url = none (default)
    server_issuer = none (default)
    server_audience = none (default)
    server_scopes = true (default)
    server_tokens = none (default)
    identities = none (default)
    agents = none (default)
    ");
    // The skills that it names do not exist.
    let unknown = |finding: &SettingFinding| finding.diagnostic.code == Code::PatternMatchesNothing;
    assert!(settings.findings.iter().all(unknown));
}

#[test]
fn settings_control_what_a_model_sees() {
    let world = World::new("\n//- person/app/README.md\n");
    let environment = world
        .environment("person/app")
        .variable("SKILLFOLD_DISCLOSURE", "triggered")
        .variable("SKILLFOLD_STYLE", "bullets")
        .variable("SKILL_MAX_PER_REQUEST", "5")
        .variable("SKILL_FALLBACK_MODE", "show_all")
        .variable("SKILLFOLD_BREADCRUMB", "off")
        .variable("SKILLFOLD_FALLBACK", "ask_user");
    let settings = Settings::load(&environment);
    assert!(settings.findings.is_empty(), "{:?}", settings.findings);
    let policy = settings.policy();
    assert_eq!(
        (policy.mode, policy.style),
        (Mode::Triggered, Style::Bullets)
    );
    assert_eq!((policy.max_skills, policy.fallback), (5, Fallback::AskUser));
    assert_eq!(policy.breadcrumb, Breadcrumb::Off);
    assert_eq!(Settings::default().policy().breadcrumb, Breadcrumb::On);
}

#[test]
fn matching_by_meaning_is_an_error_without_an_embedder() {
    let world = World::new("\n//- person/app/README.md\n");
    let environment = world
        .environment("person/app")
        .variable("SKILL_MATCHING_MODE", "semantic");
    let error = Host::new(environment).discover().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.to_string().contains("name its folder in `model`"),
        "{error}"
    );
}

#[test]
fn content_logging_honours_enable_sensitive_data() {
    let world = World::new("\n//- person/app/README.md\n");
    let environment = world.environment("person/app");
    let detail = |environment| Settings::load(&environment).policy().log_detail;
    assert_eq!(detail(environment.clone()), LogDetail::Names);
    let environment = environment.variable("ENABLE_SENSITIVE_DATA", "true");
    assert_eq!(detail(environment.clone()), LogDetail::Content);
    // Our own name counts more.
    let environment = environment.variable("SKILLFOLD_LOG_CONTENT", "false");
    assert_eq!(detail(environment), LogDetail::Names);
}

#[test]
fn keyword_matching_runs_no_search() {
    let world = World::new("\n//- person/app/README.md\n");
    let matching = |word: &str| {
        let environment = world
            .environment("person/app")
            .variable("SKILL_MATCHING_MODE", word);
        let settings = Settings::load(&environment);
        assert!(settings.findings.is_empty(), "{:?}", settings.findings);
        settings.policy().suggestions.is_some()
    };
    assert!(!matching("keyword"));
    assert!(matching("hybrid"));
}

#[test]
fn project_may_not_change_user_settings() {
    let world = World::new(
        "
        //- person/app/.skillfold/config.toml
        trusted = [\".\"]
        trust_project = true
        links = \"follow\"
        default_roots = false
        precedence = \"default\"
        enable = [\"a\"]
        hidden = \"search\"
        max_depth = 1
        roots = [\"../elsewhere\"]
        ",
    );
    insta::assert_snapshot!(world.findings(&world.skills().report()), @"
    /person/app/.skillfold/config.toml:1 error[SF703]: A project may not set `trusted`
    /person/app/.skillfold/config.toml:2 error[SF703]: A project may not set `trust_project`
    /person/app/.skillfold/config.toml:3 error[SF703]: A project may not set `links`
    /person/app/.skillfold/config.toml:4 error[SF703]: A project may not set `default_roots`
    /person/app/.skillfold/config.toml:5 error[SF703]: A project may not set `precedence`
    /person/app/.skillfold/config.toml:6 error[SF703]: A project may not set `enable`
    /person/app/.skillfold/config.toml:7 error[SF703]: A project may not set `hidden`
    /person/app/.skillfold/config.toml:8 error[SF703]: A project may not set `max_depth`
    /person/app/.skillfold/config.toml:9 error[SF702]: Setting `roots` is not usable: `../elsewhere` is outside the project
    ");
    let findings = |text: &str| {
        world.write(&format!(
            "\n//- person/app/.skillfold/config.toml\n{text}\n"
        ));
        world.findings(&world.skills().report())
    };
    for root in ["/etc", "~/x", "a/../../b", "..", ""] {
        let found = findings(&format!("roots = [\"{root}\"]"));
        assert!(found.contains("SF702"), "{root}: {found}");
    }
    for root in [
        "{ path = \"a\", scope = \"user\" }",
        "{ path = \"a\", plugin = \"x\" }",
        "\"user=a\"",
    ] {
        let found = findings(&format!("roots = [{root}]"));
        assert!(found.contains("scope `project`"), "{root}: {found}");
    }
    let many: Vec<_> = (0..33).map(|number| format!("\"r{number}\"")).collect();
    let found = findings(&format!("roots = [{}]", many.join(", ")));
    assert!(found.contains("at most 32 roots"), "{found}");
}

#[test]
fn only_the_user_may_configure_watching() {
    let world = World::new(
        "
        //- person/app/.skillfold/config.toml
        watch = \"off\"
        poll_seconds = 0
        ",
    );
    let settings = world.skills().report().settings.clone();
    assert_eq!(
        (settings.watch.value, settings.poll_seconds.value),
        (true, 5)
    );
    insta::assert_snapshot!(world.findings(&world.skills().report()), @"
    /person/app/.skillfold/config.toml:1 error[SF703]: A project may not set `watch`
    /person/app/.skillfold/config.toml:2 error[SF703]: A project may not set `poll_seconds`
    ");
    for (key, value) in [
        ("watch", "sometimes"),
        ("poll_seconds", "-1"),
        ("poll_seconds", "five"),
    ] {
        assert!(
            world.host().set(key, value).discover().is_err(),
            "{key} {value}"
        );
    }
    let skills = world.host().set("watch", "off").set("poll_seconds", "0");
    let settings = skills.discover().unwrap().skills.report().settings.clone();
    assert_eq!(
        (settings.watch.value, settings.poll_seconds.value),
        (false, 0)
    );
}

#[test]
fn project_can_disable_only_its_own_skills() {
    let world = World::new(&tree(&[
        "person/app/.agents/skills/pdf",
        "person/app/.agents/skills/mail",
        "person/.agents/skills/pdf",
        "person/.agents/skills/notes",
    ]));
    world.write("\n//- person/.config/skillfold/config.toml\ndisable = [\"notes\"]\n");
    let listed = |text: &str| {
        world.write(&format!(
            "\n//- person/app/.skillfold/config.toml\n{text}\n"
        ));
        let skills = world
            .host()
            .set("trust_project", "true")
            .discover()
            .unwrap()
            .skills;
        world.listed(&skills) + &world.findings(&skills.report())
    };
    insta::assert_snapshot!(listed("disable = [\"*\"]"), @"
    mail disabled .agents/skills/mail
    notes disabled ~/.agents/skills/notes
    pdf active ~/.agents/skills/pdf
    project:pdf disabled .agents/skills/pdf
    ");
    insta::assert_snapshot!(listed("disable = [\"user:pdf\"]\nenable = [\"user:notes\"]"), @"
    mail active .agents/skills/mail
    notes disabled ~/.agents/skills/notes
    pdf active .agents/skills/pdf
    user:pdf shadowed ~/.agents/skills/pdf
    /person/app/.skillfold/config.toml:1 error[SF702]: Setting `disable` is not usable: `user:pdf` does not belong to the project
    /person/app/.skillfold/config.toml:2 error[SF703]: A project may not set `enable`
    ");
}

#[test]
fn list_with_one_bad_entry_is_ignored_entirely() {
    let world = World::new(&tree(&["person/app/tools/a"]));
    world.write("\n//- person/app/.skillfold/config.toml\nroots = [\"tools\", \"../x\"]\n");
    let skills = world.skills();
    assert!(skills.catalog().is_empty());
    assert!(
        world
            .findings(&skills.report())
            .contains("is outside the project")
    );
}

#[test]
fn thousands_of_invalid_settings_are_counted() {
    let world = World::new("//- person/README.md\n");
    let wrong: String = (0..20_000)
        .map(|number| format!("key{number} = 1\n"))
        .collect();
    world.write(&format!("\n//- person/app/.skillfold/config.toml\n{wrong}"));
    let findings = world.skills().report().settings.findings.clone();
    assert_eq!(findings.len(), 51);
    insta::assert_snapshot!(findings[50].diagnostic, @"warning[SF514]: 19950 more findings are not listed");
    let patterns: Vec<_> = (0..1_000)
        .map(|number| format!("\"no-{number}\""))
        .collect();
    world.write(&format!(
        "\n//- person/app/.skillfold/config.toml\ndisable = [{}]\n",
        patterns.join(", ")
    ));
    let findings = world.skills().report().settings.findings.clone();
    assert_eq!(findings.len(), 21);
    insta::assert_snapshot!(findings[20].diagnostic, @"warning[SF514]: 980 more patterns match nothing");
}

#[test]
fn setting_cannot_inject_terminal_escapes() {
    let world = World::new("//- person/README.md\n");
    let settings = [
        "\"\\u001b[2Jkey\" = 1",
        "disable = [\"\\u001b]0;t\\u0007x\"]",
        "roots = [\"\\u001b[5mx=y\"]",
        "roots = [\"\\u001b[31mgone\"]",
    ];
    for setting in settings {
        world.write(&format!(
            "\n//- person/app/.skillfold/config.toml\n{setting}\n"
        ));
        let report = world.skills().report();
        let roots = report.roots.iter().filter_map(|root| match &root.status {
            RootStatus::Missing(diagnostic) => Some(diagnostic.to_string()),
            _ => None,
        });
        let said = world.findings(&report) + &roots.collect::<Vec<_>>().join("\n");
        assert!(said.contains("\\u{1b}"), "{setting}: {said}");
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{setting}: {said}");
    }
}

#[test]
fn pattern_with_an_inner_star_is_rejected() {
    let world = World::new("//- person/README.md\n");
    let error = world.host().set("disable", "pd*").discover().unwrap_err();
    insta::assert_snapshot!(error, @"Setting `disable` is not usable: `pd*` is not a pattern; `*` stands alone or after a scope or plugin (argument)");
}

#[cfg(unix)]
#[test]
fn project_root_may_not_escape_through_a_link() {
    let world = World::new(&tree(&["elsewhere/a"]));
    std::os::unix::fs::symlink(world.path("elsewhere"), world.path("person/app/skills")).unwrap();
    world.write("\n//- person/app/.skillfold/config.toml\nroots = [\"skills\"]\n");
    let skills = world.skills();
    assert!(skills.catalog().is_empty());
    insta::assert_snapshot!(world.findings(&skills.report()), @"/person/app/.skillfold/config.toml:1 error[SF702]: Setting `roots` is not usable: `skills` is outside the project");
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
    let skills = Host::new(environment).discover().unwrap().skills;
    insta::assert_snapshot!(world.findings(&skills.report()), @"
    /person/.config/skillfold/config.toml:2 warning[SF701]: Setting `precedense` is not known; did you mean `precedence`?
    /person/.config/skillfold/config.toml:3 warning[SF701]: Setting `quux` is not known
    SKILLFOLD_DISABEL warning[SF701]: Setting `disabel` is not known; did you mean `disable`?
    ");
}

#[test]
fn invalid_user_setting_is_an_error() {
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
    Settings are not valid TOML: unclosed array, expected `]` (/person/.config/skillfold/config.toml:1)
    Setting `disable` is not usable: expected a list, found a string (/person/.config/skillfold/config.toml:1)
    Setting `max_depth` is not usable: expected a whole number, found a string (/person/.config/skillfold/config.toml:1)
    Setting `links` is not usable: `maybe` is not one of `follow`, `refuse`, `strict` (/person/.config/skillfold/config.toml:1)
    Setting `precedence` is not usable: `team` is not one of `default`, `agent-harness`, `claude-code`, `gemini-cli`, `goose`, `openclaw`, `project`, `user`, `plugin`, `bundled` (/person/.config/skillfold/config.toml:1)
    Setting `default_roots` is not usable: expected `true` or `false`, found a number (/person/.config/skillfold/config.toml:1)
    Setting `roots` is not usable: a root needs a `path` (/person/.config/skillfold/config.toml:1)
    Setting `roots` is not usable: plugin `user`: Name is the word for a scope (/person/.config/skillfold/config.toml:1)
    Setting `roots` is not usable: a root has no `name`; it has `path`, `scope` and `plugin` (/person/.config/skillfold/config.toml:1)
    ");
    // A person who wants to see what is wrong can.
    let report = world.host().discover_lenient().skills.report();
    assert_eq!(report.settings.findings.len(), 1);
}

#[test]
fn invalid_project_settings_are_ignored_and_reported() {
    let world = World::new(&tree(&["person/.agents/skills/a"]));
    world.write("\n//- person/app/.skillfold/config.toml\ndisable = [\"a\"\nprecedence = 3\n");
    let skills = world.skills();
    assert_eq!(skills.catalog().len(), 1);
    insta::assert_snapshot!(world.findings(&skills.report()), @"/person/app/.skillfold/config.toml:2 error[SF704]: Settings are not valid TOML: missing comma between array elements, expected `,`");
}

#[test]
fn enablement_pattern_without_a_match_is_reported() {
    let world = World::new(&tree(&["person/.agents/skills/report"]));
    let skills = world
        .host()
        .set("disable", "reprot,user:*,nothing-like-it")
        .discover()
        .unwrap()
        .skills;
    insta::assert_snapshot!(world.findings(&skills.report()), @"
    argument warning[SF706]: There is no skill `reprot`; did you mean `report`?
    argument warning[SF706]: There is no skill `nothing-like-it`
    ");
}

#[test]
fn settings_file_named_by_a_variable_must_exist() {
    let world = World::new("//- person/app/mine.toml\nmax_depth = 1\n");
    let settings = |path: &str| {
        let environment = world
            .environment("person/app")
            .variable("SKILLFOLD_CONFIG", path);
        Settings::load(&environment)
    };
    assert_eq!(
        settings("mine.toml").max_depth.value,
        1,
        "from the working folder"
    );
    assert!(settings("missing.toml").findings[0].is_fatal());
    assert!(
        settings(" ").findings.is_empty(),
        "an empty variable is not set"
    );
}

#[test]
fn settings_file_can_be_set_by_a_variable() {
    let world = World::new("//- special.toml\nmax_depth = 1\n");
    let environment = Environment::new(world.path("person/app")).variable(
        "SKILLFOLD_CONFIG",
        world.path("special.toml").to_string_lossy(),
    );
    assert_eq!(Settings::load(&environment).max_depth.value, 1);
    let elsewhere = Environment::new(world.path("person/app"))
        .home(world.path("person"))
        .variable("XDG_CONFIG_HOME", world.path("settings").to_string_lossy());
    let expected = world.path("settings/skillfold/config.toml");
    if !cfg!(windows) {
        assert_eq!(elsewhere.user_settings().unwrap(), expected);
    }
}

#[test]
fn oversized_project_settings_are_ignored_and_reported() {
    let world = World::new("//- app/.git/HEAD\n");
    let text = format!("# {}\n", "x".repeat(1 << 20));
    world.write(&format!("//- app/.skillfold/config.toml\n{text}"));
    let skills = Host::new(world.environment("app"))
        .discover()
        .unwrap()
        .skills;
    let findings = &skills.report().settings.findings;
    let code = findings.iter().map(|finding| finding.diagnostic.code);
    assert_eq!(code.collect::<Vec<_>>(), [Code::SettingsUnreadable]);
}

#[test]
fn conversation_may_override_policy_settings_only() {
    let settings = Settings::load(&Environment::new("/nowhere"));
    let policy = settings
        .policy_with(["style=xml", "max_per_request=1"])
        .unwrap();
    assert_eq!((policy.style, policy.max_skills), (Style::Xml, 1));
    assert_eq!(settings.policy().style, Style::Lines);
    let refused = |key, value| {
        settings
            .policy_with([format!("{key}={value}")])
            .unwrap_err()
    };
    assert_eq!(
        refused("links", "strict").to_string(),
        "Invalid `links`: a conversation can only set disclosure, style, listing, matching, max_per_request, \
         breadcrumb, fallback, log_content"
    );
    assert!(refused("style", "rainbow").to_string().contains("`lines`"));
    let unknown = refused("stile", "xml").to_string();
    assert!(unknown.contains("did you mean `style`?"), "{unknown}");
}
