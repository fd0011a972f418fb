//! Where skills come from, as the user types it.

use std::fmt;
use std::path::{Path, PathBuf};

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};

const FORMS: &str = "A source is `owner/repo`, `owner/repo/folder`, a git address (https, ssh or file), the address of a \
                     .tar.gz or .zip file, or a folder that starts with `./`, `/` or `~/`";
const CREDENTIALS: &str = "The lock would keep them; set up a git credential helper, or use ssh";
/// Maximum length of a source in bytes.
const MAX_BYTES: usize = 2048;
/// Endings of archives.
const ARCHIVES: [&str; 5] = [".tar.gz", ".tgz", ".tar", ".zip", ".skill"];

/// The kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// A git repository.
    Git,
    /// A folder on this machine.
    Folder,
    /// An archive at an address.
    Archive,
}

impl SourceKind {
    /// Returns the word for it in the lock.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Folder => "folder",
            Self::Archive => "archive",
        }
    }

    /// Returns the kind with this word.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Git, Self::Folder, Self::Archive];
        all.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Where skills come from: a repository, a folder or an archive, and which version.
///
/// ```
/// use skillfold_registry::Address;
///
/// let address = Address::parse("anthropics/skills/document-skills@v1.2.0")?;
/// assert_eq!(address.location(), "https://github.com/anthropics/skills");
/// assert_eq!(address.folder(), Some("document-skills"));
/// assert_eq!(address.version(), Some("v1.2.0"));
/// assert_eq!(address.source(), "anthropics/skills/document-skills");
/// # Ok::<(), skillfold_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    kind: SourceKind,
    source: String,
    location: String,
    folder: Option<String>,
    version: Option<String>,
    digest: Option<Digest>,
}

