//! Agents bound to skills: what they see, what they begin with, and what is refused.

use skillfold_core::bind::{AgentView, SectionKind, Visibility, compose_instructions};
use skillfold_core::catalog::{Enablement, Toggle, Trust};
use skillfold_core::load::Strictness;
use skillfold_core::{
    Agent, Catalog, CatalogOptions, Entry, ErrorKind, LoadOptions, Loader, MemorySource, Root,
    Scope,
};
use skillfold_testkit::{far_future, files};

const MINE: &str = "
    //- pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    ---
    Fill in forms as `templates/form.md` says.
    //- pdf/templates/form.md
    # Form
    //- mail/SKILL.md
    ---
    name: mail
    description: Writes letters
    ---

    # Mail
    Write to $ARGUMENTS.
    //- notes/SKILL.md
    ---
    name: notes
    description: Keeps notes
    ---
    Keep notes.
    //- draft/SKILL.md
    ---
    name: draft
    description: Is switched off
    ---
    Draft.
    //- secret/SKILL.md
    ---
    name: secret
    description: Is only for people
    disable-model-invocation: true
    ---
    Secret.
    //- silent/SKILL.md
    ---
    name: silent
    description: Has no instructions
    ---
    //- broken/SKILL.md
    \0 is not text
";

const OURS: &str = "
    //- pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms of the project
    ---
    Ours.
";

const THEIRS: &str = "
    //- trap/SKILL.md
    ---
    name: trap
    description: Is not trusted
    ---
    Obey.
";

/// `pdf` of the project wins over `user:pdf`; `draft` is off and `trap` is not trusted.
fn catalog() -> Catalog {
    let source = |tree| MemorySource::new(files(tree));
    let mut enablement = Enablement::default();
    enablement.set("draft", Toggle::Off);
    let rules = CatalogOptions::default().with_enablement(enablement);
    let roots = vec![
        Root::new(Scope::User, "mine", source(MINE)),
        Root::new(Scope::Project, "ours", source(OURS)),
        Root::new(Scope::Project, "theirs", source(THEIRS)).with_trust(Trust::Untrusted),
    ];
    Catalog::discover(roots, rules, far_future())
}

fn loader() -> Loader {
    Loader::new(LoadOptions::default(), far_future)
}

fn specialist(id: &str, uses: &[&str]) -> Agent {
    Agent::new(id)
        .with_skills(uses.iter().copied())
        .with_visibility(Visibility::Used)
}

fn ids<'a>(seen: &AgentView<'a>) -> Vec<&'a str> {
    seen.entries().map(|entry| entry.id()).collect()
}

#[test]
fn agent_without_named_skills_sees_the_whole_catalog() {
    let catalog = catalog();
    let seen = catalog.view_for(&Agent::new("any"));
    assert_eq!(ids(&seen), ["mail", "notes", "pdf", "silent", "user:pdf"]);
    assert!(seen.used().is_empty());
    for id in ["pdf", "PDF", "user:pdf", "draft", "trap", "broken", "mial"] {
        let (through, direct) = (seen.resolve(id), catalog.resolve_for_model(id));
        assert_eq!(
            through.map_err(|error| error.to_string()),
            direct.map_err(|error| error.to_string())
        );
    }
    let composed = compose_instructions("Prompt.\n", &seen.contents(&loader()).unwrap(), "Inline.");
    assert_eq!(composed.text, "Prompt.\n\nInline.");
}

#[test]
fn specialist_sees_its_skills_and_orchestrator_sees_all() {
    let catalog = catalog();
    let clerk = specialist("clerk", &["user:pdf", "Mail"]);
    let seen = catalog.view_for(&clerk);
    assert_eq!(ids(&seen), ["mail", "user:pdf"]);
    assert!(!seen.can_see(&catalog.get("pdf").unwrap()));
    // A skill of another snapshot is another skill.
    assert!(!seen.can_see(&self::catalog().get("mail").unwrap()));

    let planner = Agent::new("planner").with_skills(["mail"]);
    let seen = catalog.view_for(&planner);
    assert_eq!(ids(&seen), ["mail", "notes", "pdf", "silent", "user:pdf"]);
    let used: Vec<_> = seen.used().iter().map(Entry::id).collect();
    assert_eq!(used, ["mail"]);

    let none = catalog.view_for(&specialist("none", &[]));
    assert!(ids(&none).is_empty());
}

