//! What a skill is not for, in the words of its description.
//!
//! A clause such as "Do not use for scanned pages (use `ocr`)" has the words of requests that need another skill. They are
//! found by the phrases that authors write, counted in real descriptions; `skillfold-bench exclusions` measures how many are.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::compile;
use crate::text::{first_chars, truncate_bytes};

/// Maximum clauses of one description.
const MAX_EXCLUSIONS: usize = 32;

/// Words after "use" that are no names.
const NO_NAMES: [&str; 20] = [
    "a", "an", "any", "as", "by", "for", "if", "in", "it", "its", "on", "only", "other", "that",
    "the", "them", "this", "to", "when", "with",
];

/// Bytes of a description that are read; no real one is longer.
const MAX_BYTES: usize = 8 * 1024;

/// Characters after a semicolon that say whether an exclusion goes on.
const MAX_HEAD_CHARS: usize = 80;

/// Maximum names that one clause points to.
const MAX_NAMES: usize = 16;

/// A clause of a description that says what the skill is not for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exclusion {
    /// The bytes of the description.
    pub range: Range<usize>,
    /// The bytes of the names of other skills or tools that the clause points to.
    pub names: Vec<Range<usize>>,
}

/// Begins an exclusion.
static START: LazyLock<Regex> = LazyLock::new(|| {
    let negation = r"(?:do\s+not|does\s+not|don['’]?t|doesn['’]?t|should\s+not|shouldn['’]?t|must\s+not|never|not\s+to)";
    let usage = r"(?:be\s+)?(?:use|used|trigger(?:ed)?|activated?|invoked?|apply|applied|select(?:ed)?|load(?:ed)?|fire|run|call|reach\s+for)";
    let condition = r"(?:\s*[:—–-]|\s*\b(?:for|when(?:ever)?|if|on|to|in|this|it|as|with|unless|the\s+skill|outside|during|directly|merely|solely|simply|just\s+(?:for|because|to))\b)";
    let starts = [
        &*format!(r"\b{negation}\s+(?:automatically\s+)?{usage}\b{condition}"),
        r"\b(?:does\s+not|doesn['’]?t|will\s+not|won['’]?t)\s+(?:cover|handle|apply|address|include|target|replace|deal\s+with|extend|attempt)\b",
        r"^\s*do(?:\s+not|n['’]?t)\s+(?:cover|handle|apply|address|include|target|replace|deal\s+with|extend|attempt)\b",
        r"\bnot\s+(?:be\s+)?(?:intended|meant|suitable|suited|designed|appropriate|applicable|recommended|relevant|needed|necessary|ideal|a\s+(?:good\s+)?(?:fit|replacement|substitute|standalone)|used|responsible)\b",
        r"\bnot\s+(?:for|when|if)\b",
        r"\bskip\s+(?:this|it|when|if|for|the\s+skill)\b",
        r"\bavoid\s+(?:using|use|for|when|if|this|it|invoking|triggering)\b",
        r"\b(?:excludes|excluding|excluded)\b",
        r"\b(?:out[\s-]of[\s-]scope|outside\s+(?:the\s+|its\s+)?scope)\s*[:(—–-]",
        r"\b(?:non-goals?|anti-triggers?|negative\s+triggers?)\b\s*:",
        r"\brefuses?\s+(?:and\s+route|for|when|if)\b",
        r"\bdistinct\s+from\b",
        r"\brather\s+than\s+(?:for|when|if)\b",
        r#"\b(?:does\s+not|doesn['’]?t)\s+\w+[^.;()]*?\buse\s+[`'"a-z0-9-]+\s+(?:for\s+(?:that|those|this)|instead)\b"#,
        r"不(?:适用|用于|適用|处理|處理|适合|触发|涉及)",
        r"(?:请|請)?(?:勿|不要|避免)(?:用于|使用|在|将|触发|用)",
    ];
    // Word boundaries of ASCII keep the search fast, whatever the text.
    compile(&format!("(?i){}", starts.join("|")).replace(r"\b", r"(?-u:\b)"))
});

