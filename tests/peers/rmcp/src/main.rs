//! A client and a server on rmcp, the official Rust SDK, and both as the official conformance suite wants them.
//!
//!     rmcp-peer client [--era auto] SESSION.json -- COMMAND…
//!     rmcp-peer client [--era auto] --url URL SESSION.json
//!     rmcp-peer server [--http]
//!     rmcp-peer conformance-server
//!     rmcp-peer conformance-client URL
//!
//! A server over HTTP listens on a free port of the loopback interface and prints its URL in one line on stdout; that of
//! the suite ends with its stdin.
//! Exit codes: 0 the session was played or served to its end; 1 it was not.

mod client;
mod conformance_client;
mod conformance_server;
mod http;
mod server;

use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

/// A type of the SDK from its JSON.
fn made<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// A result of the SDK from its JSON. The SDK drops 'resultType' for clients of the older revisions.
fn result<T: serde::de::DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = "complete".into();
    made(value)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["client", ref rest @ ..] => client::run(rest).await,
        ["server"] => server::on_stdio().await,
        ["server", "--http"] => http::serve(server::Common::default, false).await,
        ["conformance-server"] => http::serve(conformance_server::Conformance::default, true).await,
        ["conformance-client", url] => conformance_client::run(url).await,
        _ => Err("usage: rmcp-peer client|server|conformance-server|conformance-client …".into()),
    }
}
