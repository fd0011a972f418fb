//! The list of folders that the person trusted.

use std::path::Path;
use std::thread;
use std::time::Duration;

use skillfold::core::catalog::Status;
use skillfold::core::{ContextLifetime, ErrorKind, Policy};
use skillfold::view::{Doctor, Document};
use skillfold::{
    Environment, Host, Skills,
    trust::{TrustedFolders, TrustedState, check_trustable, distrust_folder, trust_folder},
};

use crate::world::{World, tree};

const LIST: &str = "person/.local/state/skillfold/trusted.toml";

fn world() -> World {
    World::new(&tree(&["person/app/.agents/skills/a"]))
}

fn status(world: &World) -> Status {
    let skills = world.skills();
    skills.catalog().get("a").unwrap().status()
}

/// Returns the findings of the list, without the path of the temporary folder.
fn findings(world: &World) -> String {
    let report = world.skills().report();
    let findings = report.trusted.findings.iter();
    let lines = findings.map(|one| format!("{} {}\n", one.origin, one.diagnostic));
    world.shown(&lines.collect::<String>())
}

#[expect(clippy::disallowed_methods, reason = "the test reads what was written")]
fn list(world: &World) -> String {
    std::fs::read_to_string(world.path(LIST)).unwrap()
}

fn trust(world: &World, folder: &str) {
    trust_folder(&world.environment("person/app"), &world.path(folder)).unwrap();
}

#[test]
fn trusted_folder_covers_its_projects_until_removed() {
    for folder in ["person/app", "person/app/../app"] {
        let world = world();
        assert_eq!(status(&world), Status::Untrusted);
        trust(&world, folder);
        assert_eq!(status(&world), Status::Active, "{folder}");
        let environment = world.environment("person/app");
        distrust_folder(&environment, &world.path(folder)).unwrap();
        assert_eq!(status(&world), Status::Untrusted, "{folder}");
        let again = distrust_folder(&environment, &world.path(folder));
        assert_eq!(again.unwrap_err().kind(), ErrorKind::NotFound);
    }
}

#[test]
fn projects_folder_trusts_each_project_and_nothing_outside() {
    let world = World::new(&tree(&[
        "person/code/app/.agents/skills/a",
        "person/code-b/.agents/skills/a",
    ]));
    trust(&world, "person/code");
    let status = |folder: &str| {
        let skills = Host::new(world.environment(folder))
            .discover()
            .unwrap()
            .skills;
        skills.catalog().get("a").unwrap().status()
    };
    assert_eq!(status("person/code/app"), Status::Active);
    assert_eq!(status("person/code-b"), Status::Untrusted);
}

#[test]
fn trust_list_is_plain_text_and_keeps_user_edits() {
    let world = world();
    trust(&world, "person/app");
    let text = list(&world);
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with("# Folders whose projects are trusted"),
        "{text}"
    );
    let real = world.path("person/app").canonicalize().unwrap();
    assert!(text.contains(&format!("path = {:?}", real.to_str().unwrap())));
    world.write(&format!("\n//- {LIST}\n# Mine\n{text}\n# The end\n"));
    trust(&world, "person/app/.agents");
    let text = list(&world);
    assert!(
        text.starts_with("# Mine\n") && text.contains("# The end"),
        "{text}"
    );
    assert_eq!(text.matches("[[folder]]").count(), 2);
    // Once more is not twice.
    trust(&world, "person/app");
    let text = list(&world);
    assert_eq!(text.matches("[[folder]]").count(), 2);
}

