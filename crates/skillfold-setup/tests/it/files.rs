//! Which files are changed, and which are not.

use skillfold::core::ErrorKind;
use skillfold_setup::{ClientFile, SetupClient, SetupPlan};

use crate::{CLAUDE, COMMAND, World, add, file, read, undo, world, write};

#[test]
fn unparsable_file_is_left_alone_and_reported_with_the_position() {
    let said = |client: SetupClient, text: &str| {
        let world = world(client, text);
        let environment = world.environment("person/app");
        let error = SetupPlan::add(&environment, client, ClientFile::User, COMMAND).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert_eq!(read(&world, file(client)).unwrap(), text);
        let real = world.path("").canonicalize().unwrap();
        error.to_string().replace(&*real.to_string_lossy(), "")
    };
    insta::assert_snapshot!(said(SetupClient::Cursor, "{\n  \"mcpServers\": {\n    \"a\": {}\n    \"b\": {}\n  }\n}"), @"Invalid `/person/.cursor/mcp.json`: Expected comma at 3:12");
    insta::assert_snapshot!(said(SetupClient::Cursor, "{ \"mcpServers\": [] }"), @"Invalid `/person/.cursor/mcp.json`: Expected an object at 1:17");
    insta::assert_snapshot!(said(SetupClient::Cursor, "{ \"mcpServers\": {}, \"mcpServers\": {} }"), @r#"Invalid `/person/.cursor/mcp.json`: Key "mcpServers" appears twice at 1:21"#);
    insta::assert_snapshot!(said(SetupClient::Cursor, "{ \"a\": nul }"), @"Invalid `/person/.cursor/mcp.json`: Unexpected word at 1:8");
    insta::assert_snapshot!(said(SetupClient::Cursor, "{ \"a"), @"Invalid `/person/.cursor/mcp.json`: Unterminated string literal at 1:3");
    insta::assert_snapshot!(said(SetupClient::Cursor, "{} x"), @"Invalid `/person/.cursor/mcp.json`: Text cannot contain more than one JSON value at 1:4");
    insta::assert_snapshot!(said(SetupClient::Cursor, "// nothing"), @"Invalid `/person/.cursor/mcp.json`: The file has only comments at 1:1");
    insta::assert_snapshot!(said(SetupClient::Cursor, "[]"), @"Invalid `/person/.cursor/mcp.json`: Expected an object at 1:1");
    insta::assert_snapshot!(said(SetupClient::Cursor, &"[".repeat(100_000)), @"Invalid `/person/.cursor/mcp.json`: Maximum nesting depth exceeded at 1:513");
    insta::assert_snapshot!(said(SetupClient::Cursor, &"{\"a\":".repeat(100_000)), @"Invalid `/person/.cursor/mcp.json`: Maximum nesting depth exceeded at 1:1282");
    insta::assert_snapshot!(said(SetupClient::Codex, "a = 1\nb = \n"), @"Invalid `/person/.codex/config.toml`: string values must be quoted, expected literal string at 2:5");
    insta::assert_snapshot!(said(SetupClient::Codex, "mcp_servers = 3\n"), @"Invalid `/person/.codex/config.toml`: Expected `mcp_servers` to be a table at 1:1");
    insta::assert_snapshot!(said(SetupClient::Goose, "a: 1\n b: 2\n"), @"Invalid `/person/.config/goose/config.yaml`: mapping values are not allowed in this context at 2:3");
    insta::assert_snapshot!(said(SetupClient::Goose, "extensions:\n- developer\n"), @"Invalid `/person/.config/goose/config.yaml`: Expected a mapping at 2:3");
    insta::assert_snapshot!(said(SetupClient::Goose, "a: 1\n---\nb: 2\n"), @"Invalid `/person/.config/goose/config.yaml`: A second document starts here at 2:1");
    insta::assert_snapshot!(said(SetupClient::Goose, "{a: 1}\n"), @"Invalid `/person/.config/goose/config.yaml`: Expected a block mapping at 1:1");
    insta::assert_snapshot!(said(SetupClient::Goose, "a: 1\n...\n"), @"Invalid `/person/.config/goose/config.yaml`: this entry can't be edited without touching others; edit it by hand");
}

#[test]
fn non_standard_json_is_refused() {
    for (text, place) in [
        ("{ 'a': 1 }", "1:3"),
        ("{ a: 1 }", "1:3"),
        ("{ \"a\": 0x1 }", "1:8"),
        ("{ \"a\": 01 }", "1:9"),
        ("{ \"a\": .5 }", "1:8"),
        ("{ \"a\": +1 }", "1:8"),
        ("{ \"a\": NaN }", "1:8"),
        ("{ \"a\": \"\\x41\" }", "1:9"),
        ("{ \"a\": \"\\ud800\" }", "1:9"),
        ("{ \"a\": \"1\n2\" }", "1:8"),
        ("{ \"a\": \"1\t2\" }", "1:8"),
        ("{ \"a\":\u{a0}1 }", "1:7"),
        ("{\u{b}}", "1:2"),
        ("{} \0", "1:4"),
        ("{ , }", "1:3"),
        ("{ \"a\": [,] }", "1:9"),
        ("{ \"a\": 1 \u{feff}}", "1:10"),
    ] {
        let world = world(SetupClient::Cursor, text);
        let environment = world.environment("person/app");
        let plan = SetupPlan::add(&environment, SetupClient::Cursor, ClientFile::User, COMMAND);
        let error = plan.unwrap_err().to_string();
        assert!(error.ends_with(&format!(" at {place}")), "{text}\n{error}");
    }
}

#[cfg(unix)]
#[test]
fn mode_and_link_of_the_users_file_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let world = world(SetupClient::ClaudeCode, CLAUDE);
    let (path, real) = (
        world.path(file(SetupClient::ClaudeCode)),
        world.path("person/dotfiles.json"),
    );
    std::fs::rename(&path, &real).unwrap();
    std::os::unix::fs::symlink(&real, &path).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    let plan = add(&world, SetupClient::ClaudeCode);
    assert_eq!(plan.file(), real.canonicalize().unwrap());
    plan.write().unwrap();
    assert!(path.is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o400)).unwrap();
    let error = undo(&world, SetupClient::ClaudeCode).write().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn file_changed_concurrently_is_not_written() {
    let world = world(SetupClient::ClaudeCode, CLAUDE);
    let plan = add(&world, SetupClient::ClaudeCode);
    write(&world, file(SetupClient::ClaudeCode), "{}");
    assert_eq!(plan.write().unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(read(&world, file(SetupClient::ClaudeCode)).unwrap(), "{}");
}

#[test]
fn client_variables_override_configuration_paths() {
    let world = World::new("//- person/app/README.md\n");
    let environment = world.environment("person/app");
    let environment = environment
        .variable("CODEX_HOME", world.path("codex").to_string_lossy())
        .variable("CLAUDE_CONFIG_DIR", world.path("claude").to_string_lossy())
        .variable("XDG_CONFIG_HOME", world.path("config").to_string_lossy())
        .variable("LOCALAPPDATA", world.path("local").to_string_lossy());
    let file = |client| {
        let plan = SetupPlan::add(&environment, client, ClientFile::User, COMMAND).unwrap();
        world.shown(&plan.file().to_string_lossy())
    };
    assert_eq!(file(SetupClient::Codex), "/codex/config.toml");
    assert_eq!(file(SetupClient::ClaudeCode), "/claude/.claude.json");
    assert_eq!(file(SetupClient::Goose), "/config/goose/config.yaml");
    assert_eq!(
        file(SetupClient::OpenCode),
        "/config/opencode/opencode.json"
    );
    assert_eq!(file(SetupClient::Zed), "/config/zed/settings.json");
    let desktop = "/config/Claude/claude_desktop_config.json";
    assert_eq!(file(SetupClient::ClaudeDesktop), desktop);
    let package = "local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude";
    std::fs::create_dir_all(world.path(package)).unwrap();
    let desktop = format!("/{package}/claude_desktop_config.json");
    assert_eq!(file(SetupClient::ClaudeDesktop), desktop);
}
