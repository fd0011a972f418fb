//! Who may approve, and how an approval is proven.
//!
//! An approval is given at a terminal, with a passphrase, by the host program or through a client. `docs/improve.md`
//! says what each proves.

use std::fmt;
use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use ed25519_compact::{KeyPair, PublicKey, Seed, Signature};
use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::text::FormatNumber;
use skillfold_core::{Error, Refusal};

use crate::files::write_root::{ReadFile, WriteRoot};
use crate::proposals::log::{ApprovedBy, Event, LogRecords, Operation, Record, RecordedApproval};

/// The file that stores the passphrase verifier.
pub(super) const PASSPHRASE_FILE: &str = "passphrase.json";
const MAX_FILE_BYTES: u64 = 4 << 10;

/// Memory and passes for key derivation, as OWASP recommends for Argon2id.
const MEMORY_KIB: u32 = 19 << 10;
const PASSES: u32 = 2;
const MIN_CHARACTERS: usize = 8;

/// An approval: who gave it, and how.
#[derive(Clone)]
pub struct Approval {
    by: String,
    how: ApprovedBy,
    passphrase: Option<String>,
}

impl Approval {
    /// The user agreed at a terminal. The caller has asked them.
    pub fn at_terminal(by: impl Into<String>) -> Self {
        Self {
            by: by.into(),
            how: ApprovedBy::Terminal,
            passphrase: None,
        }
    }

    /// The host program approves on its own authority, or lets someone with this name approve, such as a reviewer
    /// agent. No agent tool leads here.
    pub fn by_host(name: impl Into<String>) -> Self {
        Self {
            by: name.into(),
            how: ApprovedBy::Host,
            passphrase: None,
        }
    }

    /// A client with this name prompted the user, and says they agreed. Counts only for running a skill, and only if
    /// the user [lets clients ask](crate::Store::set_client_approval).
    pub fn by_client(name: impl Into<String>) -> Self {
        Self {
            by: name.into(),
            how: ApprovedBy::Client,
            passphrase: None,
        }
    }

    /// Adds the passphrase.
    #[must_use]
    pub fn with_passphrase(mut self, passphrase: impl Into<String>) -> Self {
        self.passphrase = Some(passphrase.into());
        self.how = ApprovedBy::Passphrase;
        self
    }

    /// Returns who gave it.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Returns how it was given.
    pub fn how(&self) -> ApprovedBy {
        self.how
    }

    /// Returns the approval as logged, without a proof.
    pub(crate) fn recorded(&self) -> RecordedApproval {
        RecordedApproval {
            by: self.by.clone(),
            how: self.how,
            proof: None,
        }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omits the passphrase.
        write!(formatter, "Approval({} by {:?})", self.how, self.by)
    }
}

/// What an approval requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Requirement {
    /// The user at a terminal, or the host.
    #[default]
    Terminal,
    /// The passphrase.
    Passphrase,
}

/// The passphrase verifier; the passphrase cannot be recovered from it.
#[derive(Serialize, Deserialize)]
struct StoredPassphrase {
    format: FormatNumber<2>,
    salt: String,
    memory_kib: u32,
    passes: u32,
    /// The public half of the key, in hexadecimal: it checks proofs without the passphrase.
    public_key: String,
}

/// A signing key derived from the passphrase.
pub(crate) struct Key(KeyPair);

impl Key {
    fn derive(passphrase: &str, stored: &StoredPassphrase) -> Option<Self> {
        // Bounds the cost that a tampered file can cause.
        if stored.memory_kib > MEMORY_KIB * 8 || stored.passes > PASSES * 8 {
            return None;
        }
        let params = Params::new(stored.memory_kib, stored.passes, 1, None).ok()?;
        let mut seed = [0; Seed::BYTES];
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon
            .hash_password_into(passphrase.as_bytes(), stored.salt.as_bytes(), &mut seed)
            .ok()?;
        Some(Self(KeyPair::from_seed(Seed::new(seed))))
    }

