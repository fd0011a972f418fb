//! Terms as the engine sees them: short words, each as often as it counts.

use skillfold_core::{Document, Term};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Letters of a token: enough for the 32 bits of a term, six in each.
const LETTERS: usize = 6;
/// Letters of a token and of the number behind it that says how often it stands there.
const ENTRY: usize = LETTERS + 2;
/// A term counts so often at most; above that it is saturated anyway.
const MOST: u16 = 64 * 64 - 1;

const ALPHABET: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// Returns the token of a term.
pub(super) fn token(term: Term) -> String {
    let mut token = String::with_capacity(LETTERS);
    push(&mut token, term.number(), LETTERS);
    token
}

/// Returns the tokens of a document and how often each stands there, as one text that [`Repeats`] reads.
pub(super) fn text(document: &Document) -> String {
    let mut text = String::new();
    for (term, times) in document.weighted_terms() {
        push(&mut text, term.number(), LETTERS);
        push(&mut text, u32::from(times.min(MOST)), ENTRY - LETTERS);
    }
    text
}

fn push(text: &mut String, number: u32, letters: usize) {
    for letter in 0..letters {
        let digit = number >> (6 * letter) & 63;
        text.push(char::from(ALPHABET[digit as usize]));
    }
}

/// Reads the text of a document, and gives each token as often as the text says.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    token: Token,
}

impl Tokenizer for Repeats {
    type TokenStream<'a> = RepeatStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> RepeatStream<'a> {
        // No places are kept; the first one of a text that has none would overflow.
        self.token.position = 0;
        RepeatStream {
            rest: text,
            times: 0,
            token: &mut self.token,
        }
    }
}

/// The tokens of one document.
#[derive(Debug)]
pub(super) struct RepeatStream<'a> {
    rest: &'a str,
    /// How often the token is still to be given.
    times: u32,
    token: &'a mut Token,
}

impl TokenStream for RepeatStream<'_> {
    fn advance(&mut self) -> bool {
        while self.times == 0 {
            let Some((entry, rest)) = self.rest.split_at_checked(ENTRY) else {
                return false;
            };
            let (token, times) = entry.split_at(LETTERS);
            self.token.text.clear();
            self.token.text.push_str(token);
            self.times = number(times);
            self.rest = rest;
        }
        self.times -= 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

fn number(letters: &str) -> u32 {
    let digit = |letter| {
        let place = ALPHABET.iter().position(|known| *known == letter);
        place.and_then(|place| u32::try_from(place).ok())
    };
    let digits = letters
        .bytes()
        .rev()
        .map(|letter| digit(letter).unwrap_or(0));
    digits.fold(0, |number, digit| number << 6 | digit)
}

#[cfg(test)]
mod tests {
    use skillfold_core::{DocumentBuilder, DocumentTexts};

    use super::*;

    #[test]
    fn a_document_gives_each_token_as_often_as_its_term_counts() {
        let document = DocumentBuilder::new().from_texts(&DocumentTexts {
            name: "pdf",
            description: "pdf form",
            ..DocumentTexts::default()
        });
        let text = text(&document);
        let mut repeats = Repeats::default();
        let mut stream = repeats.token_stream(&text);
        let mut tokens = Vec::new();
        while let Some(token) = stream.next() {
            tokens.push(token.text.clone());
        }
        let mut expected = Vec::new();
        for (term, times) in document.weighted_terms() {
            expected.extend(vec![token(term); usize::from(times)]);
        }
        assert_eq!(tokens, expected);
        // Once in a name counts 7, once in a description 8.
        assert_eq!(tokens.len(), 7 + 8 + 8);
    }

    proptest::proptest! {
        #[test]
        fn any_number_is_read_as_it_was_written(wanted in 0..=u32::from(MOST)) {
            let mut text = String::new();
            push(&mut text, wanted, 2);
            proptest::prop_assert_eq!(number(&text), wanted);
        }

        #[test]
        fn any_two_terms_have_two_tokens(first: u32, second: u32) {
            let tokens = [first, second].map(|number| token(Term::new(number)));
            proptest::prop_assert_eq!(tokens[0] == tokens[1], first == second);
        }
    }
}
