//! The error for a URI that refers to nothing published.

use rmcp::ErrorData;

use crate::protocol::resources::not_found;

/// Returns the error for a URI that refers to nothing published. It does not say why: the client may not be allowed to
/// know.
pub(super) fn not_served(uri: &str) -> ErrorData {
    let unknown = not_found(uri);
    ErrorData::invalid_params(unknown.message, unknown.data)
}
