//! Serves one client over the process's streams.

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::io::duplex;

use crate::server::Server;
use crate::stdio_lines::forward_lines;

/// Buffer size between the task that reads lines and the one that answers them.
const PIPE_BYTES: usize = 64 * 1024;

/// Serves the client that started the process until it closes the stream. Only the protocol is written to stdout.
pub fn stdio(server: Server) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(async {
        let (stdin, stdout) = stdio_pipes();
        let (bounded, pipe) = duplex(PIPE_BYTES);
        tokio::spawn(forward_lines(stdin, pipe));
        let service = match server.serve((bounded, stdout)).await {
            Ok(service) => service,
            // A client that disconnects before the handshake is not an error.
            Err(ServerInitializeError::ConnectionClosed(when)) => {
                tracing::info!(when, "the client disconnected");
                return Ok(());
            }
            Err(error) => return Err(io::Error::other(error)),
        };
        service.waiting().await.map_err(io::Error::other)?;
        Ok(())
    });
    // A normal shutdown would wait for the thread that is blocked on stdin.
    runtime.shutdown_background();
    outcome
}
