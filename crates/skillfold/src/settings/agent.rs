//! Agents defined in the settings.

use skillfold_core::Agent;
use skillfold_core::bind::Visibility;

use crate::settings::setting::Setting;
use crate::settings::tables::NamedTable;
use crate::settings::value::{RawValue, ValueContext, one_of};

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
    /// Returns the engine's agent.
    pub fn agent(&self) -> Agent {
        let skills = self.uses_skills.value.iter();
        Agent::new(&*self.id)
            .with_skills(skills.map(String::as_str))
            .with_visibility(self.sees.value)
    }
}

impl NamedTable for ConfiguredAgent {
    const KEY: &'static str = "agents";
    const FIELDS: &'static [&'static str] = &["uses_skills", "sees"];

    fn new(name: &str, _: &ValueContext<'_>) -> Self {
        Self {
            id: name.to_owned(),
            uses_skills: Setting::default(Vec::new()),
            sees: Setting::default(Visibility::default()),
        }
    }

    fn set(
        &mut self,
        field: &str,
        value: RawValue<'_>,
        context: &ValueContext<'_>,
    ) -> Result<(), String> {
        if field == "sees" {
            let choices = Visibility::ALL.map(|sees| (sees.as_str(), sees));
            self.sees = context.setting(one_of(value, &choices)?);
        } else {
            self.uses_skills = context.setting(value.words()?);
        }
        Ok(())
    }
}
