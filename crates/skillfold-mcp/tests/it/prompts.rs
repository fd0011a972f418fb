//! Prompts: what a user may start.

use insta::assert_json_snapshot;
use serde_json::json;
use skillfold_mcp::{Options, Server};

use crate::client::{Client, skills};

const TREE: &str = "
    //- release/SKILL.md
    ---
    name: release
    description: Makes a release
    disable-model-invocation: true
    argument-hint: '[version]'
    ---
    Release $ARGUMENTS.
    //- background/SKILL.md
    ---
    name: background
    description: Only for models
    user-invocable: false
    ---
    Know this.
    //- compare/SKILL.md
    ---
    name: compare
    description: Compares two files
    arguments: [left, right]
    ---
    Compare '$left' with '$right'.
";

#[tokio::test]
async fn each_user_invocable_skill_is_a_prompt() {
    let client = Client::new(TREE).await;
    let prompts = client.ask("prompts/list", json!({})).await;
    assert_json_snapshot!(prompts["prompts"], @r#"
    [
      {
        "arguments": [
          {
            "description": "What the skill is to work on",
            "name": "arguments",
            "required": false
          }
        ],
        "description": "Compares two files",
        "name": "compare"
      },
      {
        "arguments": [
          {
            "description": "[version]",
            "name": "arguments",
            "required": false
          }
        ],
        "description": "Makes a release",
        "name": "release"
      }
    ]
    "#);
    let got = client
        .ask(
            "prompts/get",
            json!({ "name": "release", "arguments": { "arguments": "1.2" } }),
        )
        .await;
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Release 1.2."), "{text}");
}

#[tokio::test]
async fn prompt_has_the_arguments_that_the_skill_names() {
    let skills = skills(TREE, &[("arguments", "claude-code")]);
    let client = Client::of(Server::new(skills, Options::default())).await;
    let prompts = client.ask("prompts/list", json!({})).await;
    assert_json_snapshot!(prompts["prompts"][0]["arguments"], @r#"
    [
      {
        "name": "left",
        "required": false
      },
      {
        "name": "right",
        "required": false
      }
    ]
    "#);
    for (arguments, wanted) in [
        (
            json!({ "left": "a b", "right": "c\"\\d" }),
            "Compare 'a b' with 'c\"\\d'.",
        ),
        (json!({ "right": "x" }), "Compare '' with 'x'."),
        (json!({ "arguments": "x y" }), "Compare 'x' with 'y'."),
    ] {
        let params = json!({ "name": "compare", "arguments": arguments });
        let got = client.ask("prompts/get", params).await;
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains(wanted), "{text}");
    }
}

#[tokio::test]
async fn unknown_prompt_suggests_the_nearest() {
    let client = Client::new(TREE).await;
    let error = client
        .refused("prompts/get", json!({ "name": "relaese" }))
        .await;
    assert_eq!(error.code.0, -32602);
    assert_eq!(error.data.unwrap()["nearest"][0], "release");
    for params in [
        json!({ "name": "background" }),
        json!({ "name": "release", "arguments": { "arguments": 1 } }),
    ] {
        assert_eq!(client.refused("prompts/get", params).await.code.0, -32602);
    }
}

#[tokio::test]
async fn prompt_suggestions_contain_only_listed_prompts() {
    let skills = skills(TREE, &[("disable", "compare")]);
    let client = Client::of(Server::new(skills, Options::default())).await;
    for (asked, nearest) in [
        ("relaese", json!(["release"])),
        ("backgruond", json!([])),
        ("background", json!([])),
        ("comparre", json!([])),
    ] {
        let error = client
            .refused("prompts/get", json!({ "name": asked }))
            .await;
        let named = error.data.unwrap().get("nearest").cloned();
        assert_eq!(named.unwrap_or(json!([])), nearest, "{asked}");
    }
}
