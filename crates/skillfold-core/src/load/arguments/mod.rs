//! Fills arguments into instructions in a single pass: text that was filled in is never scanned for placeholders.

mod split;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::read::manifest::Manifest;
use crate::read::value::Value;

pub use split::split_words;

words! {
    /// Which placeholders for arguments are recognised in instructions. Every client has `$ARGUMENTS`; the others differ.
    ///
    /// | | `plain` | `claude-code` | `goose` |
    /// |---|---|---|---|
    /// | `$ARGUMENTS`: all arguments, as given | yes | yes | yes |
    /// | `$ARGUMENTS[N]`: one argument | | from 0 | from 0 |
    /// | `$N`: one argument | | from 0 | from 1 |
    /// | `$name`, for the names in the field `arguments` | | yes | yes |
    /// | `${CLAUDE_SKILL_DIR}` and any other `${…_SKILL_DIR}`: the skill's folder | | yes | yes |
    /// | `\$` escapes a placeholder; the backslash is removed | | yes | yes |
    ///
    /// Arguments are split as in a shell: at white space, with quotes and backslashes. A placeholder for an argument that
    /// was not given is left as it is.
    #[derive(Default)]
    pub enum Dialect {
        /// Only `$ARGUMENTS`, so that prices and shell variables in instructions are safe.
        #[default]
        Plain = "plain",
        /// The placeholders of Claude Code.
        ClaudeCode = "claude-code",
        /// The placeholders of Goose.
        Goose = "goose",
    }
}

impl Dialect {
    /// Returns the `N` of `$N` for the first argument.
    const fn first_number(self) -> usize {
        match self {
            Self::Plain | Self::ClaudeCode => 0,
            Self::Goose => 1,
        }
    }
}

