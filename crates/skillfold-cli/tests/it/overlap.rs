//! `overlap`

use crate::command::World;

fn world() -> World {
    World::new(
        r"
        //- person/.agents/skills/pdf-forms/SKILL.md
        ---
        name: pdf-forms
        description: Fills in PDF forms and checks each field of the form.
        triggers: [tax form]
        ---
        Fill it in.
        //- person/.agents/skills/form-filler/SKILL.md
        ---
        name: form-filler
        description: Fills in forms, such as PDF forms, field by field.
        triggers: [tax form]
        ---
        Fill it in.
        //- person/.agents/skills/stars/SKILL.md
        ---
        name: stars
        description: Draws a map of the stars.
        ---
        Draw it.
        //- person/.agents/skills/stars-copy/SKILL.md
        ---
        name: stars-copy
        description: Draws a map of the stars.
        ---
        Draw it.
        //- app/.agents/skills/forms/SKILL.md
        ---
        name: forms
        description: Fills in PDF forms.
        ---
        Fill it in.
        ",
    )
}

#[test]
fn overlap_explains_the_cause_and_the_fix() {
    insta::assert_snapshot!(world().run(&["overlap"]), @"
    stars and stars-copy
       2 copies: description, triggers and instructions are the same
       hint: keep one; remove the others, or name them in the setting `disable`
    1. form-filler and pdf-forms
       both have the trigger `tax form`
       both mention: form, field, pdf, fills, tax
       hint: remove the triggers from one of them
    ! 4 skills compared: 1 pair competes, 1 group of copies
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    ");
}

#[test]
fn long_overlap_output_is_truncated_with_a_note() {
    insta::assert_snapshot!(world().run(&["overlap", "--limit", "1", "--trust-project"]), @r#"
    stars and stars-copy
       2 copies: description, triggers and instructions are the same
       hint: keep one; remove the others, or name them in the setting `disable`
    1. forms and pdf-forms
       a request in the words of `forms` finds `pdf-forms` first: "Fills in PDF forms."
       both mention: forms, pdf, fills
       hint: merge them, or name one in the setting `disable`
    ! 5 skills compared: 2 pairs compete, 1 group of copies
    ! 1 pair not shown; `--limit` shows more
    exit 0
    "#);
}

#[test]
fn overlap_of_a_named_skill_works_even_if_hidden_from_models() {
    insta::assert_snapshot!(world().run(&["overlap", "forms", "--json"]), @r#"
    {
      "view": 2,
      "kind": "overlap",
      "pairs": [
        {
          "first": "forms",
          "second": "pdf-forms",
          "similarity": 0.635,
          "words": [
            "forms",
            "pdf",
            "fills"
          ],
          "tied": false,
          "second_is": "ahead",
          "first_request": "Fills in PDF forms.",
          "first_is": "behind"
        }
      ],
      "copies": [],
      "competing": 1,
      "copy_groups": 0,
      "compared": 5,
      "unasked": 0
    }
    ! 1 skill is withheld: the project is not trusted. Trust it with `skillfold trust`, or for this run with `--trust-project`
    exit 0
    "#);
    insta::assert_snapshot!(world().run(&["overlap", "stras"]), @"
    ! error: There is no skill `stras`
    ! hint: Did you mean `stars` or `stars-copy`?
    exit 3
    ");
}
