//! Metrics to the collector, by a thread of its own, so that neither they nor logs wait for each
//! other.
//!
//! Invariant: data points are sent in the order of their times. While the collector takes nothing,
//! later ones take the place of those that were not sent: they are cumulative.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::super::delivery::{Delivery, Totals};
use super::super::resource::Labels;
use super::points::{Point, request};
use crate::failure::Result;

/// The most data points of one request.
const MOST_POINTS: usize = 1_000;

/// The thread that sends, and the way to it.
pub(super) struct Push {
    interval: Duration,
    last: Instant,
    /// The newest that are not sent yet.
    waiting: Arc<Mutex<Vec<Point>>>,
    bell: SyncSender<()>,
    thread: JoinHandle<Result<Totals>>,
}

impl Push {
    /// Sends what is handed over, with the attributes of these resources. The first time is after
    /// the interval.
    pub(super) fn start(mut delivery: Delivery, labels: Arc<Labels>, interval: Duration) -> Self {
        let (bell, rings) = sync_channel::<()>(1);
        let waiting = Arc::new(Mutex::new(Vec::new()));
        let taken = waiting.clone();
        let thread = thread::spawn(move || {
            let encode = |points: &[Point]| request(points, &labels);
            for () in rings {
                let points = std::mem::take(&mut *lock(&taken));
                for points in points.chunks(MOST_POINTS) {
                    delivery.deliver(points, &encode)?;
                }
            }
            Ok(delivery.totals)
        });
        Self { interval, last: Instant::now(), waiting, bell, thread }
    }

    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.interval
    }

    /// Hands over data points, in place of older ones that wait.
    pub(super) fn send(&mut self, points: Vec<Point>) {
        self.last = Instant::now();
        *lock(&self.waiting) = points;
        // It rings already, or the thread has failed, which it says.
        let _ = self.bell.try_send(());
    }

    /// Returns true if it failed.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Sends the last data points, and waits until all are sent.
    pub(super) fn finish(mut self, last: Vec<Point>) -> Result<Totals> {
        self.send(last);
        drop(self.bell);
        self.thread.join().expect("the sender does not panic")
    }
}

fn lock(waiting: &Mutex<Vec<Point>>) -> MutexGuard<'_, Vec<Point>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
