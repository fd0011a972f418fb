//! The list of accepted skills, and the setting that holds others.

use std::thread;
use std::time::Duration;

use skillfold::core::ErrorKind;
use skillfold::core::catalog::Status;
use skillfold::view::{Doctor, Document};
use skillfold::{
    Host, Skills,
    trust::{TrustedSkillList, distrust_skill, trust_skills},
};

use crate::world::{World, tree};

const LIST: &str = "person/.local/state/skillfold/trusted_skills.toml";
const A: &str = "person/.agents/skills/a";
const B: &str = "person/.agents/skills/b";

fn world() -> World {
    World::new(&tree(&[A, B]))
}

fn host(world: &World) -> Host {
    world.host().set("new_skills", "hold")
}

fn skills(world: &World) -> Skills {
    host(world).discover().unwrap().skills
}

fn accept(world: &World, folder: &str) -> usize {
    let folder = world.path(folder).canonicalize().unwrap();
    trust_skills(&world.environment("person/app"), [folder]).unwrap()
}

/// Returns the findings of the list, without the path of the temporary folder.
fn findings(world: &World) -> String {
    let report = skills(world).report();
    let findings = report.trusted_skills.findings.iter();
    let lines = findings.map(|one| format!("{} {}\n", one.origin, one.diagnostic));
    world.shown(&lines.collect::<String>())
}

#[test]
fn nothing_is_held_by_default() {
    let world = world();
    insta::assert_snapshot!(world.listed(&world.skills()), @r"
    a active ~/.agents/skills/a
    b active ~/.agents/skills/b
    ");
    world.write("//- person/.config/skillfold/config.toml\nnew_skills = \"hold\"\n");
    insta::assert_snapshot!(world.listed(&world.skills()), @r"
    a held ~/.agents/skills/a
    b held ~/.agents/skills/b
    ");
}

#[test]
fn project_may_not_configure_holding() {
    let world = world();
    world.write("//- person/app/.skillfold/config.toml\nnew_skills = \"hold\"\n");
    insta::assert_snapshot!(world.findings(&world.skills().report()), @"/person/app/.skillfold/config.toml:1 error[SF703]: A project may not set `new_skills`");
    world.write("//- person/.config/skillfold/config.toml\nnew_skills = \"hold\"\n");
    world.write("//- person/app/.skillfold/config.toml\nnew_skills = \"show\"\n");
    let status = world.skills().catalog().get("a").unwrap().status();
    assert_eq!(status, Status::Held);
}

#[test]
fn trusted_skill_is_given_until_trust_is_removed() {
    let world = world();
    assert_eq!(accept(&world, A), 1);
    assert_eq!(accept(&world, A), 0);
    insta::assert_snapshot!(world.listed(&skills(&world)), @r"
    a active ~/.agents/skills/a
    b held ~/.agents/skills/b
    ");
    let environment = world.environment("person/app");
    let folder = world.path(A).canonicalize().unwrap();
    let list = TrustedSkillList::load(&environment);
    assert_eq!(list.folders.iter().collect::<Vec<_>>(), [&folder]);
    distrust_skill(&environment, &folder).unwrap();
    let status = skills(&world).catalog().get("a").unwrap().status();
    assert_eq!(status, Status::Held);
    let again = distrust_skill(&environment, &folder).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::NotFound);
}

#[test]
fn skill_in_an_untrusted_project_is_untrusted_even_if_trusted_itself() {
    let ours = "person/app/.agents/skills/c";
    let world = World::new(&tree(&[ours]));
    accept(&world, ours);
    let status = |host: Host| {
        let skills = host.discover().unwrap().skills;
        skills.catalog().get("c").unwrap().status()
    };
    assert_eq!(status(host(&world)), Status::Untrusted);
    let trusting = || host(&world).set("trust_project", "true");
    assert_eq!(status(trusting()), Status::Active);
    let folder = world.path(ours).canonicalize().unwrap();
    distrust_skill(&world.environment("person/app"), &folder).unwrap();
    assert_eq!(status(trusting()), Status::Held);
}

#[test]
fn invalid_entry_trusts_nothing_and_is_reported() {
    let world = world();
    let path = world.path(A).canonicalize().unwrap();
    let path = path.to_str().unwrap();
    let said = |list: &str| {
        world.write(&format!("\n//- {LIST}\n{list}"));
        let status = skills(&world).catalog().get("a").unwrap().status();
        assert_eq!(status, Status::Held, "{list}");
        findings(&world)
    };
    insta::assert_snapshot!(said("[[folder]\n"), @"/person/.local/state/skillfold/trusted_skills.toml:1 warning[SF707]: List of trusted skills cannot be parsed: unclosed array table, expected `]`");
    insta::assert_snapshot!(said(&format!("format = 1\n[[folder]]\npath = {path:?}\nonly = [\"sha256:1\"]\n")), @"/person/.local/state/skillfold/trusted_skills.toml:2 warning[SF707]: List of trusted skills cannot be parsed: unknown field `only`, expected `path`");
    insta::assert_snapshot!(said("format = 1\n[[folder]]\npath = \".agents/skills/a\"\n"), @"/person/.local/state/skillfold/trusted_skills.toml:2 warning[SF707]: List of trusted skills cannot be parsed: its path is not absolute");
    let doctor = Document::Doctor(Doctor::new(&skills(&world))).to_json();
    assert!(doctor.contains("List of trusted skills"), "{doctor}");
    // One that is good is followed beside one that is not.
    world.write(&format!(
        "\n//- {LIST}\nformat = 1\n[[folder]]\npath = 3\n[[folder]]\npath = {path:?}\n"
    ));
    let status = skills(&world).catalog().get("a").unwrap().status();
    assert_eq!(status, Status::Active);
}

#[cfg(unix)]
#[test]
fn list_writable_by_others_trusts_no_skill() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = world();
    accept(&world, A);
    let mode = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.path(LIST), permissions).unwrap();
    };
    mode(0o666);
    let status = skills(&world).catalog().get("a").unwrap().status();
    assert_eq!(status, Status::Held);
    insta::assert_snapshot!(findings(&world), @"/person/.local/state/skillfold/trusted_skills.toml:1 warning[SF709]: List of trusted skills is not used: others can write to the file (mode 0666)");
    let folder = world.path(B).canonicalize().unwrap();
    let error = trust_skills(&world.environment("person/app"), [folder]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    mode(0o600);
    let status = skills(&world).catalog().get("a").unwrap().status();
    assert_eq!(status, Status::Active);
}

