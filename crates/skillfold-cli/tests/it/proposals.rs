//! `skillfold propose`, `audit`, `history` and `rollback`

use skillfold::store::{Approval, Author};
use skillfold::{Environment, Host, Skills};

use crate::command::{World, skill};

fn world() -> World {
    let world = World::new("//- app/README.md\n");
    let text = skill("mail", "Writes mail. Use when a mail is due.");
    world.write(&format!(
        "\n//- person/.agents/skills/mail/SKILL.md\n{text}"
    ));
    world.write(&format!(
        "\n//- app/draft/SKILL.md\n{text}Sign it.\n//- app/draft/references/tone.md\nBe kind.\n"
    ));
    world
}

fn skills(world: &World) -> Skills {
    let environment = Environment::new(world.path("app"))
        .home(world.path("person"))
        .variable("USER", "anna");
    Host::new(environment).discover().unwrap().skills
}

/// Approves everything that waits.
fn approve(world: &World) {
    let store = skills(world).store().unwrap();
    for waiting in store.proposals().unwrap().waiting {
        let proposal = waiting.proposal;
        let approval = Approval::by_host("reviewer");
        let now = skills(world).now();
        store
            .approve(proposal.digest, proposal.base, &approval, now)
            .unwrap();
    }
}

/// Replaces times and digests, which differ from run to run.
fn steady(shown: &str) -> String {
    let mut text = String::new();
    for word in shown.split_inclusive([' ', '\n']) {
        let bare = word.trim_end();
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_digest = bare.len() == 12 && is_hex(bare);
        let is_time = bare.len() == 20 && bare.starts_with("20") && bare.ends_with('Z');
        match bare.split_once("-20") {
            Some((name, time)) if time.contains('T') && !is_time => {
                let end = time.split_once('Z').map_or("", |(_, end)| end);
                text.extend([name, "-TIME", end]);
            }
            _ if is_digest => text.push_str("DIGEST"),
            _ if is_time => text.push_str("TIME"),
            _ => text.push_str(bare),
        }
        text.push_str(&word[bare.len()..]);
    }
    text
}

#[test]
fn proposing_a_folder_or_file_changes_nothing() {
    let world = world();
    let before = world.read("person/.agents/skills/mail/SKILL.md");
    insta::assert_snapshot!(steady(&world.run(&["propose", "mail", "draft", "--reason", "people expect it"])), @"
    mail-TIME
      Tokens of the description: 10 as before
      Tokens of the instructions: 4 before, 7 after
      Suggested version bump: minor (`references/tone.md` is new)
    ! Proposed: nothing changes until it is approved; `skillfold review` shows it
    exit 0
    ");
    let again = world.run(&["propose", "mail", "draft", "--reason", "again"]);
    assert!(again.contains("! Already pending"), "{again}");
    let file = world.run(&["propose", "mail", "draft/SKILL.md", "--reason", "short"]);
    assert!(file.contains("! Proposed"), "{file}");
    let listed = world.data(&["proposals", "--json"]);
    assert_eq!(
        listed.matches("\"skill_id\": \"mail\"").count(),
        2,
        "{listed}"
    );
    assert_eq!(world.read("person/.agents/skills/mail/SKILL.md"), before);
}

#[test]
fn invalid_skill_or_empty_change_is_not_proposed() {
    let world = world();
    let mut shown = String::new();
    let cases = [
        ["mail", "nowhere"],
        ["mail", "draft/references"],
        ["mail", "../person/.agents/skills/mail"],
        ["post", "draft"],
    ];
    for [id, from] in cases {
        shown += &world.run(&["propose", id, from, "--reason", "why"]);
    }
    insta::assert_snapshot!(shown, @"
    ! error: Could not find `nowhere`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ! error: Invalid `draft/references`: It has no `SKILL.md`
    ! hint: Correct it and try again
    exit 2
    ! error: `mail` would not change
    ! hint: Change a copy of the skill, and propose the copy
    exit 2
    ! error: Invalid `post`: Name `mail` differs from the folder's name `post`
    ! hint: Correct it and try again
    exit 2
    ");
    assert!(world.run(&["proposals"]).contains("No pending proposals"));
}

#[test]
fn new_skill_is_proposed_from_a_folder() {
    let world = world();
    let text = skill("post", "Posts letters. Use when a letter is ready.");
    world.write(&format!("\n//- app/post/SKILL.md\n{text}"));
    let shown = world.run(&["propose", "post", "post", "--reason", "asked for"]);
    assert!(shown.contains("! Proposed"), "{shown}");
    assert!(!world.run(&["list"]).contains("post"));
    approve(&world);
    assert_eq!(world.read("person/.agents/skills/post/SKILL.md"), text);
}

#[test]
fn log_and_history_are_human_readable() {
    let world = world();
    world.run(&["trust", "--yes"]);
    world.run(&["propose", "mail", "draft", "--reason", "people expect it"]);
    approve(&world);
    world.run(&[
        "propose",
        "mail",
        "draft/references/tone.md",
        "--reason",
        "x",
    ]);
    insta::assert_snapshot!(steady(&world.run(&["audit"])), @r#"
    1  TIME  trusted ROOT/app
    3  TIME  "user" proposed mail-TIME
    4  TIME  "reviewer" (host) approved mail-TIME: mail is now DIGEST
    ! 5 records; `--json` prints them in full
    exit 0
    "#);
    insta::assert_snapshot!(steady(&world.run(&["history", "mail"])), @"
    DIGEST  TIME  approved by reviewer (host): people expect it
    DIGEST  TIME  found
    ! 2 versions, the newest first; `skillfold diff` compares them, `skillfold rollback` restores one
    exit 0
    ");
    let json = world.data(&["audit", "--json"]);
    assert!(json.contains("\"event\": \"started\""), "{json}");
    // Without a terminal it is refused, after the version was found.
    let shown = world.run(&["rollback", "mail", "previous"]);
    assert!(
        shown.contains("-Sign it.") && shown.contains("terminal"),
        "{shown}"
    );
    let shown = world.run(&["diff", "mail", "previous"]);
    assert!(
        shown.contains("+Sign it.") && shown.ends_with("exit 0\n"),
        "{shown}"
    );
}

#[test]
fn author_name_that_reads_like_a_sentence_is_quoted_in_the_log() {
    let world = world();
    let author = Author::named("anna (terminal) approved mail-1\"; x");
    let draft = world.path("app/draft");
    let proposed = skills(&world).propose_from("mail", &draft, "because", None, author);
    proposed.unwrap();
    insta::assert_snapshot!(steady(&world.run(&["audit"])), @r#"
    1  TIME  "anna (terminal) approved mail-1'; x" proposed mail-TIME
    ! 1 record; `--json` prints them in full
    exit 0
    "#);
}

#[test]
fn damaged_log_is_reported_wherever_it_is_shown() {
    let world = world();
    world.run(&["trust", "--yes"]);
    let file = "person/.local/share/skillfold/audit.jsonl";
    let log = world.read(file);
    let (first, last) = log.split_once('\n').unwrap();
    world.write(&format!(
        "//- {file}\n{first}\n{}",
        last.replace("done", "gone")
    ));
    insta::assert_snapshot!(steady(&world.run(&["audit"])), @"
    1  TIME  trusted ROOT/app (not finished)
    ! 1 record; `--json` prints them in full
    ! The log is damaged in line 2: the line or one before it was changed or removed; intact before it: 1 record
    exit 5
    ");
    assert!(world.run(&["audit", "--json"]).ends_with("exit 5\n"));
}
