//! The log macros under the names that programs know from `log` and `tracing`.
//!
//! ```
//! use protolog_rt::ProtoLogGroup;
//! use protolog_rt::levels::*;
//!
//! #[derive(ProtoLogGroup)]
//! enum AppLog {
//!     Net,
//! }
//!
//! let (n, host) = (1500, "example.org");
//! debug!(AppLog::Net, "sent %d bytes to %s", n, host);
//! warn!(AppLog::Net, "%s does not answer", host);
//! ```
//!
//! | here | the same as | level |
//! |---|---|---|
//! | [`trace!`] | [`v!`](crate::v) | VERBOSE |
//! | [`debug!`] | [`d!`](crate::d) | DEBUG |
//! | [`info!`] | [`i!`](crate::i) | INFO |
//! | [`warn!`] | [`w!`](crate::w) | WARN |
//! | [`error!`] | [`e!`](crate::e) | ERROR |
//! | [`wtf!`] | [`wtf!`](crate::wtf) | WTF |
//!
//! They are the same macros, so a message has the same id by either name, and `protologtool`
//! rewrites both.
//!
//! # In one file with `log` or `tracing`
//!
//! - `use protolog_rt::levels::*;` beside `use log::*;`: the name `info` is ambiguous. The compiler
//!   warns, shows both imports, and takes the first one; in a later release it will refuse the
//!   call. `protologtool` takes it for one of this module.
//! - `use protolog_rt::levels::*;` beside `use log::info;`: `info!` is that of `log`, since an
//!   import by name hides one by `*`. A call with a group is then an error: `log` expects the
//!   format string first.
//! - `use protolog_rt::levels::{info, warn};` beside `use log::*;`: `info!` and `warn!` are those
//!   of this module.
//! - `use protolog_rt::levels::info;` beside `use log::info;`: an error of the compiler, as for
//!   every name that is imported twice.
//!
//! Both can be called by their paths, as in `log::info!("…")` and
//! `protolog_rt::i!(AppLog::Net, "…")`. The same holds for `tracing`.

pub use crate::{d as debug, e as error, i as info, v as trace, w as warn, wtf};
