//! Any bytes after a recording's header: recovering never panics, and makes a readable trace.
//!
//! The reader's own property tests damage one recording. This target covers states that they can't
//! reach by chance: any layout of pages, any chunks in any order, and packets that span several
//! chunks. In the recording of a stream, the positions of its writers are arbitrary, too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protolog_core::recorder::{
    BuildId, ClockSource, GENERATION_AT, HEADER_SIZE, Header, MAGIC, METADATA_USED_AT, VERSION,
};
use protolog_reader::{Recording, Trace, TraceSurvey};

const PAGE: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    // The file as it is, and as the ring and the annex of one that is sound, of a ring and of a
    // stream.
    check(bytes);
    check(&file(bytes, 0));
    // The path of the trace file and the positions are what the first page of the ring has.
    check(&file(bytes, HEADER_SIZE as u64 + 8));
});

fn file(bytes: &[u8], positions_at: u64) -> Vec<u8> {
    let pages = bytes.len() / PAGE;
    let header = Header {
        version: VERSION,
        pid: 1,
        page: PAGE as u32,
        pages: pages as u32,
        clock: ClockSource::Kernel,
        ring_at: HEADER_SIZE as u64,
        metadata_at: (HEADER_SIZE + pages * PAGE) as u64,
        realtime: 1,
        monotonic: 1,
        boottime: 1,
        boot_id: [1; 16],
        build_id: BuildId::default(),
        positions_at,
        session_id: [0; 16],
    };
    let mut file = header.to_bytes().to_vec();
    file[..MAGIC.len()].copy_from_slice(&MAGIC);
    file.resize(HEADER_SIZE, 0);
    file[METADATA_USED_AT..][..8].copy_from_slice(&((bytes.len() % PAGE) as u64).to_ne_bytes());
    file[GENERATION_AT] = 2;
    file.extend(bytes);
    file
}

fn check(bytes: &[u8]) {
    let Ok(recording) = Recording::parse(bytes) else { return };
    let mut trace = Vec::new();
    let report = recording.write(&mut trace).expect("memory takes everything");
    let log = Trace::from_bytes(trace).read().expect("a trace");
    assert_eq!(log.stats().ended_early, None);
    assert!(log.stats().entries <= report.messages);
    let _ = recording.trace();
    for is_cut in [false, true] {
        let mut survey = TraceSurvey::default();
        survey.is_cut = is_cut;
        let mut rest = Vec::new();
        let report = recording.write_rest(&survey, &mut rest).expect("memory takes everything");
        assert!(rest.len() <= 8 * bytes.len() + HEADER_SIZE, "{} of {}", rest.len(), bytes.len());
        let log = Trace::from_bytes(rest).read().expect("a trace");
        assert_eq!(log.stats().ended_early, None);
        assert!(log.stats().entries <= report.messages);
    }
}
