//! A large catalog answers as fast as a small one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use skillfold_core::{Catalog, Cursor, Filter, MemorySource, Root, Rules, Scope, nearest, parse};

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
        Rules::default(),
        i64::MAX,
    )
}

/// Returns the shortest of some runs: what disturbs a run only makes it longer.
fn shortest(run: impl Fn()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..25).map(time).min().unwrap_or_default()
}

fn ratio(run: impl Fn(&Catalog, usize)) -> f64 {
    let [small, large] = [SMALL, LARGE].map(|skills| {
        let catalog = catalog(skills);
        shortest(|| run(&catalog, skills))
    });
    large.as_secs_f64() / small.as_secs_f64()
}

#[test]
fn lookup_costs_the_same_among_any_number_of_skills() {
    let ratio = ratio(|catalog, skills| {
        for number in 0..SMALL {
            assert!(catalog.get(&name(number * skills / SMALL)).is_some());
        }
    });
    assert!(ratio < AT_MOST, "{ratio}");
}

#[test]
fn page_costs_the_same_in_a_catalog_of_any_size() {
    let ratio = ratio(|catalog, skills| {
        let cursor = Cursor::after(name(skills / 2));
        black_box(catalog.page(&Filter::default(), Some(&cursor), 50));
    });
    assert!(ratio < AT_MOST, "{ratio}");
}

/// Returns how many times as long a run takes with four times as much.
fn of_four_times(run: impl Fn(usize)) -> f64 {
    let shortest = |much: usize| {
        let time = |_| {
            let start = Instant::now();
            run(much);
            start.elapsed()
        };
        (0..4).map(time).min().unwrap_or_default()
    };
    shortest(4).as_secs_f64() / shortest(1).as_secs_f64()
}

#[test]
fn fields_cost_no_more_than_in_proportion_to_their_number() {
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
fn what_was_meant_takes_a_bounded_time_among_any_number_that_could_be() {
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
