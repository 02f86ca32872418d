//! Names in configurations that no program answers to.

use super::{program_of, record};
use protolog_testkit::TracingService;

/// The trace is without what was asked for, and no error says so.
#[test]
fn names_that_nothing_answers_to_are_reported() {
    let Some(service) = TracingService::start() else { return };
    let alone = record(&service, &["--time", "1s", "--ftrace", "a/b", "-o", "a.pftrace"]);
    assert_eq!(
        (alone.code, alone.stderr.as_str()),
        (
            Some(0),
            "warning: no connected program offers the data source `android.protolog`\n\
             help: call `producer::connect()` in Rust or `ProtoLogProducer.connect()` in Java, \
             with the service's socket in PERFETTO_PRODUCER_SOCK_NAME if it is elsewhere\n\
             warning: no connected program offers the data source `linux.ftrace`\n\
             help: start `traced_probes` as root\n"
        )
    );
    let mut program = program_of(&service);
    let level = "at the level that is recorded";
    for (args, close) in [(&[][..], ""), (&["--log-from", "debug"][..], "; did you mean `Tick`?")] {
        let args = [&["--time", "2s", "--group", "Tik=verbose", "-o", "a.pftrace"], args].concat();
        let typo = record(&service, &args);
        let warning = format!(
            "warning: no program has messages of a group `Tik` {level}{close}\n\
             help: list the groups by `protologtool configuration groups list`\n"
        );
        assert_eq!((typo.code, typo.stderr), (Some(0), warning));
    }
    let config = "buffers { size_kb: 64 } data_sources { config { name: \"android.protolg\" } }";
    std::fs::write(service.dir.path().join("typo.pbtx"), config).expect("write it");
    let typo = record(&service, &["--time", "1s", "-c", "typo.pbtx", "-o", "a.pftrace"]);
    let close = "`android.protolg`; did you mean `android.protolog`?\nhelp: correct the name";
    assert!(typo.code == Some(0) && typo.stderr.contains(close), "{}", typo.stderr);
    drop(program.stdin.take());
    program.wait().expect("wait for it");
}
