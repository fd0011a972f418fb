//! The branches and tags of a repository, and which one a version means.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use skillfold_core::read::{Version, VersionRange};
use skillfold_core::{Error, ErrorKind};

use crate::git::objects::is_id;
use crate::lock::Pin;

/// The branches and tags of a repository.
#[derive(Debug, Default)]
pub(crate) struct References {
    head: Option<String>,
    branches: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
}

impl References {
    /// Parses the output of `git ls-remote`. Lines of other references are ignored.
    pub(crate) fn parse(output: &str) -> Self {
        let mut references = Self::default();
        for line in output.lines() {
            let Some((id, name)) = line.split_once('\t').filter(|(id, _)| is_id(id)) else {
                continue;
            };
            let id = id.to_owned();
            if name == "HEAD" {
                references.head = Some(id);
            } else if let Some(branch) = name.strip_prefix("refs/heads/") {
                references.branches.insert(branch.to_owned(), id);
            } else if let Some(tag) = name.strip_prefix("refs/tags/") {
                // `^{}` is the commit of a tag with a message; it comes after the tag itself.
                let tag = tag.strip_suffix("^{}").unwrap_or(tag);
                references.tags.insert(tag.to_owned(), id);
            }
        }
        references
    }

    /// Returns the ids of all branches and tags.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let named = self.branches.values().chain(self.tags.values());
        named.chain(&self.head).map(|id| &**id)
    }

    /// Returns what a version means: a tag, the tags in a range from the newest on, a branch, or the start of a commit's id
    /// that one of them has. Without a version, the newest commit of the default branch.
    pub(crate) fn resolve(&self, source: &str, version: Option<&str>) -> Result<Vec<Pin>, Error> {
        let Some(version) = version else {
            let head = self.head.as_ref().ok_or_else(|| {
                let message = format!("`{source}` has no default branch");
                Error::new(
                    ErrorKind::NotFound,
                    message,
                    "Name a branch or a tag after `@`",
                )
            })?;
            return Ok(vec![Pin::commit(head, None)]);
        };
        let tagged = |tag: &String, id: &String| Pin::commit(id, Some(tag.clone()));
        let names = [version.to_owned(), format!("v{version}")];
        if let Some((tag, id)) = names.iter().find_map(|name| self.tags.get_key_value(name)) {
            return Ok(vec![tagged(tag, id)]);
        }
        if let Some(id) = self.branches.get(version) {
            return Ok(vec![Pin::commit(id, None)]);
        }
        let in_range = self.in_range(version);
        if !in_range.is_empty() {
            let in_range = in_range.into_iter();
            return Ok(in_range.map(|(tag, id)| tagged(tag, id)).collect());
        }
        let is_start = version.len() >= 7 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
        let ids = self.tags.values().chain(self.branches.values());
        let ids: BTreeSet<&String> = ids
            .filter(|id| is_start && id.starts_with(version))
            .collect();
        if ids.len() > 1 {
            let message = format!("Several commits of `{source}` start with `{version}`");
            let hint = "Write more of the commit's id";
            return Err(Error::new(ErrorKind::Invalid, message, hint));
        }
        if let Some(id) = ids.first() {
            return Ok(vec![Pin::commit(id, None)]);
        }
        let message = format!("`{source}` has no version `{version}`");
        let hint = "Name a tag, a range such as `^1.2`, a branch, or the full id of a commit";
        let error = Error::new(ErrorKind::NotFound, message, hint);
        let mut known: Vec<&str> = self.tags.keys().map(|tag| &**tag).collect();
        known.sort_by_key(|tag| Reverse(Version::parse(tag)));
        Err(error.with_nearest(known.into_iter().take(3)))
    }

    /// Returns the tags in a range, the newest first: those that are a `v` and numbers with dots, or only the numbers.
    fn in_range(&self, text: &str) -> Vec<(&String, &String)> {
        let Some(range) = VersionRange::parse(text).filter(|_| is_range(text)) else {
            return Vec::new();
        };
        let tags = self.tags.iter().filter_map(|(tag, id)| {
            let version = tag.strip_prefix('v').unwrap_or(tag);
            let numbers = numbers(version).filter(|numbers| numbers.len() > 1)?;
            let is_inside = range.contains(Version::parse(version)?);
            is_inside.then_some((numbers, (tag, id)))
        });
        let mut tags: Vec<_> = tags.collect();
        tags.sort_by(|one, other| other.cmp(one));
        tags.into_iter().map(|(_, tag)| tag).collect()
    }
}

