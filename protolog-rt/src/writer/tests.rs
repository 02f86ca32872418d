//! The chunks of a writer, read by a model of the tracing service; and for each rule of the layout,
//! the loss when it is broken.

mod abandoned;
mod alone;
mod bounds;
mod idle;
mod service;
mod stopped;
mod strings;

use super::arbiter::{Arbiter, Identity};
use super::fast::FastArgs;
use super::own::Own;
use super::packet::Packet;
use super::path::Exit;
use super::running;
use super::{Head, Writer};
use crate::level::{GroupInfo, GroupSet, SwitchPage};
use crate::loss::LossCause;
use crate::note::GroupDef;
use crate::session::arbiter::session_arbiter::SessionOwner;
use crate::session::filter::Filter;
use crate::site::GroupLevel;
use crate::value::{Int, Str};
use protolog_core::chunk::{
    CHUNK_HEADER, DROPPED_PACKET_SIZE, FRAGMENT_SIZE_LEN, MAX_PACKETS, MAX_WRITER_ID, PAGE_HEADER,
    Packets, PageLayout,
};
use protolog_core::schema::{message, packet};
use protolog_core::{FillPolicy, Level};
use protolog_shmem::{Buffer, Heap, Memory, PAGE};
use protozero::Reader;
use protozero::wire::redundant_varint;
use service::{Image, RESERVED, Service};
use std::num::NonZeroU64;
use std::sync::Arc;

const DEF: GroupDef = GroupDef::new("app::Log::NetNet", 3, 0, true, false);
static PAGE_OF_NET: SwitchPage = SwitchPage::new(&[DEF]);
static SET: GroupSet = GroupSet::new(&PAGE_OF_NET, &[]);
static NET: GroupInfo = GroupInfo::new(&DEF, &PAGE_OF_NET, &SET);
const HEAD: Head = Head { id: 0x0123456789abcdef, group_level: GroupLevel::new(&NET, Level::Info) };

/// An arbiter as a session has it.
fn arbiter(buffer: Buffer, max_string_bytes: usize) -> Arc<Arbiter> {
    Arc::new(Arbiter::new(buffer, max_string_bytes, Arc::new(SessionOwner::new(Filter::default()))))
}

impl Writer {
    /// A writer for this thread, as the sequence `identity` of a session.
    fn new(core: &Arc<Arbiter>, identity: Identity) -> Self {
        let mut writer = Self::spare(core.drop_counters());
        writer.adopt(Arc::clone(core), identity, running::epoch());
        writer
    }

    /// Registers a writer for this thread.
    fn register(core: &Arc<Arbiter>) -> Arc<Self> {
        let writer = Arc::new(Self::new(core, core.new_identity().expect("an id")));
        core.enlist(&writer);
        writer
    }
}

/// A writer with a buffer of its own.
struct Rig {
    core: Arc<Arbiter>,
    writer: Arc<Writer>,
}

impl Drop for Rig {
    fn drop(&mut self) {
        // As a session does at its end: core and writers hold each other.
        drop(self.core.take_writers());
    }
}

impl Rig {
    fn new(pages: usize) -> Self {
        Self::keeping(pages, FillPolicy::Stream)
    }

    fn keeping(pages: usize, fill_policy: FillPolicy) -> Self {
        Self::over(Memory::new(Heap::new(pages * PAGE)), fill_policy)
    }

    fn over(memory: Memory, fill_policy: FillPolicy) -> Self {
        let core = arbiter(Buffer::new(memory, fill_policy), 16 << 10);
        let writer = Writer::register(&core);
        Self { core, writer }
    }

    /// Another writer, which goes on with the sequence of one that has ended.
    fn succeed(&mut self) {
        self.writer.finish();
        let identity = self.writer.identity().expect("it has ended");
        self.writer = Arc::new(Writer::new(&self.core, identity));
    }

    /// Logs number `number` with a text of its own of `length` bytes; with 0 without a text. False
    /// if it was dropped.
    fn log(&self, number: i64, length: usize) -> bool {
        if length == 0 {
            return self.write(&(Int(number), ()));
        }
        self.write(&(Int(number), (Str(&format!("{number:x>length$}")), ())))
    }

    fn write<A: FastArgs>(&self, args: &A) -> bool {
        self.is_kept(|| write(&self.writer, args))
    }

    /// The same for arguments that always take the slow path.
    fn write_packet<P: Packet>(&self, packet: &P) -> bool {
        let moment = NonZeroU64::MIN.saturating_add(self.writer.last());
        self.is_kept(|| self.writer.write(HEAD, packet, moment))
    }

