//! The packages in a `requirements.txt`: names, versions, markers and hashes. Everything else is refused.

/// What a `requirements.txt` names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirements {
    /// The packages, such as `six>=1; python_version > "3.8"`.
    pub(crate) packages: Vec<String>,
    /// The hashes that were given for packages, such as `six sha256:…`.
    pub(crate) hashes: Vec<String>,
}

/// A line that is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidLine {
    /// The number of the line, from 1.
    pub(crate) line: usize,
    /// Why it is refused.
    pub(crate) why: String,
}

/// Parses a file. Comments, blank lines and line continuations are understood as pip does.
pub(crate) fn parse(text: &str) -> Result<Requirements, InvalidLine> {
    let mut found = Requirements::default();
    for (line, text) in logical_lines(text) {
        let invalid = |why: String| InvalidLine { line, why };
        if text.is_empty() {
            continue;
        }
        let mut words = text.split_whitespace();
        let is_option = |word: &str| word.starts_with("--");
        let package: Vec<&str> = words.by_ref().take_while(|word| !is_option(word)).collect();
        let package = package.join(" ");
        check_package(&text, &package).map_err(invalid)?;
        let name = name_of(&package).to_owned();
        // The first option ended the package, so it is looked for again.
        for option in text.split_whitespace().skip_while(|word| !is_option(word)) {
            let hash = option.strip_prefix("--hash=");
            let Some(hash) = hash else {
                return Err(invalid(format!("`{option}` is an option")));
            };
            if !is_sha256(hash) {
                let why =
                    format!("`{hash}` is not a `sha256:` hash, the only kind that is checked");
                return Err(invalid(why));
            }
            found.hashes.push(format!("{name} {hash}"));
        }
        found.packages.push(package);
    }
    Ok(found)
}

/// Returns whether a requirement names a package in an index, and not a URL, a file or an option.
pub(crate) fn is_of_index(requirement: &str) -> bool {
    let (package, _) = requirement.split_once(';').unwrap_or((requirement, ""));
    requirement.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !requirement.contains('@')
        && !requirement.contains("://")
        && !requirement.contains('$')
        && !requirement.contains(char::is_control)
        && !package.contains(['/', '\\'])
}

/// Returns a requirement's package name.
fn name_of(requirement: &str) -> &str {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let end = requirement.find(|letter| !is_part(letter));
    &requirement[..end.unwrap_or(requirement.len())]
}

/// Returns the lines without comments, those that continue joined, each with the number of its first.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line);
        let (part, is_open) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match lines.last_mut() {
            Some((_, last)) if continues => last.push_str(part),
            _ => lines.push((index + 1, part.to_owned())),
        }
        continues = is_open;
    }
    for (_, line) in &mut lines {
        *line = line.trim().to_owned();
    }
    lines
}

/// Returns a line up to a `#` at its start or after a space. One inside a word, as in a URL, belongs to it.
fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| line[..*at].chars().last().is_none_or(char::is_whitespace);
    let mut hashes = line.match_indices('#').map(|(at, _)| at);
    match hashes.find(is_comment) {
        Some(at) => line[..at].trim_end(),
        None => line.trim_end(),
    }
}

fn check_package(line: &str, package: &str) -> Result<(), String> {
    if line.starts_with('-') {
        return Err(format!("`{line}` is an option"));
    }
    if package.contains("://") || package.contains('@') {
        return Err(format!("`{package}` is an address"));
    }
    if is_of_index(package) {
        return Ok(());
    }
    Err(format!("`{package}` is not the name of a package"))
}

fn is_sha256(hash: &str) -> bool {
    let digits = hash.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match parse(text) {
            Ok(found) => format!(
                "{} | {}",
                found.packages.join(", "),
                found.hashes.join(", ")
            ),
            Err(invalid) => format!("{}: {}", invalid.line, invalid.why),
        }
    }

    #[test]
    fn names_versions_markers_and_hashes_are_understood() {
        insta::assert_snapshot!(check("# all\n\nsix>=1 # why\nrequests[socks] >= 2, < 3 ; python_version > '3.8'\r\n"), @"six>=1, requests[socks] >= 2, < 3 ; python_version > '3.8' | ");
        insta::assert_snapshot!(check("\u{feff}Six_x==1.0\\\n  .0\n"), @"Six_x==1.0 .0 |");
        let hash = "a".repeat(64);
        let hashed = format!(
            "six==1.17.0 \\\n    --hash=sha256:{hash} \\\n    # another\n    --hash=sha256:{hash}\n"
        );
        assert_eq!(
            check(&hashed),
            format!("4: `--hash=sha256:{hash}` is an option"),
            "a comment ends a continued line, as for pip"
        );
        let hashed = hashed.replace("    # another\n", "");
        assert_eq!(
            check(&hashed),
            format!("six==1.17.0 | six sha256:{hash}, six sha256:{hash}")
        );
    }

    #[test]
    fn options_addresses_and_paths_are_refused_with_their_line() {
        insta::assert_snapshot!(check("six\n-r other.txt"), @"2: `-r other.txt` is an option");
        insta::assert_snapshot!(check("-e ."), @"1: `-e .` is an option");
        insta::assert_snapshot!(check("--index-url https://127.0.0.1/"), @"1: `--index-url https://127.0.0.1/` is an option");
        insta::assert_snapshot!(check("-f wheels"), @"1: `-f wheels` is an option");
        insta::assert_snapshot!(check("six --config-settings=a=b"), @"1: `--config-settings=a=b` is an option");
        insta::assert_snapshot!(check("six --hash=md5:00"), @"1: `md5:00` is not a `sha256:` hash, the only kind that is checked");
        insta::assert_snapshot!(check("\n\ngit+https://127.0.0.1/six.git#egg=six"), @"3: `git+https://127.0.0.1/six.git#egg=six` is an address");
        insta::assert_snapshot!(check("six @ file:///six.whl"), @"1: `six @ file:///six.whl` is an address");
        insta::assert_snapshot!(check("./six.whl"), @"1: `./six.whl` is not the name of a package");
        insta::assert_snapshot!(check("wheels/six.whl"), @"1: `wheels/six.whl` is not the name of a package");
        insta::assert_snapshot!(check("${NAME}"), @"1: `${NAME}` is not the name of a package");
        insta::assert_snapshot!(check("six==${V}"), @"1: `six==${V}` is not the name of a package");
    }
}
