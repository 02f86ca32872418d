//! The connections that are open, each with the time that it has left.
//!
//! Invariants:
//! - There are at most [`MOST`], and [`MOST_OF_ONE`] of one user; where the kernel does not say
//!   whose one is, of one address. One more of somebody else than this user is closed at once.
//!   Otherwise it is let in all the same, and the oldest one that has proven nothing is closed for
//!   it: of the same user, or of the other one with most; never one of this user. So strangers
//!   can't keep a browser out by holding connections, and those of other users can't by any number
//!   of new ones.
//! - A connection that has proven nothing has [`STRANGER`] in all. One that has is closed when
//!   nothing is written and nothing asked for [`IDLE`].

use crate::system::os;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, sleep, sleep_until};

/// The most connections.
pub(super) const MOST: usize = 128;
/// The most connections of one user: so few that three who have as many leave room for another one.
pub(super) const MOST_OF_ONE: usize = MOST / 4;
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

/// The peer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Comer {
    /// This user.
    Own,
    /// Another user.
    Other(u32),
    /// Somebody at this address.
    Unknown(IpAddr),
}

impl Comer {
    /// This user, if there is one, at this address.
    pub(super) fn new(user: Option<u32>, address: IpAddr) -> Self {
        match user {
            Some(user) if user == os::user() => Self::Own,
            Some(user) => Self::Other(user),
            None => Self::Unknown(address),
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
    comer: Comer,
    lease: Rc<Lease>,
    task: AbortHandle,
}

impl Connections {
    /// Serves a connection in a task of its own, for which another one may be closed; or closes it.
    pub(super) fn add<F: Future<Output = ()> + 'static>(
        self: &Rc<Self>,
        comer: Comer,
        serve: impl FnOnce(Rc<Lease>) -> F,
    ) {
        if !self.make_room(comer) {
            return;
        }
        let number = self.last.get() + 1;
        self.last.set(number);
        let lease = Rc::new(Lease::new());
        let (served, connections) = (serve(lease.clone()), self.clone());
        let task = spawn_local(async move {
            served.await;
            connections.open.borrow_mut().remove(&number);
        });
        let connection = Connection { comer, lease, task: task.abort_handle() };
        self.open.borrow_mut().insert(number, connection);
    }

    /// Makes room for one more; false if there is to be none.
    fn make_room(&self, comer: Comer) -> bool {
        let mut counts: BTreeMap<Comer, usize> = BTreeMap::new();
        for connection in self.open.borrow().values() {
            *counts.entry(connection.comer).or_default() += 1;
        }
        if counts.get(&comer).is_some_and(|count| *count >= MOST_OF_ONE) {
            if matches!(comer, Comer::Other(_)) {
                return false;
            }
            self.close_one(|it| it.comer == comer);
        } else if counts.values().sum::<usize>() >= MOST {
            let others = counts.iter().filter(|(comer, _)| **comer != Comer::Own);
            let most = others.max_by_key(|(_, count)| **count).map(|(comer, _)| *comer);
            self.close_one(|it| most == Some(it.comer));
        }
        true
    }

    /// Closes the oldest one of these that has proven nothing, or else the one that has been idle
    /// for longest.
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

    const ONE: Comer = Comer::Unknown(IpAddr::V4(Ipv4Addr::LOCALHOST));

    /// The connections that are open, with the order of their coming, after these came; true has
    /// proven a key.
    fn open(comers: impl IntoIterator<Item = (Comer, bool)>) -> Vec<(Comer, u64)> {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let connections = Rc::new(Connections::default());
            for (comer, is_proven) in comers {
                connections.add(comer, |lease| {
                    if is_proven {
                        lease.note_proof();
                        lease.note_reply(false);
                    }
                    pending()
                });
            }
            let open = connections.open.borrow();
            open.iter().map(|(number, it)| (it.comer, *number)).collect()
        })
    }

    #[test]
    fn strangers_push_out_strangers() {
        for comer in [Comer::Own, ONE] {
            let one = open([(comer, true)].into_iter().chain((0..500).map(|_| (comer, false))));
            assert_eq!(one.len(), MOST_OF_ONE);
            assert_eq!(one[0], (comer, 1), "the one that has proven a key stays");
            assert_eq!(one[one.len() - 1], (comer, 501), "and the newest is let in");
        }
        // A browser with too many loses the one that has been idle for longest.
        let proven = open((0..100).map(|_| (Comer::Own, true)));
        assert_eq!((proven.len(), proven[0].1), (MOST_OF_ONE, 101 - MOST_OF_ONE as u64));
    }

    #[test]
    fn other_users_push_out_nobody_but_the_greediest() {
        let many = |comer| (0..500).map(move |_| (comer, false));
        let mine = [(Comer::Own, false), (ONE, false)];
        let all = open(mine.into_iter().chain(many(Comer::Other(1))).chain(many(Comer::Other(2))));
        assert_eq!(all.len(), 2 + 2 * MOST_OF_ONE);
        assert_eq!((all[0].1, all[1].1, all[2].1), (1, 2, 3), "those that came first");
        // However many users there are.
        let users = (0..20).flat_map(|user| many(Comer::Other(user)));
        let all = open(mine.into_iter().chain(users));
        assert_eq!((all.len(), all[0].1, all[1].1), (MOST, 1, 2));
        // Nor does one of a hundred users who have few.
        let mine = [(Comer::Own, false); 6];
        let users = (0..127).map(|user| (Comer::Other(user), false));
        let all = open(mine.into_iter().chain(users));
        assert_eq!((all.len(), all[5]), (MOST, (Comer::Own, 6)));
        let late = open(many(Comer::Other(1)).chain(many(Comer::Other(2))).chain(mine));
        assert_eq!(late.len(), 6 + 2 * MOST_OF_ONE);
    }
}
