//! Messages that no tool has seen: their text becomes known when they are logged for the first time.
//!
//! Such a message has the empty place, so its id depends on text, level and group alone. The first time it is logged it
//! is entered into a table; a session's thread writes the entries into the trace. The table is bounded: when
//! [`MAX_TEMPLATES`] texts are known, further ones are rendered here and logged as the argument of `%s`, so that nothing
//! is lost but the saving; the same happens to arguments that do not fit their template.
//!
//! Invariants: an entry is in the table before a message refers to it; entries never change; looking one up takes no lock.

use crate::level::{GroupInfo, ProtoLogGroup};
use crate::log;
use crate::loss::Cause;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::writer::{self, args::Args};
use protolog_core::{Level, MAX_PARAMS, ParamKind, ParamMask, Template, message_id, render};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

pub use protolog_core::Arg;

/// The most different templates that get a dictionary entry of their own.
pub const MAX_TEMPLATES: usize = 4096;

/// The longest template that gets one, in bytes.
const MAX_LENGTH: usize = 4096;

/// `%s` of each group and level gets an entry beyond [`MAX_TEMPLATES`], up to here.
const MAX_ENTRIES: usize = MAX_TEMPLATES * 3 / 2;

const SLOTS: usize = (MAX_TEMPLATES * 2).next_power_of_two();

/// A message first seen at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) id: u64,
    pub(crate) template: &'static str,
    pub(crate) level: Level,
    pub(crate) group: &'static GroupInfo,
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

static SEEN: Mutex<Vec<Seen>> = Mutex::new(Vec::new());

/// Logs a message whose template is known at run time only.
///
/// ```
/// use protolog_rt::dynamic::{self, Arg};
/// use protolog_rt::{Level, ProtoLogGroup};
///
/// #[derive(ProtoLogGroup)]
/// enum AppLog {
///     Script,
/// }
///
/// let line: String = "user %s has %d points".into(); // from somewhere else
/// dynamic::log(&AppLog::Script, Level::Info, &line, &[Arg::Str("ann"), Arg::Int(7)]);
/// ```
pub fn log(group: &impl ProtoLogGroup, level: Level, template: &str, args: &[Arg<'_>]) {
    if !group.is_enabled(level) {
        return;
    }
    let group = group.info();
    if group.texted(level) {
        crate::text::emit_dynamic(level, group.tag, template, args);
    }
    if group.traced(level) {
        trace(group, level, template, args);
    }
}

fn trace(group: &'static GroupInfo, level: Level, template: &str, args: &[Arg<'_>]) {
    let id = message_id("", template, level, group.name);
    let shape = Shape::of_slot(id).or_else(|| enter(id, template, level, group, MAX_TEMPLATES));
    if shape.is_some_and(|shape| Shape::of(args) == Some(shape)) {
        return log::trace(id, level, group, &Args(args));
    }
    let text = rendered(template, args);
    let id = message_id("", "%s", level, group.name);
    if Shape::of_slot(id).or_else(|| enter(id, "%s", level, group, MAX_ENTRIES)).is_some() {
        log::trace(id, level, group, &Args(&[Arg::Str(&text)]));
    } else {
        writer::lose(group, level, Cause::Templates);
    }
}

/// The entries from the `index`-th on, in the order in which they came.
pub(crate) fn seen_from(index: usize) -> Vec<Seen> {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.get(index..).unwrap_or_default().to_vec()
}

/// Number and kinds of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    mask: u64,
    params: u32,
}

impl Shape {
    /// Of these arguments; none where they are too many.
    fn of(args: &[Arg<'_>]) -> Option<Self> {
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

    /// Of the entry with this id, if there is one.
    fn of_slot(id: u64) -> Option<Self> {
        let slot =
            probe(id).find(|slot| matches!(slot.id.load(Ordering::Acquire), 0) || slot.is(id))?;
        slot.is(id).then(|| Self {
            mask: slot.mask.load(Ordering::Relaxed),
            params: slot.params.load(Ordering::Relaxed),
        })
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

/// Enters a message; none where it is no template, or where there are `limit` entries.
#[cold]
fn enter(
    id: u64,
    template: &str,
    level: Level,
    group: &'static GroupInfo,
    limit: usize,
) -> Option<Shape> {
    if template.len() > MAX_LENGTH || id == 0 {
        return None;
    }
    let parsed = Template::parse(template).ok()?;
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shape) = Shape::of_slot(id) {
        return Some(shape);
    }
    if seen.len() >= limit {
        return None;
    }
    let slot = probe(id).find(|slot| slot.is(0))?;
    // Kept for the life of the process; the table is bounded.
    let template: &'static str = Box::leak(Box::from(template));
    seen.push(Seen { id, template, level, group });
    let shape = Shape { mask: parsed.mask().bits(), params: parsed.len() as u32 };
    slot.mask.store(shape.mask, Ordering::Relaxed);
    slot.params.store(shape.params, Ordering::Relaxed);
    slot.id.store(id, Ordering::Release);
    Some(shape)
}

/// The message as text. Arguments that no conversion takes stand at its end.
fn rendered(template: &str, args: &[Arg<'_>]) -> String {
    let mut text = String::new();
    let mut rest = args.iter().copied();
    // Writing to a string can't fail.
    let _ = match Template::parse(template) {
        Ok(template) => render(&mut text, &template, |_| rest.next()),
        Err(_) => text.write_str(template),
    };
    for arg in rest {
        let _ = match arg {
            Arg::Str(value) => write!(text, " {value}"),
            Arg::Int(value) => write!(text, " {value}"),
            Arg::Uint(value) => write!(text, " {value}"),
            Arg::Float(value) => write!(text, " {value}"),
            Arg::Bool(value) => write!(text, " {value}"),
        };
    }
    text
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

    #[test]
    fn what_does_not_fit_is_rendered() {
        assert_eq!(rendered("a %d", &[Arg::Str("x"), Arg::Bool(true)]), "a x true");
        assert_eq!(rendered("100% sure", &[Arg::Int(7)]), "100% sure 7");
        assert_eq!(rendered("%s and %s", &[Arg::Str("x")]), "x and [MISSING_PARAM]");
    }
}
