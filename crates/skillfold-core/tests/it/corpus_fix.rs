//! No correction of a real file changes what another client reads of it.

use skillfold_core::Limits;
use skillfold_core::author::{ClientField, FieldLevel, fix};
use skillfold_core::read::{Fields, Profile, Scalar, Value, parse, raw_frontmatter};

use crate::corpus::for_each_file;

/// Returns what a client reads that knows YAML, and repairs nothing but line ends and a byte-order mark.
fn read(text: &str) -> Option<Fields> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    raw_frontmatter(text.as_bytes(), &Limits::default()).ok()
}

/// Returns a field at the level where clients read it, by what it means.
fn seen(fields: &Fields, field: &ClientField, level: FieldLevel) -> String {
    let value = match (level, fields.get("metadata")) {
        (FieldLevel::Metadata, Some(Value::Map(metadata))) => metadata.get(field.name),
        (FieldLevel::Metadata, _) => None,
        _ => fields.get(field.name),
    };
    value.map_or_else(|| "not given".to_owned(), meaning)
}

fn meaning(value: &Value) -> String {
    match value {
        Value::Scalar(scalar) => format!("{:?}", Scalar::value(scalar)),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(meaning).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(fields) => {
            let fields = fields.iter();
            let fields: Vec<_> = fields
                .map(|(key, value)| format!("{key}: {}", meaning(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => format!("{other:?}"),
    }
}

/// Returns what a correction changes for other clients.
fn changes(before: &str, after: &str, folder: &str) -> Vec<String> {
    let mut changes = Vec::new();
    if let Some(fields) = read(before) {
        let Some(corrected) = read(after) else {
            return vec!["is no longer read".to_owned()];
        };
        let others = |field: &&ClientField| field.clients != ["Skillfold"];
        for field in ClientField::ALL.iter().filter(others) {
            let level = field.level;
            let (old, new) = (seen(&fields, field, level), seen(&corrected, field, level));
            if old != new {
                changes.push(format!("{}: {old} became {new}", field.name));
            }
        }
    }
    let (old, new) = (
        parse(before.as_bytes(), folder),
        parse(after.as_bytes(), folder),
    );
    if let (Some(old), Some(new)) = (old.manifest, new.manifest) {
        let who_and_what = |manifest: &skillfold_core::Manifest| {
            let tools = manifest.allowed_tools().to_vec();
            (
                manifest.disable_model_invocation(),
                manifest.default_enabled(),
                tools,
            )
        };
        if who_and_what(&old) != who_and_what(&new) {
            changes.push("who may start it, or its tools".to_owned());
        }
    }
    changes
}

#[test]
fn comparison_detects_a_changed_client_field() {
    let file = |fields: &str| format!("---\nname: a\ndescription: b\n{fields}\n---\nBody\n");
    let check = |before: &str, after: &str| changes(&file(before), &file(after), "a").join("; ");
    insta::assert_snapshot!(check("user-invocable: false", "metadata:\n  user-invocable: false"), @"user-invocable: Bool(false) became not given");
    insta::assert_snapshot!(check("allowedTools: Bash", "allowed-tools: Bash"), @r#"allowed-tools: not given became Text("Bash")"#);
    insta::assert_snapshot!(check("metadata:\n  openclaw: {always: true}", "metadata:\n  openclaw: '{always: true}'"), @r#"openclaw: {always: Bool(true)} became Text("{always: true}")"#);
    assert_eq!(check("tags: [a, b]", "metadata:\n  tags: a, b"), "");
}

#[test]
#[ignore = "needs the corpus"]
fn fix_never_changes_what_known_clients_read_from_real_files() {
    let (mut files, mut corrected, mut wrong) = (0, 0, Vec::new());
    for_each_file(|folder, text| {
        files += 1;
        for profile in [Profile::Lenient, Profile::Spec] {
            let Some(bytes) = fix(text.as_bytes(), folder, profile).bytes else {
                continue;
            };
            corrected += 1;
            let changes = changes(text, &String::from_utf8(bytes).unwrap(), folder);
            wrong.extend(
                changes
                    .into_iter()
                    .map(|change| format!("{folder}: {change}")),
            );
        }
    });
    eprintln!("{corrected} corrections of {files} files");
    assert!(
        files > 10_000 && corrected > 1_000,
        "{corrected} of {files}"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}
