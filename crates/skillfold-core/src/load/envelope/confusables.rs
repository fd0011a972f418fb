//! How a lenient reader of tags interprets each character: look-alikes of brackets and letters, and characters it
//! ignores.

use std::borrow::Cow;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::invisible::is_invisible;

/// How a character is read in a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TagCharacter {
    /// Opens a tag.
    Bracket,
    /// Has no effect: white space, invisible characters, diacritics, slashes, and characters that join words.
    Ignored,
    /// Is read as these letters, in lower case. Other characters may follow: `㏇` is `co.`.
    Letters(Cow<'static, str>),
    /// Ends a tag name.
    Other,
}

/// Returns how a character is read in a tag.
pub(super) fn classify(c: char) -> TagCharacter {
    match c {
        'a'..='z' | 'A'..='Z' => {
            let index = usize::from(c.to_ascii_lowercase() as u8 - b'a');
            TagCharacter::Letters(Cow::Borrowed(&ALPHABET[index..=index]))
        }
        _ if is_bracket(c) => TagCharacter::Bracket,
        _ if is_ignored(c) => TagCharacter::Ignored,
        '!'..='~' => TagCharacter::Other,
        _ => classify_visible(c),
    }
}

/// Classifies a character by the letters that it looks like or decomposes into.
fn classify_visible(c: char) -> TagCharacter {
    let mut letters = String::new();
    match lookalike(c) {
        Some(letter) => letters.push(letter),
        None => decompose_compatible(c, |part| {
            // The space in the decomposition of a standalone accent stands for a visible character.
            if part == ' ' || !is_ignored(part) {
                letters.push(lookalike(part).unwrap_or(part.to_ascii_lowercase()));
            }
        }),
    }
    match letters.chars().next() {
        None => TagCharacter::Ignored,
        Some('a'..='z') => TagCharacter::Letters(letters.into()),
        Some(_) => TagCharacter::Other,
    }
}

/// Returns whether a character is `<` or could be read as it: compatibility forms, characters of its shape, and single
/// angle brackets. Double angle brackets are quotation marks.
pub(super) fn is_bracket(c: char) -> bool {
    matches!(
        c,
        '<' | '\u{2c2}'
            | '\u{1438}'
            | '\u{16b2}'
            | '\u{2039}'
            | '\u{226e}'
            | '\u{227a}'
            | '\u{2280}'
            | '\u{22d6}'
            | '\u{2329}'
            | '\u{276c}'
            | '\u{276e}'
            | '\u{2770}'
            | '\u{27e8}'
            | '\u{2991}'
            | '\u{29fc}'
            | '\u{3008}'
            | '\u{fe3f}'
            | '\u{fe64}'
            | '\u{ff1c}'
    )
}

/// The first UTF-8 bytes of all brackets, in sets of three for `memchr3`.
pub(super) const LEAD_BYTES: [[u8; 3]; 2] = [[b'<', 0xe2, 0xef], [0xcb, 0xe1, 0xe3]];

/// Returns whether a character has no effect in a tag. Characters that decompose into such characters have none either.
fn is_ignored(c: char) -> bool {
    match c {
        '/' | '\\' | '_' | '-' | '\0'..=' ' | '\x7f' => true,
        '!'..='~' => false,
        _ => {
            c.is_whitespace()
                || is_unprintable(c)
                || is_combining_mark(c)
                || SLASHES.contains(c)
                || JOINERS.contains(c)
        }
    }
}

const SLASHES: &str = "\u{1735}\u{2041}\u{2044}\u{2215}\u{2216}\u{2571}\u{27cb}\u{29f5}\u{29f8}\u{29f9}\u{2cc6}\u{31d3}";

/// Characters that join two words, as `_` does in our tag names. A name with another joiner, or with none, is read as
/// the same name.
const JOINERS: &str = "\u{2cd}\u{2d7}\u{2010}\u{2012}\u{2013}\u{2014}\u{2015}\u{203f}\u{2040}\u{2043}\u{2054}\u{2212}";

/// Returns whether a character has no visible form: controls, invisible characters, the blank Braille pattern, and the
/// object replacement and replacement characters.
fn is_unprintable(c: char) -> bool {
    c.is_control() || is_invisible(c) || c == '\u{fffd}'
}

