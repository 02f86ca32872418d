//! The protocol between an operator and a program on the program's socket: lines of UTF-8 text.
//!
//! A request is one line. The program replies with any number of lines, the last of which is `ok`
//! or `error …`. Requests can be pipelined. The first one is the version:
//!
//! ```text
//! > protolog 1
//! < protolog 1 4711 indexer
//! < ok
//! > groups
//! < group 0 0 003f0000 y app::AppLog::Net Net
//! < group - 0 00000000 n app::DbLog::Row Row
//! < ok
//! > set Net=debug
//! < ok
//! > trace-start ring-buffer 65536 *=info;Net=debug /var/log/app trace.pftrace
//! < help stop it first
//! < error a trace is being recorded already
//! ```
//!
//! A text that may hold spaces is the last word of its line. The name of a group is a
//! [word](super::name::NameWord): in quotation marks where it is empty, begins with one, or has
//! spaces or controls. A line has at most [`MAX_LINE`] bytes, including its line feed.
//!
//! A change of meaning and a reply line that loses a word need a new version. A new request does
//! not, because an older program replies with `error` and goes on; nor does a new kind of reply
//! line, because an older operator skips it.
//!
//! Invariants: parsing is total and borrows; each value is written as exactly one line, with any
//! text.

mod reply;
mod request;

pub use reply::{Reply, SiteLine};
pub use request::{Join, JoinWindow, Request, TraceStart};

use core::ffi::CStr;

/// The version of the protocol.
pub const VERSION: u32 = 1;
/// The maximum length of a line in bytes, including its line feed.
pub const MAX_LINE: usize = 8192;
/// The suffix of the names of sockets.
pub const SOCKET_SUFFIX: &str = ".sock";
/// The extension, in place of that of the socket, of the file with the switches of a program that
/// can't pass file descriptors.
pub const SWITCHES_EXTENSION: &str = "switches";

/// The kernel's name of the file in memory with the switches of a program in Rust.
pub const MEMORY_NAME: &CStr = c"protolog-switches";

