//! Whatever is put into a tagged envelope, its tags are its own and what was put in comes out.

use skillfold_core::Envelope;
use skillfold_core::load::{EnvelopeParts, LoadFailure};
use skillfold_testkit::envelope::{
    ParsedEnvelope, count_open_tags, count_replaced, parse_skill_content, parse_skill_context,
    tags, unescape,
};

const CONTEXT: &[&str] = &[
    "skill_context",
    "instructions",
    "active_resources",
    "skill_root",
    "execution_directive",
];
const CONTENT: &[&str] = &["skill_content", "skill_resources"];

pub(crate) fn run(text: &str) {
    // What follows a unit separator is every value; without one the text is a body alone.
    let Some((body, value)) = text.split_once('\x1f') else {
        let parts = EnvelopeParts::default().with_id("a").with_body(text);
        return check_all(&parts);
    };
    check_all(
        &EnvelopeParts::default()
            .with_id(value)
            .with_body(body)
            .with_base_dir(Some(value))
            .with_requires(&[value])
            .with_files(&[value, "a"]),
    );
    let nearest = [value];
    let failure = LoadFailure::default()
        .with_id(value)
        .with_message(body)
        .with_hint(value)
        .with_nearest(&nearest);
    for (envelope, names) in [
        (Envelope::SkillContext, CONTEXT),
        (Envelope::SkillContent, CONTENT),
    ] {
        let rendered = envelope.render_error(&failure);
        assert_eq!(
            tags(&rendered, names),
            [names[0], &format!("/{}", names[0])],
            "a forged tag"
        );
        assert_eq!(
            rendered.split('"').nth(1).and_then(unescape).as_deref(),
            Some(value)
        );
    }
}

fn check_all(parts: &EnvelopeParts<'_>) {
    check(Envelope::SkillContext, CONTEXT, parse_skill_context, parts);
    check(Envelope::SkillContent, CONTENT, parse_skill_content, parts);
}

fn check(
    envelope: Envelope,
    names: &[&str],
    open: fn(&str) -> Option<ParsedEnvelope>,
    parts: &EnvelopeParts<'_>,
) {
    let rendered = envelope.render(parts);
    assert_eq!(
        tags(&rendered.text, names),
        own_tags(envelope, parts),
        "a forged tag"
    );
    let opened = open(&rendered.text).expect("an envelope can be opened");
    assert_eq!(opened.id, parts.id);
    assert_eq!(opened.base_dir.as_deref(), parts.base_dir);
    assert_eq!(opened.files, parts.files);
    let body = match parts.body.ends_with('\n') || parts.body.is_empty() {
        true => Some(opened.body.as_str()),
        false => opened.body.strip_suffix('\n'),
    };
    let brackets = body.and_then(|body| count_replaced(parts.body, body));
    assert_eq!(
        brackets,
        Some(rendered.neutralised),
        "a body that is changed otherwise"
    );
    let own = tags(parts.body, names).len() + count_open_tags(parts.body, names);
    assert_eq!(
        own, rendered.neutralised,
        "a body that is changed without need"
    );
}

fn own_tags(envelope: Envelope, parts: &EnvelopeParts<'_>) -> &'static [&'static str] {
    match (envelope, parts.base_dir) {
        (Envelope::SkillContext, Some(_)) => &[
            "skill_context",
            "instructions",
            "/instructions",
            "active_resources",
            "skill_root",
            "/skill_root",
            "/active_resources",
            "execution_directive",
            "/execution_directive",
            "/skill_context",
        ],
        (Envelope::SkillContext, None) => &[
            "skill_context",
            "instructions",
            "/instructions",
            "execution_directive",
            "/execution_directive",
            "/skill_context",
        ],
        (_, Some(_)) => &[
            "skill_content",
            "skill_resources",
            "/skill_resources",
            "/skill_content",
        ],
        (_, None) => &["skill_content", "/skill_content"],
    }
}
