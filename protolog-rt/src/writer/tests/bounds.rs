//! Common messages at every distance from a chunk's end, as long as such messages can be: none goes beyond the limit.

use super::super::quick::MAX_DELTA;
use super::*;

/// Writes a message after a time that takes as many bytes as it may. Whether it was written as a common one.
fn write_late<V: Values>(rig: &Rig, values: &V) -> bool {
    let writer = &rig.writer;
    writer.gate.enter();
    // SAFETY: *busy*: this is the only thread that knows the writer, and no message is being written.
    let own = unsafe { &mut *writer.own.get() };
    own.last = own.last.saturating_sub(MAX_DELTA / 2);
    let limit = writer.gate.limit();
    let quick = writer.write_quick(own, HEAD, values);
    let is_common = match quick {
        Ok(()) => true,
        Err(now) => writer.write_new(own, HEAD, values, now),
    };
    if is_common {
        let end = own.position as usize;
        assert!(end <= limit, "{} bytes beyond the limit", end - limit);
    } else {
        assert!(writer.write_planned(own, HEAD, (values, None), |_| false), "the session runs");
    }
    writer.gate.exit();
    is_common
}

/// Fills chunks with what `write` writes, from every place on.
fn fill(write: impl Fn(&Rig, u32) -> bool) {
    let mut common = 0;
    for before in 0..128 {
        let rig = Rig::new(16);
        rig.log(1, before);
        common += (0..300).filter(|number| write(&rig, *number)).count();
        rig.finish();
        let mut service = Service::default();
        assert_eq!(kept_by(&mut service, &rig.chunks()).len(), 301, "{before}");
        assert_eq!(service.violations, 0, "{before}");
    }
    assert!(common > 0 || !crate::clock::counts());
}

#[test]
fn numbers_stay_below_the_limit() {
    fill(|rig, _| write_late(rig, &(Int(i64::MIN), ())));
}

#[test]
fn known_texts_stay_below_the_limit() {
    fill(|rig, _| write_late(rig, &(Text("known"), (Int(i64::MIN), ()))));
}

#[test]
fn new_texts_stay_below_the_limit() {
    fill(|rig, number| write_late(rig, &(Int(i64::MIN), (Text(&format!("{number:08}")), ()))));
}

#[test]
fn texts_of_all_lengths_have_their_size() {
    let four = (Int(i64::MIN), (Int(i64::MIN), (Int(i64::MIN), (Int(i64::MIN), ()))));
    fill(|rig, number| {
        let length = number as usize % 70;
        write_late(rig, &(Text(&format!("{number:>length$}")), four))
    });
}

#[test]
fn texts_that_are_longer_than_they_may_be_are_cut() {
    for (length, cut) in [(10, 0), (11, 2)] {
        let buffer = Buffer::anonymous(PAGE).unwrap();
        let core = arbiter(buffer, 10, FillPolicy::Stream);
        let writer = Writer::register(&core, running::epoch()).unwrap();
        let rig = Rig { core, writer };
        rig.log(1, 0);
        let text = "x".repeat(length);
        rig.write(&(Text(&text), ()));
        rig.write(&(Text(&text), ()));
        assert_eq!(rig.lost(LossCause::Truncated), cut, "{length} bytes");
    }
}
