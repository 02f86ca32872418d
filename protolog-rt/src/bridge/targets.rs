//! Targets as groups.
//!
//! A target becomes a group when it is first met, and stays one. The table is bounded: when [`MAX_TARGETS`] are known, a new
//! one goes to the group of its first segment (its crate, as a rule), and when that has no place either, to the group
//! [`OTHERS`].
//!
//! Invariant: looking a known target up takes no lock.

use crate::level::{self, GroupInfo};
use crate::sys::once::ForkOnce;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most targets with a group of their own.
const MAX_TARGETS: usize = 512;

/// The group of targets that are too many.
const OTHERS: &str = "other targets";

static TABLE: [ForkOnce<&'static GroupInfo>; MAX_TARGETS * 2] =
    [const { ForkOnce::new() }; MAX_TARGETS * 2];
static MADE: AtomicUsize = AtomicUsize::new(0);

/// The group of a target.
pub(super) fn group(target: &str) -> &'static GroupInfo {
    let crate_of = || target.split("::").next().filter(|first| *first != target);
    find(target, MAX_TARGETS / 2).or_else(|| find(crate_of()?, MAX_TARGETS)).unwrap_or_else(others)
}

fn others() -> &'static GroupInfo {
    static GROUP: ForkOnce<&'static GroupInfo> = ForkOnce::new();
    GROUP.get_or_make(|| level::create_group(OTHERS, OTHERS))
}

/// The group of this name; a new one if fewer than `limit` were made.
fn find(name: &str, limit: usize) -> Option<&'static GroupInfo> {
    let start = protolog_core::group_id(name) as usize;
    for step in 0..TABLE.len() {
        let slot = &TABLE[start.wrapping_add(step) % TABLE.len()];
        let group = match slot.get() {
            Some(group) => group,
            None if MADE.load(Ordering::Relaxed) >= limit => return None,
            None => slot.get_or_make(|| {
                MADE.fetch_add(1, Ordering::Relaxed);
                level::create_group(name, name)
            }),
        };
        if group.name == name {
            return Some(group);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_groups_until_there_are_too_many() {
        let first = group("app::net");
        assert_eq!((first.name, first.tag), ("app::net", "app::net"));
        assert!(std::ptr::eq(first, group("app::net")));
        assert!(!std::ptr::eq(first, group("app")));
        for number in 0..MAX_TARGETS {
            group(&format!("many::t{number}"));
        }
        assert_eq!(group("more::than::that").name, "more");
        for number in 0..MAX_TARGETS {
            group(&format!("crate{number}::t"));
        }
        assert_eq!(group("yet::another").name, OTHERS);
        assert!(std::ptr::eq(first, group("app::net")));
    }
}
