//! Agents with the skills of the examples, from the first word to the last.

use skillfold::AgentSkills;
use skillfold::core::bind::Visibility;
use skillfold::core::disclose::{Mode, Style};
use skillfold::core::{Agent, ContextLifetime, Policy};
use skillfold_testkit::lay_out;

use crate::model::{Step, between, converse, told};
use crate::world::World;

const SKILL: &str = "extension-development";

const BEFORE: &str = include_str!("../../../../examples/agents/builder/prompt-before.md");
const PROMPT: &str = include_str!("../../../../examples/agents/builder/prompt.md");

/// Lays out the skills of the examples and the settings of their agent.
fn world() -> World {
    let world = World::new("");
    lay_out("examples/skills", &world.path("person/.agents/skills"));
    lay_out(
        "examples/agents/builder",
        &world.path("person/.config/skillfold"),
    );
    world
}

fn bullets() -> Policy {
    Policy::default().with_style(Style::Bullets)
}

/// A model that looks for a template in what it was told, reads it and fills it in.
fn builder(told: &str) -> Step {
    if !told.contains("<tool name=\"read_skill_resource\">") {
        let path = between(told, "for Python start from `", "`");
        return Step::Read(SKILL.to_owned(), path.to_owned());
    }
    let template = between(told, "<tool name=\"read_skill_resource\">\n", "\n</tool>");
    Step::Answer(
        template
            .replace("count-words", "read-feed")
            .replace("TextToolset", "RssToolset"),
    )
}

#[test]
fn bound_builder_reads_a_template_and_never_loads_its_skill() {
    let world = world();
    let skills = world.skills();
    let agent = skills.agent("builder").unwrap();
    let composed = skills.compose("builder", PROMPT, "").unwrap();
    let mut session = skills
        .bind(agent)
        .session(bullets(), ContextLifetime::History);
    let request = "Create a toolset that watches RSS feeds";
    let told = format!("{}{}", composed.text, told(&mut session, request));
    // The request matches the skill, and what the agent begins with is not repeated.
    assert_eq!(
        told.matches("# Extension development\n").count(),
        1,
        "{told}"
    );
    let conversation = converse(&mut session, &told, builder);
    assert_eq!(conversation.calls, ["read_skill_resource"]);
    assert!(
        conversation.answer.contains("name = \"read-feed\"")
            && conversation.answer.contains("class RssToolset:"),
        "{}",
        conversation.answer
    );
}

/// A model that finds a skill by the list, loads it, and reviews a line of code as it says.
fn worker(told: &str) -> Step {
    if !told.contains("<tool name=\"list_skills\">") {
        return Step::List("review".to_owned());
    }
    if !told.contains("<skill_context") {
        let listed = between(told, "<tool name=\"list_skills\">\n- ", ":");
        return Step::Load(listed.to_owned());
    }
    // It knows how to write a finding and what a secret is by the instructions alone.
    let form = between(told, "the worst first:\n\n`", "`");
    let rule = between(told, "**Secrets.** ", " ");
    let severity = between(told, "Severities are `", "`");
    let code = told.lines().find(|line| line.starts_with("kv/")).unwrap();
    let place = code.split(": ").next().unwrap();
    let finding = form
        .replace("SEVERITY", severity)
        .replace("file:line", place)
        .replace(
            "what is wrong",
            &format!("{rule} key should stand in the code"),
        );
    Step::Answer(finding.replace("what to do", "take it from the settings"))
}

#[test]
fn worker_lists_loads_code_review_and_applies_it() {
    let world = world();
    let skills = world.skills();
    let request = "Look at the kv extension.\nkv/main.py:3: KEY = \"sk-1234\"";
    let policy = bullets().with_mode(Mode::Catalog);
    let worker_skills = skills.bind(Agent::new("worker"));
    let mut session = worker_skills.session(policy, ContextLifetime::History);
    let told = told(&mut session, request);
    assert!(told.contains("• `code-review` — "), "{told}");
    let conversation = converse(&mut session, &told, worker);
    assert_eq!(conversation.calls, ["list_skills", "load_skill"]);
    assert_eq!(
        conversation.answer,
        "BLOCKER kv/main.py:3 No key should stand in the code; take it from the settings"
    );
}

