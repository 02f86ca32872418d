//! Enums of one name in one crate: their groups are one. Where they are declared differently, that
//! is said, once.

use protolog_rt::{ProtoLogGroup, i};
use std::process::Command;

mod first {
    #[derive(protolog_rt::ProtoLogGroup)]
    pub(crate) enum Log {
        Net,
        Disk,
    }
}

mod second {
    #[derive(protolog_rt::ProtoLogGroup)]
    pub(crate) enum Log {
        Net,
        #[protolog(tag = "STORE")]
        Disk,
    }
}

mod third {
    #[derive(protolog_rt::ProtoLogGroup)]
    pub(crate) enum Log {
        Net,
    }
}

#[test]
fn enums_of_one_name_that_differ_are_reported_once() {
    const CHILD: &str = "PROTOLOG_TWICE";
    if std::env::var_os(CHILD).is_some() {
        for _ in 0..2 {
            i!(third::Log::Net, "equal to the others");
            i!(first::Log::Net, "first");
            i!(second::Log::Net, "second");
        }
        // They register with their first call that may be enabled.
        assert_eq!(first::Log::Disk.info().name, second::Log::Disk.info().name);
        first::Log::Disk.is_enabled(protolog_rt::Level::Info);
        return;
    }
    let mut own = Command::new(std::env::current_exe().expect("the test itself"));
    own.args(["--exact", "enums_of_one_name_that_differ_are_reported_once", "--nocapture"]);
    let output = protolog_testkit::run(own.env(CHILD, "1"));
    let said = "protolog: the group `duplicate_groups::Log::Disk` is declared twice, with the tag `Disk` and with the tag \
        `STORE`: traces have one of them\n\
        help: rename one of the enums, since groups are known by crate, enum and variant\n";
    assert_eq!(output.stderr, said);
}
