//! The dictionary in JSON: AOSP's form, version 2.0.0, and members of ours that its reader skips.
//!
//! ```json
//! {
//!   "version": "2.0.0",
//!   "messages": {
//!     "-6872339441335321086": {
//!       "message": "sent %d bytes",
//!       "level": "DEBUG",
//!       "group": "com.foo.AppLog.NET",
//!       "at": "com/foo/Net.java",
//!       "location": "com/foo/Net.java:12,40",
//!       "template": "sent %04d bytes",
//!       "unsigned": 1,
//!       "place": "com::foo",
//!       "names": "bytes"
//!     }
//!   },
//!   "groups": {
//!     "com.foo.AppLog.NET": {
//!       "tag": "Net",
//!       "id": 7
//!     }
//!   }
//! }
//! ```
//!
//! Keys of messages are ids as signed decimals. Ours are `location` (where it says more than `at`),
//! `template` (where it is not the bare `message`), `unsigned` (where not 0), `place` (where not
//! `at`), `names` (where an argument has one) and `id`; their meaning is the one of the hints in
//! protobuf. `/` is written as it is: `\/` means the same to every reader. [`Statements`] writes
//! AOSP's form without these.

mod aosp;
mod read;
mod write;

pub use aosp::Statements;
pub(crate) use read::read;
pub(crate) use write::write;

/// The version of the form, both read and written.
const VERSION: &str = "2.0.0";
