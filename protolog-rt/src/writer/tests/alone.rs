//! Which writer leaves out the fence before the clock. The word for that is the process's, and other tests of it log at any
//! time: so some writers are tried, each with nothing behind it.

use super::*;
use crate::clock;
use crate::sys::barrier;
use std::thread;
use std::time::Duration;

/// Whether the writer may leave out the fence.
fn is_sole(writer: &Writer) -> bool {
    // SAFETY: *busy*: this is the only thread that knows the writer, and no message is being written.
    unsafe { &*writer.own.get() }.clock.is_sole()
}

/// Whether there is a fence to leave out, and a way to know that nobody else logs.
fn can_be_sole() -> bool {
    if !clock::is_fenced() {
        println!("skipped: leaving out a fence because this processor needs none");
        return false;
    }
    barrier::prepare();
    if !barrier::is_ready() {
        println!("skipped: leaving out a fence because the system has no membarrier");
    }
    barrier::is_ready()
}

/// Logs until the writer may leave out the fence; how many chunks it has taken then. None where another test came between.
fn settle(rig: &Rig) -> Option<usize> {
    for number in 0..300 {
        rig.log(number, 0);
        if is_sole(&rig.writer) {
            return Some(rig.chunks().len());
        }
    }
    None
}

/// Tries what may meet other tests until it does not, where a writer can be alone at all.
#[track_caller]
fn in_a_quiet_moment(mut attempt: impl FnMut() -> Option<()>) {
    if !can_be_sole() {
        return;
    }
    for _ in 0..5_000 {
        if attempt().is_some() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("in none of many tries");
}

/// [`settle`], beside so many other writers of the session, of which one is within a message or not. What other tests log
/// in between keeps it from being found out: so it is tried some times.
fn settle_beside(others: usize, is_busy: bool) -> Option<usize> {
    (0..20).find_map(|_| settle_once_beside(others, is_busy))
}

fn settle_once_beside(others: usize, is_busy: bool) -> Option<usize> {
    let rig = Rig::new(16);
    let register = || Writer::register(&rig.core, running::epoch()).expect("an id");
    let others: Vec<_> = (0..others).map(|_| register()).collect();
    if is_busy {
        others[0].gate.enter();
    }
    running::beside(&rig.core, || settle(&rig))
}

#[test]
fn who_logs_alone_leaves_out_the_fence_from_its_second_chunk_on() {
    in_a_quiet_moment(|| {
        let rig = Rig::new(16);
        assert!(!is_sole(&rig.writer), "nothing is said before it logs");
        let chunks = settle(&rig)?;
        assert!(chunks > 1, "it claims the word with one chunk, and gets it with another");
        rig.finish();
        (chunks == 2).then_some(())
    });
}

#[test]
fn it_stays_alone_while_it_logs() {
    in_a_quiet_moment(|| {
        let rig = Rig::new(16);
        settle(&rig)?;
        for number in 0..400 {
            rig.log(number, 0);
        }
        is_sole(&rig.writer).then_some(())
    });
}

#[test]
fn one_message_of_another_thread_ends_that() {
    in_a_quiet_moment(|| {
        let rig = Rig::new(16);
        settle(&rig)?;
        let other = Writer::register(&rig.core, running::epoch()).expect("an id");
        thread::scope(|scope| {
            scope.spawn(|| assert!(write(&other, &(Int(0), ())), "the session runs"));
        });
        assert!(!is_sole(&rig.writer), "another one logged");
        assert!(!is_sole(&other), "after one message");
        rig.log(0, 0);
        assert!(!is_sole(&rig.writer), "not before its next chunk");
        let before = rig.chunks().len();
        // And it may be alone again.
        while !is_sole(&rig.writer) && rig.chunks().len() < before + 3 {
            rig.log(0, 0);
        }
        is_sole(&rig.writer).then_some(())
    });
}

#[test]
fn nobody_is_alone_beside_one_that_is_within_a_message() {
    in_a_quiet_moment(|| {
        let busy = settle_beside(1, true);
        assert_eq!(busy, None, "it may have begun before the word was claimed");
        settle_beside(1, false).map(drop)
    });
}

#[test]
fn among_many_writers_nobody_is_alone() {
    in_a_quiet_moment(|| {
        // They log nothing, but to look at so many takes its time.
        assert_eq!(settle_beside(64, false), None);
        settle_beside(63, false).map(drop)
    });
}

#[test]
fn who_is_within_a_message_is_not_quiet() {
    let rig = Rig::new(16);
    let other = Writer::register(&rig.core, running::epoch()).expect("an id");
    let quiet = || [&rig.writer, &other].map(|writer| rig.core.is_quiet_but_for(writer));
    assert_eq!(quiet(), [true, true]);
    other.gate.enter();
    assert_eq!(quiet(), [false, true]);
    rig.writer.gate.enter();
    assert_eq!(quiet(), [false, false]);
    other.gate.exit();
    assert_eq!(quiet(), [true, false]);
    rig.writer.gate.exit();
    assert_eq!(quiet(), [true, true]);
}
