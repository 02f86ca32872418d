//! Messages that a writer had to abandon: marked, counted, and no cost to any other.

use super::*;

/// Chunks of a writer that had to abandon a message, and logged 10 more later.
fn abandoned() -> Vec<Image> {
    let rig = Rig::new(3);
    for number in 0..5 {
        assert!(rig.log(number, 0));
    }
    assert!(rig.core.buffer.acquire(PageLayout::One, 1).is_some(), "somebody else's");
    assert!(!rig.log(99, 12_000), "it is cut, but one page is too little");
    let mut images = rig.chunks();
    assert!(images.iter().all(|image| image.complete));
    rig.release_complete();
    for number in 5..15 {
        assert!(rig.log(number, 0));
    }
    rig.finish();
    images.extend(rig.chunks());
    images
}

/// The chunk with a last packet that is marked as abandoned, and where.
fn mark(images: &[Image]) -> (usize, usize) {
    let mark = redundant_varint(DROPPED_PACKET_SIZE).unwrap();
    let places: Vec<(usize, usize)> = images
        .iter()
        .enumerate()
        .filter_map(|(index, image)| {
            Some((index, image.bytes.windows(FRAGMENT_SIZE_LEN).position(|at| at == mark)?))
        })
        .collect();
    assert_eq!(places.len(), 1, "one mark");
    places[0]
}

#[test]
fn an_abandoned_message_is_marked_and_costs_nothing_else() {
    let images = abandoned();
    let (index, _) = mark(&images);
    assert_eq!(images[index].packets().flags() & Packets::CONTINUED, 0);
    let mut service = Service::default();
    assert_eq!(kept_by(&mut service, &images), upto(15));
    assert_eq!((service.abandoned, service.violations), (1, 0));
}

#[test]
fn abandoned_without_the_mark_a_message_takes_the_next_ones_with_it() {
    let mut images = abandoned();
    let (index, at) = mark(&images);
    let rest = images[index].bytes.len() - at - FRAGMENT_SIZE_LEN;
    let size = redundant_varint(rest as u32).unwrap();
    images[index].bytes[at..][..FRAGMENT_SIZE_LEN].copy_from_slice(&size);
    let packets = images[index].packets();
    images[index].set_packets(packets.count(), packets.flags() | Packets::CONTINUED);
    assert_eq!(kept(&images), upto(5), "nothing that came later");
}

#[test]
fn losses_are_reported_once_wherever_a_large_message_ends() {
    let long = "x".repeat(20_000);
    for length in (3_400..4_200).step_by(3) {
        let rig = Rig::new(16);
        assert!(rig.log(0, 0));
        // The first text is cut: a loss that is counted while the message is being written.
        assert!(rig.write(&(Int(1), (Str(&long), (Str(&long[..length]), ())))));
        let mut service = Service::default();
        rig.chunks().iter().for_each(|image| service.take(image));
        let packets = service.read();
        assert_eq!(numbers(&packets), [0, 1]);
        let fields = packets.iter().flat_map(|packet| Reader::new(packet).flatten());
        let reported = fields.filter(|field| field.number == packet::LOSS).count() as u64;
        assert_eq!(reported + rig.lost(LossCause::Truncated), 1, "{length}");
    }
}

#[test]
fn a_fragment_has_room_for_the_mark() {
    for image in many().iter().filter(|image| image.packets().flags() & Packets::CONTINUED != 0) {
        let mut at = CHUNK_HEADER;
        for _ in 1..image.packets().count() {
            let (size, length) = protozero::wire::decode_varint(&image.bytes[at..]).unwrap();
            at += length + size as usize;
        }
        let (_, length) = protozero::wire::decode_varint(&image.bytes[at..]).unwrap();
        assert_eq!(length, FRAGMENT_SIZE_LEN, "chunk {}", image.chunk_id());
    }
}
