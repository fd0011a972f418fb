//! Changes to TOML; everything else stays.

use skillfold_setup::SetupClient;

use crate::{check, file, read, undo, world};

#[test]
fn codex_table_is_appended() {
    insta::assert_snapshot!(check(SetupClient::Codex, r#"# My model
model = "gpt-5"   # the good one

[mcp_servers.github]   # tokens are in the keyring
command = "npx"
args = [
  "-y",
  "@modelcontextprotocol/server-github", # pinned later
]

[mcp_servers.github.env]
X = "1"

[tui]
theme = 'dark'
"#), @r#"
    # My model
    model = "gpt-5"   # the good one

    [mcp_servers.github]   # tokens are in the keyring
    command = "npx"
    args = [
      "-y",
      "@modelcontextprotocol/server-github", # pinned later
    ]

    [mcp_servers.github.env]
    X = "1"

    [tui]
    theme = 'dark'

    [mcp_servers.skillfold]
    command = "/opt/bin/skillfold"
    args = ["serve"]
    "#);
    // An inline table, no table, and no final newline.
    insta::assert_snapshot!(check(SetupClient::Codex, "mcp_servers = { github = { command = \"npx\" } } # all of them\nmodel = \"x\"\n"), @r#"
    mcp_servers = { github = { command = "npx" } , skillfold = { command = "/opt/bin/skillfold", args = ["serve"] } } # all of them
    model = "x"
    "#);
    insta::assert_snapshot!(check(SetupClient::Codex, "model = \"x\""), @r#"
    model = "x"

    [mcp_servers.skillfold]
    command = "/opt/bin/skillfold"
    args = ["serve"]
    "#);
    insta::assert_snapshot!(check(SetupClient::Codex, "mcp_servers.github.command = \"npx\"\n"), @r#"
    mcp_servers.github.command = "npx"

    [mcp_servers.skillfold]
    command = "/opt/bin/skillfold"
    args = ["serve"]
    "#);
    assert_eq!(
        check(SetupClient::Codex, "a = 1\r\n[b]\r\nc = 2\r\n")
            .matches("\r\n")
            .count(),
        7
    );
}

#[test]
fn inline_table_keeps_the_files_line_endings() {
    let inline = "mcp_servers = { github = { command = \"npx\" } } # all of them";
    for text in [
        format!("a = 1\r\n{inline}\r\nb = 2\r\n"),
        format!("a = 1\r\n{inline}\nb = 2\r\n"),
        format!("a = \"\"\"x\r\ny\"\"\"\r\n{inline}"),
    ] {
        let returns = text.matches('\r').count();
        // `check` also undoes it, and compares every byte.
        let added = check(SetupClient::Codex, &text);
        assert_eq!(added.matches('\r').count(), returns, "{added:?}");
        // Also without the record of what was added.
        let world = world(SetupClient::Codex, &added);
        undo(&world, SetupClient::Codex).write().unwrap();
        let left = read(&world, file(SetupClient::Codex)).unwrap();
        assert_eq!(left.matches('\r').count(), returns, "{left:?}");
    }
}
