//! Templates that are none.
use protolog_rt::{ProtoLogGroup, d};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

const TEMPLATE: &str = "sent %d";

fn main() {
    let n = 1;
    d!(AppLog::Net, "50% of %d", n);
    d!(AppLog::Net, "größe %q", n);
    d!(AppLog::Net, r#"a "raw" \n %-5d"#, n);
    d!(AppLog::Net, "a\tb\u{e9} %5", n);
    d!(AppLog::Net, "one line \
        and %D", n);
    d!(AppLog::Net, TEMPLATE, n);
    d!(AppLog::Net, concat!("sent ", "%d"), n);
    d!(AppLog::Net, b"sent %d", n);
    d!(AppLog::Net, "%lld", missing);
    d!(AppLog::Net, "%1$d", n);
    d!(AppLog::Net, "%*d", n);
    d!(AppLog::Net, "%5%", n);
    d!(AppLog::Net, "%0d", n);
    d!(AppLog::Net, "%05s", n);
    d!(AppLog::Net, "%.2d", n);
    d!(AppLog::Net, "%.f", n);
    d!(AppLog::Net, "%256d", n);
    d!(AppLog::Net, "%.256f", n);
    d!(AppLog::Net, "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d");
}
