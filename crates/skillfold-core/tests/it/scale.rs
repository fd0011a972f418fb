//! A large catalog answers as fast as a small one.

use std::hint::black_box;

use skillfold_core::catalog::{Filter, nearest};
use skillfold_core::read::parse;
use skillfold_core::source::Cursor;
use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
use skillfold_testkit::{far_future, min_cpu_time};

const SMALL: usize = 200;
const LARGE: usize = 50 * SMALL;
/// What grows with the catalog would be 50; what does not is between 1 and 3, by the caches of the machine.
const AT_MOST: f64 = 12.0;

fn name(number: usize) -> String {
    format!("skill-{number:06}")
}

fn catalog(skills: usize) -> Catalog {
    let file = |number| {
        let name = name(number);
        let text = format!("---\nname: {name}\ndescription: x\n---\n");
        (format!("{name}/SKILL.md"), text)
    };
    let source = MemorySource::new((0..skills).map(file));
    Catalog::discover(
        vec![Root::new(Scope::User, "made", source)],
        CatalogOptions::default(),
        far_future(),
    )
}

fn ratio(run: impl Fn(&Catalog, usize)) -> f64 {
    let [small, large] = [SMALL, LARGE].map(|skills| {
        let catalog = catalog(skills);
        min_cpu_time(25, || run(&catalog, skills))
    });
    large.as_secs_f64() / small.as_secs_f64()
}

#[test]
fn lookup_time_does_not_depend_on_catalog_size() {
    let ratio = ratio(|catalog, skills| {
        for number in 0..SMALL {
            assert!(catalog.get(&name(number * skills / SMALL)).is_some());
        }
    });
    assert!(ratio < AT_MOST, "{ratio}");
}

#[test]
fn page_time_does_not_depend_on_catalog_size() {
    let ratio = ratio(|catalog, skills| {
        let cursor = Cursor::after(name(skills / 2));
        black_box(catalog.page(&Filter::default(), Some(&cursor), 50));
    });
    assert!(ratio < AT_MOST, "{ratio}");
}

/// Returns how many times as long a run takes with four times as much.
fn of_four_times(run: impl Fn(usize)) -> f64 {
    let [one, four] = [1, 4].map(|much| min_cpu_time(4, || run(much)));
    four.as_secs_f64() / one.as_secs_f64()
}

#[test]
fn parse_time_is_linear_in_the_number_of_fields() {
    let letters = || 'a'..='z';
    let keys: Vec<String> = letters()
        .flat_map(|a| letters().flat_map(move |b| letters().map(move |c| format!("{a}{b}{c}:\n"))))
        .collect();
    let [one, four] =
        [3_000, 12_000].map(|fields| format!("---\n{}---\n", keys[..fields].concat()));
    let ratio = of_four_times(|much| {
        let text = if much == 1 { &one } else { &four };
        black_box(parse(text.as_bytes(), "a"));
    });
    // 4 in proportion, 16 if each field is compared with all.
    assert!(ratio < 8.0, "{ratio}");
}

#[test]
fn nearest_id_search_takes_bounded_time() {
    // They start alike and have the same letters.
    let word = "abcdefgh-".repeat(12);
    let ids: Vec<String> = (0..4_000)
        .map(|number| format!("{}{number}", &word[..100]))
        .collect();
    let ratio = of_four_times(|much| {
        let ids = ids[..much * 1_000].iter().map(|id| &**id);
        assert!(!nearest(&word, ids, 3).is_empty());
    });
    assert!(ratio < 2.5, "{ratio}");
    let long = "abcdefgh-".repeat(57);
    assert!(nearest(&long, ids.iter().map(|id| &**id), 3).is_empty());
}
