//! Messages first seen at run time: the part of the dictionary that no tool has made.
//!
//! A message is entered when it is logged for the first time; a session's thread writes the entries into the trace, a
//! recording gets each at once. The table is bounded.
//!
//! Invariants: an entry is in the table before a message refers to it; entries never change; looking one up takes no lock.

use crate::level::GroupInfo;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::sys::fork::{ForkLock, Order};
use protolog_core::{Arg, Level, MAX_PARAMS, ParamKind, ParamMask, Template};
use std::sync::Arc;

/// The most different templates that get an entry of their own.
pub(crate) const MAX_TEMPLATES: usize = 4096;

/// `%s` of each group and level gets an entry beyond [`MAX_TEMPLATES`], up to here.
pub(crate) const MAX_ENTRIES: usize = MAX_TEMPLATES * 3 / 2;

/// The longest template that gets one, in bytes.
const MAX_LENGTH: usize = 4096;

const SLOTS: usize = (MAX_TEMPLATES * 2).next_power_of_two();

/// A message first seen at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) id: u64,
    pub(crate) template: &'static str,
    pub(crate) level: Level,
    pub(crate) group: &'static GroupInfo,
    /// What its id was made of, where that is known.
    pub(crate) place: &'static str,
    /// The file and line of the call.
    pub(crate) at: Option<(&'static str, u32)>,
}

/// A message that may be new.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) id: u64,
    pub(crate) template: &'a str,
    pub(crate) level: Level,
    pub(crate) group: &'static GroupInfo,
    pub(crate) place: &'a str,
    pub(crate) at: Option<(&'a str, u32)>,
}

/// Number and kinds of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    mask: u64,
    params: u32,
}

/// What a look-up needs of an entry.
struct Slot {
    /// 0 while unused; set last.
    id: AtomicU64,
    mask: AtomicU64,
    params: AtomicU32,
}

static KNOWN: [Slot; SLOTS] =
    [const { Slot { id: AtomicU64::new(0), mask: AtomicU64::new(0), params: AtomicU32::new(0) } };
        SLOTS];

static SEEN: ForkLock<Table> = ForkLock::with_child(
    Order::Interned,
    Table { entries: Vec::new(), listeners: Vec::new() },
    forget_listeners,
);

/// The entries, and who gets each before it is used.
pub(crate) struct Table {
    entries: Vec<Seen>,
    listeners: Vec<Arc<dyn Listener>>,
}

/// The shape of the message with this id, if it was seen.
pub(crate) fn shape(id: u64) -> Option<Shape> {
    let slot =
        probe(id).find(|slot| matches!(slot.id.load(Ordering::Acquire), 0) || slot.is(id))?;
    slot.is(id).then(|| Shape {
        mask: slot.mask.load(Ordering::Relaxed),
        params: slot.params.load(Ordering::Relaxed),
    })
}

/// Enters a message unless it was seen; none where its text is no template, or where there are `limit` entries.
#[cold]
pub(crate) fn enter(new: Candidate<'_>, limit: usize) -> Option<Shape> {
    let Candidate { id, template, level, group, place, at } = new;
    if template.len() > MAX_LENGTH || id == 0 {
        return None;
    }
    let parsed = Template::parse(template).ok()?;
    let mut table = SEEN.lock();
    if let Some(shape) = shape(id) {
        return Some(shape);
    }
    if table.entries.len() >= limit {
        return None;
    }
    let slot = probe(id).find(|slot| slot.is(0))?;
    let (template, place) = (kept(template), kept(place));
    let at = at.map(|(file, line)| (kept(file), line));
    let seen = Seen { id, template, level, group, place, at };
    table.entries.push(seen);
    for listener in &table.listeners {
        listener.enter(&[seen]);
    }
    let shape = Shape { mask: parsed.mask().bits(), params: parsed.len() as u32 };
    slot.mask.store(shape.mask, Ordering::Relaxed);
    slot.params.store(shape.params, Ordering::Relaxed);
    slot.id.store(id, Ordering::Release);
    Some(shape)
}

/// The entries from the `index`-th on, in the order in which they came.
pub(crate) fn from(index: usize) -> Vec<Seen> {
    SEEN.lock().entries.get(index..).unwrap_or_default().to_vec()
}

/// Gets messages first seen at run time.
pub(crate) trait Listener: Send + Sync {
    /// Takes new entries. Called with the table locked: it must not log, and the entries are not in use before it returns.
    fn enter(&self, new: &[Seen]);
}

/// Gives `listener` all entries, and from now on each new one before a message refers to it.
pub(crate) fn attach(listener: Arc<dyn Listener>) {
    let mut table = SEEN.lock();
    listener.enter(&table.entries);
    table.listeners.push(listener);
}

/// Ends what [`attach`] began.
pub(crate) fn detach(listener: &Arc<dyn Listener>) {
    let is_other =
        |other: &Arc<dyn Listener>| !std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(listener));
    SEEN.lock().listeners.retain(is_other);
}

/// In a forked child the listeners are its parent's, the entries are both's.
fn forget_listeners(table: &mut Table) {
    std::mem::forget(std::mem::take(&mut table.listeners));
}

/// The text, for the life of the process; the table is bounded.
fn kept(text: &str) -> &'static str {
    if text.is_empty() { "" } else { Box::leak(Box::from(text)) }
}

impl Shape {
    /// Of these arguments; none where they are too many.
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

impl Slot {
    fn is(&self, id: u64) -> bool {
        self.id.load(Ordering::Acquire) == id
    }
}

/// The slots in which an entry with this id may be, in order; the first unused one ends the search.
fn probe(id: u64) -> impl Iterator<Item = &'static Slot> {
    (0..SLOTS).map(move |step| &KNOWN[(id as usize).wrapping_add(step) % SLOTS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_a_shape() {
        let shape = |args: &[Arg<'_>]| Shape::of(args).map(|shape| (shape.mask, shape.params));
        assert_eq!(shape(&[]), Some((0, 0)));
        assert_eq!(shape(&[Arg::Int(1), Arg::Float(2.0), Arg::Uint(1)]), Some((0b01_10_01, 3)));
        assert_eq!(shape(&[Arg::Str("a"), Arg::Bool(true)]), Some((0b1100, 2)));
        assert_eq!(shape(&[Arg::Bool(true); 33]), None);
    }
}
