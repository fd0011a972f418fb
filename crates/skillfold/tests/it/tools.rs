//! The tools of a conversation: what their definitions say, what they answer, and what they never give.

use std::fmt::Write as _;
use std::time::Duration;

use crate::world::value;
use insta::assert_snapshot;
use serde_json::{Value, json};
use skillfold::core::bind::Visibility;
use skillfold::core::disclose::TokenCounter;
use skillfold::core::{Agent, ContextLifetime, FsSource, MemorySource, Policy, Root, Scope};
use skillfold::{Block, Environment, Host, Session, Skills, ToolAnswer};
use skillfold_testkit::{files, folder, write};

const TREE: &str = "
    //- pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms. Use when a form has to be filled in.
    tags: [office]
    ---
    Fill in $ARGUMENTS by `references/forms.md`.
    //- pdf/references/forms.md
    Forms
    //- mail/SKILL.md
    ---
    name: mail
    description: Writes letters
    ---
    Write.
    //- deploy/SKILL.md
    ---
    name: deploy
    description: Only a person starts it
    disable-model-invocation: true
    ---
    Start.
";

fn skills(tree: &str) -> Skills {
    let source = MemorySource::new(files(tree));
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    host.discover().unwrap().skills
}

fn session(tree: &str) -> Session {
    skills(tree).session(Policy::default(), ContextLifetime::History)
}

fn on_disk(root: &std::path::Path) -> Skills {
    let source = FsSource::open(root).unwrap();
    let host = Host::new(Environment::new("/nowhere"));
    let host = host.root(Root::new(Scope::User, "mine", source));
    host.discover().unwrap().skills
}

/// Returns skills with the names `skill-000`, `skill-001` and so on.
fn many(count: usize) -> String {
    let skill = |number| {
        format!(
            "//- skill-{number:03}/SKILL.md\n---\nname: skill-{number:03}\ndescription: Number {number}\n---\nBody\n"
        )
    };
    (0..count).map(skill).collect()
}

#[test]
fn tool_definitions_are_the_same_for_any_skills() {
    let definitions = session(TREE).tools();
    assert_eq!(definitions, session(&many(60)).tools());
    let lines: Vec<_> = definitions
        .iter()
        .map(|tool| {
            format!(
                "{}: {}\n  {}",
                tool.name, tool.description, tool.input_schema
            )
        })
        .collect();
    assert_snapshot!(lines.join("\n"));
    let counter = skillfold::core::disclose::TokenEstimate;
    let tokens: u64 = lines.iter().map(|line| counter.count(line)).sum();
    assert!(tokens <= 420, "{tokens}");
}

#[test]
fn without_skills_there_are_no_tools() {
    assert_eq!(session("").tools(), []);
    let people_only = "
        //- deploy/SKILL.md
        ---
        name: deploy
        description: D
        disable-model-invocation: true
        ---
    ";
    assert_eq!(session(people_only).tools(), []);
}

#[test]
fn load_skill_takes_one_id_and_returns_the_whole_skill() {
    let mut session = session(TREE);
    let load = session
        .tools()
        .into_iter()
        .find(|tool| tool.name == "load_skill");
    let schema = serde_json::to_value(load.unwrap().input_schema).unwrap();
    assert_eq!(schema["required"], json!(["skill_id"]));
    let answer = session.call(
        "load_skill",
        &json!({ "skill_id": "pdf", "arguments": "tax.pdf" }).to_string(),
    );
    assert!(!answer.is_error());
    assert_snapshot!(answer.text());
    assert_eq!(session.state().tokens_spent(), answer.loaded_tokens());
}

#[test]
fn answer_is_text_with_structured_content_on_request() {
    let mut session = session(TREE);
    let answer = session.call("load_skill", &json!({ "skill_id": "pdf" }).to_string());
    let [Block::Text(text)] = &*answer.content else {
        panic!("{answer:?}");
    };
    let loaded = value(&answer);
    assert_eq!(
        (&loaded["id"], &loaded["text"]),
        (&json!("pdf"), &json!(text))
    );
    let file = session.call(
        "read_skill_resource",
        &json!({ "skill_id": "pdf", "path": "references/forms.md" }).to_string(),
    );
    assert_eq!(file.text(), "Forms\n");
    assert_eq!(value(&file)["text"], "Forms\n");
}