#[cfg(unix)]
#[test]
fn replaced_folder_is_not_trusted_and_is_reported() {
    let world = world();
    trust(&world, "person/app");
    let (app, other) = (world.path("person/app"), world.path("person/other"));
    // The old one is kept, so that the new one cannot get its number.
    std::fs::rename(&app, &other).unwrap();
    world.write(&tree(&["person/app/.agents/skills/a"]));
    world.write("//- person/app/.git/HEAD\n");
    assert_eq!(status(&world), Status::Untrusted);
    let said = findings(&world);
    let said = said.replace(
        &*app.canonicalize().unwrap().to_string_lossy(),
        "/person/app",
    );
    insta::assert_snapshot!(said, @"/person/.local/state/skillfold/trusted.toml:6 warning[SF708]: Trusted folder was replaced by another one: `/person/app`");
    let list = TrustedFolders::load(&world.environment("person/app"));
    assert_eq!(list.folders[0].state(), TrustedState::Replaced);
    // A folder that was moved away is not trusted where it is now.
    let moved = Host::new(world.environment("person/other"))
        .discover()
        .unwrap()
        .skills;
    assert_eq!(
        moved.catalog().get("a").unwrap().status(),
        Status::Untrusted
    );
    trust(&world, "person/app");
    assert_eq!(status(&world), Status::Active);
    std::fs::remove_dir_all(&app).unwrap();
    let list = TrustedFolders::load(&world.environment("person"));
    assert_eq!(list.folders[0].state(), TrustedState::Gone);
}

#[cfg(unix)]
#[test]
fn link_to_a_trusted_folder_is_trusted() {
    let world = world();
    std::os::unix::fs::symlink(world.path("person/app"), world.path("person/link")).unwrap();
    trust(&world, "person/link");
    assert_eq!(status(&world), Status::Active);
    let list = TrustedFolders::load(&world.environment("person/app"));
    assert_eq!(
        list.folders[0].path(),
        world.path("person/app").canonicalize().unwrap()
    );
}

