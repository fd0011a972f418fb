//! Versions of programs, and the ranges of them that skills need.

use std::fmt;

/// A version: its first three numbers. What is before a release counts as the release, so that a beta of the version that
/// a skill needs is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u64; 3]);

impl Version {
    /// Parses a version such as `2.1.325`, `v1.2` or `2.0.0-beta.1`. Numbers that are not given are 0.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split_whitespace().next()?;
        let release = text.split(['-', '+']).next()?;
        let (version, given) = parse_numbers(release)?;
        (given > 0).then_some(version)
    }

    /// Returns the version after all that start with the first `parts` numbers of this one.
    fn after(self, parts: usize) -> Self {
        let last = parts.clamp(1, 3) - 1;
        let mut next = [0; 3];
        next[..=last].copy_from_slice(&self.0[..=last]);
        next[last] = next[last].saturating_add(1);
        Self(next)
    }

    /// Returns the first version that may break what works with this one: the next major one, before 1.0 the next minor.
    fn next_breaking(self, given: usize) -> Self {
        let first = self.0.iter().position(|number| *number > 0);
        self.after(first.map_or(given, |first| first + 1))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

/// Parses numbers with dots, and returns how many were given. `*` and `x` stand for any number, and end the version; so does
/// everything after the third number.
fn parse_numbers(text: &str) -> Option<(Version, usize)> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let mut numbers = [0; 3];
    let mut given = 0;
    for (part, number) in text.split('.').zip(&mut numbers) {
        if matches!(part, "*" | "x" | "X") {
            break;
        }
        *number = part.parse().ok()?;
        given += 1;
    }
    Some((Version(numbers), given))
}

/// A range of versions: from one, and below another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    from: Version,
    below: Option<Version>,
}

impl VersionRange {
    /// Parses a range: comparisons that must all hold, with commas or spaces between them.
    ///
    /// A comparison is `>=2.0`, `>2.0`, `<3`, `<=2.1`, `=2.1` (all of 2.1), `~2.1` (likewise), `^2.1` or `2.1` (up to the
    /// next breaking version), `2.1+` (from 2.1 on), `2.x` or `*`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut range = Self {
            from: Version([0; 3]),
            below: None,
        };
        let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '^' | '~');
        let is_separator = |c: char| c == ',' || c.is_whitespace();
        let mut rest = text.trim_start_matches(is_separator);
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let version_start = rest.find(|c| !is_operator(c))?;
            let (operator, after) = rest.split_at(version_start);
            let after = after.trim_start();
            let end = after.find(|c| is_operator(c) || is_separator(c));
            let (version, after) = after.split_at(end.unwrap_or(after.len()));
            range.narrow(operator, version)?;
            rest = after.trim_start_matches(is_separator);
        }
        Some(range)
    }

    fn narrow(&mut self, operator: &str, text: &str) -> Option<()> {
        let (operator, text) = match text.strip_suffix('+') {
            Some(text) if operator.is_empty() => (">=", text),
            _ => (operator, text),
        };
        // What is before a release counts as the release.
        let text = text.split(['-', '+']).next()?;
        let (version, given) = parse_numbers(text)?;
        if given == 0 {
            return matches!(operator, "" | "=" | ">=").then_some(());
        }
        let (from, below) = match operator {
            ">=" => (Some(version), None),
            ">" => (Some(version.after(given)), None),
            "<" => (None, Some(version)),
            "<=" => (None, Some(version.after(given))),
            "=" | "==" => (Some(version), Some(version.after(given))),
            "~" => (Some(version), Some(version.after(given.min(2)))),
            "" | "^" => (Some(version), Some(version.next_breaking(given))),
            _ => return None,
        };
        self.from = from.map_or(self.from, |from| from.max(self.from));
        self.below = match (self.below, below) {
            (Some(known), Some(below)) => Some(known.min(below)),
            (known, below) => known.or(below),
        };
        Some(())
    }

    /// Returns whether a version is in the range.
    pub fn contains(self, version: Version) -> bool {
        version >= self.from && self.below.is_none_or(|below| version < below)
    }
}

#[cfg(test)]
mod tests {
    use super::{Version, VersionRange};
    use proptest::prelude::*;

    #[test]
    fn range_operators_have_their_usual_meaning() {
        for (range, inside, outside) in [
            (">=2.0", "2.0 2.0.1 10.1 v2.0.0-beta.1", "1.9.9 1"),
            (">= 2.0, <3", "2.0 2.99", "1.9 3.0"),
            (">=2.0 <2.5", "2.0 2.4.9", "2.5"),
            (">2.1", "2.2 3", "2.1 2.1.9"),
            ("<=2.1", "2.1.9 1", "2.2"),
            ("=2.1", "2.1 2.1.7", "2.0 2.2"),
            ("==2.1.3", "2.1.3", "2.1.4"),
            ("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3"),
            ("~1", "1 1.9", "2"),
            ("^1.2", "1.2 1.9.9", "1.1 2.0"),
            ("1.2", "1.2 1.9.9", "1.1 2.0"),
            ("^0.2.3", "0.2.3 0.2.9", "0.3 0.2.2"),
            ("0.0", "0.0.0 0.0.9", "0.1"),
            ("2.1.76+", "2.1.76 3", "2.1.75"),
            (
                ">=2026.2.17",
                "2026.02.17 2026.10.1",
                "2026.2.16 2025.12.31",
            ),
            ("1.x", "1.0 1.9", "0.9 2"),
            ("*", "0 99", ""),
        ] {
            let parsed = VersionRange::parse(range).unwrap();
            let contains = |text: &str| parsed.contains(Version::parse(text).unwrap());
            for version in inside.split(' ') {
                assert!(contains(version), "{range} has {version}");
            }
            for version in outside.split_whitespace() {
                assert!(!contains(version), "{range} has not {version}");
            }
        }
    }

    #[test]
    fn invalid_ranges_and_versions_are_not_guessed() {
        for text in [
            "",
            " ",
            ">=",
            "latest",
            ">=two",
            "1.2.three",
            "=>2",
            ">=2 || <1",
            "2.0 or later",
            "<*",
            "1..2",
        ] {
            assert_eq!(VersionRange::parse(text), None, "{text}");
        }
        for text in ["", "unknown", "x", "-1", "v", "1.a"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_any_string_never_panics(text in "[<>=^~ ,.0-9xv*+-]{0,40}|\\PC{0,40}") {
            let range = VersionRange::parse(&text);
            let version = Version::parse(&text);
            if let (Some(range), Some(version)) = (range, version) {
                let _ = range.contains(version);
            }
        }

        #[test]
        fn minimum_version_range_includes_its_own_version(numbers in proptest::array::uniform3(0_u64..=u64::MAX)) {
            let version = Version(numbers);
            let range = VersionRange::parse(&format!(">={version}")).unwrap();
            prop_assert!(range.contains(version));
        }
    }
}
