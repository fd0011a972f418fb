//! Folders that are trusted with the skills that they have.

use std::path::PathBuf;

use skillfold::core::Refusal;
use skillfold::core::catalog::Status;
use skillfold::{
    Host, Skills,
    trust::{Pins, TrustedFolders, TrustedState, check_trustable, trust_folder, trust_pinned},
};

use crate::world::{World, tree};

const LIST: &str = "person/.local/state/skillfold/trusted.toml";
const A: &str = "person/app/.agents/skills/a";

fn world() -> World {
    let world = World::new(&tree(&[A, "person/app/.agents/skills/b"]));
    world.write(&format!("//- {A}/scripts/run.sh\necho hello\n"));
    world
}

fn pin(world: &World) -> PathBuf {
    let environment = world.environment("person/app");
    let folder = check_trustable(&environment, &world.path("person/app")).unwrap();
    let pins = Pins::of_project(&environment, &folder).unwrap();
    trust_pinned(&environment, &folder, &pins).unwrap()
}

fn status(skills: &Skills) -> Status {
    skills.catalog().get("a").unwrap().status()
}

/// Returns the findings of the list, without the path of the temporary folder.
fn findings(world: &World, skills: &Skills) -> String {
    let report = skills.report();
    let findings = report.trusted.findings.iter();
    let lines = findings.map(|one| format!("{}\n", one.diagnostic));
    let root = world.path("").canonicalize().unwrap();
    let root = format!("{}/", root.display());
    lines.collect::<String>().replace(&root, "/")
}

fn state(world: &World) -> TrustedState {
    let environment = world.environment("person");
    let list = TrustedFolders::load(&environment);
    list.folders[0].state_with_content(&environment)
}

#[test]
fn pinned_folder_is_trusted_while_its_skills_are_unchanged() {
    let world = world();
    pin(&world);
    let skills = world.skills();
    assert_eq!(status(&skills), Status::Active);
    assert_eq!(state(&world), TrustedState::Pinned);
    let rule = skills.report().trusted_by.as_ref().unwrap().to_string();
    assert!(rule.starts_with("`skillfold trust --pin`: "), "{rule}");
    // What other files of the project say does not matter.
    world.write("//- person/app/README.md\nA project\n//- person/app/.agents/notes.md\nx\n");
    assert_eq!(status(&world.skills()), Status::Active);
    // Nor does a skill that is gone.
    std::fs::remove_dir_all(world.path("person/app/.agents/skills/b")).unwrap();
    assert_eq!(status(&world.skills()), Status::Active);
    assert_eq!(state(&world), TrustedState::Pinned);
}

#[test]
fn any_change_to_a_pinned_skill_ends_trust_and_is_reported() {
    let said = |change: &str| {
        let world = world();
        pin(&world);
        world.write(change);
        let skills = world.skills();
        assert_eq!(status(&skills), Status::Untrusted, "{change}");
        assert_eq!(state(&world), TrustedState::Changed, "{change}");
        findings(&world, &skills)
    };
    insta::assert_snapshot!(said(&format!("//- {A}/SKILL.md\n---\nname: a\ndescription: Does more\n---\n")), @"warning[SF711]: Skills of the pinned folder `/person/app` differ: `.agents/skills/a` (changed)");
    insta::assert_snapshot!(said(&format!("//- {A}/scripts/run.sh\necho evil\n")), @"warning[SF711]: Skills of the pinned folder `/person/app` differ: `.agents/skills/a` (changed)");
    insta::assert_snapshot!(said(&format!("//- {A}/references/more.md\nMore\n")), @"warning[SF711]: Skills of the pinned folder `/person/app` differ: `.agents/skills/a` (changed)");
    insta::assert_snapshot!(said(&tree(&["person/app/.agents/skills/c", "person/app/.claude/skills/d"])), @"warning[SF711]: Skills of the pinned folder `/person/app` differ: `.agents/skills/c` (new), `.claude/skills/d` (new)");
    insta::assert_snapshot!(said("//- person/app/.skillfold/config.toml\nroots = [\"more\"]\n//- person/app/more/e/SKILL.md\n---\nname: e\ndescription: Does e\n---\n"), @"warning[SF711]: Skills of the pinned folder `/person/app` differ: `more/e` (new)");
}

