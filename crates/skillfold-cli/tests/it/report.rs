//! `report`: one page that a browser shows and that nothing in a skill can change.

use std::fmt::Write as _;

use crate::command::World;
use crate::setup_list::SKILLS;

fn world() -> World {
    let files = r#"
        //- person/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes and sorts mail.
        triggers: [send a mail]
        ---
        Write it as references/rules.md says.
        //- person/.agents/skills/mail/references/rules.md
        Be short. Be kind.
        //- person/.agents/skills/letters/SKILL.md
        ---
        name: letters
        description: Use when: letters and mail are written
        triggers: [send a mail]
        ---
        Write them.
        //- person/.agents/skills/deploy/SKILL.md
        ---
        name: deploy
        description: Deploys the site.
        disable-model-invocation: true
        ---
        Deploy it.
        //- person/.agents/skills/draft/SKILL.md
        # Draft
        //- person/.agents/skills/off/SKILL.md
        ---
        name: off
        description: Is switched off.
        ---
        //- person/.config/skillfold/config.toml
        disable = ["off"]
        //- app/.agents/skills/mail/SKILL.md
        ---
        name: mail
        description: The mail of the project.
        ---
        //- app/log.jsonl
        {"time_ms":1763110800000,"event":"skill of a prompt","skill":"mail","outcome":"given"}
        {"time_ms":1763110800000,"event":"skill of a prompt","skill":"mail","outcome":"suggested"}
        {"time_ms":1763110800000,"event":"skill of a prompt","skill":"mail","outcome":"loaded"}
        {"time_ms":1763110900000,"event":"feedback on a skill","skill":"mail","feedback":"used","chosen":{"by":"trigger"}}
        broken
        "#;
    World::new(&files.replace("# Draft", "\0 Draft"))
}

