//! Any bytes as a dictionary, in each format: they are read, refused, or read with problems; what
//! was read is the same dictionary after every way of writing it. Good seeds are dictionaries in
//! `.pb` and `.json`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viewer_config::{Collector, Dictionary, Format};

fuzz_target!(|bytes: &[u8]| {
    let _ = Dictionary::read(bytes);
    for format in Format::ALL {
        let mut collector = Collector::new();
        let _ = collector.read_as(format, bytes);
        // Whatever came before an error, without what the problems are about.
        let read = collector.finish_anyway().dictionary;
        let mut travelled = read.clone();
        for format in Format::ALL {
            let again = Dictionary::read_as(format, &travelled.to_bytes(format));
            travelled = again.expect("what was written can be read").dictionary;
        }
        assert_eq!(read.groups(), travelled.groups());
        assert_eq!(read.messages().len(), travelled.messages().len());
    }
});
