//! Runs a command of ThoughtJack 0.4.1, the last version that reads TJ-SPEC-001, or of 0.6.0, which reads OATF.
//!
//!     thoughtjack-peer 0.4.1 -q server validate FILE…
//!     thoughtjack-peer 0.4.1 -q server run --config FILE
//!     thoughtjack-peer 0.6.0 -q validate FILE
//!
//! The words behind the version, the output and the exit code are those of that version's program.

use clap::Parser;
use std::{env, process};
use tokio_util::sync::CancellationToken;

fn exit_with(result: Result<(), (String, i32)>) -> ! {
    let Err((error, code)) = result else { process::exit(0) };
    eprintln!("error: {error}");
    process::exit(code);
}

#[tokio::main]
async fn main() {
    let mut words = env::args().skip(1);
    let version = words.next();
    let words = ["thoughtjack".to_string()].into_iter().chain(words);
    let cancel = CancellationToken::new();
    match version.as_deref() {
        Some("0.4.1") => {
            let cli = early::cli::args::Cli::parse_from(words);
            exit_with(early::cli::commands::dispatch(cli, cancel).await.map_err(|e| (e.to_string(), e.exit_code())));
        }
        Some("0.6.0") => {
            let cli = late::cli::args::Cli::parse_from(words);
            exit_with(late::cli::commands::dispatch(cli, cancel).await.map_err(|e| (e.to_string(), e.exit_code())));
        }
        _ => exit_with(Err(("the first word must be 0.4.1 or 0.6.0".to_string(), 64))),
    }
}
