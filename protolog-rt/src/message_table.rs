//! Messages that become known at run time: the part of the dictionary that is not in the binary.
//!
//! A message is inserted when it is logged for the first time. A session's thread writes the
//! entries into the trace; a recorder gets each one at once. The table is bounded.
//!
//! Invariants: an entry is in the table before a message refers to it; entries never change; a
//! look-up takes no lock.

use crate::level::GroupInfo;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::sys::copies::NewTemplate;
use crate::sys::fork::{ForkLock, Order};
use protolog_core::{Arg, Level, MAX_PARAMS, ParamKind, ParamMask, Template};
use std::sync::Arc;

/// Maximum number of templates with an entry of their own.
pub(crate) const MAX_TEMPLATES: usize = 4096;

/// Maximum number of entries: beyond [`MAX_TEMPLATES`], only the template `%s` of each group and
/// level gets one.
pub(crate) const MAX_ENTRIES: usize = MAX_TEMPLATES * 3 / 2;

/// Maximum length of a template with an entry, in bytes.
const MAX_LENGTH: usize = 4096;

const SLOTS: usize = (MAX_TEMPLATES * 2).next_power_of_two();

/// A message in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuntimeMessage {
    pub(crate) id: u64,
    pub(crate) template: &'static str,
    /// Names of its arguments, see [`protolog_core::ArgumentNames`]. The id says nothing of them.
    pub(crate) names: &'static str,
    pub(crate) level: Level,
    pub(crate) group: &'static GroupInfo,
    /// The place in the hash of its id; empty if the id has none.
    pub(crate) place: &'static str,
    /// File and line of the call.
    pub(crate) at: Option<(&'static str, u32)>,
}

/// A message to insert, unless the table has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewMessage<'a> {
    pub(crate) id: u64,
    pub(crate) template: &'a str,
    pub(crate) names: &'a str,
    pub(crate) level: Level,
    pub(crate) group: &'static GroupInfo,
    pub(crate) place: &'a str,
    pub(crate) at: Option<(&'a str, u32)>,
}

/// Number and kinds of a message's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    mask: u64,
    params: u32,
}

/// The part of an entry that a look-up needs.
struct IndexSlot {
    /// 0 while unused; set last.
    id: AtomicU64,
    mask: AtomicU64,
    params: AtomicU32,
}

static INDEX: [IndexSlot; SLOTS] = [const {
    IndexSlot { id: AtomicU64::new(0), mask: AtomicU64::new(0), params: AtomicU32::new(0) }
}; SLOTS];

static TABLE: ForkLock<MessageTable> = ForkLock::with_child(
    Order::Interned,
    MessageTable { entries: Vec::new(), listeners: Vec::new() },
    leak_listeners,
);

/// The entries, and the listeners that get each one before it is used.
pub(crate) struct MessageTable {
    entries: Vec<RuntimeMessage>,
    listeners: Vec<Arc<dyn MessageListener>>,
}

/// Returns the signature of the message with this id, if the table has it.
pub(crate) fn signature(id: u64) -> Option<Signature> {
    let slot =
        probe(id).find(|slot| matches!(slot.id.load(Ordering::Acquire), 0) || slot.is(id))?;
    slot.is(id).then(|| Signature {
        mask: slot.mask.load(Ordering::Relaxed),
        params: slot.params.load(Ordering::Relaxed),
    })
}

/// Returns the signature of a message, and inserts it if it is new; see [`insert`].
pub(crate) fn signature_or_insert(message: NewMessage<'_>, limit: usize) -> Option<Signature> {
    signature(message.id).or_else(|| insert(message, limit))
}

