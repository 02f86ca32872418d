//! A fast clock: BOOTTIME in nanoseconds.
//!
//! If the CPU's time stamp counter (TSC) runs at a constant rate and the kernel itself uses it as
//! its clock source, the time is computed from it, by one piecewise linear function for the whole
//! process. A piece lasts [`PIECE_NANOS`]; the first thread that needs the time after its end asks
//! the kernel, and starts the next piece so that it meets BOOTTIME at its own end. All threads use
//! the same pieces, so two of them never disagree by more than their TSCs do. Otherwise each
//! reading asks the kernel.
//!
//! Invariants
//! - *continuous*: a piece starts at the end of the one before, or later and higher.
//! - *monotonic*: [`Reader::now`] never goes back within one reader.
//! - *causal*: a thread that has seen an effect of another thread after its reading reads no
//!   earlier time itself. A processor may read the counter before an earlier load has its value, so
//!   a fence precedes it, except on processors that need none, and while a single writer logs
//!   ([`bias`]).

pub(crate) mod bias;
mod counter;

pub(crate) use crate::sys::time::boottime;
pub(crate) use counter::IS_FENCED;

use crate::sys::fork::{ForkLock, Order};
use crate::sys::once::ForkOnce;
use crate::sys::time::{Clock, boottime_after, may_read_counter, nanos, prepare_clocks};
use bias::{BiasCandidate, FenceBias};
use counter::{has_constant_rate, load_fence, ticks, ticks_in_order};
use protolog_core::schema::clock_id;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Duration of a piece. The first calibration may be off by 5 in a million, which makes half a
/// microsecond at the end of a piece.
const PIECE_NANOS: u64 = 100_000_000;

/// Duration of the first calibration.
const CALIBRATION_NANOS: u64 = 4_000_000;

/// Maximum age of the anchor since which the rate is measured; an older one is replaced.
const ANCHOR_NANOS: u64 = 8_000_000_000;

/// Reads the clocks that traces refer to, at about the same moment: id in traces, and nanoseconds.
pub(crate) fn snapshot() -> [(u32, u64); 3] {
    [
        (clock_id::REALTIME, nanos(Clock::Realtime)),
        (clock_id::MONOTONIC, nanos(Clock::Monotonic)),
        (clock_id::BOOTTIME, boottime()),
    ]
}

/// A linear piece of the function from ticks to nanoseconds.
#[derive(Clone, Copy, Debug)]
struct LinearPiece {
    /// Tick count at its start.
    start: u64,
    /// Duration in ticks; 0 for an empty piece.
    ticks: u64,
    /// Nanoseconds at its start.
    base: u64,
    /// Nanoseconds per tick, times 2^32.
    rate: u64,
}

impl LinearPiece {
    const EMPTY: Self = Self { start: 0, ticks: 0, base: 0, rate: 0 };

    /// Returns the time `ticks` ticks after the start, at most at the end of the piece: the product
    /// is below 2^60.
    #[inline]
    const fn at(&self, ticks: u64) -> u64 {
        self.base + (ticks.wrapping_mul(self.rate) >> 32)
    }
}

/// The writer that needs no fence, while it alone logs.
static FENCE_BIAS: FenceBias = FenceBias::new();

/// A thread's view of the clock.
#[derive(Debug)]
pub(crate) struct Reader {
    piece: LinearPiece,
    last: u64,
    candidate: BiasCandidate,
}

impl Reader {
    /// A reader that is never read.
    pub(crate) const NONE: Self =
        Self { piece: LinearPiece::EMPTY, last: 0, candidate: BiasCandidate::NONE };