/// Returns what a page says: its text without the markup, a line for each block.
fn text(page: &str) -> String {
    let body = &page[page.find("<main").unwrap()..page.find("</main>").unwrap()];
    let body = body
        .replace("</th><", "</th> | <")
        .replace("</td><", "</td> | <");
    let body = body
        .replace("</li><", "</li>; <")
        .replace("</dt><", "</dt>: <");
    let body = body.replace("</dd><", "</dd>, <");
    let (mut text, mut is_markup) = (String::new(), false);
    for c in body.chars() {
        match c {
            '<' => is_markup = true,
            '>' => is_markup = false,
            _ if !is_markup => text.push(c),
            _ => {}
        }
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "the whole page")]
fn report_shows_installed_skills_and_findings() {
    let page = world().data(&["report", "-", "--log", "log.jsonl"]);
    insta::assert_snapshot!(text(&page), @"
    Summary
    skills: 5, found in all folders,
    for models: 2, listed and searched for a request,
    not for models: 3, shadowed, incompatible, disabled, held, untrusted, or user only,
    broken: 1, their SKILL.md cannot be read,
    repaired: 1, read although their YAML is invalid,
    competing pairs: 1, a request for one may select the other,
    groups of copies: 0, skills with the same description,
    tokens in a plain list: 20, all full descriptions, as most clients list them,
    tokens in the listing: 84, what a model gets instead, before any request,
    tokens of instructions: 18, of all skills together; a model reads only what it needs,
    Clients
    No client is set up. skillfold setup connects yours; --client NAME shows what the model of one would get.
    What a request costs
    Each of these requests is the first message of a conversation, with your settings. The tokens now are those of the listing and of what the request adds; the plain list has a line with the whole description of each skill, which most clients put into every request. skillfold prompt &quot;REQUEST&quot; shows the text for a request of yours.
    Requests: tokens now against a plain list of all descriptions
    Request | Skills it selects | Tokens now | Plain list | Difference | Now, of the plain list |
    Fix the failing test of the login form | none;  | 84 | 20 | 64 more |  |
    Review my changes before I commit them | none;  | 84 | 20 | 64 more |  |
    Write the release notes of the next version | none;  | 84 | 20 | 64 more |  |
    Fill in the form in contract.pdf | none;  | 84 | 20 | 64 more |  |
    Make a chart of the sales by month from sales.xlsx | none;  | 84 | 20 | 64 more |  |
    What is the capital of France? | none;  | 84 | 20 | 64 more |  |
    listing added by the request
    Tokens are counted by: estimate.
    Tokens per skill
    The line is the id and the whole description. The instructions are read when the skill is used, and the files when the instructions ask for them. The tokens of files are estimated from their size, one for four bytes, of files that are text by their name.
    line instructions files
    Tokens of each skill by level, the largest first
    Skill | State | Line | Instructions | Files | All levels |
    mail | active | 9 | 10 | 5 |  |
    letters | active, repaired | 13 | 4 | 0 |  |
    deploy | active, user only | 8 | 4 | 0 |  |
    project:mail | untrusted | 11 | 0 | 0 |  |
    off | disabled | 8 | 0 | 0 |  |
    Skills that compete
    These skills compete for the same requests. They were found by their own words: a sentence of one description, as a request, finds the other skill, the words that they share find either, or both have the same triggers.
    Pairs that compete, the worst first
    Skills | Why | What to do |
    letters; mail;  | both have the trigger send a mail; both mention: mail, send;  | remove the triggers from one of them |
    Broken and repaired skills
    Broken
    These are not skills for any model until their SKILL.md is corrected.
    Folders whose SKILL.md was refused
    Folder | Finding | What to do |
    ~/.agents/skills/draft | error[SF009]: File is not encoded as UTF-8;  | Save the file as UTF-8;  |
    Repaired
    Skillfold reads these although their frontmatter is invalid; other clients may drop them. skillfold check --fix writes the repair to the file.
    Skills that had to be repaired
    Skill | Finding | What to do |
    letters | warning[SF010]: A second :  on the line of a field; warning[SF101]: Value of description has an unquoted : ;  | Correct the line; other clients may drop this skill; Put the value in quotes;  |
    Skills that models do not get
    Untrusted
    Skills of projects that are not trusted
    Skill | Why | What to do |
    project:mail | Skill project:mail is shadowed by mail of ~/.agents/skills; Skill project:mail is in a root that is not trusted: .agents/skills;  | Use the qualified id, rename one of the two, or change the precedence; Review the skill; if it is good, trust its project with skillfold trust;  |
    Disabled
    Skills that are disabled
    Skill | Why | What to do |
    off | Skill off is disabled by off;  | Add it to enable in the settings, or take it out of disable;  |
    User only
    Skills that only the user may start
    Skill | Description |
    deploy | Deploys the site. |
    Use
    From the log log.jsonl. Suggested: a line told the model about it. Given: the model got its instructions, or its client was told to load it. Hits: the hook gave its instructions, the model loaded it after a line, or its host reported it as used. Ignored: a line suggested it, and the model did not load it by the next prompt. Missed: the model loaded it although the hook had not offered it, or its host reported that it was needed and not given.
    Lines of the log that cannot be parsed, and are not counted: 1
    How often each skill was suggested, given, used, ignored and missed
    Skill | Suggested | Given | Hits | Ignored | Missed |
    mail | 1 | 2 | 3 | 0 | 0 |
    By client
    The same for each client&#39;s hook
    Client | Suggested | Given | Hits | Ignored | Missed |
    unknown | 1 | 1 | 2 | 0 | 0 |
    Never used
    Skills for models that the log does not mention
    Skill | Description |
    letters | Use when: letters and mail are written |
    ");
}

#[test]
fn report_says_what_each_clients_model_pays_and_finds() {
    let world = World::new(SKILLS);
    world.run(&["setup", "claude-code", "--list", "both", "--yes"]);
    let shown = |arguments: &[&str]| {
        let page =
            text(&world.data(&[&["report", "-", "--request", "Cut paper"], arguments].concat()));
        let end = page.find("Skills that compete").unwrap();
        let lines = page[..end].lines().filter(|line| line.contains(" | "));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    insta::assert_snapshot!(shown(&[]), @"
    Client | Its own list | Our list | Our tools | Together | Without Skillfold | Difference |
    Claude Code | 25 | 50 | 155 | 230 | 25 | 205 more |
    Client | Its own list | Our list | By name | Search | Nowhere |
    Claude Code | 3 | 0 | 0 | 0 | 1 |
    Request | Skills it selects | Tokens now | Without Skillfold | Difference | Now, of that |
    Cut paper | named: named;  | 243 | 25 | 218 more |  |
    Skill | State | Line | Instructions | Files | All levels | Found in |
    burn | active | 7 | 4 | 0 |  | own list |
    of-project | untrusted | 11 | 0 | 0 |  | own list |
    for-people | active, user only | 8 | 0 | 0 |  | nowhere |
    named | active | 7 | 0 | 0 |  | own list |
    ");
    insta::assert_snapshot!(shown(&["--client", "cursor"]), @"
    Client | Its own list | Our list | Our tools | Together | Without Skillfold | Difference |
    Cursor | unknown | 80 | 306 | unknown | unknown | unknown |
    Client | Its own list | Our list | By name | Search | Nowhere |
    Cursor | 2 | 1 | 0 | 0 | 1 |
    Request | Skills it selects | Tokens now | Plain list | Difference | Now, of the plain list |
    Cut paper | named: named;  | 399 | 13 | 386 more |  |
    Skill | State | Line | Instructions | Files | All levels | Found in |
    burn | active | 7 | 4 | 0 |  | our list |
    of-project | untrusted | 11 | 0 | 0 |  | own list |
    for-people | active, user only | 8 | 0 | 0 |  | nowhere |
    named | active | 7 | 0 | 0 |  | own list |
    ");
}

#[test]
fn report_overwrites_only_an_earlier_report() {
    let world = world();
    insta::assert_snapshot!(world.run(&["report"]), @"
    skillfold-report.html
    ! 5 skills; open the file in a browser
    exit 0
    ");
    assert!(
        world
            .read("app/skillfold-report.html")
            .starts_with("<!DOCTYPE html>\n<html lang=\"en\">")
    );
    insta::assert_snapshot!(world.run(&["report", "--json"]), @r#"
    {
      "view": 2,
      "kind": "written",
      "file": "ROOT/app/skillfold-report.html"
    }
    exit 0
    "#);
    world.write("//- app/mine.html\n<p>Mine</p>\n");
    insta::assert_snapshot!(world.run(&["report", "mine.html"]), @"
    ! error: `ROOT/app/mine.html` exists already
    ! hint: It was not generated by this command; name another file, or replace it with `--force`
    exit 4
    ");
    assert_eq!(world.read("app/mine.html"), "<p>Mine</p>\n");
    insta::assert_snapshot!(world.run(&["report", "mine.html", "--force"]), @"
    mine.html
    ! 5 skills; open the file in a browser
    exit 0
    ");
    assert!(
        world
            .read("app/mine.html")
            .contains("<h1>Skillfold report</h1>")
    );
    insta::assert_snapshot!(world.run(&["report", "-", "--json"]), @r#"
    {
      "view": 2,
      "kind": "error",
      "error": "invalid",
      "message": "`--json` prints the path of the file; name a file, or leave it out",
      "hint": "Correct it and try again"
    }
    exit 2
    "#);
    insta::assert_snapshot!(world.run(&["report", "--log", "none.jsonl"]), @"
    ! error: Could not find `none.jsonl`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
}

#[test]
fn report_is_deterministic() {
    let world = world();
    assert_eq!(world.data(&["report", "-"]), world.data(&["report", "-"]));
}

#[test]
fn nothing_in_a_skill_becomes_markup_or_hides() {
    const ATTACK: &str = "</style></table><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{200b}\u{7f}";
    let world = World::new("//- app/README.md\n");
    let quoted = serde_json::to_string(ATTACK).unwrap();
    let escaped: String = quoted
        .chars()
        .map(|c| {
            if c.is_ascii() && c != '\u{7f}' {
                c.to_string()
            } else {
                format!("\\u{:04x}", u32::from(c))
            }
        })
        .collect();
    for name in ["one", "two"] {
        let skill = format!(
            "---\nname: {name}\ndescription: {escaped}\ntriggers: [{escaped}]\ntags: [{escaped}]\nlicense: {escaped}\nx{escaped}: 1\n---\n{ATTACK}\n"
        );
        let folder = world.path(&format!("person/.agents/skills/{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), skill).unwrap();
    }
    let odd = [
        ("person/.agents/skills/<script>a\u{202e}", format!("---\nname: {escaped}\ndescription: Use when: {ATTACK}\n---\n")),
        ("person/.agents/skills/<script>b\u{1b}[31m", format!("<script>{ATTACK}")),
        ("person/.agents/skills/reserved", "---\nname: \"<script>\"\ndescription: \"<script>\"\ndisable-model-invocation: true\n---\n".to_owned()),
        ("app/.agents/skills/<script>", "---\nname: \"<script>\"\ndescription: \"<script>\"\n---\n".to_owned()),
    ];
    for (folder, text) in odd {
        std::fs::create_dir_all(world.path(folder)).unwrap();
        std::fs::write(world.path(folder).join("SKILL.md"), text).unwrap();
    }
    let log = format!(
        "{{\"time_ms\":1763110800000,\"event\":\"skill of a prompt\",\"skill\":{escaped},\"outcome\":\"given\"}}\n"
    );
    std::fs::write(world.path("app/<script>.jsonl"), log).unwrap();
    let page = world.data(&["report", "-", "--log", "<script>.jsonl"]);
    assert!(page.contains("&lt;script&gt;"), "{page}");
    assert!(page.contains("\\u{202e}"), "{page}");
    for forbidden in [
        "<script",
        "</style></table>",
        "<img",
        "\u{202e}",
        "\u{200b}",
        "\u{7f}",
        "\u{1b}",
    ] {
        assert!(!page.contains(forbidden), "{forbidden:?}");
    }
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(
        page.matches("http-equiv=\"Content-Security-Policy\"")
            .count(),
        1
    );
}

#[test]
fn report_loads_no_external_resources() {
    let page = world().data(&["report", "-"]);
    for forbidden in [
        "src=", "url(", "@import", "<link", "<iframe", "<object", "<form", " style=",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let mut targets = page.split("href=\"").skip(1);
    assert!(targets.all(|target| target.starts_with('#')));
    assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"));
}

#[test]
fn report_of_many_skills_is_small_and_says_what_it_omits() {
    let world = World::new("//- app/README.md\n");
    let topics = [
        "bread", "maps", "taxes", "music", "chess", "plants", "trains", "fonts", "paint", "rivers",
    ];
    for number in 0..1_500_usize {
        let (one, other) = (topics[number % 10], topics[number / 10 % 10]);
        let long = "&".repeat(600);
        let mut skill = format!(
            "---\nname: {one}-{other}-{number}\ndescription: Knows {one} and {other}. {long}\n"
        );
        if number % 3 == 0 {
            skill += "disable-model-invocation: true\n";
        }
        if number % 5 == 0 {
            skill += "x: a: b\n";
        }
        if number % 7 > 0 {
            skill += "---\n";
        }
        let mut folder = world.path("person/.agents/skills");
        write!(folder.as_mut_os_string(), "/{number}").unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), skill).unwrap();
    }
    let page = world.data(&["report", "-"]);
    assert!(page.len() < 2_500_000, "{}", page.len());
    assert!(
        page.contains("are left out here; <code>skillfold list</code> lists all skills"),
        "{page}"
    );
}
