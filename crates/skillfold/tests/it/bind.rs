//! Agents of the settings, and the skills that they have.

use skillfold::core::bind::{AgentView, Visibility};
use skillfold::core::{Agent, ErrorKind};
use skillfold::{AgentSkills, Host, Settings};

use crate::world::{World, tree};

const SETTINGS: &str = "
    //- person/.config/skillfold/config.toml
    profile = \"spec\"

    [agents.clerk]
    uses_skills = [\"pdf\"]
    sees = \"used\"

    [agents.planner]
    uses_skills = [\"mail\", \"user:notes\"]

    [agents.guest]
    //- person/.agents/skills/pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    ---
    # PDF
    Fill in `templates/form.md`.
    //- person/.agents/skills/pdf/templates/form.md
    # Form
";

fn world() -> World {
    let world = World::new(&tree(&[
        "person/.agents/skills/mail",
        "person/.agents/skills/notes",
        "person/app/.agents/skills/trap",
    ]));
    world.write(SETTINGS);
    world
}

fn put(world: &World, file: &str, text: &str) {
    world.write(&format!("\n//- {file}\n{text}\n"));
}

fn ids(skills: &AgentSkills) -> Vec<String> {
    let ids = |seen: &AgentView<'_>| seen.entries().map(|entry| entry.id().to_owned()).collect();
    skills.with_view(ids)
}

#[test]
fn settings_name_agents_and_the_skills_that_they_use() {
    let world = world();
    let skills = world.skills();
    let clerk = Agent::new("clerk")
        .with_skills(["pdf"])
        .with_visibility(Visibility::Used);
    assert_eq!(skills.agent("clerk").unwrap(), clerk);
    let planner = Agent::new("planner").with_skills(["mail", "user:notes"]);
    assert_eq!(skills.agent("planner").unwrap(), planner);
    assert_eq!(skills.agent("guest").unwrap(), Agent::new("guest"));
    assert!(skills.report().settings.findings.is_empty());

    let error = skills.agent("clrek").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.to_string(), "There is no agent `clrek`");
    assert_eq!(error.nearest(), ["clerk".into()]);
    assert!(skills.compose("clrek", "", "").is_err());
}

#[test]
fn config_explain_shows_agents_with_their_lines() {
    let world = world();
    let settings = Settings::load(&world.environment("person/app"));
    let rows = settings.explain().into_iter();
    let lines = rows
        .filter(|row| row.key.starts_with("agents"))
        .map(|row| format!("{} = {:?} ({})\n", row.key, row.value, row.origin));
    insta::assert_snapshot!(world.shown(&lines.collect::<String>()), @r#"
    agents.clerk.uses_skills = Some("pdf") (/person/.config/skillfold/config.toml:4)
    agents.clerk.sees = Some("used") (/person/.config/skillfold/config.toml:5)
    agents.planner.uses_skills = Some("mail") (/person/.config/skillfold/config.toml:8)
    agents.planner.uses_skills = Some("user:notes") (/person/.config/skillfold/config.toml:8)
    agents.planner.sees = Some("all") (default)
    agents.guest.uses_skills = None (default)
    agents.guest.sees = Some("all") (default)
    "#);
}

#[test]
fn agent_mistakes_are_reported_at_their_line() {
    let world = World::new("");
    put(
        &world,
        "person/.config/skillfold/config.toml",
        "[agents]\na = \"pdf\"\nb = { uses_skills = \"pdf\", sees = \"used\" }\n[agents.c]\nuses_skils = []\n\
         [agents.d]\nsees = \"mine\"\nuses_skills = [1]\n[agents.e]\nuses_skills = [\"pfd\"]\n[agents.f]\ncolour = 1",
    );
    let skills = world.host().discover_lenient().skills;
    insta::assert_snapshot!(world.findings(&skills.report()), @"
    /person/.config/skillfold/config.toml:2 error[SF702]: Setting `agents.a` is not usable: expected a table, found a string
    /person/.config/skillfold/config.toml:3 error[SF702]: Setting `agents.b.uses_skills` is not usable: expected a list, found a string
    /person/.config/skillfold/config.toml:5 warning[SF701]: Setting `agents.c.uses_skils` is not known; did you mean `agents.c.uses_skills`?
    /person/.config/skillfold/config.toml:7 error[SF702]: Setting `agents.d.sees` is not usable: `mine` is not one of `all`, `used`
    /person/.config/skillfold/config.toml:8 error[SF702]: Setting `agents.d.uses_skills` is not usable: expected a string, found a number
    /person/.config/skillfold/config.toml:12 warning[SF701]: Setting `agents.f.colour` is not known
    /person/.config/skillfold/config.toml:10 info[SF706]: There is no skill `pfd`
    ");
    assert!(world.host().discover().is_err());
    // An agent whose limits were not understood is not there, and does not see all.
    assert!(skills.agent("b").is_err());
    assert!(skills.agent("d").is_err());
    let composed = skills.compose("e", "Prompt.", "").unwrap();
    assert_eq!(composed.text, "Prompt.");
    assert_eq!(composed.missing[0].reason, "`pfd` does not exist");

    let variable = world
        .environment("person/app")
        .variable("SKILLFOLD_AGENTS", "clerk");
    let host = Host::new(variable).set("agents", "a");
    let settings = host.discover_lenient().skills.report().settings.clone();
    let refused = settings.findings.iter().filter(|finding| {
        let message = &finding.diagnostic.message;
        message.contains("agents are tables, and are set in the user's file only")
    });
    assert_eq!(refused.count(), 2);
}

#[test]
fn project_sets_no_agents() {
    let world = world();
    let project = "person/app/.skillfold/config.toml";
    put(
        &world,
        project,
        "[agents.clerk]\nuses_skills = [\"trap\"]\nsees = \"all\"",
    );
    let skills = world.skills();
    assert_eq!(
        skills.agent("clerk").unwrap().visibility(),
        Visibility::Used
    );
    insta::assert_snapshot!(world.findings(&skills.report()), @"/person/app/.skillfold/config.toml:1 error[SF703]: A project may not set `agents`");
}

#[test]
fn bound_specialist_reads_a_template_without_loading_its_skill() {
    let world = world();
    let skills = world.skills();
    let clerk = skills.bind(skills.agent("clerk").unwrap());
    let composed = clerk.compose("You are a clerk.\n", "Be brief.\n").unwrap();
    assert_eq!(
        composed.text,
        "You are a clerk.\n\nSkill: pdf\n\n# PDF\nFill in `templates/form.md`.\n\nBe brief.\n"
    );
    let same = skills.compose("clerk", "You are a clerk.\n", "Be brief.\n");
    assert_eq!(same.unwrap(), composed);
    skills.clear_cache();
    let files = clerk.files("pdf", None, 10).unwrap();
    assert_eq!(files.files[0].path.as_str(), "templates/form.md");
    let form = clerk.read("pdf", "templates/form.md").unwrap();
    assert_eq!(form.text(), Some("# Form\n"));
    assert_eq!(skills.cache_stats().entries, 0);
}

#[test]
fn specialist_has_its_skills_and_orchestrator_has_all() {
    let world = world();
    let skills = world.skills();
    let bound_to = |id| skills.bind(skills.agent(id).unwrap());
    let (clerk, planner, guest) = (bound_to("clerk"), bound_to("planner"), bound_to("guest"));
    assert_eq!(ids(&clerk), ["pdf"]);
    assert_eq!(ids(&planner), ["mail", "notes", "pdf"]);
    assert_eq!(ids(&guest), ids(&planner));
    for id in ["mail", "trap", "nothing"] {
        let errors = [
            clerk.load(id, "").unwrap_err(),
            clerk.files(id, None, 1).unwrap_err(),
            clerk.read(id, "SKILL.md").unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.to_string(), format!("There is no skill `{id}`"));
        }
    }
    // Who the specialist starts sees no more than it does.
    let child = clerk.narrow(skills.agent("planner").unwrap());
    assert_eq!(ids(&child), ["pdf"]);
    assert_eq!(child.compose("Prompt.", "").unwrap().text, "Prompt.");
    assert!(child.load("mail", "").is_err());
}

#[test]
fn agent_follows_a_refresh() {
    let world = world();
    let skills = world.skills();
    let clerk = skills.bind(skills.agent("clerk").unwrap());
    put(
        &world,
        "person/.agents/skills/pdf/SKILL.md",
        "---\nname: forms\ndescription: Fills in forms\n---\nOther.",
    );
    skills.refresh().unwrap();
    // The folder's name still leads to it.
    assert_eq!(
        clerk.compose("", "").unwrap().text,
        "Skill: forms\n\nOther.\n"
    );
    std::fs::remove_dir_all(world.path("person/.agents/skills/pdf")).unwrap();
    skills.refresh().unwrap();
    assert_eq!(clerk.compose("Prompt.", "").unwrap().text, "Prompt.");
    assert_eq!(clerk.missing()[0].reason, "`pdf` does not exist");
}

/// The manifest of the document that `uses_skills` comes from, with instructions of its own.
const MANIFEST: &str = "id: builder_agent
name: Extension Builder Agent

agent:
  integration_mode: tool
  model: gpt-5.2-codex
  uses_tools:
    - core_tools
    - web_search
    - skill_registry
  uses_skills:
    - pdf
    - gone
  limits:
    max_turns: 20
  instructions: |
    Be brief.

depends_on:
  - skill_registry";

fn builder() -> World {
    let world = world();
    put(&world, "person/app/agents/builder/manifest.yaml", MANIFEST);
    put(
        &world,
        "person/app/agents/builder/prompt.jinja2",
        "You build.",
    );
    world
}

#[test]
fn manifest_of_a_trusted_project_describes_an_agent() {
    let world = builder();
    let skills = world.host().set("trust_project", "true").discover();
    let skills = skills.unwrap().skills;
    for path in [
        "agents/builder/manifest.yaml",
        "agents/builder",
        "./agents/builder/",
    ] {
        let composed = skills.compose(path, "", "").unwrap();
        assert_eq!(
            composed.text,
            "You build.\n\nSkill: pdf\n\n# PDF\nFill in `templates/form.md`.\n\nBe brief.\n",
            "{path}"
        );
        assert_eq!(composed.missing.len(), 1);
        assert_eq!(composed.notes, []);
    }
    let agent = skills.agent("agents/builder").unwrap();
    let expected = Agent::new("builder_agent").with_skills(["pdf", "gone"]);
    assert_eq!(agent, expected);
    // What a host passes replaces what the files say.
    let composed = skills
        .compose("agents/builder", "You wait.", "Now.")
        .unwrap();
    assert!(
        composed.text.starts_with("You wait.\n\nSkill: pdf\n"),
        "{}",
        composed.text
    );
    assert!(composed.text.ends_with("\n\nNow."), "{}", composed.text);
}

#[test]
fn template_markers_are_kept_as_text_and_reported() {
    let world = builder();
    let prompt = "You build in {{ folder }}.";
    put(&world, "person/app/agents/builder/prompt.jinja2", prompt);
    let skills = world.host().set("trust_project", "true").discover();
    let composed = skills
        .unwrap()
        .skills
        .compose("agents/builder", "", "")
        .unwrap();
    assert!(composed.text.starts_with(prompt), "{}", composed.text);
    let findings: Vec<_> = composed.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        findings,
        [
            "warning[SF720]: `prompt.jinja2` has template placeholders, such as `{{`, which are not filled in"
        ]
    );
}

#[test]
fn agent_manifest_is_read_only_in_a_fully_trusted_project() {
    let world = builder();
    let error = world.skills().agent("agents/builder").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(
        error.hint().contains("run `skillfold trust` there"),
        "{}",
        error.hint()
    );
    assert!(world.skills().compose("agents/builder", "", "").is_err());
    let skills = world.host().set("trust_project", "true").discover();
    let skills = skills.unwrap().skills;
    put(&world, "person/elsewhere/manifest.yaml", MANIFEST);
    for (path, kind) in [
        ("../elsewhere", ErrorKind::Refused),
        ("agents/none.yaml", ErrorKind::NotFound),
    ] {
        assert_eq!(skills.agent(path).unwrap_err().kind(), kind, "{path}");
    }
    for (text, says) in [
        ("id: x", "`agent` is not there"),
        ("agent: x", "`agent` is not a mapping"),
        (
            "agent: {uses_skills: pdf}",
            "`agent.uses_skills` is not a list of skills",
        ),
        (
            "agent: {uses_skills: [[pdf]]}",
            "`agent.uses_skills` is not a list of skills",
        ),
        ("agent: {instructions: [x]}", "`instructions` is not text"),
        ("agent: {sees: some}", "`agent.sees` is not `all` or `used`"),
        ("- x", "File is not a mapping"),
        ("agent: [", "SF01"),
    ] {
        put(&world, "person/app/agents/odd.yaml", text);
        let error = skills.agent("agents/odd.yaml").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}
