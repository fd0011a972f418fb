//! The paths named in code.

use crate::source::{is_word, line_at, words};

/// Returns each path that starts at a root such as `crate`, without the root, with the line of the root.
///
/// Expands braces: `crate::{a, b::c}` names `a` and `b::c`.
pub(crate) fn paths_from(root: &str, code: &str) -> Vec<(usize, String)> {
    let root = format!("{root}::");
    let mut paths = Vec::new();
    for position in words(code, &root) {
        // `a::std::b` starts at `a`, but `::std::b` is another spelling of `std::b`.
        let before = &code[..position];
        if before
            .strip_suffix("::")
            .is_some_and(|before| before.ends_with(is_word))
        {
            continue;
        }
        let line = line_at(code, position);
        let tree = &code[position + root.len()..];
        paths.extend(branches(tree).into_iter().map(|path| (line, path)));
    }
    paths
}

fn branches(tree: &str) -> Vec<String> {
    let tree = tree.trim_start();
    if let Some(inside) = tree.strip_prefix('{') {
        return between_commas(inside)
            .into_iter()
            .flat_map(branches)
            .collect();
    }
    let (name, rest) = tree.split_at(tree.find(|c| !is_word(c)).unwrap_or(tree.len()));
    match rest.strip_prefix("::") {
        Some(below) => branches(below)
            .into_iter()
            .map(|branch| format!("{name}::{branch}"))
            .collect(),
        None => vec![name.to_owned()],
    }
}

/// Returns the comma-separated items up to the brace that closes the list.
fn between_commas(inside: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for (position, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                parts.push(inside[start..position].trim());
                start = position + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[test]
fn nested_use_braces_are_expanded() {
    let code = "use crate::a;\nuse crate::{\n    b::{c, d::e},\n    f,\n};\nlet x = crate::g::h(1);\nuse other::crate::i;\n";
    let expected = [(1, "a"), (2, "b::c"), (2, "b::d::e"), (2, "f"), (6, "g::h")];
    assert_eq!(
        paths_from("crate", code),
        expected.map(|(line, path)| (line, path.to_owned()))
    );
}
