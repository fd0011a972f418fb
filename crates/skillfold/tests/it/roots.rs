//! Where skills are looked for, and whose they are.

use skillfold::core::catalog::{Status, Trust};
use skillfold::core::{FsSource, MemorySource, Root, Scope};
use skillfold::{Environment, Host, Skills, discovery::RootStatus};

use crate::world::{World, tree};

#[test]
fn default_roots_are_found_in_parent_folders_and_home() {
    let world = World::new(&tree(&[
        "person/app/web/.agents/skills/a",
        "person/app/.agents/skills/b",
        "person/app/.claude/skills/c",
        "person/app/.agent/skills/d",
        "person/app/.skillfold/skills/e",
        "person/.agents/skills/f",
        "person/.claude/skills/g",
        "person/.agent/skills/h",
        "person/.skillfold/skills/i",
        "elsewhere/.agents/skills/never",
    ]));
    let skills = Host::new(world.environment("person/app/web/src"))
        .discover()
        .unwrap()
        .skills;
    insta::assert_snapshot!(world.listed(&skills), @"
    a untrusted web/.agents/skills/a
    b untrusted .agents/skills/b
    c untrusted .claude/skills/c
    d untrusted .agent/skills/d
    e untrusted .skillfold/skills/e
    f active ~/.agents/skills/f
    g active ~/.claude/skills/g
    h active ~/.agent/skills/h
    i active ~/.skillfold/skills/i
    ");
}

#[test]
fn nearest_root_wins_a_name_and_others_stay_reachable() {
    let world = World::new(&tree(&[
        "person/app/web/.claude/skills/pdf",
        "person/app/.agents/skills/pdf",
        "person/app/.claude/skills/pdf",
        "person/.agents/skills/pdf",
    ]));
    let host = Host::new(world.environment("person/app/web")).set("trust_project", "true");
    insta::assert_snapshot!(world.listed(&host.discover().unwrap().skills), @"
    pdf active web/.claude/skills/pdf
    project:.agents/skills/pdf shadowed .agents/skills/pdf
    project:.claude/skills/pdf shadowed .claude/skills/pdf
    user:pdf shadowed ~/.agents/skills/pdf
    ");
}

#[test]
fn without_a_repository_only_the_working_folder_is_a_project() {
    let world = World::new(&tree(&[
        "elsewhere/.agents/skills/a",
        "elsewhere/deep/.agents/skills/b",
    ]));
    let skills = Host::new(world.environment("elsewhere/deep"))
        .discover()
        .unwrap()
        .skills;
    insta::assert_snapshot!(world.listed(&skills), @"b untrusted .agents/skills/b");
}

#[test]
fn home_is_user_scope_and_never_a_project() {
    let world = World::new(&tree(&["person/.agents/skills/a"]));
    for directory in ["person", "person/app"] {
        let skills = Host::new(world.environment(directory))
            .discover()
            .unwrap()
            .skills;
        assert_eq!(
            skills.catalog().get("a").unwrap().scope(),
            Scope::User,
            "{directory}"
        );
    }
}

#[test]
fn host_without_roots_and_home_has_no_skills() {
    let world = World::new("//- person/app/README.md\nNo skills\n");
    let skills = Host::new(Environment::new(world.path("person/app")))
        .discover()
        .unwrap()
        .skills;
    assert!(skills.catalog().is_empty());
    let report = skills.report();
    assert!(
        report
            .roots
            .iter()
            .all(|root| matches!(root.status, RootStatus::Absent))
    );
    assert!(skills.refresh().unwrap().is_empty());
}

#[test]
fn project_is_trusted_by_its_folder_or_a_parent() {
    let world = World::new(&tree(&["person/app/.agents/skills/a"]));
    let status = |trusted: &str| {
        let host = world
            .host()
            .set("trusted", world.path(trusted).to_string_lossy());
        host.discover()
            .unwrap()
            .skills
            .catalog()
            .get("a")
            .unwrap()
            .status()
    };
    assert_eq!(status("person/app"), Status::Active);
    assert_eq!(status("person"), Status::Active);
    assert_eq!(status("person/app/.agents"), Status::Untrusted);
    assert_eq!(status("person/ap"), Status::Untrusted);
    assert_eq!(
        world.skills().catalog().get("a").unwrap().status(),
        Status::Untrusted
    );
}

#[test]
fn bundled_skills_come_from_a_folder_or_from_memory() {
    let world = World::new(&tree(&["bundle/pdf", "person/.agents/skills/pdf"]));
    let memory = MemorySource::new([(
        "extra/SKILL.md",
        "---\nname: extra\ndescription: Off at first\ndefault_enabled: false\n---\n",
    )]);
    let host = world
        .host()
        .bundled("built in", memory)
        .bundled("bundle", FsSource::open(world.path("bundle")).unwrap());
    insta::assert_snapshot!(world.listed(&host.clone().discover().unwrap().skills), @"
    bundled:pdf shadowed bundle/pdf
    extra disabled built in/extra
    pdf active ~/.agents/skills/pdf
    ");
    let on = host.set("enable", "extra").discover().unwrap().skills;
    assert_eq!(on.catalog().get("extra").unwrap().status(), Status::Active);
}

#[test]
fn root_named_by_the_host_is_trusted() {
    let world = World::new(&tree(&["named/a"]));
    let source = FsSource::open(world.path("named")).unwrap();
    let skills = world
        .host()
        .root(Root::new(Scope::Project, "named", source))
        .discover()
        .unwrap()
        .skills;
    let catalog = skills.catalog();
    assert_eq!(catalog.get("a").unwrap().root().trust(), Trust::Trusted);
}

#[test]
fn configured_roots_have_scopes_and_plugins() {
    let world = World::new(&tree(&[
        "person/mine/a",
        "person/plugins/acme/a",
        "person/plugins/acme/b",
    ]));
    world.write(
        "
        //- person/.config/skillfold/config.toml
        roots = [\"~/mine\", { path = \"~/plugins/acme\", plugin = \"acme\" }, \"~/gone\"]
        default_roots = false
        ",
    );
    let skills = world.skills();
    insta::assert_snapshot!(world.listed(&skills), @"
    a active ~/mine/a
    acme:a shadowed ~/plugins/acme/a
    b active ~/plugins/acme/b
    ");
    let report = skills.report();
    let missing: Vec<_> = report
        .roots
        .iter()
        .filter_map(|root| match &root.status {
            RootStatus::Missing(diagnostic) => Some(diagnostic.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(missing, ["warning[SF705]: Root does not exist: `~/gone`"]);
}

#[cfg(unix)]
#[test]
fn root_reached_by_two_paths_is_searched_once() {
    let world = World::new(&tree(&["person/.agents/skills/a"]));
    skillfold_testkit::write(
        &world.path("person/.claude"),
        &[("keep".to_owned(), String::new())],
    );
    std::os::unix::fs::symlink(
        world.path("person/.agents/skills"),
        world.path("person/.claude/skills"),
    )
    .unwrap();
    let skills = world.skills();
    insta::assert_snapshot!(world.listed(&skills), @"a active ~/.agents/skills/a");
    let report = skills.report();
    let same = report
        .roots
        .iter()
        .find(|root| root.label == "~/.claude/skills")
        .unwrap();
    assert!(matches!(&same.status, RootStatus::Same(label) if label == "~/.agents/skills"));
}

#[test]
fn refresh_picks_up_new_roots_and_changed_settings() {
    let world = World::new(&tree(&[
        "person/.claude/skills/a",
        "person/.claude/skills/b",
    ]));
    let skills = world.skills();
    let clone: Skills = skills.clone();
    world.write(&tree(&["person/.agents/skills/c"]));
    world.write("\n//- person/.config/skillfold/config.toml\ndisable = [\"a\"]\n");
    let before = skills.catalog();
    let changes = skills.refresh().unwrap();
    assert_eq!(
        (changes.added, changes.changed),
        (vec!["c".into()], vec!["a".into()])
    );
    assert_eq!(before.len(), 2, "a snapshot stays as it is");
    insta::assert_snapshot!(world.listed(&clone), @"
    a disabled ~/.claude/skills/a
    b active ~/.claude/skills/b
    c active ~/.agents/skills/c
    ");
    // Settings that cannot be followed change nothing.
    world.write("\n//- person/.config/skillfold/config.toml\ndisable = [\n");
    assert!(skills.refresh().is_err());
    assert_eq!(clone.catalog().get("a").unwrap().status(), Status::Disabled);
}

#[cfg(unix)]
#[test]
fn link_in_an_untrusted_project_does_not_claim_the_user_root() {
    let world = World::new(&tree(&["person/.agents/skills/mail"]));
    skillfold_testkit::write(
        &world.path("person/app/.agents"),
        &[("keep".to_owned(), String::new())],
    );
    std::os::unix::fs::symlink(
        world.path("person/.agents/skills"),
        world.path("person/app/.agents/skills"),
    )
    .unwrap();
    insta::assert_snapshot!(world.listed(&world.skills()), @"mail active ~/.agents/skills/mail");
}

#[test]
fn project_folder_is_not_labelled_as_user_folder() {
    let world = World::new(&tree(&[
        "person/app/~/.agents/skills/a",
        "person/.agents/skills/b",
    ]));
    world.write("\n//- person/app/.skillfold/config.toml\nroots = [\"./~/.agents/skills\"]\n");
    insta::assert_snapshot!(world.listed(&world.skills()), @"
    a untrusted ./~/.agents/skills/a
    b active ~/.agents/skills/b
    ");
}
