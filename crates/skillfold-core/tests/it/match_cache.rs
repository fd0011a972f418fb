//! What was matched before is remembered, and is never another answer.

use proptest::prelude::*;
use skillfold_core::{Catalog, CatalogOptions, Matcher, MemorySource, Root, Scope};
use skillfold_testkit::far_future;

use crate::fake_source::{FakeSource, File, NOW};

/// Skills whose triggers tell upper from lower case, and look at the edges of a message.
const PATTERNS: &str = "triggers:\n  patterns: ['(?-i:Ab)', '^a.*b$', 'é+', '\\Aİ']";
const LITERALS: &str = "triggers:\n  keywords: [ab, 'c++', İ, i]";

fn matcher(skills: &[(&str, &str)]) -> Matcher {
    let files = skills.iter().map(|(name, fields)| {
        let text = format!("---\nname: {name}\ndescription: d\n{fields}\n---\n");
        (format!("{name}/SKILL.md"), text)
    });
    let root = Root::new(Scope::User, "mine", MemorySource::new(files));
    Matcher::new(&Catalog::discover(
        vec![root],
        CatalogOptions::default(),
        far_future(),
    ))
}

fn ids(matcher: &Matcher, message: &str) -> Vec<String> {
    let found = matcher.matches_cached(message);
    let ids = found.candidates.iter();
    ids.map(|candidate| candidate.entry.id().to_owned())
        .collect()
}

/// Returns all that is said of a message, with the places in it.
fn told(message: &str, found: &skillfold_core::choose::Matches<'_>) -> String {
    let places = found.candidates.iter().map(|one| one.range(message));
    format!("{found:?} {:?}", places.collect::<Vec<_>>())
}

