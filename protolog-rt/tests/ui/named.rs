//! Names of arguments, as in `bytes = n`.
use protolog_rt::{Level, ProtoLogGroup, d, protolog};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

struct Host {
    name: &'static str,
}

impl Host {
    fn log(self) {
        d!(AppLog::Net, "to %s", self = self.name);
    }
}

fn main() {
    let (n, mut host) = (1, Host { name: "x" });
    d!(AppLog::Net, "%d and %d", n = n, n = n + 1);
    d!(AppLog::Net, "%d and %d", r#n = n, n = n + 1);
    d!(AppLog::Net, "sent %d", bytes = n, host = host.name);
    d!(AppLog::Net, "sent", bytes = n);
    d!(AppLog::Net, "sent %d to %s", bytes = n);
    d!(AppLog::Net, "to %s", host.name = "y");
    d!(AppLog::Net, "to %d", [1][0] = 2);
    d!(AppLog::Net, "to %d", _ = 2);
    d!(AppLog::Net, "to %s", bytes = n, true = 1);
    d!(AppLog::Net, "sent %d", bytes = "n");
    d!(AppLog::Net, "sent %d", bytes = missing);
    d!(AppLog::Net, "sent %d", n += 1);
    d!(AppLog::Net, "sent %d in %q", bytes = n, ms = 1);
    protolog!(Level::Warn, AppLog::Net, "sent %d", Bytes::Of = n);
    // These are right.
    d!(AppLog::Net, "sent %d to %s, %b %b", bytes = n, r#type = host.name, n == 1, same = n <= 1);
    d!(AppLog::Net, "%d %d", if let Some(n) = Some(n) { n } else { 0 }, n = { host.name = "z"; n });
    host.log();
}
