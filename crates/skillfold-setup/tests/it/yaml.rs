//! Changes to YAML; everything else stays.

use skillfold_setup::SetupClient;

use crate::check;

#[test]
fn goose_extension_is_added_to_existing_ones() {
    insta::assert_snapshot!(check(SetupClient::Goose, r#"GOOSE_PROVIDER: anthropic   # the provider
GOOSE_MODEL: "claude-sonnet"

extensions:
  # built in
  developer:
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin

  github:   # mine
    args:
    - -y
    - '@modelcontextprotocol/server-github'
    cmd: npx
    enabled: true
    envs: {}
    type: stdio
# the end
instructions: |
  Be kind.

  Be short.
"#), @r#"
    GOOSE_PROVIDER: anthropic   # the provider
    GOOSE_MODEL: "claude-sonnet"

    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
      # built in
      developer:
        bundled: true
        enabled: true
        name: developer
        timeout: 300
        type: builtin

      github:   # mine
        args:
        - -y
        - '@modelcontextprotocol/server-github'
        cmd: npx
        enabled: true
        envs: {}
        type: stdio
    # the end
    instructions: |
      Be kind.

      Be short.
    "#);
}

#[test]
fn goose_extension_is_added_to_any_file_layout() {
    insta::assert_snapshot!(check(SetupClient::Goose, "GOOSE_MODEL: x"), @"
    GOOSE_MODEL: x
    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
    ");
    insta::assert_snapshot!(check(SetupClient::Goose, "extensions:\nGOOSE_MODEL: größe\n"), @"
    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
    GOOSE_MODEL: größe
    ");
    insta::assert_snapshot!(check(SetupClient::Goose, "größe: x\nextensions: {}\n"), @r#"
    größe: x
    extensions: {skillfold: {"enabled": true, "type": "stdio", "name": "skillfold", "description": "Agent skills", "cmd": "/opt/bin/skillfold", "args": ["serve"], "timeout": 300}}
    "#);
    insta::assert_snapshot!(check(SetupClient::Goose, "extensions: {developer: {enabled: true}}\n"), @r#"extensions: {skillfold: {"enabled": true, "type": "stdio", "name": "skillfold", "description": "Agent skills", "cmd": "/opt/bin/skillfold", "args": ["serve"], "timeout": 300}, developer: {enabled: true}}"#);
    insta::assert_snapshot!(check(SetupClient::Goose, "extensions:\n    developer:\n        enabled: true\n"), @"
    extensions:
        skillfold:
          enabled: true
          type: stdio
          name: skillfold
          description: Agent skills
          cmd: /opt/bin/skillfold
          args: [serve]
          timeout: 300
        developer:
            enabled: true
    ");
    insta::assert_snapshot!(check(SetupClient::Goose, "# nothing yet\n"), @"
    # nothing yet
    extensions:
      skillfold:
        enabled: true
        type: stdio
        name: skillfold
        description: Agent skills
        cmd: /opt/bin/skillfold
        args: [serve]
        timeout: 300
    ");
}
