//! The slow path of calls: the first message of each, and all of those whose arguments can't go
//! into the message as they are.
//!
//! The format string is parsed at each message. What templates know goes into the message as a
//! value of its size; all else is printed by `snprintf`, so that it is what `printf` prints.
//!
//! Invariants: nothing is allocated for texts of up to [`STACK`] bytes, so that signal handlers may
//! log; whatever format and arguments are, memory is read only where a `printf` would read it.

mod printed;

use crate::note::Call;
use crate::text;
use printed::{Printed, Texts};
pub(crate) use printed::{errno, set_errno};
use protolog_core::note::PrintfNote;
use protolog_core::printf::{Count, Directive, Passing, directives, template};
use protolog_core::{Arg, MAX_PARAMS, message_id};
use protolog_rt::foreign;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes of printed arguments that need no memory of the heap.
pub(crate) const STACK: usize = 1024;

/// The numbers of the types of arguments, in a note.
pub(crate) const TEXT: u64 = 0;
pub(crate) const SIGNED: u64 = 1;
pub(crate) const FLOAT: u64 = 2;
const UNSIGNED: u64 = 3;

/// Logs a message, and finds out if later ones of the call may take the fast path.
///
/// The values are those of the call's note, see [`crate::calls`].
pub(crate) fn log(values: &[u64], call: Call) {
    let errno = errno();
    // A panic would be a fault of ours; the message is lost, and the program goes on.
    let _ = catch_unwind(AssertUnwindSafe(|| log_here(values, call, errno)));
    set_errno(errno);
}

fn log_here(values: &[u64], call: Call, errno: i32) {
    let id = id(call);
    let Some(format) = call.format() else {
        let format = raw_format(call);
        return with_args(&format, values, errno, |args| {
            foreign::log_dynamic(call.with_id(0), &template(&format).to_string(), args);
        });
    };
    with_args(format, values, errno, |args| foreign::log_slice(call.with_id(id), args));
}

/// Calls `log` with the arguments as they go into the message.
fn with_args(format: &str, values: &[u64], errno: i32, log: impl FnOnce(&[Arg<'_>])) {
    let mut texts = Texts::new(errno);
    let mut taken = [Taken::Nothing; MAX_PARAMS];
    let mut count = 0;
    let mut arguments = Arguments { values, next: 0 };
    for directive in directives(format) {
        let value = arguments.take(&directive, &mut texts);
        if directive.passing() != Passing::Nothing && count < MAX_PARAMS {
            taken[count] = value;
            count += 1;
        }
    }
    let mut all = [Arg::Bool(false); MAX_PARAMS];
    for (arg, taken) in all.iter_mut().zip(&taken[..count]) {
        *arg = match *taken {
            Taken::Signed(value) => Arg::Int(value),
            Taken::Unsigned(value) => Arg::Uint(value),
            Taken::Float(value) => Arg::Float(value),
            Taken::Printed(printed) => Arg::Str(texts.text(printed)),
            Taken::Nothing => Arg::Str(""),
        };
    }
    log(&all[..count]);
}

/// Returns the id of a call's message; 0 where its note can't be read. The first time it is
/// computed, and found out if messages of the call may take the fast path.
pub(crate) fn id(call: Call) -> u64 {
    let known = call.known_id();
    if known != 0 {
        return known;
    }
    let Some(note) = call.note() else { return 0 };
    let mut texts = Texts::new(0);
    let template = texts.print(&template(note.format));
    let id = message_id(note.place, texts.text(template), note.level, note.group);
    call.set_id(id, is_direct(&note));
    id
}

/// A value on its way into the message.
#[derive(Clone, Copy)]
enum Taken {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Printed(Printed),
    Nothing,
}

/// The arguments of a call. A format that names more than there are gets zeros.
struct Arguments<'a> {
    values: &'a [u64],
    next: usize,
}

impl Arguments<'_> {
    fn next(&mut self) -> u64 {
        let value = self.values.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        value
    }

    /// Returns the argument with a number, from 1.
    fn at(&self, number: u8) -> u64 {
        self.values.get(usize::from(number) - 1).copied().unwrap_or_default()
    }

    /// Takes the arguments of a conversion.
    fn take(&mut self, directive: &Directive<'_>, texts: &mut Texts) -> Taken {
        let mut stars = [0; 2];
        let counts = [directive.width, directive.precision];
        let all = counts.into_iter().filter(|it| it.is_some_and(|it| it.number().is_none()));
        for (star, count) in stars.iter_mut().zip(all) {
            *star = match count {
                Some(Count::At(at)) => self.at(at),
                _ => self.next(),
            } as i32;
        }
        let passing = directive.passing();
        if passing == Passing::ErrorText {
            return Taken::Printed(texts.printf(directive, stars, 0));
        }
        let value = match directive.position {
            Some(at) => self.at(at),
            None => self.next(),
        };
        match passing {
            Passing::Signed(bits) => {
                let unused = 64 - bits;
                Taken::Signed((value as i64) << unused >> unused)
            }
            Passing::Unsigned(bits) => Taken::Unsigned(value << (64 - bits) >> (64 - bits)),
            Passing::Pointer => Taken::Unsigned(value),
            Passing::Float => Taken::Float(f64::from_bits(value)),
            Passing::Text(limit) => {
                let address = std::ptr::with_exposed_provenance::<c_char>(value as usize);
                // SAFETY: the argument of a `%s`, of which `printf` would read as many bytes.
                Taken::Printed(texts.lossy(unsafe { text::bytes(address, limit) }))
            }
            Passing::Char => Taken::Printed(texts.lossy(&[value as u8])),
            Passing::Printed => Taken::Printed(texts.printf(directive, stars, value)),
            Passing::ErrorText | Passing::Nothing => Taken::Nothing,
        }
    }
}

/// Returns whether all arguments go into the message as they are, in their order: then the fast
/// path may take those of later messages.
fn is_direct(note: &PrintfNote<'_>) -> bool {
    let mut count = 0;
    let fits = directives(note.format).all(|directive| {
        let of_type = note.types >> (2 * count).min(63) & 3;
        count += 1;
        directive.position.is_none()
            && match directive.passing() {
                Passing::Signed(bits) => bits >= 32 && of_type == SIGNED,
                Passing::Unsigned(bits) => bits >= 32 && of_type == UNSIGNED,
                Passing::Pointer => of_type == UNSIGNED,
                Passing::Float => of_type == FLOAT,
                Passing::Text(None) => of_type == TEXT,
                _ => false,
            }
    });
    fits && count == u32::from(note.arguments)
}

/// Returns the format of a call whose note can't be read, with a replacement for what is not UTF-8.
fn raw_format(call: Call) -> String {
    let texts = call.bytes().get(protolog_core::note::TEXTS_AT..).unwrap_or_default();
    let format = texts.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    String::from_utf8_lossy(format).into_owned()
}
