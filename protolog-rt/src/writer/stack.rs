//! Stack traces of messages: addresses on the calling thread, names for people elsewhere.
//!
//! A trace is a text of lines in the form in which Android's crash reports and their tools write frames, so that it can be
//! symbolised on another machine; where an image first occurs, its build id follows:
//!
//! ```text
//! #00 pc 00000000000a1b2c  /usr/bin/app (BuildId: 8f3c0a…)
//! #01 pc 00000000000a0f00  /usr/bin/app
//! ```
//!
//! The address is relative to the image, and that of the call rather than of what follows it.
//!
//! Invariant: nothing here runs while a writer is busy.
#![allow(unsafe_code)] // The unwinder, and the images that dl_iterate_phdr shows.

use super::args::Args;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner, Lookup};
use super::plan::Plan;
use crate::site::no_images;
use crate::value::{FixedString, Text};
use protolog_core::Arg;
use protolog_core::schema::{interned_data, message};
use protozero::wire::{WireType, packed_varint, tag};
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

/// The most frames of a trace.
const MAX_FRAMES: usize = 48;

/// The most bytes of a trace.
const MAX_TEXT: usize = 4096;

/// A message's arguments, and its stack trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct WithStack<'a, A> {
    pub(super) args: &'a A,
    pub(super) stack: &'a str,
}

/// Calls `f` with the stack trace of the calling thread.
pub(super) fn with<R>(f: impl FnOnce(&str) -> R) -> R {
    let mut frames = Frames { addresses: [0; MAX_FRAMES], count: 0 };
    // SAFETY: the callback gets the frames that stand here, exclusively, and they live through the call.
    unsafe { _Unwind_Backtrace(step, (&raw mut frames).cast()) };
    let mut text = FixedString::<MAX_TEXT>::new();
    let mut named = Vec::new();
    // The first is that of this function.
    for (number, address) in frames.addresses[..frames.count].iter().skip(1).enumerate() {
        line(&mut text, number, *address, &mut named);
    }
    f(text.text())
}

/// Appends the line of a frame. `named` are the images whose build ids were told.
fn line(text: &mut FixedString<MAX_TEXT>, number: usize, address: usize, named: &mut Vec<usize>) {
    let mut found = Image { address, base: 0, name: String::new(), build_id: Vec::new() };
    let _images = no_images();
    // SAFETY: the callback gets the image that stands here, exclusively, and it lives through the call.
    let is_known = unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) } != 0;
    // The buffer takes what it has room for, and never fails.
    let _ = if is_known {
        write!(text, "#{number:02} pc {:016x}  {}", address.wrapping_sub(found.base), found.name)
    } else {
        write!(text, "#{number:02} pc {address:016x}  <unknown>")
    };
    if is_known && !found.build_id.is_empty() && !named.contains(&found.base) {
        named.push(found.base);
        let _ = text.write_str(" (BuildId: ");
        for byte in &found.build_id {
            let _ = write!(text, "{byte:02x}");
        }
        let _ = text.write_str(")");
    }
    let _ = text.write_str("\n");
}

struct Frames {
    addresses: [usize; MAX_FRAMES],
    count: usize,
}

