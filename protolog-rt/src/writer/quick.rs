//! The common message, written straight on: small numbers, texts that the chunk has already.
//!
//! The types of a call's arguments bound the size of such a message: a number takes ten bytes at most, a text that is
//! named by an id below 128 one. Where the bound is below 128, both size fields take one byte, so nothing has to be known
//! of what they measure before it is written, and one comparison of the bound with the limit is all that has to be asked
//! first. What is not common, [`super::encode`] writes.
//!
//! Invariants
//! - *same*: the bytes are those that [`super::encode`] writes of the same values.
//! - *bound*: [`Quick::MOST`] is the most that [`Quick::put`] appends.
#![allow(unsafe_code)] // Stores through a pointer, checked once for the whole packet.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

use super::cursor::Cursor;
use super::encode::{
    BOOL_PARAM, FLOAT_PARAM, INT_PARAM, INTERNED_DATA, Interner, MESSAGE, MESSAGE_ID, MESSAGE_LEN,
    NEEDS, STRING_ARGS, TEXT_PARAM, TIMESTAMP, Values,
};
use super::own::{Moment, Own};
use super::plan::SHORT_HEAD_LEN;
use super::texts::{SHORT, Seen, Texts};
use super::{Head, Writer};
use crate::value::{Bool, Float, Int, Text, Uint};
use protozero::wire::{short_varint, zigzag};

/// Values that may make a common message.
pub trait Quick {
    /// The most bytes of the message's fields; none where nothing bounds them.
    const MOST: Option<usize> = None;

    /// What the chunk has of the texts.
    type Found: Copy;

    /// Looks for the texts; none where one is new or long, or where a number looks unsigned.
    ///
    /// # Safety
    /// *there*, of [`super::texts`].
    #[inline(always)]
    unsafe fn known(&self, _: &Texts) -> Option<Self::Found> {
        None
    }

    /// The same, where texts may be new: those are added to `new`.
    ///
    /// # Safety
    /// *there*.
    #[inline(always)]
    unsafe fn find(&self, _: &Texts, _: &mut New) -> Option<Self::Found> {
        None
    }

    /// Appends new texts.
    ///
    /// # Safety
    /// *room*, of [`super::cursor`]: as many bytes as [`Self::find`] added, and [`SLACK`](super::cursor::SLACK).
    #[inline(always)]
    unsafe fn bring(&self, _: &mut Cursor, _: Self::Found, _: &mut Interner<'_>) {}

    /// Appends the fields of the message; `iid` is the id of the next new text.
    ///
    /// # Safety
    /// *room*: [`Self::MOST`] bytes.
    #[inline(always)]
    unsafe fn put(&self, _: &mut Cursor, _: Self::Found, _: &mut u32) {}
}

/// Whether a message was written straight on; where not, the time that was read for it, if it was.
pub(super) type Tried = Result<(), Option<Moment>>;

/// The new texts of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct New {
    /// Their fields in `interned_data`.
    bytes: usize,
    /// How many there are.
    count: u32,
}

/// The time since the message before has to be below this, in nanoseconds: its varint takes four bytes.
pub(super) const MAX_DELTA: u64 = 1 << 28;

/// Bytes of a packet with texts, but for the fields of the message: the packet's size, the time, flags, the message's tag
/// and size, its id.
const AROUND: usize = 1 + (1 + 4) + NEEDS.len() + MESSAGE_LEN + 1 + 9;

/// Bytes around new texts: the tag and size of `interned_data`.
const AROUND_NEW: usize = 2;

/// The most bytes of a common packet of such values, its size field included; none where there is no common one.
pub(super) const fn most<V: Quick>() -> Option<usize> {
    match V::MOST {
        Some(fields) if AROUND + fields <= 0x80 => Some(AROUND + fields),
        _ => None,
    }
}