/// Inserts a message unless the table has it, and returns its signature. None if the template can't
/// be parsed, or the table has `limit` entries.
#[cold]
fn insert(new: NewMessage<'_>, limit: usize) -> Option<Signature> {
    let NewMessage { id, template, names, level, group, place, at } = new;
    if template.len() > MAX_LENGTH || id == 0 {
        return None;
    }
    let parsed = Template::parse(template).ok()?;
    let severity = level.severity();
    let for_host = NewTemplate { id, severity, template, names, place, at, limit };
    if group.at_host().is_some_and(|host| !host.intern(for_host)) {
        return None;
    }
    let mut table = TABLE.lock();
    if let Some(signature) = signature(id) {
        return Some(signature);
    }
    if table.entries.len() >= limit {
        return None;
    }
    let slot = probe(id).find(|slot| slot.is(0))?;
    let (template, place) = (leaked(template), leaked(place));
    let names = leaked(names);
    let at = at.map(|(file, line)| (leaked(file), line));
    let message = RuntimeMessage { id, template, names, level, group, place, at };
    table.entries.push(message);
    for listener in &table.listeners {
        listener.on_insert(&[message]);
    }
    let signature = Signature { mask: parsed.mask().bits(), params: parsed.len() as u32 };
    slot.mask.store(signature.mask, Ordering::Relaxed);
    slot.params.store(signature.params, Ordering::Relaxed);
    slot.id.store(id, Ordering::Release);
    Some(signature)
}

/// Returns the entries from index `start` on, oldest first.
pub(crate) fn entries_from(start: usize) -> Vec<RuntimeMessage> {
    TABLE.lock().entries.get(start..).unwrap_or_default().to_vec()
}

/// A receiver of new entries.
pub(crate) trait MessageListener: Send + Sync {
    /// Takes new entries. Called with the table locked, so it must not log; the entries are not
    /// used before it returns.
    fn on_insert(&self, new: &[RuntimeMessage]);
}

/// Passes all entries to `listener`, and each later one before a message refers to it.
pub(crate) fn add_listener(listener: Arc<dyn MessageListener>) {
    let mut table = TABLE.lock();
    listener.on_insert(&table.entries);
    table.listeners.push(listener);
}

/// Removes a listener that [`add_listener`] added.
pub(crate) fn remove_listener(listener: &Arc<dyn MessageListener>) {
    let is_other = |other: &Arc<dyn MessageListener>| {
        !std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(listener))
    };
    TABLE.lock().listeners.retain(is_other);
}

/// Leaks the listeners in a forked child: they belong to sessions of its parent. The entries hold
/// in the child too.
fn leak_listeners(table: &mut MessageTable) {
    std::mem::forget(std::mem::take(&mut table.listeners));
}

/// Copies a string for the life of the process; the table is bounded.
fn leaked(text: &str) -> &'static str {
    if text.is_empty() { "" } else { Box::leak(Box::from(text)) }
}

impl Signature {
    /// Returns the signature of these arguments; none if they are too many.
    pub(crate) fn of(args: &[Arg<'_>]) -> Option<Self> {
        let mut mask = ParamMask::EMPTY;
        for (index, arg) in args.iter().enumerate() {
            let kind = match arg {
                Arg::Str(_) => ParamKind::Str,
                Arg::Int(_) | Arg::Uint(_) => ParamKind::Int,
                Arg::Float(_) => ParamKind::Float,
                Arg::Bool(_) => ParamKind::Bool,
            };
            mask = mask.with(index, kind)?;
        }
        (args.len() <= MAX_PARAMS).then_some(Self { mask: mask.bits(), params: args.len() as u32 })
    }
}

impl IndexSlot {
    fn is(&self, id: u64) -> bool {
        self.id.load(Ordering::Acquire) == id
    }
}

/// Iterates over the slots that an entry with this id may be in; the first unused one ends the
/// search.
fn probe(id: u64) -> impl Iterator<Item = &'static IndexSlot> {
    (0..SLOTS).map(move |step| &INDEX[(id as usize).wrapping_add(step) % SLOTS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_a_signature() {
        let signature = |args: &[Arg<'_>]| Signature::of(args).map(|it| (it.mask, it.params));
        assert_eq!(signature(&[]), Some((0, 0)));
        assert_eq!(signature(&[Arg::Int(1), Arg::Float(2.0), Arg::Uint(1)]), Some((0b01_10_01, 3)));
        assert_eq!(signature(&[Arg::Str("a"), Arg::Bool(true)]), Some((0b1100, 2)));
        assert_eq!(signature(&[Arg::Bool(true); 33]), None);
    }
}
