//! Lists of named tables in the settings: agents and identities.

use skillfold_core::Code;
use skillfold_core::catalog::nearest;
use toml::de::{DeTable, DeValue};

use crate::settings::findings::LayerFindings;
use crate::settings::value::{RawValue, ValueContext, expected, ordered_entries};

/// A named table of settings.
pub(super) trait NamedTable {
    /// The key of the list.
    const KEY: &'static str;
    /// The fields of a table.
    const FIELDS: &'static [&'static str];

    /// Creates a table without settings, by the name that the file gives it.
    fn new(name: &str, context: &ValueContext<'_>) -> Self;

    /// Sets a field.
    fn set(
        &mut self,
        field: &str,
        value: RawValue<'_>,
        context: &ValueContext<'_>,
    ) -> Result<(), String>;
}

/// Reads the tables in the order of the file. Problems are reported at their lines. A table with an invalid field is left out,
/// so that it does not allow more than intended.
pub(super) fn read<T: NamedTable>(
    findings: &mut LayerFindings,
    value: RawValue<'_>,
    context: &ValueContext<'_>,
) -> Result<Vec<T>, String> {
    let RawValue::Toml(value) = value else {
        let key = T::KEY;
        return Err(format!(
            "{key} are tables, and are set in the user's file only"
        ));
    };
    let mut tables = Vec::new();
    for (name, value) in ordered_entries(as_table(value)?) {
        let context = context.at_span(name.span());
        let name = &**name.get_ref();
        let mut table = T::new(name, &context);
        let is_usable = match as_table(value.get_ref()) {
            Ok(fields) => read_fields(findings, &mut table, name, fields, &context),
            Err(why) => {
                unusable(findings, &format!("{}.{name}", T::KEY), &why, &context);
                false
            }
        };
        if is_usable {
            tables.push(table);
        }
    }
    Ok(tables)
}

fn as_table<'a>(value: &'a DeValue<'a>) -> Result<&'a DeTable<'a>, String> {
    value.as_table().ok_or_else(|| expected("a table", value))
}

/// Reads the fields of a table, and reports unknown and invalid ones. Returns whether none is invalid.
fn read_fields<T: NamedTable>(
    findings: &mut LayerFindings,
    table: &mut T,
    name: &str,
    fields: &DeTable<'_>,
    context: &ValueContext<'_>,
) -> bool {
    let mut is_usable = true;
    for (field, value) in ordered_entries(fields) {
        let context = context.at_span(field.span());
        let field = &**field.get_ref();
        let key = format!("{}.{name}.{field}", T::KEY);
        if !T::FIELDS.contains(&field) {
            let known = nearest(field, T::FIELDS.iter().copied(), 1);
            let message = match known.first() {
                Some(known) => {
                    format!(
                        "Setting `{key}` is not known; did you mean `{}.{name}.{known}`?",
                        T::KEY
                    )
                }
                None => format!("Setting `{key}` is not known"),
            };
            findings.push(context.finding(Code::UnknownSetting, message));
        } else if let Err(why) = table.set(field, RawValue::Toml(value.get_ref()), &context) {
            unusable(findings, &key, &why, &context);
            is_usable = false;
        }
    }
    is_usable
}

fn unusable(findings: &mut LayerFindings, key: &str, why: &str, context: &ValueContext<'_>) {
    let message = format!("Setting `{key}` is not usable: {why}");
    findings.push(context.finding(Code::SettingForm, message));
}
