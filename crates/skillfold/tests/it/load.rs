//! Loading through the live handle.

use std::sync::Arc;

use skillfold::core::disclose::Style;
use skillfold::core::{ContextLifetime, Envelope, ErrorKind, MemorySource, Policy, Root, Scope};
use skillfold::{Environment, Host, Skills};

use crate::world::World;

const PDF: &str = "---\nname: pdf\ndescription: Fills in forms\n---\nFill in $ARGUMENTS, $0.\n";

fn skills(settings: &[(&str, &str)]) -> Skills {
    let source = MemorySource::new([
        ("pdf/SKILL.md", PDF),
        ("pdf/references/forms.md", "Forms\n"),
    ]);
    let mut host = Host::new(Environment::new("/nowhere"));
    for (key, value) in settings {
        host = host.set(*key, *value);
    }
    host.bundled("built in", source).discover().unwrap().skills
}

#[test]
fn settings_control_how_skills_are_loaded() {
    let plain = skills(&[]);
    assert_eq!(
        plain.load("pdf", "a b").unwrap().text(),
        "Fill in a b, $0.\n"
    );
    let claude = skills(&[("arguments", "claude-code"), ("cache_entries", "1")]);
    assert_eq!(
        claude.load("pdf", "a b").unwrap().text(),
        "Fill in a b, a.\n"
    );
    claude.load("pdf", "c").unwrap();
    assert_eq!(claude.cache_stats().entries, 1);
}

#[test]
fn cached_loads_survive_a_refresh_and_can_be_cleared() {
    let skills = skills(&[]);
    let first = skills.load("pdf", "").unwrap();
    skills.refresh().unwrap();
    assert!(Arc::ptr_eq(&first, &skills.load("PDF", "").unwrap()));
    assert_eq!(skills.cache_stats().hits, 1);
    skills.evict("pdf").unwrap();
    assert_eq!(skills.cache_stats().entries, 0);
    skills.load("pdf", "").unwrap();
    skills.clear_cache();
    assert_eq!(skills.cache_stats().entries, 0);
}

#[test]
fn files_are_listed_and_read() {
    let skills = skills(&[]);
    let page = skills.files("pdf", None, 10).unwrap();
    assert_eq!((page.files.len(), page.total), (2, 2));
    let forms = skills.read("pdf", "references/forms.md").unwrap();
    assert_eq!(forms.text(), Some("Forms\n"));
    let part = skills
        .read_range("pdf", "references/forms.md", 1..3)
        .unwrap();
    assert_eq!(part.text(), Some("or"));
}

#[test]
fn host_gets_errors_and_the_model_gets_messages() {
    let skills = skills(&[]);
    let error = skills.load("pfd", "").unwrap_err();
    assert_eq!(
        (error.kind(), error.nearest()),
        (ErrorKind::NotFound, &["pdf".into()][..])
    );
    let answer = Envelope::SkillContent.render_failure("pfd", &error);
    assert!(answer.contains("pdf"), "{answer}");
    let error = skills.read("pdf", "../other/data.csv").unwrap_err();
    assert_eq!(
        (error.kind(), error.hint()),
        (ErrorKind::Refused, "Path traversal detected")
    );
}

#[test]
fn many_threads_load_through_one_handle() {
    let skills = skills(&[("cache_entries", "3")]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..500 {
                    let arguments = (number % 7).to_string();
                    let loaded = skills.load("pdf", &arguments).unwrap();
                    assert_eq!(loaded.text(), format!("Fill in {arguments}, $0.\n"));
                }
            });
        }
        scope.spawn(|| (0..50).for_each(|_| drop(skills.refresh().unwrap())));
    });
    let stats = skills.cache_stats();
    assert!(
        stats.entries <= 3 && stats.hits + stats.misses == 2_000,
        "{stats:?}"
    );
}

/// Returns the ids of a listing, as they are printed.
fn printed(style: Style, listing: &str) -> Vec<&str> {
    let (before, after) = match style {
        Style::Lines => ("\n- ", ": "),
        Style::XmlRules => ("<id>", "</id>"),
        Style::Xml => ("<name>", "</name>"),
        Style::Markdown | Style::Tiers => ("- **", "**"),
        _ => ("• `", "`"),
    };
    let starts = listing.split(before).skip(1);
    starts
        .map(|rest| rest.split(after).next().unwrap())
        .collect()
}

#[test]
fn every_listed_id_loads() {
    let names = [
        "pdf",
        "PDF_Tools",
        "two words",
        "a & b",
        "x<y>z",
        "tick`tock",
        "star*s",
        "say \"it\"",
        "it's",
        "天气",
        "team:pdf",
        "〈angle〉",
    ];
    let files = names.iter().enumerate().map(|(number, name)| {
        let name = serde_json::to_string(name).unwrap();
        (
            format!("f{number}/SKILL.md"),
            format!("---\nname: {name}\ndescription: d\n---\nBody.\n"),
        )
    });
    let files: Vec<_> = files.collect();
    let other = MemorySource::new([("pdf/SKILL.md", PDF)]);
    let host =
        Host::new(Environment::new("/nowhere")).bundled("built in", MemorySource::new(files));
    let skills = host
        .root(Root::new(Scope::User, "mine", other))
        .discover()
        .unwrap()
        .skills;
    let catalog = skills.catalog();
    let ids: Vec<&str> = catalog.visible().map(|entry| entry.id()).collect();
    assert_eq!(ids.len(), names.len());
    for style in Style::ALL {
        let policy = Policy::default().with_style(style);
        let mut session = skills.session(policy, ContextLifetime::History);
        let listing = session.listing().text;
        let printed = printed(style, &listing);
        let loaded: Vec<_> = printed
            .iter()
            .map(|id| {
                session
                    .load(id, "")
                    .map_or_else(|error| error.to_string(), |it| it.id().to_owned())
            })
            .collect();
        assert_eq!(loaded, ids, "{style}: {printed:?}");
    }
}

