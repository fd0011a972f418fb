//! Where a source is, in one form however it was typed, and patterns of such places.

use std::fmt;
use std::path::{Component, Path};

use crate::address::{Address, SourceKind};

const DIFFERENT_READINGS: &str = "programs could read a host or name in it differently";

/// The folders that relative and home paths start at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases<'b> {
    pub(crate) base: &'b Path,
    pub(crate) home: Option<&'b Path>,
}

/// Where a source is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourcePlace {
    /// `https`, `http`, `ssh`, or `file` for this machine; `None` in a pattern for any but `file`.
    scheme: Option<String>,
    /// The user, unless it is `git`.
    user: Option<String>,
    host: String,
    /// The port, unless it is the scheme's own.
    port: Option<String>,
    names: Vec<String>,
}

impl SourcePlace {
    /// Returns where an address leads, or why that cannot be compared with a pattern.
    pub(super) fn of(address: &Address, bases: Bases<'_>) -> Result<Self, &'static str> {
        let location = address.location();
        match (address.kind(), location.split_once("://")) {
            (SourceKind::Folder, _) => Self::local(location, bases),
            (_, Some(("file", path))) if path.contains('%') => Err(DIFFERENT_READINGS),
            // Git opens `x.git` and `x/.git` for `x` too.
            (_, Some(("file", path))) => {
                let path = path.strip_suffix('/').unwrap_or(path);
                Self::local(path.strip_suffix(".git").unwrap_or(path), bases)
            }
            (_, Some((scheme, rest))) => {
                let rest = rest.split('?').next().unwrap_or(rest);
                Self::remote(Some(scheme), rest)
            }
            // `user@host:path`, as ssh writes it.
            (_, None) => {
                let (authority, path) = location.split_once(':').ok_or(DIFFERENT_READINGS)?;
                let path = path.trim_start_matches('/');
                Self::remote(Some("ssh"), &format!("{authority}/{path}"))
            }
        }
    }

    fn remote(scheme: Option<&str>, rest: &str) -> Result<Self, &'static str> {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (host, None),
        };
        let own_port = match scheme {
            Some("https") => Some("443"),
            Some("http") => Some("80"),
            Some("ssh") => Some("22"),
            _ => None,
        };
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._[:]".contains(c);
        if host.is_empty() || !host.chars().all(is_plain) {
            return Err(DIFFERENT_READINGS);
        }
        if port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(DIFFERENT_READINGS);
        }
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_plain = |c: char| c.is_ascii_graphic() && !r"%\?#*".contains(c);
        let is_name = |name: &str| !matches!(name, "" | "." | "..") && name.chars().all(is_plain);
        let names: Vec<&str> = path.split('/').filter(|_| !path.is_empty()).collect();
        if !names.iter().all(|name| is_name(name)) {
            return Err(DIFFERENT_READINGS);
        }
        Ok(Self {
            scheme: scheme.map(str::to_owned),
            user: user.filter(|user| *user != "git").map(str::to_owned),
            host: host.to_ascii_lowercase(),
            port: port
                .filter(|port| Some(*port) != own_port)
                .map(str::to_owned),
            names: names.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Returns the place of a folder on this machine. Links are not followed.
    fn local(text: &str, bases: Bases<'_>) -> Result<Self, &'static str> {
        let mut names = Vec::new();
        let typed = if let Some(rest) = text.strip_prefix('~') {
            let home = bases.home.ok_or("there is no home")?;
            push_names(&mut names, home)?;
            rest.trim_start_matches(['/', '\\'])
        } else {
            push_names(&mut names, bases.base)?;
            text
        };
        push_names(&mut names, Path::new(typed))?;
        Ok(Self {
            scheme: Some("file".to_owned()),
            user: None,
            host: String::new(),
            port: None,
            names,
        })
    }
}

impl fmt::Display for SourcePlace {
    /// Writes the same for every way to reach the place: without the scheme and the user.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.host)?;
        if let Some(port) = &self.port {
            write!(formatter, ":{port}")?;
        }
        self.names
            .iter()
            .try_for_each(|name| write!(formatter, "/{name}"))
    }
}

/// Returns one name for a source, however it was typed. Two sources can share it if they differ in case.
pub(crate) fn place_name(address: &Address, bases: Bases<'_>) -> String {
    match SourcePlace::of(address, bases) {
        Ok(place) => place.to_string().to_lowercase(),
        Err(_) => address.location().to_owned(),
    }
}

/// Goes from a folder to another.
fn push_names(names: &mut Vec<String>, path: &Path) -> Result<(), &'static str> {
    let mut is_inside = false;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::RootDir if cfg!(windows) => names.truncate(1),
            Component::RootDir => names.clear(),
            // Behind a link, `..` is elsewhere.
            Component::ParentDir if is_inside => return Err("`..` follows a folder in it"),
            Component::ParentDir => _ = names.pop(),
            Component::Prefix(prefix) => {
                let drive = prefix.as_os_str().to_str().ok_or(DIFFERENT_READINGS)?;
                *names = vec![drive.to_ascii_lowercase()];
            }
            Component::Normal(name) => {
                names.push(name.to_str().ok_or(DIFFERENT_READINGS)?.to_owned());
                is_inside = true;
            }
        }
    }
    Ok(())
}

