//! Any bytes as a file: parsing never panics, refusals have a place, and every place is inside the file.

use skillfold_core::author::lint;
use skillfold_core::read::{Profile, parse};

pub(crate) fn run(bytes: &[u8]) {
    let parsed = parse(bytes, "folder");
    if parsed.manifest.is_none() {
        assert!(
            parsed
                .diagnostics
                .iter()
                .any(|finding| finding.span.is_some()),
            "a refusal without a place"
        );
    }
    assert!(
        parsed.body_start.is_none_or(|body| body <= bytes.len()),
        "the body starts inside the file"
    );
    let text = String::from_utf8_lossy(bytes);
    for finding in parsed
        .diagnostics
        .iter()
        .chain(&lint(bytes, "folder", Profile::Spec))
    {
        let Some(span) = finding.span else { continue };
        let range = span.bytes_in(&text);
        assert!(text.get(range).is_some(), "a place outside the file");
        assert!(
            !finding.message.contains(|c: char| c.is_control()),
            "a message that could command a terminal"
        );
    }
}
