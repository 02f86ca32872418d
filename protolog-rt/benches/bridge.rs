//! The cost of calls of `log` and `tracing` through the bridges, disabled and enabled, beside the
//! same calls without them.
//!
//! ```text
//! cargo bench -p protolog-rt --features log,tracing --bench bridge
//! ```
//!
//! Each candidate runs in its own process, since a logger and a subscriber are set once. The floor
//! is a call without logger or subscriber; the peer is tracing-subscriber's `fmt` with a filter and
//! a sink that discards. Figures are the fastest of several rounds of a loop, since other load
//! makes rounds slower, never faster.

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

/// The logger, subscriber and session of a candidate.
#[derive(Clone, Copy)]
enum Setup {
    Nothing,
    /// The bridge; `shared` if operators can switch the program (`init`), `session` if a session
    /// enables INFO.
    Bridge {
        shared: bool,
        session: bool,
    },
    /// tracing-subscriber's own, with this filter.
    Fmt(&'static str),
}

/// A call that is measured in a loop; it takes the number of the turn.
type Call = fn(u64);

const ROUNDS: usize = 15;
const OFF: u64 = 5_000_000;
const ON: u64 = 100_000;

const BRIDGE: Setup = Setup::Bridge { shared: false, session: false };
const WITH_SESSION: Setup = Setup::Bridge { shared: false, session: true };
const SHARED: Setup = Setup::Bridge { shared: true, session: true };

const CANDIDATES: [(&str, Setup, u64, Call); 21] = [
    ("protolog, off", WITH_SESSION, OFF, |n| d!(Log::Bench, "sent %d bytes", n)),
    ("log, off: no logger", Setup::Nothing, OFF, |n| log::debug!("sent {n} bytes")),
    ("log, off: bridge, no session", BRIDGE, OFF, |n| log::debug!("sent {n} bytes")),
    ("log, off: bridge, session with INFO", WITH_SESSION, OFF, |n| log::debug!("sent {n} bytes")),
    ("log, off: bridge, switchable (`init`)", SHARED, OFF, |n| log::debug!("sent {n} bytes")),
    ("tracing, off: no subscriber", Setup::Nothing, OFF, |n| tracing::debug!(n, "sent")),
    ("tracing, off: bridge, no session", BRIDGE, OFF, |n| tracing::debug!(n, "sent")),
    ("tracing, off: bridge, session with INFO", WITH_SESSION, OFF, |n| tracing::debug!(n, "sent")),
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
    ("tracing, on: `fmt`, discarded", Setup::Fmt("info"), ON, |n| tracing::info!(n, "sent")),
    ("protolog, on, two arguments", WITH_SESSION, ON, |n| {
        i!(Log::Bench, "sent n=%d bytes=%d", n = n, bytes = 7);
    }),
    ("log, on: bridge, a literal", WITH_SESSION, ON, |_| log::info!("sent")),
    ("log, on: bridge, a literal and two pairs", WITH_SESSION, ON, |n| {
        log::info!(n, bytes = 7; "sent");
    }),
    ("tracing, on: bridge, two fields", WITH_SESSION, ON, |n| tracing::info!(n, bytes = 7, "sent")),
    ("tracing, on: `fmt`, discarded, two fields", Setup::Fmt("info"), ON, |n| {
        tracing::info!(n, bytes = 7, "sent");
    }),
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
        // Empties the buffer before the next round.
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
        assert_eq!((summary.messages, summary.lost()), (logged, 0), "every enabled call logs");
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
                // Large enough for a round, so that no message is lost.
                session.log_from(Level::Info).buffer_size(32 << 20).start().expect("start")
            })
        }
    }
}