const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyz";

/// Returns the letter that a character looks like, if it has no decomposition that says so.
fn lookalike(c: char) -> Option<char> {
    let letter = |first: u32| char::from_u32('a' as u32 + (c as u32 - first) % 26);
    match c {
        // The thirteen mathematical alphabets, some of whose letters are reserved.
        '\u{1d400}'..='\u{1d6a3}' => letter(0x1d400),
        // Letters in black circles and squares, and regional indicators.
        '\u{1f150}'..='\u{1f169}' => letter(0x1f150),
        '\u{1f170}'..='\u{1f189}' => letter(0x1f170),
        '\u{1f1e6}'..='\u{1f1ff}' => letter(0x1f1e6),
        // The last look-alike is U+A731; most of Unicode is above it.
        '\u{a732}'.. => None,
        _ => {
            let row = LOOKALIKES.iter().find(|(_, row)| row.contains(c));
            row.map(|(letter, _)| *letter)
        }
    }
}

/// For each letter in our tag names, the letters of other alphabets that look like it.
const LOOKALIKES: [(char, &str); 15] = [
    ('a', "ɑΑαАаᴀ"),
    ('c', "ϲϹСсᴄ"),
    ('d', "Ԁԁᴅ"),
    ('e', "ΕεЕеҽᴇ℮"),
    ('i', "ıɩɪΙιІі"),
    ('k', "ΚκКкᴋ"),
    ('l', "ǀʟӀӏ"),
    ('n', "ƞɴΝηոռ"),
    ('o', "ΟοσОоօᴏ"),
    ('r', "ʀГг"),
    ('s', "Ѕѕꜱ"),
    ('t', "ΤτТтᴛ"),
    ('u', "ʋυսᴜ"),
    ('v', "νѴѵᴠ"),
    ('x', "×ΧχХх"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{ALPHABET, LEAD_BYTES, LOOKALIKES, TagCharacter, classify, is_bracket};

    /// Every character that must be read as letters, beside those of the mathematical alphabets and outlined capitals.
    /// For each letter in our tag names: its compatibility forms, also with accents, and letters of other alphabets
    /// that look like it. Then characters that stand for several letters, at least one of which is in our tag names.
    #[rustfmt::skip]
    const GOLDEN: [(&str, &str); 32] = [
        (
            "a",
            "ªÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧɑΆΑάαАаӐӑӒӓᴀ\u{1d2c}\u{1d43}\u{1d45}ḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ\
             \u{1f00}\u{1f01}\u{1f02}\u{1f03}\u{1f04}\u{1f05}\u{1f06}\u{1f07}\u{1f08}\u{1f09}\u{1f0a}\u{1f0b}\
             \u{1f0c}\u{1f0d}\u{1f0e}\u{1f0f}\u{1f70}\u{1f71}\u{1f80}\u{1f81}\u{1f82}\u{1f83}\u{1f84}\u{1f85}\
             \u{1f86}\u{1f87}\u{1f88}\u{1f89}\u{1f8a}\u{1f8b}\u{1f8c}\u{1f8d}\u{1f8e}\u{1f8f}\u{1fb0}\u{1fb1}\
             \u{1fb2}\u{1fb3}\u{1fb4}\u{1fb6}\u{1fb7}\u{1fb8}\u{1fb9}\u{1fba}\u{1fbb}\u{1fbc}\u{2090}\u{212b}\
             \u{24b6}\u{24d0}\u{ff21}\u{ff41}\u{1d6a8}\u{1d6c2}\u{1d6e2}\u{1d6fc}\u{1d71c}\u{1d736}\u{1d756}\
             \u{1d770}\u{1d790}\u{1d7aa}\u{1e030}\u{1e051}\u{1f130}\u{1f150}\u{1f170}\u{1f1e6}",
        ),
        (
            "c",
            "ÇçĆćĈĉĊċČčϲϹСсᴄ\u{1d9c}Ḉḉ\u{2102}\u{212d}\u{216d}\u{217d}\u{24b8}\u{24d2}\u{a7f2}\u{ff23}\
             \u{ff43}\u{1e03f}\u{1e05e}\u{1f12b}\u{1f132}\u{1f152}\u{1f172}\u{1f1e8}",
        ),
        (
            "d",
            "ĎďԀԁᴅ\u{1d30}\u{1d48}ḊḋḌḍḎḏḐḑḒḓ\u{2145}\u{2146}\u{216e}\u{217e}\u{24b9}\u{24d3}\u{ff24}\u{ff44}\
             \u{1f133}\u{1f153}\u{1f173}\u{1f1e9}",
        ),
        (
            "e",
            "ÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩΈΕέεϵЀЁЕеѐёҽӖӗᴇ\u{1d31}\u{1d49}ḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ\u{1f10}\
             \u{1f11}\u{1f12}\u{1f13}\u{1f14}\u{1f15}\u{1f18}\u{1f19}\u{1f1a}\u{1f1b}\u{1f1c}\u{1f1d}\u{1f72}\
             \u{1f73}\u{1fc8}\u{1fc9}\u{2091}\u{212e}\u{212f}\u{2130}\u{2147}\u{24ba}\u{24d4}\u{ff25}\u{ff45}\
             \u{1d6ac}\u{1d6c6}\u{1d6dc}\u{1d6e6}\u{1d700}\u{1d716}\u{1d720}\u{1d73a}\u{1d750}\u{1d75a}\
             \u{1d774}\u{1d78a}\u{1d794}\u{1d7ae}\u{1d7c4}\u{1e035}\u{1e056}\u{1f134}\u{1f154}\u{1f174}\
             \u{1f1ea}",
        ),
        (
            "i",
            "ÌÍÎÏìíîïĨĩĪīĬĭĮįİıǏǐȈȉȊȋɩɪΊΐΙΪίιϊІЇії\u{1d35}\u{1d62}\u{1da5}\u{1da6}ḬḭḮḯỈỉỊị\u{1f30}\u{1f31}\
             \u{1f32}\u{1f33}\u{1f34}\u{1f35}\u{1f36}\u{1f37}\u{1f38}\u{1f39}\u{1f3a}\u{1f3b}\u{1f3c}\u{1f3d}\
             \u{1f3e}\u{1f3f}\u{1f76}\u{1f77}\u{1fbe}\u{1fd0}\u{1fd1}\u{1fd2}\u{1fd3}\u{1fd6}\u{1fd7}\u{1fd8}\
             \u{1fd9}\u{1fda}\u{1fdb}\u{2071}\u{2110}\u{2111}\u{2139}\u{2148}\u{2160}\u{2170}\u{24be}\u{24d8}\
             \u{ff29}\u{ff49}\u{1d6a4}\u{1d6b0}\u{1d6ca}\u{1d6ea}\u{1d704}\u{1d724}\u{1d73e}\u{1d75e}\
             \u{1d778}\u{1d798}\u{1d7b2}\u{1e04c}\u{1e068}\u{1f138}\u{1f158}\u{1f178}\u{1f1ee}",
        ),
        (
            "k",
            "ĶķǨǩΚκϰЌКкќᴋ\u{1d37}\u{1d4f}ḰḱḲḳḴḵ\u{2096}\u{212a}\u{24c0}\u{24da}\u{ff2b}\u{ff4b}\u{1d6b1}\
             \u{1d6cb}\u{1d6de}\u{1d6eb}\u{1d705}\u{1d718}\u{1d725}\u{1d73f}\u{1d752}\u{1d75f}\u{1d779}\
             \u{1d78c}\u{1d799}\u{1d7b3}\u{1d7c6}\u{1e039}\u{1e05a}\u{1f13a}\u{1f15a}\u{1f17a}\u{1f1f0}",
        ),
        (
            "l",
            "ĹĺĻļĽľ\u{1c0}ʟ\u{2e1}Ӏӏ\u{1d38}\u{1dab}ḶḷḸḹḺḻḼḽ\u{2097}\u{2112}\u{2113}\u{216c}\u{217c}\u{24c1}\
             \u{24db}\u{ff2c}\u{ff4c}\u{107b6}\u{1e050}\u{1f13b}\u{1f15b}\u{1f17b}\u{1f1f1}",
        ),
        (
            "n",
            "ÑñŃńŅņŇňƞǸǹɴΝήηոռ\u{1d3a}\u{1db0}ṄṅṆṇṈṉṊṋ\u{1f20}\u{1f21}\u{1f22}\u{1f23}\u{1f24}\u{1f25}\
             \u{1f26}\u{1f27}\u{1f74}\u{1f75}\u{1f90}\u{1f91}\u{1f92}\u{1f93}\u{1f94}\u{1f95}\u{1f96}\u{1f97}\
             \u{1fc2}\u{1fc3}\u{1fc4}\u{1fc6}\u{1fc7}\u{207f}\u{2099}\u{2115}\u{24c3}\u{24dd}\u{ff2e}\u{ff4e}\
             \u{1d6b4}\u{1d6c8}\u{1d6ee}\u{1d702}\u{1d728}\u{1d73c}\u{1d762}\u{1d776}\u{1d79c}\u{1d7b0}\
             \u{1f13d}\u{1f15d}\u{1f17d}\u{1f1f3}",
        ),
        (
            "o",
            "ºÒÓÔÕÖòóôõöŌōŎŏŐőƠơǑǒǪǫǬǭȌȍȎȏȪȫȬȭȮȯȰȱΌΟοσόОоӦӧօᴏ\u{1d3c}\u{1d52}ṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợ\
             \u{1f40}\u{1f41}\u{1f42}\u{1f43}\u{1f44}\u{1f45}\u{1f48}\u{1f49}\u{1f4a}\u{1f4b}\u{1f4c}\u{1f4d}\
             \u{1f78}\u{1f79}\u{1ff8}\u{1ff9}\u{2092}\u{2134}\u{24c4}\u{24de}\u{ff2f}\u{ff4f}\u{1d6b6}\
             \u{1d6d0}\u{1d6d4}\u{1d6f0}\u{1d70a}\u{1d70e}\u{1d72a}\u{1d744}\u{1d748}\u{1d764}\u{1d77e}\
             \u{1d782}\u{1d79e}\u{1d7b8}\u{1d7bc}\u{1e03c}\u{1e05c}\u{1f13e}\u{1f15e}\u{1f17e}\u{1f1f4}",
        ),
        (
            "r",
            "ŔŕŖŗŘřȐȑȒȓʀ\u{2b3}ЃГгѓ\u{1d3f}\u{1d63}ṘṙṚṛṜṝṞṟ\u{211b}\u{211c}\u{211d}\u{24c7}\u{24e1}\u{ff32}\
             \u{ff52}\u{107aa}\u{1e033}\u{1e054}\u{1f12c}\u{1f141}\u{1f161}\u{1f181}\u{1f1f7}",
        ),
        (
            "s",
            "ŚśŜŝŞşŠšſȘș\u{2e2}ЅѕṠṡṢṣṤṥṦṧṨṩẛ\u{209b}\u{24c8}\u{24e2}\u{a731}\u{a7f1}\u{ff33}\u{ff53}\u{1e069}\
             \u{1f142}\u{1f162}\u{1f182}\u{1f1f8}",
        ),
        (
            "t",
            "ŢţŤťȚțΤτТтᴛ\u{1d40}\u{1d57}ṪṫṬṭṮṯṰṱẗ\u{209c}\u{24c9}\u{24e3}\u{ff34}\u{ff54}\u{1d6bb}\u{1d6d5}\
             \u{1d6f5}\u{1d70f}\u{1d72f}\u{1d749}\u{1d769}\u{1d783}\u{1d7a3}\u{1d7bd}\u{1e040}\u{1f143}\
             \u{1f163}\u{1f183}\u{1f1f9}",
        ),
        (
            "u",
            "ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗʋΰυϋύսᴜ\u{1d41}\u{1d58}\u{1d64}\u{1db8}\u{1db9}ṲṳṴṵṶṷṸṹṺṻỤụỦ\
             ủỨứỪừỬửỮữỰự\u{1f50}\u{1f51}\u{1f52}\u{1f53}\u{1f54}\u{1f55}\u{1f56}\u{1f57}\u{1f7a}\u{1f7b}\
             \u{1fe0}\u{1fe1}\u{1fe2}\u{1fe3}\u{1fe6}\u{1fe7}\u{24ca}\u{24e4}\u{ff35}\u{ff55}\u{1d6d6}\
             \u{1d710}\u{1d74a}\u{1d784}\u{1d7be}\u{1f144}\u{1f164}\u{1f184}\u{1f1fa}",
        ),
        (
            "v",
            "νѴѵѶѷᴠ\u{1d5b}\u{1d65}ṼṽṾṿ\u{2164}\u{2174}\u{24cb}\u{24e5}\u{2c7d}\u{ff36}\u{ff56}\u{1d6ce}\
             \u{1d708}\u{1d742}\u{1d77c}\u{1d7b6}\u{1f145}\u{1f165}\u{1f185}\u{1f1fb}",
        ),
        (
            "x",
            "\u{d7}\u{2e3}ΧχХх\u{1d61}\u{1d6a}ẊẋẌẍ\u{2093}\u{2169}\u{2179}\u{24cd}\u{24e7}\u{ff38}\u{ff58}\
             \u{1d6be}\u{1d6d8}\u{1d6f8}\u{1d712}\u{1d732}\u{1d74c}\u{1d76c}\u{1d786}\u{1d7a6}\u{1d7c0}\
             \u{1e043}\u{1e061}\u{1f147}\u{1f167}\u{1f187}\u{1f1fd}",
        ),
        ("st", "\u{fb05}\u{fb06}"),
        ("in", "\u{33cc}"),
        ("ns", "\u{33b1}"),
        ("iv", "\u{2163}\u{2173}"),
        ("ac", "\u{2100}"),
        ("co", "\u{2105}"),
        ("cu", "\u{2106}"),
        ("sm", "\u{2120}"),
        ("sr", "\u{33db}"),
        ("sv", "\u{33dc}"),
        ("sd", "\u{1f14c}"),
        ("ss", "\u{1f14d}"),
        ("tel", "\u{2121}"),
        ("tm", "\u{2122}"),
        ("thz", "\u{3394}"),
        ("erg", "\u{32cd}"),
        ("ev", "\u{32ce}"),
    ];

    #[test]
    fn every_bracket_is_found_by_its_first_byte() {
        for bracket in ('\0'..=char::MAX).filter(|c| is_bracket(*c)) {
            let lead = bracket.to_string().as_bytes()[0];
            assert!(LEAD_BYTES.as_flattened().contains(&lead), "{bracket:?}");
        }
    }

    #[test]
    fn classification_matches_the_oracle_for_all_of_unicode() {
        for c in '\0'..=char::MAX {
            let read = skillfold_testkit::envelope::fold_char(c);
            let (number, class) = (u32::from(c), classify(c));
            assert_eq!(
                class == TagCharacter::Bracket,
                read == "<",
                "U+{number:04X}"
            );
            let is_ignored = read.is_empty() || read == "/";
            assert_eq!(
                class == TagCharacter::Ignored,
                is_ignored,
                "U+{number:04X}: {read}"
            );
        }
    }

    #[test]
    fn every_lookalike_maps_to_one_letter() {
        let rows = LOOKALIKES.iter();
        let mut seen = HashMap::new();
        for (letter, c) in rows.flat_map(|(letter, row)| row.chars().map(move |c| (letter, c))) {
            assert_eq!(seen.insert(c, letter), None, "{c:?}");
        }
    }

    /// Decompositions come from a dependency, which must not make the reader less careful.
    #[test]
    fn known_lookalikes_keep_their_letters() {
        let golden = GOLDEN
            .iter()
            .flat_map(|(letters, row)| row.chars().map(move |c| (c, *letters)));
        let numbered = |first: u32, count: u32| {
            (0..count).map(move |number| {
                let index = number as usize % 26;
                let c = char::from_u32(first + number).unwrap();
                (c, &ALPHABET[index..=index])
            })
        };
        let alphabets = numbered(0x1d400, 26 * 26).chain(numbered(0x1ccd6, 26));
        for (c, letters) in golden.chain(alphabets) {
            let number = u32::from(c);
            let expected = TagCharacter::Letters(letters.into());
            assert_eq!(classify(c), expected, "U+{number:04X}");
        }
    }
}
