//! The groups of targets.
//!
//! A target becomes a group with its first call, and stays one. The table is bounded: half of
//! [`MAX_TARGETS`] is for targets as they are; a further target uses the group of its first
//! segment, usually its crate, and if those are too many as well, the group [`OTHERS`].
//!
//! Invariant: looking up a known target takes no lock.

use crate::level::{self, GroupInfo};
use crate::sys::once::ForkOnce;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of targets with a group of their own.
const MAX_TARGETS: usize = 512;

/// The group of all further targets.
const OTHERS: &str = "other targets";

static TABLE: [ForkOnce<&'static GroupInfo>; MAX_TARGETS * 2] =
    [const { ForkOnce::new() }; MAX_TARGETS * 2];
static CREATED: AtomicUsize = AtomicUsize::new(0);

/// Returns the group of a target.
pub(super) fn group(target: &str) -> &'static GroupInfo {
    let crate_of = || target.split("::").next().filter(|first| *first != target);
    find_or_create(target, MAX_TARGETS / 2)
        .or_else(|| find_or_create(crate_of()?, MAX_TARGETS))
        .unwrap_or_else(others)
}

fn others() -> &'static GroupInfo {
    static GROUP: ForkOnce<&'static GroupInfo> = ForkOnce::new();
    GROUP.get_or_make(|| level::create_group(OTHERS, OTHERS))
}

/// Returns the group of this name, creating it if fewer than `limit` exist.
fn find_or_create(name: &str, limit: usize) -> Option<&'static GroupInfo> {
    let start = protolog_core::group_id(name) as usize;
    for step in 0..TABLE.len() {
        let slot = &TABLE[start.wrapping_add(step) % TABLE.len()];
        let group = match slot.get() {
            Some(group) => group,
            None if CREATED.load(Ordering::Relaxed) >= limit => return None,
            None => slot.get_or_make(|| {
                CREATED.fetch_add(1, Ordering::Relaxed);
                level::create_group(name, name)
            }),
        };
        if group.name == name {
            return Some(group);
        }
    }
    None
}
