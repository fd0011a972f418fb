//! Puts arguments into instructions, in one pass: what was put in is never looked at again.

mod split;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::read::manifest::Manifest;
use crate::read::value::Value;

use split::words;

/// Which argument placeholders instructions may use. Every client has `$ARGUMENTS`; what else there is differs.
///
/// | | `plain` | `claude-code` | `goose` |
/// |---|---|---|---|
/// | `$ARGUMENTS`: all of them, as they were given | yes | yes | yes |
/// | `$ARGUMENTS[N]`: one of them | | from 0 | from 0 |
/// | `$N`: one of them | | from 0 | from 1 |
/// | `$name`, for the names in the field `arguments` | | yes | yes |
/// | `${CLAUDE_SKILL_DIR}` and others that end so: the skill's folder | | yes | yes |
/// | `\$` keeps a place as it is written, without the backslash | | yes | yes |
///
/// Single arguments are told apart as in a shell: by white space, with quotes and backslashes. A place for an argument
/// that was not given stays as it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `$ARGUMENTS` alone, so that prices and shell variables in instructions are safe.
    #[default]
    Plain,
    /// As Claude Code does.
    ClaudeCode,
    /// As Goose does.
    Goose,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::Plain, Self::ClaudeCode, Self::Goose];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::ClaudeCode => "claude-code",
            Self::Goose => "goose",
        }
    }

    /// Returns the number that `$N` has for the first argument.
    const fn first(self) -> usize {
        match self {
            Self::Plain | Self::ClaudeCode => 0,
            Self::Goose => 1,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What instructions are filled in with.
pub(super) struct Arguments<'a> {
    dialect: Dialect,
    whole: &'a str,
    single: Vec<Cow<'a, str>>,
    names: HashMap<&'a str, usize>,
    folder: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(
        dialect: Dialect,
        whole: &'a str,
        manifest: &'a Manifest,
        folder: Option<&'a str>,
    ) -> Self {
        let (mut single, mut names) = (Vec::new(), HashMap::new());
        if dialect != Dialect::Plain {
            single = words(whole);
            // The first of two equal names is the one that counts.
            for (at, name) in argument_names(manifest).into_iter().enumerate() {
                names.entry(name).or_insert(at);
            }
        }
        Self {
            dialect,
            whole,
            single,
            names,
            folder,
        }
    }

    /// Returns the text with the arguments in their places, or after it where it has none for them; `None` if that would
    /// be longer than `limit`.
    pub(super) fn fill<'t>(&self, text: &'t str, limit: usize) -> Option<Cow<'t, str>> {
        let mut filled = String::new();
        let (mut done, mut from, mut took_any) = (0, 0, false);
        while let Some(found) = memchr::memchr(b'$', &text.as_bytes()[from..]) {
            let at = from + found;
            from = at + 1;
            let Some(place) = self.place(&text[at..]) else {
                continue;
            };
            from = at + place.length;
            let is_kept = self.dialect != Dialect::Plain && text[done..at].ends_with('\\');
            let (end, with) = match (is_kept, place.with) {
                (true, _) => (at - 1, &text[at..from]),
                (false, Some(with)) => (at, with),
                // It stays as it is written.
                (false, None) => continue,
            };
            took_any |= place.is_argument && !is_kept;
            filled.push_str(&text[done..end]);
            filled.push_str(with);
            done = from;
            if filled.len() > limit {
                return None;
            }
        }
        let is_appended = !took_any && !self.whole.trim().is_empty();
        if done == 0 && !is_appended {
            return Some(Cow::Borrowed(text));
        }
        filled.push_str(&text[done..]);
        if is_appended {
            append(&mut filled, self.whole);
        }
        (filled.len() <= limit).then_some(Cow::Owned(filled))
    }

    /// Returns the place that a text which starts with `$` begins with.
    fn place<'s>(&'s self, text: &str) -> Option<Placeholder<'s>> {
        let after = &text[1..];
        if let Some(rest) = after.strip_prefix("ARGUMENTS")
            && !rest.starts_with(is_of_a_word)
        {
            let length = text.len() - rest.len();
            return match self.index(rest) {
                Some(digits) => {
                    Some(self.single(length + "[]".len() + digits.len(), digits.parse().ok()))
                }
                None => Some(Placeholder {
                    length,
                    with: Some(self.whole),
                    is_argument: true,
                }),
            };
        }
        if self.dialect == Dialect::Plain {
            return None;
        }
        match after.as_bytes().first()? {
            b'0'..=b'9' => self.numbered(after),
            b'{' => self.folder(after),
            _ => self.named(after),
        }
    }

    /// Returns the digits of `[N]` that a text starts with, if the dialect has them.
    fn index<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = text.strip_prefix('[')?;
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let is_index = end > 0 && text[end..].starts_with(']');
        (self.dialect != Dialect::Plain && is_index).then_some(&text[..end])
    }

    /// `$N`, from the digits on.
    fn numbered<'s>(&'s self, after: &str) -> Option<Placeholder<'s>> {
        let end = after.find(|c: char| !c.is_ascii_digit());
        let digits = &after[..end.unwrap_or(after.len())];
        // `$1st` is no place, and neither is `$1.50`, which is money.
        let rest = &after[digits.len()..];
        let is_money = rest
            .strip_prefix(['.', ','])
            .is_some_and(|cents| cents.starts_with(|c: char| c.is_ascii_digit()));
        if rest.starts_with(is_of_a_word) || is_money {
            return None;
        }
        let number = digits.parse::<usize>().ok();
        let at = number.and_then(|number| number.checked_sub(self.dialect.first()));
        Some(self.single(1 + digits.len(), at))
    }

    /// `$name`, from the name on.
    fn named<'s>(&'s self, after: &str) -> Option<Placeholder<'s>> {
        let run = |is_part: fn(char) -> bool| {
            let end = after.find(|c: char| !is_part(c));
            &after[..end.unwrap_or(after.len())]
        };
        // A name may have hyphens, and what follows a name may begin with one.
        let names = [run(|c| is_of_a_word(c) || c == '-'), run(is_of_a_word)];
        let (name, at) = names
            .iter()
            .find_map(|name| Some((name, *self.names.get(name)?)))?;
        Some(self.single(1 + name.len(), Some(at)))
    }

    /// A place for one argument, if it was given.
    fn single(&self, length: usize, at: Option<usize>) -> Placeholder<'_> {
        let argument = at.and_then(|at| self.single.get(at));
        Placeholder {
            length,
            with: argument.map(|argument| &**argument),
            is_argument: true,
        }
    }

    /// `${..._SKILL_DIR}`, from the brace on.
    fn folder<'s>(&'s self, after: &str) -> Option<Placeholder<'s>> {
        let name = after.strip_prefix('{')?;
        let end = name.find(|c: char| !is_of_a_word(c))?;
        let is_folder = name[..end] == *"SKILL_DIR" || name[..end].ends_with("_SKILL_DIR");
        if !is_folder || !name[end..].starts_with('}') {
            return None;
        }
        Some(Placeholder {
            length: "${}".len() + end,
            with: self.folder,
            is_argument: false,
        })
    }
}

