//! Outputs that can't be written: the error says what to do.

use super::record;
use protolog_testkit::TracingService;

#[test]
fn outputs_without_room_or_access_are_errors_with_advice() {
    let Some(service) = TracingService::start() else { return };
    let room = "error: can't write `/dev/full`: no space left on device\n\
                help: make room there, or write it elsewhere\n";
    let output = record(&service, &["--time", "1s", "-o", "/dev/full"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(2), room));
    // Nobody may make files there, not even root.
    let output = record(&service, &["--time", "1s", "-o", "/sys/new.pftrace"]);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    let help = "help: name a file in a directory that this user may write to\n";
    assert!(output.stderr.starts_with("error: can't write `/sys/new.pftrace`: "));
    assert!(output.stderr.ends_with(help), "{}", output.stderr);
}
