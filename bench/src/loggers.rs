//! The candidates that need no other logger: the clock as the floor, and protolog.

use harness::{Candidate, Logger};
use protolog_rt::{Level, ProtoLogGroup, Session, e, i};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// All of them.
pub(crate) const ALL: [Candidate; 3] = [
    Candidate::new::<Clock>("clock"),
    Candidate::new::<Protolog>("protolog"),
    Candidate::new::<Recorded>("recorder"),
];

/// Reads the clock and does nothing else.
struct Clock;

impl Clock {
    #[inline]
    fn read() {
        black_box(Instant::now());
    }
}

impl Logger for Clock {
    fn open(_: &Path) -> Self {
        Self
    }

    fn two_ints(&self, _: u64, _: u64) {
        Self::read();
    }

    fn int_and_text(&self, _: u64, _: &str) {
        Self::read();
    }

    fn two_ints_and_float(&self, _: u64, _: u64, _: f64) {
        Self::read();
    }

    fn long_text(&self, _: &str) {
        Self::read();
    }
}

#[derive(ProtoLogGroup)]
enum Bench {
    On,
    Other,
}

/// Calls that nobody makes. As in a program, there are several of the same types: if there were
/// one, the compiler would put its constants and its arguments into the function that all of them
/// share.
#[cold]
fn others(number: u64, text: &str) {
    e!(Bench::Other, "%d, %d", number, number);
    e!(Bench::Other, "%d, %s", number, text);
    e!(Bench::Other, "%d, %d, %f", number, number, number as f64);
    e!(Bench::Other, "%s", text);
}

/// A session that streams to a file.
pub(crate) struct Protolog(pub(crate) Session);

impl Logger for Protolog {
    fn open(path: &Path) -> Self {
        if black_box(false) {
            others(black_box(1), black_box(""));
        }
        let session = Session::builder().file(path).log_from(Level::Info).start();
        Self(session.expect("start a session"))
    }

    #[inline]
    fn two_ints(&self, number: u64, of: u64) {
        i!(Bench::On, "%d of %d", number, of);
    }

    #[inline]
    fn int_and_text(&self, number: u64, of: &str) {
        i!(Bench::On, "%d of %s", number, of);
    }

    #[inline]
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        i!(Bench::On, "%d of %d in %f", number, of, time);
    }

    #[inline]
    fn long_text(&self, text: &str) {
        i!(Bench::On, "text %s", text);
    }

    fn settle(&mut self) {
        self.0.flush().expect("write the trace");
    }

    fn close(self) {
        self.0.stop().expect("complete the trace");
    }
}

/// A session that records: a ring in a file. It makes no trace, so nothing has to settle.
struct Recorded(Protolog);

impl Logger for Recorded {
    fn open(path: &Path) -> Self {
        let session = Session::builder().record_at(path).enable_all().start();
        Self(Protolog(session.expect("start a session")))
    }

    #[inline]
    fn two_ints(&self, number: u64, of: u64) {
        self.0.two_ints(number, of);
    }

    #[inline]
    fn int_and_text(&self, number: u64, of: &str) {
        self.0.int_and_text(number, of);
    }

    #[inline]
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        self.0.two_ints_and_float(number, of, time);
    }

    #[inline]
    fn long_text(&self, text: &str) {
        self.0.long_text(text);
    }
}
