//! A service that another user has put where programs look for one.

use protolog_rt::producer;
use protolog_testkit::{role, with_users};
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

const SOCKET: &str = "/tmp/perfetto-producer";

#[test]
fn a_service_of_another_user_in_tmp_is_sent_nothing() {
    with_users("others::a_service_of_another_user_in_tmp_is_sent_nothing", &[], |users| {
        let listener = users.role(users.intruder, "others::listens", "");
        producer::connect();
        let by = Instant::now() + Duration::from_secs(20);
        let why = loop {
            if let Some(why) = producer::status().last_error.filter(|why| why.contains("user")) {
                break why;
            }
            assert!(Instant::now() < by, "{:?}", producer::status());
            thread::sleep(Duration::from_millis(10));
        };
        let expected = format!("{SOCKET}: the service is of user {}; ", users.intruder);
        assert!(why.starts_with(&expected), "{why}");
        assert_eq!(listener.finish().iter().filter(|line| *line == "0 bytes").count(), 1);
    });
}

/// Listens where programs look, and says how much the first one sends.
#[test]
fn listens() {
    if role().is_none() {
        return;
    }
    let listener = UnixListener::bind(SOCKET).expect("listen");
    println!("\nready");
    let (mut socket, _) = listener.accept().expect("a producer");
    let mut sent = Vec::new();
    let _ = socket.set_read_timeout(Some(Duration::from_secs(2)));
    let _ = socket.read_to_end(&mut sent);
    println!("\n{} bytes", sent.len());
}
