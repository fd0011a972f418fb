//! Loaded instructions.

use std::sync::Arc;

use napi_derive::napi;

/// The instructions of a skill. Nothing is copied until it is asked for.
#[napi]
pub struct Instructions {
    loaded: Arc<skillfold::core::load::Instructions>,
}

impl Instructions {
    pub fn new(loaded: Arc<skillfold::core::load::Instructions>) -> Self {
        Self { loaded }
    }
}

#[napi]
impl Instructions {
    #[napi(getter)]
    pub fn id(&self) -> &str {
        self.loaded.id()
    }

    #[napi(getter)]
    pub fn name(&self) -> &str {
        self.loaded.manifest().name().as_str()
    }

    #[napi(getter)]
    pub fn description(&self) -> &str {
        self.loaded.manifest().description()
    }

    #[napi(getter)]
    pub fn text(&self) -> &str {
        self.loaded.text()
    }

    #[napi(getter)]
    pub fn body(&self) -> &str {
        self.loaded.body()
    }

    #[napi(getter)]
    pub fn raw(&self) -> &str {
        self.loaded.raw()
    }

    #[napi(getter)]
    pub fn tokens(&self) -> f64 {
        count(self.loaded.tokens())
    }

    #[napi(getter)]
    pub fn base_dir(&self) -> Option<&str> {
        self.loaded.base_dir()
    }

    #[napi(getter)]
    pub fn requires(&self) -> Vec<String> {
        let requires = self.loaded.requires().iter();
        requires.map(ToString::to_string).collect()
    }

    #[napi(getter)]
    pub fn notes(&self) -> Vec<String> {
        let notes = self.loaded.notes().iter();
        notes.map(ToString::to_string).collect()
    }
}

/// Returns a number of JavaScript.
#[expect(clippy::cast_precision_loss, reason = "no text has 2^53 tokens")]
fn count(count: u64) -> f64 {
    count as f64
}
