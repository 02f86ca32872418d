//! The connections that are open, each with the time that it has left.
//!
//! Invariants:
//! - There are at most [`MOST`], and [`MOST_OF_ADDRESS`] of one address. One more is let in all the
//!   same: the oldest one that has proven nothing is closed for it. So strangers can't keep a browser
//!   out by holding connections, however many they open and however slow they are.
//! - A connection that has proven nothing has [`STRANGER`] in all. One that has is closed when nothing
//!   is written and nothing asked for [`IDLE`].

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, sleep, sleep_until};

/// The most connections.
pub(super) const MOST: usize = 128;
/// The most connections of one address: half, so that one address alone never closes those of others.
pub(super) const MOST_OF_ADDRESS: usize = MOST / 2;
/// The time of a connection that has proven nothing.
const STRANGER: Duration = Duration::from_secs(20);
/// The time that a browser has to ask again, or to take the next part of a reply.
const IDLE: Duration = Duration::from_secs(60);
/// The time in which a reply has to be made.
const WORK: Duration = Duration::from_secs(3600);
/// The time in which the last reply has to be sent.
const LAST: Duration = Duration::from_secs(2);

/// The time that a connection has.
pub(super) struct Lease {
    until: Cell<Instant>,
    is_proven: Cell<bool>,
    /// True while a reply is made, and until the last one was sent.
    is_waited_for: Cell<bool>,
}

impl Lease {
    pub(super) fn new() -> Self {
        Self {
            until: Cell::new(Instant::now() + STRANGER),
            is_proven: Cell::new(false),
            is_waited_for: Cell::new(false),
        }
    }

    /// Notes a request with a proof, to which a reply is being made.
    pub(super) fn note_proof(&self) {
        self.is_proven.set(true);
        self.is_waited_for.set(true);
        self.until.set(Instant::now() + WORK);
    }

    /// Notes that there is a reply to send; `is_last` if nothing comes after it.
    pub(super) fn note_reply(&self, is_last: bool) {
        self.is_waited_for.set(is_last);
        self.until.set(Instant::now() + IDLE);
    }

    /// Notes that the client took so many bytes.
    pub(super) fn note_written(&self, count: usize) {
        if count > 0 && self.is_proven.get() {
            self.until.set(Instant::now() + IDLE);
        }
    }

    /// Waits until the time is over.
    pub(super) async fn end(&self) {
        while Instant::now() < self.until.get() {
            // It may become less meanwhile.
            sleep_until(self.until.get().min(Instant::now() + STRANGER)).await;
        }
    }
}

/// The connections, by number: the oldest first.
#[derive(Default)]
pub(super) struct Connections {
    open: RefCell<BTreeMap<u64, Connection>>,
    last: Cell<u64>,
}

struct Connection {
    address: IpAddr,
    lease: Rc<Lease>,
    task: AbortHandle,
}

impl Connections {
    /// Serves a connection in a task of its own, for which another one may be closed.
    pub(super) fn add<F: Future<Output = ()> + 'static>(
        self: &Rc<Self>,
        address: IpAddr,
        serve: impl FnOnce(Rc<Lease>) -> F,
    ) {
        self.make_room(address);
        let number = self.last.get() + 1;
        self.last.set(number);
        let lease = Rc::new(Lease::new());
        let (served, connections) = (serve(lease.clone()), self.clone());
        let task = spawn_local(async move {
            served.await;
            connections.open.borrow_mut().remove(&number);
        });
        let connection = Connection { address, lease, task: task.abort_handle() };
        self.open.borrow_mut().insert(number, connection);
    }

    fn make_room(&self, address: IpAddr) {
        let is_here = |it: &Connection| it.address == address;
        let of_address = self.open.borrow().values().filter(|it| is_here(it)).count();
        if of_address >= MOST_OF_ADDRESS {
            self.close_one(is_here);
        } else if self.open.borrow().len() >= MOST {
            self.close_one(|_| true);
        }
    }

    /// Closes the oldest one of these that has proven nothing, or else the one that has been idle for longest.
    fn close_one(&self, is_meant: impl Fn(&Connection) -> bool) {
        let mut open = self.open.borrow_mut();
        let order = |it: &Connection| it.lease.is_proven.get().then(|| it.lease.until.get());
        let meant = open.iter().filter(|(_, it)| is_meant(it));
        let number = meant.min_by_key(|(number, it)| (order(it), **number)).map(|(it, _)| *it);
        if let Some(closed) = number.and_then(|number| open.remove(&number)) {
            closed.task.abort();
        }
    }

    /// Waits until the last reply was sent.
    pub(super) async fn finish(&self) {
        let end = Instant::now() + LAST;
        let is_any = || self.open.borrow().values().any(|it| it.lease.is_waited_for.get());
        while is_any() && Instant::now() < end {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::net::Ipv4Addr;
    use tokio::runtime::Builder;
    use tokio::task::LocalSet;

    /// The connections that are open, as `address:order of coming`, after these came; `p` has proven a key.
    fn open(comers: impl IntoIterator<Item = (u8, bool)>) -> Vec<(u8, u64)> {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let connections = Rc::new(Connections::default());
            for (address, is_proven) in comers {
                let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, address));
                connections.add(address, |lease| {
                    if is_proven {
                        lease.note_proof();
                        lease.note_reply(false);
                    }
                    pending()
                });
            }
            let open = connections.open.borrow();
            let last = |address| match address {
                IpAddr::V4(address) => address.octets()[3],
                IpAddr::V6(_) => 0,
            };
            open.iter().map(|(number, it)| (last(it.address), *number)).collect()
        })
    }

    #[test]
    fn strangers_push_out_strangers() {
        let one = open([(1, true)].into_iter().chain((0..500).map(|_| (1, false))));
        assert_eq!(one.len(), MOST_OF_ADDRESS);
        assert_eq!(one[0], (1, 1), "the one that has proven a key stays");
        assert_eq!(one[one.len() - 1], (1, 501), "and the newest is let in");
        let all = open([(1, true), (1, false)].into_iter().chain((0..=255).map(|it| (it, false))));
        assert_eq!(all.len(), MOST);
        assert_eq!((all[0], all[MOST - 1]), ((1, 1), (255, 258)));
        // One address alone leaves those of others as they are.
        let alone = open([(2, false)].into_iter().chain((0..500).map(|_| (1, false))));
        assert_eq!(alone[0], (2, 1));
        // A browser with too many loses the one that has been idle for longest.
        let proven = open((0..100).map(|_| (1, true)));
        assert_eq!((proven.len(), proven[0]), (MOST_OF_ADDRESS, (1, 37)));
    }
}
