//! Requests: their ids, and which messages belong to them.
//!
//! A mark in a sequence says which request its messages belong to from there on. Records of
//! messages have no room for that, and most traces have no requests; so what is kept is where the
//! request changes, by the addresses of messages.
//!
//! Invariant: addresses of one block count up in the order of its packets; where another block
//! begins or goes on, the request is noted anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;
use protolog_core::schema::request;
use protozero::{DecodeError, Field};

/// The index of no request.
pub(crate) const NO_REQUEST: u32 = 0;

/// The ids of requests, by index; those of pages share them.
#[derive(Clone, Debug, Default)]
struct Ids {
    /// From index 1.
    list: Vec<Arc<str>>,
    index: HashMap<Arc<str>, u32>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    ids: Arc<Ids>,
    /// By the address of the first message.
    changes: BTreeMap<u64, u32>,
    /// Where blocks begin or go on without a request, before the first change.
    without: Vec<u64>,
    /// The request of the last message, if the next one's address comes after it.
    last: Option<u32>,
}

impl Requests {
    /// Returns the index of the request that a mark names.
    pub(crate) fn index(&mut self, mark: Field<'_>) -> Result<u32, DecodeError> {
        let (mut number, mut id) = (0, "".into());
        for field in mark.as_message()? {
            let field = field?;
            match field.number {
                request::NUMBER => number = field.as_u64()?,
                request::ID => id = String::from_utf8_lossy(field.as_bytes()?),
                _ => {}
            }
        }
        if number == 0 {
            return Ok(NO_REQUEST);
        }
        if let Some(known) = self.ids.index.get(&*id) {
            return Ok(*known);
        }
        let ids = Arc::make_mut(&mut self.ids);
        let id: Arc<str> = id.into();
        ids.list.push(Arc::clone(&id));
        let index = ids.list.len() as u32;
        ids.index.insert(id, index);
        Ok(index)
    }

    /// Notes the request of a message that has this address.
    #[inline]
    pub(crate) fn note(&mut self, at: u64, request: u32) {
        if self.last != Some(request) {
            self.change(at, request);
        }
    }

    #[cold]
    fn change(&mut self, at: u64, request: u32) {
        self.last = Some(request);
        if request == NO_REQUEST && self.changes.is_empty() {
            self.without.push(at);
            return;
        }
        // Addresses of later blocks may be lower.
        self.changes.extend(self.without.drain(..).map(|at| (at, NO_REQUEST)));
        self.changes.insert(at, request);
    }

    /// Goes on to another block.
    pub(crate) fn begin_block(&mut self) {
        self.last = None;
    }

    /// Returns whether no message belongs to one.
    pub(crate) fn are_none(&self) -> bool {
        self.changes.is_empty()
    }

    /// The request of the message at this address, as an index.
    pub(crate) fn index_of(&self, at: u64) -> u32 {
        self.changes.range(..=at).next_back().map_or(NO_REQUEST, |(_, index)| *index)
    }

    /// The id of the request of the message at this address.
    pub(crate) fn of(&self, at: u64) -> Option<&str> {
        let id = self.ids.list.get((self.index_of(at) as usize).checked_sub(1)?)?;
        Some(id)
    }

    /// The ids of all requests.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.list.iter().map(|id| &**id)
    }

    /// Takes the requests of a page.
    pub(crate) fn take_page(&mut self) -> Self {
        let changes = std::mem::take(&mut self.changes);
        self.without.clear();
        self.begin_block();
        Self { ids: Arc::clone(&self.ids), changes, ..Self::default() }
    }

    /// The memory that they take, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        const AROUND: usize = 64;
        let changes = self.changes.len() * 2 * size_of::<(u64, u32)>();
        changes + self.without.len() * size_of::<u64>() + self.ids.list.len() * AROUND
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protozero::{Heap, Reader, Writer};

    fn mark(number: u64, id: &str) -> Vec<u8> {
        let mut writer = Writer::new(Heap::new());
        writer.message().nested(1).uint64(request::NUMBER, number).string(request::ID, id);
        writer.into_vec().unwrap()
    }

    fn index(requests: &mut Requests, number: u64, id: &str) -> u32 {
        let mark = mark(number, id);
        requests.index(Reader::new(&mark).next().unwrap().unwrap()).unwrap()
    }

    #[test]
    fn messages_are_between_changes() {
        let mut requests = Requests::default();
        requests.note(10, NO_REQUEST);
        assert!(requests.are_none());
        let one = index(&mut requests, 1, "one");
        let two = index(&mut requests, 2, "two");
        assert_eq!(index(&mut requests, 3, "one"), one, "people know them by their ids");
        assert_eq!(index(&mut requests, 0, ""), NO_REQUEST);
        for (at, request) in [(20, one), (30, one), (40, two), (50, NO_REQUEST)] {
            requests.note(at, request);
        }
        // A block that was inflated meanwhile, and the rest of the first one.
        requests.begin_block();
        requests.note(1000, two);
        requests.begin_block();
        requests.note(60, two);
        requests.begin_block();
        requests.note(2000, two);
        let of = [10, 20, 35, 40, 50, 60, 1000, 2000].map(|at| requests.of(at));
        let (one, two) = (Some("one"), Some("two"));
        assert_eq!(of, [None, one, one, two, None, two, two, two]);
        assert_eq!(requests.ids().collect::<Vec<_>>(), ["one", "two"]);
        let page = requests.take_page();
        assert!(requests.are_none() && page.of(20) == one);
        requests.note(20, 2);
        assert_eq!(requests.of(20), two, "a page has addresses of its own");
    }

    /// A bundle that was inflated, and then the rest of the file, which is before it.
    #[test]
    fn blocks_before_the_first_request_have_none() {
        let mut requests = Requests::default();
        requests.note(10, NO_REQUEST);
        requests.begin_block();
        requests.note(1000, NO_REQUEST);
        requests.begin_block();
        requests.note(60, NO_REQUEST);
        assert!(requests.are_none());
        let one = index(&mut requests, 1, "one");
        requests.note(70, one);
        assert_eq!([10, 60, 70, 1000].map(|at| requests.of(at)), [None, None, Some("one"), None]);
    }
}