#[test]
fn unrecognized_entry_trusts_nothing_and_is_reported() {
    let world = world();
    let path = world.path("person/app").canonicalize().unwrap();
    let path = path.to_str().unwrap();
    let said = |list: &str| {
        world.write(&format!("\n//- {LIST}\n{list}"));
        assert_eq!(status(&world), Status::Untrusted, "{list}");
        findings(&world)
            .lines()
            .map(|line| line.split_once(' ').unwrap().1.to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(said("[[folder]\n"), @"warning[SF707]: List of trusted folders cannot be parsed: unclosed array table, expected `]`");
    insta::assert_snapshot!(said("format = 1\nfolder = 1\n"), @"warning[SF707]: List of trusted folders cannot be parsed: invalid type: integer `1`, expected a sequence");
    insta::assert_snapshot!(said(&format!("format = 1\n[[folder]]\npath = {path:?}\nonly = [\"sha256:1\"]\n")), @"warning[SF707]: List of trusted folders cannot be parsed: unknown field `only`, expected one of `path`, `inode`, `created_ns`, `pinned`");
    insta::assert_snapshot!(said("format = 1\n[[folder]]\npath = \"app\"\n"), @"warning[SF707]: List of trusted folders cannot be parsed: its path is not absolute");
    // One that is good is followed beside one that is not.
    world.write(&format!(
        "\n//- {LIST}\nformat = 1\n[[folder]]\npath = 3\n[[folder]]\npath = {path:?}\n"
    ));
    assert_eq!(status(&world), Status::Active);
    // What is broken is not written over.
    world.write(&format!("\n//- {LIST}\n[[folder]\n"));
    let error = trust_folder(&world.environment("person/app"), Path::new(path)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(list(&world), "[[folder]\n");
}

#[test]
fn project_cannot_trust_itself() {
    let world = world();
    let path = world.path("person/app").canonicalize().unwrap();
    let entry = format!(
        "format = 1\n[[folder]]\npath = {:?}\n",
        path.to_str().unwrap()
    );
    for place in [
        "person/app/.local/state/skillfold/trusted.toml",
        "person/app/.skillfold/trusted.toml",
        "person/app/trusted.toml",
    ] {
        world.write(&format!("\n//- {place}\n{entry}"));
    }
    world.write(
        "\n//- person/app/.skillfold/config.toml\ntrusted = [\".\"]\ntrust_project = true\n",
    );
    assert_eq!(status(&world), Status::Untrusted);
    // The same list in the person's state is followed, so that the above is no accident of its form.
    world.write(&format!("\n//- {LIST}\n{entry}"));
    assert_eq!(status(&world), Status::Active);
}

#[test]
fn home_and_its_parents_cannot_be_trusted() {
    let world = world();
    let environment = world.environment("person/app");
    for (folder, kind) in [
        ("person", ErrorKind::Refused),
        ("", ErrorKind::Refused),
        ("/", ErrorKind::Refused),
        ("person/app/.git/HEAD", ErrorKind::Refused),
        ("person/nowhere", ErrorKind::NotFound),
    ] {
        let path = world.path(folder);
        assert_eq!(
            check_trustable(&environment, &path).unwrap_err().kind(),
            kind,
            "{folder}"
        );
        assert_eq!(
            trust_folder(&environment, &path).unwrap_err().kind(),
            kind,
            "{folder}"
        );
    }
    assert!(!world.path(LIST).exists());
    let homeless = Environment::new(world.path("person/app"));
    let error = trust_folder(&homeless, &world.path("person/app")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn state_uses_the_system_state_directory() {
    let world = world();
    let state = world.path("state");
    let environment = world.environment("person/app");
    let environment = environment.variable("XDG_STATE_HOME", state.to_string_lossy());
    trust_folder(&environment, &world.path("person/app")).unwrap();
    assert!(state.join("skillfold/trusted.toml").exists() && !world.path(LIST).exists());
    let skills = Host::new(environment).discover().unwrap().skills;
    assert_eq!(skills.catalog().get("a").unwrap().status(), Status::Active);
}

#[test]
fn doctor_names_the_rule_that_trusts_the_project() {
    let rule = |world: &World, host: Host| {
        let skills = host.discover().unwrap().skills;
        let rule = Doctor::new(&skills).roots[0]
            .trusted_by
            .clone()
            .unwrap_or_default();
        let real = world.path("").canonicalize().unwrap();
        world
            .shown(&rule)
            .replace(&format!("{}/", real.display()), "/")
    };
    let world = world();
    assert_eq!(rule(&world, world.host()), "");
    assert_eq!(
        rule(&world, world.host().set("trust_project", "true")),
        "`trust_project` (argument)"
    );
    let app = world.path("person/app");
    let named = world.host().set("trusted", app.to_string_lossy());
    assert_eq!(rule(&world, named), "`trusted`: /person/app (argument)");
    trust(&world, "person/app");
    assert_eq!(rule(&world, world.host()), "`skillfold trust`: /person/app");
    let document = Document::Doctor(Doctor::new(&world.skills())).to_json();
    assert!(
        document.contains("\"trusted_by\": \"`skillfold trust`: "),
        "{document}"
    );
}

/// Returns what every way to a skill gives of it: the names of those that give something.
fn ways(skills: &Skills) -> Vec<&'static str> {
    let mut session = skills.session(Policy::triggered(), ContextLifetime::History);
    let ways = [
        ("load", skills.load("a", "").is_ok()),
        ("read", skills.read("a", "SKILL.md").is_ok()),
        ("files", skills.files("a", None, 10).is_ok()),
        ("publish", skills.publish("a").is_ok()),
        ("listing", skills.catalog().visible().count() > 0),
        ("session", session.load("a", "").is_ok()),
    ];
    let open = ways.into_iter().filter(|(_, is_given)| *is_given);
    open.map(|(way, _)| way).collect()
}

/// A little longer than a check of the lists stays valid: every later answer has checked them again.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

#[test]
fn revoked_trust_takes_effect_within_a_second_whatever_the_settings() {
    const BROKEN: &str = "//- person/.config/skillfold/config.toml\nlinks = \"nonsense\"\n";
    let world = world();
    trust(&world, "person/app");
    let environment = world.environment("person/app");
    let skills = Host::new(environment.clone())
        .set("watch", "off")
        .set("poll_seconds", "0")
        .discover()
        .unwrap()
        .skills;
    assert_eq!(ways(&skills).len(), 6);
    distrust_folder(&environment, &world.path("person/app")).unwrap();
    thread::sleep(CHECK_INTERVAL);
    assert_eq!(ways(&skills), [""; 0]);
    // It comes back as fast.
    trust(&world, "person/app");
    thread::sleep(CHECK_INTERVAL);
    assert_eq!(ways(&skills).len(), 6);
    world.write(BROKEN);
    assert!(skills.refresh().is_err());
    distrust_folder(&environment, &world.path("person/app")).unwrap();
    thread::sleep(CHECK_INTERVAL);
    assert_eq!(ways(&skills), [""; 0]);
}

#[test]
fn catalog_and_listing_do_not_read_the_trust_list_but_an_explicit_check_does() {
    let world = world();
    trust(&world, "person/app");
    let skills = world.skills();
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    let (before, listing) = (skills.catalog(), session.listing().text);
    distrust_folder(&world.environment("person/app"), &world.path("person/app")).unwrap();
    thread::sleep(CHECK_INTERVAL);
    assert!(std::sync::Arc::ptr_eq(&before, &skills.catalog()));
    assert!(skills.get("a").is_ok());
    assert_eq!(session.listing().text, listing);
    skills.check_trust();
    assert_eq!(skills.catalog().visible().count(), 0);
    assert!(skills.get("a").is_err());
}

#[cfg(unix)]
#[test]
fn folder_replaced_while_a_host_runs_loses_trust() {
    let world = world();
    trust(&world, "person/app");
    let skills = world.skills();
    assert_eq!(ways(&skills).len(), 6);
    std::fs::rename(world.path("person/app"), world.path("person/other")).unwrap();
    world.write(&tree(&["person/app/.agents/skills/a"]));
    world.write("//- person/app/.git/HEAD\n");
    thread::sleep(CHECK_INTERVAL);
    assert_eq!(ways(&skills), [""; 0]);
}

#[cfg(unix)]
#[test]
fn trust_list_writable_by_others_does_not_cause_a_refresh_per_answer() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = world();
    trust(&world, "person/app");
    let list = world.environment("person/app").trusted_folders().unwrap();
    let mode = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&list, permissions).unwrap();
        thread::sleep(CHECK_INTERVAL);
    };
    let skills = world.skills();
    assert_eq!(ways(&skills).len(), 6);
    mode(0o666);
    assert_eq!(ways(&skills), [""; 0]);
    let before = skills.catalog();
    thread::sleep(CHECK_INTERVAL);
    skills.check_trust();
    assert!(std::sync::Arc::ptr_eq(&before, &skills.catalog()));
    mode(0o600);
    assert_eq!(ways(&skills).len(), 6);
}

#[test]
#[cfg(unix)]
fn settings_writable_by_others_trust_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = world();
    world.write("//- person/.config/skillfold/config.toml\ntrusted = [\"~/app\"]\ntrust_project = true\nlinks = \"refuse\"\n");
    let file = world.path("person/.config/skillfold/config.toml");
    let folder = file.parent().unwrap();
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(folder, 0o755);
    set(&file, 0o644);
    assert_eq!(status(&world), Status::Active);
    set(&file, 0o666);
    assert_eq!(status(&world), Status::Untrusted);
    let settings = world.skills().report().settings.clone();
    assert_eq!(
        settings.links.value,
        skillfold::core::source::LinkPolicy::Refuse
    );
    let lines = settings.findings.iter();
    let lines = lines.map(|one| format!("{} {}\n", one.origin, one.diagnostic));
    insta::assert_snapshot!(world.shown(&lines.collect::<String>()), @"
    /person/.config/skillfold/config.toml:1 warning[SF709]: Setting `trusted` is not used: others can write to the file (mode 0666)
    /person/.config/skillfold/config.toml:2 warning[SF709]: Setting `trust_project` is not used: others can write to the file (mode 0666)
    ");
    set(&file, 0o644);
    set(folder, 0o777);
    assert_eq!(status(&world), Status::Untrusted);
}
