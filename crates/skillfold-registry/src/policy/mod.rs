//! Which sources and versions may be used: rules of the machine, the user and the project, of which each can only tighten.

mod place;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use skillfold_core::text::{FormatNumber, line_number};
use skillfold_core::{Error, ErrorKind};
use toml::Spanned;

use self::place::{Pattern, SourcePlace};
use crate::address::Address;
use crate::lock::check_format;

pub(crate) use self::place::{Bases, place_name};

/// The name of the file.
pub const POLICY_FILE: &str = "policy.toml";

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

const ASK: &str = "Use a source that the policy allows (`skillfold config` shows it), or ask whoever maintains the file";
const UNREADABLE: &str =
    "Correct the file, or ask whoever maintains it; until then nothing is fetched or installed";

/// A policy: all rules of all its files hold. Without a file, everything is allowed.
///
/// ```
/// use skillfold_registry::SourcePolicy;
///
/// let machine = SourcePolicy::parse("/etc/skillfold/policy.toml", "format = 1\nminimum-age = \"7 days\"")?;
/// let project = SourcePolicy::parse("policy.toml", "format = 1\nallowed-sources = [\"github.com/our-org/*\"]")?;
/// assert_eq!(machine.and(project).rules().len(), 2);
/// # Ok::<(), skillfold_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePolicy {
    files: Vec<PolicyFile>,
}

/// A rule of a policy, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyRule {
    /// Its name in the file.
    pub name: &'static str,
    /// What it says.
    pub value: String,
    /// Its file and line, as `path:line`.
    pub origin: String,
}

/// How old a version must be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MinimumAge {
    /// The age.
    pub age: Duration,
    /// The rule.
    pub rule: PolicyRule,
}

/// The rules of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PolicyFile {
    minimum_age: Option<MinimumAge>,
    /// One of these has to include a source, if there is the rule: an empty list allows nothing.
    allowed: Option<(PolicyRule, Vec<Pattern>)>,
    denied: Vec<(PolicyRule, Pattern)>,
    signers: Vec<(PolicyRule, Pattern)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyDocument {
    #[serde(rename = "format")]
    _format: FormatNumber<1>,
    minimum_age: Option<Spanned<String>>,
    allowed_sources: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    denied_sources: Vec<Spanned<String>>,
    #[serde(default)]
    signers: BTreeMap<String, Spanned<String>>,
}

impl SourcePolicy {
    /// Reads a policy. `file` is its path, for messages.
    ///
    /// # Errors
    ///
    /// [`Refused`](ErrorKind::Refused) if it cannot be read, or has a rule that is not known: a policy that is not understood
    /// allows nothing.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let files = vec![PolicyText { file, text }.read()?];
        Ok(Self { files })
    }

    /// Returns the error for a policy that cannot be read: nothing is allowed.
    pub fn unreadable(file: &str, why: &str) -> Error {
        let message = format!("Could not read the policy `{file}`: {why}");
        Error::new(ErrorKind::Refused, message, UNREADABLE)
    }

    /// Adds the rules of another policy: all of both hold.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.files.extend(other.files);
        self
    }

    /// Returns the rules, in the order of their files.
    pub fn rules(&self) -> Vec<PolicyRule> {
        let mut rules = Vec::new();
        for file in &self.files {
            rules.extend(file.minimum_age.iter().map(|it| it.rule.clone()));
            rules.extend(file.allowed.iter().map(|(rule, _)| rule.clone()));
            let others = file.denied.iter().chain(&file.signers);
            rules.extend(others.map(|(rule, _)| rule.clone()));
        }
        rules
    }

    /// Returns how old a version must be that is newly chosen: the longest age of all files.
    pub fn minimum_age(&self) -> Option<&MinimumAge> {
        let ages = self
            .files
            .iter()
            .filter_map(|file| file.minimum_age.as_ref());
        ages.filter(|it| !it.age.is_zero()).max_by_key(|it| it.age)
    }

    /// Refuses a source that a rule does not allow.
    pub(crate) fn check(&self, address: &Address, bases: Bases<'_>) -> Result<(), Error> {
        let place = SourcePlace::of(address, bases);
        let mut files = self.files.iter();
        let refusal = files.find_map(|file| match &place {
            Ok(place) => file.refusal(place, bases),
            Err(why) => file.refusal_of_no_place(why),
        });
        refusal.map_or(Ok(()), |(why, rule)| {
            let (source, origin) = (address.source(), &rule.origin);
            let message = format!("The policy refuses `{source}`: {why} ({origin})");
            Err(Error::new(ErrorKind::Refused, message, ASK))
        })
    }
}

