//! A log call in a constant.
use protolog_rt::{ProtoLogGroup, d};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

const fn half(n: u32) -> u32 {
    d!(AppLog::Net, "half of %d", n);
    n / 2
}

fn main() {
    half(4);
}