    fn is_kept(&self, write: impl FnOnce() -> bool) -> bool {
        let before = self.lost(LossCause::BufferFull);
        assert!(write(), "the session runs");
        // Losses that a chunk's first packet reports are no longer among them.
        self.lost(LossCause::BufferFull) <= before
    }

    /// Losses that no packet reports yet.
    fn lost(&self, cause: LossCause) -> u64 {
        let mut pending = Vec::new();
        self.writer.losses.take(|lost| {
            pending.push(lost);
            true
        });
        for lost in &pending {
            self.writer.losses.add(lost.group, lost.cause, lost.count);
        }
        pending.iter().filter(|lost| lost.cause == cause).map(|lost| lost.count).sum()
    }

    /// Gives the last chunk back.
    fn finish(&self) {
        self.writer.finish();
    }

    /// All chunks that have something, in the order of their ids.
    fn chunks(&self) -> Vec<Image> {
        let mut reader = self.core.buffer.reader();
        let mut images: Vec<Image> = reader
            .find(true)
            .into_iter()
            .map(|info| Image {
                // SAFETY: no thread but this one knows the writers.
                bytes: unsafe { reader.image(&info) },
                complete: info.is_complete,
            })
            .collect();
        images.sort_by_key(Image::chunk_id);
        images
    }

    /// Frees all complete chunks.
    fn release_complete(&self) {
        let mut reader = self.core.buffer.reader();
        for info in reader.find(false) {
            drop(reader.read(&info).expect("it is complete"));
        }
    }
}

/// Writes a message as a thread does.
fn write<A: FastArgs>(writer: &Writer, args: &A) -> bool {
    writer.gate.enter();
    // SAFETY: *busy*: this is the only thread that knows the writer, and no message is being
    // written.
    let own = unsafe { &mut *writer.own.get() };
    let is_handled = match writer.fast_path(own, HEAD.id, args) {
        Ok(()) => true,
        Err(now) => write_slow(writer, own, args, now),
    };
    writer.gate.exit();
    is_handled
}

fn write_slow<A: FastArgs>(writer: &Writer, own: &mut Own, args: &A, now: Exit) -> bool {
    writer.fast_path_interning(own, HEAD.id, args, now)
        || writer.slow_path(own, HEAD, args, None)
        || writer.out_of_room(own, HEAD, args, None)
}

/// The numbers of the messages that a service has of `images`.
fn kept(images: &[Image]) -> Vec<i64> {
    kept_by(&mut Service::default(), images)
}

fn kept_by(service: &mut Service, images: &[Image]) -> Vec<i64> {
    for image in images {
        service.take(image);
    }
    numbers(&service.read())
}

/// The first argument of each packet that is a message.
fn numbers(packets: &[Vec<u8>]) -> Vec<i64> {
    packets.iter().filter_map(|packet| number(packet)).collect()
}

fn number(bytes: &[u8]) -> Option<i64> {
    let mut fields = Reader::new(bytes).map(|field| field.expect("a field"));
    let entry = fields.find(|field| field.number == packet::PROTOLOG_MESSAGE)?;
    let mut fields = entry.as_message().expect("a message").map(|field| field.expect("a field"));
    let param = fields.find(|field| field.number == message::SINT64_PARAMS)?;
    Some(param.as_sint64().expect("an argument"))
}

fn upto(count: i64) -> Vec<i64> {
    (0..count).collect()
}

/// Chunks of a writer that logged 1,000 messages of all lengths, some larger than a chunk.
fn many() -> Vec<Image> {
    let rig = Rig::new(256);
    for number in 0..1_000 {
        let length = if number % 100 == 99 { 9_000 } else { number as usize * 7 % 300 };
        assert!(rig.log(number, length));
    }
    rig.finish();
    rig.chunks()
}

#[test]
fn a_service_keeps_everything() {
    let images = many();
    assert!(images.len() > 20);
    let mut service = Service::default();
    assert_eq!(kept_by(&mut service, &images), upto(1_000));
    assert_eq!((service.violations, service.abandoned, service.reserved), (0, 0, 0));
    let in_any_order: Vec<Image> = images.into_iter().rev().collect();
    assert_eq!(kept(&in_any_order), upto(1_000));
}

#[test]
fn a_finished_message_counts_at_once() {
    let rig = Rig::new(256);
    let mut service = Service::default();
    let mut all = Vec::new();
    for number in 0..400 {
        assert!(rig.log(number, if number % 50 == 49 { 5_000 } else { number as usize % 90 }));
        all.extend(kept_by(&mut service, &rig.chunks()));
        assert_eq!(all, upto(number + 1), "looked into while it is being written");
    }
    rig.finish();
    assert!(kept_by(&mut service, &rig.chunks()).is_empty());
    assert_eq!(service.violations, 0);
}

