//! Skills that a model may not see, each for another reason, to compare with their absence.

/// The id of the hidden skill.
pub const HIDDEN_ID: &str = "kestrel";

/// A word that is in every text of the hidden skill and nowhere else.
pub const CANARY: &str = "zyzzyva";

/// The settings under which [`hidden_skills`] are hidden.
pub const HIDING_SETTINGS: [(&str, &str); 1] = [("disable", "kestrel-off")];

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

/// Returns the ways in which a skill is hidden from models: a label, and the files to add to [`VISIBLE_SKILLS`].
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
        ("untrusted", skill(ours, HIDDEN_ID, "")),
        (
            "refused",
            format!(
                "//- {0}/SKILL.md\n{CANARY}\n//- {0}/notes.md\n{CANARY}\n",
                mine(HIDDEN_ID)
            ),
        ),
        (
            "refused and untrusted",
            format!("//- {ours}/SKILL.md\n{CANARY}\n//- {ours}/notes.md\n{CANARY}\n"),
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
