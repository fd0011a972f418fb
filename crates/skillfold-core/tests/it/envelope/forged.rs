//! Whatever is put into a tagged envelope, its tags are its own and what was put in comes out.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use skillfold_core::Envelope;
use skillfold_core::load::{EnvelopeParts, LoadFailure};
use skillfold_testkit::envelope::{
    ParsedEnvelope, count_open_tags, count_replaced, parse_skill_content, parse_skill_context,
    tags, unescape,
};
use skillfold_testkit::min_cpu_time;

use super::break_outs::{BREAK_OUTS, filled};

const CONTEXT: [&str; 5] = [
    "skill_context",
    "instructions",
    "active_resources",
    "skill_root",
    "execution_directive",
];
const CONTENT: [&str; 2] = ["skill_content", "skill_resources"];

const TAGGED: [Envelope; 2] = [Envelope::SkillContext, Envelope::SkillContent];

fn names(envelope: Envelope) -> &'static [&'static str] {
    match envelope {
        Envelope::SkillContext => &CONTEXT,
        _ => &CONTENT,
    }
}

/// Returns the tags that an envelope has for itself.
fn own_tags(envelope: Envelope, parts: &EnvelopeParts<'_>) -> Vec<&'static str> {
    let has_files = !parts.files.is_empty() || parts.unlisted > 0;
    if envelope == Envelope::SkillContent {
        let mut own = vec!["skill_content"];
        if has_files {
            own.extend(["skill_resources", "/skill_resources"]);
        }
        own.push("/skill_content");
        return own;
    }
    let mut own = vec!["skill_context", "instructions", "/instructions"];
    if has_files || parts.base_dir.is_some() {
        own.push("active_resources");
        if parts.base_dir.is_some() {
            own.extend(["skill_root", "/skill_root"]);
        }
        own.push("/active_resources");
    }
    own.extend([
        "execution_directive",
        "/execution_directive",
        "/skill_context",
    ]);
    own
}

/// Renders, and checks that a generous reader sees the envelope's own tags only and a strict one gets back what was put
/// in. Returns how many tags were neutralised.
fn check(envelope: Envelope, parts: &EnvelopeParts<'_>) -> usize {
    let rendered = envelope.render(parts);
    let names = names(envelope);
    assert_eq!(
        tags(&rendered.text, names),
        own_tags(envelope, parts),
        "{}",
        rendered.text
    );
    let open = match envelope {
        Envelope::SkillContext => parse_skill_context,
        _ => parse_skill_content,
    };
    let opened: ParsedEnvelope =
        open(&rendered.text).unwrap_or_else(|| panic!("{}", rendered.text));
    assert_eq!(opened.id, parts.id);
    assert_eq!(opened.base_dir.as_deref(), parts.base_dir);
    assert_eq!(opened.files, parts.files);
    let mut body = opened.body.as_str();
    if !parts.body.ends_with('\n') && !parts.body.is_empty() {
        body = body.strip_suffix('\n').unwrap();
    }
    assert_eq!(
        count_replaced(parts.body, body),
        Some(rendered.neutralised),
        "{body:?}"
    );
    let own = tags(parts.body, names).len() + count_open_tags(parts.body, names);
    assert_eq!(own, rendered.neutralised, "{body:?}");
    rendered.neutralised
}

#[test]
fn no_body_breaks_out_of_the_envelope() {
    let distinct: HashSet<_> = BREAK_OUTS.iter().collect();
    assert_eq!(distinct.len(), BREAK_OUTS.len());
    for envelope in TAGGED {
        let mut stopped = 0;
        for template in BREAK_OUTS {
            let mut is_stopped = false;
            for tag in names(envelope) {
                let body = filled(template, tag);
                for body in [&body, &format!("# Title\n\n{body}\n\nEnd.\n")] {
                    let parts = EnvelopeParts::default().with_id("pdf").with_body(body);
                    is_stopped |= check(envelope, &parts) > 0;
                    let base_dir = Some("/skills/pdf");
                    check(
                        envelope,
                        &parts.with_base_dir(base_dir).with_files(&["a.py"]),
                    );
                }
            }
            stopped += usize::from(is_stopped);
        }
        assert!(
            stopped >= 200,
            "{envelope}: {stopped} break-outs were stopped"
        );
    }
}

#[test]
fn envelope_does_not_complete_a_tag_name_that_the_body_starts() {
    // Found by fuzzing: the next word of the envelope is `Skill`.
    let body = "</skill_resource";
    let base_dir = Some("/p");
    for envelope in TAGGED {
        for length in 1..=body.len() {
            let body = &body[..length];
            check(
                envelope,
                &EnvelopeParts::default()
                    .with_body(body)
                    .with_base_dir(base_dir),
            );
        }
    }
}

#[test]
fn every_breakout_in_one_body_is_stopped() {
    for envelope in TAGGED {
        for tag in names(envelope) {
            let body: String = BREAK_OUTS.iter().map(|text| filled(text, tag)).collect();
            let parts = EnvelopeParts::default()
                .with_id("pdf")
                .with_body(&body)
                .with_base_dir(Some("/p"));
            assert!(check(envelope, &parts) >= 200);
        }
    }
}

#[test]
fn no_value_breaks_out_of_the_envelope() {
    for envelope in TAGGED {
        for template in BREAK_OUTS {
            let text = filled(template, names(envelope)[0]);
            let quoted = format!("\">{text}");
            for value in [text.as_str(), quoted.as_str()] {
                let (requires, files) = ([value, "other"], [value, "a", value]);
                let parts = EnvelopeParts::default()
                    .with_id(value)
                    .with_body("Arguments: ")
                    .with_base_dir(Some(value))
                    .with_requires(&requires)
                    .with_files(&files);
                check(envelope, &parts);
            }
        }
    }
}

#[test]
fn no_error_breaks_out_of_the_envelope() {
    for envelope in TAGGED {
        let name = names(envelope)[0];
        for template in BREAK_OUTS {
            let text = filled(template, name);
            let nearest = [text.as_str(), "b"];
            let failure = LoadFailure::default()
                .with_id(&text)
                .with_message(&text)
                .with_hint(&text)
                .with_nearest(&nearest);
            let rendered = envelope.render_error(&failure);
            assert_eq!(
                tags(&rendered, names(envelope)),
                [name, &format!("/{name}")],
                "{rendered}"
            );
            let (before, rest) = rendered.split_once("<error>").unwrap();
            assert_eq!(unescape(before.split('"').nth(1).unwrap()).unwrap(), text);
            let (account, _) = rest.split_once("</error>").unwrap();
            assert!(
                unescape(account.trim_matches(['\n', ' '])).is_some(),
                "{account}"
            );
        }
    }
}

#[test]
fn values_cannot_start_a_line_in_a_plain_envelope() {
    for template in BREAK_OUTS {
        let text = filled(template, "skill_context");
        let parts = EnvelopeParts::default()
            .with_id(&text)
            .with_body("Body")
            .with_base_dir(Some(&text));
        let rendered = Envelope::ReadSkill.render(&parts).text;
        assert_eq!(rendered.lines().count(), 5, "{rendered}");
        assert!(!rendered.contains(|c: char| c.is_control() && c != '\n'));
    }
}

#[test]
fn text_that_is_not_an_envelope_tag_is_unchanged() {
    let bodies = [
        "&lt;/skill_context&gt; &#60;/skill_content> &LT;instructions>",
        "cat <file> > out; <error>no</error> </file> a < b << c <",
        "«instructions» 《skill_context》 [/instructions] {skill_content} (instructions)",
        "<x:instructions> <.skill_context> <!skill_context> <1instructions> </p>",
        "<skill> <skills_context> <skill_concept> <instruction> <instruct-ion>",
        "instructions> /skill_context> skill_content",
        "<sk1ll_context> <skill_c0ntext> <instruct1ons>",
        "\u{2014} \u{2019} \u{2705} \u{3042} \u{e9}\u{300} \u{feff} \u{200b} \r\n \u{0}",
        "",
        "\n",
        "\n\nSkill directory: /etc\nRelative paths in this skill are relative to the skill directory.\n",
        "\nThis skill has no directory on disk.\nIts files are read by their relative paths.\n",
    ];
    for envelope in TAGGED {
        for body in bodies {
            let parts = EnvelopeParts::default().with_id("pdf").with_body(body);
            assert_eq!(check(envelope, &parts), 0, "{body}");
            let base_dir = Some("/skills/pdf");
            assert_eq!(
                check(
                    envelope,
                    &parts
                        .with_base_dir(base_dir)
                        .with_files(&["a"])
                        .with_unlisted(2)
                ),
                0
            );
        }
    }
    for envelope in [Envelope::Plain, Envelope::ReadSkill] {
        for template in BREAK_OUTS {
            let body = filled(template, "skill_context");
            let rendered =
                envelope.render(&EnvelopeParts::default().with_id("pdf").with_body(&body));
            assert!(rendered.text.ends_with(&body) && rendered.neutralised == 0);
        }
    }
}

/// Places where one character decides whether a tag is read; `C` stands for it.
const PLACES: [&str; 24] = [
    "C/instructions",
    "<C/instructions",
    "<inCstructions",
    "<Ckill_root",
    "<sCill_root",
    "<skCll_root",
    "<skiCl_root",
    "<skillCroot",
    "<skill_Coot",
    "<skill_rCot",
    "<skill_rooC",
    "<Cctive_resources",
    "<aCtive_resources",
    "<actiCe_resources",
    "<activC_resources",
    "<active_resoCrces",
    "<eCecution_directive",
    "<executioC_directive",
    "<execution_Cirective",
    "<iCtructions",
    "<Cstructions",
    "<inCructions",
    "<exeCtion_directive",
    "<Ctive_resources",
];

#[test]
fn letters_of_every_unicode_block_are_classified_like_the_oracle() {
    let blocks = [
        '\u{80}'..='\u{33ff}',
        '\u{a490}'..='\u{abff}',
        '\u{f900}'..='\u{ffff}',
        '\u{10780}'..='\u{107bf}',
        '\u{110b0}'..='\u{110cf}',
        '\u{13420}'..='\u{1345f}',
        '\u{1bca0}'..='\u{1bcaf}',
        '\u{1ccd0}'..='\u{1ccff}',
        '\u{1d000}'..='\u{1d7ff}',
        '\u{1e030}'..='\u{1e06f}',
        '\u{1f100}'..='\u{1f1ff}',
        '\u{e0000}'..='\u{e1000}',
    ];
    let characters: Vec<char> = blocks.into_iter().flatten().collect();
    let is_same = |body: &str| {
        let rendered = Envelope::SkillContext.render(&EnvelopeParts::default().with_body(body));
        rendered.neutralised == tags(body, &CONTEXT).len()
    };
    let mut different = Vec::new();
    for place in PLACES {
        let line = |c: &char| place.replace('C', c.encode_utf8(&mut [0; 4])) + ".\n";
        for some in characters.chunks(256) {
            if !is_same(&some.iter().map(line).collect::<String>()) {
                let other = some.iter().filter(|c| !is_same(&line(c)));
                different.extend(other.map(|c| format!("{} in {place}", c.escape_unicode())));
            }
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

/// Pieces of which hostile bodies are made.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0..BREAK_OUTS.len(), 0..CONTEXT.len()).prop_map(|(n, tag)| filled(BREAK_OUTS[n], CONTEXT[tag])),
        3 => (0..BREAK_OUTS.len(), 0..CONTENT.len()).prop_map(|(n, tag)| filled(BREAK_OUTS[n], CONTENT[tag])),
        2 => "[</ _\n\u{200b}\u{ff1c}\u{2044}>&;a-z]{0,12}",
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn envelope_content_round_trips(
        pieces in prop::collection::vec(piece(), 0..8),
        id in piece(),
        base_dir in prop::option::of(piece()),
        files in prop::collection::vec(piece(), 0..3),
        requires in prop::collection::vec(piece(), 0..3),
        unlisted in 0_usize..3,
    ) {
        let requires: Vec<&str> = requires.iter().map(String::as_str).collect();
        let body = pieces.concat();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let parts = EnvelopeParts::default().with_id(&id).with_body(&body).with_base_dir(base_dir.as_deref()).with_tokens(7).with_requires(&requires).with_files(&files).with_unlisted(unlisted);
        for envelope in TAGGED {
            check(envelope, &parts);
        }
    }
}

#[test]
fn neutralising_takes_linear_time() {
    let runs = [
        "<",
        "< ",
        "<\u{200b}",
        "\u{ff1c}/",
        "<skill_contex",
        "</skill_context>",
        "<\u{301}\u{e9}",
        "\u{2014}",
    ];
    let mut bodies: Vec<[String; 2]> = runs
        .iter()
        .map(|run| [run.repeat(2_000), run.repeat(32_000)])
        .collect();
    for gap in [" ", "\n", "\u{200b}", "/"] {
        bodies.push([2_000, 32_000].map(|count| format!("<{}", gap.repeat(count)).repeat(2)));
    }
    for [short, long] in &bodies {
        // Sixteen times the body takes sixteen times as long; if it were quadratic, 256 times.
        let ratio = cost(long).as_secs_f64() / cost(short).as_secs_f64();
        assert!(
            ratio < 80.0,
            "{ratio} for {:?}",
            short.chars().take(9).collect::<String>()
        );
    }
}

fn cost(body: &str) -> Duration {
    min_cpu_time(7, || {
        Envelope::SkillContext.render(&EnvelopeParts::default().with_body(body));
    })
}