    /// Returns the proof that the key's owner agreed to `what`.
    pub(crate) fn prove(&self, what: &str) -> String {
        to_hex(&*self.0.sk.sign(what, None))
    }

    fn public(&self) -> String {
        to_hex(&*self.0.pk)
    }
}

/// Returns whether a proof is the passphrase owner's agreement to `what`, by the public half of the key.
fn is_proof(public_key: &str, what: &str, proof: &str) -> bool {
    let key = from_hex(public_key).and_then(|bytes| PublicKey::from_slice(&bytes).ok());
    let signature = from_hex(proof).and_then(|bytes| Signature::from_slice(&bytes).ok());
    let (Some(key), Some(signature)) = (key, signature) else {
        return false;
    };
    key.verify(what, &signature).is_ok()
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;

    let mut text = String::new();
    for byte in bytes {
        _ = write!(text, "{byte:02x}");
    }
    text
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

/// Returns the text that an approval of a change signs.
pub(crate) fn approved(subject: Digest, before: Option<Digest>, after: Option<Digest>) -> String {
    let text = |digest: Option<Digest>| digest.map_or_else(|| "-".to_owned(), |it| it.to_string());
    format!("approve\n{subject}\n{}\n{}", text(before), text(after))
}

/// Returns the text that a decision on client prompts signs.
pub(crate) fn clients_may_ask(allowed: bool) -> String {
    format!("clients may ask\n{allowed}")
}

/// Checks an approval against the requirement, and returns it as logged.
pub(crate) fn check(
    root: &WriteRoot,
    approval: &Approval,
    requirement: Requirement,
    what: &str,
) -> Result<RecordedApproval, Error> {
    let refused = |rule| Err(Error::refused("the change", Refusal::Approval, rule));
    if approval.how == ApprovedBy::Client {
        return refused("A client cannot approve this; approve it at a terminal");
    }
    let proof = match (&approval.passphrase, requirement) {
        (None, Requirement::Terminal) => None,
        (None, Requirement::Passphrase) => {
            return refused(
                "The settings require the passphrase; approve at a terminal, which asks for it",
            );
        }
        (Some(passphrase), _) => match key(root, passphrase)? {
            Some(key) => Some(key.prove(what)),
            None => return refused("Wrong passphrase; try again"),
        },
    };
    Ok(RecordedApproval {
        proof,
        ..approval.recorded()
    })
}

/// The result of verifying the approval proofs in a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedProofs {
    /// Records approved with the passphrase.
    pub right: Vec<u64>,
    /// Records whose proof does not match the passphrase.
    pub wrong: Vec<u64>,
    /// Records approved without a passphrase after it was set.
    pub without: Vec<u64>,
    /// Number of approvals given before the passphrase was set; they are not checked.
    pub earlier: usize,
}

impl CheckedProofs {
    fn count(&mut self, number: u64, approval: &RecordedApproval, proof: Option<&str>) {
        let records = match approval.proof.as_deref() {
            None => &mut self.without,
            given if given == proof => &mut self.right,
            Some(_) => &mut self.wrong,
        };
        records.push(number);
    }
}

/// Checks the proofs recorded since the passphrase was set.
pub(crate) fn check_proofs(
    root: &WriteRoot,
    log: &LogRecords,
    passphrase: &str,
) -> Result<CheckedProofs, Error> {
    let Some(key) = key(root, passphrase)? else {
        let rule = "Wrong passphrase; try again";
        return Err(Error::refused("the proofs", Refusal::Approval, rule));
    };
    let mut checked = CheckedProofs::default();
    let decided = |record: &&Record| matches!(record.event, Event::ClientsMayAsk { .. });
    let mut records: Vec<&Record> = log
        .done()
        .chain(log.records.iter().filter(decided))
        .collect();
    records.sort_by_key(|record| record.number);
    for record in records {
        let (operation, before, after) = match &record.event {
            Event::Started {
                operation,
                before,
                after,
                ..
            } => (operation, before, after),
            Event::ClientsMayAsk { allowed, approval } => {
                let proof = key.prove(&clients_may_ask(*allowed));
                checked.count(record.number, approval, Some(&proof));
                continue;
            }
            _ => continue,
        };
        let (approval, what) = match operation {
            Operation::SetPassphrase => {
                let earlier = checked.right.len() + checked.wrong.len() + checked.without.len();
                checked = CheckedProofs {
                    earlier: checked.earlier + earlier,
                    ..CheckedProofs::default()
                };
                continue;
            }
            Operation::Approve {
                proposal, approval, ..
            } => (approval, Some(approved(*proposal, *before, *after))),
            Operation::RollBack { approval, .. } => {
                let what = after.map(|version| approved(version, *before, *after));
                (approval, what)
            }
            Operation::Allow {
                allowance,
                approval,
            } => (approval, Some(allowance.signed_text())),
            _ => continue,
        };
        let proof = what.map(|what| key.prove(&what));
        checked.count(record.number, approval, proof.as_deref());
    }
    Ok(checked)
}

