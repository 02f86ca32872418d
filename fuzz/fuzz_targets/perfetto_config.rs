//! Any bytes as configurations: that of a data source, which the service sends, and that of a
//! session, which people write.
//!
//! Covers rules that hold whatever the bytes are. Fields that nobody knows mean nothing. A default
//! level means the same wherever it stands. Settings of a file are taken out once, and what is left
//! means to a service what it meant before.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfetto_ipc::frame::message;
use perfetto_ipc::{check_config, take_file_settings};
use protolog_rt::Level;
use protolog_rt::producer::fuzzing::{Decoded, config};

fuzz_target!(|bytes: &[u8]| {
    source(bytes);
    session(bytes);
});

/// As that of a data source, and as the part of it that is ProtoLog's.
fn source(bytes: &[u8]) {
    let known = config(bytes);
    let unknown = message(|to| _ = to.uint32(1000, 7).string(1001, "new"));
    assert_eq!(config(&[&unknown, bytes].concat()), known);
    let whole = |parts: &[&[u8]]| config(&message(|to| _ = to.bytes(126, &parts.concat())));
    let Some(own) = whole(&[bytes]) else { return };
    assert_eq!(whole(&[bytes, &unknown]).as_ref(), Some(&own));
    for level in [Level::Debug, Level::Verbose, Level::Wtf] {
        let default = message(|to| _ = to.uint32(3, level.wire()));
        let before = whole(&[&default, bytes]).expect("it was before");
        let after = whole(&[bytes, &default]).expect("it was before");
        assert_eq!(before, after);
        assert!(before.default.severity() <= level.severity());
        let names = |of: &Decoded| of.groups.iter().map(|(name, _)| name.clone()).collect();
        let (before, own): (Vec<_>, Vec<_>) = (names(&before), names(&own));
        assert!(before == own && own.iter().all(|name| !name.is_empty()));
    }
}

/// As that of a session.
fn session(bytes: &[u8]) {
    let is_fit = check_config(bytes).is_ok();
    let Ok((rest, file)) = take_file_settings(bytes) else { return };
    if file.is_none() {
        assert_eq!(rest, bytes);
        return;
    }
    assert_eq!(take_file_settings(&rest).expect("it is encoded"), (rest.clone(), None));
    assert!(!is_fit, "the service was to write it");
}
