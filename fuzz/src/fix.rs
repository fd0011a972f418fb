//! Correcting a file changes nothing that the skill says, and nothing the second time.

use skillfold_core::author::fix;
use skillfold_core::read::{Profile, parse};

pub(crate) fn run(text: &str) {
    let file = format!("---\nname: a\ndescription: b\n{text}\n---\nDo it.\r\n");
    let bytes = file.as_bytes();
    for profile in [Profile::Lenient, Profile::Spec] {
        let Some(fixed) = fix(bytes, "a", profile).bytes else {
            continue;
        };
        let (before, after) = (parse(bytes, "a"), parse(&fixed, "a"));
        if profile == Profile::Lenient {
            assert_eq!(before.manifest, after.manifest);
        }
        assert_eq!(before.manifest.is_some(), after.manifest.is_some());
        let body = |bytes: &[u8], at: Option<usize>| {
            let body = String::from_utf8_lossy(at.map_or(bytes, |at| &bytes[at..])).into_owned();
            body.replace("\r\n", "\n")
        };
        if before.manifest.is_some() {
            assert_eq!(
                body(bytes, before.body_start),
                body(&fixed, after.body_start)
            );
        }
        assert_eq!(fix(&fixed, "a", profile).bytes, None);
    }
}
