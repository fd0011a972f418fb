//! Every file of `docs/formats.md`: one of today is read, and one of the next format is refused by name or left alone.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skillfold::core::load::{Digest, FileDigests};
use skillfold::store::Store;
use skillfold::{
    Environment,
    conversation::{ConversationKey, Conversations},
};
use skillfold_testkit::in_checkout;

use crate::command::World;

const STATE: &str = "person/.local/state/skillfold";
pub(crate) const DATA: &str = "person/.local/share/skillfold";

/// Returns a project and a user with a skill each.
pub(crate) fn world() -> World {
    let world = World::new("//- app/README.md\n");
    for skills in ["person/.agents/skills", "app/.agents/skills"] {
        skillfold_testkit::write_golden_skill(&world.path(skills));
    }
    world
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(in_checkout("crates/skillfold-cli/tests/formats").join(name)).unwrap()
}

/// Returns a fixture with the paths of a world.
pub(crate) fn text_fixture(world: &World, name: &str) -> String {
    let root = world.path("").canonicalize().unwrap();
    let text = String::from_utf8(fixture(name)).unwrap();
    text.replace("ROOT", root.to_str().unwrap())
}

/// Writes a file as the program does: for the user alone.
pub(crate) fn put(world: &World, file: &str, bytes: impl AsRef<[u8]>) {
    let path = world.path(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
}

/// Returns the same file in the next format.
pub(crate) fn next(text: &str) -> String {
    let number = number(text);
    let mut next = text.to_owned();
    for key in ["format = ", "\"format\":", "format: \""] {
        next = next.replace(&format!("{key}{number}"), &format!("{key}{}", number + 1));
    }
    assert_ne!(next, text);
    next
}

/// Returns the number of a file's format.
fn number(text: &str) -> u32 {
    let after = text.split_once("format").unwrap().1;
    let digits = after.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits[..1].parse().unwrap()
}

/// Checks that a fixture is read by a command, which says `today` then, and that neither this command nor one that writes touches a
/// file of the next format, which both name.
fn check(world: &World, name: &str, read: &[&str], today: &str, write: &[&str]) {
    let file = &format!("{STATE}/{name}");
    let text = text_fixture(world, name);
    put(world, file, &text);
    let shown = world.run(read);
    assert!(shown.contains(today), "{name}: {shown}");
    assert!(!shown.contains("not understood"), "{name}: {shown}");
    let newer = next(&text);
    put(world, file, &newer);
    let other = format!("format {}", number(&newer));
    for command in [read, write] {
        let shown = world.run(command);
        assert!(shown.contains(&other), "{name} {command:?}: {shown}");
        assert!(shown.contains(name), "{name} {command:?}: {shown}");
        assert_eq!(world.read(file), newer, "{name} {command:?}");
    }
}

#[test]
fn every_listed_format_has_a_fixture_and_every_fixture_a_row() {
    let crates = in_checkout("crates");
    let page = fs::read_to_string(crates.join("../docs/formats.md")).unwrap();
    let mut listed = BTreeSet::new();
    for row in page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| file"))
    {
        let last = row.trim_end_matches(" |").rsplit("| ").next().unwrap();
        let fixture = last.trim_matches('`');
        assert!(crates.join(fixture).is_file(), "no fixture: {row}");
        listed.insert(fixture.to_owned());
    }
    let mut found = BTreeSet::new();
    for folder in [
        "skillfold-cli/tests/formats",
        "skillfold-index/tests/formats",
        "skillfold-registry/tests/formats",
    ] {
        for entry in fs::read_dir(crates.join(folder)).unwrap() {
            found.insert(format!("{folder}/{}", entry.unwrap().file_name().display()));
        }
    }
    assert_eq!(found, listed);
}

#[test]
fn lists_of_a_newer_format_are_ignored_and_not_overwritten() {
    let (list, add) = (["trust", "--list"], ["trust", "--yes"]);
    check(&world(), "trusted.toml", &list, "1 folder is trusted", &add);
    let holding = world();
    holding.write("\n//- person/.config/skillfold/config.toml\nnew_skills = \"hold\"\n");
    let (list, add) = (
        ["trust", "--list", "--held"],
        ["trust", "user:golden", "--yes"],
    );
    check(
        &holding,
        "trusted_skills.toml",
        &list,
        "1 skill is trusted",
        &add,
    );
    let list = ["allow", "--list"];
    let remove = ["allow", "user:golden", "--remove"];
    check(&world(), "allowed.toml", &list, "golden", &remove);
}

#[test]
fn setup_state_of_a_newer_format_stops_setup() {
    let world = world();
    let file = format!("{STATE}/setup.toml");
    put(&world, &file, text_fixture(&world, "setup.toml"));
    let setup = ["setup", "cursor", "--yes"];
    assert!(world.run(&setup).ends_with("exit 0\n"));
    let undo = ["setup", "cursor", "--undo", "--yes"];
    assert!(world.run(&undo).ends_with("exit 0\n"));
    assert!(
        world.read(&file).contains(".claude.json"),
        "it has the others still"
    );
    let newer = next(&text_fixture(&world, "setup.toml"));
    put(&world, &file, &newer);
    let shown = world.run(&setup);
    assert!(
        shown.contains("format 3") && shown.contains("setup.toml"),
        "{shown}"
    );
    assert_eq!(world.read(&file), newer);
    assert!(!world.path("person/.cursor/mcp.json").exists());
}

/// Returns a log with the right hashes.
fn hashed(log: &str) -> String {
    let (mut head, mut text) = (String::new(), String::new());
    for line in log.lines() {
        let (body, _) = line.rsplit_once(",\"hash\"").unwrap();
        let digest = Digest::sha256(format!("{head}\n{body}").as_bytes()).to_string();
        digest.trim_start_matches("sha256:").clone_into(&mut head);
        text.extend([body, ",\"hash\":\"", &head, "\"}\n"]);
    }
    text
}

#[test]
fn log_of_a_newer_format_is_shown_and_never_written() {
    let world = world();
    let file = format!("{DATA}/audit.jsonl");
    let log = text_fixture(&world, "audit.jsonl");
    assert_eq!(hashed(&log), log);
    put(&world, &file, &log);
    let shown = world.run(&["audit", "verify"]);
    assert!(
        shown.contains("OK: 8 records, hash chain intact") && !shown.contains("newer"),
        "{shown}"
    );
    let newer = hashed(&next(&log));
    put(&world, &file, &newer);
    let shown = world.run(&["audit", "verify"]);
    assert!(
        shown.contains("hash chain intact") && shown.contains("newer skillfold"),
        "{shown}"
    );
    assert!(world.run(&["audit"]).contains("recommended"));
    let shown = world.run(&["trust", "--yes"]);
    assert!(
        shown.contains("has the format 3") && shown.contains("audit.jsonl"),
        "{shown}"
    );
    assert_eq!(world.read(&file), newer);
    assert!(!world.path(&format!("{STATE}/trusted.toml")).exists());
}

#[test]
fn proposal_of_a_newer_format_is_named_and_not_approved() {
    let name = "golden-20261117T072000Z";
    let file = format!("{DATA}/proposals/{name}.md");
    let (list, approve) = (["proposals"], ["approve", name]);
    let world = world();
    let text = text_fixture(&world, "proposal.md");
    put(&world, &file, &text);
    assert!(world.run(&list).contains(name));
    // A whole version has the format 2, which is read too.
    let newer = next(&next(&text));
    put(&world, &file, &newer);
    let shown = world.run(&list);
    assert!(
        shown.contains("format 3") && shown.contains(name),
        "{shown}"
    );
    assert!(!world.run(&approve).ends_with("exit 0\n"));
    assert_eq!(world.read(&file), newer);
}

#[test]
fn stored_skill_version_is_verified_against_its_name() {
    let list = fixture("object");
    let files = FileDigests::from_bytes(&list).unwrap();
    let golden = skillfold_testkit::write_golden_skill(tempfile::tempdir().unwrap().path());
    assert_eq!(files.digest().to_string(), golden);
    let world = world();
    let store = Store::open(&world.path(DATA)).unwrap();
    let digits = golden.trim_start_matches("sha256:");
    let file = format!("{DATA}/contents/{}/{}", &digits[..2], &digits[2..]);
    // Another content, or another form of list, under this name is none.
    put(&world, &file, b"format 2");
    assert_eq!(store.version(files.digest()).unwrap(), None);
    assert_eq!(world.read(&file), "format 2");
}

#[test]
fn passphrase_of_a_newer_format_approves_nothing_and_is_not_replaced() {
    let world = world();
    let file = format!("{DATA}/passphrase.json");
    let text = text_fixture(&world, "passphrase.json");
    put(&world, &file, &text);
    let store = Store::open(&world.path(DATA)).unwrap();
    store.check_proofs("correct horse").unwrap();
    put(&world, &file, next(&text));
    let error = store.check_proofs("correct horse").unwrap_err().to_string();
    assert!(
        error.contains("format 3") && error.contains("passphrase.json"),
        "{error}"
    );
    let set = store.set_passphrase("another horse", Some("correct horse"), UNIX_EPOCH);
    assert!(set.unwrap_err().to_string().contains("format 3"));
    assert_eq!(world.read(&file), next(&text));
}

#[test]
fn settings_of_a_newer_version_are_refused_by_key_and_kept() {
    let world = world();
    let file = "person/.config/skillfold/config.toml";
    let text = text_fixture(&world, "config.toml");
    put(&world, file, &text);
    assert!(world.run(&["list"]).ends_with("exit 0\n"));
    let newer = format!("{text}invented_later = true\n");
    put(&world, file, &newer);
    let shown = world.run(&["list"]);
    assert!(
        shown.contains("invented_later") && shown.contains("config.toml"),
        "{shown}"
    );
    world.run(&["config", "set", "profile", "lenient"]);
    assert!(world.read(file).contains("invented_later = true"));
}

#[test]
fn conversations_of_a_newer_format_use_separate_files() {
    let world = world();
    let environment = Environment::new(world.path("app")).home(world.path("person"));
    let conversations = Conversations::of_user(&environment).unwrap();
    let text = text_fixture(&world, "conversation.json");
    put(
        &world,
        &format!("{STATE}/conversations/conversation-2-0.json"),
        &text,
    );
    let newer = next(&text).replace("claude-code", "later");
    let file = format!("{STATE}/conversations/conversation-3-0.json");
    put(&world, &file, &newer);
    let heard = conversations.last_heard();
    assert_eq!(
        heard.into_iter().collect::<Vec<_>>(),
        [("claude-code".to_owned(), 1_794_900_000)]
    );
    let now = UNIX_EPOCH + Duration::from_secs(1_794_900_000);
    let key = ConversationKey::new("s1", None);
    let given = |now: SystemTime| {
        conversations.update(&key, now, |conversation| {
            conversation.record_prompt("hello", now)
        })
    };
    assert!(given(now).unwrap());
    assert_eq!(world.read(&file), newer);
}

#[test]
fn what_a_newer_format_learned_is_kept_in_its_own_file() {
    let world = world();
    let text = text_fixture(&world, "learned.json");
    let file = |number: u32| format!("{STATE}/conversations/learned-{number}.json");
    put(&world, &file(1), &text);
    put(&world, &file(2), next(&text));
    let environment = Environment::new(world.path("app")).home(world.path("person"));
    let conversations = Conversations::of_user(&environment).unwrap();
    assert!(conversations.learned().heard("claude-code").client);
    let forgotten = conversations.forget_learned(None).unwrap();
    assert_eq!(forgotten, ["golden".to_owned()].into());
    assert_eq!(world.read(&file(2)), next(&text));
}

#[test]
fn session_of_a_newer_format_is_refused_and_kept() {
    let world = world();
    put(
        &world,
        "app/session.json",
        text_fixture(&world, "session.json"),
    );
    let command = ["prompt", "golden", "--session", "session.json"];
    assert!(world.run(&command).ends_with("exit 0\n"));
    assert!(world.read("app/session.json").contains("\"turn\":2"));
    let newer = next(&text_fixture(&world, "session.json"));
    put(&world, "app/session.json", &newer);
    let shown = world.run(&command);
    assert!(
        shown.contains("format 2") && shown.contains("session.json"),
        "{shown}"
    );
    assert_eq!(world.read("app/session.json"), newer);
}

#[test]
fn events_of_a_newer_version_are_counted_and_kept() {
    let world = world();
    let file = format!("{STATE}/hook.jsonl");
    let text = text_fixture(&world, "hook.jsonl");
    let newer = format!("{text}{{\"time_ms\":1,\"event\":\"invented later\",\"format\":2}}\n");
    put(&world, &file, &newer);
    let path = world.path(&file);
    let shown = world.run(&["stats", path.to_str().unwrap()]);
    assert!(shown.contains("3 lines read, 1 of other events"), "{shown}");
    assert_eq!(world.read(&file), newer);
}
