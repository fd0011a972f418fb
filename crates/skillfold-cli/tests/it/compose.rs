//! `skillfold compose`, and `skillfold prompt` for a client and for a conversation.

use crate::command::World;

fn world() -> World {
    World::new(
        "
        //- person/.agents/skills/pdf/SKILL.md
        ---
        name: pdf
        description: Fills in forms. Use it for every form.
        triggers: [form]
        ---
        Fill in the form.
        //- person/.claude/skills/mail/SKILL.md
        ---
        name: mail
        description: Writes letters
        ---
        Write.
        //- person/.config/skillfold/config.toml
        [agents.clerk]
        uses_skills = ['pdf', 'gone']
        //- app/prompt.md
        You are a clerk.
        ",
    )
}

#[test]
fn agent_text_is_printed_and_missing_skills_are_named() {
    let world = world();
    insta::assert_snapshot!(world.run(&["compose", "clerk", "--prompt", "prompt.md", "--inline", "Be brief."]), @"
    You are a clerk.

    Skill: pdf

    Fill in the form.

    Be brief.
    ! `gone` is left out: `gone` does not exist
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["compose", "clrk"]), @"
    ! error: There is no agent `clrk`
    ! hint: Did you mean `clerk`?
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["compose", "clerk", "--prompt", "none.md"]), @"
    ! error: Could not find `none.md`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
}

#[test]
fn manifest_agent_is_composed_and_served_only_in_a_trusted_project() {
    let world = world();
    world.write(
        "
        //- app/agents/clerk/manifest.yaml
        id: clerk
        agent:
          uses_skills: [pdf]
          instructions: Be brief.
        //- app/agents/clerk/prompt.jinja2
        You are {{ role }}.
        ",
    );
    insta::assert_snapshot!(world.run(&["compose", "agents/clerk/manifest.yaml", "--trust-project"]), @"
    You are {{ role }}.

    Skill: pdf

    Fill in the form.

    Be brief.
    ! warning[SF720]: `prompt.jinja2` has template placeholders, such as `{{`, which are not filled in
    ! hint: Write the prompt as plain text, or fill it in yourself and pass it with `--prompt`
    exit 0
    ");
    for command in [
        &["compose", "agents/clerk"][..],
        &["serve", "--agent", "agents/clerk"],
    ] {
        let refused = world.run(command);
        assert!(
            refused.contains("error: Refused to open `agents/clerk`"),
            "{refused}"
        );
        assert!(refused.contains("skillfold trust"), "{refused}");
        assert!(refused.ends_with("exit 4\n"), "{refused}");
    }
    let served = world.run(&["serve", "--agent", "agents/clerk", "--trust-project"]);
    assert!(served.contains("skills are served"), "{served}");
}

#[test]
fn prompt_command_prints_what_the_clients_model_gets() {
    let world = world();
    insta::assert_snapshot!(world.run(&["prompt", "--client", "claude-code"]), @"
    ## Skills

    A skill is a set of instructions for one kind of task. Always check the available skills before starting a complex task. If one fits, call `load_skill` with its id and follow what it returns. If none of these fits, describe the task to `search_skills`: there may be others.

    - pdf: Fills in forms. Use it for every form.
    - 1 more: call `search_skills`

    search_skills: Finds skills: instructions for kinds of tasks, written by people who know them. Call it before a task that may have one, even if none is listed; then call `load_skill`. Returns at most 5, the best first.

    load_skill: Returns a skill's instructions. Call it before the task that the skill is for, and follow them.

    read_skill_resource: Returns a file that a skill's instructions mention.

    list_skills: Lists all skills in pages of 50.
    ! instructions: 86 tokens for 2 skills, 0 shortened, 1 not listed
    ! tools: 306 tokens
    ! Claude Code's own list: about 7 tokens for 1 skill
    ! about 399 tokens in every request, 392 more than without Skillfold (estimate)
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["prompt", "--client", "cloud-code"]), @"
    ! error: invalid value 'cloud-code' for '--client <CLIENT>'
    !   [possible values: claude-code, codex, gemini, opencode, vscode, copilot-cli, cursor, qwen]
    ! 
    !   tip: a similar value exists: 'claude-code'
    ! 
    ! For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn conversation_resumes_from_its_file() {
    let world = world();
    let ask = || world.run(&["prompt", "--session", "talk.json", "Fill in this form"]);
    let first = ask();
    assert!(
        first.contains("- pdf: ") && first.contains("Fill in the form."),
        "{first}"
    );
    // The model has the listing and the instructions.
    insta::assert_snapshot!(ask(), @"
    ! pdf: trigger `form`; known
    ! request: tier 3, 0 tokens
    ! 0 tokens (estimate); a list of all full descriptions takes 19
    exit 0
    ");
    world.write("//- app/talk.json\nnot a conversation\n");
    insta::assert_snapshot!(ask(), @"
    ! error: Invalid `ROOT/app/talk.json`: not a conversation: expected ident at line 1 column 2
    ! hint: Correct it and try again
    exit 2
    ");
}
