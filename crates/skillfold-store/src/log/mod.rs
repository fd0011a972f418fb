//! The log: a file of lines that only grows, each bound to the one before.
//!
//! A line is a JSON object whose last member, `hash`, is the SHA-256 of the previous line's hash and of the line without its
//! own. Whoever changes or removes a line has to change all that follow; whoever knows the last hash sees that.
//!
//! A line counts once it is on the disk. A crash can leave a part of the last one, which nobody has been told of; it is cut
//! off by the next writer. Any other damage stops writing.

mod record;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use skillfold_core::Error;
use skillfold_core::text::utc;

pub use self::record::{
    Act, ApprovedBy, Author, Event, Outcome, Record, RecordedApproval, Target, Verdict,
};
use crate::calls::{flush, truncate, write_all};
use crate::dir::Kind;
use crate::fault::{WriteFault, WriteResult};
use crate::write_root::WriteRoot;

/// The name of the log in the store's folder.
pub(crate) const LOG_FILE: &str = "audit.jsonl";

/// Maximum size of the log, which some hundred thousand records reach.
const MAX_BYTES: u64 = 256 << 20;

/// Before the hash at the end of a line.
const HASH_MEMBER: &str = ",\"hash\":\"";
const HASH_DIGITS: usize = 64;

const DAMAGED: &str = "The log was changed or damaged; `skillfold audit verify` shows where. To go on with a new log, move \
                       this one aside";
const TOO_LARGE: &str = "The log has more than 256 MiB; move it aside to start a new one";
const NOT_A_FILE: &str = "The log is a link or not a regular file; remove it and try again";

/// What is wrong with a log, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogDamage {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: &'static str,
}

/// The records of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogRecords {
    /// The records up to the first damage.
    pub records: Vec<Record>,
    /// The last hash, which stands for all records. Empty if there are none.
    pub head: String,
    /// The first damage.
    pub damage: Option<LogDamage>,
    /// The bytes of a last line that was never completed.
    pub incomplete: usize,
    hashes: Vec<String>,
}

impl LogRecords {
    /// Reads a log from its bytes.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut log = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let line = &rest[..end.unwrap_or(rest.len())];
            let after = end.map_or(&[][..], |end| &rest[end + 1..]);
            match log.read_line(line, end.is_some()) {
                Ok((record, hash)) => {
                    log.records.push(record);
                    log.hashes.push(hash.clone());
                    log.head = hash;
                }
                // Nobody was told of a last line that is not whole.
                Err(_) if after.is_empty() => {
                    log.incomplete = rest.len();
                    break;
                }
                Err(reason) => {
                    let line = log.records.len() as u64 + 1;
                    log.damage = Some(LogDamage { line, reason });
                    break;
                }
            }
            rest = after;
        }
        log
    }

    fn read_line(&self, line: &[u8], is_ended: bool) -> Result<(Record, String), &'static str> {
        if !is_ended {
            return Err("the line has no end");
        }
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
        let record: Record =
            serde_json::from_str(text).map_err(|_| "the record is not one of this version")?;
        if record.number != self.records.len() as u64 + 1 {
            return Err("the record has the wrong number");
        }
        Ok((record, hash.to_owned()))
    }

    /// Returns whether a hash is that of one of the records: what was known then is still there.
    pub fn has_head(&self, hash: &str) -> bool {
        self.hashes.iter().any(|known| known == hash)
    }

    /// Returns the act that was started last, if its end is not recorded.
    pub(crate) fn unfinished(&self) -> Option<&Record> {
        let mut events = self.records.iter().rev();
        let last = events.find(|record| {
            matches!(record.event, Event::Started { .. } | Event::Finished { .. })
        })?;
        matches!(last.event, Event::Started { .. }).then_some(last)
    }

    /// Returns the acts that are done, in order.
    pub fn done(&self) -> impl Iterator<Item = &Record> {
        let finished = self.records.iter().filter_map(|record| match record.event {
            Event::Finished {
                started,
                outcome: Outcome::Done,
            } => Some(started),
            _ => None,
        });
        finished.filter_map(|number| {
            let index = usize::try_from(number).ok()?.checked_sub(1)?;
            self.records.get(index)
        })
    }
}

/// Returns the hash of a line, without its own hash, after a line with the hash `previous`.
fn chained(previous: &str, body: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(previous.as_bytes());
    hasher.update(b"\n");
    hasher.update(body.as_bytes());
    format!("{:x}", hasher.finalize())
}

/// The log, open for appending. The store's lock is held.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    root: &'a WriteRoot,
    file: File,
    length: u64,
    pub(crate) read: LogRecords,
}

impl<'a> Log<'a> {
    /// Opens the log and cuts off a last line that was never completed.
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
            if read.incomplete > 0 {
                truncate(&file, length)?;
            }
            // Whoever wrote it may have been killed before it was on the disk, or before its name was.
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
        open().map_err(|fault| fault.into_error(&root.full_path(Path::new(LOG_FILE))))
    }

    /// Appends a record and returns its number. When this returns, it is on the disk.
    pub(crate) fn append(&mut self, event: Event, now: SystemTime) -> Result<u64, Error> {
        let record = Record {
            number: self.read.records.len() as u64 + 1,
            time: utc(now),
            event,
        };
        let append = || -> io::Result<(String, u64)> {
            let json = serde_json::to_string(&record)?;
            let body = json.strip_suffix('}').unwrap_or(&json);
            let hash = chained(&self.read.head, body);
            let line = format!("{body}{HASH_MEMBER}{hash}\"}}\n");
            (&self.file).seek(SeekFrom::Start(self.length))?;
            let written = write_all(&self.file, line.as_bytes()).and_then(|()| flush(&self.file));
            if let Err(error) = written {
                // If this fails too, the next writer cuts it off.
                _ = truncate(&self.file, self.length);
                return Err(error);
            }
            Ok((hash, line.len() as u64))
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