#[test]
fn search_returns_at_most_five_skills_with_confidence() {
    let mut session = session(&many(60));
    let found = session.call(
        "search_skills",
        &json!({ "query": "skill-007" }).to_string(),
    );
    assert_snapshot!(found.text().lines().next().unwrap(), @"- skill-007 (strong): Number 7");
    assert!(found.text().lines().count() <= 5, "{}", found.text());
    let nothing = session.call(
        "search_skills",
        &json!({ "query": "zebra stripes" }).to_string(),
    );
    assert_snapshot!(nothing.text(), @"No skill fits. Go on without one, or search in other words.");
}

#[test]
fn list_can_be_paged_and_filtered_by_words() {
    let mut session = session(&many(120));
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    for _ in 0..3 {
        let page = value(&session.call("list_skills", &json!({ "cursor": cursor }).to_string()));
        assert_eq!(page["total"], 120);
        let ids = page["skills"].as_array().unwrap().iter();
        seen.extend(ids.map(|skill| skill["id"].as_str().unwrap().to_owned()));
        cursor = page["next"].clone();
    }
    assert_eq!((seen.len(), cursor), (120, Value::Null));
    seen.dedup();
    assert_eq!(seen.len(), 120);
    let mut session = self::session(TREE);
    let by_tag = session.call("list_skills", &json!({ "query": "office" }).to_string());
    assert_snapshot!(by_tag.text(), @"- pdf: Fills in forms. Use when a form has to be filled in.");
}

#[test]
fn every_invalid_call_gets_an_actionable_answer() {
    let mut session = session(TREE);
    let mut said = String::new();
    for (tool, arguments) in [
        ("load_skill", json!({ "skill_id": "pfd" })),
        ("load_skill", json!({ "skill_id": "deploy" })),
        ("load_skill", json!({})),
        ("load_skill", json!({ "skill_id": 7 })),
        ("load_skill", json!("pdf")),
        (
            "read_skill_resource",
            json!({ "skill_id": "pdf", "path": "../mail/SKILL.md" }),
        ),
        (
            "read_skill_resource",
            json!({ "skill_id": "pdf", "path": "nothing.md" }),
        ),
        (
            "read_skill_resource",
            json!({ "skill_id": "deploy", "path": "SKILL.md" }),
        ),
        ("pdf", json!({})),
    ] {
        let answer = session.call(tool, &arguments.to_string());
        assert!(answer.is_error(), "{tool} {arguments}");
        let kind = value(&answer)["error"].clone();
        let text = answer.text();
        let _ = writeln!(said, "{tool} {arguments}: {kind}\n{text}\n");
    }
    assert_snapshot!(said);
    assert_eq!(session.state().tokens_spent(), 0);
}

#[test]
fn path_that_leaves_the_skill_is_refused_as_traversal() {
    let mut session = session(TREE);
    let mut read = |path: &str| {
        session.call(
            "read_skill_resource",
            &json!({ "skill_id": "pdf", "path": path }).to_string(),
        )
    };
    for path in ["../mail/SKILL.md", "references/../../mail/SKILL.md"] {
        let answer = read(path);
        assert!(
            answer.text().contains("Path traversal detected"),
            "{}",
            answer.text()
        );
        assert_eq!(value(&answer)["refusal"], "traversal", "{path}");
    }
    for path in ["/etc/passwd", "..\\mail", "references//forms.md", "."] {
        assert!(read(path).is_error(), "{path}");
    }
}

#[test]
fn child_conversation_cannot_reach_other_skills_with_any_tool() {
    let parent = session(TREE);
    let mut child = parent.child(["mail"]).unwrap();
    for (tool, arguments) in [
        ("load_skill", json!({ "skill_id": "pdf" })),
        ("read_skill", json!({ "skill_id": "pdf" })),
        (
            "read_skill_resource",
            json!({ "skill_id": "pdf", "path": "references/forms.md" }),
        ),
        ("search_skills", json!({ "query": "fill in forms" })),
        ("list_skills", json!({})),
        ("list_skills", json!({ "query": "office" })),
    ] {
        // The parent's answer is cached, and must not be given to the child.
        let asked = arguments.to_string().parse().unwrap();
        let _ = parent.answer(parent.tool(tool).unwrap(), asked);
        let answer = child.call(tool, &arguments.to_string());
        let said = format!("{} {}", answer.text(), value(&answer));
        let asked = arguments["skill_id"] == "pdf";
        let is_clean = !said.contains("form") && (asked || !said.contains("pdf"));
        assert!(is_clean, "{tool} {arguments}: {said}");
    }
    assert!(
        !child
            .call("load_skill", &json!({ "skill_id": "mail" }).to_string())
            .is_error()
    );
}

