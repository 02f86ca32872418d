//! Results of functions, and the text of the last one of each thread that was not good.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) const OK: c_int = 0;
pub(crate) const BAD_ARGUMENT: c_int = 1;
pub(crate) const BAD_STATE: c_int = 2;
pub(crate) const IO: c_int = 3;
pub(crate) const IN_USE: c_int = 4;
pub(crate) const RESOURCES: c_int = 5;
pub(crate) const SETTINGS: c_int = 6;
pub(crate) const INTERNAL: c_int = 7;

/// A result that is not good: its number and its text, with a line of help.
pub(crate) struct Failure {
    pub(crate) code: c_int,
    pub(crate) text: String,
}

impl Failure {
    /// A wrong argument.
    pub(crate) fn argument(what: &str, help: &str) -> Self {
        Self { code: BAD_ARGUMENT, text: format!("{what}\nhelp: {help}") }
    }

    /// A null pointer as the argument with this name.
    pub(crate) fn null(name: &str) -> Self {
        Self::argument(&format!("`{name}` is null"), "pass what the header names")
    }
}

impl From<protolog_rt::Error> for Failure {
    fn from(error: protolog_rt::Error) -> Self {
        use protolog_rt::Error;
        let code = match error {
            Error::FileInUse { .. } => IN_USE,
            Error::File { .. } => IO,
            Error::Resources(_) => RESOURCES,
            Error::Forked | Error::IncompleteFork | Error::NotKept | Error::NoTriggers => BAD_STATE,
            _ => BAD_ARGUMENT,
        };
        Self { code, text: format!("{error:?}") }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs the work of a function, and returns its result. A panic is one, too.
pub(crate) fn run(work: impl FnOnce() -> Result<(), Failure>) -> c_int {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return OK,
        Ok(Err(failure)) => failure,
        Err(_) => {
            let text = "the library has a fault\nhelp: report it with what the program did";
            Failure { code: INTERNAL, text: text.to_owned() }
        }
    };
    let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
    // On a thread that ends, nobody can ask for the text any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
    failure.code
}

/// Returns the text of this thread's last result that was not good.
///
/// # Contract
/// The text is valid until this thread's next such result.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn protolog_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
