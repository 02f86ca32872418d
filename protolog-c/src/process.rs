//! Functions for the whole process: settings, operators, signals, the version.

use crate::result::{Failure, SETTINGS, run};
use std::ffi::{c_char, c_int};

/// Applies settings, and listens to operators.
///
/// # Contract
/// None; any thread may call it, and more than once.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn protolog_init() -> c_int {
    run(|| {
        let strict = protolog_rt::Init::new().strict().start();
        strict.map_err(|error| Failure { code: SETTINGS, text: error.to_string() })
    })
}

/// Has signals that end the process complete the files of all sessions first.
///
/// # Contract
/// None.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn protolog_stop_on_signals() -> c_int {
    run(|| protolog_rt::stop_on_signals().map_err(Failure::from))
}

/// Prepares this thread for log calls of signal handlers.
///
/// # Contract
/// None.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn protolog_prepare_thread() -> c_int {
    run(|| {
        protolog_rt::prepare_thread();
        Ok(())
    })
}

/// Returns the version of the library.
///
/// # Contract
/// None; the text is static.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn protolog_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
