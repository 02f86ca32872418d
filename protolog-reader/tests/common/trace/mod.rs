//! Traces for tests, made from readable descriptions.
//!
//! A description has a packet per line: `@` and its sequence, then its contents.
//!
//! ```text
//! group(1, "demo::AppLog::Net", "Net") message(0x11, DEBUG, 1, "sent %d to %s", "net.rs:12")
//! @1 cleared default_clock=64 snapshot(64=0, boot=1000, incremental=64)
//! @1 needs ts=5 string(1, "host") log(0x11, 512, $1)
//! bundle(zlib) {
//! @1 ts=6 log(0x11, 7, $1)
//! }
//! ```
//!
//! | in a packet | |
//! |---|---|
//! | `cleared` `needs` `dropped` `first` | flags |
//! | `ts=5` `clock=64` `default_clock=64` | timestamp and its clock |
//! | `snapshot(64=0, boot=9, mono=9, real=9, 3=9, incremental=64, unit=1000, primary=3)` | clock snapshot; `unit` is that of all custom clocks in it |
//! | `string(1, "text")` `stack(1, "text")` | interned strings |
//! | `log(0x11, 5, 0.5, true, $1, stack=1, unsigned=1)` | a message: id, values in order, `$1` is an interned string; `unsigned` has our bits of unsigned arguments |
//! | `packed(0x11, …)` | the same with packed values |
//! | `group(id, "name", "tag")` `message(id, LEVEL, group, "text", "location")` | dictionary |
//! | `stripped(0xab)` | the hash of the dictionary of a stripped program |
//! | `hint(id, LEVEL, group, "bare", "full", unsigned, "names")` | a message with our hints; the last two may be missing |
//! | `with_names(id, LEVEL, group, "text", "names")` | a message with names of arguments and no other hint |
//! | `info(pid, tid, "name", 7)` `boot(1)` | process, thread, messages of the sequence before; a boot id that repeats this byte; `started(pid, 5)` tells processes with one pid apart |
//! | `thread(pid, tid, "name")` `process(pid, "name")` `track(pid, "name")` `thread_track(7, pid, tid, "name")` `pid=5` | process and thread; each on a track of its own |
//! | `loss(group, cause, count)` | our loss record |
//! | `repeats(group, count, first, last, id)` | the same of messages that repeat the one with this id |
//! | `request(1, "id")` | the request of the messages that follow; 0 for none |
//! | `passed_over(group, level, count)` | our record of what sampling passed over; the level is a number |
//! | `rate(kept, of, by)` | beside `log`: the message was sampled, `by` an argument or by chance |
//! | `begin("name", "target", key=5)` `end(key=5)` | a slice begins or ends on the track of its thread; `begin($1, track=7, interned=5)` with interned names, `depth=2` with the number of spans around it, `number=1 busy=5 age=9` with what is known of its span |
//! | `named(2, 1, "name")` | an interned name of this kind: 1 categories, 2 slices, 3 arguments |
//! | `stats(3, 18, 19)` | TraceStats: chunks overwritten, discarded, packets lost |
//! | `field(133, "bytes")` | any other field of the packet |
//!
//! | instead of a packet | |
//! |---|---|
//! | `bundle(zlib) {` … `}` | compressed packets (`zlib`, `gzip`; `cut` truncates the stream) |
//! | `whole(gzip)` | the whole trace is compressed |
//! | `bytes("…")` | these bytes in place of a packet |
//! | `cut(3)` | at the end: truncates the trace by this many bytes |

mod encode;
mod syntax;

pub(crate) use encode::trace;
