//! `skillfold load`, `files` and `read`.

use crate::command::{World, skillfold};

const TREE: &str = "
    //- person/.agents/skills/pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    ---
    Read references/forms.md for $ARGUMENTS.
    //- person/.agents/skills/pdf/references/forms.md
    Forms
    //- person/.agents/skills/pdf/LICENSE
    MIT
    //- person/.agents/skills/broken/SKILL.md
    \0 is not text
    //- app/.agents/skills/ours/SKILL.md
    ---
    name: ours
    description: Of the project
    ---
    Ours.
";

#[test]
fn load_prints_what_a_model_gets() {
    let world = World::new(TREE);
    insta::assert_snapshot!(world.run(&["load", "pdf", "two", "words.pdf"]), @"
    Base directory for this skill: ROOT/person/.agents/skills/pdf

    Read references/forms.md for two words.pdf.
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["load", "pdf", "--envelope", "read_skill", "--", "--flag"]), @"
    Skill loaded: pdf (approx. 10 tokens)

    Base directory for this skill: ROOT/person/.agents/skills/pdf

    Read references/forms.md for --flag.
    exit 0
    ");
}

#[test]
fn required_skills_are_printed_before_those_that_require_them() {
    let world = World::new(
        "
        //- person/.agents/skills/a/SKILL.md
        ---
        name: a
        description: d
        requires: [b, none]
        ---
        Do a.
        //- person/.agents/skills/b/SKILL.md
        ---
        name: b
        description: d
        requires: [a]
        ---
        Do b.
        ",
    );
    insta::assert_snapshot!(world.run(&["load", "a", "--required"]), @"
    Base directory for this skill: ROOT/person/.agents/skills/b

    Do b.

    Base directory for this skill: ROOT/person/.agents/skills/a

    Do a.
    ! warning[SF804]: Skills require each other: `a` > `b` > `a`
    ! hint: Remove one of the requirements
    ! warning[SF803]: `a` requires `none`, which does not exist
    ! hint: Install or enable it, or correct the id under `requires`
    exit 0
    ");
}

#[test]
fn failed_load_says_why() {
    let world = World::new(TREE);
    insta::assert_snapshot!(world.run(&["load", "pfd"]), @"
    ! error: There is no skill `pfd`
    ! hint: Did you mean `pdf`?
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["load", "broken"]), @"
    ! error: `broken` is not a valid skill
    !   error[SF009] at 1:1: File is not encoded as UTF-8
    !   hint: Save the file as UTF-8
    exit 1
    ");
    insta::assert_snapshot!(world.run(&["load", "ours"]), @"
    ! error: Refused to open `ours`
    ! hint: The skill's folder is not trusted; review the skill, then trust its project with `skillfold trust`
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["load", "ours", "--trust-project"]), @"
    Base directory for this skill: ROOT/app/.agents/skills/ours

    Ours.
    exit 0
    ");
}

#[test]
fn files_are_listed_with_size_and_kind() {
    let world = World::new(TREE);
    insta::assert_snapshot!(world.run(&["files", "pdf"]), @"
             6  text         * references/forms.md
             4  text           LICENSE
            87  instructions   SKILL.md
    ! 3 of 3 files, 1 (*) named in the instructions
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["files", "pdf", "--limit", "1"]), @"
             6  text         * references/forms.md
    ! 1 of 3 files, 1 (*) named in the instructions
    ! Continue with `--after references/forms.md`
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["files", "pdf", "--after", "references/forms.md"]), @"
             4  text           LICENSE
            87  instructions   SKILL.md
    ! 2 of 3 files, 0 (*) named in the instructions
    exit 0
    ");
}

#[test]
fn read_prints_a_file_or_a_part_of_it() {
    let world = World::new(TREE);
    insta::assert_snapshot!(world.run(&["read", "pdf", "references/forms.md"]), @"
    Forms
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["read", "pdf", "references/forms.md", "--range", "1..3"]), @"
    or! Bytes 1 to 3 of 6; continue with `--range 3..`
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["read", "pdf", "references/none.md"]), @"
    ! error: Could not find `pdf/references/none.md`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["read", "pdf", "../broken/SKILL.md"]), @"
    ! error: Refused to open `../broken/SKILL.md`
    ! hint: Path traversal detected
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["read", "pdf", "LICENSE", "--range", "x"]), @"
    ! error: invalid value 'x' for '--range <RANGE>': not written as START..END
    ! 
    ! For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn piped_bytes_are_the_bytes_of_the_file() {
    let world = World::new(TREE);
    let bytes = b"\x1b[31mred\x1b[0m \xff\x00\r\n";
    let file = world.path("person/.agents/skills/pdf/raw.bin");
    std::fs::write(file, bytes).unwrap();
    let output = skillfold(&world.path("app"), &world.path("person"))
        .args(["read", "pdf", "raw.bin"])
        .output()
        .unwrap();
    assert_eq!(output.stdout, bytes);
}
