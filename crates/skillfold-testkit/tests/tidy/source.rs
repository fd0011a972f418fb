//! Splits Rust source into code, tests, comments and literals.

use crate::tree::File;

/// Returns a file's shipped code: without tests, and [`bare`].
pub(crate) fn product(file: &File) -> String {
    if is_test_file(&file.path) {
        return String::new();
    }
    product_of(&file.text)
}

/// Returns a file's tests verbatim.
pub(crate) fn tests(file: &File) -> String {
    if is_test_file(&file.path) {
        return file.text.clone();
    }
    let start = test_start(&bare(&file.text)).unwrap_or(usize::MAX);
    lines_joined(file.text.lines().skip(start))
}

/// Returns a text's shipped code: everything before its test module, [`bare`].
pub(crate) fn product_of(text: &str) -> String {
    let bare = bare(text);
    let end = test_start(&bare).unwrap_or(usize::MAX);
    lines_joined(bare.lines().take(end))
}

/// Replaces comments and literals with spaces. Lines keep their numbers.
pub(crate) fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hidden = hidden_length(rest, bare.chars().next_back().is_some_and(is_word));
        if hidden == 0 {
            bare.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            let (said, after) = rest.split_at(hidden);
            bare.extend(said.chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = after;
        }
    }
    bare
}

/// Returns each string literal in a shipped file, verbatim between its quotes, with the code before it.
pub(crate) fn literals(file: &File) -> Vec<(&str, &str)> {
    if is_test_file(&file.path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let shipped = product_of(&file.text).lines().count();
    let end = file
        .text
        .split_inclusive('\n')
        .take(shipped)
        .map(str::len)
        .sum();
    let mut position = 0;
    while let Some(first) = file.text[position..end].chars().next() {
        let (before, rest) = file.text[..end].split_at(position);
        let hidden = hidden_length(rest, before.chars().next_back().is_some_and(is_word));
        let literal = &rest[..hidden];
        if let Some((prefix, text)) = literal.split_once('"')
            && !prefix.starts_with(['/', '\''])
        {
            let text = text.trim_end_matches('#');
            found.push((before, text.strip_suffix('"').unwrap_or(text)));
        }
        position += hidden.max(first.len_utf8());
    }
    found
}

/// Returns the text after its leading attributes.
pub(crate) fn after_attributes(bare: &str) -> &str {
    let mut rest = bare.trim_start();
    while rest.starts_with("#[") {
        let end = matching(rest, '[', ']').unwrap_or(rest.len());
        rest = rest[end..].trim_start();
    }
    rest
}

/// Returns the position after the bracket that closes the first opening one.
pub(crate) fn matching(bare: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0;
    for (position, c) in bare.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && depth > 0 {
            depth -= 1;
            if depth == 0 {
                return Some(position + c.len_utf8());
            }
        }
    }
    None
}

/// Returns the positions where a word or path stands alone, not as part of a longer word.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word)
        .map(|(position, _)| position)
        .filter(move |&position| {
            let before = code[..position].chars().next_back();
            let after = code[position + word.len()..].chars().next();
            let ends_in_word = word.ends_with(is_word);
            !(before.is_some_and(is_word) || ends_in_word && after.is_some_and(is_word))
        })
}

/// Returns a position's line, counted from 1.
pub(crate) fn line_at(text: &str, position: usize) -> usize {
    text[..position].matches('\n').count() + 1
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether a file below `src` is entirely a test.
fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Returns the number of lines above the test module at the end of a bare text.
fn test_start(bare: &str) -> Option<usize> {
    bare.match_indices("#[cfg(test)]")
        .filter(|&(position, _)| position == 0 || bare[..position].ends_with('\n'))
        .find(|&(position, _)| after_attributes(&bare[position..]).starts_with("mod tests {"))
        .map(|(position, _)| line_at(bare, position) - 1)
}

fn lines_joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the length of the comment or literal that the text starts with, if any.
fn hidden_length(rest: &str, after_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_length(rest);
    }
    if rest.starts_with('"') {
        return text_length(rest);
    }
    if rest.starts_with('\'') {
        return character_length(rest);
    }
    if after_word { 0 } else { raw_text_length(rest) }
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut position = 0;
    while position < rest.len() {
        let (step, change) = match &rest.as_bytes()[position..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        position += step;
        depth += change;
        if depth == 0 {
            return position;
        }
    }
    rest.len()
}

fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (position, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return position + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a character literal, or 0 for a lifetime.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((escaped, c))) => {
            let after = escaped + c.len_utf8();
            rest[after..].find('\'').map_or(0, |end| after + end + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 0,
    }
}

fn raw_text_length(rest: &str) -> usize {
    let opening = rest.trim_start_matches(['b', 'c']);
    let Some(hashes_on) = opening.strip_prefix('r') else {
        return 0;
    };
    let text = hashes_on.trim_start_matches('#');
    if !text.starts_with('"') {
        return 0;
    }
    let closing = format!("\"{}", "#".repeat(hashes_on.len() - text.len()));
    let start = rest.len() - text.len() + 1;
    rest[start..]
        .find(&closing)
        .map_or(rest.len(), |end| start + end + closing.len())
}

#[test]
fn comments_and_literals_are_blanked() {
    let blank = |length: usize| " ".repeat(length);
    assert_eq!(bare("a // b\nc"), format!("a {}\nc", blank(4)));
    assert_eq!(
        bare("a /* b /* c */ \n */ d"),
        format!("a {}\n{} d", blank(13), blank(3))
    );
    assert_eq!(
        bare(r#"f("a\"b", 'c', '\'')"#),
        format!("f({}, {}, {})", blank(6), blank(3), blank(4))
    );
    assert_eq!(
        bare(r##"f(br#"a"b"#, r"\")"##),
        format!("f({}, {})", blank(9), blank(4))
    );
    assert_eq!(
        bare("fn f<'a>(r#type: &'a str)"),
        "fn f<'a>(r#type: &'a str)"
    );
}

#[test]
fn trailing_test_module_is_not_product_code() {
    let text = "fn a() {}\n#[cfg(test)]\nfn b() {}\n#[cfg(test)]\n#[expect(\n    x\n)]\nmod tests {\n    c\n}\n";
    assert_eq!(product_of(text), "fn a() {}\n#[cfg(test)]\nfn b() {}\n");
    let file = File {
        path: "crates/a/src/b.rs".to_owned(),
        text: text.to_owned(),
    };
    assert!(tests(&file).starts_with("#[cfg(test)]\n#[expect("));
    assert_eq!(
        product_of("#[cfg(test)]\nmod tests;\nfn a() {}\n"),
        "#[cfg(test)]\nmod tests;\nfn a() {}\n"
    );
}

#[test]
fn only_whole_words_are_found() {
    let found: Vec<_> = words("eprint!() print!() Code::Name Code::NameLength", "print!").collect();
    assert_eq!(found, [10]);
    let found: Vec<_> = words("Code::NameLength Code::Name", "Code::Name").collect();
    assert_eq!(found, [17]);
}
