//! A server over Streamable HTTP, with sessions for the revisions that have them.

use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::Failure;

/// Serves until it is ended or, `with_stdin`, until that ends.
pub async fn serve<S: ServerHandler>(make: fn() -> S, with_stdin: bool) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let service = StreamableHttpService::new(
        move || Ok(make()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    println!("http://{}/mcp", listener.local_addr()?);
    let (mut stdin, mut rest) = (tokio::io::stdin(), Vec::new());
    let mut ended = std::pin::pin!(stdin.read_to_end(&mut rest));
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            _ = &mut ended, if with_stdin => std::process::exit(0),
        };
        let service = TowerToHyperService::new(service.clone());
        // How a connection ends is the client's business.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
