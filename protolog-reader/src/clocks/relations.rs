//! Relations between the clocks that a whole trace shares.
//!
//! A snapshot with two or more clocks relates their values. A route from one clock to another is
//! the shortest chain of clocks in which each two neighbours share a snapshot. Each hop uses the
//! last snapshot that is not later than the time, or else the first one. Nothing is interpolated,
//! as in Perfetto's trace_processor.
//!
//! Invariant: work is bounded by the size of the snapshots times the clocks of one snapshot,
//! whatever the bytes.

use std::collections::{HashMap, VecDeque};

use protolog_core::schema::clock_id;

use super::TRACE_CLOCK;

/// Maximum length of a route.
const MAX_HOPS: usize = 4;

/// The shared clocks of all snapshots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relations {
    /// Those with at least two clocks.
    snapshots: Vec<Vec<(u32, i64)>>,
    by_clock: HashMap<u32, Vec<u32>>,
    primary: Option<u32>,
    /// Set if any snapshot has the clock.
    has_boottime: bool,
    has_monotonic: bool,
}

/// The routes from all clocks to one of them.
#[derive(Debug)]
pub(crate) struct Routes<'a> {
    relations: &'a Relations,
    target: u32,
    /// The next clock on the shortest route from each clock.
    next: HashMap<u32, u32>,
    /// The hops that were used, by the clock they start from.
    hops: HashMap<u32, Hop>,
}

/// A hop from one clock to the next: related values, sorted by the first.
type Hop = Vec<(i64, i64)>;

/// The route from the trace's clock to another one.
#[derive(Debug, Default)]
pub(crate) struct Route(Vec<Hop>);

/// Times of the trace's clock, from the first to the last, at which another clock is so far ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) ahead: i64,
}

impl Stretch {
    #[inline]
    pub(crate) fn has(&self, time: i64) -> bool {
        self.first <= time && time <= self.last
    }
}

impl Relations {
    pub(crate) fn add(&mut self, shared: impl Iterator<Item = (u32, i64)>, primary: Option<u32>) {
        self.primary = self.primary.or(primary);
        let clocks: Vec<_> = shared.collect();
        let has = |id| clocks.iter().any(|clock| clock.0 == id);
        self.has_boottime |= has(clock_id::BOOTTIME);
        self.has_monotonic |= has(clock_id::MONOTONIC);
        if clocks.len() < 2 {
            return;
        }
        let index = self.snapshots.len() as u32;
        for (clock, _) in &clocks {
            self.by_clock.entry(*clock).or_default().push(index);
        }
        self.snapshots.push(clocks);
    }

    /// The trace's clock, if a snapshot so far has named it.
    pub(crate) fn primary(&self) -> Option<u32> {
        self.primary
    }

    /// The trace's clock: the one that a snapshot names, or else boot time, unless there is only
    /// monotonic time.
    pub(crate) fn trace_clock(&self) -> u32 {
        self.primary.unwrap_or(if self.has_monotonic && !self.has_boottime {
            clock_id::MONOTONIC
        } else {
            clock_id::BOOTTIME
        })
    }

    /// The routes from all clocks to `target`.
    pub(crate) fn routes(&self, target: u32) -> Routes<'_> {
        let mut next = HashMap::new();
        let mut open = VecDeque::from([target]);
        while let Some(clock) = open.pop_front() {
            for index in self.by_clock.get(&clock).into_iter().flatten() {
                for (other, _) in &self.snapshots[*index as usize] {
                    if *other != target && !next.contains_key(other) {
                        next.insert(*other, clock);
                        open.push_back(*other);
                    }
                }
            }
        }
        Routes { relations: self, target, next, hops: HashMap::new() }
    }

    fn hop(&self, from: u32, to: u32) -> Hop {
        let value = |index: u32, id| {
            let clocks = &self.snapshots[index as usize];
            clocks.iter().find(|clock| clock.0 == id).map(|clock| clock.1)
        };
        let indices = self.by_clock.get(&from).into_iter().flatten();
        let mut hop: Hop =
            indices.filter_map(|index| Some((value(*index, from)?, value(*index, to)?))).collect();
        hop.sort_by_key(|pair| pair.0);
        hop
    }
}