/// Messages of which many are equal, or equal but for their case, or for what of them is passed over.
fn message() -> impl Strategy<Value = String> {
    let words = [
        "ab", "Ab", "AB", "İ", "i\u{307}", "É", "é", "$ab", "$AB", "Ab-Cd", "skills", "a\nb", "x",
    ];
    let word = prop::sample::select(words.to_vec());
    let seldom = prop_oneof![5 => Just(""), 1 => word.clone()];
    let filler = prop_oneof![
        12 => Just(0_usize),
        1 => Just(8 * 1024),
        1 => Just(64 * 1024 - 3),
        1 => Just(70 * 1024),
    ];
    (word, filler, seldom.clone(), seldom).prop_map(|(start, filler, middle, end)| {
        let half = "x ".repeat(filler / 4);
        format!("{start}{half}{middle}{half}{end}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn cached_matches_equal_fresh_matches(messages in proptest::collection::vec(message(), 1..20)) {
        let of_both = [("ab-cd", PATTERNS), ("ab", LITERALS), ("i-j", "")];
        for skills in [&of_both[..], &of_both[1..]] {
            let matcher = matcher(skills);
            // Each is asked for at least twice, in whatever order.
            for message in messages.iter().chain(messages.iter().rev()) {
                let recalled = told(message, &matcher.matches_cached(message));
                prop_assert_eq!(recalled, told(message, &matcher.matches(message)));
            }
            prop_assert!(matcher.stats().hits >= messages.len() as u64);
        }
    }
}

#[test]
fn repeated_request_is_served_from_the_cache() {
    let matcher = matcher(&[("greet", "triggers: [bonjour]")]);
    assert_eq!(ids(&matcher, "Say Bonjour"), ["greet"]);
    assert_eq!(ids(&matcher, "say BONJOUR"), ["greet"]);
    let stats = matcher.stats();
    assert_eq!((stats.misses, stats.hits, stats.entries), (1, 1, 1));
    // What is only matched is neither counted nor remembered.
    assert_eq!(matcher.matches("bonjour").candidates.len(), 1);
    assert_eq!(matcher.stats(), stats);
}

#[test]
fn case_sensitive_patterns_get_separate_cache_entries() {
    let matcher = matcher(&[("ab", "triggers:\n  patterns: ['(?-i:Ab)']")]);
    assert_eq!(ids(&matcher, "ab"), [""; 0]);
    assert_eq!(ids(&matcher, "Ab"), ["ab"]);
    assert_eq!(ids(&matcher, "ab"), [""; 0]);
    assert_eq!((matcher.stats().misses, matcher.stats().hits), (2, 1));
}

#[test]
fn least_recently_used_message_is_evicted_first() {
    let matcher = matcher(&[("greet", "triggers: [bonjour]")]);
    for number in 0..256 {
        ids(&matcher, &number.to_string());
    }
    assert_eq!((matcher.stats().entries, matcher.stats().evicted), (256, 0));
    ids(&matcher, "0");
    ids(&matcher, "one more");
    assert_eq!((matcher.stats().entries, matcher.stats().evicted), (256, 1));
    let before = matcher.stats();
    ids(&matcher, "0");
    ids(&matcher, "1");
    let after = matcher.stats();
    assert_eq!(
        (after.hits - before.hits, after.misses - before.misses),
        (1, 1)
    );
}

#[test]
fn match_cache_stays_within_its_byte_limit() {
    let many: Vec<String> = (0..9_000).map(|number| format!("s-{number}")).collect();
    let triggers = "triggers: [bonjour]";
    let skills: Vec<_> = many.iter().map(|name| (&**name, triggers)).collect();
    let matcher = matcher(&skills);
    // What matches nearly everything is not remembered.
    assert_eq!(ids(&matcher, "bonjour").len(), 9_000);
    assert_eq!(matcher.stats().too_large, 1);
    assert_eq!(matcher.stats().entries, 0);
    for number in 0..40 {
        ids(&matcher, &format!("{number} {}", "long ".repeat(20_000)));
        let stats = matcher.stats();
        assert!(stats.bytes <= 1 << 20, "{stats:?}");
    }
    let stats = matcher.stats();
    assert!(stats.entries > 10 && stats.evicted > 10, "{stats:?}");
}

#[test]
fn changed_catalog_invalidates_cached_matches() {
    let world = FakeSource::default();
    let put = |name: &str, trigger: &str, inode: u64| {
        let mut file = File::new(name, "d");
        file.text = format!("---\nname: {name}\ndescription: d\ntriggers: [{trigger}]\n---\n");
        file.revision.inode = inode;
        world.put(name, file);
    };
    put("first", "bonjour", 1);
    let catalog = world.discover(NOW);
    let old = Matcher::new(&catalog);
    assert_eq!(ids(&old, "bonjour"), ["first"]);
    put("first", "salut", 2);
    put("second", "bonjour", 3);
    let catalog = world.refresh(&catalog, NOW).catalog;
    let new = old.refresh(&catalog);
    assert_eq!(new.stats().entries, 0);
    assert_eq!(ids(&new, "bonjour"), ["second"]);
    // Who still holds the old snapshot has its answers.
    assert_eq!(ids(&old, "bonjour"), ["first"]);
    assert_eq!(ids(&new, "bonjour"), ["second"]);
    // The counts go on.
    assert_eq!((new.stats().misses, new.stats().hits), (3, 1));
}

#[test]
fn threads_share_the_match_cache() {
    let matcher = matcher(&[("greet", "triggers: [bonjour]"), ("ab", PATTERNS)]);
    let messages: Vec<String> = (0..400).map(|number| format!("Bonjour {number}")).collect();
    std::thread::scope(|scope| {
        for start in 0..4 {
            let (matcher, messages) = (&matcher, &messages);
            scope.spawn(move || {
                for number in 0..2_000 {
                    let message = &messages[(start * 100 + number * 7) % messages.len()];
                    assert_eq!(ids(matcher, message), ["greet"]);
                }
            });
        }
    });
    let stats = matcher.stats();
    assert_eq!((stats.hits + stats.misses, stats.entries), (8_000, 256));
}
