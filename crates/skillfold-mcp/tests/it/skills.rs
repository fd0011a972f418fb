//! Skills as resources, through the extension: only entries that a host can verify.

use std::collections::BTreeSet;

use insta::assert_json_snapshot;
use rmcp::ClientLifecycleMode;
use serde_json::{Value, json};
use skillfold::core::load::Digest;
use skillfold_mcp::{Options, Server};

use crate::client::{Client, skills};

const TREE: &str = "
    //- pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    x-own: {level: 3, on: true, list: [a, 1.5]}
    metadata:
      version: '1.10'
    ---
    Body
    //- pdf/references/a b.md
    Forms
    //- pdf/references/deep/x.txt
    X
    //- loose/SKILL.md
    ---
    name: loose
    description: Use when: it is loose
    ---
    Body
    //- Upper/SKILL.md
    ---
    name: Upper
    description: Has a name that the specification has not
    ---
    Body
    //- unnamed/SKILL.md
    ---
    description: Has no name
    ---
    Body
    //- secret/SKILL.md
    ---
    name: secret
    description: Only a person starts it
    disable-model-invocation: true
    ---
    Body
";

#[tokio::test]
async fn entry_has_raw_frontmatter_and_every_file_with_its_digest() {
    let client = Client::new(TREE).await;
    let listed = client.ask("skills/list", json!({})).await;
    assert_json_snapshot!(listed, @r#"
    {
      "cacheScope": "private",
      "resultType": "complete",
      "skills": [
        {
          "frontmatter": {
            "description": "Fills in forms",
            "metadata": {
              "version": "1.10"
            },
            "name": "pdf",
            "x-own": {
              "level": 3,
              "list": [
                "a",
                1.5
              ],
              "on": true
            }
          },
          "resources": [
            {
              "digest": "sha256:5786d8832c8b3ad8d934b70098be920e27f2bff777cc7a12fbdd1bb43da925e9",
              "size": 123,
              "uri": "skill://pdf/SKILL.md"
            },
            {
              "digest": "sha256:a640426af9e81c8e420a45bb89bf1e98598867b3a25763f53e04286ae33988c6",
              "size": 6,
              "uri": "skill://pdf/references/a%20b.md"
            },
            {
              "digest": "sha256:7058299627365fc7a3dd7840fd3d56f29306cd30c0f2c13cb500fe79617290ff",
              "size": 2,
              "uri": "skill://pdf/references/deep/x.txt"
            }
          ],
          "uri": "skill://pdf/SKILL.md"
        }
      ],
      "ttlMs": 5000
    }
    "#);
    let uri = "skill://pdf/SKILL.md";
    let got = client.ask("skills/get", json!({ "uri": uri })).await;
    assert_eq!(got["skill"], listed["skills"][0]);
    for file in listed["skills"][0]["resources"].as_array().unwrap() {
        let read = client
            .ask("resources/read", json!({ "uri": file["uri"] }))
            .await;
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert_eq!(file["size"], text.len());
        assert_eq!(file["digest"], Digest::sha256(text.as_bytes()).to_string());
    }
}

#[tokio::test]
async fn skill_over_16_mib_is_not_published_as_a_resource() {
    let large = "x".repeat(16 * 1024 * 1024);
    let tree = format!(
        "{}//- pdf/large.txt\n{large}\n",
        TREE.replace("\n    ", "\n")
    );
    let client = Client::new(&tree).await;
    let listed = client.ask("resources/list", json!({})).await;
    assert_eq!(listed["resources"], json!([]));
    for path in ["SKILL.md", "references/a%20b.md", "large.txt"] {
        let uri = format!("skill://pdf/{path}");
        let error = client
            .refused("resources/read", json!({ "uri": uri }))
            .await;
        assert_eq!(error.message, "There is no such resource", "{path}");
    }
    for uri in ["skill://pdf", "skill://pdf/references"] {
        let asked = json!({ "uri": uri });
        let error = client.refused("resources/directory/read", asked).await;
        assert_eq!(error.message, "There is no such resource", "{uri}");
    }
    // A model still gets its instructions.
    let loaded = client
        .call("load_skill", json!({ "skill_id": "pdf" }))
        .await;
    assert_eq!(loaded["isError"], false);
}

#[tokio::test]
async fn skill_other_hosts_would_read_differently_is_served_by_tools_only() {
    let client = Client::new(TREE).await;
    for name in ["loose", "Upper", "unnamed", "secret"] {
        let uri = format!("skill://{name}/SKILL.md");
        for method in ["skills/get", "resources/read"] {
            let error = client.refused(method, json!({ "uri": uri })).await;
            assert_eq!(error.code.0, -32602, "{method} {uri}");
        }
    }
    let loaded = client
        .call("load_skill", json!({ "skill_id": "loose" }))
        .await;
    assert_eq!(loaded["isError"], false);
}

#[tokio::test]
async fn folder_resource_lists_its_direct_children() {
    let client = Client::new(TREE).await;
    let children = async |uri: &str| {
        let params = json!({ "uri": uri });
        client.ask("resources/directory/read", params).await
    };
    assert_json_snapshot!(children("skill://pdf").await, @r#"
    {
      "resources": [
        {
          "mimeType": "text/markdown",
          "name": "SKILL.md",
          "size": 123,
          "uri": "skill://pdf/SKILL.md"
        },
        {
          "mimeType": "inode/directory",
          "name": "references",
          "uri": "skill://pdf/references"
        }
      ],
      "resultType": "complete"
    }
    "#);
    assert_json_snapshot!(children("skill://pdf/references").await["resources"], @r#"
    [
      {
        "mimeType": "text/markdown",
        "name": "a b.md",
        "size": 6,
        "uri": "skill://pdf/references/a%20b.md"
      },
      {
        "mimeType": "inode/directory",
        "name": "deep",
        "uri": "skill://pdf/references/deep"
      }
    ]
    "#);
    for uri in [
        "skill://pdf/SKILL.md",
        "skill://pdf/nothing",
        "skill://pdf/",
        "skill://secret",
        "skill://",
        "file:///etc",
    ] {
        let error = client
            .refused("resources/directory/read", json!({ "uri": uri }))
            .await;
        assert_eq!(error.code.0, -32602, "{uri}");
    }
}

#[tokio::test]
async fn version_control_files_are_not_published() {
    let tree = "
        //- pdf/SKILL.md
        ---
        name: pdf
        description: Is a checkout
        ---
        Body
        //- pdf/.git/config
        url = https://user:password@example.com
        //- pdf/.gitignore
        x
    ";
    let client = Client::new(tree).await;
    let asked = json!({ "uri": "skill://pdf/SKILL.md" });
    let skill = client.ask("skills/get", asked).await;
    let asked = json!({ "uri": "skill://pdf" });
    let folder = client.ask("resources/directory/read", asked).await;
    for found in [&skill["skill"]["resources"], &folder["resources"]] {
        let uris = found.as_array().unwrap().iter();
        let uris: Vec<_> = uris.map(|file| file["uri"].as_str().unwrap()).collect();
        assert_eq!(uris.len(), 2, "{uris:?}");
        assert!(uris.contains(&"skill://pdf/.gitignore"), "{uris:?}");
    }
    for (method, uri) in [
        ("resources/read", "skill://pdf/.git/config"),
        ("resources/directory/read", "skill://pdf/.git"),
    ] {
        let error = client.refused(method, json!({ "uri": uri })).await;
        assert_eq!(error.code.0, -32602, "{uri}");
    }
}

#[tokio::test]
async fn older_protocol_versions_get_no_unknown_fields() {
    let server = Server::new(skills(TREE, &[]), Options::default());
    let client = Client::connect(server, ClientLifecycleMode::Initialize).await;
    let listed = client.ask("skills/list", json!({})).await;
    let words: Vec<_> = listed.as_object().unwrap().keys().collect();
    assert_eq!(words, ["skills"]);
    let unknown = json!({ "uri": "skill://nothing/SKILL.md" });
    assert_eq!(client.refused("skills/get", unknown).await.code.0, -32602);
}

#[tokio::test]
async fn pages_have_fifty_skills_and_every_skill_once() {
    let skill = |number| {
        format!("//- s{number:03}/SKILL.md\n---\nname: s{number:03}\ndescription: D\n---\nB\n")
    };
    let client = Client::new(&(0..101).map(skill).collect::<String>()).await;
    for (method, items) in [("skills/list", "skills"), ("resources/list", "resources")] {
        let (mut uris, mut sizes, mut params) = (BTreeSet::new(), Vec::new(), json!({}));
        loop {
            let page = client.ask(method, params).await;
            let found = page[items].as_array().unwrap();
            sizes.push(found.len());
            uris.extend(found.iter().map(|item| item["uri"].to_string()));
            match &page["nextCursor"] {
                Value::String(next) => params = json!({ "cursor": next }),
                _ => break,
            }
        }
        assert_eq!((sizes, uris.len()), (vec![50, 50, 1], 101), "{method}");
    }
    for cursor in [json!(""), json!(7), json!("x".repeat(5_000))] {
        let error = client
            .refused("skills/list", json!({ "cursor": cursor }))
            .await;
        assert_eq!(error.code.0, -32602);
    }
}
