//! Asks the identity provider, with limits on what it can send.

use std::io::Read as _;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};

use crate::address::is_safe;

/// Maximum size of an answer. Keys and metadata of large providers have about 30 KiB.
const MAX_BYTES: u64 = 512 * 1024;

/// How long an answer may take. Requests wait for it.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Gets a JSON document. Follows no redirects: keys come from the address that the operator named.
pub(crate) fn get_json<T: serde::de::DeserializeOwned>(address: &str) -> Result<T, String> {
    let uri: Uri = address
        .parse()
        .map_err(|_| "it is not an address".to_owned())?;
    if !is_safe(&uri) {
        return Err("it has to begin with `https://`".to_owned());
    }
    let config = Agent::config_builder()
        .tls_config(
            TlsConfig::builder()
                .root_certs(RootCerts::PlatformVerifier)
                .build(),
        )
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("skillfold/", env!("CARGO_PKG_VERSION")))
        .accept("application/json")
        .accept_encoding("identity")
        .timeout_global(Some(TIMEOUT));
    let request = config.build().new_agent().get(uri);
    let mut response = request.call().map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(format!("the server answered {status}"));
    }
    let mut bytes = Vec::new();
    let mut body = response.body_mut().as_reader().take(MAX_BYTES + 1);
    body.read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("the answer has more than {} KiB", MAX_BYTES / 1024));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| format!("the answer is not as expected: {error}"))
}