    /// Creates a reader that has not read the clock yet.
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = || NUMBER.fetch_add(1, Ordering::Relaxed);
        let candidate = if IS_FENCED { BiasCandidate::new(number()) } else { BiasCandidate::NONE };
        Self { candidate, ..Self::NONE }
    }

    /// Tries to acquire the fence bias, because this thread alone logs; called with each new chunk.
    /// See [`FenceBias::try_acquire`].
    pub(crate) fn try_skip_fence(&mut self, nobody_else: impl FnOnce() -> bool) {
        if FENCE_BIAS.try_acquire(&mut self.candidate, nobody_else) {
            load_fence();
        }
    }

    /// Returns true if the fence is left out.
    #[cfg(test)]
    pub(crate) fn skips_fence(&self) -> bool {
        FENCE_BIAS.is_biased_to(&self.candidate)
    }

    /// Orders the reading that follows after everything that this thread has seen.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every message.
    fn fence(&self) {
        FENCE_BIAS.fence_unless_biased(&self.candidate, load_fence);
    }

    /// Returns the time now, in nanoseconds of BOOTTIME.
    #[inline]
    pub(crate) fn now(&mut self) -> u64 {
        self.fence();
        let ticks = ticks();
        let since = ticks.wrapping_sub(self.piece.start);
        let now = if since < self.piece.ticks { self.piece.at(since) } else { self.renew(ticks) };
        self.last = self.last.max(now);
        self.last
    }

    /// Returns the time now; where that is not later than the one before, the nanosecond after it:
    /// a coarse clock may not have moved, and that of a restored process was set back.
    #[inline]
    pub(crate) fn now_later(&mut self) -> NonZeroU64 {
        let later = self.last.wrapping_add(1);
        self.last = self.now().max(later);
        NonZeroU64::new(self.last).unwrap_or(NonZeroU64::MIN)
    }

    /// Goes on from `last`, where that is later than what was read here.
    pub(crate) fn go_on_from(&mut self, last: u64) {
        self.last = self.last.max(last);
    }

    /// Returns the time now, in no order with what other threads do: for limits, not for messages.
    /// It needs no fence, and leaves the bias to whoever has it.
    pub(crate) fn now_unordered(&mut self) -> u64 {
        let ticks = ticks();
        let since = ticks.wrapping_sub(self.piece.start);
        let now = if since < self.piece.ticks { self.piece.at(since) } else { self.renew(ticks) };
        self.last = self.last.max(now);
        self.last
    }

    /// Returns the time now, if it lies in this reader's piece. It may be before the last result of
    /// [`Self::now`].
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every message.
    pub(crate) fn now_in_piece(&self) -> Option<u64> {
        self.fence();
        let since = ticks().wrapping_sub(self.piece.start);
        (since < self.piece.ticks).then(|| self.piece.at(since))
    }

    #[cold]
    #[inline(never)]
    fn renew(&mut self, ticks: u64) -> u64 {
        self.renew_from(next_piece(ticks), ticks)
    }

    fn renew_from(&mut self, piece: Option<LinearPiece>, ticks: u64) -> u64 {
        let Some(piece) = piece else { return boottime_after(self.last) };
        self.piece = piece;
        // Another thread may have begun the piece a moment after these ticks.
        self.piece.at(ticks.saturating_sub(self.piece.start).min(self.piece.ticks))
    }
}

/// The process's timeline.
#[derive(Debug)]
pub(crate) struct Timeline {
    piece: LinearPiece,
    anchor: Sample,
    /// Nanoseconds per tick, times 2^32, as last measured.
    rate: u64,
}

/// Ticks and nanoseconds of one moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    ticks: u64,
    nanos: u64,
}

impl Sample {
    /// Samples both clocks `tries` times, after the process has read `last`, and returns the sample
    /// that took the least time.
    fn take(tries: usize, last: u64) -> Self {
        let mut best = (u64::MAX, Self { ticks: 0, nanos: 0 });
        for _ in 0..tries {
            let before = ticks_in_order();
            let nanos = boottime_after(last);
            let width = ticks_in_order().wrapping_sub(before);
            if width < best.0 {
                best = (width, Self { ticks: before + width / 2, nanos });
            }
        }
        best.1
    }

    /// Returns the rate from here to `later`: nanoseconds per tick, times 2^32.
    fn rate_to(self, later: Self) -> Option<u64> {
        let (ticks, nanos) =
            (later.ticks.checked_sub(self.ticks)?, later.nanos.checked_sub(self.nanos)?);
        let rate = ((nanos as u128) << 32).checked_div(ticks as u128)?;
        // From 0.1 to 16 ticks per nanosecond; no TSC has another rate.
        u64::try_from(rate).ok().filter(|rate| (1 << 28..=10 << 32).contains(rate))
    }
}

impl Timeline {
    /// Measures the rate; none if the result is implausible.
    fn calibrate() -> Option<Self> {
        let anchor = Sample::take(16, 0);
        while boottime() < anchor.nanos + CALIBRATION_NANOS {
            std::hint::spin_loop();
        }
        let rate = anchor.rate_to(Sample::take(16, 0))?;
        Some(Self { piece: LinearPiece::EMPTY, anchor, rate })
    }

    /// Returns the piece that covers `ticks`, a tick count of a moment ago.
    fn piece_at(&mut self, ticks: u64) -> LinearPiece {
        let last = self.piece.base;
        self.piece_by(ticks, || Sample::take(3, last))
    }

    fn piece_by(&mut self, ticks: u64, now: impl FnOnce() -> Sample) -> LinearPiece {
        // A tick count shortly before the piece is that of a thread that was slow to get here; one
        // long before means that the counter was reset.
        let early = self.piece.start.wrapping_sub(ticks) < self.piece.ticks;
        if ticks.wrapping_sub(self.piece.start) >= self.piece.ticks && !early {
            self.start_piece(now());
        }
        self.piece
    }

