//! The library for C and C++: what `include/protolog.h` declares.
//!
//! The header makes a call: a test of the group's word, a call-site note in the program's file, and
//! a jump through [`calls::CALLS`] to a function for the types of the arguments. Whether the
//! arguments can go into the message as they are depends on the format string, which no C compiler
//! can take apart. So the first message of a call takes the slow path ([`printf`]), which looks at
//! the format; if the types fit, it stores the id in the call's site, and later messages take the
//! fast path of the runtime. Others are printed by `snprintf`, argument by argument, each time.
//!
//! Invariants
//! - *boundary*: no panic leaves a function that C calls. Those of sessions and of the process turn
//!   one into [`result::INTERNAL`]; a log call drops its message.
//! - *abi*: names, numbers and sizes are those of `abi.txt`, which a test compares with the header,
//!   this code and the library.
//! - `errno` after a log call is what it was before.
#![allow(unsafe_code)] // Each function is called by C, with addresses.

#[cfg(test)]
mod abi;
mod calls;
mod groups;
mod note;
mod printf;
mod process;
mod result;
mod session;
mod text;