#[test]
fn running_host_notices_skill_trust_and_revocation_within_a_second() {
    const SECOND: Duration = Duration::from_secs(1);
    let world = world();
    let host = host(&world).set("watch", "off").set("poll_seconds", "0");
    let skills = host.discover().unwrap().skills;
    let is_given = || skills.load("a", "").is_ok() && skills.read("a", "SKILL.md").is_ok();
    assert!(!is_given());
    accept(&world, A);
    thread::sleep(SECOND);
    assert!(is_given());
    assert!(skills.load("b", "").is_err());
    // Settings that cannot be read any more change nothing.
    world.write("//- person/.config/skillfold/config.toml\nlinks = \"nonsense\"\n");
    assert!(skills.refresh().is_err());
    let folder = world.path(A).canonicalize().unwrap();
    distrust_skill(&world.environment("person/app"), &folder).unwrap();
    thread::sleep(SECOND);
    assert!(!is_given());
}

#[test]
fn new_skill_is_given_or_held_as_configured() {
    for (hold, status) in [(false, Status::Active), (true, Status::Held)] {
        let world = world();
        accept(&world, A);
        let skills = if hold { skills(&world) } else { world.skills() };
        world.write(&tree(&["person/.agents/skills/new"]));
        let changes = skills.refresh().unwrap();
        assert_eq!(changes.added, ["new".into()]);
        assert_eq!(skills.catalog().get("new").unwrap().status(), status);
        assert_eq!(skills.load("new", "").is_ok(), !hold);
        assert!(skills.load("a", "").is_ok());
    }
}
