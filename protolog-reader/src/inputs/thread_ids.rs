//! Names of threads and hashes that are the same in every trace, so that packets that several
//! inputs have are found by them.

use crate::sequences::thread::Thread;

/// A thread as all traces name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ThreadIds {
    pub(crate) pid: Option<u32>,
    pub(crate) tid: Option<u32>,
}

impl ThreadIds {
    pub(crate) fn of(thread: &Thread) -> Self {
        Self { pid: thread.pid, tid: thread.tid }
    }
}

/// A step of a hash: each bit of `value` changes half of the result.
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 32).wrapping_mul(0xe703_7ed1_a0b4_28db);
    let value = (value ^ value >> 29).wrapping_mul(0x8ebc_6af0_9c88_c6e3);
    value ^ value >> 32
}