#[test]
fn restored_or_retrusted_folder_is_trusted_again() {
    let world = world();
    pin(&world);
    let script = |text: &str| world.write(&format!("//- {A}/scripts/run.sh\n{text}\n"));
    script("echo evil");
    assert_eq!(status(&world.skills()), Status::Untrusted);
    script("echo hello");
    assert_eq!(status(&world.skills()), Status::Active);
    script("echo better");
    assert_eq!(status(&world.skills()), Status::Untrusted);
    pin(&world);
    assert_eq!(status(&world.skills()), Status::Active);
    let list = TrustedFolders::load(&world.environment("person"));
    assert_eq!(list.folders.len(), 1);
    // Whoever trusts it by its path trusts whatever is in it.
    trust_folder(&world.environment("person/app"), &world.path("person/app")).unwrap();
    script("echo anything");
    assert_eq!(status(&world.skills()), Status::Active);
    assert_eq!(state(&world), TrustedState::Trusted);
}

#[test]
fn running_host_notices_a_change_at_its_next_refresh_not_on_every_answer() {
    let world = world();
    pin(&world);
    let host: Host = world.host().set("watch", "off").set("poll_seconds", "0");
    let skills = host.discover().unwrap().skills;
    assert!(skills.load("a", "").is_ok());
    world.write(&format!("//- {A}/scripts/run.sh\necho evil\n"));
    let changes = skills.refresh().unwrap();
    assert_eq!(changes.changed, ["a".into(), "b".into()]);
    assert!(skills.load("a", "").is_err());
    let before = skills.catalog();
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(std::sync::Arc::ptr_eq(&before, &skills.catalog()));
    world.write(&format!("//- {A}/scripts/run.sh\necho hello\n"));
    skills.refresh().unwrap();
    assert!(skills.load("a", "").is_ok());
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test changes a file of its own"
)]
fn changed_bytes_are_withheld_even_before_a_refresh() {
    let world = world();
    world.write(&format!("//- {A}/forms.md\nForms\n"));
    pin(&world);
    let unwatched = || {
        let host: Host = world.host().set("watch", "off").set("poll_seconds", "0");
        host.discover().unwrap().skills
    };
    let refused = |what: Result<String, skillfold::core::Error>| {
        let error = what.unwrap_err();
        assert_eq!(error.refusal(), Some(Refusal::Untrusted), "{error}");
        format!("{error}; {}", error.hint())
    };
    let load = |skills: &Skills| skills.load("a", "").map(|it| it.text().to_owned());
    let read = |skills: &Skills, path: &str| {
        let read = skills.read_range("a", path, 1..4);
        read.map(|it| String::from_utf8_lossy(it.bytes()).into_owned())
    };
    let list = |skills: &Skills| skills.files("a", None, 10).map(|it| it.total.to_string());

    // A file changes: neither it nor a run is given, and the rest is as it was.
    let skills = unwatched();
    assert_eq!(read(&skills, "forms.md").unwrap(), "orm");
    world.write(&format!("//- {A}/forms.md\nEvil!\n"));
    insta::assert_snapshot!(refused(read(&skills, "forms.md")), @"Refused to open `a/forms.md`; It changed since the folder was trusted; review the change, and run `skillfold trust --pin` again");
    assert_eq!(read(&skills, "scripts/run.sh").unwrap(), "cho");
    assert!(load(&skills).is_ok());
    assert_eq!(skills.published_files("a").unwrap().len(), 3);
    assert!(skills.publish("a").is_err());
    #[cfg(feature = "run")]
    assert!(skills.runnable("a").is_err());
    world.write(&format!("//- {A}/forms.md\nForms\n"));
    assert_eq!(read(&skills, "forms.md").unwrap(), "orm");

    // A new file is neither read nor named.
    world.write(&format!("//- {A}/evil.md\nEvil!\n"));
    refused(read(&skills, "evil.md"));
    refused(list(&skills));
    std::fs::remove_file(world.path(&format!("{A}/evil.md"))).unwrap();
    assert_eq!(list(&skills).unwrap(), "3");

    // The instructions change, at once after the discovery and after they were loaded.
    for is_loaded in [false, true] {
        let skills = unwatched();
        if is_loaded {
            load(&skills).unwrap();
        }
        let file = world.path(&format!("{A}/SKILL.md"));
        let good = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, good.replace("Does a", "Evil a") + "Do evil.\n").unwrap();
        refused(load(&skills));
        assert!(skills.search("evil", 5).hits.is_empty());
        std::fs::write(&file, &good).unwrap();
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test changes a file of its own"
)]
fn part_of_a_large_file_is_returned_only_if_the_whole_file_matches_its_pin() {
    let world = world();
    let file = world.path(&format!("{A}/large.bin"));
    let mut bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    std::fs::write(&file, &bytes).unwrap();
    pin(&world);
    let skills = world.host().set("watch", "off").discover().unwrap().skills;
    let read = |range: std::ops::Range<u64>| {
        let read = skills.read_range("a", "large.bin", range);
        read.map(|it| it.bytes().to_vec())
    };
    assert_eq!(read(0..10).unwrap(), bytes[..10]);
    assert_eq!(
        read(1_048_000..2_100_000).unwrap(),
        bytes[1_048_000..2_100_000]
    );
    assert_eq!(read(2_999_990..4_000_000).unwrap(), bytes[2_999_990..]);
    for change in [-1, 0, 1] {
        match change {
            -1 => bytes.truncate(2_999_999),
            0 => bytes.push(255),
            _ => bytes.extend([1, 2, 3]),
        }
        std::fs::write(&file, &bytes).unwrap();
        let error = read(0..10).unwrap_err();
        assert_eq!(error.refusal(), Some(Refusal::Untrusted), "{change}");
    }
}

