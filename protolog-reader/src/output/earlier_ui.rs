//! The packets that an earlier run has added for Perfetto's UI, and the counters among them.

use protolog_core::schema::{packet, trace};
use protozero::{Field, Reader};

/// `TrackDescriptor.name`
pub(super) const TRACK_NAME: u32 = 2;
/// `TrackDescriptor.counter`
pub(super) const TRACK_COUNTER: u32 = 8;

/// An argument to show as a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterArg {
    /// A part of the template.
    pub template: String,
    /// The number of the argument, from 1.
    pub argument: usize,
    /// The part is all of it.
    pub is_whole: bool,
}

impl CounterArg {
    pub(super) fn is_of(&self, template: &str) -> bool {
        if self.is_whole { template == self.template } else { template.contains(&self.template) }
    }
}

/// The trace without what an earlier run has added to it, or to what it was merged of; and the
/// counters among that.
pub(super) fn without_perfetto_ui(trace: Vec<u8>) -> (Vec<u8>, Vec<CounterArg>) {
    let (mut reader, mut kept, mut from) = (Reader::new(&trace), Vec::new(), 0);
    let (mut at, mut counters) = (0, Vec::new());
    while let Some(Ok(field)) = reader.next() {
        let end = reader.offset() as usize;
        if is_for_ui(&field) {
            counters.extend(counter_of(field).filter(|counter| !counters.contains(counter)));
            kept.extend_from_slice(&trace[from..at]);
            from = end;
        }
        at = end;
    }
    if from == 0 {
        return (trace, counters);
    }
    // With the rest, which can't be read.
    kept.extend_from_slice(&trace[from..]);
    (kept, counters)
}

fn is_for_ui(field: &Field<'_>) -> bool {
    let mut fields = field.as_message().into_iter().flatten();
    let first = fields.next().and_then(Result::ok);
    field.number == trace::PACKET && first.is_some_and(|it| it.number == packet::FOR_UI)
}

/// The counter that a packet of ours describes.
fn counter_of(packet: Field<'_>) -> Option<CounterArg> {
    let descriptor = child(packet, packet::TRACK_DESCRIPTOR)?;
    child(descriptor, TRACK_COUNTER)?;
    let name = std::str::from_utf8(child(descriptor, TRACK_NAME)?.as_bytes().ok()?).ok()?;
    let (template, number) = name.strip_suffix(']')?.rsplit_once(" [")?;
    let (template, argument) = (template.to_owned(), number.parse().ok()?);
    Some(CounterArg { template, argument, is_whole: true })
}

/// The first field of this number.
fn child(message: Field<'_>, number: u32) -> Option<Field<'_>> {
    let mut fields = message.as_message().ok()?.map_while(Result::ok);
    fields.find(|field| field.number == number)
}
