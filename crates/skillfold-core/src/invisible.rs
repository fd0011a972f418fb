//! Characters that a person does not see.

/// Returns whether a person does not see the character, or sees the text around it in another order.
///
/// These are the format characters of Unicode (general category `Cf`), everything that a reader may ignore
/// (`Default_Ignorable_Code_Point`: variation selectors, tags, fillers, and code points that are reserved for more of them),
/// and the separators of lines and paragraphs. Control characters are not among them: see [`char::is_control`].
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns the control and invisible characters of a text, each with its offset in bytes.
///
/// Invisible characters that the visible ones around them need are left out, because ordinary text has them: the selector
/// after an emoji (`⚠️`), the joiners of emoji and of Arabic or Indic letters, selectors of Mongolian letters, signs over
/// Arabic numbers, and the tags of the three flags that have some. Each needs a visible character of its own, so that no
/// sentence can be hidden in them.
///
/// ```
/// use skillfold_core::hidden;
///
/// assert_eq!(hidden("a\u{200b}b\u{1b}").collect::<Vec<_>>(), [(1, '\u{200b}'), (5, '\u{1b}')]);
/// assert_eq!(hidden("\u{26a0}\u{fe0f} careful").next(), None);
/// ```
pub fn hidden_characters(text: &str) -> impl Iterator<Item = (usize, char)> {
    text.char_indices()
        .filter(|(offset, c)| c.is_control() || (is_invisible(*c) && !is_needed(text, *offset, *c)))
}

fn is_needed(text: &str, offset: usize, c: char) -> bool {
    let mut before = text[..offset].chars().rev();
    let after = text[offset + c.len_utf8()..].chars().next();
    let Some(last) = before.next() else {
        return false;
    };
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(last) || (is_keycap(last) && after == Some('\u{20e3}'))
        }
        '\u{200c}' | '\u{200d}' if is_joined(last) => after.is_some_and(is_joined),
        '\u{200d}' => {
            let base = if last == '\u{fe0f}' {
                before.next()
            } else {
                Some(last)
            };
            base.is_some_and(is_pictograph) && after.is_some_and(is_pictograph)
        }
        '\u{180b}'..='\u{180f}' => matches!(last, '\u{1820}'..='\u{18aa}'),
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' => {
            after.is_some_and(is_joined)
        }
        '\u{e0020}'..='\u{e007f}' => is_of_flag(text, offset),
        _ => false,
    }
}

/// Returns whether a character is of a block that has emoji. Other signs of these blocks are as visible.
fn is_pictograph(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

fn is_keycap(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

/// Returns whether a character is of a script whose letters change where they are joined: from Arabic to the scripts of
/// India, of Myanmar, Khmer and Mongolia.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}')
        && !is_invisible(c)
}

/// Returns whether a tag is one of the flags of England, Scotland or Wales, the only ones that are written with tags.
fn is_of_flag(text: &str, offset: usize) -> bool {
    const FLAGS: [&str; 3] = [
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
    ];
    let mut before = text[..offset].char_indices().rev().take(6);
    let start = before.find(|(_, c)| *c == '\u{1f3f4}');
    start.is_some_and(|(start, _)| {
        let flag = FLAGS.iter().find(|flag| text[start..].starts_with(**flag));
        flag.is_some_and(|flag| offset < start + flag.len())
    })
}

#[cfg(test)]
mod tests {
    use super::{hidden_characters, is_invisible};

    /// `Default_Ignorable_Code_Point` of Unicode 16.0 (DerivedCoreProperties.txt), as ranges.
    const IGNORABLE: [(u32, u32); 17] = [
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1_bca0, 0x1_bca3),
        (0x1_d173, 0x1_d17a),
        (0xe_0000, 0xe_0fff),
    ];

    /// General category `Cf` of Unicode 16.0 (DerivedGeneralCategory.txt), as ranges.
    const FORMAT: [(u32, u32); 21] = [
        (0xad, 0xad),
        (0x600, 0x605),
        (0x61c, 0x61c),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x890, 0x891),
        (0x8e2, 0x8e2),
        (0x180e, 0x180e),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x2064),
        (0x2066, 0x206f),
        (0xfeff, 0xfeff),
        (0xfff9, 0xfffb),
        (0x1_10bd, 0x1_10bd),
        (0x1_10cd, 0x1_10cd),
        (0x1_3430, 0x1_343f),
        (0x1_bca0, 0x1_bca3),
        (0x1_d173, 0x1_d17a),
        (0xe_0001, 0xe_0001),
        (0xe_0020, 0xe_007f),
    ];

    #[test]
    fn table_is_what_unicode_lets_a_reader_ignore_and_all_that_formats() {
        for c in '\0'..=char::MAX {
            let number = u32::from(c);
            let ranges = IGNORABLE.iter().chain(&FORMAT);
            let mut ranges = ranges.map(|(first, last)| *first..=*last);
            let expected =
                ranges.any(|range| range.contains(&number)) || matches!(c, '\u{2028}' | '\u{2029}');
            assert_eq!(is_invisible(c), expected, "U+{number:04X}");
        }
    }

    #[test]
    fn no_invisible_character_passes_among_letters_or_in_a_row() {
        for c in ('\0'..=char::MAX).filter(|c| is_invisible(*c) || c.is_control()) {
            assert_eq!(
                hidden_characters(&format!("a{c}b")).next(),
                Some((1, c)),
                "{c:?}"
            );
            assert_eq!(
                hidden_characters(&c.to_string()).next(),
                Some((0, c)),
                "{c:?}"
            );
            // After each kind of sign that excuses one, the second is found.
            for base in ['\u{26a0}', '\u{1f3f4}', '\u{645}', '\u{915}', '\u{1820}'] {
                let text = format!("{base}{c}{c}{c}{base}");
                assert!(hidden_characters(&text).count() >= 2, "{base}{c:?}");
            }
        }
    }

    #[test]
    fn ordinary_text_has_nothing_hidden() {
        for text in [
            "⚠\u{fe0f} 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3} ©\u{fe0e} ✔\u{fe0f}",
            "👨\u{200d}👩\u{200d}👧 👁\u{fe0f}\u{200d}🗨\u{fe0f} 👩🏽\u{200d}💻 🏳\u{fe0f}\u{200d}🌈",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "می\u{200c}خواهم क\u{94d}\u{200d}ष ശ\u{d4d}\u{200c}ര",
            "ᠨ\u{180e}ᠠ آية \u{6dd}١",
            "naïve façade — “quoted” … 日本語 한국어\u{a0}x",
        ] {
            assert_eq!(hidden_characters(text).next(), None, "{text}");
        }
    }

    #[test]
    fn tags_that_are_no_known_flag_are_hidden_text() {
        let payload = "🏴\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e007f}";
        assert_eq!(hidden_characters(payload).count(), 7);
        let flag = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        assert_eq!(
            hidden_characters(&format!("{flag}\u{e0041}\u{e0042}")).count(),
            2
        );
    }
}
