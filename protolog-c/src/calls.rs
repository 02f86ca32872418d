//! The functions that calls jump to: one for each list of up to three kinds of arguments.
//!
//! An argument arrives as 64 bits, whatever its type, so all functions of one number of arguments
//! have one type in C. The header computes the index: the functions of fewer arguments come first;
//! among those of one number, the first argument counts fastest.

use crate::note::{Call, Site};
use crate::printf;
use crate::text::text;
use protolog_core::note::TEXTS_AT;
use protolog_core::{Arg, MAX_PARAMS};
use protolog_rt::foreign::{self, FastArgs, Float, Int, Str};
use std::ffi::c_char;

/// A function, as C finds it in the table.
type Function = unsafe extern "C" fn();

/// The number of lists of up to three of three kinds.
const FUNCTIONS: usize = 1 + 3 + 9 + 27;

/// The functions, by the kinds of their arguments.
#[unsafe(export_name = "protolog__calls")]
pub(crate) static CALLS: [Function; FUNCTIONS] = functions();

/// A kind of argument, by the value that the runtime takes.
trait Kind {
    type Value;

    /// Returns the value; none if the fast path can't take it.
    ///
    /// # Safety
    /// *values*: the bits are those that the header makes of an argument of this kind; a text stays
    /// as it is while the value is used.
    unsafe fn value(bits: u64) -> Option<Self::Value>;
}

/// The address of a text.
struct S;
/// An integer.
struct I;
/// A float.
struct F;

impl Kind for S {
    type Value = Str<'static>;

    #[inline]
    unsafe fn value(bits: u64) -> Option<Str<'static>> {
        let address = std::ptr::with_exposed_provenance::<c_char>(bits as usize);
        // SAFETY: *values*: it is the address of a text. The value lives for one call.
        unsafe { text(address) }.map(Str)
    }
}

impl Kind for I {
    type Value = Int;

    #[inline]
    unsafe fn value(bits: u64) -> Option<Int> {
        Some(Int(bits as i64))
    }
}

impl Kind for F {
    type Value = Float;

    #[inline]
    unsafe fn value(bits: u64) -> Option<Float> {
        Some(Float(f64::from_bits(bits)))
    }
}

/// The list of arguments, as the runtime takes it.
macro_rules! list {
    () => { () };
    ($first:expr $(, $rest:expr)*) => { ($first, list!($($rest),*)) };
}

/// The type of the list.
macro_rules! list_type {
    () => { () };
    ($first:ident $($rest:ident)*) => { ($first::Value, list_type!($($rest)*)) };
}

/// The type of an argument's bits.
macro_rules! word {
    ($bits:ident) => {
        u64
    };
}

/// A function for each number of arguments: one that logs, one that does the rest, and one that
/// makes an entry of the table.
macro_rules! functions {
    ($($log:ident $slow:ident $erase:ident: $($kind:ident $bits:ident $arg:ident)*;)*) => { $(
        /// Logs a message.
        ///
        /// # Contract
        /// *call* of [`Call`], and *values* of [`Kind`].
        unsafe extern "C" fn $log<$($kind: Kind),*>(
            $($bits: u64,)*
            note: *const u8,
            group_level: *const u8,
            site: *const Site,
        )
        where
            list_type!($($kind)*): FastArgs,
        {
            let call = Call { note, group_level, site };
            let id = call.direct_id();
            if id == 0 {
                return $slow($($bits,)* note, group_level, site);
            }
            // SAFETY: the caller's promise; with an id, the format was found to fit the kinds.
            let values = ($(unsafe { $kind::value($bits) },)*);
            #[allow(unreachable_patterns)] // Without arguments.
            match values {
                ($(Some($arg),)*) => foreign::log(call.with_id(id), list!($($arg),*)),
                _ => $slow($($bits,)* note, group_level, site),
            }
        }

        /// Takes the words in the registers that they came in, so that nothing is kept for it: a
        /// call of three words would come in memory.
        #[cold]
        #[inline(never)]
        fn $slow(
            $($bits: u64,)*
            note: *const u8,
            group_level: *const u8,
            site: *const Site,
        ) {
            printf::log(&[$($bits),*], Call { note, group_level, site });
        }

        const fn $erase(
            function: unsafe extern "C" fn(
                $(word!($bits),)* *const u8, *const u8, *const Site,
            ),
        ) -> Function {
            // SAFETY: function pointers have one size; C casts it back before the call.
            unsafe {
                std::mem::transmute::<
                    unsafe extern "C" fn($(word!($bits),)* *const u8, *const u8, *const Site),
                    Function,
                >(function)
            }
        }
    )* };
}

