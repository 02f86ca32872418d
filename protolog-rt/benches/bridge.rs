//! What calls of `log` and `tracing` cost through the bridges, off and on, beside the same calls without them.
//!
//! ```text
//! cargo bench -p protolog-rt --features log,tracing --bench bridge
//! ```
//!
//! Each candidate runs in a process of its own, since a logger and a subscriber are set once. The floor is the call where
//! there is no logger or subscriber; the peer is tracing-subscriber's `fmt`, with a filter, into nothing. Figures are the
//! fastest of several rounds of a loop: what else the machine does makes rounds slower, never faster.

use protolog_rt::{Init, Level, ProtoLogGroup, Session, bridge, d, i};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

#[derive(ProtoLogGroup)]
enum Log {
    Bench,
}

/// What a process sets up before it measures.
#[derive(Clone, Copy)]
enum Setup {
    Nothing,
    /// The bridge, in a program that operators can switch (`init`), or not; with a session that wants INFO, or none.
    Bridge {
        shared: bool,
        session: bool,
    },
    /// tracing-subscriber's own, with this filter.
    Fmt(&'static str),
}

/// A call in a loop.
type Call = fn(u64);

const ROUNDS: usize = 15;
const OFF: u64 = 5_000_000;
const ON: u64 = 100_000;

const BRIDGE: Setup = Setup::Bridge { shared: false, session: false };
const WITH_SESSION: Setup = Setup::Bridge { shared: false, session: true };
const SHARED: Setup = Setup::Bridge { shared: true, session: true };

const CANDIDATES: [(&str, Setup, u64, Call); 16] = [
    ("protolog, off", WITH_SESSION, OFF, |n| d!(Log::Bench, "sent %d bytes", n)),
    ("log, off: no logger", Setup::Nothing, OFF, |n| log::debug!("sent {n} bytes")),
    ("log, off: bridge, no session", BRIDGE, OFF, |n| log::debug!("sent {n} bytes")),
    ("log, off: bridge, session wants INFO", WITH_SESSION, OFF, |n| log::debug!("sent {n} bytes")),
    ("log, off: bridge, switchable (`init`)", SHARED, OFF, |n| log::debug!("sent {n} bytes")),
    ("tracing, off: no subscriber", Setup::Nothing, OFF, |n| tracing::debug!(n, "sent")),
    ("tracing, off: bridge, no session", BRIDGE, OFF, |n| tracing::debug!(n, "sent")),
    ("tracing, off: bridge, session wants INFO", WITH_SESSION, OFF, |n| tracing::debug!(n, "sent")),
    ("tracing, off: bridge, switchable (`init`)", SHARED, OFF, |n| tracing::debug!(n, "sent")),
    ("tracing, off: `fmt`, EnvFilter `off`", Setup::Fmt("off"), OFF, |n| {
        tracing::debug!(n, "sent");
    }),
    ("tracing, off: `fmt`, EnvFilter `info`", Setup::Fmt("info"), OFF, |n| {
        tracing::debug!(n, "sent");
    }),
    ("protolog, on", WITH_SESSION, ON, |n| i!(Log::Bench, "sent %d bytes", n)),
    ("log, on: bridge", WITH_SESSION, ON, |n| log::info!("sent {n} bytes")),
    ("tracing, on: bridge", WITH_SESSION, ON, |n| tracing::info!(n, "sent")),
    ("tracing, on: bridge, switchable (`init`)", SHARED, ON, |n| tracing::info!(n, "sent")),
    ("tracing, on: `fmt` into nothing", Setup::Fmt("info"), ON, |n| tracing::info!(n, "sent")),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [number] = &words[..] {
        let number: usize = number.parse().expect("a candidate's number");
        return measure(number);
    }
    println!("| | ns |\n|---|--:|");
    for (number, (name, ..)) in CANDIDATES.iter().enumerate() {
        let own = std::env::current_exe().expect("the bench's own path");
        let output = Command::new(own).arg(number.to_string()).output().expect("run it again");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        println!("| {name} | {} |", String::from_utf8_lossy(&output.stdout).trim());
    }
}

/// Prints the nanoseconds of a call of one candidate.
fn measure(number: usize) {
    let (_, setup, turns, call) = CANDIDATES[number];
    let directory = std::env::temp_dir().join(format!("protolog-bridge-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("make a directory");
    let session = set_up(setup, &directory);
    let round = || {
        let begun = Instant::now();
        for turn in 0..turns {
            call(black_box(turn));
        }
        let taken = begun.elapsed();
        // What was written goes to the file before the next round, so that there is room.
        if let Some(session) = &session {
            session.flush().expect("flush");
        }
        taken
    };
    let fastest = (0..ROUNDS).map(|_| round()).min().unwrap_or(Duration::ZERO);
    println!("{:.1}", fastest.as_nanos() as f64 / turns as f64);
    if let Some(session) = session {
        let summary = session.stop().expect("stop");
        let logged = if turns == ON { ON * ROUNDS as u64 } else { 0 };
        assert_eq!((summary.messages, summary.lost()), (logged, 0), "what was on was logged");
    }
    std::fs::remove_dir_all(directory).expect("remove the directory");
}

fn set_up(setup: Setup, directory: &std::path::Path) -> Option<Session> {
    match setup {
        Setup::Nothing => None,
        Setup::Fmt(filter) => {
            let layer = fmt::layer().with_writer(std::io::sink).with_ansi(false);
            let filter = EnvFilter::new(filter);
            tracing_subscriber::registry().with(filter).with(layer).init();
            None
        }
        Setup::Bridge { shared, session } => {
            if shared {
                let control =
                    Init::new().persistent_settings(false).directory(directory.join("control"));
                control.start().expect("listen");
            }
            bridge::install_log().expect("there is no other logger");
            tracing_subscriber::registry().with(bridge::tracing_layer()).init();
            session.then(|| {
                let session = Session::builder().file(directory.join("bench.pftrace"));
                // Room for a round, so that nothing is lost.
                session.log_from(Level::Info).buffer_size(32 << 20).start().expect("start")
            })
        }
    }
}
