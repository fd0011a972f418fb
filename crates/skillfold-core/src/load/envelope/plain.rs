//! Envelopes without tags.

use crate::diagnostic::visible;

use super::parts::{EnvelopeParts, LoadFailure};
use super::sentences::{end_line, join_values, requires_sentence};

/// Renders a line with the skill's folder, then the body.
pub(super) fn plain(parts: &EnvelopeParts<'_>) -> String {
    let mut text = String::with_capacity(parts.body.len() + 256);
    push_content(parts, &mut text);
    text
}

/// Renders a line with the id and the size, then the same as [`plain`], then the required skills.
pub(super) fn read_skill(parts: &EnvelopeParts<'_>) -> String {
    let mut text = format!(
        "Skill loaded: {} (approx. {} tokens)\n\n",
        visible(parts.id),
        parts.tokens
    );
    text.reserve(parts.body.len() + 256);
    push_content(parts, &mut text);
    if let Some(requirement) = requires_sentence(parts, visible) {
        end_line(&mut text);
        if !parts.body.is_empty() {
            text.push('\n');
        }
        text.push_str(&requirement);
    }
    text
}

/// Renders the message, the hint and the nearest ids of a failure, each on its own line.
pub(super) fn error(failure: &LoadFailure<'_>) -> String {
    let mut text = format!("Error: {}", visible(failure.message));
    if !failure.hint.is_empty() {
        text.push('\n');
        text.push_str(&visible(failure.hint));
    }
    if !failure.nearest.is_empty() {
        let nearest = join_values(failure.nearest.iter().copied(), visible);
        text.push_str("\nDid you mean: ");
        text.push_str(&nearest);
        text.push('?');
    }
    text
}

fn push_content(parts: &EnvelopeParts<'_>, text: &mut String) {
    if let Some(base_dir) = parts.base_dir {
        text.push_str("Base directory for this skill: ");
        text.push_str(&visible(base_dir));
        text.push_str("\n\n");
    }
    text.push_str(parts.body);
}
