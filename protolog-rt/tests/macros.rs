//! The macros, as programs use them.
use protolog_rt::{Level, ProtoLogGroup};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    #[protolog(tag = "DISK", log_to_text = true)]
    Disk,
    #[protolog(enabled = false)]
    Off,
}

#[test]
fn smoke() {
    let (n, host, ms) = (1500, "example.org", 2.5);
    protolog_rt::d!(AppLog::Net, "sent %d bytes to %s in %.1f ms", n, host, ms);
    protolog_rt::i!(
        AppLog::Disk,
        "sent %d bytes to %s in %.1f ms %b %s %s",
        n,
        host,
        ms,
        true,
        5,
        Some(5)
    );
    protolog_rt::i!(AppLog::Off, "%s", String::from("x"),);
    protolog_rt::protolog!(Level::Info, AppLog::Disk, "nothing");
}
