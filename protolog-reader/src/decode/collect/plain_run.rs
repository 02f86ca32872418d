//! Runs of plain messages: those that follow each other in one sequence, as in a chunk of a thread.
//!
//! The first message of a run is applied as any packet is. What it has set up and the others can't
//! change (the segment, the clock, the state of the sequence) is looked at once for all of them.
//!
//! Invariant: afterwards all is as if each message had been applied by itself.

use protozero::Reader;

use super::{Collected, Pass};
use crate::clocks::{CustomClock, Moment, TRACE_CLOCK, is_of_sequence};
use crate::damage::hole;
use crate::decode::plain_message::{PlainMessage, Tail, next_packet};
use crate::sequences::sequence_state::SequenceState;

/// The place of messages that may go on with a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunPlace<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where the next packet begins in them.
    pub(crate) begin: usize,
    /// The address of the bytes.
    pub(crate) address: u64,
    /// The offset of the bytes in the file; none if they are a bundle.
    pub(crate) offset: Option<u64>,
    /// The id of the sequence, as packets have it.
    pub(crate) sequence: u32,
    /// Messages that there is room for.
    pub(crate) most: u64,
    /// Larger packets are no part of a run, in bytes.
    pub(crate) largest: usize,
}

/// The end of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunEnd {
    pub(crate) end: usize,
    pub(crate) messages: u64,
    /// A part of the last message can't be decoded.
    pub(crate) is_malformed: bool,
}

impl RunPlace<'_> {
    /// The next message, its packet's bytes and where they begin. `tail` is that of the packets
    /// before.
    #[inline]
    fn next(
        &self,
        at: usize,
        sequence: &SequenceState,
        tail: &mut Option<Tail>,
    ) -> Option<(PlainMessage, &[u8], usize)> {
        if let Some(tail) = tail
            && let Some(alike) = tail.parse(self.bytes, at)
        {
            let plain = PlainMessage {
                timestamp: Some(alike.timestamp),
                sequence: self.sequence,
                needs_state: alike.needs_state,
                message: (alike.message.0 - alike.start, alike.message.1),
                interned: None,
                trusted_pid: None,
            };
            let is_next = sequence.valid || !alike.needs_state;
            return is_next.then_some((plain, &self.bytes[alike.start..alike.end], alike.start));
        }
        let packet = next_packet(self.bytes, at)?;
        let body = &self.bytes[packet.clone()];
        let plain = PlainMessage::parse_in_order(body)?;
        let is_next = plain.sequence == self.sequence
            && plain.is_of_process_of(sequence)
            && (sequence.valid || !plain.needs_state)
            && body.len() < self.largest
            && !(self.offset.is_some() && hole::reaches_into(self.bytes, packet.end));
        if tail.is_none() {
            *tail = Tail::of(body, &plain);
        }
        is_next.then_some((plain, body, packet.start))
    }
}

impl Collected {
    /// Applies the messages of a sequence that are next, after one of them was applied.
    pub(crate) fn apply_run(
        &mut self,
        sequence: &mut SequenceState,
        place: &RunPlace<'_>,
    ) -> RunEnd {
        let mut run = RunEnd { end: place.begin, messages: 0, is_malformed: false };
        let Some((mut clock, latest)) = self.clock_of(sequence).zip(self.latest) else {
            return run;
        };
        let (mut first, mut newest) = (i64::MAX, i64::MIN);
        let (mut last, is_survey) = (latest, self.pass == Pass::Survey);
        // All messages are kept, and the dictionary is known.
        let is_simple = self.pass == Pass::Entries && !self.is_skipping && !self.choice.is_made();
        let (mut begin, mut tail) = (place.begin, None);
        while run.messages < place.most && !run.is_malformed {
            let Some((plain, body, start)) = place.next(run.end, sequence, &mut tail) else {
                break;
            };
            let Some(moment) = clock.moment(plain.timestamp.unwrap_or_default()) else { break };
            (begin, run.end) = (run.end, start + body.len());
            run.messages += 1;
            last = moment;
            (first, newest) = (first.min(moment.ns), newest.max(moment.ns));
            if is_survey {
                if let Some(inputs) = &mut self.inputs {
                    inputs.note_time(self.threads.get(sequence.thread), moment);
                }
                continue;
            }
            let fields = |(at, len): (usize, usize)| {
                let bytes = body.get(at..at + len).unwrap_or_default();
                Reader::with_offset(bytes, place.address + (start + at) as u64)
            };
            if let Some(interned) = plain.interned {
                run.is_malformed = self.intern(sequence, fields(interned)).is_err();
            }
            let fields = fields(plain.message);
            let message = (fields.offset(), fields.rest());
            if !is_simple || self.usual_message(sequence, message, moment).is_none() {
                run.is_malformed |= self.message(sequence, fields, moment).is_err();
            }
        }
        if run.messages > 0 {
            self.put_back_clock(sequence, clock);
            self.end_run(sequence, (first, newest), (run.messages, last));
            if let Some(offset) = place.offset {
                self.packet_at = offset + begin as u64;
            }
            if is_survey {
                self.bound_at = Some(self.packet_at);
            }
        }
        run
    }

    /// Notes the first and the last time of a run of so many messages, and the one that it ends
    /// with.
    fn end_run(
        &mut self,
        sequence: &mut SequenceState,
        (first, newest): (i64, i64),
        (messages, last): (u64, Moment),
    ) {
        sequence.last = Some(last);
        if self.latest.is_none_or(|latest| latest.ns <= newest) {
            self.latest = Some(Moment { ns: newest, ..last });
        }
        if self.pass == Pass::Survey {
            self.segment.add_run((first, newest), messages);
        }
        self.malformed = None;
        self.framed_packets += messages;
    }

