use super::{check, show, tree};
use crate::find::find_skills;

#[test]
fn marketplace_gives_skills_their_plugin() {
    insta::assert_snapshot!(check(r#"
        .claude-plugin/marketplace.json: {"name":"m","plugins":[{"name":"documents","source":"./","strict":false,"skills":["./skills/pdf","./skills/docx/SKILL.md"]},{"name":"examples","source":"./","skills":["./skills/art"]},{"name":"tools","source":"./plugins/tools/"}]}
        skills/pdf/SKILL.md
        skills/docx/SKILL.md
        skills/art/SKILL.md
        skills/other/SKILL.md
        plugins/tools/skills/lint/SKILL.md
        plugins/tools/notes/SKILL.md
    "#), @r"
    art in skills/art [examples]
    docx in skills/docx [documents]
    lint in plugins/tools/skills/lint [tools]
    notes in plugins/tools/notes
    other in skills/other
    pdf in skills/pdf [documents]
    ");
}

#[test]
fn listed_skill_is_found_where_the_search_would_not_look() {
    insta::assert_snapshot!(check(r#"
        .claude-plugin/marketplace.json: {"plugins":[{"name":"p","source":"./.store/p","skills":["./one","packs"]}]}
        .store/p/one/SKILL.md
        .store/p/packs/two/SKILL.md
        .store/q/SKILL.md
    "#), @r"
    one in .store/p/one [p]
    two in .store/p/packs/two [p]
    left out .store/q/SKILL.md: Hidden folder `.store` is not searched
    ");
}

#[test]
fn plugin_root_is_where_bare_names_are_and_the_fallback_for_others() {
    insta::assert_snapshot!(check(r#"
        .claude-plugin/marketplace.json: {"metadata":{"pluginRoot":"./plugins"},"plugins":[{"name":"a","source":"a"},{"name":"b","source":"./b"},{"name":"c","source":"./plugins/c"}]}
        a/skills/wrong/SKILL.md
        plugins/a/skills/x/SKILL.md
        plugins/b/skills/y/SKILL.md
        plugins/c/skills/z/SKILL.md
    "#), @r"
    wrong in a/skills/wrong
    x in plugins/a/skills/x [a]
    y in plugins/b/skills/y [b]
    z in plugins/c/skills/z [c]
    ");
}

#[test]
fn plugin_that_is_somewhere_else_is_reported() {
    insta::assert_snapshot!(check(r#"
        .claude-plugin/marketplace.json: {"plugins":[{"name":"a","source":{"source":"github","repo":"o/r","ref":"main"}},{"name":"b","source":{"source":"git-subdir","url":"https://example.com/x.git","path":"p"}},{"name":"c","source":{"source":"npm","package":"@s/c"}},{"name":"d","source":"../d"},{"name":"e","source":"./gone"},{"name":"f","source":7},{"name":"g","source":{"source":"local","path":"./g"}},{"name":"h","source":"./sub"},{"source":"./i"},{"name":"j","source":"./node_modules/j"},{"name":"k","source":"https://example.com/k.git"}]}
        g/skills/x/SKILL.md
        i/skills/y/SKILL.md
        node_modules/j/skills/z/SKILL.md
        sub: submodule
    "#), @r"
    x in g/skills/x [g]
    y in i/skills/y
    left out .claude-plugin/marketplace.json: Plugin `a` is in another source: `o/r`, version `main`
    left out .claude-plugin/marketplace.json: Plugin `b` is in another source: `https://example.com/x.git`, folder `p`
    left out .claude-plugin/marketplace.json: Plugin `c` is in another source: `@s/c`
    left out .claude-plugin/marketplace.json: Plugin `d` is in another source: `../d`
    left out .claude-plugin/marketplace.json: Plugin `e` has a folder that does not exist: `./gone`
    left out .claude-plugin/marketplace.json: Plugin `f` has a `source` that is neither a path nor an object
    left out .claude-plugin/marketplace.json: Plugin `h` has a folder that cannot be used: Folder is another repository, a git submodule
    left out .claude-plugin/marketplace.json: Plugin `j` has a folder that cannot be used: Folder `node_modules` is not searched
    left out .claude-plugin/marketplace.json: Plugin `k` is in another source: `https://example.com/k.git`
    left out .claude-plugin/marketplace.json: Plugin number 9 has no valid `name`
    left out sub: Folder is another repository, a git submodule
    ");
}

#[test]
fn listed_folder_that_is_not_there_is_reported() {
    insta::assert_snapshot!(check(r#"
        .claude-plugin/plugin.json: {"name":"p","skills":["./skills/a","./gone","../up",3]}
        skills/a/SKILL.md
        skills/b/SKILL.md
    "#), @r##"
    a in skills/a [p]
    b in skills/b [p]
    left out .claude-plugin/plugin.json: Plugin `p` lists a folder that does not exist: `gone`
    left out .claude-plugin/plugin.json: Plugin `p` lists a skill that is not a relative path: "../up"
    left out .claude-plugin/plugin.json: Plugin `p` lists a skill that is not a relative path: 3
    "##);
}

#[test]
fn broken_manifest_costs_the_plugin_and_not_the_skills() {
    insta::assert_snapshot!(check(r#"
        .claude-plugin/marketplace.json: {"plugins":
        .claude-plugin/plugin.json: []
        x/.claude-plugin/plugin.json: {"name":"a/b"}
        x/skills/a/SKILL.md
    "#), @r"
    a in x/skills/a
    left out .claude-plugin/marketplace.json: File is not valid JSON: EOF while parsing a value at line 1 column 11
    left out .claude-plugin/plugin.json: File is not a JSON object
    left out x/.claude-plugin/plugin.json: Manifest has no valid `name`
    ");
    insta::assert_snapshot!(check(r#"
        .claude-plugin/marketplace.json: {"plugins":{}}
    "#), @"left out .claude-plugin/marketplace.json: File has no list `plugins`");
}

#[test]
fn agent_plugins_manifest_names_the_skills_directly_in_its_folder() {
    insta::assert_snapshot!(check(r#"
        plugin.json: {"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json","name":"acme.tools"}
        skills/a/SKILL.md
        skills/group/b/SKILL.md
        packs/p/plugin.json: {"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json","name":"p","skills":["./gone"]}
        packs/p/.claude-plugin/plugin.json: {"name":"ignored-name"}
        packs/p/skills/c/SKILL.md
        packs/q/plugin.json: {"$schema":"https://agent-plugins.org/schemas/2.0.0/plugin.schema.json","name":"q"}
        packs/q/skills/d/SKILL.md
        packs/r/plugin.json: {"$schema":"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json","name":"Bad--Name"}
        packs/r/skills/e/SKILL.md
        packs/s/plugin.json: {"type":"datasource","name":"grafana"
        packs/s/skills/f/SKILL.md
    "#), @r"
    a in skills/a [acme.tools]
    b in skills/group/b
    c in packs/p/skills/c [p]
    d in packs/q/skills/d
    e in packs/r/skills/e
    f in packs/s/skills/f
    left out packs/q/plugin.json: Manifest has an unknown version: `https://agent-plugins.org/schemas/2.0.0/plugin.schema.json`
    left out packs/r/plugin.json: Manifest has no valid `name`
    ");
}

#[test]
fn nearest_plugin_owns_a_skill_and_a_template_finds_none() {
    insta::assert_snapshot!(check(r#"
        .claude-plugin/plugin.json: {"name":"top"}
        skills/a/SKILL.md
        skills/a/template/.claude-plugin/plugin.json: {
        skills/a/template/skills/b/SKILL.md
        more/.claude-plugin/plugin.json: {"name":"more"}
        more/skills/c/SKILL.md
        single/.claude-plugin/plugin.json: {"name":"single"}
        single/SKILL.md
    "#), @r"
    a in skills/a [top]
    c in more/skills/c [more]
    single in single [single]
    ");
}

#[test]
fn nested_json_is_refused_before_the_stack_ends() {
    let mut source = tree("a/SKILL.md");
    let deep = "[".repeat(100_000);
    source.insert(
        ".claude-plugin/marketplace.json".to_owned(),
        deep.into_bytes(),
    );
    insta::assert_snapshot!(show(&find_skills(&mut source, None).unwrap()), @r"
    a in a
    left out .claude-plugin/marketplace.json: File is not valid JSON: recursion limit exceeded at line 1 column 128
    ");
}
