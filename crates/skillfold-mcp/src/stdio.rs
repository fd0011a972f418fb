//! One client, by the streams of the process.

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::io::duplex;

use crate::server::Server;
use crate::stdio_lines::bound;

/// Bytes between the one that reads lines and the one that answers them.
const PIPE: usize = 64 * 1024;

/// Serves the client that started the process, until it closes the stream. Nothing but the protocol is written to stdout.
pub fn stdio(server: Server) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(async {
        let (stdin, stdout) = stdio_pipes();
        let (bounded, pipe) = duplex(PIPE);
        tokio::spawn(bound(stdin, pipe));
        let service = match server.serve((bounded, stdout)).await {
            Ok(service) => service,
            // A client that leaves before it said a word has asked for nothing.
            Err(ServerInitializeError::ConnectionClosed(when)) => {
                tracing::info!(when, "the client left");
                return Ok(());
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        service.waiting().await.map_err(io::Error::other)?;
        Ok(())
    });
    // A thread that waits for input would be waited for.
    runtime.shutdown_background();
    outcome
}
