//! The jar evaluator on any bytes: as a jar, and as the one class file `G` of a jar. It must come
//! back: with groups or with an error. Good seeds are class files of an enum `G`, as javac makes
//! them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protologtool::groups::from_jar;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fuzz_target!(|data: &[u8]| {
    if data.starts_with(b"PK") {
        let _ = from_jar(data, "G");
        return;
    }
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("G.class", stored).expect("an entry in memory");
    zip.write_all(data).expect("bytes in memory");
    let jar = zip.finish().expect("a jar in memory").into_inner();
    let _ = from_jar(&jar, "G");
});
