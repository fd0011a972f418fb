//! The live handle to all skills.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use skillfold_calls::{CallError, DiscoverOptions};

use crate::agent::AgentSkills;
use crate::instructions::Instructions;
use crate::promise::{Call, Cancel, Given, in_pool, on_a_thread, or_throw};
use crate::session::Session;
use crate::watcher::Watcher;

/// A live handle to all skills.
#[napi]
pub struct Skills {
    skills: Arc<skillfold_calls::Skills>,
    warnings: Vec<String>,
}

// The macro copies it out of the `impl`.
type Discovery = AsyncTask<Call<Skills>>;

/// A file that comes with the program.
#[napi(object)]
pub struct BundledFile {
    pub path: String,
    pub content: Uint8Array,
}

fn discovered(options: &str, files: Vec<(String, Vec<u8>)>) -> Given<Skills> {
    let options = DiscoverOptions::from_json(options)?.with_files(files);
    let (skills, warnings) = skillfold_calls::Skills::discover(options)?;
    Ok(Skills {
        skills: Arc::new(skills),
        warnings,
    })
}

fn contents(files: Vec<BundledFile>) -> Vec<(String, Vec<u8>)> {
    let files = files.into_iter();
    files
        .map(|file| (file.path, file.content.to_vec()))
        .collect()
}

#[napi]
impl Skills {
    #[napi]
    pub fn discover_sync(options: String, files: Vec<BundledFile>) -> Result<Self> {
        or_throw(discovered(&options, contents(files)))
    }

    #[napi]
    pub fn discover(options: String, files: Vec<BundledFile>) -> Discovery {
        let files = contents(files);
        in_pool(move || discovered(&options, files))
    }

    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    #[napi]
    pub fn for_user(&self) -> Self {
        Self {
            skills: Arc::new(self.skills.for_user()),
            warnings: Vec::new(),
        }
    }

    #[napi(getter)]
    pub fn count(&self) -> u32 {
        u32::try_from(self.skills.count()).unwrap_or(u32::MAX)
    }

    #[napi]
    pub fn has(&self, id: String) -> bool {
        self.skills.has(&id)
    }

    #[napi]
    pub fn ids(&self) -> Vec<String> {
        self.skills.ids()
    }

    #[napi]
    pub fn load_sync(&self, id: String, arguments: String) -> Result<Instructions> {
        or_throw(self.skills.load(&id, &arguments)).map(Instructions::new)
    }

    #[napi]
    pub fn load(&self, id: String, arguments: String) -> AsyncTask<Call<Instructions>> {
        let skills = self.skills.clone();
        in_pool(move || Ok(Instructions::new(skills.load(&id, &arguments)?)))
    }

    #[napi]
    pub fn call_sync(&self, call: String) -> Result<String> {
        or_throw(self.skills.call(&call))
    }

    #[napi]
    pub fn call(&self, call: String) -> AsyncTask<Call<String>> {
        let skills = self.skills.clone();
        in_pool(move || skills.call(&call))
    }

    /// Makes a call that may take long, such as one that fetches.
    #[napi]
    pub fn long_call<'env>(&self, env: &'env Env, call: String) -> Result<Object<'env>> {
        let skills = self.skills.clone();
        on_a_thread(env, move || skills.call(&call))
    }

    #[napi]
    pub fn run_sync(&self, call: String, input: Uint8Array) -> Result<String> {
        let cancel = skillfold::run::Cancel::default();
        or_throw(self.skills.run(&call, input.to_vec(), &cancel))
    }

    #[napi]
    pub fn run<'env>(
        &self,
        env: &'env Env,
        call: String,
        input: Uint8Array,
        cancel: &Cancel,
    ) -> Result<Object<'env>> {
        let (skills, input) = (self.skills.clone(), input.to_vec());
        let cancel = cancel.cancel.clone();
        on_a_thread(env, move || skills.run(&call, input, &cancel))
    }

    #[napi]
    pub fn watch(&self, interval: f64, on_change: Function<'_, String, ()>) -> Result<Watcher> {
        Watcher::start(&self.skills, interval, &on_change)
    }

    #[napi]
    pub fn bind(&self, uses: String) -> Result<AgentSkills> {
        or_throw(self.skills.bind(&uses)).map(AgentSkills::new)
    }

    #[napi]
    pub fn session(&self, options: String) -> Result<Session> {
        or_throw(self.skills.session(&options).map_err(CallError::from)).map(Session::new)
    }
}
