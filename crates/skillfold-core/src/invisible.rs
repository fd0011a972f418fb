//! Invisible and text-reordering characters.

/// Returns whether a character is invisible, or changes the order in which the text around it is displayed.
///
/// These are the format characters of Unicode (general category `Cf`), everything that renderers may ignore
/// (`Default_Ignorable_Code_Point`: variation selectors, tags, fillers, and code points reserved for more of them), the line
/// and paragraph separators, and what has no shape of its own: the blank of Braille, the object replacement character,
/// characters of private use and code points that are no characters. Control characters are not included: see
/// [`char::is_control`].
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}'
    ) || u32::from(c) & 0xfffe == 0xfffe
}

/// Returns the control and invisible characters of a text, each with its byte offset.
///
/// Invisible characters that their visible neighbours require are skipped, because ordinary text has them: the
/// variation selector after an emoji (`⚠️`), the joiners of emoji and of Arabic or Indic letters, selectors of
/// Mongolian letters, signs over Arabic numbers, a blank after a Braille pattern, and the tags of the three flags that use
/// them. Each of these needs a visible character of its own, so no sentence can be hidden in them.
///
/// ```
/// use skillfold_core::text::hidden_characters;
///
/// assert_eq!(hidden_characters("a\u{200b}b\u{1b}").collect::<Vec<_>>(), [(1, '\u{200b}'), (5, '\u{1b}')]);
/// assert_eq!(hidden_characters("\u{26a0}\u{fe0f} careful").next(), None);
/// ```
pub fn hidden_characters(text: &str) -> impl Iterator<Item = (usize, char)> {
    text.char_indices().filter(|(offset, c)| {
        c.is_control() || (is_invisible(*c) && !is_required_by_neighbors(text, *offset, *c))
    })
}

/// Returns whether the invisible character `c` at `offset` belongs to the visible characters around it.
fn is_required_by_neighbors(text: &str, offset: usize, c: char) -> bool {
    let mut before = text[..offset].chars().rev();
    let after = text[offset + c.len_utf8()..].chars().next();
    let Some(previous) = before.next() else {
        return false;
    };
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(previous) || (is_keycap_base(previous) && after == Some('\u{20e3}'))
        }
        '\u{200c}' | '\u{200d}' if is_joining_script(previous) => {
            after.is_some_and(is_joining_script)
        }
        '\u{200d}' => {
            let base = if previous == '\u{fe0f}' {
                before.next()
            } else {
                Some(previous)
            };
            base.is_some_and(is_pictograph) && after.is_some_and(is_pictograph)
        }
        '\u{180b}'..='\u{180f}' => matches!(previous, '\u{1820}'..='\u{18aa}'),
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' => {
            after.is_some_and(is_joining_script)
        }
        '\u{2800}' => matches!(previous, '\u{2801}'..='\u{28ff}'),
        '\u{e0020}'..='\u{e007f}' => is_flag_tag(text, offset),
        _ => false,
    }
}

/// Returns whether a character is in a Unicode block that contains emoji. The other characters of these blocks are just
/// as visible.
fn is_pictograph(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

fn is_keycap_base(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

/// Returns whether a character belongs to a script whose letters change shape when joined: Arabic through the Indic
/// scripts, Myanmar, Khmer and Mongolian.
fn is_joining_script(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}')
        && !is_invisible(c)
}

/// Returns whether a tag character is part of the flag of England, Scotland or Wales, the only flags written with tags.
fn is_flag_tag(text: &str, offset: usize) -> bool {
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

    /// What has no shape of its own: the blank of Braille, characters of private use (`Co`), noncharacters of the basic plane, and
    /// the object replacement character, as ranges.
    const SHAPELESS: [(u32, u32); 6] = [
        (0x2800, 0x2800),
        (0xe000, 0xf8ff),
        (0xfdd0, 0xfdef),
        (0xfffc, 0xfffc),
        (0xf_0000, 0xf_fffd),
        (0x10_0000, 0x10_fffd),
    ];

    #[test]
    fn table_matches_unicode_ignorable_format_and_blank_characters() {
        for c in '\0'..=char::MAX {
            let number = u32::from(c);
            let ranges = IGNORABLE.iter().chain(&FORMAT).chain(&SHAPELESS);
            let mut ranges = ranges.map(|(first, last)| *first..=*last);
            let is_noncharacter = [0xfffe, 0xffff].contains(&(number & 0xffff));
            let expected = ranges.any(|range| range.contains(&number))
                || is_noncharacter
                || matches!(c, '\u{2028}' | '\u{2029}');
            assert_eq!(is_invisible(c), expected, "U+{number:04X}");
        }
    }

    #[test]
    fn invisible_characters_between_letters_or_in_runs_are_found() {
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
            // A base character excuses one invisible character, never a second.
            for base in ['\u{26a0}', '\u{1f3f4}', '\u{645}', '\u{915}', '\u{1820}'] {
                let text = format!("{base}{c}{c}{c}{base}");
                assert!(hidden_characters(&text).count() >= 2, "{base}{c:?}");
            }
        }
    }

    #[test]
    fn ordinary_text_has_no_hidden_characters() {
        for text in [
            "⚠\u{fe0f} 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3} ©\u{fe0e} ✔\u{fe0f}",
            "👨\u{200d}👩\u{200d}👧 👁\u{fe0f}\u{200d}🗨\u{fe0f} 👩🏽\u{200d}💻 🏳\u{fe0f}\u{200d}🌈",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "می\u{200c}خواهم क\u{94d}\u{200d}ष ശ\u{d4d}\u{200c}ര",
            "ᠨ\u{180e}ᠠ آية \u{6dd}١",
            "⠓⠑⠇⠇⠕\u{2800}⠺⠕⠗⠇⠙",
            "naïve façade — “quoted” … 日本語 한국어\u{a0}x",
        ] {
            assert_eq!(hidden_characters(text).next(), None, "{text}");
        }
    }

    #[test]
    fn tag_characters_outside_known_flags_are_hidden_text() {
        let payload = "🏴\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e007f}";
        assert_eq!(hidden_characters(payload).count(), 7);
        let flag = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        assert_eq!(
            hidden_characters(&format!("{flag}\u{e0041}\u{e0042}")).count(),
            2
        );
    }
}