impl Routes<'_> {
    /// Converts a moment to the target clock; none if there is no route.
    pub(crate) fn convert_moment(&mut self, clock: u32, ns: i64) -> Option<i64> {
        if clock == TRACE_CLOCK { Some(ns) } else { self.convert(clock, ns) }
    }

    /// The value of the target clock when `clock` has the value `ns`; none if there is no route.
    fn convert(&mut self, clock: u32, ns: i64) -> Option<i64> {
        let (mut clock, mut ns) = (clock, ns);
        for _ in 0..=MAX_HOPS {
            if clock == self.target {
                return Some(ns);
            }
            let to = *self.next.get(&clock)?;
            let hop = self.hops.entry(clock).or_insert_with(|| self.relations.hop(clock, to));
            (clock, ns) = (to, step(hop, ns));
        }
        None
    }

    /// The route from the target to `clock`.
    pub(crate) fn back_to(&self, clock: u32) -> Option<Route> {
        let mut hops = Vec::new();
        let mut at = clock;
        while at != self.target {
            let to = *self.next.get(&at)?;
            if hops.len() == MAX_HOPS {
                return None;
            }
            let mut hop: Hop = self.relations.hop(at, to);
            for (from, to) in &mut hop {
                std::mem::swap(from, to);
            }
            hop.sort_by_key(|pair| pair.0);
            hops.push(hop);
            at = to;
        }
        hops.reverse();
        Some(Route(hops))
    }
}

impl Route {
    /// The value of the other clock when the trace's has the value `ns`.
    pub(crate) fn convert(&self, ns: i64) -> i64 {
        self.0.iter().fold(ns, |ns, hop| step(hop, ns))
    }
}

impl Route {
    /// The values of the trace's clock around `ns` at which the other one is as far ahead as then.
    pub(crate) fn stretch(&self, ns: i64) -> Stretch {
        match &self.0[..] {
            [] => Stretch { first: i64::MIN, last: i64::MAX, ahead: 0 },
            [hop] => stretch(hop, ns),
            _ => Stretch { first: ns, last: ns, ahead: self.convert(ns).wrapping_sub(ns) },
        }
    }

    /// The first and the last value of the trace's clock at which the other one may have the value
    /// `ns`.
    pub(crate) fn convert_back(&self, ns: i64) -> (i64, i64) {
        self.0.iter().rev().fold((ns, ns), |(first, last), hop| {
            let ahead = hop.iter().map(|(from, to)| to.wrapping_sub(*from));
            let most = ahead.clone().max().unwrap_or(0);
            let least = ahead.min().unwrap_or(0);
            (first.saturating_sub(most), last.saturating_sub(least))
        })
    }
}

fn step(hop: &Hop, ns: i64) -> i64 {
    ns.wrapping_add(stretch(hop, ns).ahead)
}

/// The values around `ns` that the same pair of a hop converts.
fn stretch(hop: &Hop, ns: i64) -> Stretch {
    let after = hop.partition_point(|pair| pair.0 <= ns).max(1);
    let first = if after == 1 { i64::MIN } else { hop[after - 1].0 };
    let last = hop.get(after).map_or(i64::MAX, |next| next.0 - 1);
    let ahead = hop.get(after - 1).map_or(0, |(from, to)| to.wrapping_sub(*from));
    Stretch { first, last, ahead }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relations(snapshots: &[&[(u32, i64)]]) -> Relations {
        let mut relations = Relations::default();
        for snapshot in snapshots {
            relations.add(snapshot.iter().copied(), None);
        }
        relations
    }

    fn convert(relations: &Relations, from: u32, to: u32, ns: i64) -> Option<i64> {
        relations.routes(to).convert(from, ns)
    }

    #[test]
    fn the_last_snapshot_that_is_not_later_counts() {
        let relations = relations(&[&[(6, 100), (1, 1100)], &[(6, 200), (1, 1500)]]);
        let times = [50, 100, 199, 200, 300].map(|ns| convert(&relations, 6, 1, ns).unwrap());
        assert_eq!(times, [1050, 1100, 1199, 1500, 1600]);
        let back = relations.routes(1).back_to(6).unwrap();
        assert_eq!([1199, 1500, 1600].map(|ns| back.convert(ns)), [199, 200, 300]);
        let stretch = |first, last, ahead| Stretch { first, last, ahead };
        let earlier = stretch(i64::MIN, 1499, -1000);
        assert_eq!([-9, 1499].map(|ns| back.stretch(ns)), [earlier, earlier]);
        assert_eq!(back.stretch(1500), stretch(1500, i64::MAX, -1300));
    }

    #[test]
    fn routes_have_a_maximum_length() {
        let chain: Vec<[(u32, i64); 2]> = (1..9).map(|id| [(id, 0), (id + 1, 10)]).collect();
        let chain: Vec<&[(u32, i64)]> = chain.iter().map(<[_; 2]>::as_slice).collect();
        let relations = relations(&chain);
        assert_eq!(convert(&relations, 1, 3, 5), Some(25));
        assert_eq!(convert(&relations, 5, 1, 45), Some(5));
        assert_eq!(convert(&relations, 1, 9, 5), None);
        assert_eq!(convert(&relations, 77, 9, 5), None);
    }

    #[test]
    fn a_trace_of_monotonic_time_alone_has_that_clock() {
        assert_eq!(relations(&[]).trace_clock(), 6);
        assert_eq!(relations(&[&[(3, 1)]]).trace_clock(), 3);
        assert_eq!(relations(&[&[(3, 1)], &[(6, 1), (1, 1)]]).trace_clock(), 6);
    }
}