impl Address {
    /// Parses what the user typed.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if it is no source, or has a password in it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let invalid = || {
            let message = format!("Not a source: `{text}`");
            Error::new(ErrorKind::Invalid, message, FORMS)
        };
        let is_odd = text.is_empty() || text.len() > MAX_BYTES || text.starts_with('-');
        if is_odd || text.chars().any(char::is_control) {
            return Err(invalid());
        }
        if is_folder(text) {
            return Ok(Self::new(SourceKind::Folder, text, text.to_owned()));
        }
        if text.chars().any(char::is_whitespace) {
            return Err(invalid());
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return Self::parse_url(text, scheme, rest)?.ok_or_else(invalid);
        }
        let shorthand = [("github:", "github.com"), ("gitlab:", "gitlab.com")];
        for (prefix, host) in shorthand {
            if let Some(rest) = text.strip_prefix(prefix) {
                return Self::parse_hosted(text, host, rest).ok_or_else(invalid);
            }
        }
        if let Some((host, path)) = text.split_once(':') {
            let is_host = host.contains('@') && !host.contains('/');
            return Self::parse_scp(text, host, path)
                .filter(|_| is_host)
                .ok_or_else(invalid);
        }
        Self::parse_hosted(text, "github.com", text).ok_or_else(invalid)
    }

    /// Parses a source as the manifest has it, with the version beside it.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse), and if the source has a version too, or can have none.
    pub fn with_version(source: &str, version: Option<&str>) -> Result<Self, Error> {
        let mut address = Self::parse(source)?;
        if let Some(version) = version {
            if address.version.is_some() {
                return Err(Error::invalid(
                    source,
                    "It has a version, and another beside it",
                ));
            }
            if address.kind != SourceKind::Git {
                let why = "A folder or an archive has no versions";
                return Err(Error::invalid(source, why));
            }
            if !is_version(version) {
                return Err(Error::invalid(version, "It is not a version"));
            }
            address.version = Some(version.to_owned());
        }
        Ok(address)
    }

    fn new(kind: SourceKind, source: &str, location: String) -> Self {
        Self {
            kind,
            source: source.to_owned(),
            location,
            folder: None,
            version: None,
            digest: None,
        }
    }

    /// Parses `owner/repo[/folder][@version]` of a host.
    fn parse_hosted(text: &str, host: &str, rest: &str) -> Option<Self> {
        let (path, version) = split_version(rest)?;
        let mut names = path.split('/');
        let (owner, repository) = (names.next()?, names.next()?);
        let repository = repository.strip_suffix(".git").unwrap_or(repository);
        if !is_name(owner) || !is_name(repository) {
            return None;
        }
        let location = format!("https://{host}/{owner}/{repository}");
        let source = &text[..text.len() - rest.len() + path.len()];
        let mut address = Self::new(SourceKind::Git, source.trim_end_matches('/'), location);
        address.set_folder(names)?;
        address.version = version;
        Some(address)
    }

    /// Parses `user@host:path[@version]`, as ssh writes it.
    fn parse_scp(text: &str, host: &str, path: &str) -> Option<Self> {
        let (path, version) = split_version(path)?;
        let (user, name) = host.split_once('@')?;
        if !is_name(user) || !is_name(name) || path.is_empty() || path.starts_with('-') {
            return None;
        }
        let source = &text[..host.len() + 1 + path.len()];
        let (repository, folder) = split_repository(path);
        let location = format!("{host}:{repository}");
        let mut address = Self::new(SourceKind::Git, source, location);
        address.set_folder(folder.split('/'))?;
        address.version = version;
        Some(address)
    }

    /// Parses an address with a scheme. `None` if it is none that is supported.
    fn parse_url(text: &str, scheme: &str, rest: &str) -> Result<Option<Self>, Error> {
        let scheme = scheme.strip_prefix("git+").unwrap_or(scheme);
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (rest, None),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let is_allowed = match scheme {
            "https" => !host.is_empty() && user.is_none(),
            // Without encryption only to this machine.
            "http" => is_loopback(host) && user.is_none(),
            "ssh" => !host.is_empty() && user.is_none_or(is_name),
            "file" => host.is_empty() && user.is_none() && path.len() > 1,
            _ => false,
        };
        if user.is_some() && scheme.starts_with("http") {
            let message = format!("The address of `{host}` has a user or password in it");
            return Err(Error::new(ErrorKind::Invalid, message, CREDENTIALS));
        }
        if scheme == "http" && !is_loopback(host) {
            let message = format!("`http://{host}` is not encrypted");
            let hint = "Use https; http is only for this machine";
            return Err(Error::new(ErrorKind::Invalid, message, hint));
        }
        if !is_allowed || host.starts_with('-') {
            return Ok(None);
        }
        let is_web = scheme.starts_with("http");
        let bare = path.split('?').next().unwrap_or(path);
        if is_web && ARCHIVES.iter().any(|end| bare.ends_with(end)) {
            let location = format!("{scheme}://{authority}{path}");
            let mut address = Self::new(SourceKind::Archive, &location, location.clone());
            if let Some(digest) = fragment {
                address.digest = Some(digest.parse().map_err(|_| {
                    let why = "What follows `#` is not a digest: `sha256:` and 64 digits";
                    Error::invalid(text, why)
                })?);
                address.source = format!("{location}#{digest}");
            }
            return Ok(Some(address));
        }
        Ok(Self::parse_repository(
            scheme, authority, host, path, fragment,
        ))
    }

    /// Parses the address of a repository.
    fn parse_repository(
        scheme: &str,
        authority: &str,
        host: &str,
        path: &str,
        fragment: Option<&str>,
    ) -> Option<Self> {
        let (path, mut version) = split_version(path)?;
        let path = path.trim_end_matches('/');
        // An archive has no versions.
        let is_archive = scheme.starts_with("http") && ARCHIVES.iter().any(|it| path.ends_with(it));
        if path.contains('?') || is_archive {
            return None;
        }
        let (mut repository, mut folder) = split_repository(path);
        if let Some((before, name, inner)) = page(host, path).filter(|_| folder.is_empty()) {
            if version.is_some() || !is_version(name) {
                return None;
            }
            version = Some(name.to_owned());
            (repository, folder) = (before, inner);
        } else if host == "github.com" && folder.is_empty() {
            let third = path.match_indices('/').nth(2).map(|(at, _)| at);
            if let Some(third) = third {
                (repository, folder) = (&path[..third], &path[third + 1..]);
            }
        }
        if let Some(fragment) = fragment {
            if version.is_some() || !is_version(fragment) {
                return None;
            }
            version = Some(fragment.to_owned());
        }
        let has_name = repository.rsplit('/').next().is_some_and(is_name);
        if !has_name || repository.split('/').any(|name| name == "..") {
            return None;
        }
        // Where the repository ends must be in the text, which is no page.
        let is_short = host == "github.com" && repository.matches('/').count() == 2;
        let is_page = folder.starts_with("tree/") || folder.starts_with("blob/");
        let is_clear =
            folder.is_empty() || repository.strip_suffix(".git").is_some() || is_short && !is_page;
        let end = if is_clear { "" } else { ".git" };
        let location = format!("{scheme}://{authority}{repository}{end}");
        let source = match folder {
            "" => location.clone(),
            folder => format!("{location}/{folder}"),
        };
        let mut address = Self::new(SourceKind::Git, &source, location);
        address.set_folder(folder.split('/'))?;
        address.version = version;
        Some(address)
    }

    /// Sets the folder inside the source. `None` if it is not one.
    fn set_folder<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Option<()> {
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        if names.iter().any(|name| matches!(*name, "." | "..")) {
            return None;
        }
        self.folder = (!names.is_empty()).then(|| names.join("/"));
        Some(())
    }

    /// Returns the kind of the source.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// Returns the source as typed, without the version. An archive's digest is a part of it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns where the source is: what git or HTTP are given, or the folder as typed.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Returns the folder inside the source, if one was named.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Returns the version that was named: a tag, a range over tags, a branch or a commit.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns the digest that an archive must have.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    /// Returns the host that is asked, in lowercase and without the port; `None` if none is.
    pub fn host(&self) -> Option<String> {
        match self.kind {
            SourceKind::Folder => None,
            _ => host(&self.location),
        }
    }

    /// Returns the folder on this machine, for a source that is one. `base` is the folder that a relative path starts at.
    pub fn local_folder(&self, base: &Path, home: Option<&Path>) -> Option<PathBuf> {
        if self.kind != SourceKind::Folder {
            return None;
        }
        match self.location.strip_prefix('~') {
            Some(rest) => Some(home?.join(rest.trim_start_matches(['/', '\\']))),
            None => Some(base.join(&self.location)),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)?;
        match &self.version {
            Some(version) => write!(formatter, "@{version}"),
            None => Ok(()),
        }
    }
}

