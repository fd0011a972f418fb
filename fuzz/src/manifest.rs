//! Any text between the fences: what is read keeps its promises, whichever reader looks first.

use skillfold_core::Limits;
use skillfold_core::read::{FrontmatterReader, parse_with};

pub(crate) fn run(text: &str) {
    let file = format!("---\nname: a\ndescription: b\n{text}\n---\n");
    let read = |reader| parse_with(file.as_bytes(), "a", reader, &Limits::default());
    let (lines, yaml) = (
        read(FrontmatterReader::Lines),
        read(FrontmatterReader::Yaml),
    );
    assert_eq!(lines.manifest, yaml.manifest, "the readers differ");
    assert_eq!(
        (lines.body_start, lines.repaired),
        (yaml.body_start, yaml.repaired),
        "the readers differ"
    );
    let Some(manifest) = lines.manifest else {
        return;
    };
    let brief = manifest.brief();
    assert!(
        brief.chars().count() <= 80 && !brief.contains('\n'),
        "a brief that is no line"
    );
    assert!(
        !manifest.name().as_str().contains(['/', '\\', '\n']),
        "a name that could be a path"
    );
    for list in [
        manifest.tags(),
        manifest.requires(),
        manifest.allowed_tools(),
        manifest.toolsets(),
    ] {
        assert!(
            list.iter().all(|entry| !entry.trim().is_empty()),
            "an empty entry"
        );
    }
}
