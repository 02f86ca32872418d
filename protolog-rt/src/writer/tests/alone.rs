//! The fence bias (`clock/bias.rs`) with real writers. The bias is the process's, and other tests
//! of the same process log at any time: so each test makes several attempts, each with a new
//! writer.

use super::*;
use crate::clock;
use crate::sys::barrier;
use std::thread;
use std::time::Duration;

/// Returns true if the writer leaves out the fence.
fn skips_fence(writer: &Writer) -> bool {
    // SAFETY: *busy*: this is the only thread that knows the writer, and no message is being
    // written.
    unsafe { &*writer.own.get() }.clock.skips_fence()
}

/// Returns true if there is a fence to leave out, and a way to know that no other thread logs.
fn can_skip_fence() -> bool {
    if !clock::IS_FENCED {
        println!("skipped: leaving out a fence because this processor needs none");
        return false;
    }
    barrier::prepare();
    if !barrier::is_ready() {
        println!("skipped: leaving out a fence because the system has no membarrier");
    }
    barrier::is_ready()
}

/// Logs until the writer leaves out the fence; returns the number of its chunks by then, or none if
/// another test logged meanwhile.
fn acquire_bias(rig: &Rig) -> Option<usize> {
    for number in 0..300 {
        rig.log(number, 0);
        if skips_fence(&rig.writer) {
            return Some(rig.chunks().len());
        }
    }
    None
}

/// Repeats an attempt that other tests may disturb until it succeeds.
#[track_caller]
fn in_a_quiet_moment(mut attempt: impl FnMut() -> Option<()>) {
    if !can_skip_fence() {
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

/// [`acquire_bias`], beside `others` writers of the same session, one of which may be within a
/// message. Tries several times, since other tests may log meanwhile.
fn acquire_bias_beside(others: usize, is_busy: bool) -> Option<usize> {
    (0..20).find_map(|_| acquire_bias_once_beside(others, is_busy))
}

fn acquire_bias_once_beside(others: usize, is_busy: bool) -> Option<usize> {
    let rig = Rig::new(16);
    let register = || Writer::register(&rig.core);
    let others: Vec<_> = (0..others).map(|_| register()).collect();
    if is_busy {
        others[0].gate.enter();
    }
    running::beside(&rig.core, || acquire_bias(&rig))
}

#[test]
fn a_single_writer_leaves_out_the_fence_from_its_second_chunk_on() {
    in_a_quiet_moment(|| {
        let rig = Rig::new(16);
        assert!(!skips_fence(&rig.writer), "no bias before it logs");
        let chunks = acquire_bias(&rig)?;
        assert!(chunks > 1, "it claims the bias with one chunk, and acquires it with another");
        rig.finish();
        (chunks == 2).then_some(())
    });
}

#[test]
fn it_keeps_the_bias_while_it_logs() {
    in_a_quiet_moment(|| {
        let rig = Rig::new(16);
        acquire_bias(&rig)?;
        for number in 0..400 {
            rig.log(number, 0);
        }
        skips_fence(&rig.writer).then_some(())
    });
}

#[test]
fn one_message_of_another_thread_revokes_it() {
    in_a_quiet_moment(|| {
        let rig = Rig::new(16);
        acquire_bias(&rig)?;
        let other = Writer::register(&rig.core);
        thread::scope(|scope| {
            scope.spawn(|| assert!(write(&other, &(Int(0), ())), "the session runs"));
        });
        assert!(!skips_fence(&rig.writer), "another one logged");
        assert!(!skips_fence(&other), "after one message");
        rig.log(0, 0);
        assert!(!skips_fence(&rig.writer), "not before its next chunk");
        let before = rig.chunks().len();
        // It can acquire it again.
        while !skips_fence(&rig.writer) && rig.chunks().len() < before + 3 {
            rig.log(0, 0);
        }
        skips_fence(&rig.writer).then_some(())
    });
}

#[test]
fn a_writer_within_a_message_keeps_others_from_it() {
    in_a_quiet_moment(|| {
        let busy = acquire_bias_beside(1, true);
        assert_eq!(busy, None, "it may have begun before the claim");
        acquire_bias_beside(1, false).map(drop)
    });
}

#[test]
fn many_writers_are_not_asked() {
    in_a_quiet_moment(|| {
        // They log nothing, but asking so many would take long.
        assert_eq!(acquire_bias_beside(64, false), None);
        acquire_bias_beside(63, false).map(drop)
    });
}

#[test]
fn a_writer_within_a_message_is_not_quiet() {
    let rig = Rig::new(16);
    let other = Writer::register(&rig.core);
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
