//! Any bytes from a socket of Perfetto's service: frames are put together and decoded without a
//! panic, and what was decoded is encoded to something that decodes to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfetto_ipc::frame::{Frame, FrameBuffer};

fuzz_target!(|bytes: &[u8]| {
    let mut buffer = FrameBuffer::default();
    for part in bytes.chunks(7) {
        buffer.push(part);
        while let Ok(Some(frame)) = buffer.next_frame() {
            let Ok(frame) = Frame::decode(frame) else { return };
            let again = frame.encode().expect("no longer than it was");
            assert_eq!(Frame::decode(&again[4..]).expect("a frame"), frame);
        }
    }
});
