//! The body of a pull request that updates skills, as Markdown.
//!
//! Names, versions, paths and contents are their authors' words. Each stands in a code span or a code block that it cannot end, so
//! it is no heading, link, mention or markup.

use skillfold_core::diagnostic::visible;
use skillfold_core::text::{ellipsize, truncate_at_line};

use super::{AddedSkill, UpdateResult, UpdatedSkill};

/// Maximum bytes of what is said of updates: GitHub takes 65,536 characters.
const MAX_BYTES: usize = 50_000;
/// Maximum bytes of what an update does, after which the rest is cut.
const MAX_EFFECTS: usize = 4_000;
/// Maximum characters of a name, a version or a reason.
const MAX_CHARS: usize = 200;
/// Maximum skills that could not be updated and are named.
const MAX_FAILED: usize = 10;
/// Room that a change needs to be shown at all.
const MIN_DIFF: usize = 400;

/// Returns the Markdown of a pull request for updates: for each skill its versions, its source, what the update does, conflicts and
/// the change. It has at most 60,000 characters; what does not fit is said.
pub fn pull_request(updated: &[UpdatedSkill]) -> String {
    let skills = updated.iter().filter_map(|skill| match &skill.result {
        UpdateResult::Proposed(added) | UpdateResult::Changed(added) => Section::new(added),
        UpdateResult::SameFiles(pin) => Some(Section::same_files(&skill.name, &pin.to_string())),
        _ => None,
    });
    let failed = updated.iter().filter_map(|skill| match &skill.result {
        UpdateResult::Failed(error) => Some((skill.name.clone(), error.with_cause())),
        _ => None,
    });
    page(&skills.collect::<Vec<_>>(), &failed.collect::<Vec<_>>())
}

/// What is said of a skill.
#[derive(Clone, Debug, Default)]
struct Section {
    name: String,
    before: String,
    after: String,
    source: String,
    effects: Vec<String>,
    conflicts: Vec<String>,
    diff: String,
}

impl Section {
    fn new(added: &AddedSkill) -> Option<Self> {
        Some(Self {
            name: added.name.clone(),
            before: added
                .before
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            after: added.pin.to_string(),
            source: added.source.clone(),
            effects: added.effects.as_ref()?.lines(),
            conflicts: added.conflicts.clone(),
            diff: added.diff.clone(),
        })
    }

    fn same_files(name: &str, after: &str) -> Self {
        Self {
            name: name.to_owned(),
            after: after.to_owned(),
            effects: vec!["The files are the same; only the lock changes".to_owned()],
            ..Self::default()
        }
    }

    /// Returns everything but the change.
    fn head(&self) -> String {
        let after = code(&self.after);
        let versions = match &*self.before {
            before if before.is_empty() || before == self.after => after,
            before => format!("{} → {after}", code(before)),
        };
        let source = match &*self.source {
            "" => String::new(),
            source => format!("Source: {}\n\n", code(source)),
        };
        let effects = block("text", &self.effects.join("\n"), MAX_EFFECTS);
        let conflicts = self.conflicts.iter().map(|file| {
            let (ours, theirs) = (code(file), code(&format!("{file}.upstream")));
            format!(
                "\n**Conflict:** the author and this repository changed the same lines of {ours}. This repository's stay, and the \
                 author's file is {theirs}.\n"
            )
        });
        let conflicts: String = conflicts.collect();
        format!(
            "## {}: {versions}\n\n{source}{effects}{conflicts}",
            code(&self.name)
        )
    }

    /// Returns the change, cut to `room`.
    fn change(&self, room: usize) -> String {
        if self.diff.is_empty() {
            return String::new();
        }
        if room < MIN_DIFF {
            return "\nThe change does not fit here; see the files.\n".to_owned();
        }
        let diff = block("diff", &self.diff, room - MIN_DIFF / 2);
        format!("\n<details>\n<summary>Change</summary>\n\n{diff}\n</details>\n")
    }
}

