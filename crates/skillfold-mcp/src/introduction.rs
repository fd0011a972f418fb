//! What the server keeps of a client's introduction, for the lifetime of the session.

use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, Implementation, InitializeRequestParams};

/// Maximum length of a client's name and of its version, in bytes.
const MAX_BYTES: usize = 256;

/// Refuses a client whose name or version is too long to keep.
pub(crate) fn check_introduction(client: &Implementation) -> Result<(), ErrorData> {
    for (field, text) in [("name", &client.name), ("version", &client.version)] {
        if text.len() > MAX_BYTES {
            let bytes = text.len();
            let reason =
                format!("`clientInfo.{field}` has {bytes} bytes, and the limit is {MAX_BYTES}");
            return Err(ErrorData::invalid_params(reason, None));
        }
    }
    Ok(())
}

/// Returns the parts of an introduction that the server uses: the client's name and version, and whether it supports
/// forms and has roots.
pub(crate) fn used_introduction(request: InitializeRequestParams) -> InitializeRequestParams {
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = request.capabilities.elicitation;
    capabilities.roots = request.capabilities.roots;
    let client = Implementation::new(request.client_info.name, request.client_info.version);
    InitializeRequestParams::new(capabilities, client)
        .with_protocol_version(request.protocol_version)
}