/// Writes a packet with its size to `start`, and gives its end. New texts take `new` bytes.
///
/// # Safety
/// *room*: [`most`] bytes, which is some, and where there are new texts [`AROUND_NEW`] and `new` bytes. `delta` is below
/// [`MAX_DELTA`].
#[inline(always)]
unsafe fn packet<V: Values>(
    start: *mut u8,
    (id, delta): (u64, u32),
    (values, found): (&V, V::Found),
    new: usize,
    mut interner: Interner<'_>,
) -> *mut u8 {
    let mut iid = interner.iid;
    // SAFETY: *room*, here and below: all that `most` counts. The packet's size comes last.
    let mut to = Cursor::new(unsafe { start.add(1) });
    let (bits, len) = if delta < 0x80 { (delta, 1) } else { short_varint(delta) };
    // SAFETY: as above.
    unsafe { to.put1(TIMESTAMP) };
    // SAFETY: as above.
    unsafe { to.put4(bits, len) };
    if new > 0 {
        // SAFETY: as above.
        unsafe { to.put1(INTERNED_DATA) };
        // SAFETY: as above.
        unsafe { to.put1(new as u8) };
        // SAFETY: as above.
        unsafe { values.bring(&mut to, found, &mut interner) };
    }
    let (before, before_len) = if V::HAS_TEXTS {
        (u16::from_le_bytes(NEEDS) as u64 | (MESSAGE as u64) << 16, NEEDS.len() + MESSAGE_LEN)
    } else {
        (MESSAGE as u64, MESSAGE_LEN)
    };
    let before = before | u64::from(MESSAGE_ID) << (8 * (before_len + 1));
    // SAFETY: as above.
    unsafe { to.put8(before, before_len + 1) };
    let message = to.at();
    // SAFETY: as above.
    unsafe { to.put1(MESSAGE_ID) };
    // SAFETY: as above.
    unsafe { to.put8(id, 8) };
    // SAFETY: as above.
    unsafe { values.put(&mut to, found, &mut iid) };
    let end = to.at();
    let size = end as usize - start as usize - 1;
    // SAFETY: the first byte is that of the packet's size.
    unsafe { start.write(size as u8) };
    let texts = if new > 0 { AROUND_NEW + new } else { 0 };
    // SAFETY: the byte before the message is that of its size.
    let size_of_message = unsafe { message.sub(1) };
    // SAFETY: as just said.
    unsafe { size_of_message.write((size - (1 + len + texts + before_len + 1)) as u8) };
    end
}

impl Writer {
    /// Writes a message if it is a common one and the chunk has room for the largest of those; if not, nothing is done, but
    /// the clock may have been read.
    #[inline(always)]
    pub(super) fn write_quick<V: Values>(&self, own: &mut Own, head: Head, values: &V) -> Tried {
        let Some(most) = most::<V>() else { return Err(None) };
        let start = own.position;
        if start as usize + most > self.gate.limit() {
            return Err(None);
        }
        // To look for a text takes its time, during which the counter can be read. Where there is nothing to look for, it is
        // read later, when fewer registers are in use.
        let early = if V::HAS_TEXTS { own.look_at_clock() } else { None };
        if V::HAS_TEXTS && early.is_none() {
            return Err(None);
        }
        // SAFETY: *there*: the limit was not 0 after the message began, so the chunk is this writer's.
        let Some(found) = (unsafe { values.known(&own.texts) }) else { return Err(early) };
        let Some(now) = early.or_else(|| own.look_at_clock()) else { return Err(None) };
        let Some(delta) = own.advance(now) else { return Err(Some(now)) };
        let none = Interner { iid: own.next_iid, texts: None };
        // SAFETY: *chunk*: `most` bytes more are not above the limit, so all of them and SLACK are this writer's.
        let end = unsafe { packet(start, (head.id, delta), (values, found), 0, none) };
        // SAFETY: *chunk*: as above.
        unsafe { own.commit_quick(end) };
        Ok(())
    }

