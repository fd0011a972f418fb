//! A conversation with a model.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::instructions::Instructions;
use crate::promise::{Call, Cancel, in_pool, on_a_thread, or_throw};

/// A conversation.
#[napi]
pub struct Session {
    session: Arc<skillfold_calls::Session>,
}

impl Session {
    pub fn new(session: skillfold_calls::Session) -> Self {
        Self {
            session: Arc::new(session),
        }
    }
}

#[napi]
impl Session {
    #[napi]
    pub fn turn_sync(&self, message: String) -> String {
        self.session.turn(&message)
    }

    #[napi]
    pub fn turn(&self, message: String) -> AsyncTask<Call<String>> {
        let session = self.session.clone();
        in_pool(move || Ok(session.turn(&message)))
    }

    #[napi]
    pub fn load_sync(&self, id: String, arguments: String) -> Result<Instructions> {
        or_throw(self.session.load(&id, &arguments)).map(Instructions::new)
    }

    #[napi]
    pub fn load(&self, id: String, arguments: String) -> AsyncTask<Call<Instructions>> {
        let session = self.session.clone();
        in_pool(move || Ok(Instructions::new(session.load(&id, &arguments)?)))
    }

    #[napi]
    pub fn call_sync(&self, call: String) -> Result<String> {
        or_throw(self.session.call(&call))
    }

    #[napi]
    pub fn call(&self, call: String) -> AsyncTask<Call<String>> {
        let session = self.session.clone();
        in_pool(move || session.call(&call))
    }

    #[napi]
    pub fn call_tool_sync(&self, name: String, arguments: String, record: bool) -> String {
        let cancel = skillfold::run::Cancel::default();
        self.session.call_tool(&name, &arguments, record, &cancel)
    }

    #[napi]
    pub fn call_tool<'env>(
        &self,
        env: &'env Env,
        name: String,
        arguments: String,
        record: bool,
        cancel: &Cancel,
    ) -> Result<Object<'env>> {
        let (session, cancel) = (self.session.clone(), cancel.cancel.clone());
        on_a_thread(env, move || {
            Ok(session.call_tool(&name, &arguments, record, &cancel))
        })
    }

    #[napi]
    pub fn child(&self, ids: Vec<String>) -> Result<Self> {
        or_throw(self.session.child(&ids)).map(Self::new)
    }
}