    /// Measures the rate again, since the anchor.
    fn measure(&mut self, now: Sample) {
        let age = now.nanos.saturating_sub(self.anchor.nanos);
        let rate = self.anchor.rate_to(now);
        // While the machine is suspended, time passes but maybe no ticks do: a rate that jumps is
        // not one.
        let same = rate.filter(|rate| rate.abs_diff(self.rate) < self.rate / 1000);
        match same {
            Some(rate) if age >= CALIBRATION_NANOS => self.rate = rate,
            _ => {}
        }
        if same.is_none() || age > ANCHOR_NANOS {
            self.anchor = now;
        }
    }

    /// Starts the next piece.
    fn start_piece(&mut self, now: Sample) {
        self.measure(now);
        let duration = ((PIECE_NANOS as u128) << 32) / self.rate as u128;
        let old = self.piece;
        let end = old.start.wrapping_add(old.ticks);
        let gap = now.ticks.wrapping_sub(end);
        let (start, base) = if gap < duration as u64 && old.ticks > 0 {
            (end, old.at(old.ticks))
        } else {
            // No thread read the clock for a while: start now, but not below the last time of the
            // old piece.
            (now.ticks, now.nanos.max(old.at(old.ticks)))
        };
        let left = (start.wrapping_add(duration as u64)).wrapping_sub(now.ticks);
        let target = now.nanos + ((left as u128 * self.rate as u128) >> 32) as u64;
        // At worst flat, if the old piece ran ahead by a whole piece.
        let rise = target.saturating_sub(base);
        let rate = (((rise as u128) << 32) / duration).min(2 * self.rate as u128) as u64;
        self.piece = LinearPiece { start, ticks: duration as u64, base, rate };
    }
}

/// The timeline, if the counter is reliable.
static TIMELINE: ForkLock<Option<Timeline>> = ForkLock::new(Order::Timeline, None);

/// Returns true if the time is computed from the counter; creates the timeline on first use.
pub(crate) fn uses_tsc() -> bool {
    static USES_TSC: ForkOnce<bool> = ForkOnce::new();
    USES_TSC.get().copied().unwrap_or_else(|| {
        // Before the lock, since it takes a while. If several threads do this, one result is used.
        let timeline = if is_tsc_reliable() { Timeline::calibrate() } else { None };
        // Registered before the lock that `get_or_make` takes, see `ForkLock::register`.
        TIMELINE.register();
        *USES_TSC.get_or_make(|| {
            let uses_tsc = timeline.is_some();
            *TIMELINE.lock() = timeline;
            uses_tsc
        })
    })
}

/// Returns the piece that covers `ticks`, a tick count of a moment ago; none if the kernel is to be
/// asked: always, or because a fork holds the lock and waits for the allocator, which a signal
/// handler's thread has.
fn next_piece(ticks: u64) -> Option<LinearPiece> {
    if !uses_tsc() {
        return None;
    }
    TIMELINE.lock_within_limit()?.as_mut().map(|line| line.piece_at(ticks))
}

/// Creates the timeline, so that the first message does not wait for the calibration.
pub(crate) fn prepare() {
    prepare_clocks();
    let _ = uses_tsc();
}