#[cfg(feature = "store")]
#[test]
fn proposal_to_a_changed_pinned_skill_is_refused() {
    let world = world();
    pin(&world);
    let skills = world.host().set("watch", "off").discover().unwrap().skills;
    world.write(&format!("//- {A}/SKILL.md\n---\nsecret\n---\n"));
    let diff = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,2 @@\n ---\n-no such line\n+line\n";
    let author = skillfold::store::Author::named("model");
    let error = skills.propose_update("a", diff, "because", None, author);
    let error = error.unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Untrusted), "{error}");
}

#[cfg(feature = "watch")]
#[test]
fn watching_host_notices_a_change_to_a_pinned_skill() {
    let world = world();
    pin(&world);
    let skills = world.skills();
    let watcher = skills.watch(|_| {});
    assert!(skills.load("a", "").is_ok());
    world.write(&format!("//- {A}/notes.md\nNew\n"));
    let start = std::time::Instant::now();
    while skills.load("a", "").is_ok() {
        assert!(start.elapsed().as_secs() < 10, "it is never noticed");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(watcher);
}

#[cfg(unix)]
#[test]
fn skill_behind_a_new_link_is_a_new_skill() {
    let world = world();
    world.write(&tree(&["elsewhere/evil"]));
    pin(&world);
    let link = world.path("person/app/.agents/skills/evil");
    std::os::unix::fs::symlink(world.path("elsewhere/evil"), link).unwrap();
    let skills = world.skills();
    assert_eq!(status(&skills), Status::Untrusted);
    assert!(findings(&world, &skills).contains("/elsewhere/evil` (new)"));
}

#[test]
fn invalid_pins_trust_nothing() {
    let world = world();
    let path = world.path("person/app").canonicalize().unwrap();
    let path = path.to_str().unwrap();
    let said = |pinned: &str| {
        world.write(&format!(
            "\n//- {LIST}\nformat = 1\n[[folder]]\npath = {path:?}\npinned = {pinned}\n"
        ));
        let skills = world.skills();
        assert_eq!(status(&skills), Status::Untrusted, "{pinned}");
        findings(&world, &skills)
    };
    insta::assert_snapshot!(said("true"), @"warning[SF707]: List of trusted folders cannot be parsed: invalid type: boolean `true`, expected a sequence");
    insta::assert_snapshot!(said("[{ path = \"a\" }]"), @"warning[SF707]: List of trusted folders cannot be parsed: missing field `digest`");
    insta::assert_snapshot!(said("[{ path = \"a\", digest = \"sha256:1\", until = 2030 }]"), @"warning[SF707]: List of trusted folders cannot be parsed: unknown field `until`, expected `path` or `digest`");
    insta::assert_snapshot!(said("[]"), @"warning[SF711]: Skills of the pinned folder `/person/app` differ: `.agents/skills/a` (new), `.agents/skills/b` (new)");
}
