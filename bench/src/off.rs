//! Calls that write nothing, in a loop, beside the same loop with nothing in it: switched off, or
//! enabled and left out by a rule.

use crate::counted;
use protolog_rt::{Builder, Init, Level, ProtoLogGroup, Session, d, span};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

#[derive(ProtoLogGroup)]
enum Off {
    Group,
}

#[derive(ProtoLogGroup)]
enum Ruled {
    Group,
}

#[derive(ProtoLogGroup)]
enum LeftOut {
    Sampled,
    Bytes,
    Limited,
}

static WORD: AtomicU32 = AtomicU32::new(0);

/// A loop of so many turns.
type Turns = fn(u64);

/// The candidates by name. None uses the number of the turn, so that the loop is the same for all.
const CANDIDATES: [(&str, Turns); 8] = [
    ("empty", |turns| counted(turns, |_| ())),
    ("load", |turns| {
        counted(turns, |_| {
            if WORD.load(Ordering::Relaxed) != 0 {
                black_box(5);
            }
        });
    }),
    ("protolog", |turns| counted(turns, |_| d!(Off::Group, "%d %d", 5, 7))),
    ("span", |turns| {
        counted(turns, |_| drop(span!(Off::Group, "%d %d", 5, 7)));
    }),
    ("ruled", |turns| {
        let session = recorded(|builder| builder.log_from(Level::Wtf));
        rule_another();
        counted(turns, |_| d!(Ruled::Group, "%d %d", 5, 7));
        drop(session);
    }),
    ("passed-over", |turns| {
        let session =
            recorded(|builder| builder.enable_all().sample("LeftOut::Sampled", "1/1000000"));
        counted(turns, |_| d!(LeftOut::Sampled, "%d %d", 5, 7));
        drop(session);
    }),
    ("passed-over-bytes", |turns| {
        let session = recorded(|builder| builder.enable_all().sample("LeftOut::Bytes", "1/500MiB"));
        counted(turns, |_| d!(LeftOut::Bytes, "%d %d", 5, 7));
        drop(session);
    }),
    ("suppressed", |turns| {
        let session =
            recorded(|builder| builder.enable_all().limit("LeftOut::Limited", "1/h burst 1"));
        counted(turns, |_| d!(LeftOut::Limited, "%d %d", 5, 7));
        drop(session);
    }),
];

/// A session. It keeps the newest messages, so that there is no other thread.
fn recorded(configure: impl FnOnce(Builder) -> Builder) -> Session {
    let builder = Session::builder().file("/dev/null").keep_newest();
    configure(builder).start().expect("start a session")
}

/// Has a rule switch on another call of the group, which is never made.
fn rule_another() {
    let file = std::env::temp_dir().join(format!("protolog-rule-{}", std::process::id()));
    std::fs::write(&file, "site \"another call\"=on\n").expect("a file");
    let init = Init::new().control(false).persistent_settings(false).config_file(&file);
    init.groups::<Ruled>().start().expect("settings");
    std::fs::remove_file(&file).expect("remove it");
    if black_box(false) {
        d!(Ruled::Group, "another call");
    }
    assert!(Ruled::Group.is_enabled(Level::Debug), "the other call is on");
}

#[cfg(feature = "peers")]
const PEERS: &[(&str, Turns)] = &crate::peers::OFF;
#[cfg(not(feature = "peers"))]
const PEERS: &[(&str, Turns)] = &[];

/// The loop of this name, with all set up.
fn of(name: &str) -> Option<Turns> {
    // Not even the compiler knows that it stays 0.
    WORD.store(black_box(0), Ordering::Relaxed);
    // The groups have registered, and no session wants them.
    drop(Session::builder().file("/dev/null").start());
    let all = CANDIDATES.iter().chain(PEERS);
    all.into_iter().find(|(known, _)| *known == name).map(|(_, run)| *run)
}

/// Runs a loop.
pub(crate) fn run(name: &str, turns: u64) -> Option<()> {
    of(name)?(turns);
    Some(())
}

/// Prints the nanoseconds of a turn.
pub(crate) fn time(name: &str, turns: u64) -> Option<()> {
    let run = of(name)?;
    let start = Instant::now();
    run(turns);
    println!("{}", start.elapsed().as_nanos() as f64 / turns as f64);
    Some(())
}