/// Sends some requests to another skill: "For letters, use `mail`".
static FOR_USE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(?i)(?:^\s*|[;,(—–-]\s*|(?-u:\b)(?:and|but|or)\s+)(for\s+[^.;!?\n]{2,}?[,:;—–-]?\s*\(?(?:please\s+|instead\s+)?(?-u:\b)(?:see|use|prefer|try|invoke|load|call|switch\s+to|defer\s+to|go\s+to|rely\s+on|consult)\s+(?:the\s+|a\s+)?[`'"“‘*/$@]*[a-z])"#,
    )
});

/// Sends some requests to another skill: "Use `mail` instead".
static USE_INSTEAD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?-u:\b)(?:use|prefer|see|try|invoke|load|run)\s+[^.;!?\n()]{1,80}?\s+instead(?-u:\b)(\s+of(?-u:\b))?|(?-u:\b)instead,?\s+(?:use|prefer|see|try)(?-u:\b)",
    )
});

/// Begins what the skill is for.
static PURPOSE: LazyLock<Regex> = LazyLock::new(|| {
    let starts = [
        r"\buse\s+(?:this\s+)?(?:skill\s+)?(?:for|when|if|only)\b",
        r"\bwhen\s*:",
        r"\btriggers?(?:\s+(?:on|when|for|words?|phrases?|keywords?))?\s*:",
        r"\btrigger(?:s|ed)?\s+(?:on|when|for|phrases?|words?|with)\b",
        r"\bkeywords?:",
        r"\bactivates?\s+(?:on|when|for)\b",
        r"\bonly\s+use\b",
        r"\bexamples?\s*:",
        r"\binvoke\s+when\b",
    ];
    compile(&format!("(?i){}", starts.join("|")).replace(r"\b", r"(?-u:\b)"))
});

/// The word before what would begin the purpose, if it is still an exclusion: "… and do not use for".
static NEGATED: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)(?:not|n['’]t|never)\s+(?:be\s+)?$"));

/// Begins a part after a semicolon that is no item of the exclusion.
static NEXT_PART: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:use|covers?|triggers?|handles?|supports?|only|also|includes?|requires?|works?|it|this|start|prefer|load|read|see|run|returns?|produces?)(?-u:\b)",
    )
});

/// A sentence that only says where the requests of the one before go.
static WHERE_INSTEAD: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)^(?:please\s+)?(?:use|prefer|see|try|invoke|load|run|instead)(?-u:\b)")
});

/// A name that a clause points to.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(?i)(?-u:\b)(?:use|see|prefer|try|invoke|load|run|call|consult|(?:defer|switch|go|belongs?)\s+to)\s+(?:the\s+)?[`'"“‘*/$@]*([a-z][a-z0-9_.:/-]*)|`[/$@]?([a-z][a-z0-9_.:/-]*)`|\(([a-z][a-z0-9_]*(?:[-:/][a-z0-9_]+)+)\)|(?:使用|用)\s*[“"`「]?([a-z][a-z0-9_.:/-]*)"#,
    )
});

/// Returns the clauses of a description that say what the skill is not for, in order and without overlaps.
///
/// ```
/// use skillfold_core::read::exclusions;
///
/// let description = "Fills in PDF forms. Do not use for scanned pages (use `ocr`). Needs no network.";
/// let found = exclusions(description);
/// assert_eq!(&description[found[0].range.clone()], "Do not use for scanned pages (use `ocr`)");
/// assert_eq!(&description[found[0].names[0].clone()], "ocr");
/// ```
pub fn exclusions(description: &str) -> Vec<Exclusion> {
    let description = truncate_bytes(description, MAX_BYTES);
    let mut found: Vec<Range<usize>> = Vec::new();
    for sentence in sentences(description) {
        let mut start = sentence.start;
        while let Some(range) = next_clause(description, start..sentence.end) {
            start = range.end.max(range.start + 1);
            while !description.is_char_boundary(start) {
                start += 1;
            }
            add(description, range, &mut found);
            if found.len() >= MAX_EXCLUSIONS {
                return with_names(description, found);
            }
        }
    }
    with_names(description, found)
}

/// Adds the names that each clause points to.
fn with_names(description: &str, found: Vec<Range<usize>>) -> Vec<Exclusion> {
    let found = found.into_iter();
    found
        .map(|range| Exclusion {
            names: names(description, &range),
            range,
        })
        .collect()
}

/// Adds a clause without the punctuation at its end, or joins it to the one before that it goes on with.
fn add(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let clause = text[range.clone()]
        .trim_end_matches(|c: char| c.is_whitespace() || ".,;:!?。，；—–-(\"'“”".contains(c));
    if clause.is_empty() {
        return;
    }
    let range = range.start..range.start + clause.len();
    if let Some(last) = found.last_mut() {
        let between = &text[last.end..range.start];
        let goes_on = |c: char| c.is_whitespace() || ".;,)—–-".contains(c);
        let says_where = between.chars().all(goes_on) && WHERE_INSTEAD.is_match(clause);
        let joins = between
            .split(|c: char| c.is_whitespace() || ",—–-".contains(c))
            .all(|word| matches!(word, "" | "and" | "or" | "but" | "is"));
        if says_where || joins && !between.contains('\n') {
            last.end = range.end;
            return;
        }
    }
    found.push(range);
}

/// Returns the first clause in a part of a sentence.
fn next_clause(text: &str, part: Range<usize>) -> Option<Range<usize>> {
    let within = &text[part.clone()];
    let negated = START.find(within).map(|found| found.range());
    let sent = FOR_USE.captures(within).and_then(|found| found.get(1));
    let sent = sent.map(|found| found.range());
    let instead = USE_INSTEAD.captures_iter(within);
    let mut instead = instead.filter(|found| found.get(1).is_none());
    let instead = instead.next().and_then(|found| found.get(0));
    let instead = instead.map(|found| found.range());
    let starts = [negated, sent, instead].into_iter().flatten();
    let begin = starts.min_by_key(|range| range.start)?;
    let start = part.start + begin.start;
    let end = bracket_end(text, start..part.end);
    let clause = start..purpose_start(text, (part.start + begin.end).min(end)..end, start);
    Some(start..next_part(text, clause))
}

/// Returns where a bracket closes that was open before a range, or its end.
fn bracket_end(text: &str, range: Range<usize>) -> usize {
    let mut depth = 0_usize;
    for (place, c) in text[range.clone()].char_indices() {
        match c {
            '(' | '[' | '（' | '【' => depth += 1,
            ')' | ']' | '）' | '】' if depth == 0 => return range.start + place,
            ')' | ']' | '）' | '】' => depth -= 1,
            _ => {}
        }
    }
    range.end
}

/// Returns where a clause that began at `start` goes over into what the skill is for, or the end of the range.
fn purpose_start(text: &str, range: Range<usize>, start: usize) -> usize {
    let mut found = PURPOSE.find_iter(&text[range.clone()]);
    let found = found.find(|found| {
        let place = range.start + found.start();
        !NEGATED.is_match(&text[start..place])
    });
    found.map_or(range.end, |found| range.start + found.start())
}

/// Returns where a semicolon separates a clause from something else, or its end.
fn next_part(text: &str, clause: Range<usize>) -> usize {
    let within = &text[clause.clone()];
    let mut ends = within.match_indices(';').filter(|(place, _)| {
        let rest = within[place + 1..].trim_start();
        let head = first_chars(rest, MAX_HEAD_CHARS);
        let begins_clause = START.find(head).is_some_and(|found| found.start() == 0);
        let says_where = head.to_ascii_lowercase().contains("instead");
        begins_clause || NEXT_PART.is_match(head) && !says_where
    });
    ends.next()
        .map_or(clause.end, |(place, _)| clause.start + place)
}

/// Returns the names of skills or tools in a clause.
fn names(text: &str, clause: &Range<usize>) -> Vec<Range<usize>> {
    let found = NAME.captures_iter(&text[clause.clone()]);
    let groups = found.filter_map(|found| (1..found.len()).find_map(|group| found.get(group)));
    let is_name =
        |name: &regex::Match<'_>| !NO_NAMES.contains(&&*name.as_str().to_ascii_lowercase());
    let names = groups.filter(is_name).map(|name| {
        let text = name.as_str().trim_end_matches(['.', ':', '/', '-']);
        let start = clause.start + name.start();
        start..start + text.len()
    });
    names.take(MAX_NAMES).collect()
}

/// Returns the sentences of a text. A sentence ends at punctuation before whitespace, at a blank line, and before an item of a
/// list.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    for (place, c) in text.char_indices() {
        let end = place + c.len_utf8();
        let rest = &text[end..];
        let ends = match c {
            '。' | '！' | '？' => true,
            '\n' => {
                let rest = rest.trim_start_matches([' ', '\t', '\r']);
                rest.starts_with(['\n', '-', '*', '•', '#'])
            }
            '.' | '!' | '?' => {
                rest.starts_with(char::is_whitespace)
                    && !(c == '.' && is_abbreviation(&text[start..place], rest))
            }
            // A bracket or quotation mark that ends with its sentence.
            ')' | '"' | '\'' | '”' | '’' | '*' | '`' => {
                text[..place].ends_with(['.', '!', '?'])
                    && !is_abbreviation(text[start..place].trim_end_matches('.'), rest)
                    && rest.starts_with(char::is_whitespace)
            }
            _ => false,
        };
        if ends {
            found.push(start..end);
            start = end;
        }
    }
    found.push(start..text.len());
    found.retain(|range| !text[range.clone()].trim().is_empty());
    found
}

