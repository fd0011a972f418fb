//! Where and how skills are fetched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};

use crate::policy::SourcePolicy;

/// How long one answer may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Whether anything may be fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchPolicy {
    /// Sources are asked.
    #[default]
    Online,
    /// Only what is on this machine is used.
    Offline,
}

/// Is told what is being fetched.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Where and how skills are fetched.
#[derive(Clone)]
#[non_exhaustive]
pub struct FetchOptions {
    /// The folder of the copies of repositories.
    pub cache: PathBuf,
    /// The folder that relative sources start at.
    pub base: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The program that is git.
    pub git: OsString,
    /// The user's environment. Git gets some of it; proxies are taken from it.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether anything may be fetched.
    pub network: FetchPolicy,
    /// Tokens by host.
    pub tokens: Tokens,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Is told what is being fetched.
    pub progress: Option<Progress>,
    /// Which sources and versions may be used.
    pub policy: SourcePolicy,
    /// The time, for the age of versions. Without it, none is old enough for a policy.
    pub now: SystemTime,
}

impl fmt::Debug for FetchOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("FetchOptions");
        shown.field("cache", &self.cache).field("base", &self.base);
        shown
            .field("network", &self.network)
            .finish_non_exhaustive()
    }
}

impl FetchOptions {
    /// Creates options with a cache folder and the folder that relative sources start at.
    pub fn new(cache: PathBuf, base: PathBuf) -> Self {
        Self {
            cache,
            base,
            home: None,
            git: "git".into(),
            environment: Vec::new(),
            network: FetchPolicy::default(),
            tokens: Tokens::default(),
            timeout: TIMEOUT,
            progress: None,
            policy: SourcePolicy::default(),
            now: UNIX_EPOCH,
        }
    }

    /// Refuses to ask a source if nothing may be fetched.
    pub(crate) fn check_online(&self, source: &str) -> Result<(), Error> {
        match self.network {
            FetchPolicy::Online => Ok(()),
            FetchPolicy::Offline => {
                let message = format!("`{source}` is needed, and nothing may be fetched");
                let hint = "Run it once without `--offline`, or add a vendor folder with `skillfold vendor`";
                Err(Error::new(ErrorKind::NotFound, message, hint))
            }
        }
    }

    /// Returns the path of what the cache has in a folder for a source.
    pub(crate) fn cached(&self, folder: &str, source: &str) -> PathBuf {
        let name = Digest::sha256(source.as_bytes()).to_string();
        self.cache.join(folder).join(&name["sha256:".len()..][..32])
    }

    /// Says what is being fetched.
    pub(crate) fn tell(&self, what: &str) {
        if let Some(progress) = &self.progress {
            progress(what);
        }
    }

    /// Returns a variable of the user's environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.iter().find(|(key, _)| key == name)?;
        found.1.to_str().filter(|value| !value.is_empty())
    }
}

/// Tokens by host, in lowercase and without the port.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tokens(BTreeMap<String, Option<String>>);

impl Tokens {
    /// Returns the token for a host.
    pub fn get(&self, host: &str) -> Option<&str> {
        self.0.get(host)?.as_deref()
    }

    /// Returns what the user can do to log in to a host.
    pub(crate) fn advice(&self, host: &str) -> String {
        let variable = format!("`SKILLFOLD_TOKEN_{}`", token_variable(host));
        match self.0.get(host) {
            Some(None) => format!("correct {variable}, which has a space or a special character"),
            Some(Some(_)) | None => format!("set {variable}"),
        }
    }
}

impl FromIterator<(String, String)> for Tokens {
    /// Collects tokens by host; a later one wins. One with a space or a control character in it is not used, since it would be
    /// more than a header, and errors say so.
    fn from_iter<T: IntoIterator<Item = (String, String)>>(tokens: T) -> Self {
        let mut collected = Self::default();
        for (host, token) in tokens {
            match token.trim() {
                "" => {}
                token if token.bytes().all(|it| it.is_ascii_graphic()) => {
                    collected.0.insert(host, Some(token.to_owned()));
                }
                _ => _ = collected.0.entry(host).or_default(),
            }
        }
        collected
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// Returns the end of the name of a host's token variable: `GIT_MY__TEAM_COM` for `git.my-team.com`. Two hosts never share one,
/// since no host has two dots in a row.
fn token_variable(host: &str) -> String {
    host.to_ascii_uppercase()
        .replace('-', "__")
        .replace('.', "_")
}

/// Returns the host that the end of a token variable's name stands for.
pub fn token_host(variable: &str) -> String {
    let variable = variable.to_ascii_lowercase();
    let parts: Vec<String> = variable
        .split("__")
        .map(|part| part.replace('_', "."))
        .collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Tokens, token_host, token_variable};

    #[test]
    fn token_with_a_space_in_it_is_named_and_not_used() {
        let tokens = [
            ("a.com", " good\n"),
            ("b-c.com", "two words"),
            ("a.com", ""),
        ];
        let tokens = tokens.map(|(host, token)| (host.to_owned(), token.to_owned()));
        let tokens: Tokens = tokens.into_iter().collect();
        assert_eq!(
            (tokens.get("a.com"), tokens.get("b-c.com")),
            (Some("good"), None)
        );
        insta::assert_snapshot!(tokens.advice("b-c.com"), @"correct `SKILLFOLD_TOKEN_B__C_COM`, which has a space or a special character");
        insta::assert_snapshot!(tokens.advice("d.com"), @"set `SKILLFOLD_TOKEN_D_COM`");
    }

    proptest! {
        #[test]
        fn every_host_has_a_token_variable_of_its_own(host in "[a-z0-9]{1,4}([.-][a-z0-9]{1,4}){0,4}") {
            prop_assert_eq!(token_host(&token_variable(&host)), host);
        }
    }
}