/// A place and everything below it, as a policy names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) text: String,
}

impl Pattern {
    /// Parses a pattern; the error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let pattern = Self {
            text: text.to_owned(),
        };
        let place = pattern.place(Bases {
            base: Path::new("/"),
            home: Some(Path::new("/")),
        })?;
        let Some(place) = place else {
            return Ok(pattern);
        };
        if place.scheme.is_none()
            && !place.host.contains(['.', ':'])
            && place.port.is_none()
            && place.host != "localhost"
        {
            return Err(
                "it starts with neither a host, as `github.com/owner`, nor `./`, `/` or `~/`",
            );
        }
        if place.host == "github.com" && place.names.len() > 2 {
            return Err("it names a folder in a repository; a policy is for whole repositories");
        }
        Ok(pattern)
    }

    /// Returns the place that it names; `None` if that is every place.
    fn place(&self, bases: Bases<'_>) -> Result<Option<SourcePlace>, &'static str> {
        let text = match self.text.strip_suffix('*') {
            Some("") => return Ok(None),
            Some(text) if text.ends_with('/') => text,
            Some(_) => return Err("`*` stands alone or after the last `/`"),
            None => &self.text,
        };
        let is_local = ["/", "./", "../", "~/"]
            .iter()
            .any(|it| text.starts_with(it))
            || Path::new(text).is_absolute();
        let place = match text.split_once("://") {
            _ if is_local => SourcePlace::local(text, bases)?,
            None => SourcePlace::remote(None, text)?,
            Some(("file", path)) => SourcePlace::local(path, bases)?,
            Some((scheme @ ("https" | "http" | "ssh"), rest)) => {
                SourcePlace::remote(Some(scheme), rest)?
            }
            Some(_) => return Err("its scheme is none of `https`, `http`, `ssh` and `file`"),
        };
        Ok(Some(place))
    }

    /// Returns whether a place is surely meant: what is written in another case is another place.
    pub(super) fn includes(&self, place: &SourcePlace, bases: Bases<'_>) -> bool {
        let is_local = |place: &SourcePlace| place.scheme.as_deref() == Some("file");
        match self.place(bases) {
            Ok(None) => true,
            Ok(Some(own)) => {
                let is_scheme =
                    own.scheme.is_none() && !is_local(place) || own.scheme == place.scheme;
                is_scheme
                    && (&own.user, &own.host, &own.port) == (&place.user, &place.host, &place.port)
                    && own.names.len() <= place.names.len()
                    && own
                        .names
                        .iter()
                        .zip(&place.names)
                        .all(|(own, other)| own == other || own.strip_suffix(".git") == Some(other))
            }
            Err(_) => false,
        }
    }

    /// Returns whether a place may be meant: whatever its scheme, its user, its port and its case.
    pub(super) fn may_include(&self, place: &SourcePlace, bases: Bases<'_>) -> bool {
        match self.place(bases) {
            Ok(Some(own)) => {
                let mut names = own.names.iter().zip(&place.names);
                own.host == place.host
                    && own.names.len() <= place.names.len()
                    && names.all(|(own, other)| {
                        let bare = own.strip_suffix(".git").unwrap_or(own);
                        own.eq_ignore_ascii_case(other) || bare.eq_ignore_ascii_case(other)
                    })
            }
            Ok(None) | Err(_) => true,
        }
    }
}
