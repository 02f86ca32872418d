//! Dictionaries that are large beside the service's buffer.

use crate::service::{LONG, Service, all};
use perfetto_ipc::SessionConfig;

/// The template of a number, with it in the place of the argument.
fn text(number: u32) -> String {
    format!("template {number} of many, with {} and {number}", "words ".repeat(12))
}

/// Of a dictionary that is larger than the ring, a session writes what it needs, and all of its
/// messages have their texts, whenever they were logged first.
#[test]
fn a_dictionary_larger_than_the_ring_leaves_it_to_the_messages() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("startup=65536", "large") else { return };
    child.tell("connected");
    // The startup buffer has room for all of these, and the first session has them.
    child.tell("templates 0..30");
    let first = service.session(&SessionConfig { buffer_kb: 8 << 10, ..all() });
    child.tell("sessions 1");
    // The dictionary becomes large while the session runs.
    child.tell("templates 20..5000");
    let trace = service.stop(first);
    let of_first = trace.messages();
    let missing = (0..5000).filter(|&number| !of_first.contains(&text(number))).count();
    assert_eq!(missing, 0, "of {}; the program: {}", of_first.len(), child.tell("status"));
    let mut second = service.session(&SessionConfig { buffer_kb: 128, ..all() });
    child.tell("sessions 1");
    child.tell("templates 4000..4100");
    second.flush(LONG).expect("flush");
    child.tell("templates 4990..5020");
    let trace = service.stop(second);
    let expected: Vec<String> = (4000..4100).chain(4990..5020).map(text).collect();
    assert_eq!(trace.messages(), expected, "as trace_processor reads them");
    assert!(trace.bytes.len() < 100 << 10, "{} bytes", trace.bytes.len());
    child.end();
}