#[test]
fn agent_reaches_only_what_it_sees() {
    let skills = skills(TREE);
    let clerk = Agent::new("clerk")
        .with_skills(["mail"])
        .with_visibility(Visibility::Used);
    let mut session = skills
        .bind(clerk)
        .session(Policy::default(), ContextLifetime::History);
    assert!(
        session
            .call("load_skill", &json!({ "skill_id": "pdf" }).to_string())
            .is_error()
    );
    let listed = session.call("list_skills", &json!({}).to_string());
    assert_eq!(listed.text(), "- mail: Writes letters\n");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the files are not text")]
fn images_are_returned_inline_and_other_binaries_by_path() {
    let own = folder(TREE);
    let png = b"\x89PNG\r\n\x1a\nrest".to_vec();
    let large: Vec<u8> = png
        .iter()
        .copied()
        .chain(std::iter::repeat_n(0, 1_000_000))
        .collect();
    let huge: Vec<u8> = png
        .iter()
        .copied()
        .chain(std::iter::repeat_n(0, 4_000_000))
        .collect();
    std::fs::create_dir_all(own.path().join("pdf/assets")).unwrap();
    for (name, bytes) in [
        ("logo.png", &png),
        ("photo.dat", &large),
        ("huge.png", &huge),
        ("not.png", &vec![0, 1, 2]),
    ] {
        std::fs::write(own.path().join("pdf/assets").join(name), bytes).unwrap();
    }
    let mut session = on_disk(own.path()).session(Policy::default(), ContextLifetime::History);
    let mut read = |name: &str| {
        let path = format!("assets/{name}");
        session.call(
            "read_skill_resource",
            &json!({ "skill_id": "pdf", "path": path }).to_string(),
        )
    };
    for name in ["logo.png", "photo.dat"] {
        let answer = read(name);
        let is_png = matches!(
            &*answer.content,
            [Block::Image {
                media_type: "image/png",
                ..
            }]
        );
        assert!(is_png, "{name}: {answer:?}");
        assert!(
            value(&answer)["base64"]
                .as_str()
                .unwrap()
                .starts_with("iVBORw0KGgp")
        );
    }
    let path = own.path().join("pdf/assets").display().to_string();
    for (name, bytes) in [("huge.png", 4_000_012), ("not.png", 3)] {
        let said = read(name).text().replace(&path, "FOLDER");
        assert_eq!(
            said,
            format!(
                "`assets/{name}` is not text: image/png, {bytes} bytes. Its path is `FOLDER/{name}`."
            )
        );
    }
}

#[test]
fn binaries_of_a_skill_without_a_folder_are_returned_as_a_resource() {
    let source = MemorySource::new([
        (
            "pdf/SKILL.md".to_owned(),
            b"---\nname: pdf\ndescription: D\n---\n".to_vec(),
        ),
        ("pdf/form.pdf".to_owned(), vec![0xff, 0, 0xfe]),
    ]);
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    let mut session = host
        .discover()
        .unwrap()
        .skills
        .session(Policy::default(), ContextLifetime::History);
    let answer = session.call(
        "read_skill_resource",
        &json!({ "skill_id": "pdf", "path": "form.pdf" }).to_string(),
    );
    let [
        Block::Resource {
            uri,
            media_type,
            base64,
        },
        Block::Text(_),
    ] = &*answer.content
    else {
        panic!("{answer:?}");
    };
    assert_eq!(
        (&**uri, *media_type, &**base64),
        ("skill://pdf/form.pdf", "application/pdf", "/wD+")
    );
}

#[test]
fn long_file_is_read_in_parts() {
    let long = "0123456789abcdé\n".repeat(20_000);
    let tree =
        format!("//- pdf/SKILL.md\n---\nname: pdf\ndescription: D\n---\n//- pdf/long.txt\n{long}");
    let mut session = session(&tree);
    let (mut whole, mut start) = (String::new(), 0);
    loop {
        let asked = json!({ "skill_id": "pdf", "path": "long.txt", "start": start });
        let answer = session.call("read_skill_resource", &asked.to_string());
        let Block::Text(part) = &answer.content[0] else {
            panic!("{answer:?}");
        };
        whole.push_str(part);
        match value(&answer)["next"].as_u64() {
            Some(next) => {
                let Block::Text(rest) = &answer.content[1] else {
                    panic!("{answer:?}");
                };
                assert!(
                    rest.ends_with(&format!("read on with `start` {next}]")),
                    "{rest}"
                );
                start = next;
            }
            None => break,
        }
    }
    assert!(whole == long, "{} of {}", whole.len(), long.len());
}

fn load(session: &mut Session) -> std::sync::Arc<ToolAnswer> {
    session.call("load_skill", &json!({ "skill_id": "pdf" }).to_string())
}

#[test]
fn cached_answer_is_never_used_for_a_changed_file() {
    let own = folder(TREE);
    let skills = on_disk(own.path());
    // Until then a change cannot be told by the revision of the file, and nothing is cached.
    std::thread::sleep(Duration::from_millis(2_100));
    skills.refresh().unwrap();
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    let first = load(&mut session);
    assert!(
        std::sync::Arc::ptr_eq(&first, &load(&mut session)),
        "it is cached"
    );

    // Of the same size.
    write(own.path(), &files(&TREE.replace("Fill in", "Fold in")));
    assert!(load(&mut session).text().contains("Fold in"));
    write(own.path(), &files(TREE));
    assert!(load(&mut session).text().contains("Fill in"));

    std::thread::sleep(Duration::from_millis(2_100));
    skills.refresh().unwrap();
    load(&mut session);
    load(&mut session);
    let more = [("pdf/references/more.md".to_owned(), "x".to_owned())];
    write(own.path(), &more);
    assert!(load(&mut session).text().contains("references/more.md"));
    std::fs::remove_file(own.path().join("pdf/references/more.md")).unwrap();
    assert!(!load(&mut session).text().contains("references/more.md"));
    std::fs::remove_file(own.path().join("pdf/SKILL.md")).unwrap();
    assert!(load(&mut session).is_error());
}

#[test]
fn cached_answer_is_invalidated_by_a_refresh() {
    let own = folder(TREE);
    let skills = on_disk(own.path());
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    let mut total = || value(&session.call("list_skills", ""))["total"].clone();
    assert_eq!((total(), total()), (json!(2), json!(2)));
    write(own.path(), &files(&TREE.replace("pdf", "doc")));
    skills.refresh().unwrap();
    assert_eq!(total(), 3);
}

#[test]
fn cached_skill_is_counted_with_each_conversations_token_counter() {
    #[derive(Debug)]
    struct Each;
    impl TokenCounter for Each {
        fn name(&self) -> &'static str {
            "bytes"
        }

        fn count(&self, text: &str) -> u64 {
            text.len() as u64
        }
    }
    let skills = skills(TREE);
    let mut first = skills.session(Policy::default(), ContextLifetime::History);
    load(&mut first);
    let policy = Policy::default().with_counter(std::sync::Arc::new(Each));
    let mut second = skills.session(policy, ContextLifetime::History);
    load(&mut second);
    let bytes = skills.load("pdf", "").unwrap().text().len() as u64;
    assert_eq!(second.state().tokens_spent(), bytes);
    assert_ne!(first.state().tokens_spent(), bytes);
}

#[test]
fn non_json_arguments_get_an_error_answer() {
    let skills = skills(TREE);
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    for text in ["{", "NaN", "\u{feff}", r#"{"skill_id": "\ud800"}"#] {
        let answer = session.call("load_skill", text);
        assert!(answer.is_error(), "{text}");
        let said = answer.text();
        assert!(
            said.starts_with("The arguments are not valid JSON"),
            "{said}"
        );
    }
    assert!(!session.call("list_skills", " ").is_error());
    let loaded = session.call("load_skill", r#"{"skill_id": "pdf"}"#);
    assert_eq!(loaded.loaded_id(), Some("pdf"));
}
