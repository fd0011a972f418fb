//! Promises over real files: a corpus of SKILL.md files beside the checkout. `cargo nextest run --run-ignored only corpus::`
//! runs them.
#![expect(
    clippy::disallowed_methods,
    reason = "the corpus is a file beside the checkout"
)]

use std::fs::File;
use std::io::{BufRead, BufReader};

use skillfold_core::author::fix;
use skillfold_core::read::{
    Agreement, FrontmatterReader, Parsed, Profile, parse, parse_with, readers_agree,
};
use skillfold_core::view::SkillRecord;
use skillfold_core::{Catalog, CatalogOptions, Limits, MemorySource, Root, Scope};
use skillfold_testkit::{far_future, in_checkout};

use crate::fake_source::{self, FakeSource};
use crate::scan_cache::check_cached_scan;

/// Calls `check` with the folder and text of every file.
pub(crate) fn for_each_file(mut check: impl FnMut(&str, &str)) {
    let path = in_checkout("..").join("shared/data/skills_corpus.jsonl.zst");
    let file = File::open(path).expect("there is a corpus beside the checkout");
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    for line in BufReader::new(decoder).lines() {
        let entry: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let folder = entry["path"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .nth(1)
            .unwrap_or("skill");
        check(folder, entry["text"].as_str().unwrap());
    }
}

#[test]
#[ignore = "needs the corpus beside the checkout"]
fn line_reader_equals_the_parser_on_every_real_file() {
    let (mut files, mut taken) = (0, 0);
    for_each_file(|_, text| {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let Some(block) = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---"))
            .map(|(block, _)| format!("{block}\n"))
        else {
            return;
        };
        files += 1;
        let agreement = readers_agree(&block);
        assert_ne!(agreement, Agreement::Different, "{block}");
        taken += u32::from(agreement == Agreement::Same);
    });
    // The reader is worth its lines only while it takes most files.
    assert!(taken * 100 > files * 80, "{taken} of {files}");
}

#[test]
#[ignore = "needs the corpus beside the checkout"]
fn both_readers_produce_the_same_skill_for_every_real_file() {
    for_each_file(|folder, text| {
        let read = |reader| parse_with(text.as_bytes(), folder, reader, &Limits::default());
        let (lines, yaml) = (
            read(FrontmatterReader::Lines),
            read(FrontmatterReader::Yaml),
        );
        let codes = |parsed: &Parsed| {
            parsed
                .diagnostics
                .iter()
                .map(|finding| finding.code)
                .collect::<Vec<_>>()
        };
        assert_eq!(codes(&lines), codes(&yaml), "{text}");
        assert_eq!(
            (lines.manifest, lines.body_start, lines.repaired),
            (yaml.manifest, yaml.body_start, yaml.repaired),
            "{text}"
        );
    });
}

#[test]
#[ignore = "needs the corpus beside the checkout"]
fn every_tenth_real_file_round_trips_through_the_scan_cache() {
    let fake = FakeSource::default();
    let mut number = 0;
    for_each_file(|folder, text| {
        number += 1;
        if number % 10 != 0 {
            return;
        }
        let mut file = fake_source::File::new("real", "");
        file.text = text.to_owned();
        file.revision.inode = number;
        file.revision.size = text.len() as u64;
        let folder: String = folder.chars().filter(|c| !c.is_control()).collect();
        fake.put(&format!("{number}/{folder}"), file);
    });
    check_cached_scan(&fake);
}

#[test]
#[ignore = "needs the corpus beside the checkout"]
fn at_least_99_of_100_real_files_with_a_description_are_read() {
    let (mut with_description, mut read) = (0, 0);
    for_each_file(|folder, text| {
        let parsed = parse_with(
            text.as_bytes(),
            folder,
            FrontmatterReader::Lines,
            &Limits::default(),
        );
        assert!(
            parsed.manifest.is_some()
                || parsed
                    .diagnostics
                    .iter()
                    .any(|finding| finding.span.is_some()),
            "{text}"
        );
        let block = text
            .trim_start_matches('\u{feff}')
            .strip_prefix("---")
            .and_then(|rest| rest.split("\n---").next());
        if block.is_some_and(|block| block.contains("\ndescription:")) {
            with_description += 1;
            read += u32::from(parsed.manifest.is_some());
        }
    });
    assert!(
        read * 100 >= with_description * 99,
        "{read} of {with_description}"
    );
}

#[test]
#[ignore = "needs the corpus beside the checkout"]
fn at_least_95_of_100_repaired_files_are_clean_after_fix() {
    let (mut files, mut repaired, mut in_order) = (0, 0, 0);
    for_each_file(|folder, text| {
        files += 1;
        let before = parse(text.as_bytes(), folder);
        // Most files need no correction; a part of them shows that they get none.
        if !before.repaired && files % 10 != 0 {
            return;
        }
        let fixed = fix(text.as_bytes(), folder, Profile::Lenient);
        let corrected = fixed.bytes.as_deref().unwrap_or(text.as_bytes());
        let after = parse(corrected, folder);
        assert_eq!(before.manifest, after.manifest, "{text}");
        if files % 10 == 0 {
            let again = fix(corrected, folder, Profile::Lenient);
            assert_eq!(
                (again.bytes, again.remaining),
                (None, fixed.remaining),
                "{text}"
            );
        }
        if before.repaired {
            repaired += 1;
            in_order += u32::from(!after.repaired);
        }
    });
    eprintln!("{in_order} of {repaired} repaired files are in order once they are corrected");
    assert!(in_order * 100 >= repaired * 95, "{in_order} of {repaired}");
}

#[test]
#[ignore = "needs the corpus beside the checkout"]
fn record_of_every_real_skill_takes_at_most_2_kb() {
    let mut files = Vec::new();
    for_each_file(|folder, text| {
        let path = format!("{:05}/{folder}/SKILL.md", files.len());
        files.push((path, text.to_owned()));
    });
    let roots = vec![Root::new(Scope::User, "corpus", MemorySource::new(files))];
    let catalog = Catalog::discover(roots, CatalogOptions::default(), far_future());
    for entry in catalog.entries() {
        let record = serde_json::to_string(&SkillRecord::listed(&entry)).unwrap();
        assert!(record.len() <= 2048, "{record}");
    }
}
