//! The file of named tokens, for programs that cannot log in; and what was revoked.
//!
//! It has digests, not tokens. It is read again when it changes, so that a token that is removed ends within a second.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;
use skillfold_core::diagnostic::visible;
use skillfold_core::{Error, ErrorKind};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::time::now;
use crate::token::{Token, hex};
use crate::token_scope::{TokenScope, TokenScopes};
use crate::version::next_version;

/// The format of the file.
const FORMAT: u32 = 1;

/// Maximum size of the file; 10,000 tokens have about 2 MiB.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// How often to look whether the file changed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Maximum length of a token's name in bytes.
const MAX_NAME_BYTES: usize = 64;

/// What a new file begins with.
const HEAD: &str = "# Tokens of programs: each by its SHA-256 digest. `skillfold access add NAME` adds one.\n\
                    # The server reads this file again when it changes.\n\
                    format = 1\n";

/// A named token, without the token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedToken {
    /// Its name.
    pub name: String,
    /// The groups that it is in.
    pub groups: Vec<String>,
    /// What it may be used for.
    pub scopes: TokenScopes,
    /// When it expires, in seconds since 1970.
    pub expires: Option<u64>,
}

impl NamedToken {
    /// Creates a token that may be used for reading and does not expire. A name has letters, digits, `-`, `_` and `.`.
    pub fn new(name: &str) -> Result<Self, Error> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) {
            let why = format!(
                "the name of a token may have letters, digits, `-`, `_` and `.`, at most {MAX_NAME_BYTES}"
            );
            return Err(Error::invalid(visible(name), why));
        }
        Ok(Self {
            name: name.to_owned(),
            groups: Vec::new(),
            scopes: TokenScopes::default().with(TokenScope::Read),
            expires: None,
        })
    }

    fn is_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[expect(dead_code, reason = "checked before")]
    format: u32,
    #[serde(default)]
    tokens: BTreeMap<String, WrittenToken>,
    #[serde(default)]
    revoked: Revoked,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenToken {
    sha256: String,
    #[serde(default)]
    groups: Vec<String>,
    scopes: Vec<String>,
    /// In seconds since 1970.
    expires: Option<u64>,
}

/// Tokens of the identity provider that are not accepted any more.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Revoked {
    /// All tokens of these subjects (`sub`).
    #[serde(default)]
    subjects: Vec<String>,
    /// Tokens with these ids (`jti`).
    #[serde(default)]
    ids: Vec<String>,
}

/// What the file said when it was read last.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    by_digest: HashMap<[u8; 32], NamedToken>,
    revoked: Revoked,
    /// Differs from that of every other version of the file.
    pub(crate) version: u64,
}

/// A version of a file: changing it changes one of these.
type Stamp = (u64, Option<SystemTime>, u64);

/// The file of named tokens.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tokens: Arc<Tokens>,
    stamp: Option<Stamp>,
    looked: Instant,
    /// Why the file on disk is not used.
    problem: Option<String>,
}

