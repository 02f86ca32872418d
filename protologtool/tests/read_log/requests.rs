//! Requests that messages belong to: shown, and chosen by.

use crate::{description, run, unindented};
use protolog_testkit::assert_eq_text;
use protologtool::cli::Exit;

/// A request on two threads, another one, and messages of none.
const APP: &str = r#"
group(1, "demo::net", "Net") message(0x11, WARN, 1, "sent %d bytes", "src/net.rs:12")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 needs ts=1000000 log(0x11, 1)
@1 request(7, "GET /cart")
@1 needs ts=1000000 log(0x11, 2)
@1 request(8, "a=b")
@1 needs ts=2000000 log(0x11, 3)
@2 cleared snapshot(64=0, boot=1003000000, incremental=64) default_clock=64 info(100, 102, "worker")
@2 request(7, "GET /cart")
@2 needs ts=0 log(0x11, 4)
"#;

#[track_caller]
fn check(args: &[&str], expected: &str) {
    let files = [("app", description::trace(APP))];
    let (exit, out, errors) = run(&files, &[&["app", "--time", "utc"], args].concat());
    assert_eq!((exit, errors.as_str()), (Exit::Done, ""));
    assert_eq_text(&unindented(expected), &out);
}

#[test]
fn each_form_has_the_request_of_a_message() {
    check(
        &["--columns", "level,request,message"],
        r"
        W                          sent 1 bytes
        W GET /cart                sent 2 bytes
        W GET /cart                sent 4 bytes
        W a=b                      sent 3 bytes
        ",
    );
    check(
        &["--format", "logfmt", "--thread", "main"],
        r#"
        time=2026-11-20T18:27:01.001000000+00:00 pid=100 tid=101 thread=main level=W group=demo::net message="sent 1 bytes" location=src/net.rs:12
        time=2026-11-20T18:27:01.002000000+00:00 pid=100 tid=101 thread=main level=W group=demo::net request="GET /cart" message="sent 2 bytes" location=src/net.rs:12
        time=2026-11-20T18:27:01.004000000+00:00 pid=100 tid=101 thread=main level=W group=demo::net request="a=b" message="sent 3 bytes" location=src/net.rs:12
        "#,
    );
    let files = [("app", description::trace(APP))];
    let (_, out, _) = run(&files, &["app", "--format", "csv", "--columns", "tid,request,message"]);
    let lines = "tid,request,message\r\n101,,sent 1 bytes\r\n101,GET /cart,sent 2 bytes\r\n\
                 102,GET /cart,sent 4 bytes\r\n101,a=b,sent 3 bytes\r\n";
    assert_eq_text(lines, &out);
}

#[test]
fn messages_are_chosen_by_their_request() {
    check(
        &["--request", "GET /cart"],
        r"
        11-20 18:27:01.002   100   101 W Net     : sent 2 bytes
        11-20 18:27:01.003   100   102 W Net     : sent 4 bytes
        ",
    );
    check(&["--request", "GET /cart", "--request", "a=b", "--count"], "3");
    check(
        &["--request", "a=b", "--format", "json"],
        r#"
        {"type":"message","ts":1004000000,"time":"2026-11-20T18:27:01.004Z","pid":100,"tid":101,"thread":"main","request":"a=b","level":"WARN","tag":"Net","group":"demo::net","id":"0000000000000011","template":"sent %d bytes","args":[3],"message":"sent 3 bytes","location":"src/net.rs:12"}
        "#,
    );
}

#[test]
fn a_request_that_is_not_there_is_said() {
    let files = [("app", description::trace(APP))];
    let (exit, out, errors) = run(&files, &["app", "--request", "GET /card"]);
    let expected = "warning: the trace has no request `GET /card`; did you mean `GET /cart`?\n\
                    help: use one of `GET /cart`, `a=b`\n";
    assert_eq!((exit, out.as_str(), errors.as_str()), (Exit::Done, "", expected));
}
