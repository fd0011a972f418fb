//! Reads the settings of clients.

use std::path::Path;

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use crate::environment::read_user_file;

/// Maximum size of a client's settings.
const MAX_SETTINGS_BYTES: u64 = 8 * 1024 * 1024;

/// Reads a client's settings; `None` if they cannot be read.
pub(super) fn read_settings(file: &Path) -> Option<Value> {
    let text = read_user_file(file, MAX_SETTINGS_BYTES).ok().flatten()?;
    if file
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return serde_json::to_value(toml::from_str::<toml::Table>(&text).ok()?).ok();
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    parsed.ok()?.value.map(Value::from)
}
