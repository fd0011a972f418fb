//! Terms as engine tokens, each repeated by its weighted frequency.

use skillfold_core::search::{SearchDocument, Term};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Characters of a token: enough for the 32 bits of a term, at 6 bits each.
const TOKEN_CHARS: usize = 6;
/// Characters of a token and its frequency.
const ENTRY_CHARS: usize = TOKEN_CHARS + 2;
/// Maximum frequency of a term; beyond it the score is saturated anyway.
const MAX_FREQUENCY: u16 = 64 * 64 - 1;

const ALPHABET: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// Returns the token of a term.
pub(super) fn token(term: Term) -> String {
    let mut token = String::with_capacity(TOKEN_CHARS);
    push_digits(&mut token, term.hash(), TOKEN_CHARS);
    token
}

/// Encodes the tokens of a document and their frequencies as a text for [`RepeatTokenizer`].
pub(super) fn encode_terms(document: &SearchDocument) -> String {
    let mut text = String::new();
    for (term, frequency) in document.weighted_terms() {
        push_digits(&mut text, term.hash(), TOKEN_CHARS);
        push_digits(
            &mut text,
            u32::from(frequency.min(MAX_FREQUENCY)),
            ENTRY_CHARS - TOKEN_CHARS,
        );
    }
    text
}

/// Appends a number in base 64, least significant digit first.
fn push_digits(text: &mut String, number: u32, digits: usize) {
    for position in 0..digits {
        let digit = number >> (6 * position) & 63;
        text.push(char::from(ALPHABET[digit as usize]));
    }
}

/// Decodes the text of [`encode_terms`] and emits each token as often as its frequency says.
#[derive(Clone, Debug, Default)]
pub(super) struct RepeatTokenizer {
    token: Token,
}

impl Tokenizer for RepeatTokenizer {
    type TokenStream<'a> = RepeatStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> RepeatStream<'a> {
        // Positions are not indexed, but the default one would overflow.
        self.token.position = 0;
        RepeatStream {
            rest: text,
            remaining: 0,
            token: &mut self.token,
        }
    }
}

/// The tokens of one document.
#[derive(Debug)]
pub(super) struct RepeatStream<'a> {
    rest: &'a str,
    /// How many more times to emit the current token.
    remaining: u32,
    token: &'a mut Token,
}

impl TokenStream for RepeatStream<'_> {
    fn advance(&mut self) -> bool {
        while self.remaining == 0 {
            let Some((entry, rest)) = self.rest.split_at_checked(ENTRY_CHARS) else {
                return false;
            };
            let (token, frequency) = entry.split_at(TOKEN_CHARS);
            self.token.text.clear();
            self.token.text.push_str(token);
            self.remaining = parse_digits(frequency);
            self.rest = rest;
        }
        self.remaining -= 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

fn parse_digits(text: &str) -> u32 {
    let digit = |byte| {
        let position = ALPHABET.iter().position(|other| *other == byte);
        position.and_then(|position| u32::try_from(position).ok())
    };
    let digits = text.bytes().rev().map(|byte| digit(byte).unwrap_or(0));
    digits.fold(0, |number, digit| number << 6 | digit)
}

#[cfg(test)]
mod tests {
    use skillfold_core::search::{DocumentBuilder, DocumentTexts};

    use super::*;

    #[test]
    fn each_token_is_repeated_by_its_frequency() {
        let document = DocumentBuilder::new().from_texts(
            &DocumentTexts::default()
                .with_name("pdf")
                .with_description("pdf form"),
        );
        let text = encode_terms(&document);
        let mut tokenizer = RepeatTokenizer::default();
        let mut stream = tokenizer.token_stream(&text);
        let mut tokens = Vec::new();
        while let Some(token) = stream.next() {
            tokens.push(token.text.clone());
        }
        let mut expected = Vec::new();
        for (term, frequency) in document.weighted_terms() {
            expected.extend(vec![token(term); usize::from(frequency)]);
        }
        assert_eq!(tokens, expected);
        // The field weights are 7 for the name and 8 for the description.
        assert_eq!(tokens.len(), 7 + 8 + 8);
    }

    proptest::proptest! {
        #[test]
        fn numbers_round_trip(wanted in 0..=u32::from(MAX_FREQUENCY)) {
            let mut text = String::new();
            push_digits(&mut text, wanted, 2);
            proptest::prop_assert_eq!(parse_digits(&text), wanted);
        }

        #[test]
        fn distinct_terms_have_distinct_tokens(first: u32, second: u32) {
            let tokens = [first, second].map(|number| token(Term::new(number)));
            proptest::prop_assert_eq!(tokens[0] == tokens[1], first == second);
        }
    }
}
