//! Names of arguments, from the call to the trace: in the dictionary and in ids, not in messages.

use protolog_core::{Arg, Level, message_id, named_message_id};
use protolog_reader::{Entry, Log, Rendering, Trace};
use protolog_rt::{ProtoLogGroup, Session, d, e, i, protolog, v, w, wtf};
use protolog_testkit::{check_trace, read_trace, temp_dir};

const GROUP: &str = "named::AppLog::Net";

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    #[protolog(enabled = false)]
    Off,
}

/// A call by a macro of the user's own, as assertion crates have them.
macro_rules! logged {
    ($($name:ident = $value:expr),*) => { i!(AppLog::Net, "own %d", $($name = $value),*) };
}

fn next(count: &mut i64) -> i64 {
    *count += 1;
    *count
}

fn log_all() -> i64 {
    let (mut count, host) = (0, "example.org");
    d!(AppLog::Net, "sent %d to %s", next(&mut count), host);
    d!(AppLog::Net, "sent %d to %s", bytes = next(&mut count), host = host);
    d!(AppLog::Net, "sent %d to %s", bytes = next(&mut count), host);
    v!(AppLog::Net, "%b %f", r#type = count == 3, ms = 2.5);
    i!(AppLog::Net, "%s", größe = "x");
    w!(AppLog::Net, "a\0b %d", n = 1);
    e!(
        AppLog::Net,
        "%d",
        n = {
            d!(AppLog::Net, "inner %d", inner = 1);
            2
        }
    );
    wtf!(AppLog::Net, "{{n}} %d", n = 3);
    protolog!(Level::Warn, AppLog::Net, "at %d", at = 4);
    protolog_rt::levels::info!(AppLog::Net, "of %d", of = 5);
    let is_off = false;
    i!(AppLog::Net, "touching %d %b", less = -6, not = !is_off);
    logged!(own = 6);
    d!(AppLog::Off, "never %d", off = next(&mut count));
    count
}

fn fields<'a>(entry: &Entry<'a>) -> Vec<(&'a str, Arg<'a>)> {
    entry.values().fields()
}

/// The entry whose text begins so.
fn find<'a>(log: &'a Log, text: &str) -> Entry<'a> {
    let is_it = |entry: &Entry<'_>| entry.values().text(Rendering::Full).starts_with(text);
    log.entries().find(is_it).unwrap_or_else(|| panic!("no {text}"))
}

#[test]
fn names_are_in_the_dictionary_and_in_ids() {
    let dir = temp_dir();
    let path = dir.path().join("named.pftrace");
    let session = Session::builder().file(&path).enable_all().start().expect("start a session");
    assert_eq!(log_all(), 3, "each value is evaluated once, and none of what is compiled out");
    assert_eq!(session.stop().expect("stop the session").messages, 13);

    let log = Trace::open(&path).expect("open the trace").read().expect("read the trace");
    let [plain, both, first] = [1, 2, 3].map(|n| find(&log, &format!("sent {n} to example.org")));
    assert_eq!(fields(&plain), []);
    let host = Arg::Str("example.org");
    assert_eq!(fields(&both), [("bytes", Arg::Int(2)), ("host", host)]);
    assert_eq!(fields(&first), [("bytes", Arg::Int(3))]);
    let named = |names| named_message_id("named", "sent %d to %s", names, Level::Debug, GROUP);
    assert_eq!(plain.message_id(), message_id("named", "sent %d to %s", Level::Debug, GROUP));
    assert_eq!((both.message_id(), first.message_id()), (named("bytes,host"), named("bytes,")));
    // A message is not larger for names.
    assert_eq!(
        (both.encoded_size(), first.encoded_size()),
        (plain.encoded_size(), plain.encoded_size())
    );

    for (text, expected) in [
        ("true 2.5", &[("type", Arg::Bool(true)), ("ms", Arg::Float(2.5))][..]),
        ("x", &[("größe", Arg::Str("x"))]),
        ("a\0b 1", &[("n", Arg::Int(1))]),
        ("inner 1", &[("inner", Arg::Int(1))]),
        ("2", &[("n", Arg::Int(2))]),
        ("{n} 3", &[("n", Arg::Int(3))]),
        ("at 4", &[("at", Arg::Int(4))]),
        ("of 5", &[("of", Arg::Int(5))]),
        ("touching", &[("less", Arg::Int(-6)), ("not", Arg::Bool(true))]),
        ("own 6", &[("own", Arg::Int(6))]),
    ] {
        assert_eq!(fields(&find(&log, text)), expected, "{text}");
    }
    assert!(log.dictionary().messages().all(|message| message.template() != "never %d"));

    // Perfetto reads what it always read.
    check_trace(&path);
    let sql = "select message from protolog where level = 'DEBUG' order by ts";
    let Some(reading) = read_trace(&path, &[sql]) else { return };
    assert_eq!(
        reading.tables[0].to_string(),
        "sent 1 to example.org\nsent 2 to example.org\nsent 3 to example.org\ninner 1\n"
    );
    assert_eq!((reading.error, reading.stats.to_string().as_str()), (None, ""));
}
