//! Calls that run on another thread, and errors that JavaScript gets.

use std::thread;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use skillfold_calls::CallError;

/// What a call gives to JavaScript.
pub(crate) type Given<T> = std::result::Result<T, CallError>;

/// Returns the error whose message is the view of it as JSON: `js/errors.ts` makes the error that people see.
pub fn thrown(error: impl Into<CallError>) -> Error {
    Error::from_reason(error.into().into_json())
}

/// Returns a result, or throws its error.
pub fn or_throw<T>(result: std::result::Result<T, impl Into<CallError>>) -> Result<T> {
    result.map_err(thrown)
}

/// A call on the thread pool of Node.
pub struct Call<T> {
    work: Option<Box<dyn FnOnce() -> Given<T> + Send>>,
}

impl<T: ToNapiValue + TypeName + Send + 'static> Task for Call<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        let work = self.work.take();
        let work = work.ok_or_else(|| Error::from_reason("The call was made before"))?;
        or_throw(work())
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T> {
        Ok(output)
    }
}

/// Makes a call on the thread pool.
pub fn in_pool<T>(
    work: impl FnOnce() -> std::result::Result<T, CallError> + Send + 'static,
) -> AsyncTask<Call<T>>
where
    T: ToNapiValue + TypeName + Send + 'static,
{
    AsyncTask::new(Call {
        work: Some(Box::new(work)),
    })
}

/// Makes a call that may take minutes on a thread of its own: the pool has few threads, and Node reads files with them.
pub fn on_a_thread(
    env: &Env,
    work: impl FnOnce() -> Given<String> + Send + 'static,
) -> Result<Object<'_>> {
    let (deferred, promise) = env.create_deferred()?;
    let run = move || match work() {
        Ok(answer) => deferred.resolve(move |_| Ok(answer)),
        Err(error) => deferred.reject(thrown(error)),
    };
    let started = thread::Builder::new()
        .name("skillfold".to_owned())
        .spawn(run);
    started.map_err(|error| Error::from_reason(error.to_string()))?;
    Ok(promise)
}

/// Ends a script or a tool that runs.
#[napi]
#[derive(Default)]
pub struct Cancel {
    pub(crate) cancel: skillfold::run::Cancel,
}

#[napi]
impl Cancel {
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    #[napi]
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}
