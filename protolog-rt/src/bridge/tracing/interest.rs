//! The callsite cache of `tracing`, rebuilt when enabled levels change.
//!
//! Invariant: on whichever thread this happens, `tracing` asks every subscriber that is alive.

use crate::sys::fork::{ForkLock, Order};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::{Interest, NoSubscriber};
use tracing_core::{Dispatch, Event, LevelFilter, Metadata, Subscriber, callsite, dispatcher};

/// Makes `tracing` ask all subscribers again which callsites they are interested in.
pub(super) fn rebuild() {
    static ONE_AT_A_TIME: ForkLock<()> = ForkLock::new(Order::TracingBridge, ());
    // Otherwise the older answers of a slower thread could come last.
    let _turn = ONE_AT_A_TIME.lock();
    // While only one subscriber is alive, `tracing` asks just the calling thread's. On a thread
    // without one it would disable all callsites, also for a subscriber that only other threads
    // have. A new subscriber makes it ask all.
    if dispatcher::get_default(Dispatch::is::<NoSubscriber>) {
        drop(Dispatch::new(DisabledSubscriber));
    } else {
        callsite::rebuild_interest_cache();
    }
}

/// A subscriber that is interested in nothing.
struct DisabledSubscriber;

impl Subscriber for DisabledSubscriber {
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
