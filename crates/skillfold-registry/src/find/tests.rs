mod plugins;

use proptest::prelude::*;
use skillfold_core::Error;

use super::{Found, MAX_SKILLS, find_skills};
use crate::tree::{EntryKind, MemoryTree, ReadLimits, TooLarge, Tree};

/// Builds a source from lines `path: content`. A path that ends with `SKILL.md` and has no content is a skill named by
/// its folder; contents `link` and `submodule` are such entries.
fn tree(text: &str) -> MemoryTree {
    let mut tree = MemoryTree::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (path, content) = line.split_once(": ").unwrap_or((line, ""));
        let content = match content {
            "link" => {
                tree.insert_other(path.to_owned(), EntryKind::Link);
                continue;
            }
            "submodule" => {
                tree.insert_other(path.to_owned(), EntryKind::Submodule);
                continue;
            }
            "" if path.ends_with("SKILL.md") => "---\ndescription: A skill.\n---\n",
            content => content,
        };
        let content = content.replace("\\n", "\n").replace("\\0", "\0");
        tree.insert(path.to_owned(), content.into_bytes());
    }
    tree
}

fn show(found: &Found) -> String {
    let skill = |skill: &super::ListedSkill| {
        let plugin = skill.plugin.as_deref().map(|it| format!(" [{it}]"));
        let plugin = plugin.unwrap_or_default();
        let folder = if skill.folder.is_empty() {
            "."
        } else {
            &skill.folder
        };
        format!(
            "{} in {folder}{plugin}: {}\n",
            skill.name, skill.description
        )
    };
    let skills: String = found.skills.iter().map(skill).collect();
    let left_out = |it: &super::LeftOut| format!("left out {}: {}\n", it.path, it.reason);
    let left_out: String = found.left_out.iter().map(left_out).collect();
    format!("{skills}{left_out}").replace(": A skill.", "")
}

fn check(text: &str) -> String {
    show(&find_skills(&mut tree(text), None).unwrap())
}

