//! Conversions of other languages, and per cent signs that are none.
use protolog_rt::{ProtoLogGroup, d};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

fn main() {
    let (n, host) = (1, "example.org");
    d!(AppLog::Net, "100% done %d", n);
    d!(AppLog::Net, "100%");
    d!(AppLog::Net, "50%, of %d", n);
    d!(AppLog::Net, "%u", n);
    d!(AppLog::Net, "%i", n);
    d!(AppLog::Net, "%lu", n);
    d!(AppLog::Net, "%zu", n);
    d!(AppLog::Net, "%X", n);
    d!(AppLog::Net, "%#010x", n);
    d!(AppLog::Net, "%-8s", host);
    d!(AppLog::Net, "%+d", n);
    d!(AppLog::Net, "%,d", n);
    d!(AppLog::Net, "%c", 'c');
    d!(AppLog::Net, "%p", &n);
    d!(AppLog::Net, "%v", n);
    d!(AppLog::Net, "%(d", n);
    // These are conversions.
    d!(AppLog::Net, "%5s %5d %05d %08x %8.3f %.3s %%", host, n, n, n, 0.5, host);
}
