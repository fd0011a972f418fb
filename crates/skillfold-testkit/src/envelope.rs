//! Independent envelope parsers: a lenient one that accepts anything resembling a tag, and a strict one that recovers
//! the input.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What the strict parser recovers from an envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedEnvelope {
    /// The id.
    pub id: String,
    /// The body verbatim, including its last line ending.
    pub body: String,
    /// The folder, if one is named.
    pub base_dir: Option<String>,
    /// The listed files.
    pub files: Vec<String>,
    /// Lines about the skill without a tag of their own.
    pub notes: Vec<String>,
}

/// Returns everything that reads as a tag with one of these names, in order; closing tags have `/` before the name.
///
/// The lenient parser resolves compatibility forms and look-alikes, and ignores whitespace, accents, invisible
/// characters and characters that join words.
pub fn tags(text: &str, names: &[&str]) -> Vec<String> {
    let normalized_names: Vec<String> = names.iter().map(|name| name.replace('_', "")).collect();
    let folded = fold(text);
    let mut found = Vec::new();
    for piece in folded.split('<').skip(1) {
        let slash = if piece.starts_with('/') { "/" } else { "" };
        let letters = tag_name_letters(piece);
        let tag = normalized_names
            .iter()
            .position(|name| letters.starts_with(name));
        found.extend(tag.map(|index| format!("{slash}{}", names[index])));
    }
    found
}

/// Returns how many tags with these names a text leaves open: one if it ends within a name, else none.
pub fn count_open_tags(text: &str, names: &[&str]) -> usize {
    let folded = fold(text);
    let Some((_, piece)) = folded.rsplit_once('<') else {
        return 0;
    };
    let letters = tag_name_letters(piece);
    let is_begun = |name: &&str| {
        let name = name.replace('_', "");
        name.len() > letters.len() && name.starts_with(&*letters)
    };
    usize::from(!letters.is_empty() && names.iter().any(is_begun))
}

/// Returns the start of a piece without slashes. No name is longer.
fn tag_name_letters(piece: &str) -> Cow<'_, str> {
    let piece = piece.trim_start_matches('/');
    if !piece.contains('/') {
        return Cow::Borrowed(piece);
    }
    Cow::Owned(piece.chars().filter(|c| *c != '/').take(32).collect())
}

/// Returns how many of a text's brackets were replaced by `&lt;`, or `None` if anything else differs.
pub fn count_replaced(text: &str, by: &str) -> Option<usize> {
    let mut rest = by;
    let mut count = 0;
    for c in text.chars() {
        if let Some(after) = rest.strip_prefix(c) {
            rest = after;
        } else if fold_char(c) == "<" {
            rest = rest.strip_prefix("&lt;")?;
            count += 1;
        } else {
            return None;
        }
    }
    rest.is_empty().then_some(count)
}

/// Parses a `skill_context`.
pub fn parse_skill_context(text: &str) -> Option<ParsedEnvelope> {
    let rest = text.strip_prefix("<skill_context id=\"")?;
    let (id, rest) = rest.split_once("\">\n  <instructions>\n")?;
    let (body, rest) = rest.split_once("  </instructions>\n")?;
    let (resources, directive) = rest.split_once("\n  <execution_directive>\n")?;
    let directive = directive.strip_suffix("  </execution_directive>\n</skill_context>")?;
    let mut opened = ParsedEnvelope {
        id: unescape(id)?,
        body: body.to_owned(),
        notes: directive
            .lines()
            .map(|line| line.trim().to_owned())
            .collect(),
        ..ParsedEnvelope::default()
    };
    if !resources.is_empty() {
        let resources = resources.strip_prefix("  <active_resources>\n")?;
        let resources = resources.strip_suffix("  </active_resources>\n")?;
        opened.parse_resources(resources)?;
    }
    Some(opened)
}

/// Parses a `skill_content`, starting from its end.
pub fn parse_skill_content(text: &str) -> Option<ParsedEnvelope> {
    let rest = text.strip_prefix("<skill_content name=\"")?;
    let (id, rest) = rest.split_once("\">\n")?;
    let rest = rest.strip_suffix("</skill_content>")?;
    let (content, resources) = match rest.split_once("\n<skill_resources>\n") {
        Some((content, resources)) => (content, resources.strip_suffix("</skill_resources>\n")?),
        None => (rest, ""),
    };
    let about = content
        .rfind("\nSkill directory: ")
        .max(content.rfind("\nThis skill has no directory on disk.\n"))?;
    let mut opened = ParsedEnvelope {
        id: unescape(id)?,
        body: content[..about].to_owned(),
        ..ParsedEnvelope::default()
    };
    for line in content[about + 1..].lines() {
        match line.strip_prefix("Skill directory: ") {
            Some(base_dir) => opened.base_dir = Some(unescape(base_dir)?),
            None => opened.notes.push(line.to_owned()),
        }
    }
    opened.parse_resources(resources)?;
    Some(opened)
}

