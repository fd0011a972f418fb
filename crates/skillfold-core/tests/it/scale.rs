//! A large catalog answers as fast as a small one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use skillfold_core::{Catalog, Cursor, Filter, MemorySource, Root, Rules, Scope};

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
