//! Dictionaries that are large beside the service's buffer.

use crate::scarce::accounted_with;
use crate::service::{LONG, Service, all};
use perfetto_ipc::SessionConfig;
use std::thread;
use std::time::Duration;

/// The template of a number, with it in the place of the argument.
fn text(number: u32) -> String {
    format!("template {number} of many, with {} and {number}", "words ".repeat(12))
}

/// Of a dictionary that is four times as large as the ring, a session writes what it needs, and all
/// of its messages have their texts, whenever they were logged first.
#[test]
fn a_dictionary_larger_than_the_ring_leaves_it_to_the_messages() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("startup=65536", "large");
    child.tell("connected");
    let ring = SessionConfig { buffer_kb: 128, ..all() };
    // The startup buffer has room for all of these, and the first session has them.
    child.tell("templates 0..30");
    let first = service.session(&SessionConfig { buffer_kb: 8 << 10, ..all() });
    child.tell("sessions 1");
    child.tell("templates 20..5000");
    let trace = service.stop(first);
    let of_first = trace.texts();
    assert_eq!(of_first.len(), 5010);
    assert!((0..5000).all(|number| of_first.contains(&text(number))));
    let mut second = service.session(&ring);
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

/// A service that stands still while the session ends gets no dictionary at the end: the texts of
/// what it has are there before.
#[test]
fn messages_of_a_large_dictionary_have_texts_where_the_service_stands_still_at_the_end() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "still-large");
    child.tell("connected");
    child.tell("own-templates 0..4000");
    let session = service.session(&SessionConfig { buffer_kb: 64 << 10, ..all() });
    child.tell("sessions 1");
    service.signal("STOP");
    // The memory has room for these and the messages below, and not for all of their texts.
    (3000..3500).for_each(|size| drop(child.tell(&format!("long {size}"))));
    child.tell("templates 0..4000");
    child.exit();
    service.signal("CONT");
    service.wait_for_ends();
    let trace = service.stop(session);
    let texts = trace.texts();
    let readable = |text: &&String| text.starts_with("template ") || text.starts_with("long ");
    let with_text = texts.iter().filter(readable).count() as u64;
    // A packet of texts found no room.
    let allowed = ["traced_buf_trace_writer_packet_loss"];
    let (found, lost) = accounted_with(&trace, &allowed);
    assert_eq!(with_text, found, "messages with texts, messages in the trace; {lost} are lost");
    assert_eq!(found + lost, 4500);
    assert!(found > 500 && lost > 100, "{found} found, {lost} lost");
}

/// Likewise of a small one, with texts that come while there is hardly any memory.
#[test]
fn new_messages_have_texts_where_the_service_stands_still_at_the_end() {
    let Some(service) = Service::start() else { return };
    for (round, size) in [3000, 3010, 3020_u64].into_iter().enumerate() {
        let mut child = service.child("", &format!("still-small-{round}"));
        child.tell("connected");
        let session = service.session(&SessionConfig { buffer_kb: 64 << 10, ..all() });
        child.tell("sessions 1");
        service.signal("STOP");
        // They nearly fill the memory, each a page. A text that came before would take no room.
        let long = 498;
        (size..size + long).for_each(|size| drop(child.tell(&format!("long {size}"))));
        // There is room for the messages, and not for their texts.
        child.tell("templates 0..400");
        child.exit();
        service.signal("CONT");
        service.wait_for_ends();
        let trace = service.stop(session);
        let texts = trace.texts();
        let readable = |text: &&String| text.starts_with("template ") || text.starts_with("long ");
        let with_text = texts.iter().filter(readable).count() as u64;
        let (found, lost) = accounted_with(&trace, &["traced_buf_trace_writer_packet_loss"]);
        assert_eq!(with_text, found, "messages with texts, messages in the trace");
        assert_eq!(found + lost, long + 400);
        assert!(found > 400 && lost > 10, "{found} found, {lost} lost");
    }
}

/// The groups of a large dictionary are written as often as the whole, not with each new message.
#[test]
fn the_groups_of_a_large_dictionary_are_not_written_with_each_new_message() {
    let Some(service) = Service::start() else { return };
    let mut child = service.child("", "many-groups");
    child.tell("connected");
    child.tell("own-templates 0..5000");
    let mut session = service.session(&SessionConfig { buffer_kb: 8 << 10, ..all() });
    child.tell("sessions 1");
    let name = b"Log::Work";
    let count = |bytes: &[u8]| bytes.windows(name.len()).filter(|at| at == name).count();
    session.flush(LONG).expect("flush");
    session.read_to_vec().expect("read");
    for number in 0..40 {
        child.tell(&format!("templates {number}..{}", number + 1));
        thread::sleep(Duration::from_millis(30));
    }
    let trace = service.stop(session);
    // In full at the end, and after so many bytes.
    let times = count(&trace.bytes);
    assert!((1..=4).contains(&times), "the group is there {times} times");
    child.end();
}