impl ParsedEnvelope {
    fn parse_resources(&mut self, resources: &str) -> Option<()> {
        for line in resources.lines().map(str::trim_start) {
            if let Some(file) = strip_tags(line, "<file>", "</file>") {
                self.files.push(unescape(file)?);
            } else if let Some(root) = strip_tags(line, "<skill_root>", "</skill_root>") {
                self.base_dir = Some(unescape(root)?);
            } else {
                self.notes.push(line.to_owned());
            }
        }
        Some(())
    }
}

fn strip_tags<'a>(line: &'a str, open: &str, close: &str) -> Option<&'a str> {
    line.strip_prefix(open)?.strip_suffix(close)
}

/// Unescapes a value. Returns `None` if it contains a character that should have been escaped.
pub fn unescape(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '&' {
            let is_plain = !matches!(c, '>' | '"' | '\'') && !c.is_control();
            text.push(c);
            if is_plain && fold_char(c) != "<" {
                continue;
            }
            return None;
        }
        let (name, after) = rest.split_once(';')?;
        rest = after;
        text.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => {
                let digits = number.strip_prefix("#x")?;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
        });
    }
    Some(text)
}

/// Returns a character as the lenient parser sees it: `<` if it opens a tag, empty or `/` if it changes no name.
pub fn fold_char(c: char) -> String {
    fold(c.encode_utf8(&mut [0; 4]))
}

/// Returns a text as the lenient parser sees it: lower case, `<` for brackets, `/` for slashes, and without ignored
/// characters.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'a'..='z' | '<' | '/' => folded.push(c),
            '\0'..=' ' | '_' | '-' | '\x7f' => {}
            '\\' => folded.push('/'),
            '!'..='~' => folded.push(c.to_ascii_lowercase()),
            _ => push_compatibility_forms(c, &mut folded),
        }
    }
    folded
}

/// Decomposes a character into its compatibility forms.
fn push_compatibility_forms(c: char, out: &mut String) {
    if LOOK_ALIKES.contains(c) {
        return push_folded(c, out);
    }
    // A standalone accent decomposes into a space and an accent, but is visible to a reader.
    let mut forms = std::iter::once(c).nfkd().enumerate().peekable();
    if forms.peek() == Some(&(0, ' ')) && !c.is_whitespace() {
        out.push('.');
        return;
    }
    for (_, form) in forms {
        push_folded(form, out);
    }
}

fn push_folded(c: char, out: &mut String) {
    if IGNORED.contains(c) || c.is_whitespace() || c.is_control() || is_combining_mark(c) {
        return;
    }
    let number = u32::from(c);
    let is_noncharacter = number & 0xfffe == 0xfffe;
    if is_noncharacter
        || INVISIBLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&number))
    {
        return;
    }
    // Some letters of the mathematical alphabets are encoded elsewhere; some fonts still draw them at the reserved
    // positions.
    if let Some(offset @ 0..676) = number.checked_sub(0x1_d400) {
        out.extend(char::from_u32(u32::from('a') + offset % 26));
        return;
    }
    for first in [0x1_f150, 0x1_f170, 0x1_f1e6] {
        if let Some(offset @ 0..26) = number.checked_sub(first) {
            out.extend(char::from_u32(u32::from('a') + offset));
            return;
        }
    }
    if BRACKETS.contains(c) {
        out.push('<');
    } else if SLASHES.contains(c) {
        out.push('/');
    } else if let Some(index) = LOOK_ALIKES.chars().position(|foreign| foreign == c) {
        out.extend(LATIN.chars().nth(index));
    } else {
        out.extend(c.to_lowercase());
    }
}

const BRACKETS: &str = "<˂ᐸᚲ‹≺⋖❬❮❰⟨⦑⧼\u{2329}\u{3008}";
const SLASHES: &str = "/\\᜵⁁⁄∕∖╱⟋⧵⧸⧹Ⳇ㇓";
const IGNORED: &str = "_-ˍ˗‐\u{2011}‒–—―‿⁀⁃⁔−︱︲";

/// Look-alike letters, each aligned with the Latin letter in `LATIN` it resembles.
const LOOK_ALIKES: &str =
    "аАαΑɑᴀсСϲϹᴄԁԀᴅеЕΕεҽᴇ℮іІιΙıɩɪкКκΚᴋӏӀʟǀΝոռηƞɴоОοΟօσᴏгГʀѕЅꜱтТτΤᴛυսʋᴜνѵѴᴠхХχΧ×";
const LATIN: &str = "aaaaaacccccdddeeeeeeeiiiiiiikkkkkllllnnnnnnooooooorrrssstttttuuuuvvvvxxxxx";

/// Ranges of invisible characters: `Default_Ignorable_Code_Point` and the categories `Cf` and `Co` in Unicode 16.0, a
/// blank, object placeholders and noncharacters.
const INVISIBLE: [(u32, u32); 29] = [
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x206f),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xe000, 0xf8ff),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffd),
    (0x1_10bd, 0x1_10bd),
    (0x1_10cd, 0x1_10cd),
    (0x1_3430, 0x1_343f),
    (0x1_bca0, 0x1_bca3),
    (0x1_d173, 0x1_d17a),
    (0xe_0000, 0xe_0fff),
    (0xf_0000, 0x10_ffff),
];
