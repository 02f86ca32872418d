//! The sockets of the service.
//!
//! A variable of the environment names a socket; otherwise it is the one in `/run/perfetto`, if it
//! is there, or else the one in `/tmp`, where anybody may have made it ([`is_anybodys`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable that names the producers' socket.
pub const PRODUCER_VARIABLE: &str = "PERFETTO_PRODUCER_SOCK_NAME";
/// The variable that names the consumers' socket.
pub const CONSUMER_VARIABLE: &str = "PERFETTO_CONSUMER_SOCK_NAME";

const PRODUCER_IN_TMP: &str = "/tmp/perfetto-producer";
const CONSUMER_IN_TMP: &str = "/tmp/perfetto-consumer";

/// Returns the socket for producers, given the value of [`PRODUCER_VARIABLE`].
pub fn producer(variable: Option<OsString>) -> PathBuf {
    choose(variable, "/run/perfetto/traced-producer.sock", PRODUCER_IN_TMP)
}

/// Returns the socket for consumers, given the value of [`CONSUMER_VARIABLE`].
pub fn consumer(variable: Option<OsString>) -> PathBuf {
    choose(variable, "/run/perfetto/traced-consumer.sock", CONSUMER_IN_TMP)
}

/// Returns whether a socket is where every user may make one: whoever listens there may be a user
/// who is not to see what others log.
pub fn is_anybodys(socket: &Path) -> bool {
    [PRODUCER_IN_TMP, CONSUMER_IN_TMP].iter().any(|path| socket == Path::new(path))
}

fn choose(variable: Option<OsString>, run: &str, tmp: &str) -> PathBuf {
    if let Some(path) = variable.filter(|path| !path.is_empty()) {
        return path.into();
    }
    if Path::new(run).exists() { run.into() } else { tmp.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins() {
        assert_eq!(producer(Some("/a/b".into())), Path::new("/a/b"));
        assert_ne!(producer(Some("".into())), Path::new(""));
        assert!(consumer(None).is_absolute());
        assert!(
            !is_anybodys(&producer(Some("/a/b".into()))) && is_anybodys(PRODUCER_IN_TMP.as_ref())
        );
    }
}
