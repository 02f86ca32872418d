//! A tracing service that another user has put where the tool looks for one.

use super::{TOOL, run_at_once, shared};
use protolog_testkit::{role, with_users};
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SOCKET: &str = "/tmp/perfetto-consumer";

#[test]
fn a_service_of_another_user_in_tmp_is_asked_for_nothing() {
    const NAME: &str = "service::a_service_of_another_user_in_tmp_is_asked_for_nothing";
    with_users(NAME, &[Path::new(TOOL)], |users| {
        let trace = shared().join("new.pftrace");
        let mut record = Command::new(users.program(Path::new(TOOL)));
        record.args(["record", "--perfetto", "-o"]).arg(&trace);
        let listener = users.role(users.intruder, "service::listens", "");
        let output = run_at_once(&record);
        assert_eq!(output.code, Some(2), "{}", output.stderr);
        let expected = format!("the service at `{SOCKET}` is of user {}", users.intruder);
        assert!(output.stderr.contains(&expected), "{}", output.stderr);
        assert!(output.stderr.contains("help: name the socket"), "{}", output.stderr);
        assert!(!trace.exists());
        assert_eq!(listener.finish().iter().filter(|line| *line == "0 bytes").count(), 1);

        // Whoever names it trusts it, though this one does not answer.
        std::fs::remove_file(SOCKET).expect("root may remove it");
        let listener = users.role(users.intruder, "service::listens", "");
        let output = run_at_once(record.env("PERFETTO_CONSUMER_SOCK_NAME", SOCKET));
        assert_eq!(output.code, Some(2), "{}", output.stderr);
        assert!(!output.stderr.contains("is of user"), "{}", output.stderr);
        assert_eq!(listener.finish().iter().filter(|line| *line == "0 bytes").count(), 0);
    });
}

/// Listens where the tool looks, and says how much the first one sends.
#[test]
fn listens() {
    if role().is_none() {
        return;
    }
    let listener = UnixListener::bind(Path::new(SOCKET)).expect("listen");
    println!("\nready");
    let (mut socket, _) = listener.accept().expect("a consumer");
    let mut sent = Vec::new();
    let _ = socket.set_read_timeout(Some(Duration::from_secs(2)));
    let _ = socket.read_to_end(&mut sent);
    println!("\n{} bytes", sent.len());
}
