//! Which writer leaves out the fence before the clock. The word for that is the process's, and other tests of it log at any
//! time: so some writers are tried, each with nothing behind it.

use super::*;
use crate::clock;
use crate::shmem::barrier;
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

/// Tries what may meet other tests until it does not.
#[track_caller]
fn in_a_quiet_moment<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    for _ in 0..5_000 {
        if let Some(found) = attempt() {
            return found;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("in none of many tries");
}

#[test]
fn who_logs_alone_leaves_out_the_fence_from_its_second_chunk_on() {
    if !can_be_sole() {
        return;
    }
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
    if !can_be_sole() {
        return;
    }
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
    if !can_be_sole() {
        return;
    }
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
    if !can_be_sole() {
        return;
    }
    let beside = |is_busy: bool| {
        let rig = Rig::new(16);
        let other = Writer::register(&rig.core, running::epoch()).expect("an id");
        if is_busy {
            other.gate.enter();
        }
        running::beside(&rig.core, || settle(&rig))
    };
    in_a_quiet_moment(|| {
        assert_eq!(beside(true), None, "it may have begun before the word was claimed");
        beside(false)
    });
}

#[test]
fn among_many_writers_nobody_is_alone() {
    let rig = Rig::new(16);
    for _ in 0..64 {
        Writer::register(&rig.core, running::epoch()).expect("an id");
    }
    // They log nothing, but to look at so many takes its time.
    running::beside(&rig.core, || assert_eq!(settle(&rig), None));
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