/// Returns the number of the descriptor in a name of the form `/proc/PID/fd/NUMBER`.
pub fn descriptor_of(name: &str) -> Option<u32> {
    let (pid, descriptor) = name.strip_prefix("/proc/")?.split_once("/fd/")?;
    // As the kernel writes them: without a sign.
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)?.parse().ok();
    let _: u32 = number(pid)?;
    number(descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FillPolicy;
    use crate::control::byte_limit::ByteLimit;
    use std::string::ToString;

    #[test]
    fn requests_are_lines() {
        let start = TraceStart {
            fill_policy: FillPolicy::RingBuffer,
            buffer: 65536,
            settings: "*=info;Net=debug",
            file: "/var/log/app trace",
        };
        for (request, line) in [
            (Request::Hello(1), "protolog 1"),
            (Request::Groups, "groups"),
            (Request::Pages, "pages"),
            (Request::PagesFile, "pages-file"),
            (Request::Set("a=debug, text"), "set a=debug, text"),
            (
                Request::TraceStart(start),
                "trace-start ring-buffer 65536 *=info;Net=debug /var/log/app trace",
            ),
            (Request::TraceStop, "trace-stop"),
            (Request::TraceStatus, "trace-status"),
            (Request::Trigger("slow today"), "trigger slow today"),
            (Request::TriggerAt(1764460000123456789, "4 x"), "trigger-at 1764460000123456789 4 x"),
            (
                Request::Join(Join {
                    family: "shop",
                    pid: 7,
                    event: "1764460000123456789-slow",
                    window: None,
                }),
                "join shop 7 1764460000123456789-slow",
            ),
            (
                Request::Join(Join {
                    family: "shop",
                    pid: 0,
                    event: "9-slow",
                    window: Some(JoinWindow { before: 60_000_000_000, after: 0 }),
                }),
                "join-for 60000000000 0 shop 0 9-slow",
            ),
            (Request::Stats, "stats"),
            (Request::Sessions, "sessions"),
            (Request::Sites(9, "net and \"a b\""), "sites 9 net and \"a b\""),
            (Request::Rules, "rules"),
        ] {
            assert_eq!(request.to_string(), line);
            assert_eq!(Request::parse(line), Some(request));
        }
        for line in [
            "",
            " ",
            "protolog",
            "protolog x",
            "protolog 1 2",
            "groups ",
            "set",
            "join a 7",
            "join a 7 9-slow 1",
            "join-for 1 a 7 9-slow",
            "join-for 1 -1 a 7 9-slow",
            "GROUPS",
        ] {
            assert_eq!(Request::parse(line), None, "{line:?}");
        }
        assert_eq!(
            Request::Set("a\nstats").to_string(),
            "set a?stats",
            "one line, whatever it holds"
        );
    }

    #[test]
    fn a_file_in_memory_has_the_name_of_a_descriptor() {
        for (name, expected) in [
            ("/proc/4711/fd/7", Some(7)),
            ("/proc/4711/fd/", None),
            ("/proc//fd/7", None),
            ("/proc/self/fd/7", None),
            ("/proc/4711/fd/+7", None),
            ("/proc/4711/fd/7/..", None),
            ("/proc/4711/fd/4294967296", None),
            ("/proc/4711/task/1/fd/7", None),
            ("1-a.switches", None),
        ] {
            assert_eq!(descriptor_of(name), expected, "{name}");
        }
    }

    #[test]
    fn replies_about_calls_are_lines() {
        for (reply, line) in [
            (
                Reply::Site(SiteLine {
                    id: 0x7f,
                    level: "DEBUG",
                    rule: "-",
                    line: 12,
                    group: "a::b",
                    module: "a",
                    file: "src/a.rs",
                    template: "sent %d",
                }),
                "site 000000000000007f DEBUG - 12 a::b a src/a.rs sent %d",
            ),
            (Reply::Taken(3), "taken 3"),
            (Reply::Rule { calls: 2, words: "on", selector: "a and b" }, "rule 2 on a and b"),
        ] {
            assert_eq!(reply.to_string(), line);
            assert_eq!(Reply::parse(line), Some(reply));
        }
    }

    #[test]
    fn replies_are_lines() {
        let group = Reply::Group {
            page: Some(0),
            index: 7,
            word: 0x3f_0000,
            compiled: true,
            name: "app::AppLog::Net",
            tag: "my net",
        };
        for (reply, line) in [
            (Reply::Hello { version: 1, pid: 4711, program: "a b" }, "protolog 1 4711 a b"),
            (group, "group 0 7 003f0000 y app::AppLog::Net my net"),
            (Reply::Pages { count: 3, size: 4096 }, "pages 3 4096"),
            (
                Reply::PagesFile { count: 4, size: 4096, name: "1-a.switches" },
                "pages-file 4 4096 1-a.switches",
            ),
            (
                Reply::Session {
                    control: true,
                    fill_policy: FillPolicy::Stream,
                    messages: 1,
                    lost: 2,
                    bytes: 3,
                    file: "/a b",
                },
                "session y stream 1 2 3 /a b",
            ),
            (
                Reply::Written { messages: 1, lost: 2, bytes: 3, group: "a::b" },
                "written 1 2 3 a::b",
            ),
            (Reply::Lost { count: 2, cause: "full", group: "" }, "lost 2 full "),
            (
                Reply::Tracing {
                    control: false,
                    fill_policy: FillPolicy::RingBuffer,
                    file: "/a b",
                },
                "tracing n ring-buffer /a b",
            ),
            (Reply::Levels { levels: 0x3c, group: "a::b" }, "levels 3c a::b"),
            (
                Reply::Limited(ByteLimit::parse("1 MiB/s burst 8 MiB").unwrap()),
                "limited 1MiB/s:8MiB",
            ),
            (Reply::Problem("x y"), "problem x y"),
            (Reply::Help("stop it"), "help stop it"),
            (Reply::Ok, "ok"),
            (Reply::Error("no"), "error no"),
        ] {
            assert_eq!(reply.to_string(), line);
            assert_eq!(Reply::parse(line), Some(reply));
        }
        for line in [
            "",
            "group x 0 0 y a b",
            "group 0 0 0 maybe a b",
            "pages 1",
            "ok then",
            "session",
            "levels 1ff a",
            "limited 100/s",
            "limited 1MiB/s more",
        ] {
            assert_eq!(Reply::parse(line), None, "{line:?}");
        }
        assert!(matches!(Reply::parse("group - 0 0 n a b"), Some(Reply::Group { page: None, .. })));
    }
}