    /// Writes a message that [`Self::write_quick`] did not, or counts it as lost. False as for [`Self::out_of_room`].
    #[inline(always)]
    pub(super) fn write_planned<V: Values>(
        &self,
        own: &mut Own,
        head: Head,
        (values, now): (&V, Option<Moment>),
        refuse: fn(&Self) -> bool,
    ) -> bool {
        self.write_new(own, head, values, now)
            || self.try_again(own, head, values)
            || self.out_of_room(own, head, values, refuse)
    }

    /// The same, where the chunk need not have the texts.
    #[inline(always)]
    pub(super) fn write_new<V: Values>(
        &self,
        own: &mut Own,
        head: Head,
        values: &V,
        now: Option<Moment>,
    ) -> bool {
        let Some(most) = most::<V>().filter(|_| V::HAS_TEXTS) else { return false };
        let (start, limit) = (own.position, self.gate.limit());
        if limit == 0 {
            return false;
        }
        let mut new = New::default();
        // SAFETY: *there*: as above.
        let Some(found) = (unsafe { values.find(&own.texts, &mut new) }) else {
            return false;
        };
        let most = most + AROUND_NEW + new.bytes;
        let next_iid = own.next_iid + new.count;
        if most > 0x80 || start as usize + most > limit || next_iid > 0x80 || own.max_text < SHORT {
            return false;
        }
        let Some(now) = now.or_else(|| own.look_at_clock()) else { return false };
        let Some(delta) = own.advance(now) else { return false };
        let interner = Interner { iid: own.next_iid, texts: Some(&mut own.texts) };
        // SAFETY: *chunk*: as above.
        let end = unsafe { packet(start, (head.id, delta), (values, found), new.bytes, interner) };
        own.next_iid = next_iid;
        // SAFETY: *chunk*: as above.
        unsafe { own.commit_quick(end) };
        true
    }
}

impl Quick for () {
    const MOST: Option<usize> = Some(0);
    type Found = ();

    #[inline(always)]
    unsafe fn known(&self, _: &Texts) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    unsafe fn find(&self, _: &Texts, _: &mut New) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    unsafe fn put(&self, _: &mut Cursor, (): (), _: &mut u32) {}
}

impl<Head: QuickValue, Rest: Quick> Quick for (Head, Rest) {
    const MOST: Option<usize> = match Rest::MOST {
        Some(rest) => Some(Head::MOST + rest),
        None => None,
    };
    type Found = (Head::Found, Rest::Found);

    #[inline(always)]
    unsafe fn known(&self, texts: &Texts) -> Option<Self::Found> {
        // SAFETY: as the caller's, here and below.
        let first = unsafe { self.0.known(texts) }?;
        // SAFETY: as above.
        Some((first, unsafe { self.1.known(texts) }?))
    }

    #[inline(always)]
    unsafe fn find(&self, texts: &Texts, new: &mut New) -> Option<Self::Found> {
        // SAFETY: as the caller's, here and below.
        let first = unsafe { self.0.find(texts, new) }?;
        // SAFETY: as above.
        Some((first, unsafe { self.1.find(texts, new) }?))
    }

    #[inline(always)]
    unsafe fn bring(&self, to: &mut Cursor, found: Self::Found, new: &mut Interner<'_>) {
        // SAFETY: as the caller's, here and below.
        unsafe { self.0.bring(to, found.0, new) };
        // SAFETY: as above.
        unsafe { self.1.bring(to, found.1, new) };
    }

    #[inline(always)]
    unsafe fn put(&self, to: &mut Cursor, found: Self::Found, iid: &mut u32) {
        // SAFETY: as the caller's, here and below.
        unsafe { self.0.put(to, found.0, iid) };
        // SAFETY: as above.
        unsafe { self.1.put(to, found.1, iid) };
    }
}

