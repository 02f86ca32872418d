//! Tells `tracing` that callsites may be wanted, or no longer wanted.
//!
//! Invariant: whichever thread tells it, the answer of every subscriber that is alive counts.

use crate::sys::fork::{ForkLock, Order};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::{Interest, NoSubscriber};
use tracing_core::{Dispatch, Event, LevelFilter, Metadata, Subscriber, callsite, dispatcher};

/// Asks all subscribers again what they want of all callsites.
pub(super) fn rebuild() {
    static ONE_AT_A_TIME: ForkLock<()> = ForkLock::new(Order::TracingBridge, ());
    // The answers of a slower thread would be older, and come last.
    let _turn = ONE_AT_A_TIME.lock();
    // While one subscriber is alive `tracing` asks the calling thread's alone. On a thread without any it would switch all
    // callsites off, for every layer of a subscriber that other threads have; a new subscriber has everybody asked.
    if dispatcher::get_default(Dispatch::is::<NoSubscriber>) {
        drop(Dispatch::new(Nobody));
    } else {
        callsite::rebuild_interest_cache();
    }
}

/// A subscriber that wants nothing.
struct Nobody;

impl Subscriber for Nobody {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::never()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::OFF)
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
