//! Loading through the live handle.

use std::sync::Arc;

use skillfold::core::{Envelope, ErrorKind, MemorySource};
use skillfold::{Environment, Host, Skills};

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
    host.bundled("built in", source).discover().unwrap()
}

#[test]
fn settings_say_how_skills_are_loaded() {
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
fn loads_are_remembered_across_a_refresh_and_forgotten_on_demand() {
    let skills = skills(&[]);
    let first = skills.load("pdf", "").unwrap();
    skills.refresh().unwrap();
    assert!(Arc::ptr_eq(&first, &skills.load("PDF", "").unwrap()));
    assert_eq!(skills.cache_stats().hits, 1);
    skills.forget("pdf").unwrap();
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
fn host_gets_errors_and_the_model_gets_answers() {
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
