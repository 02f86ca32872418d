//! What logging costs a server under load: a real one (hyper on tokio) that answers orders, and
//! whose dependency fails now and then, with each way to log, and clients that measure it.
//!
//! ```text
//! bench-server serve LOG DIRECTORY           prints its address; ends when standard input does, and
//!                                            prints CPU nanoseconds and requests since the first 2,000
//! bench-server load ADDRESS CONNECTIONS REQUESTS   prints requests a second, p50, p99 and p99.9 in ns
//! ```
//!
//! `cargo xtask bench server` runs both by turns.

mod load;
mod logs;
mod server;

use std::env;
use std::path::Path;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", log, directory] => logs::serve(log, Path::new(directory)),
        ["load", address, connections, requests] => {
            let connections = connections.parse().expect("a number");
            load::run(address, connections, requests.parse().expect("a number"));
        }
        _ => panic!("usage: bench-server serve LOG DIRECTORY | load ADDRESS CONNECTIONS REQUESTS"),
    }
}
