//! Skills that a model may not see, each for a different reason, to compare with their absence.

use std::path::Path;

/// The hidden skill's id.
pub const HIDDEN_ID: &str = "kestrel";

/// A word in every text of the hidden skill and nowhere else.
pub const CANARY: &str = "zyzzyva";

/// The settings under which [`hidden_skills`] are hidden.
pub const HIDING_SETTINGS: [(&str, &str); 3] = [
    ("disable", "kestrel-off"),
    ("new_skills", "hold"),
    ("version_mismatch", "hide"),
];

/// The folders of the skills the user has accepted. Others are held back.
const ACCEPTED_FOLDERS: [&str; 4] = [
    "person/.agents/skills/heron",
    "person/.agents/skills/plover",
    "person/.agents/skills/kestrel",
    "person/app/.agents/skills/kestrel",
];

/// The user's skills that a model may see. One of them requires the hidden one.
pub const VISIBLE_SKILLS: &str = "
    //- person/app/.git/HEAD
    //- person/.agents/skills/heron/SKILL.md
    ---
    name: heron
    description: Watches birds at the lake
    requires: [kestrel]
    ---
    Watch birds. Load kestrel first.
    //- person/.agents/skills/heron/notes.md
    Notes
    //- person/.agents/skills/plover/SKILL.md
    ---
    name: plover
    description: Counts birds on the beach
    triggers: [count birds]
    ---
    Count birds.
";

/// Returns the user's list of accepted skills, as a file to add to those in `folder`.
pub fn accepted_list(folder: &Path) -> String {
    let folder = folder.canonicalize().expect("the folder is there");
    let entries = ACCEPTED_FOLDERS.map(|path| {
        let path = folder.join(path);
        format!("[[folder]]\npath = {:?}\n", path.to_string_lossy())
    });
    format!(
        "//- person/.local/state/skillfold/trusted_skills.toml\nformat = 1\n{}",
        entries.concat()
    )
}

/// Returns the ways to hide a skill from models: a label, and the files to add to [`VISIBLE_SKILLS`].
///
/// The skill would otherwise be found by its id, folder name, words, tags and triggers.
pub fn hidden_skills() -> Vec<(&'static str, String)> {
    let skill = |path: &str, name: &str, field: &str| {
        format!(
            "//- {path}/SKILL.md\n---\nname: {name}\ndescription: Hunts birds {CANARY}\ntags: [{CANARY}]\n\
             triggers: [hunt birds]\n{field}\n---\nHunt birds {CANARY}.\n//- {path}/notes.md\n{CANARY}\n"
        )
    };
    let mine = |folder: &str| format!("person/.agents/skills/{folder}");
    let ours = "person/app/.agents/skills/kestrel";
    let people_only = "disable-model-invocation: true";
    vec![
        (
            "people only",
            skill(&mine(HIDDEN_ID), HIDDEN_ID, people_only),
        ),
        (
            "people only by its folder",
            skill(&mine(HIDDEN_ID), "falcon", people_only),
        ),
        ("switched off", skill(&mine(HIDDEN_ID), "kestrel-off", "")),
        ("held", skill(&mine("new"), HIDDEN_ID, "")),
        (
            "incompatible",
            skill(
                &mine(HIDDEN_ID),
                HIDDEN_ID,
                "engines: { skillfold: '>=1000' }",
            ),
        ),
        ("untrusted", skill(ours, HIDDEN_ID, "")),
        (
            "refused",
            format!(
                "//- {0}/SKILL.md\n\0{CANARY}\n//- {0}/notes.md\n{CANARY}\n",
                mine(HIDDEN_ID)
            ),
        ),
        (
            "refused and untrusted",
            format!("//- {ours}/SKILL.md\n\0{CANARY}\n//- {ours}/notes.md\n{CANARY}\n"),
        ),
    ]
}

/// Returns queries that lead to the hidden skill, or nearly do.
pub fn queries_for_hidden() -> Vec<String> {
    let words = [
        HIDDEN_ID,
        "KESTREL",
        "kestrl",
        "kestrel-off",
        "kestrel-of",
        "falcon",
        "falcn",
        "user:kestrel",
        "project:kestrel",
        "user:falcon",
        "user:.agents/skills/kestrel",
        "project:.agents/skills/kestrel",
        "hunt birds",
    ];
    words.iter().map(ToString::to_string).collect()
}