#[test]
fn every_agent_of_a_host_sees_the_catalog() {
    let world = world();
    let skills = world.skills();
    let all = skills
        .session(bullets(), ContextLifetime::History)
        .listing()
        .text;
    let listing = |agent: AgentSkills| {
        let mut session = agent.session(bullets(), ContextLifetime::History);
        session.listing().text
    };
    // An orchestrator, one that uses skills and sees all, and those that these start.
    let orchestrator = skills.bind(Agent::new("orchestrator"));
    let planner = skills.bind(Agent::new("planner").with_skills(["code-review"]));
    let worker = planner.narrow(Agent::new("worker"));
    for agent in [orchestrator, planner, worker] {
        assert_eq!(listing(agent), all);
    }
    // A specialist gets its part, and so does who it starts.
    let specialist = skills.bind(skills.agent("builder").unwrap());
    let started = specialist.narrow(Agent::new("worker"));
    for agent in [specialist, started] {
        let text = listing(agent);
        assert!(
            text.contains(SKILL) && !text.contains("code-review"),
            "{text}"
        );
    }
}

#[test]
fn session_of_an_agent_sees_what_the_agent_sees() {
    let world = world();
    let skills = world.skills();
    let reviewer = Agent::new("reviewer")
        .with_skills(["code-review"])
        .with_visibility(Visibility::Used);
    let reviewer = skills.bind(reviewer);
    let mut session = reviewer.session(bullets(), ContextLifetime::History);
    // Others are not there; its own is known.
    assert_eq!(session.turn("Say bonjour to Alice").text, None);
    assert_eq!(session.turn("Do a code review").text, None);
    assert!(session.load("hello-extended", "").is_err());
    assert_eq!(session.state().tokens_spent(), 0);
    // What it begins with stays there, also where the host drops what was said after it.
    let mut transient = reviewer.session(bullets(), ContextLifetime::Transient);
    assert_eq!(transient.turn("Do a code review").text, None);
    // One that sees all hears of what comes later.
    let all = skills.bind(Agent::new("all"));
    let mut session = all.session(bullets(), ContextLifetime::History);
    world.write(&crate::world::skill("person/.agents/skills/later"));
    skills.refresh().unwrap();
    assert!(session.listing().text.contains("later"));
    let missing = skills.bind(Agent::new("a").with_skills(["nothing"]));
    let mut session = missing.session(bullets(), ContextLifetime::History);
    assert!(session.load("nothing", "").is_err());
    assert!(session.load("code-review", "").is_ok());
}

#[test]
fn resumed_conversation_sees_no_more_than_its_agent() {
    let world = world();
    let skills = world.skills();
    let agent = |id: &str, skill: &str| {
        skills.bind(
            Agent::new(id)
                .with_skills([skill])
                .with_visibility(Visibility::Used),
        )
    };
    let reviewer = agent("reviewer", "code-review");
    let state = |session: &skillfold::Session| session.state().clone();
    let all = skills.session(bullets(), ContextLifetime::History);
    let mut resumed = reviewer.resume(bullets(), state(&all));
    assert!(resumed.load("hello-extended", "").is_err());
    assert!(resumed.load("code-review", "").is_ok());
    // Two agents together see what both see.
    let other = agent("greeter", "hello-extended").session(bullets(), ContextLifetime::History);
    let mut both = reviewer.resume(bullets(), state(&other));
    assert!(both.load("hello-extended", "").is_err());
    assert!(both.load("code-review", "").is_err());
    let own = reviewer.session(bullets(), ContextLifetime::History);
    let everyone = skills.bind(Agent::new("all"));
    assert!(
        everyone
            .resume(bullets(), state(&own))
            .load("hello-extended", "")
            .is_err()
    );
}

#[test]
fn moving_knowledge_into_a_skill_shortens_every_prompt() {
    let world = world();
    let skills = world.skills();
    let composed = skills.compose("builder", PROMPT, "").unwrap().text;
    let counter = bullets().counter;
    let [before_tokens, composed_tokens, after_tokens] =
        [BEFORE, &*composed, PROMPT].map(|text| counter.count(text));
    assert!(composed_tokens * 2 < before_tokens && after_tokens * 8 < before_tokens);
    // What is left out of the prompt is in the skill.
    for kind in ["source", "embedder", "toolsets", "hook", "mcp", "python"] {
        let path = format!("references/{kind}.md");
        let content = skills.read(SKILL, &path).unwrap();
        assert!(BEFORE.contains(content.text().unwrap().trim()), "{path}");
    }
    let figures = format!(
        "| text | tokens |\n|---|---|\n\
         | `prompt-before.md` | {before_tokens} |\n\
         | `prompt.md` alone | {after_tokens} |\n\
         | `prompt.md` with `extension-development`, as the agent begins | {composed_tokens} |\n"
    );
    println!("{figures}");
    let guide = include_str!("../../../../docs/guide-prompt-to-skill.md");
    assert!(
        guide.contains(&figures),
        "the guide has other figures:\n{figures}"
    );
}
