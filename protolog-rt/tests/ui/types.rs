//! Arguments of types that their conversions do not take.
use protolog_rt::{ProtoLogGroup, d};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    #[protolog(enabled = false)]
    Off,
}

struct Opaque;

#[derive(Debug)]
struct Point {
    x: f64,
}

fn main() {
    let value = Opaque;
    let point = Point { x: 1.0 };
    let path = std::path::PathBuf::from("/");
    let wait = std::time::Duration::from_secs(1);
    d!(AppLog::Net, "%d", 1.5);
    d!(AppLog::Net, "%d", 1.5f32);
    d!(AppLog::Net, "%d", true);
    d!(AppLog::Net, "%d", 'c');
    d!(AppLog::Net, "%d", Some(1));
    d!(AppLog::Net, "%d", &Some(1));
    d!(AppLog::Net, "%d", String::new());
    d!(AppLog::Net, "%x", &point as *const Point);
    d!(AppLog::Net, "%f", Some(1.5));
    d!(AppLog::Net, "%f", 1_i32);
    d!(AppLog::Net, "%f", "1.5");
    d!(AppLog::Net, "%b", Some(true));
    d!(AppLog::Net, "%b", 1);
    d!(AppLog::Net, "%s", path);
    d!(AppLog::Net, "%s", path.as_path());
    d!(AppLog::Net, "%s", path.file_name());
    d!(AppLog::Net, "%s", point);
    d!(AppLog::Net, "%s", wait);
    d!(AppLog::Net, "%s", vec![1, 2]);
    d!(AppLog::Net, "%s", b"bytes");
    d!(AppLog::Net, "%s", ());
    // These fit.
    d!(AppLog::Net, "%d %f %b %s %s", &&1_usize, &1.5_f32, &&true, &&Some(1), &u128::MAX);
    d!(AppLog::Net, "%s %s %s", path.display(), 'c', format_args!("{point:?}"));
    d!(AppLog::Net, "%x and %d", 1, u128::MAX);
    d!(AppLog::Net, "%f", 1);
    d!(AppLog::Net, "%b", &"yes");
    d!(AppLog::Net, "%s", value);
    d!(AppLog::Net, "%s", Some(value));
    d!(AppLog::Off, "%d", "also where the group is compiled out");
}
