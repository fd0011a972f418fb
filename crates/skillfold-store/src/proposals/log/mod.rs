//! The log: a file of lines that only grows, each bound to the one before.
//!
//! A line is a JSON object whose last member, `hash`, is the SHA-256 of the previous line's hash and of the line without its
//! own. Whoever changes or removes a line has to change all that follow; whoever knows the last hash sees that.
//!
//! A line counts once it is on the disk, and gets its end after that. A crash can leave a last line without an end, which nobody
//! has been told of; it is cut off by the next writer. Any other damage stops writing.
//!
//! Every format of the log has the members `format`, `number`, `time` and `event` and the hash. A record that this version does not
//! know is kept and shown, and stops writing.

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
    ApprovedBy, Author, Event, Operation, OperationOutcome, Record, RecordedApproval, Target,
    UnknownEvent, Verdict,
};
use self::record::{FORMAT, ForeignRecord, RecordHead};
use crate::files::calls::{flush, truncate, write_all};
use crate::files::dir::Kind;
use crate::files::fault::{WriteFault, WriteResult};
use crate::files::write_root::WriteRoot;

/// The name of the log in the store's folder.
pub(crate) const LOG_FILE: &str = "audit.jsonl";

/// Maximum size of the log, which some hundred thousand records reach.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum size of the log for a model to add to it. The rest is left for what the user decides.
const MAX_BYTES_FOR_PROPOSALS: u64 = 64 << 20;

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
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                // Nobody was told of it.
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

    /// Returns the first record that this version does not know: a newer one wrote it.
    pub fn unknown(&self) -> Option<&Record> {
        let mut records = self.records.iter();
        records.find(|record| matches!(record.event, Event::Unknown(_)))
    }

    /// Returns whether a hash is that of one of the records: what was known then is still there.
    pub fn has_head(&self, hash: &str) -> bool {
        self.hashes.iter().any(|known| known == hash)
    }

    /// Returns the operation that was started last, if its end is not recorded.
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
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the log is damaged, or has a record of a newer version. It is left as it
    /// is then.
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
        let path = root.full_path(Path::new(LOG_FILE));
        let log = open().map_err(|fault| fault.into_error(&path))?;
        match log.read.unknown() {
            Some(record) => Err(newer_log(&path, record)),
            None => Ok(log),
        }
    }

    /// Returns whether proposals may be added.
    pub(crate) fn has_room_for_proposals(&self) -> bool {
        self.length < MAX_BYTES_FOR_PROPOSALS
    }

    /// Appends a record and returns its number. When this returns, it is on the disk.
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
            // A line that has its end is whole, whatever a crash does to the pages of one write.
            for part in [line.as_bytes(), b"\n"] {
                let written = write_all(&self.file, part).and_then(|()| flush(&self.file));
                if let Err(error) = written {
                    // If this fails too, the next writer cuts it off.
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

/// Returns the error for a log with a record that this version does not know.
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
    let hint = "A newer skillfold wrote it; update this one. `skillfold audit` shows the log";
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