functions! {
    log0 slow0 erase0: ;
    log1 slow1 erase1: A a w;
    log2 slow2 erase2: A a w B b x;
    log3 slow3 erase3: A a w B b x C c y;
}

/// Calls a macro with each kind and its number, and what is given.
macro_rules! each_kind {
    ($macro:ident $($given:tt)*) => {
        $macro!(S 0; $($given)*);
        $macro!(I 1; $($given)*);
        $macro!(F 2; $($given)*);
    };
}

macro_rules! one {
    ($a:ident $at:literal; $all:ident) => {
        $all[1 + $at] = erase1(log1::<$a>);
        each_kind!(two $a $at; $all);
    };
}

macro_rules! two {
    ($b:ident $bt:literal; $a:ident $at:literal; $all:ident) => {
        $all[4 + $at + 3 * $bt] = erase2(log2::<$a, $b>);
        each_kind!(three $b $bt; $a $at; $all);
    };
}

macro_rules! three {
    ($c:ident $ct:literal; $b:ident $bt:literal; $a:ident $at:literal; $all:ident) => {
        $all[13 + $at + 3 * $bt + 9 * $ct] = erase3(log3::<$a, $b, $c>);
    };
}

const fn functions() -> [Function; FUNCTIONS] {
    let mut all = [erase0(log0); FUNCTIONS];
    each_kind!(one all);
    all
}

/// Logs a message with more arguments, or with a number above `INT64_MAX`.
///
/// # Contract
/// *call* of [`Call`]; `values` has as many values as the note says, with *values* of [`Kind`].
#[unsafe(export_name = "protolog__log")]
unsafe extern "C" fn log_any(
    values: *const u64,
    note: *const u8,
    group_level: *const u8,
    site: *const Site,
) {
    let call = Call { note, group_level, site };
    let count = call.bytes().get(COUNT_AT).map_or(0, |count| usize::from(*count));
    // SAFETY: the caller's promise.
    let values = unsafe { std::slice::from_raw_parts(values, count) };
    let id = call.direct_id();
    let log = if count <= 9 { log_direct::<9> } else { log_direct::<MAX_PARAMS> };
    // SAFETY: the caller's promise; with an id, the format was found to fit the kinds.
    let is_logged = id != 0 && unsafe { log(values, call, id) };
    if !is_logged {
        printf::log(values, call);
    }
}

/// Logs a message of at most `N` arguments that go into it as they are. False, and nothing done,
/// where a text is not UTF-8, or the arguments are more.
///
/// # Safety
/// `values` has *values* of [`Kind`], of the kinds that the note names.
unsafe fn log_direct<const N: usize>(values: &[u64], call: Call, id: u64) -> bool {
    let mut args = [Arg::Bool(false); N];
    let mut types = call.types();
    for (arg, bits) in args.iter_mut().zip(values) {
        *arg = match types & 3 {
            // SAFETY: the caller's promise.
            printf::TEXT => match unsafe { S::value(*bits) } {
                Some(text) => Arg::Str(text.0),
                None => return false,
            },
            printf::SIGNED => Arg::Int(*bits as i64),
            printf::FLOAT => Arg::Float(f64::from_bits(*bits)),
            _ => Arg::Uint(*bits),
        };
        types >>= 2;
    }
    let Some(args) = args.get(..values.len()) else { return false };
    foreign::log_slice(call.with_id(id), args);
    true
}

/// The offset in a note of the number of arguments.
const COUNT_AT: usize = TEXTS_AT - 1;
