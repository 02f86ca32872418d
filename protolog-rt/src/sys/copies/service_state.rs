//! The state of the host's connection with Perfetto's tracing service, on its way to another copy.
//!
//! Texts are lent for the time of a call, in which the other copy makes its own of them: each copy
//! may have an allocator of its own.
//!
//! Invariant: *borrowed*: an argument lives through the call.

use std::ffi::c_void;

/// The state of the host's connection with Perfetto's tracing service, with texts of type `T`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServiceState<T> {
    pub(crate) is_connected: bool,
    pub(crate) sessions: usize,
    pub(crate) lost: u64,
    pub(crate) last_error: Option<T>,
    pub(crate) notice: Option<T>,
}

/// [`ServiceState`] on its way.
#[repr(C)]
pub(super) struct RawState {
    is_connected: bool,
    sessions: usize,
    lost: u64,
    last_error: LentText,
    notice: LentText,
}

/// Takes the state, to the place that the caller has passed.
pub(super) type TakeState = unsafe extern "C" fn(*mut c_void, *const RawState);

/// A text that is lent; one without a start is none.
#[derive(Clone, Copy)]
#[repr(C)]
struct LentText {
    start: *const u8,
    length: usize,
}

impl LentText {
    fn new(text: Option<&str>) -> Self {
        let start = text.map_or(std::ptr::null(), str::as_ptr);
        Self { start, length: text.map_or(0, str::len) }
    }

    /// # Safety
    /// *borrowed*: it is one that [`Self::new`] made of a text that still lives.
    unsafe fn owned(self) -> Option<String> {
        if self.start.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.length) };
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Lends the state to `take`.
///
/// # Safety
/// `to` is what the other copy has passed with `take`.
pub(super) unsafe fn lend(state: ServiceState<&str>, to: *mut c_void, take: TakeState) {
    let raw = RawState {
        is_connected: state.is_connected,
        sessions: state.sessions,
        lost: state.lost,
        last_error: LentText::new(state.last_error),
        notice: LentText::new(state.notice),
    };
    // SAFETY: *borrowed*: the state and its texts live through the call; the caller's promise.
    unsafe { take(to, &raw const raw) };
}

/// Takes the state of the host's connection, on the side that asks.
pub(super) unsafe extern "C" fn take_state(to: *mut c_void, raw: *const RawState) {
    // SAFETY: *borrowed*: `lend` made it, and it lives through the call.
    let raw = unsafe { &*raw };
    let state = ServiceState {
        is_connected: raw.is_connected,
        sessions: raw.sessions,
        lost: raw.lost,
        // SAFETY: *borrowed*: `lend` made it of a text that lives through the call.
        last_error: unsafe { raw.last_error.owned() },
        // SAFETY: *borrowed*: this one, too.
        notice: unsafe { raw.notice.owned() },
    };
    // SAFETY: it is the place that `Interface::service_state` has passed, for a value of this type.
    unsafe { *to.cast::<ServiceState<String>>() = state };
}
