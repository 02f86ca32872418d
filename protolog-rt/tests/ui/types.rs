//! Arguments of types that their conversions do not take.
use protolog_rt::{ProtoLogGroup, d};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    #[protolog(enabled = false)]
    Off,
}

struct Opaque;

fn main() {
    let value = Opaque;
    d!(AppLog::Net, "%d", 1.5);
    d!(AppLog::Net, "%x and %d", 1, u128::MAX);
    d!(AppLog::Net, "%f", 1);
    d!(AppLog::Net, "%b", &"yes");
    d!(AppLog::Net, "%s", value);
    d!(AppLog::Net, "%s", Some(value));
    d!(AppLog::Off, "%d", "also where the group is compiled out");
}
