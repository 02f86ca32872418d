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

fn main() {}