/// One value of a list. What there is does for it what that of [`Quick`] does for all.
pub trait QuickValue: Copy {
    const MOST: usize;
    type Found: Copy;
    /// # Safety
    /// *there*.
    unsafe fn known(self, texts: &Texts) -> Option<Self::Found>;
    /// # Safety
    /// *there*.
    #[inline(always)]
    unsafe fn find(self, texts: &Texts, _: &mut New) -> Option<Self::Found> {
        // SAFETY: as the caller's.
        unsafe { self.known(texts) }
    }
    /// # Safety
    /// *room*.
    #[inline(always)]
    unsafe fn bring(self, _: &mut Cursor, _: Self::Found, _: &mut Interner<'_>) {}
    /// # Safety
    /// *room*.
    unsafe fn put(self, to: &mut Cursor, found: Self::Found, iid: &mut u32);
}

impl QuickValue for Int {
    const MOST: usize = 1 + 10;
    type Found = ();

    #[inline(always)]
    unsafe fn known(self, _: &Texts) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    unsafe fn put(self, to: &mut Cursor, (): (), _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.number::<0>(INT_PARAM, zigzag(self.0)) };
    }
}

impl QuickValue for Uint {
    const MOST: usize = 1 + 10;
    type Found = ();

    #[inline(always)]
    unsafe fn known(self, _: &Texts) -> Option<()> {
        (self.0 < 1 << 63).then_some(())
    }

    #[inline(always)]
    unsafe fn put(self, to: &mut Cursor, (): (), _: &mut u32) {
        // SAFETY: as the caller's.
        unsafe { to.number::<1>(INT_PARAM, self.0) };
    }
}

impl QuickValue for Float {
    const MOST: usize = 1 + 8;
    type Found = ();

    #[inline(always)]
    unsafe fn known(self, _: &Texts) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    unsafe fn put(self, to: &mut Cursor, (): (), _: &mut u32) {
        // SAFETY: as the caller's, here and below.
        unsafe { to.put1(FLOAT_PARAM) };
        // SAFETY: as above.
        unsafe { to.put8(self.0.to_bits(), 8) };
    }
}

impl QuickValue for Bool {
    const MOST: usize = 1 + 1;
    type Found = ();

    #[inline(always)]
    unsafe fn known(self, _: &Texts) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    unsafe fn put(self, to: &mut Cursor, (): (), _: &mut u32) {
        // SAFETY: as the caller's, here and below.
        unsafe { to.put1(BOOL_PARAM) };
        // SAFETY: as above.
        unsafe { to.put1(self.0.into()) };
    }
}

impl QuickValue for Text<'_> {
    const MOST: usize = 1 + 1;
    type Found = Seen;

    #[inline(always)]
    unsafe fn known(self, texts: &Texts) -> Option<Seen> {
        // SAFETY: as the caller's.
        unsafe { texts.known_short(self.0) }
    }

    #[inline(always)]
    unsafe fn find(self, texts: &Texts, new: &mut New) -> Option<Seen> {
        // SAFETY: as the caller's.
        let seen = unsafe { texts.find_short(self.0) }?;
        if !seen.is_known {
            new.bytes += SHORT_HEAD_LEN + self.0.len();
            new.count += 1;
        }
        Some(seen)
    }

    #[inline(always)]
    unsafe fn bring(self, to: &mut Cursor, seen: Seen, new: &mut Interner<'_>) {
        if !seen.is_known {
            // SAFETY: as the caller's.
            unsafe { self.intern_short(STRING_ARGS, to, seen, new) };
        }
    }

    #[inline(always)]
    unsafe fn put(self, to: &mut Cursor, seen: Seen, iid: &mut u32) {
        let own = seen.iid(*iid);
        *iid += !seen.is_known as u32;
        // SAFETY: as the caller's, here and below.
        unsafe { to.put1(TEXT_PARAM) };
        // SAFETY: as above.
        unsafe { to.put1(own as u8) };
    }
}

#[cfg(test)]
mod tests;