#[test]
fn without_an_empty_packet_the_last_message_does_not_count() {
    let rig = Rig::new(4);
    rig.log(0, 0);
    let mut images = rig.chunks();
    assert_eq!(kept(&images), [0]);
    let packets = images[0].packets();
    images[0].set_packets(packets.count() - 1, packets.flags());
    assert!(kept(&images).is_empty());
}

#[test]
fn the_packet_that_is_started_is_empty_whatever_was_there_before() {
    for (number, length) in (0..).zip((0..300).chain([5_000, 9_000])) {
        // Ones in all pages, but for the page's header and a chunk's.
        let mut bytes = vec![0xff; 4 * PAGE];
        bytes.chunks_mut(PAGE).for_each(|page| page[..PAGE_HEADER + CHUNK_HEADER].fill(0));
        let rig = Rig::over(Memory::new(Heap::copy_of(&bytes)), FillPolicy::Stream);
        assert!(rig.log(number, length));
        for image in rig.chunks() {
            let mut rest = &image.bytes[CHUNK_HEADER..];
            let mut size = 0;
            for _ in 0..image.packets().count() {
                let (bytes, at) = protozero::wire::decode_varint(rest).expect("a size");
                (rest, size) = (&rest[at + bytes as usize..], bytes);
            }
            assert!(size == 0 || image.complete, "a text of {length} bytes: {size}");
        }
        rig.finish();
        let mut service = Service::default();
        assert_eq!(kept_by(&mut service, &rig.chunks()), [number]);
        assert_eq!(service.violations, 0);
    }
}

#[test]
fn a_gap_in_the_chunk_ids_costs_all_that_follows() {
    let mut images = many();
    let whole = images.len() as u32;
    assert!(images.iter().map(Image::chunk_id).eq(0..whole));
    let before = kept(&images[..2]).len();
    for image in &mut images[2..] {
        image.set_chunk_id(image.chunk_id() + 1);
    }
    assert_eq!(kept(&images), upto(before as i64));
}

#[test]
fn a_lost_chunk_leaves_no_gap() {
    // A buffer that is full again and again: a message that can't be written takes no chunk id.
    let rig = Rig::new(2);
    let mut service = Service::default();
    let (mut all, mut expected) = (Vec::new(), Vec::new());
    for number in 0..2_000 {
        if rig.log(number, 200) {
            expected.push(number);
        }
        if number % 100 == 99 {
            all.extend(kept_by(&mut service, &rig.chunks()));
            rig.release_complete();
        }
    }
    all.extend(kept_by(&mut service, &rig.chunks()));
    assert!(expected.len() < 2_000 && expected.len() > 300, "{}", expected.len());
    assert_eq!(all, expected);
    assert_eq!(service.violations, 0);
}

#[test]
fn the_count_never_falls() {
    let rig = Rig::new(4);
    let mut before = 0;
    for number in 0..10 {
        rig.log(number, 0);
        let count = rig.chunks()[0].packets().count();
        assert!(count > before && count < MAX_PACKETS);
        before = count;
    }
    rig.finish();
    assert_eq!(rig.chunks()[0].packets().count(), before, "also when the chunk is complete");
}

#[test]
fn a_count_that_falls_costs_the_messages_since_the_last_look() {
    let rig = Rig::new(8);
    let mut service = Service::default();
    rig.log(0, 0);
    let looked = rig.chunks();
    assert_eq!(kept_by(&mut service, &looked), [0]);
    let seen = looked[0].packets().count();
    rig.log(1, 0);
    rig.log(2, 0);
    rig.finish();
    let mut images = rig.chunks();
    let right = images.clone();
    images[0].set_packets(seen - 2, 0);
    assert!(kept_by(&mut service, &images).is_empty());
    assert_eq!(service.violations, 1);
    // The count as it was left: everything arrives.
    assert_eq!(kept_by(&mut service, &right), [1, 2]);
}

#[test]
fn the_most_messages_of_a_chunk_can_be_counted() {
    let images = {
        let rig = Rig::new(16);
        for _ in 0..1_000 {
            rig.log(0, 0);
        }
        rig.finish();
        rig.chunks()
    };
    let most = images.iter().map(|image| image.packets().count()).max().unwrap();
    assert!((150..MAX_PACKETS).contains(&most), "{most}");
    assert_eq!(kept(&images).len(), 1_000);
}

