//! A round of questions: many programs asked at once, and waited for until a deadline only.
//!
//! A program of another user can keep a peer of its socket for longer than any timeout of a read.
//! Before Linux 6.16 it sends an open file whose end takes time (a connection that lingers), and
//! the next read or the end of the connection waits for that. So all that touches a peer, the end
//! of its connection included, happens on a thread that nobody waits for after the deadline. A
//! thread that is stuck then is left behind, and ends with the process.
//!
//! Invariants: a round takes at most [`ROUND`], and the system's time to start and end. There are
//! at most [`AT_ONCE`] threads of a round, of which the programs of one user have at most
//! [`OF_ONE_USER`]. Those of this user come first, and then the others in turn.

use protolog_control::REPLY_TIMEOUT;
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time that a round takes at most.
pub(super) const ROUND: Duration = REPLY_TIMEOUT;
/// The most programs that are asked at a time.
const AT_ONCE: usize = 128;
/// The most programs of one user that are asked at a time, so that nobody's keep all threads.
const OF_ONE_USER: usize = 32;

/// Asks each of `all`, which come with their users, and gives the answers in the order of the
/// questions; none of those that were not there by the deadline, which `ask` is given.
pub(super) fn ask_all<Q, A>(
    all: impl IntoIterator<Item = (u32, Q)>,
    time: Duration,
    ask: impl Fn(Q, Instant) -> A + Send + Sync + 'static,
) -> Vec<Option<A>>
where
    Q: Send + 'static,
    A: Send + 'static,
{
    let deadline = Instant::now() + time;
    let waiting = Waiting::new(all);
    let count = waiting.count();
    let mut answers: Vec<_> = (0..count).map(|_| None).collect();
    let shared = Arc::new((Mutex::new(waiting), ask));
    let (sender, receiver) = channel();
    for number in 0..count.min(AT_ONCE) {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        let work = move || work(&shared, deadline, &sender);
        let started = thread::Builder::new().spawn(work);
        // One has to do where there can be no more.
        if started.is_err() && number == 0 {
            return answers;
        }
    }
    drop(sender);
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        let Ok((index, answer)) = receiver.recv_timeout(left) else { break };
        answers[index] = Some(answer);
    }
    answers
}

/// Asks one after the other, until nobody is left or the time is over.
fn work<Q, A>(
    shared: &(Mutex<Waiting<Q>>, impl Fn(Q, Instant) -> A),
    deadline: Instant,
    answers: &Sender<(usize, A)>,
) {
    let (waiting, ask) = shared;
    let waiting = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
    while Instant::now() < deadline {
        let Some((user, index, question)) = waiting().take() else { return };
        let answer = ask(question, deadline);
        waiting().done(user);
        if answers.send((index, answer)).is_err() {
            return;
        }
    }
}

/// The questions that were not asked yet, by user.
struct Waiting<Q> {
    users: Vec<OfUser<Q>>,
    /// The user whose turn it is.
    next: usize,
}

struct OfUser<Q> {
    user: u32,
    running: usize,
    /// Each with its index among all.
    questions: VecDeque<(usize, Q)>,
}

impl<Q> Waiting<Q> {
    fn new(all: impl IntoIterator<Item = (u32, Q)>) -> Self {
        let mut users: Vec<OfUser<Q>> = Vec::new();
        for (index, (user, question)) in all.into_iter().enumerate() {
            let at = users.iter().position(|one| one.user == user).unwrap_or_else(|| {
                users.push(OfUser { user, running: 0, questions: VecDeque::new() });
                users.len() - 1
            });
            users[at].questions.push_back((index, question));
        }
        Self { users, next: 0 }
    }

    fn count(&self) -> usize {
        self.users.iter().map(|one| one.questions.len()).sum()
    }

    /// The next question with its user's place and its index: one of this user's if there is any,
    /// or else those of the others in turn.
    fn take(&mut self) -> Option<(usize, usize, Q)> {
        let own = rustix::process::geteuid().as_raw();
        let count = self.users.len();
        let is_free = |one: &OfUser<Q>| one.running < OF_ONE_USER && !one.questions.is_empty();
        let first = self.users.iter().position(|one| one.user == own && is_free(one));
        let mut turns = (self.next..self.next + count).map(|at| at % count);
        let at = first.or_else(|| turns.find(|at| is_free(&self.users[*at])))?;
        if first.is_none() {
            self.next = at + 1;
        }
        let one = &mut self.users[at];
        let (index, question) = one.questions.pop_front()?;
        one.running += 1;
        Some((at, index, question))
    }

    fn done(&mut self, at: usize) {
        self.users[at].running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The user of the tests, and others.
    fn users() -> [u32; 3] {
        let own = rustix::process::geteuid().as_raw();
        [own, own + 1, own + 2]
    }

    #[test]
    fn the_answers_are_in_the_order_of_the_questions() {
        let [own, one, other] = users();
        let all = (0..1000).map(|number| ([one, own, other][number % 3], number));
        let answers = ask_all(all, Duration::from_secs(600), |number, _| number * 2);
        assert!(answers.into_iter().eq((0..1000).map(|number| Some(number * 2))));
        let none: Vec<(u32, ())> = Vec::new();
        assert_eq!(ask_all(none, Duration::from_secs(600), |(), _| ()), []);
    }

    #[test]
    fn what_is_stuck_keeps_nobody_else_from_being_asked() {
        let [own, one, other] = users();
        let stuck = |user| (0..1000).map(move |_| (user, true));
        let all = stuck(own).chain(stuck(one)).chain([(other, false), (one, false)]);
        let ask = |is_stuck, _: Instant| {
            if is_stuck {
                loop {
                    thread::park();
                }
            }
        };
        let answers = ask_all(all, Duration::from_secs(3), ask);
        let answered: Vec<_> = (0..answers.len()).filter(|at| answers[*at].is_some()).collect();
        assert_eq!(answered, [2000], "a user's own ones may keep each other");
    }

    #[test]
    fn this_user_comes_first_and_others_by_turns() {
        let [own, one, other] = users();
        let all = [one, one, one, other, own, other, own].into_iter().zip(0..);
        let mut waiting = Waiting::new(all);
        let order: Vec<_> = std::iter::from_fn(|| waiting.take()).map(|it| it.2).collect();
        assert_eq!(order, [4, 6, 0, 3, 1, 5, 2]);
    }
}
