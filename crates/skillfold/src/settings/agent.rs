//! The agents that settings name.

use skillfold_core::{Agent, Code, Visibility, nearest, visible};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::key::Row;
use crate::settings::layer::{Layer, one_of};
use crate::settings::value::{RawValue, ValuePlace, entries, expected};
use crate::settings::{Setting, SettingFinding, finding};

/// What can be set of an agent.
const FIELDS: [&str; 2] = ["uses_skills", "sees"];

/// An agent that settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredAgent {
    /// Its id.
    pub id: String,
    /// The skills that it has from the start.
    pub uses_skills: Setting<Vec<String>>,
    /// Which skills it sees.
    pub sees: Setting<Visibility>,
}

impl ConfiguredAgent {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            uses_skills: Setting::default(Vec::new()),
            sees: Setting::default(Visibility::default()),
        }
    }

    /// Returns the agent as the engine has it.
    pub fn agent(&self) -> Agent {
        let skills = self.uses_skills.value.iter();
        Agent::new(&*self.id)
            .with_skills(skills.map(String::as_str))
            .with_visibility(self.sees.value)
    }

    /// Returns what is set of it as text, each with its key and origin. A list has a row for each entry, and one without
    /// a value where it is empty.
    pub(super) fn rows(&self) -> Vec<Row> {
        let key = |field: &str| format!("agents.{}.{field}", visible(&self.id));
        let row = |value: Option<&str>| {
            let origin = self.uses_skills.origin.clone();
            (key("uses_skills"), value.map(str::to_owned), origin)
        };
        let skills = self.uses_skills.value.iter();
        let mut rows: Vec<_> = skills.map(|id| row(Some(id))).collect();
        if rows.is_empty() {
            rows.push(row(None));
        }
        let sees = self.sees.value.to_string();
        rows.push((key("sees"), Some(sees), self.sees.origin.clone()));
        rows
    }
}

/// Reads the tables of agents. What is wrong is reported at its line; an agent with a field that is not usable is left out,
/// so that it does not see more than it was meant to.
pub(super) fn read(
    layer: &mut Layer,
    written: RawValue<'_>,
    place: &ValuePlace<'_>,
) -> Result<(), String> {
    let RawValue::Toml(value) = written else {
        return Err("agents are tables, and are set in the user's file only".to_owned());
    };
    for (id, value) in entries(table(value)?) {
        let place = place.at(id.span());
        let mut agent = ConfiguredAgent::new(id.get_ref());
        let errors = match table(value.get_ref()) {
            Ok(fields) => take(layer, &mut agent, fields, &place),
            Err(why) => vec![unusable(&format!("agents.{}", agent.id), &why, &place)],
        };
        if errors.is_empty() {
            layer.agents.push(agent);
        }
        for error in errors {
            layer.report(error);
        }
    }
    Ok(())
}

fn table<'a>(value: &'a DeValue<'a>) -> Result<&'a DeTable<'a>, String> {
    value.as_table().ok_or_else(|| expected("a table", value))
}

/// Takes the fields of an agent, reports those that are not known, and returns what is not usable.
fn take(
    layer: &mut Layer,
    agent: &mut ConfiguredAgent,
    fields: &DeTable<'_>,
    place: &ValuePlace<'_>,
) -> Vec<SettingFinding> {
    let mut errors = Vec::new();
    for (name, value) in entries(fields) {
        let place = place.at(name.span());
        let name = &**name.get_ref();
        if !FIELDS.contains(&name) {
            layer.report(unknown(&agent.id, name, &place));
        } else if let Err(why) = set(agent, name, value, &place) {
            let key = format!("agents.{}.{name}", agent.id);
            errors.push(unusable(&key, &why, &place));
        }
    }
    errors
}

fn set(
    agent: &mut ConfiguredAgent,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    place: &ValuePlace<'_>,
) -> Result<(), String> {
    let written = RawValue::Toml(value.get_ref());
    if name == "sees" {
        let choices = Visibility::ALL.map(|sees| (sees.as_str(), sees));
        agent.sees = place.set(one_of(written, &choices)?);
    } else {
        let ids = written.list(',')?.into_iter();
        let ids = ids.map(|id| Ok(id.text()?.trim().to_owned()));
        agent.uses_skills = place.set(ids.collect::<Result<_, String>>()?);
    }
    Ok(())
}

fn unknown(id: &str, name: &str, place: &ValuePlace<'_>) -> SettingFinding {
    let key = format!("agents.{id}.{name}");
    let message = match nearest(name, FIELDS, 1).first() {
        Some(meant) => format!("Setting `{key}` is not known; did you mean `agents.{id}.{meant}`?"),
        None => format!("Setting `{key}` is not known"),
    };
    finding(Code::UnknownSetting, &place.origin, place.span, message)
}

fn unusable(key: &str, why: &str, place: &ValuePlace<'_>) -> SettingFinding {
    let message = format!("Setting `{key}` is not usable: {why}");
    finding(Code::SettingForm, &place.origin, place.span, message)
}
