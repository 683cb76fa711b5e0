//! Validates OATF documents with the official crate.
//!
//!     oatf-peer FILE…
//!
//! Exit codes: 0 all are valid; 1 some are not, and stdout has a line with the reason for each.

use std::{env, fs, process};

fn main() {
    let mut code = 0;
    for path in env::args().skip(1) {
        let text = fs::read_to_string(&path).expect("the file can be read");
        if let Err(errors) = oatf::load(&text) {
            println!("{path}: {errors:?}");
            code = 1;
        }
    }
    process::exit(code);
}
