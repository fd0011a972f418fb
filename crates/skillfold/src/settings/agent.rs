//! Agents defined in the settings.

use skillfold_core::bind::Visibility;
use skillfold_core::catalog::nearest;
use skillfold_core::{Agent, Code};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::findings::LayerFindings;
use crate::settings::setting::{Setting, SettingFinding};
use crate::settings::value::{RawValue, ValueContext, expected, one_of, ordered_entries};

/// The fields of an agent.
const FIELDS: [&str; 2] = ["uses_skills", "sees"];

/// An agent defined in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredAgent {
    /// The agent's id.
    pub id: String,
    /// The skills whose instructions it starts with.
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

    /// Returns the engine's agent.
    pub fn agent(&self) -> Agent {
        let skills = self.uses_skills.value.iter();
        Agent::new(&*self.id)
            .with_skills(skills.map(String::as_str))
            .with_visibility(self.sees.value)
    }
}

/// Reads the agent tables. Problems are reported at their lines. An agent with an invalid field is left out, so that it
/// does not see more than intended.
pub(super) fn read(
    findings: &mut LayerFindings,
    value: RawValue<'_>,
    context: &ValueContext<'_>,
) -> Result<Vec<ConfiguredAgent>, String> {
    let RawValue::Toml(value) = value else {
        return Err("agents are tables, and are set in the user's file only".to_owned());
    };
    let mut agents = Vec::new();
    for (id, value) in ordered_entries(as_table(value)?) {
        let context = context.at_span(id.span());
        let mut agent = ConfiguredAgent::new(id.get_ref());
        let errors = match as_table(value.get_ref()) {
            Ok(fields) => read_fields(findings, &mut agent, fields, &context),
            Err(why) => vec![unusable_field(
                &format!("agents.{}", agent.id),
                &why,
                &context,
            )],
        };
        if errors.is_empty() {
            agents.push(agent);
        }
        for error in errors {
            findings.push(error);
        }
    }
    Ok(agents)
}

fn as_table<'a>(value: &'a DeValue<'a>) -> Result<&'a DeTable<'a>, String> {
    value.as_table().ok_or_else(|| expected("a table", value))
}

/// Reads the fields of an agent, reports unknown ones, and returns the errors of invalid ones.
fn read_fields(
    findings: &mut LayerFindings,
    agent: &mut ConfiguredAgent,
    fields: &DeTable<'_>,
    context: &ValueContext<'_>,
) -> Vec<SettingFinding> {
    let mut errors = Vec::new();
    for (name, value) in ordered_entries(fields) {
        let context = context.at_span(name.span());
        let name = &**name.get_ref();
        if !FIELDS.contains(&name) {
            findings.push(unknown_field(&agent.id, name, &context));
        } else if let Err(why) = set_field(agent, name, value, &context) {
            let key = format!("agents.{}.{name}", agent.id);
            errors.push(unusable_field(&key, &why, &context));
        }
    }
    errors
}

fn set_field(
    agent: &mut ConfiguredAgent,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    context: &ValueContext<'_>,
) -> Result<(), String> {
    let value = RawValue::Toml(value.get_ref());
    if name == "sees" {
        let choices = Visibility::ALL.map(|sees| (sees.as_str(), sees));
        agent.sees = context.setting(one_of(value, &choices)?);
    } else {
        let ids = value.list(',')?.into_iter();
        let ids = ids.map(|id| Ok(id.text()?.trim().to_owned()));
        agent.uses_skills = context.setting(ids.collect::<Result<_, String>>()?);
    }
    Ok(())
}

fn unknown_field(id: &str, name: &str, context: &ValueContext<'_>) -> SettingFinding {
    let key = format!("agents.{id}.{name}");
    let message = match nearest(name, FIELDS, 1).first() {
        Some(known) => format!("Setting `{key}` is not known; did you mean `agents.{id}.{known}`?"),
        None => format!("Setting `{key}` is not known"),
    };
    context.finding(Code::UnknownSetting, message)
}

fn unusable_field(key: &str, why: &str, context: &ValueContext<'_>) -> SettingFinding {
    let message = format!("Setting `{key}` is not usable: {why}");
    context.finding(Code::SettingForm, message)
}
