//! Functions that run at the end of a thread, in each round of destructors that the C library has.
#![allow(unsafe_code)] // Thread-specific values.

use std::ffi::c_void;
use std::sync::OnceLock;

/// The number of the last round.
pub(crate) const LAST_ROUND: usize = 4;

/// The key, and what to call with the number of each round.
static KEY: OnceLock<(libc::pthread_key_t, fn(usize))> = OnceLock::new();

/// Calls `function` at the end of this thread, once in each round. There is one function in a
/// process.
pub(crate) fn at_end_of_thread(function: fn(usize)) {
    let (key, _) = KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key is written to an integer; the function is this program's.
        assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(round)) }, 0);
        (key, function)
    });
    set(*key, 1);
}

fn set(key: libc::pthread_key_t, round: usize) {
    // SAFETY: the key is there, and its value a number.
    let result = unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(round)) };
    assert_eq!(result, 0);
}

unsafe extern "C" fn round(round: *mut c_void) {
    let (round, (key, function)) = (round.addr(), KEY.get().expect("it was set"));
    if round < LAST_ROUND {
        set(*key, round + 1);
    }
    function(round);
}