fn page(skills: &[Section], failed: &[(String, String)]) -> String {
    let title = match skills.len() {
        0 => "# No updates\n".to_owned(),
        1 => "# Update 1 skill\n".to_owned(),
        number => format!("# Update {number} skills\n"),
    };
    let mut parts = vec![title];
    if !skills.is_empty() {
        let text = "\nMerging approves these versions: `skillfold install --frozen` then installs exactly what `skills.lock` says. \
                    Skills that may run scripts ask again.\n";
        parts.push(text.to_owned());
    }
    let mut room = MAX_BYTES;
    for (number, skill) in skills.iter().enumerate() {
        let head = skill.head();
        let more = skills.len() - number;
        if room < head.len() + MIN_DIFF {
            parts.push(format!(
                "\n{more} more skills do not fit here; see `skills.lock`.\n"
            ));
            break;
        }
        // What one skill does not use, the next may.
        let change = skill.change((room - head.len()) / more);
        room -= head.len() + change.len();
        parts.push(format!("\n{head}{change}"));
    }
    if !failed.is_empty() {
        parts.push("\n## Not updated\n\n".to_owned());
    }
    let shown = failed.iter().take(MAX_FAILED);
    parts.extend(shown.map(|(name, reason)| format!("- {}: {}\n", code(name), code(reason))));
    if let Some(more @ 1..) = failed.len().checked_sub(MAX_FAILED) {
        parts.push(format!("- {more} more\n"));
    }
    parts.concat()
}

