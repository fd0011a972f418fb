//! Neutralises tags in a body that could be mistaken for tags of the envelope.

use memchr::memchr3;

use super::confusables::{LEAD_BYTES, TagCharacter, classify, is_bracket};

/// Appends a body to `text`, replacing the bracket of each tag that would be read as one of `names` with `&lt;`, and
/// returns how many were replaced.
///
/// Names are lowercase, without underscores, and none is a prefix of another. Takes a single pass over any body: a name
/// is read from its bracket on, and the next bracket ends it.
pub(super) fn push_neutralised(body: &str, names: &[&str], text: &mut String) -> usize {
    let mut lead_bytes = LeadByteFinder::new(body.as_bytes());
    let (mut copied, mut from, mut count) = (0, 0, 0);
    while let Some(at) = lead_bytes.next_from(from) {
        let Some(bracket) = body[at..].chars().next().filter(|c| is_bracket(*c)) else {
            from = at + 1;
            continue;
        };
        let name_start = at + bracket.len_utf8();
        let (length, kind) = read_name(&body[name_start..], names);
        from = name_start + length;
        if kind == BracketKind::Tag {
            text.push_str(&body[copied..at]);
            text.push_str("&lt;");
            copied = name_start;
            count += 1;
        }
    }
    text.push_str(&body[copied..]);
    count
}

/// What follows a bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BracketKind {
    Tag,
    Text,
}

/// Reads until one of `names` is complete or none can match any more. Returns the bytes read and whether it was a tag.
///
/// What follows the name is ignored: `<instructions2>` costs its author one `<`, but nothing depends on where a reader
/// thinks the name ends.
fn read_name(text: &str, names: &[&str]) -> (usize, BracketKind) {
    let mut matched = 0;
    // The name that matched last. A name that matches from now on shares its first `matched` bytes.
    let mut candidate = 0;
    for (at, c) in text.char_indices() {
        match classify(c) {
            TagCharacter::Ignored => {}
            TagCharacter::Bracket | TagCharacter::Other => return (at, BracketKind::Text),
            TagCharacter::Letters(letters) => {
                let prefix = &names[candidate][..matched];
                let agrees = |name: &&str| {
                    name.strip_prefix(prefix).is_some_and(|rest| {
                        rest.starts_with(&*letters) || letters.starts_with(rest)
                    })
                };
                let Some(found) = names.iter().position(agrees) else {
                    return (at, BracketKind::Text);
                };
                (candidate, matched) = (found, matched + letters.len());
                if matched >= names[candidate].len() {
                    return (at + c.len_utf8(), BracketKind::Tag);
                }
            }
        }
    }
    // The text of the envelope that follows could complete a name that the body left unfinished.
    let kind = if matched > 0 {
        BracketKind::Tag
    } else {
        BracketKind::Text
    };
    (text.len(), kind)
}

/// Finds bytes that may start a bracket. Each byte is searched at most once per set of [`LEAD_BYTES`], however often
/// [`next_from`](Self::next_from) is called.
struct LeadByteFinder<'a> {
    bytes: &'a [u8],
    next: [usize; LEAD_BYTES.len()],
}

impl<'a> LeadByteFinder<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let next = LEAD_BYTES.map(|set| find_lead_byte(bytes, set, 0));
        Self { bytes, next }
    }

    /// Returns the offset of the next lead byte at or after `from`.
    fn next_from(&mut self, from: usize) -> Option<usize> {
        for (next, set) in self.next.iter_mut().zip(LEAD_BYTES) {
            if *next < from {
                *next = find_lead_byte(self.bytes, set, from);
            }
        }
        let next = self.next.into_iter().min();
        next.filter(|at| *at < self.bytes.len())
    }
}

fn find_lead_byte(bytes: &[u8], [a, b, c]: [u8; 3], from: usize) -> usize {
    memchr3(a, b, c, &bytes[from..]).map_or(bytes.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::{LeadByteFinder, push_neutralised, read_name};

    const NAMES: &[&str] = &["skillcontent", "skillcontext", "instructions"];

    fn neutralised(body: &str) -> String {
        let mut text = String::new();
        push_neutralised(body, NAMES, &mut text);
        text
    }

    #[test]
    fn tag_names_are_matched_through_ignored_characters() {
        assert_eq!(
            neutralised("</Skill-\u{200b}conTEXT>"),
            "&lt;/Skill-\u{200b}conTEXT>"
        );
        assert_eq!(
            neutralised("<<skill_conten<skill_content"),
            "<<skill_conten&lt;skill_content"
        );
        assert_eq!(neutralised("<skill_conte<p>a < b"), "<skill_conte<p>a < b");
    }

    #[test]
    fn unterminated_tag_name_at_the_end_of_the_body_is_neutralised() {
        assert_eq!(neutralised("a <skill_"), "a &lt;skill_");
        assert_eq!(neutralised("a </instruction\n"), "a &lt;/instruction\n");
        assert_eq!(neutralised("a < / _"), "a < / _");
    }

    #[test]
    fn ligature_matches_both_of_its_letters() {
        assert_eq!(neutralised("<i\u{33b1}tructions"), "&lt;i\u{33b1}tructions");
        assert_eq!(
            neutralised("<\u{33cc}\u{fb06}ructions"),
            "&lt;\u{33cc}\u{fb06}ructions"
        );
    }

    #[test]
    fn tag_names_are_scanned_in_linear_time() {
        for body in [
            "<",
            "< ",
            "<\u{200b}",
            "<skill_conten",
            "<<\u{ff1c}/ s",
            "\u{2014}<i",
        ] {
            let body = body.repeat(500);
            let (mut lead_bytes, mut from, mut work) = (LeadByteFinder::new(body.as_bytes()), 0, 0);
            while let Some(at) = lead_bytes.next_from(from) {
                let width = body[at..].chars().next().map_or(1, char::len_utf8);
                let (length, _) = read_name(&body[at + width..], NAMES);
                from = at + width + length;
                work += width + length;
            }
            assert!(work <= body.len());
        }
    }
}
