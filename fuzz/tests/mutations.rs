//! Each target on its seeds, and on seeds that are changed at random: the fuzzer's work in short, by the compiler of all other
//! tests. `MUTATIONS` sets how many changed inputs each target gets; `just fuzz` runs the fuzzer itself.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads its seeds and its variable"
)]

use std::fs;
use std::path::Path;

use skillfold_testkit::in_checkout;

/// Changed inputs of each target. A debug build takes up to half a millisecond for one, and the server ten.
const MUTATIONS: u64 = 2_000;

/// Random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).expect("below a usize")
    }

    fn pick<'a, Item>(&mut self, of: &'a [Item]) -> &'a Item {
        &of[self.below(of.len())]
    }
}

/// Returns the entries of a dictionary in libFuzzer's format, without those that have an escape.
fn words(path: &Path) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(path).expect("a dictionary");
    let quoted = text
        .lines()
        .filter_map(|line| line.split_once('"')?.1.strip_suffix('"'));
    quoted
        .filter(|word| !word.contains('\\'))
        .map(|word| word.as_bytes().to_vec())
        .collect()
}

/// Returns a seed with one to four changes: a bit, a byte, a word of the dictionary, a piece taken out, doubled, or taken from
/// another seed.
fn change(random: &mut Random, seeds: &[Vec<u8>], words: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(seeds).clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 => bytes.insert(
                at,
                *random.pick(b"\0\n\r\t \"'#&*-:<>[]{}|\x1f\x7f\x80\xc3\xff"),
            ),
            2 => drop(bytes.splice(at..at, random.pick(words).clone())),
            3 if !bytes.is_empty() => drop(bytes.drain(at..end)),
            4 if !bytes.is_empty() => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let other = random.pick(seeds);
                let from = random.below(other.len());
                let piece = other[from..(from + 1 + random.below(64)).min(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

fn check(target: &str, divisor: u64) {
    let folder = in_checkout("fuzz");
    let mut paths: Vec<_> = fs::read_dir(folder.join("seeds").join(target))
        .expect("seeds")
        .map(|entry| entry.expect("a seed").path())
        .collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| fs::read(path).expect("a seed"))
        .collect();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    for seed in &seeds {
        skillfold_fuzz::run(target, seed);
    }
    let own = folder.join(format!("{target}.dict"));
    let words = words(&if own.exists() {
        own
    } else {
        folder.join("yaml.dict")
    });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mutations =
        std::env::var("MUTATIONS").map_or(MUTATIONS, |count| count.parse().expect("a number"));
    for number in 0..mutations / divisor {
        let input = change(&mut random, &seeds, &words);
        let ran = std::panic::catch_unwind(|| skillfold_fuzz::run(target, &input));
        assert!(
            ran.is_ok(),
            "{target}, mutation {number}: {:?}",
            input.escape_ascii().to_string()
        );
    }
}

macro_rules! targets {
    ($($name:ident / $divisor:literal),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), $divisor);
            }
        )+

        #[test]
        fn every_fuzz_target_is_listed() {
            let folder = in_checkout("fuzz/fuzz_targets");
            let mut files: Vec<_> = fs::read_dir(folder).expect("targets").map(|entry| entry.expect("a target").file_name()).collect();
            files.sort();
            assert_eq!(files, [$(concat!(stringify!($name), ".rs")),+]);
        }
    };
}

targets! {
    envelope / 1,
    fix / 1,
    frontmatter / 1,
    lines / 1,
    lock / 1,
    manifest / 1,
    matching / 2,
    request / 20,
    search / 2,
    settings / 4,
    snippet / 1,
    turn / 4,
}
