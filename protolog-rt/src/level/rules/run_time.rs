//! Limits of messages whose text comes at run time, those of bridges included: each has a bucket
//! from its first message on.
//!
//! Invariants: a bucket belongs to one message from its claim on, or to one rule and group; none is
//! freed. Messages beyond [`SLOTS`] share buckets, each with the strictest limit of those that
//! share it, so that they may pass less often than their rule says, and never more often. No lock
//! is taken, and nothing allocated.

use super::limiter::{SLOTS, run_time_bucket};
use super::{Rule, SiteLimits};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use protolog_core::control::limit::Limit;
use protolog_core::control::selector::Call;
use protolog_core::hash;

/// The slots that are looked at before one is shared.
const PROBES: usize = 16;

/// The message, or rule and group, that has the bucket of the same index; 0 for none.
static OWNERS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// True if others than its owner use the bucket of the same index.
static SHARED: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];

/// Returns the numbers of the buckets of a message with these limits; 0 for none.
pub(super) fn buckets(all: &[Rule], call: &Call<'_>, limits: SiteLimits) -> [u32; 2] {
    let of_call = limits.call.map(|(_, limit)| {
        let owner = call.id.unwrap_or_else(|| hash(call.template.as_bytes()));
        bucket_of(owner.rotate_left(1), limit)
    });
    let of_group = limits.group.map(|(index, limit)| {
        let selector = all.get(index).map_or(&[][..], |rule| rule.selector.as_bytes());
        bucket_of(hash(selector).wrapping_mul(31) ^ hash(call.group.as_bytes()), limit)
    });
    [of_call, of_group].map(Option::unwrap_or_default)
}

/// Has buckets that messages share begin anew, once rules have changed: the strictest limit may be
/// that of a rule which holds no more.
pub(super) fn forget_shared() {
    for (index, is_shared) in SHARED.iter().enumerate() {
        if is_shared.swap(false, Ordering::Relaxed) {
            run_time_bucket(index).1.clear();
        }
    }
}

/// Returns the number of the bucket of `owner`, which has this limit, or a stricter one if it is
/// shared.
fn bucket_of(owner: u64, limit: Limit) -> u32 {
    let (index, is_own) = claim(owner | 1);
    let (number, bucket) = run_time_bucket(index);
    if !is_own {
        SHARED[index].store(true, Ordering::Relaxed);
    }
    if SHARED[index].load(Ordering::Relaxed) {
        bucket.tighten(limit);
    } else {
        bucket.set(limit);
    }
    number
}

/// Returns the index of the bucket of `owner`, which is not 0, and whether it has the bucket for
/// itself.
fn claim(owner: u64) -> (usize, bool) {
    let start = (owner >> 32) as usize;
    for step in 0..PROBES {
        let index = (start + step) % SLOTS;
        let now = OWNERS[index].load(Ordering::Relaxed);
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        if now == 0 {
            match OWNERS[index].compare_exchange(0, owner, success, failure) {
                Ok(_) => return (index, true),
                Err(other) if other == owner => return (index, true),
                Err(_) => {}
            }
        } else if now == owner {
            return (index, true);
        }
    }
    (start % SLOTS, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_keeps_its_bucket() {
        let owners = (500..700_u64).map(|number| number << 32 | 7 << 20 | 1).collect::<Vec<_>>();
        let first: Vec<_> = owners.iter().map(|owner| claim(*owner).0).collect();
        let again: Vec<_> = owners.iter().map(|owner| claim(*owner).0).collect();
        assert_eq!(first, again);
        let distinct: std::collections::HashSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), owners.len());
    }

    #[test]
    fn owners_without_a_place_share_one() {
        let same_start = |number: u64| 3 << 32 | number << 1 | 1;
        let places: Vec<_> = (0..40).map(|number| claim(same_start(number)).0).collect();
        assert!(places.iter().skip(PROBES).all(|place| *place == 3), "{places:?}");
    }

    #[test]
    fn owners_with_two_limits_that_share_a_bucket_never_pass_more_often() {
        let limit = |text| Limit::parse(text).expect("a limit");
        let owner = |number: u64| 900 << 32 | number << 1;
        // The last one finds no place, and shares that of the first.
        let numbers: Vec<_> =
            (0..=PROBES as u64).map(|number| bucket_of(owner(number), limit("5/h"))).collect();
        assert_eq!(numbers[PROBES], numbers[0]);
        let log = |_| {
            let number = bucket_of(owner(0), limit("5/h"));
            assert_eq!(bucket_of(owner(PROBES as u64), limit("3/h")), number);
            super::super::limiter::take([number, 0]).is_ok()
        };
        assert_eq!((0..100).map(log).filter(|passes| *passes).count(), 3);
        // A rule that allows more takes the place of both.
        forget_shared();
        let log = |owner| super::super::limiter::take([bucket_of(owner, limit("9/h")), 0]).is_ok();
        let passed = (0..100).filter(|number| log(owner(number % 2 * PROBES as u64))).count();
        assert_eq!(passed, 9);
    }
}
