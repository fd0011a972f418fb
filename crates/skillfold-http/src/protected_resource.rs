//! What a client has to know to get a token: the metadata of a protected resource (RFC 9728).

use serde_json::{Value, json};
use skillfold_core::Error;
use skillfold_core::diagnostic::visible;
use ureq::http::Uri;

use crate::address::is_safe;
use crate::token_scope::TokenScope;

/// Where the metadata of a server is.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A server as its clients know it, and who issues tokens for it.
///
/// ```
/// let resource = skillfold_http::ProtectedResource::new("https://skills.example.com/mcp", Some("https://id.example.com"))?;
/// assert_eq!(resource.metadata_paths()[1], "/.well-known/oauth-protected-resource/mcp");
/// # Ok::<(), skillfold_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedResource {
    url: String,
    issuer: Option<String>,
    /// The address without its path, and the path.
    origin: String,
    path: String,
}

impl ProtectedResource {
    /// Creates a resource from the address that clients use, and the identity provider.
    pub fn new(url: &str, issuer: Option<&str>) -> Result<Self, Error> {
        let uri: Option<Uri> = url.parse().ok();
        let invalid = |why: &str| Error::invalid(visible(url), why);
        let uri = uri.ok_or_else(|| invalid("it is no address"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(invalid(
                "the address of the server has to begin with `https://`",
            ));
        };
        if !is_safe(&uri) {
            return Err(invalid(
                "the address of the server has to begin with `https://`, except on the loopback interface",
            ));
        }
        if uri.query().is_some() || url.contains('#') || authority.as_str().contains('@') {
            return Err(invalid(
                "the address of the server has no query, fragment or user",
            ));
        }
        Ok(Self {
            url: url.to_owned(),
            issuer: issuer.map(str::to_owned),
            origin: format!("{scheme}://{authority}"),
            path: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Returns the address that clients use, which tokens name as their audience.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the host that clients use, with its port if it has one.
    pub fn host(&self) -> &str {
        let (_, host) = self.origin.split_once("://").unwrap_or_default();
        host
    }

    /// Returns the paths at which clients look for the metadata.
    pub fn metadata_paths(&self) -> Vec<String> {
        let mut paths = vec![WELL_KNOWN.to_owned()];
        if !self.path.is_empty() {
            paths.push(format!("{WELL_KNOWN}{}", self.path));
        }
        paths
    }

    /// Returns the metadata, for everybody.
    pub fn metadata(&self) -> Value {
        json!({
            "resource": self.url,
            "resource_name": "Skillfold",
            "authorization_servers": self.issuer.iter().collect::<Vec<_>>(),
            "scopes_supported": TokenScope::ALL.map(TokenScope::as_str),
            "bearer_methods_supported": ["header"],
        })
    }

    /// Returns the address of the metadata.
    pub fn metadata_url(&self) -> String {
        format!("{}{WELL_KNOWN}{}", self.origin, self.path)
    }
}
