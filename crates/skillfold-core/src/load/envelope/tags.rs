//! A body's own tags, made harmless.

use memchr::memchr3;

use super::confusables::{LEADS, Sign, is_bracket, sign};

/// Writes a body, with `&lt;` in place of the bracket of each tag that would be read as one of `names`, and returns how
/// many there were.
///
/// Names are in lower case and without underscores, and none starts with another. Takes one pass whatever the body is: a
/// name is read on from where a bracket stands, and a bracket ends every name before it.
pub(super) fn push_neutralised(body: &str, names: &[&str], text: &mut String) -> usize {
    let mut leads = Leads::new(body.as_bytes());
    let (mut copied, mut at, mut count) = (0, 0, 0);
    while let Some(place) = leads.next_from(at) {
        let Some(bracket) = body[place..].chars().next().filter(|c| is_bracket(*c)) else {
            at = place + 1;
            continue;
        };
        let after = place + bracket.len_utf8();
        let (length, reading) = read_name(&body[after..], names);
        at = after + length;
        if reading == BracketKind::Tag {
            text.push_str(&body[copied..place]);
            text.push_str("&lt;");
            copied = after;
            count += 1;
        }
    }
    text.push_str(&body[copied..]);
    count
}

/// What stands after a bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BracketKind {
    Tag,
    Text,
}

/// Reads on until a name is whole or can be none of `names` any more. Returns how far that was.
///
/// What follows the name is not looked at: `<instructions2>` costs an author one `<`, and no reader has to know where a
/// name ends.
fn read_name(text: &str, names: &[&str]) -> (usize, BracketKind) {
    let mut read = 0;
    // The last name that agreed. A name that agrees later agrees in all that was read.
    let mut candidate = 0;
    for (place, c) in text.char_indices() {
        match sign(c) {
            Sign::Nothing => {}
            Sign::Bracket | Sign::Other => return (place, BracketKind::Text),
            Sign::Letters(letters) => {
                let so_far = &names[candidate][..read];
                let agrees = |name: &&str| {
                    name.strip_prefix(so_far)
                        .is_some_and(|rest| rest.starts_with(letters) || letters.starts_with(rest))
                };
                let Some(found) = names.iter().position(agrees) else {
                    return (place, BracketKind::Text);
                };
                (candidate, read) = (found, read + letters.len());
                if read >= names[candidate].len() {
                    return (place + c.len_utf8(), BracketKind::Tag);
                }
            }
        }
    }
    // What the envelope says next could end a name that the body has begun.
    let reading = if read > 0 {
        BracketKind::Tag
    } else {
        BracketKind::Text
    };
    (text.len(), reading)
}

/// The places of the first bytes of brackets. Each byte is searched once, however often the next place is asked for.
struct Leads<'a> {
    bytes: &'a [u8],
    next: [usize; LEADS.len()],
}

impl<'a> Leads<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let next = LEADS.map(|leads| search(bytes, leads, 0));
        Self { bytes, next }
    }

    fn next_from(&mut self, from: usize) -> Option<usize> {
        for (next, leads) in self.next.iter_mut().zip(LEADS) {
            if *next < from {
                *next = search(self.bytes, leads, from);
            }
        }
        let next = self.next.into_iter().min();
        next.filter(|place| *place < self.bytes.len())
    }
}

fn search(bytes: &[u8], [a, b, c]: [u8; 3], from: usize) -> usize {
    memchr3(a, b, c, &bytes[from..]).map_or(bytes.len(), |place| from + place)
}

#[cfg(test)]
mod tests {
    use super::{Leads, push_neutralised, read_name};

    const NAMES: &[&str] = &["skillcontent", "skillcontext", "instructions"];

    fn neutralised(body: &str) -> String {
        let mut text = String::new();
        push_neutralised(body, NAMES, &mut text);
        text
    }

    #[test]
    fn name_is_read_through_what_does_not_count() {
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
    fn name_that_the_body_leaves_open_counts() {
        assert_eq!(neutralised("a <skill_"), "a &lt;skill_");
        assert_eq!(neutralised("a </instruction\n"), "a &lt;/instruction\n");
        assert_eq!(neutralised("a < / _"), "a < / _");
    }

    #[test]
    fn letter_that_is_two_counts_for_both() {
        assert_eq!(neutralised("<i\u{33b1}tructions"), "&lt;i\u{33b1}tructions");
        assert_eq!(
            neutralised("<\u{33cc}\u{fb06}ructions"),
            "&lt;\u{33cc}\u{fb06}ructions"
        );
    }

    #[test]
    fn no_byte_is_read_twice_as_a_name() {
        for body in [
            "<",
            "< ",
            "<\u{200b}",
            "<skill_conten",
            "<<\u{ff1c}/ s",
            "\u{2014}<i",
        ] {
            let body = body.repeat(500);
            let (mut leads, mut at, mut work) = (Leads::new(body.as_bytes()), 0, 0);
            while let Some(place) = leads.next_from(at) {
                let width = body[place..].chars().next().map_or(1, char::len_utf8);
                let (length, _) = read_name(&body[place + width..], NAMES);
                at = place + width + length;
                work += width + length;
            }
            assert!(work <= body.len());
        }
    }
}
