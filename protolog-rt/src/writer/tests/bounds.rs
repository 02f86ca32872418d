//! Messages of the fast path at every distance from a chunk's end, as long as they can be: none
//! goes beyond the limit.

use super::super::fast::MAX_DELTA;
use super::*;

/// Writes a message after a time that takes as many bytes as it may. Returns true if the fast path
/// wrote it.
fn write_late<A: FastArgs>(rig: &Rig, args: &A) -> bool {
    let writer = &rig.writer;
    writer.gate.enter();
    // SAFETY: *busy*: this is the only thread that knows the writer, and no message is being
    // written.
    let own = unsafe { &mut *writer.own.get() };
    own.last = own.last.saturating_sub(MAX_DELTA / 2);
    let limit = writer.gate.limit();
    let is_fast = match writer.fast_path(own, HEAD.id, args) {
        Ok(()) => true,
        Err(now) => writer.fast_path_interning(own, HEAD.id, args, now),
    };
    if is_fast {
        let end = own.position as usize;
        assert!(end <= limit, "{} bytes beyond the limit", end - limit);
    } else {
        assert!(write_slow(writer, own, args, None), "the session runs");
    }
    writer.gate.exit();
    is_fast
}

/// Fills chunks with the messages of `write`, from every position on.
fn fill(write: impl Fn(&Rig, u32) -> bool) {
    let mut fast = 0;
    for before in 0..128 {
        let rig = Rig::new(16);
        rig.log(1, before);
        fast += (0..300).filter(|number| write(&rig, *number)).count();
        rig.finish();
        let mut service = Service::default();
        assert_eq!(kept_by(&mut service, &rig.chunks()).len(), 301, "{before}");
        assert_eq!(service.violations, 0, "{before}");
    }
    assert!(fast > 0 || !crate::clock::uses_tsc());
}

#[test]
fn numbers_stay_below_the_limit() {
    fill(|rig, _| write_late(rig, &(Int(i64::MIN), ())));
}

#[test]
fn known_strings_stay_below_the_limit() {
    fill(|rig, _| write_late(rig, &(Str("known"), (Int(i64::MIN), ()))));
}

#[test]
fn new_strings_stay_below_the_limit() {
    fill(|rig, number| write_late(rig, &(Int(i64::MIN), (Str(&format!("{number:08}")), ()))));
}

#[test]
fn strings_of_all_lengths_have_their_size() {
    let four = (Int(i64::MIN), (Int(i64::MIN), (Int(i64::MIN), (Int(i64::MIN), ()))));
    fill(|rig, number| {
        let length = number as usize % 70;
        write_late(rig, &(Str(&format!("{number:>length$}")), four))
    });
}

#[test]
fn strings_that_are_longer_than_they_may_be_are_cut() {
    for (length, cut) in [(10, 0), (11, 2)] {
        let buffer = Buffer::new(Memory::new(Heap::new(PAGE)), FillPolicy::Stream);
        let core = arbiter(buffer, 10);
        let writer = Writer::register(&core);
        let rig = Rig { core, writer };
        rig.log(1, 0);
        let text = "x".repeat(length);
        rig.write(&(Str(&text), ()));
        rig.write(&(Str(&text), ()));
        assert_eq!(rig.lost(LossCause::Truncated), cut, "{length} bytes");
    }
}