#[test]
fn skill_is_a_folder_with_a_file_of_exactly_that_name() {
    insta::assert_snapshot!(check("
        a/SKILL.md
        b/c/SKILL.md: ---\\nname: see\\ndescription: Does\\n  things.\\n---\\n
        d/skill.md: ---\\nname: d\\n---\\n
        e/SKILL.md.bak: x
        README.md: x
    "), @r"
    a in a
    see in b/c: Does things.
    ");
}

#[test]
fn names_may_repeat_and_order_is_by_name_then_folder() {
    insta::assert_snapshot!(check("
        z/pdf/SKILL.md
        a/pdf/SKILL.md
        a/csv/SKILL.md
    "), @r"
    csv in a/csv
    pdf in a/pdf
    pdf in z/pdf
    ");
}

#[test]
fn subfolders_of_a_skill_are_its_files() {
    insta::assert_snapshot!(check("
        creator/SKILL.md
        creator/templates/basic/SKILL.md
        creator/.hidden/SKILL.md
        creator/repo: submodule
        creator/skills/x: link
    "), @"creator in creator");
}

#[test]
fn skill_at_the_top_is_the_whole_source() {
    insta::assert_snapshot!(check("
        SKILL.md: ---\\nname: whole\\ndescription: A skill.\\n---\\n
        examples/a/SKILL.md
    "), @"whole in .");
}

#[test]
fn skill_at_the_top_does_not_hide_the_folder_of_skills() {
    insta::assert_snapshot!(check("
        SKILL.md: ---\\nname: whole\\ndescription: A skill.\\n---\\n
        examples/a/SKILL.md
        skills/b/SKILL.md
        skills/.curated/c/SKILL.md
        skills/b/d/SKILL.md
    "), @r"
    b in skills/b
    c in skills/.curated/c
    whole in .
    ");
}

#[test]
fn skill_at_the_top_does_not_hide_plugins() {
    insta::assert_snapshot!(check(r#"
        SKILL.md: ---\nname: whole\ndescription: A skill.\n---\n
        .claude-plugin/marketplace.json: {"plugins":[{"name":"office","source":"./plugins/office"}, {"name":"one","source":"./","skills":["./extra/x"]}]}
        plugins/office/skills/pdf/SKILL.md
        plugins/other/skills/csv/SKILL.md
        extra/x/SKILL.md
        extra/y/SKILL.md
    "#), @r"
    pdf in plugins/office/skills/pdf [office]
    whole in .
    x in extra/x [one]
    ");
}

#[test]
fn skill_at_the_top_without_a_name_is_left_out_with_the_reason() {
    insta::assert_snapshot!(check("SKILL.md"), @"left out SKILL.md: Skill has no usable `name`, and no folder to take one from");
}

#[test]
fn dependencies_and_version_control_are_not_searched() {
    insta::assert_snapshot!(check("
        node_modules/x/SKILL.md
        a/node_modules/x/SKILL.md
        .git/x/SKILL.md
        a/.SVN/x/SKILL.md
        b/SKILL.md
    "), @"b in b");
}

#[test]
fn hidden_folders_are_searched_if_clients_keep_skills_there() {
    insta::assert_snapshot!(check("
        .claude/skills/a/SKILL.md
        .agents/skills/b/SKILL.md
        .codex/skills/c/SKILL.md
        .github/skills/d/SKILL.md
        skills/.curated/e/SKILL.md
        skills/.experimental/f/SKILL.md
        .codex/skills/.system/g/SKILL.md
        .claude/commands/h/SKILL.md
        .curated/i/SKILL.md
        .notes/j/SKILL.md
    "), @r"
    a in .claude/skills/a
    b in .agents/skills/b
    c in .codex/skills/c
    d in .github/skills/d
    e in skills/.curated/e
    f in skills/.experimental/f
    g in .codex/skills/.system/g
    left out .claude/commands/h/SKILL.md: Hidden folder `.claude` is not searched
    left out .curated/i/SKILL.md: Hidden folder `.curated` is not searched
    left out .notes/j/SKILL.md: Hidden folder `.notes` is not searched
    ");
}

#[test]
fn search_ends_at_a_depth_of_eight_and_says_so() {
    insta::assert_snapshot!(check("
        1/2/3/4/5/6/7/8/SKILL.md
        1/2/3/4/5/6/7/x/9/SKILL.md
    "), @r"
    8 in 1/2/3/4/5/6/7/8
    left out 1/2/3/4/5/6/7/x/9/SKILL.md: Folder is 9 folders deep, the limit is 8
    ");
}

#[test]
fn unreadable_skill_is_left_out_with_the_reason() {
    insta::assert_snapshot!(check("
        bare/SKILL.md: # Just instructions
        binary/SKILL.md: a\\0b
        linked/SKILL.md: link
        open/SKILL.md: ---\\nname: open\\n
    "), @r"
    bare in bare: Just instructions
    open in open: open
    left out binary/SKILL.md: error[SF009]: File is not encoded as UTF-8
    left out linked/SKILL.md: File is a link
    ");
}

#[test]
fn file_larger_than_the_limit_is_left_out_unparsed() {
    let mut tree = tree("small/SKILL.md");
    tree.insert("large/SKILL.md".to_owned(), vec![b'x'; (1 << 20) + 1]);
    insta::assert_snapshot!(show(&find_skills(&mut tree, None).unwrap()), @r"
    small in small
    left out large/SKILL.md: File has 1048577 bytes, the limit is 1 MiB
    ");
}

#[test]
fn links_and_other_repositories_are_reported() {
    insta::assert_snapshot!(check("
        skills/a/SKILL.md
        skills/gone: link
        .claude/skills/a: link
        docs/latest: link
        vendor/tools: submodule
        node_modules/x: submodule
    "), @r"
    a in skills/a
    left out skills/gone: Folder is a link
    left out vendor/tools: Folder is another repository, a git submodule
    ");
}

#[test]
fn path_that_no_skill_may_have_is_left_out() {
    insta::assert_snapshot!(check("
        ../a/SKILL.md
        b//SKILL.md
        c\u{202e}/SKILL.md: x
        con/SKILL.md
        /SKILL.md
    "), @r"
    left out ../a/SKILL.md: Path traversal detected
    left out b//SKILL.md: Path is absolute or has an empty component
    left out c\u{202e}/SKILL.md: error[SF008]: The folder `c\u{202e}` has no usable name
    left out con/SKILL.md: Path names a Windows device
    ");
}

#[test]
fn source_with_too_many_skills_is_refused() {
    let mut source = MemoryTree::default();
    for index in 0..=MAX_SKILLS {
        source.insert(format!("s/{index}/SKILL.md"), b"# x".to_vec());
    }
    let error = find_skills(&mut source, None).unwrap_err();
    insta::assert_snapshot!(format!("{error}\nhint: {}", error.hint()), @r"
    Source has 10001 skills, the limit is 10,000
    hint: Add one of its folders instead of the whole source
    ");
}

#[test]
fn limit_of_skills_is_for_the_folder_that_is_named() {
    let mut source = MemoryTree::default();
    for index in 0..=MAX_SKILLS {
        source.insert(format!("s/{index}/SKILL.md"), b"# x".to_vec());
    }
    source.insert("t/a/SKILL.md".to_owned(), b"# x".to_vec());
    assert_eq!(find_skills(&mut source, Some("t")).unwrap().skills.len(), 1);
}

#[test]
fn folder_that_is_named_is_searched_as_a_source_is() {
    let mut source = tree(
        r#"
        .claude-plugin/marketplace.json: {"plugins":[{"name":"office","source":"./x"}, {"name":"far","source":{"source":"github","repo":"a/b"}}]}
        x/.hidden/1/2/3/4/5/6/7/8/SKILL.md
        x/.hidden/.other/a/SKILL.md
        x/.hidden/repo: submodule
        x/.hidden-not/a/SKILL.md
        x/skills/a/SKILL.md
        y/SKILL.md
    "#,
    );
    let mut check = |folder| show(&find_skills(&mut source, Some(folder)).unwrap());
    insta::assert_snapshot!(check("x/.hidden"), @r"
    8 in x/.hidden/1/2/3/4/5/6/7/8
    left out x/.hidden/.other/a/SKILL.md: Hidden folder `.other` is not searched
    left out x/.hidden/repo: Folder is another repository, a git submodule
    ");
    insta::assert_snapshot!(check("x/skills"), @"a in x/skills/a [office]");
    insta::assert_snapshot!(check("none"), @"");
}

#[test]
fn long_list_of_reasons_is_cut_and_counted() {
    let mut source = MemoryTree::default();
    for index in 0..1_500 {
        source.insert(format!(".x/{index}/SKILL.md"), b"# x".to_vec());
    }
    let found = find_skills(&mut source, None).unwrap();
    assert_eq!(found.left_out.len(), 1_001);
    assert_eq!(found.left_out[1_000].reason, "500 more are not listed");
}

/// Counts the calls.
struct Counted(MemoryTree, usize);

impl Tree for Counted {
    fn entries(&self) -> &std::collections::BTreeMap<String, EntryKind> {
        self.0.entries()
    }

    fn read(
        &mut self,
        paths: &[&str],
        limits: ReadLimits,
    ) -> Result<Vec<Result<Vec<u8>, TooLarge>>, Error> {
        self.1 += 1;
        self.0.read(paths, limits)
    }
}

#[test]
fn files_are_read_in_batches() {
    let mut source =
        tree(r#".claude-plugin/marketplace.json: {"plugins":[{"name":"p","source":"./p"}]}"#);
    for index in 0..300 {
        source.insert(format!("p/skills/{index}/SKILL.md"), b"# x".to_vec());
        let manifest = br#"{"name":"q"}"#.to_vec();
        source.insert(format!("q/{index}/.claude-plugin/plugin.json"), manifest);
        source.insert(format!("q/{index}/skills/x/SKILL.md"), b"# x".to_vec());
    }
    let mut source = Counted(source, 0);
    let found = find_skills(&mut source, None).unwrap();
    assert_eq!((found.skills.len(), source.1), (600, 3));
}

fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "skills",
        "SKILL.md",
        ".claude",
        ".claude-plugin",
        "plugin.json",
        "marketplace.json",
        "a",
        "b",
        ".git",
        "..",
        "",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => "[ -~é]{0,3}"]
}

fn content() -> impl Strategy<Value = String> {
    let path =
        || prop::collection::vec(name(), 0..4).prop_map(|names| format!("./{}", names.join("/")));
    let marketplace = prop::collection::vec((path(), path()), 0..3).prop_map(|plugins| {
        let plugin =
            |(source, skill)| serde_json::json!({"name": "p", "source": source, "skills": [skill]});
        let plugins: Vec<_> = plugins.into_iter().map(plugin).collect();
        serde_json::json!({"name": "n", "plugins": plugins}).to_string()
    });
    prop_oneof![
        marketplace,
        "[ -~\n]{0,40}",
        Just("---\nname: n\n---\n".to_owned())
    ]
}

proptest! {
    #[test]
    fn any_tree_is_searched_without_panic_and_every_skill_has_its_file(
        files in prop::collection::vec((prop::collection::vec(name(), 1..6), content(), 0..9), 0..12),
    ) {
        let mut source = MemoryTree::default();
        for (names, content, kind) in files {
            let path = names.join("/");
            match kind {
                0 => source.insert_other(path, EntryKind::Link),
                1 => source.insert_other(path, EntryKind::Submodule),
                _ => source.insert(path, content.into_bytes()),
            }
        }
        let found = find_skills(&mut source, None).unwrap();
        for skill in &found.skills {
            let file = super::join(&skill.folder, "SKILL.md");
            prop_assert_eq!(source.entries().get(&file), Some(&EntryKind::File));
            prop_assert!(file.parse::<skillfold_core::name::ResourcePath>().is_ok(), "{}", file);
        }
        let mut folders: Vec<_> = found.skills.iter().map(|skill| &skill.folder).collect();
        folders.sort();
        folders.dedup();
        prop_assert_eq!(folders.len(), found.skills.len());
    }
}