/// Returns whether a passphrase is set.
pub(crate) fn has_passphrase(root: &WriteRoot) -> Result<bool, Error> {
    Ok(root
        .read(Path::new(PASSPHRASE_FILE), MAX_FILE_BYTES)?
        .is_some())
}

fn stored_passphrase(root: &WriteRoot) -> Result<Option<StoredPassphrase>, Error> {
    let Some(file) = root.read(Path::new(PASSPHRASE_FILE), MAX_FILE_BYTES)? else {
        return Ok(None);
    };
    let stored = serde_json::from_slice(file.bytes()).map_err(|error| {
        let path = root.full_path(Path::new(PASSPHRASE_FILE));
        Error::invalid(path.to_string_lossy(), error.to_string())
    })?;
    Ok(Some(stored))
}

/// Returns the key if the passphrase is correct.
pub(crate) fn key(root: &WriteRoot, passphrase: &str) -> Result<Option<Key>, Error> {
    let Some(stored) = stored_passphrase(root)? else {
        let rule = "No passphrase is set; set one with `skillfold passphrase`";
        return Err(Error::refused("the change", Refusal::Approval, rule));
    };
    let key = Key::derive(passphrase, &stored);
    Ok(key.filter(|key| key.public() == stored.public_key))
}

/// Returns whether an approval has the passphrase's proof for `what`. Needs no passphrase.
pub(crate) fn is_proven(
    root: &WriteRoot,
    approval: &RecordedApproval,
    what: &str,
) -> Result<bool, Error> {
    let (Some(stored), Some(proof)) = (stored_passphrase(root)?, &approval.proof) else {
        return Ok(false);
    };
    Ok(is_proof(&stored.public_key, what, proof))
}

/// Returns the current passphrase file and its new content, if the old passphrase is correct. Requires the store's
/// lock.
pub(crate) fn new_passphrase(
    root: &WriteRoot,
    new: &str,
    old: Option<&str>,
) -> Result<(Option<ReadFile>, Vec<u8>), Error> {
    if new.chars().count() < MIN_CHARACTERS {
        let why = format!("The passphrase is too short; use at least {MIN_CHARACTERS} characters");
        return Err(Error::invalid("passphrase", why));
    }
    let file = root.read(Path::new(PASSPHRASE_FILE), MAX_FILE_BYTES)?;
    if file.is_some() && key(root, old.unwrap_or_default())?.is_none() {
        let rule = "The old passphrase is wrong; nothing was changed";
        return Err(Error::refused("passphrase", Refusal::Approval, rule));
    }
    let failed = || Error::invalid("passphrase", "The system's random number generator failed");
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|_| failed())?;
    let mut stored = StoredPassphrase {
        format: FormatNumber::default(),
        salt: Digest::sha256(&salt).to_string(),
        memory_kib: MEMORY_KIB,
        passes: PASSES,
        public_key: String::new(),
    };
    let key = Key::derive(new, &stored).ok_or_else(failed)?;
    stored.public_key = key.public();
    Ok((file, serde_json::to_vec(&stored).unwrap_or_default()))
}
