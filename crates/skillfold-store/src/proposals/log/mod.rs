//! The log: an append-only, hash-chained file of lines.
//!
//! Each line is a JSON object whose last member, `hash`, is the SHA-256 of the previous line's hash and the line
//! without its own. Changing or removing a line means changing all later ones, which anyone who knows the last hash can
//! see.
//!
//! A line counts once it is on disk, and only then gets its newline. A crash can leave an unterminated last line, which
//! was never acknowledged; the next writer truncates it. Any other damage stops writes.
//!
//! Every log format has the members `format`, `number`, `time` and `event` and the hash. A record unknown to this
//! version is kept and shown, and stops writes.

mod record;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use skillfold_core::text::utc;
use skillfold_core::{Error, ErrorKind};

pub use self::record::{
    Allowance, ApprovedBy, Author, Event, Operation, OperationOutcome, Record, RecordedApproval,
    Target, UnknownEvent, Verdict,
};
use self::record::{FORMAT, ForeignRecord, RecordHead};
use crate::files::calls::{flush, truncate, write_all};
use crate::files::dir::Kind;
use crate::files::fault::{WriteFault, WriteResult};
use crate::files::write_root::WriteRoot;

/// The log's file name in the store's folder.
pub(crate) const LOG_FILE: &str = "audit.jsonl";

/// Maximum size of the log, a few hundred thousand records.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum size of the log for a model to add to it. The rest is reserved for the user's decisions.
const MAX_BYTES_FOR_PROPOSALS: u64 = 64 << 20;

/// Precedes the hash at the end of a line.
const HASH_MEMBER: &str = ",\"hash\":\"";
const HASH_DIGITS: usize = 64;

const DAMAGED: &str = "The log was changed or damaged; `skillfold audit verify` shows where. To go on with a new log, move \
                       this one aside";
const TOO_LARGE: &str = "The log has more than 256 MiB; move it aside to start a new one";
const NOT_A_FILE: &str = "The log is a link or not a regular file; remove it and try again";

/// Where a log is damaged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogDamage {
    /// The line number, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: &'static str,
}

/// The records of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogRecords {
    /// The records before the first damage.
    pub records: Vec<Record>,
    /// The last hash, which covers all records. Empty if there are none.
    pub head: String,
    /// The first damage.
    pub damage: Option<LogDamage>,
    /// Size in bytes of an incomplete last line.
    pub incomplete: usize,
    hashes: Vec<String>,
}

impl LogRecords {
    /// Parses a log.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut log = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                // It was never acknowledged.
                log.incomplete = rest.len();
                break;
            };
            match log.read_line(&rest[..end]) {
                Ok((record, hash)) => {
                    log.records.push(record);
                    log.hashes.push(hash.clone());
                    log.head = hash;
                }
                Err(reason) => {
                    let line = log.records.len() as u64 + 1;
                    log.damage = Some(LogDamage { line, reason });
                    break;
                }
            }
            rest = &rest[end + 1..];
        }
        log
    }

    fn read_line(&self, line: &[u8]) -> Result<(Record, String), &'static str> {
        let text = str::from_utf8(line).map_err(|_| "the line is not UTF-8")?;
        let split = text.len().checked_sub(HASH_MEMBER.len() + HASH_DIGITS + 2);
        let (body, member) = split
            .and_then(|at| text.split_at_checked(at))
            .ok_or("the line is too short")?;
        let hash = member
            .strip_prefix(HASH_MEMBER)
            .and_then(|member| member.strip_suffix("\"}"))
            .ok_or("the line has no hash")?;
        if chained(&self.head, body) != hash {
            return Err("the line or one before it was changed or removed");
        }
        let body = format!("{body}}}");
        let invalid = |_| "the record has no format, number, time or event";
        let head: RecordHead = serde_json::from_str(&body).map_err(invalid)?;
        let record: Record = if head.format == FORMAT {
            serde_json::from_str(&body).map_err(invalid)?
        } else {
            let record: ForeignRecord = serde_json::from_str(&body).map_err(invalid)?;
            record.into()
        };
        if record.number != self.records.len() as u64 + 1 {
            return Err("the record has the wrong number");
        }
        Ok((record, hash.to_owned()))
    }

    /// Returns the first record unknown to this version: a newer one wrote it.
    pub fn unknown(&self) -> Option<&Record> {
        let mut records = self.records.iter();
        records.find(|record| matches!(record.event, Event::Unknown(_)))
    }

    /// Returns whether a record has this hash: everything known at that point is still there.
    pub fn has_head(&self, hash: &str) -> bool {
        self.hashes.iter().any(|known| known == hash)
    }

    /// Returns the last started operation if its end is not recorded.
    pub(crate) fn unfinished(&self) -> Option<&Record> {
        let mut events = self.records.iter().rev();
        let last = events.find(|record| {
            matches!(record.event, Event::Started { .. } | Event::Finished { .. })
        })?;
        matches!(last.event, Event::Started { .. }).then_some(last)
    }

    /// Returns the completed operations, in order.
    pub fn done(&self) -> impl Iterator<Item = &Record> {
        let finished = self.records.iter().filter_map(|record| match record.event {
            Event::Finished {
                started,
                outcome: OperationOutcome::Done,
            } => Some(started),
            _ => None,
        });
        finished.filter_map(|number| {
            let index = usize::try_from(number).ok()?.checked_sub(1)?;
            self.records.get(index)
        })
    }
}