/// Returns whether a version is a range and not one exact version: it has an operator or a wildcard, or fewer than three numbers.
fn is_range(text: &str) -> bool {
    let version = text.strip_prefix('v').unwrap_or(text);
    text.starts_with(['<', '>', '=', '^', '~'])
        || text.ends_with('+')
        || version
            .split('.')
            .any(|part| matches!(part, "*" | "x" | "X"))
        || numbers(version).is_some_and(|numbers| numbers.len() < 3)
}

/// Returns the numbers of a version that has nothing else.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let parts = version.split('.');
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = parts.map(|part| part.parse().ok().filter(|_| is_number(part)));
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::References;

    /// Resolves versions in a repository with some tags and branches. Each tag is of a commit of its own.
    fn check(tags: &[&str], versions: &[&str]) -> String {
        let tag = |(at, tag): (usize, &&str)| format!("{:07x}{at:033x}\trefs/tags/{tag}\n", 10);
        let tags: String = tags.iter().enumerate().map(tag).collect();
        let references = References::parse(&tags);
        let show = |version: &&str| match references.resolve("x", Some(version)) {
            Ok(pins) => {
                let tags = pins
                    .iter()
                    .map(|pin| pin.tag.as_deref().unwrap_or("commit"));
                format!("{version}: {}\n", tags.collect::<Vec<_>>().join(" "))
            }
            Err(error) => format!("{version}: {error}\n"),
        };
        versions.iter().map(show).collect()
    }

    #[test]
    fn exact_version_without_its_tag_is_not_a_range() {
        let tags = ["v1.2.5", "v1.3.0", "2.0.0"];
        let versions = [
            "v1.2.0",
            "1.2.0",
            "1.2.0-rc.1",
            "2.0.0",
            "1.2",
            "v1",
            "^1.2.0",
            "=1.2.5",
            "1.2.1+",
            "1.x",
            "*",
            ">=1.3, <3",
        ];
        insta::assert_snapshot!(check(&tags, &versions), @r"
        v1.2.0: `x` has no version `v1.2.0`
        1.2.0: `x` has no version `1.2.0`
        1.2.0-rc.1: `x` has no version `1.2.0-rc.1`
        2.0.0: 2.0.0
        1.2: v1.3.0 v1.2.5
        v1: v1.3.0 v1.2.5
        ^1.2.0: v1.3.0 v1.2.5
        =1.2.5: v1.2.5
        1.2.1+: 2.0.0 v1.3.0 v1.2.5
        1.x: v1.3.0 v1.2.5
        *: 2.0.0 v1.3.0 v1.2.5
        >=1.3, <3: 2.0.0 v1.3.0
        ");
    }

    #[test]
    fn range_takes_only_numbers_and_compares_all_of_them() {
        let tags = [
            "v8.0.0.rc1",
            "1.3.0.dev1",
            "v1.9.0",
            "v1.10.0",
            "v1.10.0.2",
            "v1.10.0.10",
            "v1.11.0-beta",
            "7",
            "v2.0",
            "release-3.0.0",
        ];
        insta::assert_snapshot!(check(&tags, &["*", "^1.0"]), @r"
        *: v2.0 v1.10.0.10 v1.10.0.2 v1.10.0 v1.9.0
        ^1.0: v1.10.0.10 v1.10.0.2 v1.10.0 v1.9.0
        ");
    }

    #[test]
    fn start_of_several_commits_means_none_of_them() {
        insta::assert_snapshot!(check(&["v1.0.0", "v2.0.0"], &["000000a"]), @"000000a: Several commits of `x` start with `000000a`");
        insta::assert_snapshot!(check(&["v1.0.0"], &["000000a", "00000"]), @r"
        000000a: commit
        00000: `x` has no version `00000`
        ");
    }
}
