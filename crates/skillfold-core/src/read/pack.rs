//! Values as bytes, for a cache that another process reads.
//!
//! Numbers stand in one stretch and text in another, so that all text is found to be text at once. What is read back is
//! bounded by the bytes that are there, and whatever does not fit together is nothing.

use std::sync::LazyLock;

use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Position, Span};
use crate::name::SkillName;
use crate::read::source::Revision;

/// Lists in lists that are read back; what nests deeper is read from its file.
const DEPTH: usize = 128;

/// Where values are written.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    pub(crate) numbers: Vec<u8>,
    pub(crate) text: String,
}

/// Where values are read back from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacker<'a> {
    numbers: &'a [u8],
    text: &'a str,
    depth: usize,
}

/// A value that can be written and read back.
pub(crate) trait Pack: Sized {
    fn pack(&self, into: &mut Packer);

    /// Reads a value, or nothing where there is none. Every value takes a byte of the numbers at least.
    fn unpack(from: &mut Unpacker<'_>) -> Option<Self>;
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(numbers: &'a [u8], text: &'a str) -> Self {
        Self {
            numbers,
            text,
            depth: 0,
        }
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.numbers.split_first()?;
        self.numbers = rest;
        Some(*first)
    }

    /// Reads a number of eight bytes.
    pub(crate) fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.numbers.split_first_chunk::<8>()?;
        self.numbers = rest;
        Some(u64::from_le_bytes(*word))
    }

    /// Reads a number that is mostly small.
    pub(crate) fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            WORD => self.word(),
            SHORT => {
                let (short, rest) = self.numbers.split_first_chunk::<2>()?;
                self.numbers = rest;
                Some(u16::from_le_bytes(*short).into())
            }
            small => Some(small.into()),
        }
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// Reads a text.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.length()?;
        let (text, rest) = self.text.split_at_checked(length)?;
        self.text = rest;
        Some(text)
    }

    /// Takes what was packed by itself, as it is.
    pub(crate) fn part(&mut self) -> Option<(&'a [u8], &'a str)> {
        let (length, text_length) = (self.length()?, self.length()?);
        let (numbers, rest) = self.numbers.split_at_checked(length)?;
        let (text, text_rest) = self.text.split_at_checked(text_length)?;
        (self.numbers, self.text) = (rest, text_rest);
        Some((numbers, text))
    }

    /// Reads a list, of which each entry takes a byte at least.
    fn list<T>(&mut self, mut entry: impl FnMut(&mut Self) -> Option<T>) -> Option<Box<[T]>> {
        let length = self.length()?;
        if length > self.numbers.len() || self.depth == DEPTH {
            return None;
        }
        if length == 0 {
            return Some(Box::default());
        }
        self.depth += 1;
        let mut entries = Vec::with_capacity(length.min(1024));
        for _ in 0..length {
            entries.push(entry(self)?);
        }
        self.depth -= 1;
        Some(entries.into())
    }
}

/// The first byte of a number of two bytes, and of eight.
const SHORT: u8 = 0xfe;
const WORD: u8 = 0xff;

impl Packer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.numbers.push(byte);
    }

    /// Writes a number of eight bytes.
    pub(crate) fn word(&mut self, word: u64) {
        self.numbers.extend(word.to_le_bytes());
    }

    /// Writes a number that is mostly small.
    pub(crate) fn number(&mut self, number: u64) {
        match (u8::try_from(number), u16::try_from(number)) {
            (Ok(small), _) if small < SHORT => self.byte(small),
            (_, Ok(short)) => {
                self.byte(SHORT);
                self.numbers.extend(short.to_le_bytes());
            }
            _ => {
                self.byte(WORD);
                self.word(number);
            }
        }
    }

    /// Writes what was packed by itself, so that it can be taken as it is.
    pub(crate) fn part(&mut self, part: &Self) {
        self.number(part.numbers.len() as u64);
        self.number(part.text.len() as u64);
        self.numbers.extend_from_slice(&part.numbers);
        self.text.push_str(&part.text);
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.text.push_str(text);
    }
}