impl TokenFile {
    /// Reads a file of tokens. One that does not exist has none, and may be made later.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let (tokens, stamp) = match read(&path) {
            Ok((text, stamp)) => (parse(&path, &text)?, Some(stamp)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Tokens::none(), None),
            Err(error) => return Err(Error::read(what(&path), error)),
        };
        let state = State {
            tokens: Arc::new(tokens),
            stamp,
            looked: Instant::now(),
            problem: None,
        };
        Ok(Self {
            path,
            state: Mutex::new(state),
        })
    }

    /// Returns the tokens, after reading the file again if it changed. One that cannot be read any more leaves the tokens as
    /// they were, until it can or is removed.
    pub(crate) fn current(&self) -> Arc<Tokens> {
        let mut state = self.lock();
        if state.looked.elapsed() < LOOK_EVERY {
            return Arc::clone(&state.tokens);
        }
        state.looked = Instant::now();
        let stamp = std::fs::metadata(&self.path).ok().map(|it| stamp(&it));
        if stamp == state.stamp {
            return Arc::clone(&state.tokens);
        }
        state.stamp = stamp;
        let tokens = match read(&self.path) {
            Ok((text, _)) => parse(&self.path, &text).map_err(|error| error.with_cause()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Tokens::none()),
            Err(error) => Err(error.to_string()),
        };
        match tokens {
            Ok(tokens) => {
                tracing::info!(
                    tokens = tokens.by_digest.len(),
                    "read the file of tokens again"
                );
                (state.tokens, state.problem) = (Arc::new(tokens), None);
            }
            Err(why) => {
                tracing::error!(
                    why,
                    "the file of tokens cannot be read; those that it had are still accepted"
                );
                state.problem = Some(why);
            }
        }
        Arc::clone(&state.tokens)
    }

    /// Returns why the file on disk is not the one that is used, if so.
    pub fn problem(&self) -> Option<String> {
        self.current();
        self.lock().problem.clone()
    }

    /// Returns the tokens by name.
    pub fn tokens(&self) -> Vec<NamedToken> {
        let mut tokens: Vec<_> = self.current().by_digest.values().cloned().collect();
        tokens.sort_by(|one, other| one.name.cmp(&other.name));
        tokens
    }

    /// Returns the text of a file with one more token: of an empty one, or of one that may have comments. Fails if there is
    /// a token with this name.
    pub fn with_token(text: &str, named: &NamedToken, token: &Token) -> Result<String, Error> {
        let mut document = document(text)?;
        let tokens = document.entry("tokens").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let tokens = tokens
            .as_table_mut()
            .ok_or_else(|| Error::invalid("tokens", "it is no table"))?;
        if tokens.contains_key(&named.name) {
            let message = format!("There is a token `{}` already", named.name);
            let hint = "Choose another name, or remove it first: `skillfold access remove NAME`";
            return Err(Error::new(ErrorKind::Exists, message, hint));
        }
        let mut entry = Table::new();
        entry["sha256"] = value(hex(&token.digest()));
        if !named.groups.is_empty() {
            entry["groups"] = value(named.groups.iter().collect::<Array>());
        }
        let scopes = TokenScope::ALL
            .into_iter()
            .filter(|scope| named.scopes.has(*scope));
        entry["scopes"] = value(scopes.map(TokenScope::as_str).collect::<Array>());
        if let Some(expires) = named.expires {
            entry["expires"] = value(i64::try_from(expires).unwrap_or(i64::MAX));
        }
        tokens.insert(&named.name, Item::Table(entry));
        Ok(document.to_string())
    }

    /// Returns the text of a file without a token; `None` if there is none with this name.
    pub fn without_token(text: &str, name: &str) -> Result<Option<String>, Error> {
        let mut document = document(text)?;
        let tokens = document.get_mut("tokens").and_then(Item::as_table_mut);
        let removed = tokens.and_then(|tokens| tokens.remove(name));
        Ok(removed.map(|_| document.to_string()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tokens {
    fn none() -> Self {
        Self {
            version: next_version(),
            ..Self::default()
        }
    }

    /// Returns the token with a digest, if it has not expired.
    pub(crate) fn find(&self, digest: &[u8; 32]) -> Result<Option<&NamedToken>, Expired> {
        match self.by_digest.get(digest) {
            Some(token) if token.is_expired(now()) => Err(Expired),
            token => Ok(token),
        }
    }

    /// Returns whether a token of the identity provider was revoked.
    pub(crate) fn is_revoked(&self, subject: &str, id: Option<&str>) -> bool {
        let Revoked { subjects, ids } = &self.revoked;
        subjects.iter().any(|it| it == subject)
            || id.is_some_and(|id| ids.iter().any(|it| it == id))
    }
}

/// A token that has expired.
pub(crate) struct Expired;

fn what(path: &Path) -> String {
    path.display().to_string()
}

/// Returns where a file is not as it should be, and why.
fn at_line(text: &str, error: &toml::de::Error) -> String {
    let line = error
        .span()
        .map(|span| 1 + text[..span.start].matches('\n').count());
    line.map_or_else(
        || error.message().to_owned(),
        |line| format!("line {line}: {}", error.message()),
    )
}

fn stamp(metadata: &Metadata) -> Stamp {
    #[cfg(unix)]
    let file = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let file = 0;
    (metadata.len(), metadata.modified().ok(), file)
}

/// Reads the file, which only its owner may change.
fn read(path: &Path) -> io::Result<(String, Stamp)> {
    #[expect(clippy::disallowed_methods, reason = "the operator names the file")]
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.permissions().mode() & 0o022 != 0 {
            return Err(io::Error::other("others may change it; `chmod go-w` it"));
        }
    }
    if metadata.len() > MAX_BYTES {
        return Err(io::Error::other(format!(
            "it has more than {} MiB",
            MAX_BYTES >> 20
        )));
    }
    let mut text = String::new();
    file.by_ref().take(MAX_BYTES).read_to_string(&mut text)?;
    Ok((text, stamp(&metadata)))
}

fn parse(path: &Path, text: &str) -> Result<Tokens, Error> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let invalid = |why: String| Error::invalid(what(path), why);
    let unreadable = |error: toml::de::Error| invalid(at_line(text, &error));
    let Format { format } = toml::from_str(text).map_err(unreadable)?;
    if format != FORMAT {
        return Err(invalid(format!(
            "it has format {format}, and this version reads format {FORMAT}"
        )));
    }
    let written: Written = toml::from_str(text).map_err(unreadable)?;
    let mut by_digest = HashMap::new();
    for (name, entry) in written.tokens {
        let digest = unhex(&entry.sha256)
            .ok_or_else(|| invalid(format!("`tokens.{name}.sha256` is no digest")))?;
        let mut token = NamedToken::new(&name)?;
        if let Some(unknown) = entry
            .scopes
            .iter()
            .find(|scope| TokenScope::find(scope).is_none())
        {
            return Err(invalid(format!(
                "`tokens.{name}.scopes` has `{unknown}`; there are {}",
                TokenScopes::ALL
            )));
        }
        token.scopes = TokenScopes::from_words(entry.scopes.iter().map(String::as_str));
        token.groups = entry.groups;
        token.expires = entry.expires;
        if by_digest.insert(digest, token).is_some() {
            return Err(invalid(format!(
                "`tokens.{name}` is the same token as another"
            )));
        }
    }
    Ok(Tokens {
        by_digest,
        revoked: written.revoked,
        version: next_version(),
    })
}

fn document(text: &str) -> Result<DocumentMut, Error> {
    let text = if text.trim().is_empty() { HEAD } else { text };
    let file = "the file of tokens";
    parse(Path::new(file), text)?;
    text.parse()
        .map_err(|error: toml_edit::TomlError| Error::invalid(file, error.message()))
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}