/// Returns a code span with a text on one line.
fn code(text: &str) -> String {
    let text = visible(&text.replace(['\n', '\t'], " ")).into_owned();
    let text = ellipsize(&text, MAX_CHARS);
    let fence = "`".repeat(longest_run(&text) + 1);
    // Markdown takes one space at each end away.
    let needs_space = text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let space = if needs_space { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns a code block with a text of at most `max_bytes`, in which characters that nobody sees are escaped.
fn block(language: &str, text: &str, max_bytes: usize) -> String {
    let lines = text
        .lines()
        .map(|line| visible(&line.replace('\t', "    ")).into_owned() + "\n");
    let text: String = lines.collect();
    let mut shown = truncate_at_line(&text, max_bytes);
    // The fences are longer than every run of backticks in the text.
    if shown.len() + 2 * longest_run(shown) > max_bytes {
        shown = truncate_at_line(&text, max_bytes / 3);
    }
    let fence = "`".repeat(longest_run(shown).max(2) + 1);
    let end = if shown.is_empty() || shown.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    match text.len() - shown.len() {
        0 => format!("{fence}{language}\n{shown}{end}{fence}\n"),
        more => format!(
            "{fence}{language}\n{shown}{end}{fence}\n\n{more} more bytes do not fit here; see the files.\n"
        ),
    }
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    use skillfold_core::text::is_invisible;

    use super::{Section, page};

    /// Returns a section whose texts are all a hostile one.
    fn section(text: &str) -> Section {
        Section {
            name: text.to_owned(),
            before: format!("v1{text}"),
            after: format!("v2{text}"),
            source: format!("s{text}"),
            effects: text
                .lines()
                .map(str::to_owned)
                .chain(["Same".to_owned()])
                .collect(),
            conflicts: vec![format!("{text}.md")],
            diff: format!("--- a/{text}\n+++ b/{text}\n@@ -1 +1 @@\n-{text}\n+{text}{text}\n"),
        }
    }

    /// Returns what Markdown makes of a page, without the text of code.
    fn structure(markdown: &str) -> Vec<String> {
        let mut is_code = false;
        let events = Parser::new_ext(markdown, Options::all()).filter_map(|event| {
            match &event {
                Event::Start(Tag::CodeBlock(_)) => is_code = true,
                Event::End(TagEnd::CodeBlock) => is_code = false,
                Event::Text(_) if is_code => return None,
                Event::Code(_) => return Some("code".to_owned()),
                _ => {}
            }
            Some(format!("{event:?}"))
        });
        events.collect()
    }

    fn check(text: &str) {
        let plain = page(
            &[section("a"), section("b")],
            &[("a".to_owned(), "b".to_owned())],
        );
        let (one, other) = (section(text), section("b"));
        let hostile = page(&[one, other], &[(text.to_owned(), text.to_owned())]);
        assert_eq!(
            structure(&hostile),
            structure(&plain),
            "{text:?}\n{hostile}"
        );
        let is_hidden = |c: char| c.is_control() && c != '\n' || is_invisible(c);
        let shown = hostile.replace(['\u{fe0f}', '\u{200d}'], "");
        assert_eq!(shown.find(is_hidden), None, "{text:?}");
    }

    #[test]
    fn update_is_one_section_with_what_it_does_and_its_change() {
        let update = Section {
            name: "pdf".to_owned(),
            before: "v1.0.0 (0123456789ab)".to_owned(),
            after: "v1.1.0 (ba9876543210)".to_owned(),
            source: "anthropics/skills".to_owned(),
            effects: vec![
                "Contacts new hosts: evil.example".to_owned(),
                "Runs new commands: curl".to_owned(),
            ],
            conflicts: vec!["SKILL.md".to_owned()],
            diff: "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-Old\n+```\n".to_owned(),
        };
        let same = Section::same_files("review", "v2.0.0 (aaaaaaaaaaaa)");
        let failed = (
            "notes".to_owned(),
            "Could not reach `git.example.com`".to_owned(),
        );
        insta::assert_snapshot!(page(&[update, same], &[failed]), @r"
        # Update 2 skills

        Merging approves these versions: `skillfold install --frozen` then installs exactly what `skills.lock` says. Skills that may run scripts ask again.

        ## `pdf`: `v1.0.0 (0123456789ab)` → `v1.1.0 (ba9876543210)`

        Source: `anthropics/skills`

        ```text
        Contacts new hosts: evil.example
        Runs new commands: curl
        ```

        **Conflict:** the author and this repository changed the same lines of `SKILL.md`. This repository's stay, and the author's file is `SKILL.md.upstream`.

        <details>
        <summary>Change</summary>

        ````diff
        --- a/SKILL.md
        +++ b/SKILL.md
        @@ -1 +1 @@
        -Old
        +```
        ````

        </details>

        ## `review`: `v2.0.0 (aaaaaaaaaaaa)`

        ```text
        The files are the same; only the lock changes
        ```

        ## Not updated

        - `notes`: `` Could not reach `git.example.com` ``
        ");
        insta::assert_snapshot!(page(&[], &[]), @"# No updates");
    }

    #[test]
    fn known_escapes_from_markdown_stay_text() {
        for text in [
            "```\n</details><h1>x",
            "`` ` ``",
            "`",
            "@everyone #1 closes #2",
            "[x](http://evil.example)",
            "<img src=x onerror=y>",
            "# x",
            "\n\n# x\n\n",
            "\\`x",
            "````",
            "~~~\n# x",
            "</details>",
            " ",
            "\u{202e}x\u{1b}[2J\r# x",
            "x\u{2028}# y",
            "|a|b|\n|-|-|",
            "```diff",
            "<!--",
            "&lt;",
            "$x$",
            "[^1]: x",
            "- [ ] x",
            "+++\nx\n+++",
            "---",
            "\u{e0041}",
        ] {
            check(text);
        }
    }

    #[test]
    fn page_that_is_too_long_says_what_it_leaves_out() {
        let mut large = section("a");
        large.diff = "+line `of` text\n".repeat(20_000);
        large.diff += &"`".repeat(200_000);
        let ticks = page(&vec![section(&"`".repeat(70_000)); 10], &[]);
        assert!(ticks.len() <= 60_000, "{}", ticks.len());
        let pages = [10, 300].map(|number| {
            let failed = vec![("x".repeat(900), "`".repeat(900)); 300];
            page(&vec![large.clone(); number], &failed)
        });
        for text in &pages {
            assert!(text.chars().count() <= 60_000, "{}", text.len());
            assert_eq!(
                text.matches("<details>").count(),
                text.matches("</details>").count()
            );
        }
        assert!(
            pages[0].contains("more bytes do not fit here"),
            "{}",
            pages[0]
        );
        assert!(
            pages[1].contains("more skills do not fit here"),
            "{}",
            pages[1]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn no_text_of_a_skill_changes_the_page(text in "[`~<>@#\\[\\]()!|*_\\\\\n\r\t a-c\u{1b}\u{202e}\u{200b}-]{0,40}") {
            check(&text);
        }
    }
}
