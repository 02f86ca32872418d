//! A program of 100,000 calls: how long an operator's search for calls takes, and a rule.
//!
//! ```text
//! cargo bench -p protolog-rt --bench sites
//! ```
//!
//! The notes of the calls are written as constants, since so many log calls would take the compiler
//! minutes.
#![allow(unsafe_code)] // Notes have a section of their own.

use protolog_control::Program;
use protolog_core::control::protocol::Request;
use protolog_core::note::{Note, encode};
use protolog_core::{Level, ParamMask};
use protolog_rt::control::serve_in;
use std::error::Error;
use std::time::{Duration, Instant};

const NOTE: Note<'_> = Note {
    id: 0x0102_0304_0506_0708,
    mask: ParamMask::EMPTY,
    group_id: 7,
    level: Level::Debug,
    place: "app::network::connections",
    file: "src/network/connections.rs",
    line: 42,
    template: "a datagram of so many bytes from another host",
    group: "app::AppLog::Network",
    tag: "Network",
};
const OTHER: Note<'_> = Note { id: 9, template: "one of a hundred thousand", line: 43, ..NOTE };

#[repr(C, align(4))]
struct Notes([[u8; NOTE.size()]; 100_000], [u8; OTHER.size()]);

#[used]
#[unsafe(link_section = ".note.protolog")]
static NOTES: Notes = Notes([encode(&NOTE); 100_000], encode(&OTHER));

/// The time of a request: the shortest of several.
fn time(program: &mut Program, request: &Request<'_>) -> Result<Duration, Box<dyn Error>> {
    let mut shortest = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        program.request(request)?;
        shortest = shortest.min(start.elapsed());
    }
    Ok(shortest)
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = protolog_testkit::temp_dir_for_sockets();
    let server = serve_in(dir.path().join("run"))?;
    let mut program = Program::connect(server.path())?;
    assert_eq!(std::hint::black_box(&NOTES).0.len(), 100_000);
    let (sites, taken) = program.sites("\"hundred thousand\"", 9)?;
    assert_eq!((sites.len(), taken), (1, 1));
    for (what, request) in [
        ("one call by its text", Request::Sites(9, "\"hundred thousand\"")),
        ("one call by its lines", Request::Sites(9, "connections.rs:43-50")),
        ("a call by its id, none found", Request::Sites(9, "#123")),
        ("a rule that takes one call", Request::Set("site connections.rs:43=on")),
        ("it, ended", Request::Set("site connections.rs:43=default")),
        ("a rule that takes all calls", Request::Set("site connections.rs=on")),
        ("it, ended", Request::Set("site connections.rs=default")),
    ] {
        println!("{what}: {:.1} ms", time(&mut program, &request)?.as_secs_f64() * 1e3);
    }
    Ok(())
}