    /// The clock of packets that name none, if the times of messages are known by it.
    fn clock_of(&self, sequence: &SequenceState) -> Option<CustomClock> {
        let clock = sequence.default_clock.unwrap_or(TRACE_CLOCK);
        if sequence.is_torn {
            None
        } else if is_of_sequence(clock) {
            sequence.clocks.get(clock)
        } else {
            self.shared_clocks.get_shared(clock)
        }
    }

    fn put_back_clock(&mut self, sequence: &mut SequenceState, clock: CustomClock) {
        let of_sequence = sequence.default_clock.is_some_and(is_of_sequence);
        if of_sequence { &mut sequence.clocks } else { &mut self.shared_clocks }.put_back(clock);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protozero::wire::encode_varint;

    use super::*;
    use crate::damage::limits::Limits;
    use crate::decode::decoder::Decoder;

    fn number(tag: &[u8], value: u64) -> Vec<u8> {
        let (bytes, len) = encode_varint(value);
        [tag, &bytes[..len]].concat()
    }

    fn nested(tag: &[u8], content: &[u8]) -> Vec<u8> {
        [&number(tag, content.len() as u64), content].concat()
    }

    /// The beginning of a sequence whose clock 64 counts from packet to packet, or whose packets
    /// are of the trace's clock.
    fn beginning(sequence: u64, is_incremental: bool) -> Vec<u8> {
        let clock = |id, is_incremental| {
            let clock =
                [number(&[0x08], id), number(&[0x10], 1000), number(&[0x18], is_incremental)];
            nested(&[0x0a], &clock.concat())
        };
        let snapshot = nested(&[0x32], &[clock(6, 0), clock(64, 1)].concat());
        let default = nested(&[0xda, 0x03], &number(&[0xd0, 0x03], 64));
        let own = if is_incremental { [snapshot, default].concat() } else { Vec::new() };
        nested(&[0x0a], &[own, number(&[0x68], 1), number(&[0x50], sequence)].concat())
    }

    fn packet(sequence: u64) -> impl Strategy<Value = Vec<u8>> {
        let message = prop_oneof![
            12 => (any::<i8>(), 0..4_u64).prop_map(|(value, iid)| {
                let value = number(&[0x18], value as u64);
                let string = if iid == 3 { Vec::new() } else { number(&[0x10], iid) };
                [&[9, 7, 0, 0, 0, 0, 0, 0, 0], &string[..], &value].concat()
            }),
            1 => prop::collection::vec(any::<u8>(), 0..9),
        ];
        let interned = (1..4_u64, "[a-c]{1,3}").prop_map(|(iid, text)| {
            let string = [number(&[0x08], iid), nested(&[0x12], text.as_bytes())].concat();
            nested(&[0x62], &nested(&[0xa2, 0x02], &string))
        });
        // Most as a session writes them, some as a tracing service does, few that name another
        // process.
        let process =
            prop_oneof![5 => Just(None), 4 => Just(Some(7)), 1 => (7..9_u64).prop_map(Some)];
        let parts =
            (any::<u16>(), prop::option::weighted(0.3, interned), 0..3_u64, message, process);
        parts.prop_map(move |(ticks, interned, flags, message, process)| {
            let flags = if flags == 0 { Vec::new() } else { number(&[0x68], 2) };
            let message = nested(&[0xc2, 0x06], &message);
            let parts =
                [number(&[0x40], ticks.into()), interned.unwrap_or_default(), flags, message];
            let behind = process.map_or_else(
                || number(&[0x50], sequence),
                |pid| {
                    [number(&[0x18], 0), number(&[0x50], sequence), number(&[0xf8, 0x04], pid)]
                        .concat()
                },
            );
            nested(&[0x0a], &[parts.concat(), behind].concat())
        })
    }

    fn trace() -> impl Strategy<Value = Vec<u8>> {
        let run = (1..4_u64, any::<bool>()).prop_flat_map(|(sequence, is_incremental)| {
            let begins = prop::option::weighted(0.4, Just(beginning(sequence, is_incremental)));
            let packets = prop::collection::vec(packet(sequence), 0..9);
            (begins, packets).prop_map(|(begins, packets)| {
                [begins.unwrap_or_default(), packets.concat()].concat()
            })
        });
        prop::collection::vec(run, 0..9).prop_map(|runs| runs.concat())
    }

    /// All that a pass finds; without runs, where each message could fill a table.
    fn found(trace: &[u8], pass: Pass, has_runs: bool) -> String {
        let rows = if has_runs { usize::MAX } else { trace.len() };
        let mut decoder = Decoder::new(Limits { rows, ..Limits::default() }, false);
        decoder.begin(pass);
        decoder.collected_mut().least_segment = 40;
        let ended = decoder.segment(trace.to_vec(), 1000);
        let (it, sequences) = decoder.parts_mut();
        let states: Vec<_> = sequences
            .map(|it| {
                let strings = [1, 2, 3].map(|iid| it.strings.get(iid));
                let segments = (it.begun_in, it.last_segment);
                (it.valid, it.clocks.clone(), it.last, segments, it.stateless, strings)
            })
            .collect();
        let records = (&it.records, &it.string_refs, &it.strings, &it.losses, &it.stats);
        let times = (it.first, it.latest, it.malformed, it.framed_packets);
        let segments = (&it.segments, &it.segment, it.packet_at, it.bound_at);
        format!("{:#?}", (ended, states, records, times, segments))
    }

    proptest! {
        #[test]
        fn a_run_is_as_its_messages(trace in trace()) {
            for pass in [Pass::Whole, Pass::Survey, Pass::Entries] {
                prop_assert_eq!(found(&trace, pass, true), found(&trace, pass, false), "{:?}", pass);
            }
        }
    }
}
