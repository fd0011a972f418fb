//! Changes to JSON; everything else stays.

use skillfold_setup::SetupClient;

use crate::{CLAUDE, add, check, world, write};

#[test]
fn claude_code_server_is_added_to_existing_ones() {
    insta::assert_snapshot!(check(SetupClient::ClaudeCode, CLAUDE), @r#"
    {
      "numStartups": 42,
      "tipsHistory": { "shift-enter": 3 },
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        },
        "github": {
          "type": "stdio",
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-github"],
          "env": { "GITHUB_TOKEN": "ghp_secret" }
        }
      },
      "projects": { "/home/user/app": { "mcpServers": {} } }
    }
    "#);
}

#[test]
fn cursor_server_is_added_to_any_file_layout() {
    insta::assert_snapshot!(check(SetupClient::Cursor, "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"url\": \"https://x\"}\n\t}\n}"), @r#"
    {
    	"mcpServers": {
    		"skillfold": {
    			"type": "stdio",
    			"command": "/opt/bin/skillfold",
    			"args": ["serve"]
    		},
    		"a": {"url": "https://x"}
    	}
    }
    "#);
    insta::assert_snapshot!(check(SetupClient::Cursor, "{\"mcpServers\": {\"a\": {\"url\": \"https://x\"}}}"), @r#"{"mcpServers": {"skillfold": {"type": "stdio", "command": "/opt/bin/skillfold", "args": ["serve"]}, "a": {"url": "https://x"}}}"#);
    insta::assert_snapshot!(check(SetupClient::Cursor, "{\n  \"mcpServers\": {}\n}\n"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(check(SetupClient::Cursor, "{\n  \"mcpServers\": {\n  }\n}\n"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(check(SetupClient::Cursor, "{}"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(check(SetupClient::Cursor, ""), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "type": "stdio",
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      }
    }
    "#);
    assert_eq!(
        check(
            SetupClient::Cursor,
            "\u{feff}{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n"
        )
        .matches('\n')
        .count(),
        10
    );
}

#[test]
fn claude_desktop_windsurf_and_zed_servers_use_their_own_format() {
    insta::assert_snapshot!(check(SetupClient::ClaudeDesktop, "{\n  \"globalShortcut\": \"Ctrl+Space\"\n}\n"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      },
      "globalShortcut": "Ctrl+Space"
    }
    "#);
    insta::assert_snapshot!(check(SetupClient::Windsurf, "{\n  \"mcpServers\": {\n    \"docs\": { \"serverUrl\": \"https://x\" }\n  }\n}\n"), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        },
        "docs": { "serverUrl": "https://x" }
      }
    }
    "#);
    insta::assert_snapshot!(check(SetupClient::Zed, "// Zed settings\n{\n  \"theme\": \"One Dark\", // at night\n  \"context_servers\": {\n    \"docs\": { \"url\": \"https://x\" },\n  },\n}\n"), @r#"
    // Zed settings
    {
      "theme": "One Dark", // at night
      "context_servers": {
        "skillfold": {
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        },
        "docs": { "url": "https://x" },
      },
    }
    "#);
}

#[test]
fn vscode_keeps_its_comments_and_inputs() {
    insta::assert_snapshot!(check(SetupClient::VsCode, r#"// Servers for all my projects
{
    "servers": { // keep these sorted
        /* remote */
        "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" }, // fine
        "zip": {
            "command": "zip-mcp", // "skillfold": not this one
        },
    },
    "inputs": [
        { "type": "promptString", "id": "key", "password": true },
    ],
}
"#), @r#"
    // Servers for all my projects
    {
        "servers": { // keep these sorted
            "skillfold": {
                "type": "stdio",
                "command": "/opt/bin/skillfold",
                "args": ["serve"]
            },
            /* remote */
            "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" }, // fine
            "zip": {
                "command": "zip-mcp", // "skillfold": not this one
            },
        },
        "inputs": [
            { "type": "promptString", "id": "key", "password": true },
        ],
    }
    "#);
    check(SetupClient::VsCode, "{\n  /*/ none yet */\n}\n");
    check(SetupClient::VsCode, "{ \"servers\": {} // old\r}\n");
    check(
        SetupClient::VsCode,
        "{\n\n  \"servers\": {\n\n    \"a\": {}\n\n  }\n}\n",
    );
}

#[test]
fn opencode_gets_a_local_server_in_either_format() {
    insta::assert_snapshot!(check(SetupClient::OpenCode, r#"{
  "$schema": "https://opencode.ai/config.json",
  // models
  "model": "anthropic/claude",
  "mcp": {
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },
  },
}
"#), @r#"
    {
      "$schema": "https://opencode.ai/config.json",
      // models
      "model": "anthropic/claude",
      "mcp": {
        "skillfold": {
          "type": "local",
          "command": ["/opt/bin/skillfold", "serve"]
        },
        "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },
      },
    }
    "#);
    insta::assert_snapshot!(check(SetupClient::OpenCode, r#"{
  "mcp": {
    "timeout": 5000,
    "servers": {
      "a": { "type": "local", "command": ["a"] }
    }
  }
}
"#), @r#"
    {
      "mcp": {
        "timeout": 5000,
        "servers": {
          "skillfold": {
            "type": "local",
            "command": ["/opt/bin/skillfold", "serve"]
          },
          "a": { "type": "local", "command": ["a"] }
        }
      }
    }
    "#);
    // A server named `servers` is a server.
    insta::assert_snapshot!(check(SetupClient::OpenCode, "{\n  \"mcp\": {\n    \"servers\": { \"type\": \"local\", \"command\": [\"x\"] }\n  }\n}\n"), @r#"
    {
      "mcp": {
        "skillfold": {
          "type": "local",
          "command": ["/opt/bin/skillfold", "serve"]
        },
        "servers": { "type": "local", "command": ["x"] }
      }
    }
    "#);
}

#[test]
fn opencode_jsonc_file_is_preferred_if_present() {
    let world = world(SetupClient::OpenCode, "{}\n");
    write(
        &world,
        "person/.config/opencode/opencode.jsonc",
        "{ // mine\n}\n",
    );
    let plan = add(&world, SetupClient::OpenCode);
    assert!(plan.file().ends_with("opencode.jsonc"), "{:?}", plan.file());
}

#[test]
fn gemini_servers_section_is_created_if_missing() {
    insta::assert_snapshot!(check(SetupClient::Gemini, r#"{
  "ui": { "theme": "Default" },
  "security": { "auth": { "selectedType": "oauth-personal" } } // by Google
}"#), @r#"
    {
      "mcpServers": {
        "skillfold": {
          "command": "/opt/bin/skillfold",
          "args": ["serve"]
        }
      },
      "ui": { "theme": "Default" },
      "security": { "auth": { "selectedType": "oauth-personal" } } // by Google
    }
    "#);
}
