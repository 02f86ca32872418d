//! A cache of callsites: group, level, and the message that their events become.
//!
//! The table is bounded; callsites beyond [`MAX_SITES`] are not cached.
//!
//! Invariant: looking up a cached callsite takes no lock.

use super::level_of;
use crate::bridge::targets;
use crate::level::GroupInfo;
use crate::level::rules;
use crate::message_table::Signature;
use crate::sys::once::ForkOnce;
use protolog_core::Level;
use protolog_core::control::selector::Call;
use std::sync::atomic::{AtomicUsize, Ordering};
use tracing_core::Metadata;

/// Maximum number of cached callsites.
const MAX_SITES: usize = 2048;

static TABLE: [ForkOnce<Callsite>; MAX_SITES * 2] = [const { ForkOnce::new() }; MAX_SITES * 2];
static CACHED: AtomicUsize = AtomicUsize::new(0);

/// A callsite.
#[derive(Debug)]
pub(super) struct Callsite {
    pub(super) metadata: &'static Metadata<'static>,
    pub(super) group: &'static GroupInfo,
    pub(super) level: Level,
    /// The message of its first event.
    pub(super) message: ForkOnce<EventMessage>,
}

/// The message that a callsite's events become if they have these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventMessage {
    /// Bit `i`: the callsite's field `i` has a value.
    pub(super) fields: u32,
    pub(super) signature: Signature,
    pub(super) id: u64,
}

impl Callsite {
    fn new(metadata: &'static Metadata<'static>) -> Self {
        let (group, level) = (targets::group(metadata.target()), level_of(*metadata.level()));
        Self { metadata, group, level, message: ForkOnce::new() }
    }
}

/// Returns true if the callsite's level is enabled, or rules may switch on events of it.
pub(super) fn is_enabled(metadata: &Metadata<'_>) -> bool {
    let (group, level) = match cached(metadata) {
        Some(site) => (site.group, site.level),
        None => (targets::group(metadata.target()), level_of(*metadata.level())),
    };
    group.is_on(level) || with_call(metadata, group, level, rules::may_switch_on)
}

/// Calls `f` with what the metadata of an event says of its call.
pub(super) fn with_call<R>(
    metadata: &Metadata<'_>,
    group: &GroupInfo,
    level: Level,
    f: impl FnOnce(&Call<'_>) -> R,
) -> R {
    let lines = &[metadata.line().unwrap_or_default()];
    f(&Call {
        level: Some(level),
        group: group.name,
        module: metadata.module_path().unwrap_or_default(),
        file: metadata.file().unwrap_or_default(),
        lines,
        ..Call::default()
    })
}

/// Calls `f` with a callsite, from the cache if possible.
pub(super) fn with<R>(metadata: &'static Metadata<'static>, f: impl FnOnce(&Callsite) -> R) -> R {
    match find(metadata) {
        Some(site) => f(site),
        None => f(&Callsite::new(metadata)),
    }
}

/// The slots in which a callsite's metadata may be, in order.
fn slots(metadata: &Metadata<'_>) -> impl Iterator<Item = &'static ForkOnce<Callsite>> {
    // Metadata is a static of some 100 bytes.
    let start = std::ptr::from_ref(metadata).addr() / 64;
    (0..TABLE.len()).map(move |step| &TABLE[start.wrapping_add(step) % TABLE.len()])
}

/// Returns the callsite with this metadata if it is in the cache. What is there is static, so
/// nothing else has its address.
fn cached(metadata: &Metadata<'_>) -> Option<&'static Callsite> {
    let address = std::ptr::from_ref(metadata).addr();
    let mut sites = slots(metadata).map_while(ForkOnce::get);
    sites.find(|site| std::ptr::from_ref(site.metadata).addr() == address)
}

fn find(metadata: &'static Metadata<'static>) -> Option<&'static Callsite> {
    for slot in slots(metadata) {
        let site = match slot.get() {
            Some(site) => site,
            None if CACHED.load(Ordering::Relaxed) >= MAX_SITES => return None,
            None => {
                let site = Callsite::new(metadata);
                slot.get_or_make(|| {
                    CACHED.fetch_add(1, Ordering::Relaxed);
                    site
                })
            }
        };
        if std::ptr::eq(site.metadata, metadata) {
            return Some(site);
        }
    }
    None
}
