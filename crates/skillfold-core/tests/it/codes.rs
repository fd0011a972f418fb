//! The page of all codes is the table of all codes.
#![expect(
    clippy::disallowed_methods,
    reason = "the page is a file of the project, written only when asked to"
)]

use std::fs;

use skillfold_core::Code;
use skillfold_core::author::{ClientField, FieldForm, FieldLevel};
use skillfold_testkit::in_checkout;

fn page() -> String {
    let mut text = "# Diagnostics\n\nEvery finding has a code that is stable across releases. A severity may differ by profile: the rules of the \
                    specification\n(SF3xx) are errors in the profile `spec` and warnings in `lenient`, except those that are errors in both; in `spec` \
                    every repair\n(SF0xx and SF1xx) is an error too.\n\nThis page is made from the table in `crates/skillfold-core/src/codes.rs`: \
                    `UPDATE_DOCS=1 cargo test -p skillfold-core codes`.\n\n| code | severity | meaning | hint |\n|---|---|---|---|\n"
        .to_owned();
    for code in Code::ALL {
        text += &format!(
            "| {code} | {} | {} | {} |\n",
            code.severity(),
            code.description(),
            code.hint().replace('|', "\\|")
        );
    }
    text.replace("`>` or `|`", "`>` or `\\|`")
}

#[test]
fn diagnostics_page_matches_the_code_table() {
    let path = in_checkout("docs/diagnostics.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page()).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        page(),
        "run UPDATE_DOCS=1 cargo test -p skillfold-core codes"
    );
}

#[test]
fn format_page_lists_every_client_field() {
    let page = fs::read_to_string(in_checkout("docs/format.md")).unwrap();
    for field in ClientField::ALL {
        let level = match field.level {
            FieldLevel::Top => "top",
            FieldLevel::Metadata => "`metadata`",
            _ => "either",
        };
        let form = match field.form {
            FieldForm::Text => "text",
            FieldForm::YesOrNo => "yes or no",
            FieldForm::List => "list, or text",
            FieldForm::Mapping => "mapping",
            _ => "anything",
        };
        let clients = field.clients.join(", ");
        let row = format!("| `{}` | {level} | {form} | {clients} |\n", field.name);
        assert!(page.contains(&row), "docs/format.md lacks {row}");
    }
}