/// Returns the hash of a line (given without its hash) that follows a line with the hash `previous`.
fn chained(previous: &str, body: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(previous.as_bytes());
    hasher.update(b"\n");
    hasher.update(body.as_bytes());
    format!("{:x}", hasher.finalize())
}

/// The log, open for appending under the store's lock.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    root: &'a WriteRoot,
    file: File,
    length: u64,
    pub(crate) read: LogRecords,
}

impl<'a> Log<'a> {
    /// Opens the log and truncates an incomplete last line.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the log is damaged, or has a record from a newer version. It
    /// is left as is then.
    pub(crate) fn open(root: &'a WriteRoot) -> Result<Self, Error> {
        let open = || -> WriteResult<Self> {
            let name = OsStr::new(LOG_FILE);
            let found = root.dir.stat(name)?;
            if found.is_some_and(|found| found.kind != Kind::File) {
                return Err(WriteFault::Refused(NOT_A_FILE));
            }
            let file = root.dir.open_or_create(name, 0o600)?;
            let bytes = read_all(&file)?;
            let read = LogRecords::parse(&bytes);
            if read.damage.is_some() {
                return Err(WriteFault::Refused(DAMAGED));
            }
            let length = (bytes.len() - read.incomplete) as u64;
            if read.incomplete > 0 && read.unknown().is_none() {
                truncate(&file, length)?;
            }
            // Its writer may have been killed before the line or the file's name was on disk.
            flush(&file)?;
            if bytes.is_empty() {
                root.dir.sync()?;
            }
            Ok(Self {
                root,
                file,
                length,
                read,
            })
        };
        let path = root.full_path(Path::new(LOG_FILE));
        let log = open().map_err(|fault| fault.into_error(&path))?;
        match log.read.unknown() {
            Some(record) => Err(newer_log(&path, record)),
            None => Ok(log),
        }
    }

    /// Returns whether there is room for more proposals.
    pub(crate) fn has_room_for_proposals(&self) -> bool {
        self.length < MAX_BYTES_FOR_PROPOSALS
    }

    /// Appends a record and returns its number. The record is on disk when this returns.
    pub(crate) fn append(&mut self, event: Event, now: SystemTime) -> Result<u64, Error> {
        let record = Record {
            format: FORMAT,
            number: self.read.records.len() as u64 + 1,
            time: utc(now),
            event,
        };
        let append = || -> io::Result<(String, u64)> {
            let json = serde_json::to_string(&record)?;
            let body = json.strip_suffix('}').unwrap_or(&json);
            let hash = chained(&self.read.head, body);
            let line = format!("{body}{HASH_MEMBER}{hash}\"}}");
            (&self.file).seek(SeekFrom::Start(self.length))?;
            // A terminated line is complete, however a crash splits a write into pages.
            for part in [line.as_bytes(), b"\n"] {
                let written = write_all(&self.file, part).and_then(|()| flush(&self.file));
                if let Err(error) = written {
                    // If this also fails, the next writer truncates it.
                    _ = truncate(&self.file, self.length);
                    return Err(error);
                }
            }
            Ok((hash, line.len() as u64 + 1))
        };
        let (hash, length) = append().map_err(|error| {
            let file = self.root.full_path(Path::new(LOG_FILE));
            Error::write(file.to_string_lossy(), error)
        })?;
        let number = record.number;
        self.length += length;
        self.read.head = hash;
        self.read.records.push(record);
        Ok(number)
    }
}

/// Returns the error for a log with a record unknown to this version.
fn newer_log(path: &Path, record: &Record) -> Error {
    let (path, number, format) = (path.display(), record.number, record.format);
    let what = match &record.event {
        Event::Unknown(event) if format == FORMAT => format!("has the event `{}`", event.name()),
        _ => format!("has the format {format}"),
    };
    let message = format!(
        "Refused to write `{path}`: record {number} {what}, which skillfold {} (format {FORMAT}) does not know",
        env!("CARGO_PKG_VERSION"),
    );
    let hint = if format < FORMAT {
        "An older skillfold wrote it; move it aside to start a new one"
    } else {
        "A newer skillfold wrote it; update this one. `skillfold audit` shows the log"
    };
    Error::new(ErrorKind::Refused, message, hint)
}

/// Reads the log without changing it.
pub(crate) fn read(root: &WriteRoot) -> Result<LogRecords, Error> {
    let file = root.read(Path::new(LOG_FILE), MAX_BYTES)?;
    Ok(file.map_or_else(LogRecords::default, |file| LogRecords::parse(file.bytes())))
}

fn read_all(file: &File) -> WriteResult<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(WriteFault::Refused(TOO_LARGE));
    }
    Ok(bytes)
}
