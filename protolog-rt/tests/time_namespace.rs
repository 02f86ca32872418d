//! Traces of processes in a time namespace, as containers and restored processes may have
//! (time_namespaces(7)), have the machine's clocks: put together with others they are in order.

use protolog_reader::{MergeInput, Rendering, Trace as TraceFile, merge};
use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::{run, skip, temp_dir, tool};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::Command;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

struct Input(PathBuf);

impl MergeInput for Input {
    fn name(&self) -> &str {
        self.0.to_str().expect("a name")
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(&self.0)?))
    }
}

const TEST: &str = "traces_of_a_namespace_are_in_order_among_others";
const TRACE: &str = "PROTOLOG_NAMESPACE_TRACE";

#[test]
fn traces_of_a_namespace_are_in_order_among_others() {
    if let Some(path) = std::env::var_os(TRACE) {
        let session = Session::builder().file(&path).enable_all().start().expect("start");
        let name = PathBuf::from(path).file_stem().expect("a name").to_string_lossy().into_owned();
        i!(Log::Net, "%s", name);
        session.stop().expect("stop");
        return;
    }
    let own = std::env::current_exe().expect("the test itself");
    let unshare = |offset: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--time", "--fork"]);
        unshare.args(["--boottime", offset, "--monotonic", offset, "--"]);
        unshare
    };
    let works = tool("unshare").is_some()
        && unshare("1").arg("true").output().is_ok_and(|output| output.status.success());
    if !works {
        skip("time namespaces", "unshare can't make any");
        return;
    }
    let dir = temp_dir();
    let trace = |name: &str, offset: Option<&str>| {
        let path = dir.path().join(name).with_extension("pftrace");
        let mut command = offset.map_or_else(
            || Command::new(&own),
            |offset| {
                let mut command = unshare(offset);
                command.arg(&own);
                command
            },
        );
        run(command.args(["--exact", TEST, "--nocapture"]).env(TRACE, &path));
        Input(path)
    };
    let inputs = [None, Some("100000"), None, Some("-1"), Some("100000"), None];
    let inputs = [1, 2, 3, 4, 5, 6].map(|name: usize| trace(&name.to_string(), inputs[name - 1]));
    let inputs: Vec<&dyn MergeInput> = inputs.iter().map(|input| input as _).collect();
    let mut merged = Vec::new();
    merge(&inputs, &mut merged).expect("merge");
    let log = TraceFile::from_bytes(merged).read().expect("read");
    let texts: Vec<String> =
        log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect();
    assert_eq!(texts, ["1", "2", "3", "4", "5", "6"]);
}