/// The arguments to fill into instructions.
pub(super) struct Arguments<'a> {
    dialect: Dialect,
    raw: &'a str,
    positional: Vec<Cow<'a, str>>,
    names: HashMap<&'a str, usize>,
    skill_dir: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(
        dialect: Dialect,
        raw: &'a str,
        manifest: &'a Manifest,
        skill_dir: Option<&'a str>,
    ) -> Self {
        let (mut positional, mut names) = (Vec::new(), HashMap::new());
        if dialect != Dialect::Plain {
            positional = split_words(raw);
            // Of two equal names, the first wins.
            for (at, name) in argument_names(manifest).into_iter().enumerate() {
                names.entry(name).or_insert(at);
            }
        }
        Self {
            dialect,
            raw,
            positional,
            names,
            skill_dir,
        }
    }

    /// Replaces the placeholders of a text, or appends the arguments if it has no placeholder for them. Returns `None`
    /// if the result would exceed `limit` bytes.
    pub(super) fn fill<'t>(&self, text: &'t str, limit: usize) -> Option<Cow<'t, str>> {
        let mut filled = String::new();
        let (mut copied, mut from, mut has_arguments) = (0, 0, false);
        while let Some(found) = memchr::memchr(b'$', &text.as_bytes()[from..]) {
            let at = from + found;
            from = at + 1;
            let Some(placeholder) = self.placeholder(&text[at..]) else {
                continue;
            };
            from = at + placeholder.length;
            let is_escaped = self.dialect != Dialect::Plain && text[copied..at].ends_with('\\');
            let (end, value) = match (is_escaped, placeholder.value) {
                (true, _) => (at - 1, &text[at..from]),
                (false, Some(value)) => (at, value),
                (false, None) => continue,
            };
            has_arguments |= placeholder.is_argument && !is_escaped;
            filled.push_str(&text[copied..end]);
            filled.push_str(value);
            copied = from;
            if filled.len() > limit {
                return None;
            }
        }
        let is_appended = !has_arguments && !self.raw.trim().is_empty();
        if copied == 0 && !is_appended {
            return Some(Cow::Borrowed(text));
        }
        filled.push_str(&text[copied..]);
        if is_appended {
            append_arguments(&mut filled, self.raw);
        }
        (filled.len() <= limit).then_some(Cow::Owned(filled))
    }

    /// Returns the placeholder at the start of a text that begins with `$`.
    fn placeholder<'s>(&'s self, text: &str) -> Option<Placeholder<'s>> {
        let after = &text[1..];
        if let Some(rest) = after.strip_prefix("ARGUMENTS")
            && !rest.starts_with(is_word_char)
        {
            let length = text.len() - rest.len();
            return match self.index_digits(rest) {
                Some(digits) => {
                    Some(self.argument_placeholder(
                        length + "[]".len() + digits.len(),
                        digits.parse().ok(),
                    ))
                }
                None => Some(Placeholder {
                    length,
                    value: Some(self.raw),
                    is_argument: true,
                }),
            };
        }
        if self.dialect == Dialect::Plain {
            return None;
        }
        match after.as_bytes().first()? {
            b'0'..=b'9' => self.numbered_placeholder(after),
            b'{' => self.skill_dir_placeholder(after),
            _ => self.named_placeholder(after),
        }
    }

    /// Returns the digits of `[N]` at the start of a text, if the dialect has indexes.
    fn index_digits<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = text.strip_prefix('[')?;
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let is_index = end > 0 && text[end..].starts_with(']');
        (self.dialect != Dialect::Plain && is_index).then_some(&text[..end])
    }

    /// Parses `$N`; `after` starts with the digits.
    fn numbered_placeholder<'s>(&'s self, after: &str) -> Option<Placeholder<'s>> {
        let end = after.find(|c: char| !c.is_ascii_digit());
        let digits = &after[..end.unwrap_or(after.len())];
        // `$1st` is not a placeholder, and neither is `$1.50`, which is money.
        let rest = &after[digits.len()..];
        let is_money = rest
            .strip_prefix(['.', ','])
            .is_some_and(|cents| cents.starts_with(|c: char| c.is_ascii_digit()));
        if rest.starts_with(is_word_char) || is_money {
            return None;
        }
        let number = digits.parse::<usize>().ok();
        let at = number.and_then(|number| number.checked_sub(self.dialect.first_number()));
        Some(self.argument_placeholder(1 + digits.len(), at))
    }

    /// Parses `$name`; `after` starts with the name.
    fn named_placeholder<'s>(&'s self, after: &str) -> Option<Placeholder<'s>> {
        let run = |is_part: fn(char) -> bool| {
            let end = after.find(|c: char| !is_part(c));
            &after[..end.unwrap_or(after.len())]
        };
        // A name may contain hyphens, or be followed by one.
        let names = [run(|c| is_word_char(c) || c == '-'), run(is_word_char)];
        let (name, at) = names
            .iter()
            .find_map(|name| Some((name, *self.names.get(name)?)))?;
        Some(self.argument_placeholder(1 + name.len(), Some(at)))
    }

    /// Returns the placeholder for the argument at an index; without a value if that was not given.
    fn argument_placeholder(&self, length: usize, at: Option<usize>) -> Placeholder<'_> {
        let argument = at.and_then(|at| self.positional.get(at));
        Placeholder {
            length,
            value: argument.map(|argument| &**argument),
            is_argument: true,
        }
    }

    /// Parses `${..._SKILL_DIR}`; `after` starts with the brace.
    fn skill_dir_placeholder<'s>(&'s self, after: &str) -> Option<Placeholder<'s>> {
        let name = after.strip_prefix('{')?;
        let end = name.find(|c: char| !is_word_char(c))?;
        let is_folder = name[..end] == *"SKILL_DIR" || name[..end].ends_with("_SKILL_DIR");
        if !is_folder || !name[end..].starts_with('}') {
            return None;
        }
        Some(Placeholder {
            length: "${}".len() + end,
            value: self.skill_dir,
            is_argument: false,
        })
    }
}

/// A placeholder, and what replaces it.
struct Placeholder<'a> {
    /// Length of the placeholder in the text, in bytes.
    length: usize,
    /// `None` leaves the placeholder as it is.
    value: Option<&'a str>,
    is_argument: bool,
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Appends arguments to a text that has no placeholder for them.
fn append_arguments(text: &mut String, arguments: &str) {
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str("ARGUMENTS: ");
    text.push_str(arguments);
    text.push('\n');
}

/// Returns the names of a skill's arguments, in order, from a list or words in the field `arguments`.
/// [`Dialect::Plain`] has no placeholders for them.
pub fn argument_names(manifest: &Manifest) -> Vec<&str> {
    let fields = [manifest.other(), manifest.metadata()];
    let value = fields.iter().find_map(|fields| fields.get("arguments"));
    match value {
        Some(Value::Scalar(names)) => names
            .as_str()
            .split([' ', ',', '\t', '\n'])
            .filter(|name| !name.is_empty())
            .collect(),
        Some(Value::List(names)) => {
            let names = names.iter();
            names.filter_map(|it| it.text_or_field("name")).collect()
        }
        Some(Value::Map(_)) | None => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