// What std unwinds panics with, so it is linked into every program.
unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: unsafe extern "C" fn(context: *mut c_void, data: *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// For `_Unwind_Backtrace`: notes a frame.
unsafe extern "C" fn step(context: *mut c_void, data: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const END_OF_STACK: c_int = 5;
    // SAFETY: `with` passes this, exclusively, and it lives through the callback.
    let frames = unsafe { &mut *data.cast::<Frames>() };
    // SAFETY: the unwinder passes its context.
    let address = unsafe { _Unwind_GetIP(context) };
    let Some(slot) = frames.addresses.get_mut(frames.count).filter(|_| address != 0) else {
        return END_OF_STACK;
    };
    // The address is where the call returns to, which may be another line or function.
    *slot = address - 1;
    frames.count += 1;
    GO_ON
}

/// The image that an address is in.
struct Image {
    address: usize,
    base: usize,
    name: String,
    build_id: Vec<u8>,
}

/// For `dl_iterate_phdr`: 1, and the image filled in, where it holds the address.
unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut c_void,
) -> c_int {
    // SAFETY: dl_iterate_phdr passes an image that is valid during the callback.
    let info = unsafe { &*info };
    // SAFETY: `line` passes this, exclusively, and it lives through the callback.
    let found = unsafe { &mut *data.cast::<Image>() };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the image says that so many program headers stand there.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let within = found.address.wrapping_sub(base);
    let holds = |header: &&libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD
            && within.wrapping_sub(header.p_vaddr as usize) < header.p_memsz as usize
    };
    if !headers.iter().any(|header| holds(&header)) {
        return 0;
    }
    found.base = base;
    if !info.dlpi_name.is_null() {
        // SAFETY: dl_iterate_phdr passes a C string that is valid during the callback.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        found.name = OsStr::from_bytes(name.to_bytes()).to_string_lossy().into_owned();
    }
    if found.name.is_empty() {
        // The program itself.
        let path = std::env::current_exe().unwrap_or_default();
        found.name = path.to_string_lossy().into_owned();
    }
    for notes in headers.iter().filter(|header| header.p_type == libc::PT_NOTE) {
        let is_loaded = headers.iter().any(|load| {
            load.p_type == libc::PT_LOAD
                && notes.p_vaddr >= load.p_vaddr
                && notes.p_vaddr + notes.p_memsz <= load.p_vaddr + load.p_filesz
        });
        if is_loaded {
            let start = base.wrapping_add(notes.p_vaddr as usize);
            let start = std::ptr::with_exposed_provenance::<u8>(start);
            // SAFETY: the bytes are part of a segment of a loaded image, which nothing writes.
            let bytes = unsafe { std::slice::from_raw_parts(start, notes.p_memsz as usize) };
            found.build_id.extend(build_id(bytes).unwrap_or_default());
        }
    }
    1
}

/// The build id among ELF notes: sizes of name and description, type, name, description, each padded to 4 bytes.
fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const TYPE: u32 = 3; // NT_GNU_BUILD_ID
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let (name_len, head) = head.split_first_chunk()?;
        let (len, kind) = head.split_first_chunk()?;
        let name_len = u32::from_ne_bytes(*name_len) as usize;
        let len = u32::from_ne_bytes(*len) as usize;
        let name = rest.get(..name_len)?;
        let rest = rest.get(name_len.next_multiple_of(4)..)?;
        let description = rest.get(..len)?;
        if kind == TYPE.to_ne_bytes() && name == b"GNU\0" {
            return Some(description);
        }
        notes = rest.get(len.next_multiple_of(4)..)?;
    }
}

const INTERNED: u128 =
    packed_varint(tag(interned_data::PROTOLOG_STACKTRACE, WireType::Bytes) as u64).0;
const PARAM: u8 = tag(message::STACKTRACE_IID, WireType::Varint) as u8;

/// The stack trace is one more string, a new one each time: its fields are as long as those of a string, and only their numbers
/// differ.
// SAFETY: *measured*: what the message's arguments promise, and `Plan::add_new_string` adds up what `encode_interned` appends of a string
// that no table has, and a tag of one byte with its id.
unsafe impl<A: Args> Args for WithStack<'_, A> {
    type Measured = A::Measured;
    const HAS_STRINGS: bool = true;

    fn measure(&self, plan: &mut Plan, known: Option<ChunkStrings<'_>>) -> A::Measured {
        let measured = self.args.measure(plan, known);
        plan.add_new_string(self.stack);
        measured
    }

    fn encode_strings(
        &self,
        to: &mut Cursor,
        measured: A::Measured,
        interner: &mut Interner<'_>,
        max: usize,
    ) {
        self.args.encode_strings(to, measured, interner, max);
        Text(self.stack).encode_interned(INTERNED, to, Lookup::UNKNOWN, interner, max);
    }

    fn encode_params(&self, to: &mut Cursor, measured: A::Measured, iid: &mut u32) {
        self.args.encode_params(to, measured, iid);
        let (bits, len) = packed_varint(u64::from(*iid));
        to.put(u128::from(PARAM) | bits << 8, 1 + len);
        *iid += 1;
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Arg<'a>)) {
        self.args.visit(visitor);
    }
}
