//! The log after a crash, after damage and from a newer version.

use std::fs;

use skillfold_core::ErrorKind;
use skillfold_core::load::Digest;
use skillfold_store::{LogRecords, VersionCause, WriteRoot};

use crate::proposals::{DIFF, User, now};

#[test]
fn any_change_to_a_complete_last_line_is_damage() {
    let user = User::new();
    user.approve(&user.propose(DIFF)).unwrap();
    let log = fs::read(user.home.path().join("data/audit.jsonl")).unwrap();
    let last = log[..log.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    for at in last..log.len() - 1 {
        for byte in [0, b'\n', log[at] ^ 1, log[at] ^ 0x80] {
            let mut changed = log.clone();
            changed[at] = byte;
            let read = LogRecords::parse(&changed);
            assert!(read.damage.is_some(), "{at} {byte}");
            assert!(
                read.damage.is_some() && read.incomplete == 0 || byte == b'\n',
                "{at}"
            );
        }
    }
}

/// Returns a log with one more record, correctly hashed, as a newer version or a forger would write it.
pub(crate) fn with_record(text: &str, record: &str) -> String {
    let head = LogRecords::parse(text.as_bytes()).head;
    let body = record.strip_suffix('}').unwrap();
    let hash = Digest::sha256(format!("{head}\n{body}").as_bytes()).to_string();
    let hash = hash.trim_start_matches("sha256:");
    format!("{text}{body},\"hash\":\"{hash}\"}}\n")
}

#[test]
fn record_of_a_newer_version_is_kept_and_shown_and_stops_writing() {
    let records = [
        (
            r#"{"format":2,"number":4,"time":"2027-01-01T00:00:00Z","event":"signed","by":"anna"}"#,
            "record 4 has the event `signed`",
        ),
        // Known events may have another meaning in the next format.
        (
            r#"{"format":3,"number":4,"time":"2027-01-01T00:00:00Z","event":"finished","started":2,"outcome":"done","why":[1]}"#,
            "record 4 has the format 3",
        ),
    ];
    for (record, reason) in records {
        let user = User::new();
        user.approve(&user.propose(DIFF)).unwrap();
        let log = user.home.path().join("data/audit.jsonl");
        let text = with_record(&fs::read_to_string(&log).unwrap(), record);
        // Even an unacknowledged line stays.
        for text in [format!("{text}{{\"format\":3,"), text] {
            fs::write(&log, &text).unwrap();
            let read = user.store.log().unwrap();
            assert_eq!((read.damage.as_ref(), read.records.len()), (None, 4));
            let shown = serde_json::to_value(read.unknown().unwrap()).unwrap();
            assert_eq!(
                shown,
                serde_json::from_str::<serde_json::Value>(record).unwrap()
            );
            let error = user.store.reject(Digest::sha256(b""), "anna", "", now());
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused);
            let message = error.to_string();
            assert!(message.contains(reason), "{message}");
            assert!(message.contains(env!("CARGO_PKG_VERSION")), "{message}");
            assert_eq!(fs::read_to_string(&log).unwrap(), text);
            assert_eq!(user.store.history(&user.pdf, now()).unwrap().len(), 2);
        }
    }
}

#[test]
fn history_is_readable_from_a_damaged_log_and_during_a_write() {
    let user = User::new();
    user.approve(&user.propose(DIFF)).unwrap();
    let log = user.home.path().join("data/audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{text}damage\n")).unwrap();
    fs::write(user.home.path().join("skills/pdf/.hidden"), "edited").unwrap();
    let root = WriteRoot::open(&user.home.path().join("data")).unwrap();
    let lock = root.lock("lock").unwrap();
    let versions = user.store.history(&user.pdf, now()).unwrap();
    drop(lock);
    let causes: Vec<_> = versions.iter().map(|version| &version.cause).collect();
    assert!(matches!(
        causes[..],
        [
            VersionCause::Found,
            VersionCause::Approved { .. },
            VersionCause::Edited
        ]
    ));
    assert_eq!(fs::read_to_string(&log).unwrap(), format!("{text}damage\n"));
}