/// Returns the host in the location of a repository or an archive, in lowercase and without the port.
pub(crate) fn host(location: &str) -> Option<String> {
    let authority = match location.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split('/').next()?,
        None => location.split(':').next()?,
    };
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next()?,
        None => host.split(':').next()?,
    };
    Some(host.to_ascii_lowercase())
}

/// Returns whether a source is a folder on this machine.
fn is_folder(text: &str) -> bool {
    let starts = ["./", "../", "/", "~/", ".\\", "..\\", "~\\"];
    let is_drive = || {
        let mut chars = text.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.next() == Some(':')
            && matches!(chars.next(), Some('\\' | '/'))
    };
    matches!(text, "." | ".." | "~")
        || starts.iter().any(|start| text.starts_with(start))
        || is_drive()
}

/// Splits `path@version`, or `path#version` as another tool writes it. `None` if the version is not one.
fn split_version(text: &str) -> Option<(&str, Option<String>)> {
    match text.split_once(['@', '#']) {
        None => Some((text, None)),
        Some((path, version)) if is_version(version) => Some((path, Some(version.to_owned()))),
        Some(_) => None,
    }
}

/// Splits the path of a folder's page, as browsers show it: the repository, `/tree/`, a branch or tag, and the folder.
fn page<'p>(host: &str, path: &'p str) -> Option<(&'p str, &'p str, &'p str)> {
    let words = match host {
        "github.com" => ["/tree/", "/blob/"],
        "gitlab.com" => ["/-/tree/", "/-/blob/"],
        _ => return None,
    };
    let (repository, rest) = words.iter().find_map(|word| path.split_once(word))?;
    let is_repository = host != "github.com" || repository.matches('/').count() == 2;
    let (version, folder) = rest.split_once('/').unwrap_or((rest, ""));
    let folder = folder.strip_suffix("SKILL.md").unwrap_or(folder);
    is_repository.then_some((repository, version, folder.trim_end_matches('/')))
}

/// Splits a path behind `.git`, or returns all of it.
fn split_repository(path: &str) -> (&str, &str) {
    match path.find(".git/") {
        Some(at) => (&path[..at + 4], &path[at + 5..]),
        None => (path, ""),
    }
}

/// Returns whether a text can be a tag, a branch, a commit or a range: what git and a command line take safely.
pub(crate) fn is_version(text: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '\\' | ':' | '?' | '[');
    !text.is_empty()
        && text.len() <= 255
        && !text.starts_with('-')
        && !text.contains("..")
        && !text.contains("@{")
        && text.trim() == text
        && !text.chars().any(is_odd)
}

fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    !text.is_empty() && !text.starts_with(['-', '.']) && text.chars().all(is_plain)
}

/// Returns whether a host, with or without a port, is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.strip_prefix("[::1]") {
        Some(port) => ("::1", port.strip_prefix(':')),
        None => match host.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        },
    };
    matches!(name, "localhost" | "127.0.0.1" | "::1")
        && port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}