/// Returns whether a full stop belongs to an abbreviation.
fn is_abbreviation(before: &str, after: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '.';
    let start = before.trim_end_matches(is_word).len();
    let word = before[start..].to_ascii_lowercase();
    let is_letter = word.len() == 1 && word.chars().all(|c| c.is_ascii_alphabetic());
    match &*word {
        "etc" => after.trim_start().starts_with(char::is_lowercase),
        "e.g" | "i.e" | "vs" | "cf" | "incl" | "approx" | "mr" | "dr" | "no" => true,
        _ => is_letter,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the clauses, each with the names that it points to.
    fn shown(description: &str) -> String {
        let found = exclusions(description).into_iter();
        let lines = found.map(|clause| {
            let names = clause.names.iter().map(|name| &description[name.clone()]);
            let names: Vec<&str> = names.collect();
            let line = format!("\"{}\" -> {}", &description[clause.range], names.join(", "));
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn clauses_that_say_what_a_skill_is_not_for_are_found() {
        let descriptions = [
            "Fills in forms. Use when a form is at hand; not for scanned pages. For spreadsheets, use tables.",
            "Edits code. Do NOT use for reading it (use `code-search`), e.g. to explain. Use when code changes.",
            "Tests pages. DO NOT TRIGGER when: writing unit tests (use unit-tests); fixing bugs. TRIGGER when: a page breaks.",
            "Makes charts (not for tables; use `tables` instead) of any data. Use this for plots.",
            "Runs jobs. Does not cover cron. Skip for one-off commands. Use pueue instead for queues.",
            "Writes letters. NOT for emails; NOT for forms (use forms).",
            "生成图表。不适用于表格（请使用“tables”）。",
        ];
        insta::assert_snapshot!(descriptions.map(shown).join("\n"), @r#"
        "not for scanned pages" ->
        "For spreadsheets, use tables" -> tables
        "Do NOT use for reading it (use `code-search`), e.g. to explain" -> code-search
        "DO NOT TRIGGER when: writing unit tests (use unit-tests); fixing bugs" -> unit-tests
        "not for tables; use `tables` instead" -> tables
        "Does not cover cron" ->
        "Skip for one-off commands. Use pueue instead for queues" -> pueue
        "NOT for emails" ->
        "NOT for forms (use forms)" -> forms
        "不适用于表格（请使用“tables”）" -> tables
        "#);
    }

    #[test]
    fn what_a_skill_does_not_do_or_need_is_no_exclusion() {
        for description in [
            "Formats code. Never modifies other files and does not require a key.",
            "Always use this instead of the search of the web, even if nobody asks.",
            "Use when tests do not pass, or a build is not working.",
            "Do not guess: read the file first.",
        ] {
            assert_eq!(shown(description), "", "{description}");
        }
    }

    const PARTS: [&str; 12] = [
        "not for ",
        "Do not use for ",
        "; ",
        ". ",
        "(",
        ")",
        "use `x` instead",
        "for y, use z",
        "\n- ",
        "不适用于",
        "e.g. ",
        "use when ",
    ];

    proptest! {
        #[test]
        fn clauses_of_any_text_are_in_order_and_whole(
            parts in proptest::collection::vec((0..PARTS.len(), "(?s).{0,6}"), 0..30),
        ) {
            let parts = parts.iter().flat_map(|(part, any)| [PARTS[*part], any]);
            let text: String = parts.collect();
            let mut end = 0;
            for clause in exclusions(&text) {
                prop_assert!(end <= clause.range.start && clause.range.start < clause.range.end);
                prop_assert!(text.get(clause.range.clone()).is_some());
                for name in clause.names {
                    prop_assert!(text.get(name.clone()).is_some_and(|name| !name.is_empty()));
                    prop_assert!(clause.range.start <= name.start && name.end <= clause.range.end);
                }
                end = clause.range.end;
            }
        }
    }
}
