//! Archives that would take too much memory.

use std::fmt::Write as _;
use std::iter;

use super::build::{POSIX, ZipEntry, gzip, header, join_zip, member, pax, tar, tar_file, zip};
use super::{check, files};

const TOO_LARGE: &str = "may unpack to at most";

/// Compresses a tar archive of one file with that many MiB of zeros, without holding them.
fn gzip_of_zeros(mebibytes: usize) -> Vec<u8> {
    let header = header(POSIX, b"zeros", b'0', mebibytes << 20);
    let part = gzip(&vec![0; 1 << 20]);
    let parts = iter::repeat_n(part, mebibytes).flatten();
    iter::empty()
        .chain(gzip(&header))
        .chain(parts)
        .chain(gzip(&[0; 1024]))
        .collect()
}

/// Returns bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()[0]
    };
    iter::repeat_with(next).take(length).collect()
}

#[cfg(target_os = "linux")]
fn peak_memory() -> usize {
    #[expect(
        clippy::disallowed_methods,
        reason = "the kernel's numbers about this process"
    )]
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kibibytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kibibytes << 10
}

#[cfg(not(target_os = "linux"))]
fn peak_memory() -> usize {
    0
}

/// Returns zip archives whose entries have 16 MiB of zeros each.
fn zip_bombs() -> [(&'static str, Vec<u8>); 4] {
    let zeros = vec![0; 16 << 20];
    let honest = ZipEntry::deflated(b"zeros", &zeros);
    let lying = ZipEntry {
        bytes: 100,
        ..honest.clone()
    };
    let many = |entry: &ZipEntry| {
        let named = (0..600).map(|number| ZipEntry {
            name: format!("{number:05}").into_bytes(),
            ..entry.clone()
        });
        zip(&named.collect::<Vec<_>>())
    };
    [
        ("zip with many bombs", many(&honest)),
        ("zip with many bombs that lie", many(&lying)),
        ("zip that says its size", zip(&[honest])),
        ("zip that lies about its size", zip(&[lying])),
    ]
}

fn tar_bombs() -> [(&'static str, Vec<u8>); 7] {
    let claims = |size: usize| tar(&[&member(&header(POSIX, b"a", b'0', size), b"abc")]);
    let whole = gzip(&tar(&[&tar_file(POSIX, b"a", b"")]));
    let zeros = gzip(&vec![0; 16 << 20]);
    let padded = iter::once(whole).chain(iter::repeat_n(zeros, 600));
    let comment = pax("comment", &vec![b'x'; 60 << 10]);
    let comments = (0..2000).flat_map(|number| {
        let file = tar_file(POSIX, format!("{number}").as_bytes(), b"");
        gzip(&[&comment[..], &file].concat())
    });
    [
        ("8 GiB in gzip", gzip_of_zeros(8191)),
        ("32 MiB in gzip", gzip_of_zeros(32)),
        ("9 GiB of zeros after the end", padded.flatten().collect()),
        ("claim of 8 GiB", claims((8 << 30) - 1)),
        ("claim of 8 GiB in gzip", gzip(&claims((8 << 30) - 1))),
        ("claim of 60 MiB", claims(60 << 20)),
        ("long comments", comments.collect()),
    ]
}

#[test]
fn bomb_is_refused_and_takes_little_memory() {
    let bombs = zip_bombs().into_iter().chain(tar_bombs());
    let bombs: Vec<_> = bombs.collect();
    let before = peak_memory();
    let mut answers = String::new();
    for (what, archive) in &bombs {
        let answer = check(archive).replace('\n', "\n  ");
        writeln!(answers, "{what}\n  {answer}").unwrap();
    }
    // The limit is 64 MiB, and other tests run at the same time. A bomb that went off would take gigabytes.
    let growth = peak_memory() - before;
    assert!(growth < 160 << 20, "{growth}");
    insta::assert_snapshot!(answers, @r"
    zip with many bombs
      Refused to open `x`: `00004`
      hint: An archive may unpack to at most 64 MiB
    zip with many bombs that lie
      Invalid archive `x`: `00000` has a different size than its headers say
      hint: Download it again; if that does not help, its author has to pack it with `git archive`, `tar` or `zip`
    zip that says its size
      Refused to open `x`: `zeros`
      hint: An archive may unpack to at most 100 times its own size
    zip that lies about its size
      Invalid archive `x`: `zeros` has a different size than its headers say
      hint: Download it again; if that does not help, its author has to pack it with `git archive`, `tar` or `zip`
    8 GiB in gzip
      Refused to open `x`: `zeros`
      hint: An archive may unpack to at most 64 MiB
    32 MiB in gzip
      Refused to open `x`: `zeros`
      hint: An archive may unpack to at most 100 times its own size
    9 GiB of zeros after the end
      Refused to open `x`: the end of the archive
      hint: An archive may unpack to at most 64 MiB
    claim of 8 GiB
      Refused to open `x`: `a`
      hint: An archive may unpack to at most 64 MiB
    claim of 8 GiB in gzip
      Refused to open `x`: `a`
      hint: An archive may unpack to at most 64 MiB
    claim of 60 MiB
      Refused to open `x`: `a`
      hint: An archive may unpack to at most 100 times its own size
    long comments
      Refused to open `x`: the entry after `1064`
      hint: An archive may unpack to at most 64 MiB
    ");
}

#[test]
fn ratio_counts_only_after_the_first_mebibyte() {
    let zeros = vec![0; 1 << 20];
    // Here and below, headers and padding count in tar.
    let fits = tar(&[&tar_file(POSIX, b"a", &zeros[2048..])]);
    assert!(files(&gzip(&fits)).is_ok());
    let exceeds = tar(&[&tar_file(POSIX, b"a", &zeros)]);
    assert!(check(&gzip(&exceeds)).contains("100 times"));
    assert!(files(&zip(&[ZipEntry::deflated(b"a", &zeros)])).is_ok());
    let more = vec![0; (1 << 20) + 1];
    assert!(check(&zip(&[ZipEntry::deflated(b"a", &more)])).contains("100 times"));
    // Together with noise, as much compresses to more than a hundredth.
    let entries = [
        ZipEntry::deflated(b"a", &more),
        ZipEntry::stored(b"b", &noise(20 << 10)),
    ];
    assert!(files(&zip(&entries)).is_ok());
}

#[test]
fn more_than_64_mebibytes_are_refused() {
    let (noise, part) = (noise(700 << 10), vec![0; 1 << 20]);
    let entries = |parts: usize, last: usize| -> Vec<ZipEntry> {
        let zeros = ZipEntry::deflated(b"", &part);
        let named = (0..parts).map(|number| ZipEntry {
            name: format!("{number}").into_bytes(),
            ..zeros.clone()
        });
        let last = ZipEntry::deflated(b"last", &part[..last]);
        named
            .chain([ZipEntry::stored(b"noise", &noise), last])
            .collect()
    };
    let rest = (1 << 20) - noise.len();
    let total = |archive: &[u8]| {
        files(archive)
            .unwrap()
            .values()
            .map(Vec::len)
            .sum::<usize>()
    };
    assert_eq!(total(&zip(&entries(63, rest))), 64 << 20);
    assert!(check(&zip(&entries(63, rest + 1))).contains("64 MiB"));
    let tar_of = |parts: usize| {
        let zeros = tar_file(POSIX, b"", &part);
        let named = (0..parts).map(|number| {
            let name = header(POSIX, number.to_string().as_bytes(), b'0', part.len());
            gzip(&[&name[..], &zeros[512..]].concat())
        });
        let noise = gzip(&tar_file(POSIX, b"noise", &noise));
        named
            .chain([noise, gzip(&[0; 1024])])
            .flatten()
            .collect::<Vec<u8>>()
    };
    assert_eq!(files(&tar_of(63)).unwrap().len(), 64);
    assert!(check(&tar_of(64)).contains(TOO_LARGE));
}

#[test]
fn more_than_10_000_entries_are_refused() {
    let tar_of = |count: usize| {
        let entries =
            (0..count).flat_map(|number| header(POSIX, format!("{number}").as_bytes(), b'0', 0));
        tar(&[&entries.collect::<Vec<u8>>()])
    };
    let zip_of = |count: usize| {
        let entries: Vec<_> = (0..count)
            .map(|number| ZipEntry::stored(format!("{number}/").as_bytes(), b""))
            .collect();
        zip(&entries)
    };
    assert_eq!(files(&tar_of(10_000)).unwrap().len(), 10_000);
    assert!(files(&zip_of(10_000)).is_ok());
    for archive in [tar_of(10_001), zip_of(10_001), zip_of(65_535)] {
        assert!(check(&archive).contains("10,000"), "{}", check(&archive));
    }
    let entry = ZipEntry::stored(b"a", b"");
    let centrals: Vec<u8> = iter::repeat_n(entry.central_part(0), 70_000)
        .flatten()
        .collect();
    assert!(files(&join_zip(&entry.local_part(), &centrals, 4464, b"")).is_err());
}
