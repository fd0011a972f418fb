//! The versions that skills need of the host.

use skillfold::core::catalog::Status;
use skillfold::core::{ContextLifetime, Policy};
use skillfold::{Host, Skills};

use crate::world::World;

fn world() -> World {
    World::new(
        "//- person/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Does a\nengines: { my-agent: '>=2.0' }\n---\nDo a.\n\
         //- person/.agents/skills/b/SKILL.md\n---\nname: b\ndescription: Does b\n---\n",
    )
}

fn notes(skills: &Skills) -> String {
    let catalog = skills.catalog();
    let notes = catalog.get("a").unwrap().notes();
    notes.iter().map(|note| format!("{note}\n")).collect()
}

#[test]
fn user_decides_how_version_mismatches_are_handled() {
    let world = world();
    let status = |host: Host| {
        let skills = host.discover().unwrap().skills;
        skills.catalog().get("a").unwrap().status()
    };
    assert_eq!(status(world.host()), Status::Active);
    let old = || world.host().client("my-agent", "1.4.2");
    let skills = old().discover().unwrap().skills;
    insta::assert_snapshot!(notes(&skills), @"warning[SF607]: Skill `a` does not fit: it needs `my-agent` `>=2.0`, and this is 1.4.2");
    assert!(skills.load("a", "").is_ok());
    let hiding = || old().set("version_mismatch", "hide");
    assert_eq!(status(hiding()), Status::Incompatible);
    assert!(hiding().discover().unwrap().skills.load("a", "").is_err());
    assert_eq!(status(hiding().client("my-agent", "2.0")), Status::Active);
}

#[test]
fn project_may_not_configure_version_mismatches() {
    let world = world();
    world.write("//- person/app/.skillfold/config.toml\nversion_mismatch = \"hide\"\n");
    insta::assert_snapshot!(world.findings(&world.skills().report()), @"/person/app/.skillfold/config.toml:1 error[SF703]: A project may not set `version_mismatch`");
}

#[test]
fn conversation_gets_skills_compatible_with_its_client_version() {
    let world = world();
    world.write("//- person/.agents/skills/c/SKILL.md\n---\nname: c\ndescription: Does c\nengines: { codex: '>=1.0' }\n---\n");
    let listing = |mode: &str, name: &str, version: &str| {
        let skills = world
            .host()
            .set("version_mismatch", mode)
            .discover()
            .unwrap()
            .skills;
        let session = skills.session(Policy::default(), ContextLifetime::History);
        let mut session = session.for_client(name, version);
        session.listing().text
    };
    // A client that is known goes by its id too.
    assert!(!listing("hide", "codex-mcp-client", "0.9.1").contains("- c:"));
    assert!(listing("hide", "codex-mcp-client", "1.0").contains("- c:"));
    assert!(listing("warn", "codex-mcp-client", "0.9.1").contains("- c:"));
    assert!(!listing("hide", "my-agent", "1.9").contains("- a:"));
    assert!(listing("hide", "my-agent", "1.9").contains("- b:"));
    assert!(listing("hide", "", "").contains("- a:"));
}