impl PolicyFile {
    /// Returns why a place is refused, and the rule.
    fn refusal(&self, place: &SourcePlace, bases: Bases<'_>) -> Option<(String, &PolicyRule)> {
        let may_include = |(_, pattern): &&(PolicyRule, Pattern)| pattern.may_include(place, bases);
        if let Some((rule, _)) = self.denied.iter().find(may_include) {
            return Some((format!("`denied-sources` has `{}`", rule.value), rule));
        }
        if let Some((rule, patterns)) = &self.allowed
            && !patterns.iter().any(|it| it.includes(place, bases))
        {
            return Some(("it is not in `allowed-sources`".to_owned(), rule));
        }
        let (rule, _) = self.signers.iter().find(may_include)?;
        let signer = &rule.value;
        let why = format!(
            "`signers` wants a signature (`{signer}`), and this version of Skillfold checks none"
        );
        Some((why, rule))
    }

    /// Returns why a source is refused that cannot be compared, if there is a rule to compare it with.
    fn refusal_of_no_place(&self, why: &str) -> Option<(String, &PolicyRule)> {
        let mut rules = self
            .denied
            .iter()
            .chain(&self.signers)
            .map(|(rule, _)| rule);
        let allowed = self.allowed.as_ref().map(|(rule, _)| rule);
        let rule = rules.next().or(allowed)?;
        let why = format!("it cannot be compared with `{}`, since {why}", rule.name);
        Some((why, rule))
    }
}

/// The text of a policy, and the path of its file.
struct PolicyText<'t> {
    file: &'t str,
    text: &'t str,
}

impl PolicyText<'_> {
    fn read(&self) -> Result<PolicyFile, Error> {
        let read =
            check_format(self.text).and_then(|()| toml::from_str::<PolicyDocument>(self.text));
        let document = read.map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            self.unreadable(start, error.message())
        })?;
        let mut read = PolicyFile::default();
        if let Some(age) = document.minimum_age {
            let (at, text) = (age.span().start, age.get_ref());
            let why = format!("`{text}` is not an age, such as `7 days` or `12 hours`");
            read.minimum_age = Some(MinimumAge {
                age: parse_age(text).ok_or_else(|| self.unreadable(at, &why))?,
                rule: self.rule("minimum-age", text, at),
            });
        }
        if let Some(allowed) = document.allowed_sources {
            let texts: Vec<&str> = allowed.get_ref().iter().map(|it| &**it.get_ref()).collect();
            let value = match *texts {
                [] => "none".to_owned(),
                _ => texts.join(", "),
            };
            let rule = self.rule("allowed-sources", &value, allowed.span().start);
            let patterns = allowed.get_ref().iter();
            let patterns = patterns.map(|it| self.pattern(it.get_ref(), it.span().start));
            read.allowed = Some((rule, patterns.collect::<Result<_, _>>()?));
        }
        for denied in &document.denied_sources {
            let (at, text) = (denied.span().start, denied.get_ref());
            let rule = self.rule("denied-sources", text, at);
            read.denied.push((rule, self.pattern(text, at)?));
        }
        for (source, signer) in &document.signers {
            let at = signer.span().start;
            let value = format!("{source} = {}", signer.get_ref());
            let rule = self.rule("signers", &value, at);
            read.signers.push((rule, self.pattern(source, at)?));
        }
        Ok(read)
    }

    fn pattern(&self, text: &str, at: usize) -> Result<Pattern, Error> {
        let pattern = Pattern::parse(text);
        pattern.map_err(|why| self.unreadable(at, &format!("`{text}` is not a source: {why}")))
    }

    fn rule(&self, name: &'static str, value: &str, at: usize) -> PolicyRule {
        PolicyRule {
            name,
            value: value.to_owned(),
            origin: format!("{}:{}", self.file, self.line(at)),
        }
    }

    fn unreadable(&self, at: usize, why: &str) -> Error {
        SourcePolicy::unreadable(self.file, &format!("line {}: {why}", self.line(at)))
    }

    fn line(&self, at: usize) -> usize {
        line_number(self.text, at)
    }
}

/// Reads an age: a whole number and a unit.
fn parse_age(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_once(' ')?;
    let seconds = match unit.strip_suffix('s').unwrap_or(unit) {
        "hour" => HOUR,
        "day" => DAY,
        "week" => 7 * DAY,
        _ => return None,
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|_| is_number)?;
    Some(Duration::from_secs(number.checked_mul(seconds)?))
}
