//! Values as `println!` takes them: they would be printed as they are written.
use protolog_rt::{ProtoLogGroup, d, protolog, Level};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

fn main() {
    let (n, name, ms) = (1, "x", 0.5);
    d!(AppLog::Net, "got {n}");
    d!(AppLog::Net, "captured {name} and %s", name);
    d!(AppLog::Net, "sent {} of {1} in {ms:8.3} ms, {:?}", n, n + 1, name);
    d!(AppLog::Net, "größe {n:04} {}");
    d!(AppLog::Net, "named {v:.1}", v = ms);
    d!(AppLog::Net, "path {self.n}");
    d!(AppLog::Net, "named %d", n = n);
    d!(AppLog::Net, "named %d", v = 1);
    d!(AppLog::Net, n = 5, "field");
    d!(AppLog::Net, format!("sent {} to {name}", n));
    d!(AppLog::Net, &format!("sent {n:x}"));
    protolog!(Level::Warn, AppLog::Net, r#"empty {"a":{}}"#);
    // These are texts.
    d!(AppLog::Net, "{\"a\": %d, \"b\": {\"c\": %d}} { x } {x, y} {a-b}", n, n);
    d!(AppLog::Net, "{{n}} {{}} {{\"a\": {{\"b\": %d}}}}", n);
}
