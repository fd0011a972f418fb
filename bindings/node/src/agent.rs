//! The skills as one agent sees them.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::instructions::Instructions;
use crate::promise::{Call, in_pool, or_throw};
use crate::session::Session;

/// The skills as one agent sees them.
#[napi]
pub struct AgentSkills {
    agent: Arc<skillfold_calls::AgentSkills>,
}

impl AgentSkills {
    pub fn new(agent: skillfold_calls::AgentSkills) -> Self {
        Self {
            agent: Arc::new(agent),
        }
    }
}

#[napi]
impl AgentSkills {
    #[napi(getter)]
    pub fn id(&self) -> &str {
        self.agent.id()
    }

    #[napi]
    pub fn ids(&self) -> Vec<String> {
        self.agent.ids()
    }

    #[napi]
    pub fn narrow(&self, uses: String) -> Result<Self> {
        or_throw(self.agent.narrow(&uses)).map(Self::new)
    }

    #[napi]
    pub fn session(&self, options: String) -> Result<Session> {
        or_throw(self.agent.session(&options)).map(Session::new)
    }

    #[napi]
    pub fn load_sync(&self, id: String, arguments: String) -> Result<Instructions> {
        or_throw(self.agent.load(&id, &arguments)).map(Instructions::new)
    }

    #[napi]
    pub fn load(&self, id: String, arguments: String) -> AsyncTask<Call<Instructions>> {
        let agent = self.agent.clone();
        in_pool(move || Ok(Instructions::new(agent.load(&id, &arguments)?)))
    }

    #[napi]
    pub fn call_sync(&self, call: String) -> Result<String> {
        or_throw(self.agent.call(&call))
    }

    #[napi]
    pub fn call(&self, call: String) -> AsyncTask<Call<String>> {
        let agent = self.agent.clone();
        in_pool(move || agent.call(&call))
    }
}