/// Returns true if the counter runs at a constant rate in all states of the CPU, and is the
/// kernel's clock source.
fn is_tsc_reliable() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    may_read_counter()
        && has_constant_rate()
        && std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_seen_a_token_reads_no_earlier_time_than_its_sender() {
        const TURNS: usize = 400_000;
        let token = &AtomicU64::new(0);
        let pass = |first: usize| {
            let mut reader = Reader::new();
            // Warm, as in a thread that logs.
            reader.now();
            let mut times = Vec::with_capacity(TURNS / 2);
            for turn in (first..TURNS).step_by(2) {
                let mut spins = 0_u32;
                while token.load(Ordering::Acquire) != turn as u64 {
                    spins += 1;
                    if spins.is_multiple_of(1_000) {
                        std::thread::yield_now();
                    }
                }
                times.push(reader.now());
                token.store(turn as u64 + 1, Ordering::Release);
            }
            times
        };
        let (even, odd) = std::thread::scope(|scope| {
            let other = scope.spawn(|| pass(1));
            (pass(0), other.join().expect("the other thread passes the token on"))
        });
        let times: Vec<u64> = even.into_iter().zip(odd).flat_map(|(a, b)| [a, b]).collect();
        let reversed = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert_eq!(reversed, 0, "of {TURNS}");
    }

    #[test]
    fn the_time_is_boottime_and_never_goes_back() {
        let mut reader = Reader::new();
        let (mut last, mut rounds) = (0, Vec::new());
        let end = boottime() + 3 * PIECE_NANOS;
        while last < end {
            let before = boottime();
            let now = reader.now();
            let after = boottime();
            assert!(now >= last, "{now} after {last}");
            last = now;
            // In the steady state.
            if before > end - 2 * PIECE_NANOS {
                let error = before.saturating_sub(now).max(now.saturating_sub(after));
                rounds.push((after - before, error));
            }
        }
        // The slower half was interrupted, so it says little.
        rounds.sort_unstable();
        let mut errors: Vec<u64> =
            rounds[..rounds.len().div_ceil(2)].iter().map(|(_, error)| *error).collect();
        errors.sort_unstable();
        let (p99, worst) = (errors[errors.len() * 99 / 100], errors[errors.len() - 1]);
        // Usually it is some nanoseconds, but the system may adjust its clock, and other load may
        // delay this thread.
        assert!(p99 <= 10_000 && worst < 1_000_000, "off by {p99} ns, at worst {worst} ns");
    }

    #[test]
    fn a_reader_never_goes_back_whatever_its_pieces_are() {
        let mut reader = Reader { last: u64::MAX - 1, ..Reader::new() };
        assert_eq!((reader.now(), reader.now()), (u64::MAX - 1, u64::MAX - 1));
    }

    #[test]
    fn pieces_join_and_meet_the_clock() {
        if !is_tsc_reliable() {
            return; // No timeline here.
        }
        let mut line = Timeline {
            piece: LinearPiece::EMPTY,
            anchor: Sample { ticks: 0, nanos: 0 },
            rate: Timeline::calibrate().map_or(1 << 32, |line| line.rate),
        };
        line.anchor = Sample::take(16, 0);
        line.start_piece(Sample::take(3, 0));
        let first = line.piece;
        // As if the piece had just ended, slightly ahead of the clock.
        line.piece.start = first.start.wrapping_sub(first.ticks);
        line.piece.base =
            first.base - line.piece.at(line.piece.ticks).abs_diff(line.piece.base) + 50_000;
        let old = line.piece;
        line.start_piece(Sample::take(3, 0));
        assert_eq!(line.piece.start, old.start.wrapping_add(old.ticks));
        assert_eq!(line.piece.base, old.at(old.ticks), "continuous");
        assert!(line.piece.rate < first.rate, "slower, to meet the clock");
    }

    #[test]
    fn a_gap_starts_a_piece_now() {
        let mut line = Timeline {
            piece: LinearPiece { start: 0, ticks: 1, base: 7, rate: 1 << 32 },
            anchor: Sample { ticks: 0, nanos: 0 },
            rate: 1 << 32,
        };
        line.start_piece(Sample::take(3, 0));
        assert!(line.piece.base.abs_diff(boottime()) < 1_000_000_000);
    }

    #[test]
    fn without_a_timeline_the_kernel_is_asked_each_time() {
        let mut reader = Reader::new();
        for ticks in 0..1_000 {
            let before = boottime();
            let now = reader.renew_from(None, ticks);
            assert!((before..=boottime()).contains(&now));
            assert_eq!(reader.piece.ticks, 0, "nothing that the next reading could use");
        }
    }

    /// Simulates an hour of suspension, with the counter at `ticks` afterwards. Returns the time
    /// that a reader of the old piece then reads, and BOOTTIME.
    fn after_an_hour(ticks: u64) -> (u64, u64) {
        const HOUR: u64 = 3_600_000_000_000;
        let (start, base) = (1 << 40, 7 * HOUR);
        let piece = LinearPiece { start, ticks: PIECE_NANOS, base, rate: 1 << 32 };
        let anchor = Sample { ticks: piece.start, nanos: piece.base };
        let mut line = Timeline { piece, anchor, rate: 1 << 32 };
        let now = Sample { ticks, nanos: 8 * HOUR };
        line.piece_by(ticks, || now);
        let mut reader = Reader { piece, last: piece.base, ..Reader::new() };
        let is_over = ticks.wrapping_sub(reader.piece.start) >= reader.piece.ticks;
        assert!(is_over, "its next message asks for the next piece");
        (reader.renew_from(Some(line.piece_at(ticks)), ticks), now.nanos)
    }

    #[test]
    fn after_a_suspend_the_first_message_is_right() {
        // The counter has continued; it was reset.
        for ticks in [(1 << 40) + 3_600_000_000_000, 5_000] {
            let (read, now) = after_an_hour(ticks);
            assert_eq!(read, now);
        }
    }
}
