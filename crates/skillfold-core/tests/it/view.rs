//! The JSON contract.

use proptest::prelude::*;
use serde_json::{Value, json};
use skillfold_core::view::{SkillRecord, SkillView};
use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
use skillfold_testkit::far_future;

fn catalog(text: &str) -> Catalog {
    let source = MemorySource::new([("a/SKILL.md", text)]);
    Catalog::discover(
        vec![Root::new(Scope::User, "r", source)],
        CatalogOptions::default(),
        far_future(),
    )
}

fn view(text: &str) -> Value {
    let catalog = catalog(text);
    serde_json::to_value(SkillView::new(&catalog.get("a").unwrap())).unwrap()
}

#[test]
fn values_follow_the_yaml_core_schema() {
    let view = view(
        "---\nname: a\ndescription: x\nmetadata:\n  text: 1.0.0\n  number: 7\n  hex: 0x10\n  float: 1.5\n  infinite: .inf\n  \
         yes: yes\n  true: true\n  quoted: \"7\"\n  empty:\n  list: [1, a, null]\n---\n",
    );
    let expected = json!({
        "text": "1.0.0", "number": 7, "hex": 16, "float": 1.5, "infinite": ".inf", "yes": "yes", "true": true,
        "quoted": "7", "empty": null, "list": [1, "a", null],
    });
    assert_eq!(view["metadata"], expected);
}

#[test]
fn field_without_a_value_is_absent() {
    let view = view("---\nname: a\ndescription: x\n---\n");
    for field in [
        "plugin", "version", "license", "metadata", "tags", "cut", "file",
    ] {
        assert!(view.get(field).is_none(), "{field}");
    }
}

proptest! {
    /// A record of a listing is small whatever the skill says, and says what was cut.
    #[test]
    fn record_takes_at_most_2_kb(
        description in "[a\"\\\\界é ]{1,3000}",
        tags in prop::collection::vec("[a-z界]{1,30}", 0..40),
        version in "[0-9a]{0,40}",
    ) {
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        let tags: Vec<_> = tags.iter().map(|tag| quoted(tag)).collect();
        let text = format!(
            "---\nname: a\ndescription: {}\ntags: [{}]\nversion: {}\n---\n",
            quoted(&format!("x{description}")), tags.join(", "), quoted(&version)
        );
        let catalog = catalog(&text);
        let entry = catalog.get("a").unwrap();
        let record = SkillRecord::listed(&entry);
        let bytes = serde_json::to_string(&record).unwrap().len();
        prop_assert!(bytes <= 2048, "{bytes}");
        let is_cut = record.description != entry.manifest().description();
        prop_assert_eq!(is_cut, record.cut.contains(&"description".to_owned()));
        prop_assert!(!is_cut || bytes > 1_000, "no more is cut than must be");
    }
}