/// A place for something, and what goes there.
struct Placeholder<'a> {
    /// Bytes of the place as it is written.
    length: usize,
    /// Nothing, if there is nothing to put there.
    with: Option<&'a str>,
    is_argument: bool,
}

fn is_of_a_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Puts arguments after a text that has no place for them.
fn append(text: &mut String, arguments: &str) {
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str("ARGUMENTS: ");
    text.push_str(arguments);
    text.push('\n');
}

/// Returns the names that a skill gives to its arguments, in their order: a list, or words, in the field `arguments`. In
/// [`Dialect::Plain`] they have no places.
pub fn argument_names(manifest: &Manifest) -> Vec<&str> {
    let fields = [manifest.other(), manifest.metadata()];
    let given = fields.iter().find_map(|fields| fields.get("arguments"));
    match given {
        Some(Value::Scalar(names)) => names
            .as_str()
            .split([' ', ',', '\t', '\n'])
            .filter(|name| !name.is_empty())
            .collect(),
        Some(Value::List(names)) => names.iter().filter_map(name_of).collect(),
        Some(Value::Map(_)) | None => Vec::new(),
    }
}

/// Returns the name of one argument: a word, or a mapping with a `name`.
fn name_of(value: &Value) -> Option<&str> {
    match value {
        Value::Scalar(name) => Some(name.as_str()),
        Value::Map(fields) => match fields.get("name")? {
            Value::Scalar(name) => Some(name.as_str()),
            Value::List(_) | Value::Map(_) => None,
        },
        Value::List(_) => None,
    }
}

#[cfg(test)]
mod tests;