#[test]
fn skill_outside_the_view_is_not_found_and_only_visible_ids_are_suggested() {
    let catalog = catalog();
    let seen = catalog.view_for(&specialist("clerk", &["user:pdf", "mail"]));
    for id in ["pdf", "notes", "draft", "trap", "broken", "zebra"] {
        let error = seen.resolve(id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.to_string(), format!("There is no skill `{id}`"));
        assert_eq!(error.hint(), "Check the id against the list of skills");
    }
    let nearest = |id| seen.resolve(id).unwrap_err().nearest().to_vec();
    assert_eq!(nearest("pdf"), ["user:pdf".into()]);
    assert_eq!(nearest("mial"), ["mail".into()]);
    assert!(nearest("note").is_empty());
    assert!(seen.content(&loader(), "notes").is_err());
}

#[test]
fn narrowing_never_widens() {
    let catalog = catalog();
    let all = ["mail", "notes", "pdf", "silent", "user:pdf"];
    let chosen = |bits: usize| -> Vec<&str> {
        let places = (0..all.len()).filter(|place| bits & (1 << place) != 0);
        places.map(|place| all[place]).collect()
    };
    for parent in 0..1 << all.len() {
        let outer = catalog.view_for(&specialist("outer", &chosen(parent)));
        assert_eq!(ids(&outer.narrow(&Agent::new("any"))), ids(&outer));
        for child in 0..1 << all.len() {
            let inner = outer.narrow(&specialist("inner", &chosen(child)));
            assert_eq!(ids(&inner), chosen(parent & child));
            let left_out = inner.missing().into_iter().map(|left_out| left_out.id);
            assert!(left_out.eq(chosen(child & !parent).into_iter().map(Box::from)));
            let used: Vec<_> = inner.used().iter().map(Entry::id).collect();
            assert_eq!(used, chosen(parent & child));
        }
    }
}

/// Returns why an agent does not have some of the skills that it uses.
fn left_out(seen: &AgentView<'_>) -> String {
    let left_out = seen.missing().into_iter();
    left_out.map(|left_out| left_out.reason + "\n").collect()
}

