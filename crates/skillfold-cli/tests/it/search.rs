//! `search`

use crate::command::{World, skill};

fn world() -> World {
    let world = World::new("//- app/README.md\nA project\n");
    world.write(&format!(
        "
//- app/.agents/skills/secret/SKILL.md
{}
//- person/.agents/skills/pdf-forms/SKILL.md
{}
//- person/.agents/skills/mail/SKILL.md
{}
",
        skill("secret", "Fills in forms too"),
        skill("pdf-forms", "Fills in forms. Use it for PDF."),
        skill("mail", "Sends mail"),
    ));
    world
}

#[test]
fn search_shows_the_best_skills_with_matched_words_and_confidence() {
    insta::assert_snapshot!(world().run(&["search", "fill", "this", "form"]), @"
    1. pdf-forms  user  possible
       Fills in forms. Use it for PDF.
    ! 2 skills searched, metadata and instructions
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    ");
}

#[test]
fn search_with_all_shows_skill_status() {
    insta::assert_snapshot!(world().run(&["search", "--all", "--limit", "1", "fill a secret form"]), @"
    1. secret  project, untrusted  strong
       Fills in forms too
    ! 3 skills searched, metadata and instructions
    exit 0
    ");
}

#[test]
fn search_without_a_hit_prints_a_hint() {
    insta::assert_snapshot!(world().run(&["search", "what is the weather like?"]), @"
    ! no skill matches; `skillfold list` shows all skills
    ! 2 skills searched, metadata and instructions
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    ");
}
