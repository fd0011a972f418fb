//! No script writes the files of a project that clients read: the list of what stays read-only has all that we know.

use crate::report::{Finding, Offenders};
use crate::tree::file;

const KEPT: &str = "crates/skillfold/src/scripts/protected.rs";

/// Where the files of clients in a project are named: the file, and where the names start and end.
const NAMED: [(&str, &str, &str); 5] = [
    (
        "crates/skillfold-setup/src/client.rs",
        "fn project_file(",
        "\n    }\n",
    ),
    (
        "crates/skillfold-setup/src/client.rs",
        "fn opencode_file(",
        "\n}\n",
    ),
    (
        "crates/skillfold-setup/src/hook.rs",
        "fn hook_file(",
        "\n    }\n",
    ),
    (
        "crates/skillfold/src/discovery/roots.rs",
        "pub const FOLDERS",
        "];",
    ),
    (
        "crates/skillfold/src/discovery/roots.rs",
        "pub const CLIENT_FOLDERS",
        "];",
    ),
];

#[test]
fn files_of_clients_in_a_project_stay_read_only() {
    let kept = paths(part(KEPT, "const READ_ONLY", "];"));
    let mut offenders = Offenders::default();
    for (path, start, end) in NAMED {
        offenders.add(path, unkept(part(path, start, end), &kept));
    }
    offenders.expect_none("Add the name to `READ_ONLY` in `scripts/protected.rs`");
}

fn part(path: &str, start: &str, end: &str) -> &'static str {
    let text = file(path).map_or("", |file| &file.text);
    let (_, rest) = text.split_once(start).unwrap_or_default();
    let (part, _) = rest.split_once(end).unwrap_or_default();
    assert!(
        !paths(part).is_empty(),
        "no path after `{start}` in `{path}`: this test must learn its form"
    );
    part
}

/// Returns the literals that are paths of files in a project. Lines about the user's own files do not count.
fn paths(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.contains("if is_user"));
    let literals = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    literals
        .filter(|it| it.starts_with('.') || it.contains(".json"))
        .collect()
}

fn unkept(text: &str, kept: &[&str]) -> Vec<Finding> {
    let is_kept = |path: &str| {
        let mut kept = kept.iter();
        kept.any(|kept| {
            path.strip_prefix(kept)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let paths = paths(text).into_iter().filter(|path| !is_kept(path));
    let what = |path: &str| format!("Scripts can write the file of a client: `{path}`");
    paths.map(|path| Finding::new(1, what(path))).collect()
}

#[test]
fn file_that_does_not_stay_read_only_is_found() {
    let text =
        "A => \".a/b.json\",\n B if is_user => \".user\",\n C => \".ab/c\", \"a b\", \"d.json\"";
    let found = unkept(text, &[".a", "d.json"]);
    assert_eq!(
        found,
        [Finding::new(
            1,
            "Scripts can write the file of a client: `.ab/c`"
        )]
    );
}
