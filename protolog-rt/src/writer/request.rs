//! The requests that a thread is in: a message belongs to the innermost one.
//!
//! ```text
//! enter, leave   the thread's scopes; then the limits of its writers are cleared
//! next message   out of line: a mark goes into the chunk if it has another request as its last one
//! next chunk     begins with a mark if the thread is in a request
//! ```
//!
//! So a message costs nothing more, within a request or not; a scope without messages writes
//! nothing; and each chunk says by itself which request each of its messages belongs to.
//!
//! Invariants
//! - What a signal handler enters, it leaves: the thread that it has interrupted finds the list as
//!   it was.
//! - Scopes end in any order: one that is not the innermost is passed over once those within it
//!   have ended.
//! - A mark is written where the chunk is its thread's alone ([`super::state`]).

use super::fields::Fields;
use super::routes::close_writers;
use crate::sync::light_barrier;
use protolog_core::schema::{packet, request};
use std::cell::Cell;

/// The most bytes of a request's id.
pub(crate) const MAX_ID: usize = 64;

/// The most bytes of a mark: field with a length of four bytes, number, id.
pub(super) const MAX_MARK: usize = 2 + 4 + 11 + 2 + MAX_ID;

/// The most scopes of a thread, one within the other.
const MAX_DEPTH: usize = 16;

/// The number of no request.
pub(super) const NO_REQUEST: u64 = 0;

/// A request, as marks name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestMark {
    /// From 1.
    pub(crate) number: u64,
    length: u8,
    id: [u8; MAX_ID],
}

impl RequestMark {
    pub(super) const NONE: Self = Self { number: NO_REQUEST, length: 0, id: [0; MAX_ID] };

    /// A request with this id, of at most [`MAX_ID`] bytes.
    pub(crate) fn new(number: u64, id: &str) -> Self {
        let mut mark = Self { number, ..Self::NONE };
        let bytes = id.as_bytes().get(..MAX_ID).unwrap_or(id.as_bytes());
        for (to, byte) in mark.id.iter_mut().zip(bytes) {
            *to = *byte;
        }
        mark.length = bytes.len() as u8;
        mark
    }

    /// The id.
    pub(crate) fn id(&self) -> &str {
        let id = self.id.get(..self.length.into()).unwrap_or_default();
        std::str::from_utf8(id).unwrap_or_default()
    }

    /// The mark as a packet.
    pub(super) fn packet(&self) -> Fields<MAX_MARK> {
        let mut packet = Fields::new();
        packet.add(|to| {
            let mut mark = to.nested(packet::REQUEST);
            if self.number != NO_REQUEST {
                mark.uint64(request::NUMBER, self.number).string(request::ID, self.id());
            }
        });
        packet
    }
}

/// A scope of a thread.
struct EnteredRequest {
    /// Its number on the thread, from 1; 0 once it has ended.
    serial: Cell<u64>,
    mark: Cell<RequestMark>,
}

/// The scopes that a thread is in, the innermost last.
struct EnteredRequests {
    list: [EnteredRequest; MAX_DEPTH],
    /// The number of those that are in use. The last one of them has not ended.
    len: Cell<usize>,
    /// The serial number of the newest one.
    newest: Cell<u64>,
    /// The number of the request that the thread is in.
    current: Cell<u64>,
}

/// A key has the index in its lowest bits, and the serial number above.
const INDEX_BITS: u32 = MAX_DEPTH.ilog2();

thread_local! {
    /// Without a destructor, so it is there as long as the thread.
    static ENTERED: EnteredRequests = const {
        EnteredRequests {
            list: [const {
                EnteredRequest { serial: Cell::new(0), mark: Cell::new(RequestMark::NONE) }
            }; MAX_DEPTH],
            len: Cell::new(0),
            newest: Cell::new(0),
            current: Cell::new(NO_REQUEST),
        }
    };
}

impl EnteredRequests {
    fn innermost(&self) -> Option<&EnteredRequest> {
        self.list.get(self.len.get().checked_sub(1)?)
    }

    /// Notes which scope is the innermost one now, and has the next message look.
    fn follow(&self) {
        let number = self.innermost().map_or(NO_REQUEST, |scope| scope.mark.get().number);
        if self.current.replace(number) != number {
            close_writers();
        }
    }
}

/// Has the calling thread enter a request, and returns the key of the scope; 0 where it is in too
/// many of them.
pub(crate) fn enter_request(mark: RequestMark) -> u64 {
    ENTERED.with(|scopes| {
        let index = scopes.len.get();
        let Some(scope) = scopes.list.get(index) else { return 0 };
        let serial = scopes.newest.get() + 1;
        scopes.newest.set(serial);
        // A handler that interrupts this uses the same place, until the length counts it.
        while scopes.len.get() == index || scope.serial.get() != serial {
            scope.mark.set(mark);
            scope.serial.set(serial);
            light_barrier();
            scopes.len.set(index + 1);
            light_barrier();
        }
        scopes.follow();
        serial << INDEX_BITS | index as u64
    })
}

/// Has the calling thread leave the scope with this key, unless it is over.
pub(crate) fn leave_request(key: u64) {
    ENTERED.with(|scopes| {
        let serial = key >> INDEX_BITS;
        let scope = scopes.list.get(key as usize % MAX_DEPTH);
        let Some(scope) = scope.filter(|scope| serial != 0 && scope.serial.get() == serial) else {
            return;
        };
        scope.serial.set(0);
        let used = scopes.list.get(..scopes.len.get()).unwrap_or_default();
        let last = used.iter().rposition(|scope| scope.serial.get() != 0);
        scopes.len.set(last.map_or(0, |last| last + 1));
        scopes.follow();
    });
}

/// The innermost request that the calling thread is in.
pub(crate) fn current_request() -> Option<RequestMark> {
    ENTERED.with(|scopes| Some(scopes.innermost()?.mark.get()))
}

/// Its number, or [`NO_REQUEST`].
#[inline]
pub(super) fn current_number() -> u64 {
    ENTERED.with(|scopes| scopes.current.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::FixedString;
    use protozero::Reader;

    /// The field of a packet, and what is in it.
    fn parts(packet: &[u8]) -> (u32, Vec<u8>) {
        let mut fields = Reader::new(packet).map(|field| field.expect("a field"));
        let field = fields.next().expect("a mark");
        assert!(fields.next().is_none());
        (field.number, field.as_bytes().expect("a message").to_vec())
    }

    /// Java's tests have the same vectors; there the length has no more bytes than it needs.
    #[test]
    fn marks_match_the_vectors() {
        let vectors = include_str!("../../../protolog-core/testdata/marks.tsv");
        for row in vectors.lines().skip(1) {
            let fields: Vec<&str> = row.split('\t').collect();
            let mut id = FixedString::<MAX_ID>::new();
            let mark = RequestMark::new(fields[0].parse().expect("a number"), id.print(&fields[1]));
            let digits: Vec<&str> = fields[2].split_inclusive(|_| true).collect();
            let bytes = digits.chunks(2).map(|it| u8::from_str_radix(&it.concat(), 16));
            let expected: Vec<u8> = bytes.map(|byte| byte.expect("a byte")).collect();
            assert_eq!(parts(mark.packet().bytes()), parts(&expected), "{row}");
        }
    }

    #[test]
    fn the_largest_mark_has_room() {
        let mark = RequestMark::new(u64::MAX, &"x".repeat(MAX_ID)).packet();
        assert_eq!(mark.bytes().len(), MAX_MARK);
    }
}