#[test]
fn a_sequence_that_is_used_again_goes_on() {
    let mut rig = Rig::new(32);
    for number in 0..50 {
        rig.log(number, 100);
    }
    rig.succeed();
    for number in 50..100 {
        rig.log(number, 100);
    }
    rig.finish();
    let images = rig.chunks();
    assert_eq!(kept(&images), upto(100));
    // From 0 again: a chunk with the id of an earlier one is taken for that one.
    let first = images.iter().position(|image| kept(std::slice::from_ref(image)).contains(&50));
    let (earlier, later) = images.split_at(first.expect("the successor's chunk"));
    let restarted: Vec<Image> = later
        .iter()
        .zip(0..)
        .map(|(image, id)| {
            let mut image = image.clone();
            image.set_chunk_id(id);
            image
        })
        .collect();
    let mut service = Service::default();
    assert_eq!(kept_by(&mut service, earlier), upto(50));
    assert!(kept_by(&mut service, &restarted).len() < 50);
}

#[test]
fn ids_are_used_again_beyond_a_few() {
    let rig = Rig::new(1);
    let mut identities = Vec::new();
    let mut register = || {
        let identity = rig.core.new_identity();
        identity.map(|identity| identities.push((identity.id, identity.next_chunk))).is_some()
    };
    assert!(register());
    let mut used = Identity { id: 1, next_chunk: 5, floor: 0, messages: 0 };
    rig.core.retire(used);
    used.id = 2;
    rig.core.retire(used);
    for _ in 2..MAX_WRITER_ID {
        assert!(register());
    }
    assert!(register() && register());
    assert!(!register(), "all are in use");
    let few = super::arbiter::FEW_SEQUENCES;
    let fresh = |ids: std::ops::RangeInclusive<u16>| ids.map(|id| (id, 0)).collect::<Vec<_>>();
    let (first, rest) = identities.split_at(usize::from(few) - 1);
    assert!(first == fresh(2..=few), "one for each");
    assert_eq!(rest[..2], [(1, 5), (2, 5)], "with chunk ids that go on");
    assert!(rest[2..] == fresh(few + 1..=MAX_WRITER_ID), "and no other twice");
}

#[test]
fn packets_carry_no_field_of_the_service() {
    let rig = Rig::new(8);
    rig.log(0, 0);
    rig.log(1, 20);
    rig.finish();
    let mut service = Service::default();
    for image in rig.chunks() {
        service.take(&image);
    }
    let packets = service.read();
    assert_eq!((packets.len(), service.reserved), (3, 0), "the state, and two messages");
    for field in RESERVED {
        // Made of the same bytes: the packet's first field, the timestamp, gets another number.
        let mut chunk = rig.chunks();
        let bytes = &mut chunk[0].bytes;
        let (size, length) = protozero::wire::decode_varint(&bytes[CHUNK_HEADER..]).unwrap();
        let second = CHUNK_HEADER + length + size as usize;
        let (size, length) = protozero::wire::decode_varint(&bytes[second..]).unwrap();
        let end = second + length + size as usize;
        let mut packet = bytes[second + length..end].to_vec();
        let (tag, tag_len) = protozero::wire::packed_varint((field as u64) << 3);
        packet.extend(&tag.to_le_bytes()[..tag_len]);
        packet.push(1);
        let mut with = vec![packet.len() as u8];
        with.append(&mut packet);
        let rest = bytes.len();
        bytes.splice(second..end, with);
        bytes.truncate(rest);
        let mut service = Service::default();
        assert_eq!(kept_by(&mut service, &chunk), [1], "field {field}");
        assert_eq!(service.reserved, 1);
    }
}

#[test]
fn a_free_chunk_has_a_clean_header() {
    let rig = Rig::new(4);
    for number in 0..100 {
        rig.log(number, 100);
    }
    rig.finish();
    let mut reader = rig.core.buffer.reader();
    for info in reader.find(false) {
        drop(reader.read(&info).expect("it is complete"));
        // SAFETY: no thread writes.
        let image = unsafe { reader.image(&info) };
        assert_eq!(image[..CHUNK_HEADER], [0; CHUNK_HEADER]);
    }
    drop(reader);
    assert!(rig.chunks().is_empty());
}

#[test]
fn the_model_takes_patches_of_four_bytes_only() {
    // A chunk as other writers leave it: the size of its one packet is still to come.
    let mut image = Image { bytes: vec![0; 64], complete: true };
    image.bytes[4] = 1;
    image.set_packets(1, Packets::NEEDS_PATCHING);
    image.bytes[CHUNK_HEADER + FRAGMENT_SIZE_LEN..][..2].copy_from_slice(&[0x40, 7]);
    let size = redundant_varint(2).unwrap();
    let mut service = Service::default();
    service.take(&image);
    assert!(service.read().is_empty(), "it waits");
    service.patch(1, 0, 0, &size);
    assert_eq!(service.read(), [vec![0x40, 7]]);
    service.patch(1, 0, 0, &size[..2]);
    assert_eq!(service.violations, 1);
}
