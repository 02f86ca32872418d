//! Enums that can't be groups.
use protolog_rt::ProtoLogGroup;

#[derive(ProtoLogGroup)]
struct NoEnum;

#[derive(ProtoLogGroup)]
enum Empty {}

#[derive(ProtoLogGroup)]
enum Generic<T> {
    Net(T),
}

#[derive(ProtoLogGroup)]
enum Fields {
    Net,
    Disk { name: String },
}

#[derive(ProtoLogGroup)]
enum Setting {
    #[protolog(tga = "NET")]
    Net,
}

#[derive(ProtoLogGroup)]
enum NoString {
    #[protolog(tag = NET)]
    Net,
}

#[derive(ProtoLogGroup)]
enum NoBoolean {
    #[protolog(enabled = 1)]
    Net,
}

#[derive(ProtoLogGroup)]
enum NoValue {
    #[protolog(enabled)]
    Net,
}

#[derive(ProtoLogGroup)]
#[protolog(tag = "ALL")]
enum OnEnum {
    Net,
}

#[derive(ProtoLogGroup)]
enum Nothing {
    #[protolog]
    Net,
}

#[derive(ProtoLogGroup)]
enum NoRate {
    #[protolog(sample = "1/0")]
    Net,
}

#[derive(ProtoLogGroup)]
enum NoLimit {
    #[protolog(limit = r"100/d\ay")]
    Net,
}

#[derive(ProtoLogGroup)]
enum TooMany {
    #[protolog(sample = "1%", limit = "1000001/s")]
    Net,
}

#[derive(ProtoLogGroup)]
enum NoText {
    #[protolog(limit = 100)]
    Net,
}

fn main() {}