impl Pack for bool {
    fn pack(&self, into: &mut Packer) {
        into.byte(u8::from(*self));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Pack for Box<str> {
    fn pack(&self, into: &mut Packer) {
        into.text(self);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        from.text().map(Into::into)
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, into: &mut Packer) {
        self.is_some().pack(into);
        if let Some(value) = self {
            value.pack(into);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        if bool::unpack(from)? {
            T::unpack(from).map(Some)
        } else {
            Some(None)
        }
    }
}

impl<T: Pack> Pack for Box<[T]> {
    fn pack(&self, into: &mut Packer) {
        into.number(self.len() as u64);
        for value in self {
            value.pack(into);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        from.list(T::unpack)
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack(&self, into: &mut Packer) {
        self.0.pack(into);
        self.1.pack(into);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some((A::unpack(from)?, B::unpack(from)?))
    }
}

impl Pack for SkillName {
    fn pack(&self, into: &mut Packer) {
        into.text(self.as_str());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        from.text()?.parse().ok()
    }
}

impl Pack for Revision {
    fn pack(&self, into: &mut Packer) {
        let Self {
            device,
            inode,
            size,
            modified_ns,
            changed_ns,
        } = *self;
        let times = [modified_ns, changed_ns].map(i64::cast_unsigned);
        [device, inode, size]
            .into_iter()
            .chain(times)
            .for_each(|word| into.word(word));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self {
            device: from.word()?,
            inode: from.word()?,
            size: from.word()?,
            modified_ns: from.word()?.cast_signed(),
            changed_ns: from.word()?.cast_signed(),
        })
    }
}

impl Pack for Position {
    fn pack(&self, into: &mut Packer) {
        into.number(self.line.into());
        into.number(self.column.into());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let line = u32::try_from(from.number()?).ok()?;
        Some(Self::new(line, u32::try_from(from.number()?).ok()?))
    }
}

impl Pack for Span {
    fn pack(&self, into: &mut Packer) {
        self.start.pack(into);
        self.end.pack(into);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self::new(Position::unpack(from)?, Position::unpack(from)?))
    }
}

/// The codes by the digits of their stable numbers.
static CODES: LazyLock<Vec<Option<Code>>> = LazyLock::new(|| {
    let mut codes = Vec::new();
    for code in Code::ALL {
        let at = usize::from(digits(*code));
        codes.resize(codes.len().max(at + 1), None);
        codes[at] = Some(*code);
    }
    codes
});

fn digits(code: Code) -> u16 {
    let digits = code
        .number()
        .trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or_default()
}

impl Pack for Code {
    fn pack(&self, into: &mut Packer) {
        into.number(digits(*self).into());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        *CODES.get(from.length()?)?
    }
}

const SEVERITIES: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];

impl Pack for Diagnostic {
    fn pack(&self, into: &mut Packer) {
        let Self {
            code,
            severity,
            message,
            span,
        } = self;
        code.pack(into);
        let at = SEVERITIES.iter().position(|one| one == severity);
        into.number(at.map_or(u64::MAX, |at| at as u64));
        message.pack(into);
        span.pack(into);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let code = Code::unpack(from)?;
        let severity = *SEVERITIES.get(from.length()?)?;
        let message = from.text()?;
        Some(Self {
            severity,
            ..Self::new(code, Option::<Span>::unpack(from)?, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Pack, Packer, Unpacker, digits};
    use crate::codes::Code;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn unpacked<T: Pack>(packer: &Packer) -> Option<T> {
        T::unpack(&mut Unpacker::new(&packer.numbers, &packer.text))
    }

    #[test]
    fn every_code_comes_back() {
        let known: HashSet<u16> = Code::ALL.iter().map(|code| digits(*code)).collect();
        assert_eq!(known.len(), Code::ALL.len(), "numbers are told apart");
        for code in Code::ALL {
            let mut packer = Packer::default();
            code.pack(&mut packer);
            assert_eq!(unpacked(&packer), Some(*code));
        }
    }

    #[test]
    fn list_that_cannot_be_there_is_not_made_room_for() {
        let mut packer = Packer::default();
        packer.number(u64::MAX);
        assert_eq!(unpacked::<Box<[Box<str>]>>(&packer), None);
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, bits in 0_u32..64) {
            let number = number >> bits;
            let mut packer = Packer::default();
            packer.number(number);
            let mut from = Unpacker::new(&packer.numbers, "");
            prop_assert_eq!(from.number(), Some(number));
            prop_assert_eq!(from.byte(), None);
        }

        #[test]
        fn lists_of_text_come_back(list: Vec<Vec<String>>) {
            let list: Box<[Box<[Box<str>]>]> = list
                .into_iter()
                .map(|list| list.into_iter().map(Into::into).collect())
                .collect();
            let mut packer = Packer::default();
            list.pack(&mut packer);
            prop_assert_eq!(unpacked(&packer), Some(list));
        }
    }
}