#[test]
fn unavailable_skills_are_all_reported_and_the_others_are_bound() {
    let catalog = catalog();
    let agent = specialist(
        "clerk",
        &[
            "mial", "pdf", "zebra", "draft", "trap", "broken", "secret", "mail",
        ],
    );
    let seen = catalog.view_for(&agent);
    assert_eq!(ids(&seen), ["mail", "pdf"]);
    insta::assert_snapshot!(left_out(&seen), @"
    `mial` does not exist; did you mean `mail`?
    `zebra` does not exist
    `draft` is disabled
    `trap` is not trusted
    `broken` is not a valid skill
    `secret` may only be started by the user
    ");
    let composed = compose_instructions("", &seen.contents(&loader()).unwrap(), "");
    assert_eq!(
        composed.text,
        "Skill: pdf\n\nOurs.\n\nSkill: mail\n\n# Mail\nWrite to .\n"
    );
    let many = Agent::new("many").with_skills((0..30).map(|number| format!("zebra-{number}")));
    assert_eq!(catalog.view_for(&many).missing().len(), 30);
    let outer = catalog.view_for(&specialist("outer", &["pdf"]));
    let inner = outer.narrow(&Agent::new("inner").with_skills(["mail"]));
    assert_eq!(
        left_out(&inner),
        "`mail` is not visible to the agent that started this one\n"
    );
}

#[test]
fn unavailable_and_unknown_skills_read_the_same_to_a_model() {
    let catalog = catalog();
    for sees in Visibility::ALL {
        let agent = Agent::new("clerk").with_skills(["pdf", "draft", "trap", "broken", "secret"]);
        let seen = catalog.view_for(&agent.with_visibility(sees));
        for id in ["draft", "trap", "broken", "secret", "zebra"] {
            let error = seen.resolve(id).unwrap_err();
            assert_eq!(error.to_string(), format!("There is no skill `{id}`"));
            assert!(error.nearest().is_empty(), "{error:?}");
        }
        assert!(seen.resolve("pdf").is_ok());
    }
}

#[test]
fn prompt_comes_first_then_skills_then_the_hosts_text() {
    let catalog = catalog();
    let agent = Agent::new("clerk").with_skills(["user:pdf", "silent", "mail", "MAIL"]);
    let contents = catalog.view_for(&agent);
    let contents = contents.contents(&loader()).unwrap();
    let composed = compose_instructions("You are a clerk.", &contents, "Be brief.\n");
    assert_eq!(
        composed.text,
        "You are a clerk.\n\nSkill: user:pdf\n\nFill in forms as `templates/form.md` says.\n\nSkill: mail\n\n# Mail\nWrite to .\n\nBe brief.\n"
    );
    let sections = composed.sections.iter();
    let sections: Vec<_> = sections
        .map(|section| (section.kind.clone(), section.tokens()))
        .collect();
    let skill = |id: &str| SectionKind::Skill(id.into());
    assert_eq!(
        sections,
        [
            (SectionKind::Prompt, 4),
            (skill("user:pdf"), 15),
            (skill("mail"), 8),
            (SectionKind::Inline, 3)
        ]
    );
    let own = composed.sections.last().unwrap().bytes.clone();
    assert_eq!(&composed.text[own], "Be brief.\n");
    assert_eq!(composed.tokens(), (composed.text.len() as u64).div_ceil(4));
}

#[test]
fn sections_are_separated_by_one_blank_line_and_kept_verbatim() {
    let compose = |prompt: &str, inline: &str| compose_instructions(prompt, &[], inline).text;
    assert_eq!(compose("", ""), "");
    assert_eq!(compose(" \n", "own"), "own");
    assert_eq!(compose("prompt", "\n\t\n"), "prompt");
    assert_eq!(compose("prompt\n", "own"), "prompt\n\nown");
    assert_eq!(compose("prompt\n", "\nown"), "prompt\n\nown");
    assert_eq!(compose("prompt\n\n\n", "\nown\n"), "prompt\n\n\n\nown\n");
    assert_eq!(compose("prompt\r\n", "own"), "prompt\r\n\nown");
    assert_eq!(compose("prompt\r\n\r\n", "own"), "prompt\r\n\r\nown");
}

#[test]
fn bound_skill_needs_no_load_and_its_files_are_read_on_demand() {
    let catalog = catalog();
    let loader = loader();
    let clerk = catalog.view_for(&specialist("clerk", &["user:pdf"]));
    let body = clerk.content(&loader, "user:pdf").unwrap();
    assert_eq!(body.body(), "Fill in forms as `templates/form.md` says.\n");
    let composed = compose_instructions("", &clerk.contents(&loader).unwrap(), "");
    assert!(composed.text.contains(body.body()));
    assert!(!composed.text.contains("# Form"));
    let loads = loader.stats();
    let entry = clerk.resolve("user:pdf").unwrap();
    let form = loader.read(&entry, "templates/form.md", ..).unwrap();
    assert_eq!(form.bytes(), b"# Form\n");
    assert_eq!(loader.stats().misses, loads.misses);
    assert!(loader.read(&entry, "../mail/SKILL.md", ..).is_err());
}

#[test]
fn bodies_are_given_in_full_or_not_at_all() {
    let tree = "
        //- good/SKILL.md
        ---
        name: good
        description: Is good
        ---
        Good.
        //- odd/SKILL.md
        ---
        name: odd
        description: Use when: something
        ---
        Odd.
    ";
    let root = Root::new(Scope::User, "mine", MemorySource::new(files(tree)));
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    let loading = LoadOptions::default().with_strictness(Strictness::Strict);
    let loader = Loader::new(loading, far_future);
    let seen = catalog.view_for(&Agent::new("any").with_skills(["good", "odd"]));
    let error = seen.contents(&loader).unwrap_err();
    assert!(error.to_string().contains("`odd`"), "{error}");
}
