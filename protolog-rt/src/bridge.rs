//! Messages from existing logging calls of a program and its libraries: from the crate `log`
//! (feature `log`), and from `tracing` (feature `tracing`).
//!
//! ```
//! use protolog_rt::{Level, Session, bridge};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("protolog-bridge-{}.pftrace", std::process::id()));
//! bridge::install_log()?;
//! // Everything from INFO on, and all levels of `hyper` and its modules.
//! let session =
//!     Session::builder().file(&path).log_from(Level::Info).group("hyper", Level::Verbose).start()?;
//! log::info!("ready after {} ms", 12);
//! log::debug!(target: "hyper::client", "connecting");
//! assert_eq!(session.stop()?.messages, 2);
//! # std::fs::remove_file(path).ok();
//! # Ok(())
//! # }
//! ```
//!
//! Each target becomes a group with its first call; the target is the group's full name and tag. So
//! targets are switched and filtered as groups are, one by one (`hyper::client`) or with all their
//! modules (`hyper`).
//!
//! Invariants: a call that is off costs no more than the bridged crate's own check, since the
//! bridges update its caches whenever the enabled levels change; user code that formats arguments
//! runs before anything is written.

#[cfg(feature = "log")]
mod log;
mod record;
mod targets;
#[cfg(feature = "tracing")]
mod tracing;

#[cfg(feature = "log")]
pub use self::log::{Logger, install_log};
#[cfg(feature = "tracing")]
pub use self::tracing::{EnabledLevels, TracingLayer, tracing_layer};
