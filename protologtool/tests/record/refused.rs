//! Programs that record as many sessions as they can, and not this one.

use super::{program_of, record, tool};
use perfetto_ipc::frame::message;
use perfetto_ipc::{Consumer, places};
use protolog_testkit::{TracingService, run_any, wait_until};

/// The sessions that record a program at a time.
const MOST: usize = 32;

/// A configuration that has a program record so many sessions.
fn sessions(count: usize) -> Vec<u8> {
    message(|to| {
        to.nested(1).uint32(1, 64);
        for _ in 0..count {
            let mut source = to.nested(2);
            let mut config = source.nested(1);
            config.string(1, "android.protolog").nested(126).uint32(2, 1);
        }
    })
}

/// The trace is without the program, and no error says so.
#[test]
fn a_program_that_does_not_record_is_reported() {
    let Some(service) = TracingService::start() else { return };
    let mut program = program_of(&service);
    let place = places::consumer(Some(service.consumers().into()));
    let mut other = Consumer::connect(&place).expect("connect to the service");
    wait_until("the program is connected", || {
        let names = other.data_sources().expect("ask the service");
        names.iter().any(|name| name == "android.protolog")
    });
    other.enable(&sessions(MOST)).expect("start sessions");
    let pid = program.id();
    let name = std::env::current_exe().expect("this program");
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let says = format!(
        "process {pid} (`{name}`) did not record this session: it records 32 others, the most at a time\n"
    );
    let warning = format!(
        "warning: {says}help: end other sessions of the tracing service, and record again\n"
    );
    // A ring that wraps while other programs log has it from its end.
    for buffer in ["1", "32"] {
        let args = ["--time", "1s", "--buffer", buffer, "-o", "a.pftrace"];
        let output = record(&service, &args);
        assert_eq!((output.code, output.stderr), (Some(0), warning.clone()));
        let read = run_any(&mut tool(&service, &["read-log", "a.pftrace"]));
        assert!(read.stderr.contains(&format!("warning: {says}")), "{}", read.stderr);
    }
    let json = run_any(&mut tool(&service, &["read-log", "--format", "json", "a.pftrace"])).stdout;
    let line = format!(
        "{{\"type\":\"refusal\",\"pid\":{pid},\"program\":\"{name}\",\
         \"reason\":\"it records 32 others, the most at a time\"}}\n"
    );
    assert_eq!(json, line);
    // There is room for another one now.
    other.disable().expect("end the sessions");
    let output = record(&service, &["--time", "1s", "-o", "b.pftrace"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}