#[test]
fn only_an_id_name_or_folder_resolves_to_a_skill() {
    let file =
        |name: &str| format!("---\nname: {name}\ndescription: Fills in forms\n---\nFill in.\n");
    let source = MemorySource::new([
        ("pdf/SKILL.md", file("pdf")),
        ("folder/SKILL.md", file("PDF_Tools")),
    ]);
    let host = Host::new(Environment::new("/nowhere"));
    let skills = host.bundled("built in", source).discover().unwrap().skills;
    // Another case, and `_` for `-`, are the same name.
    for (id, loads) in [
        ("pdf", "pdf"),
        ("PDF", "pdf"),
        ("bundled:pdf", "pdf"),
        ("PDF_Tools", "PDF_Tools"),
        ("pdf-tools", "PDF_Tools"),
        ("folder", "PDF_Tools"),
    ] {
        assert_eq!(skills.load(id, "").unwrap().id(), loads, "{id}");
    }
    for id in [
        "",
        " ",
        "*",
        ".",
        "..",
        "pd",
        "pdff",
        "pdf ",
        " pdf",
        "pdf\n",
        "p-df",
        "pdf.md",
        "pdf/",
        "./pdf",
        "/pdf",
        "../pdf",
        "pdf/SKILL.md",
        "$pdf",
        "`pdf`",
        "<id>pdf</id>",
        "user:pdf",
        "project:pdf",
        "bundled:",
        ":pdf",
        "bundled:pdf:pdf",
        "pdf tools",
        "pdftools",
        "pdf--tools",
        "Fills in forms",
        "рdf",
    ] {
        let error = skills.load(id, "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{id:?}: {error}");
    }
}

#[test]
fn malformed_skill_is_listed_with_its_reason_and_fails_to_load() {
    let world = World::new(
        "
        //- person/.agents/skills/good/SKILL.md
        ---
        name: good
        description: d
        ---
        Good.
        //- person/.agents/skills/repaired/SKILL.md
        ---
        name: repaired
        description: Use when: something
        ---
        Repaired.
        //- person/.agents/skills/bare/SKILL.md
        Bare. No frontmatter.
        //- person/.agents/skills/silent/SKILL.md
        ---
        name: silent
        ---
        Silent.
        //- person/.agents/skills/binary/SKILL.md
        \0 is not text
        ",
    );
    let malformed = ["binary"];
    let skills = world.skills();
    let refused: Vec<_> = skills
        .catalog()
        .refused()
        .iter()
        .map(|one| format!("{} {}", one.folder.path(), one.diagnostics[0].code.number()))
        .collect();
    insta::assert_snapshot!(refused.join("\n"), @"binary SF009");
    let person = skills.for_user();
    for id in malformed {
        let error = person.load(id, "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{id}: {error}");
        assert!(!error.diagnostics().is_empty(), "{id}");
        // A model is not told that there is something whose fields nobody can read.
        let error = skills.load(id, "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{id}: {error}");
    }
    assert_eq!(skills.load("good", "").unwrap().body(), "Good.\n");
    // What could be repaired or described loads, unless loading is strict.
    assert_eq!(skills.load("repaired", "").unwrap().body(), "Repaired.\n");
    assert_eq!(
        skills.load("bare", "").unwrap().body(),
        "Bare. No frontmatter.\n"
    );
    assert_eq!(skills.load("silent", "").unwrap().body(), "Silent.\n");
    let strict = world
        .host()
        .set("strict", "true")
        .discover()
        .unwrap()
        .skills;
    for id in ["repaired", "bare", "silent"] {
        let error = strict.load(id, "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{id}");
    }
    assert!(strict.load("good", "").is_ok());
    world.write("\n//- person/.agents/skills/good/SKILL.md\n# Not any more\n");
    assert_eq!(
        skills.load("good", "").unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn typical_use_has_an_80_percent_cache_hit_rate() {
    // More skills than are remembered, a few of them loaded most of the time.
    let files = (0..150).map(|number| {
        let text = format!("---\nname: s{number}\ndescription: d\n---\nDo $ARGUMENTS {number}.\n");
        (format!("s{number}/SKILL.md"), text)
    });
    let host = Host::new(Environment::new("/nowhere"));
    let skills = host
        .bundled("built in", MemorySource::new(files))
        .discover()
        .unwrap()
        .skills;
    let mut random: u32 = 1;
    for _ in 0..3_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // The product of two equal chances: low numbers come often, high ones seldom.
        let chance = |shift: u32| (random >> shift) & 0x3ff;
        let number = (chance(20) * chance(10) * 150) >> 20;
        skills.load(&format!("s{number}"), "").unwrap();
    }
    let stats = skills.cache_stats();
    assert!(stats.hit_rate() > 0.8, "{} {stats:?}", stats.hit_rate());
    assert!(stats.evicted > 0, "nothing had to be forgotten: {stats:?}");
}
