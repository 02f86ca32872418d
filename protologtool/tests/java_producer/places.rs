//! Services elsewhere: over TCP, and where there is none.

use crate::child::RunningChild;
use crate::service::{Service, all};
use perfetto_ipc::frame::message;
use protolog_testkit::{TracingService, skip, temp_dir_for_sockets, tool};
use std::io;
use std::net::TcpListener;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// Field of `TraceConfig`: programs of other machines are recorded, too.
const TRACE_ALL_MACHINES: u32 = 43;

#[test]
fn a_service_is_joined_over_tcp() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let address = port.to_string();
    let Some(service) = TracingService::start_at(&address).map(Service) else { return };
    let job = "threads=3 count=5000 size=60";
    let Some(mut child) = RunningChild::start(&address, job, &service.path("tcp")) else { return };
    child.tell("connected");
    let every = message(|to| _ = to.bool(TRACE_ALL_MACHINES, true));
    let session = service.session_of(&[all().encode(), every].concat());
    child.tell("enabled");
    child.tell("log");
    let trace = service.stop(session);
    let pid = child.process.id();
    trace.check(&[child.end()]);
    let log = trace.log();
    assert!(log.entries().all(|entry| entry.thread().pid == Some(pid)));
}

/// Two network namespaces with a cable between them.
struct Machines([Child; 2]);

impl Machines {
    const ADDRESSES: [&str; 2] = ["10.66.1.1", "10.66.1.2"];

    /// None where this process may not make them, which is reported.
    fn start() -> Option<Self> {
        let start = || Command::new("unshare").args(["--net", "sleep", "600"]).spawn();
        let started = start().and_then(|one| Ok(Self([one, start()?])));
        let made = started.and_then(|machines| machines.connect().map(|()| machines));
        made.inspect_err(|error| skip("two machines", &format!("no namespaces: {error}"))).ok()
    }

    fn connect(&self) -> io::Result<()> {
        let own = std::fs::read_link("/proc/self/ns/net")?;
        for machine in &self.0 {
            // It has its namespace once `unshare` has made it.
            let path = format!("/proc/{}/ns/net", machine.id());
            let is_apart = || std::fs::read_link(&path).is_ok_and(|its| its != own);
            let is_there = (0..500).any(|_| {
                thread::sleep(Duration::from_millis(10));
                is_apart()
            });
            if !is_there {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
        }
        let other = self.0[1].id();
        self.run(0, &format!("link add cable type veth peer name cable netns {other}"))?;
        for (at, address) in Self::ADDRESSES.iter().enumerate() {
            self.run(at, &format!("addr add {address}/24 dev cable"))?;
            self.run(at, "link set cable up")?;
            self.run(at, "link set lo up")?;
        }
        Ok(())
    }

    fn run(&self, at: usize, words: &str) -> io::Result<()> {
        let status = self.enter(at, "ip").args(words.split(' ')).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("ip {words}"))) }
    }

    /// A command on one of them.
    fn enter(&self, at: usize, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.0[at].id().to_string(), program]);
        command
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for machine in &mut self.0 {
            let _ = machine.kill();
            let _ = machine.wait();
        }
    }
}

#[test]
fn programs_of_two_machines_are_in_one_trace() {
    let (Some(machines), Some(java)) = (Machines::start(), tool("java")) else { return };
    let address = format!("{}:20001", Machines::ADDRESSES[0]);
    let started = TracingService::start_in(machines.0[0].id(), &address);
    let Some(service) = started.map(Service) else { return };
    let job = "threads=2 count=2000 size=60";
    let mut programs: Vec<_> = (0..2)
        .filter_map(|at| {
            let java = machines.enter(at, java.to_str()?);
            let logged = service.path(&format!("machine-{at}"));
            RunningChild::start_by(java, &address, &[], job, &logged)
        })
        .collect();
    for program in &mut programs {
        program.tell("connected");
    }
    let every = message(|to| _ = to.bool(TRACE_ALL_MACHINES, true));
    let session = service.session_of(&[all().encode(), every].concat());
    for program in &mut programs {
        program.tell("enabled");
        program.tell("log");
    }
    let trace = service.stop(session);
    let logged: Vec<_> = programs.into_iter().map(RunningChild::end).collect();
    assert_eq!(logged.iter().map(Vec::len).sum::<usize>(), 8000);
    trace.check(&logged);
}

#[test]
fn sockets_that_java_does_not_have_are_named() {
    let dir = temp_dir_for_sockets();
    for (socket, reason) in [
        ("@abstract", "@abstract: Java has no such sockets"),
        ("vsock://1:2", "vsock://1:2: Java has no such sockets"),
        ("127.0.0.1:99999", "127.0.0.1:99999: no port has the number 99999"),
        ("/no/such/socket", "/no/such/socket: "),
    ] {
        let logged = dir.path().join("logged");
        let Some(mut child) = RunningChild::start(socket, "", &logged) else { return };
        let said = child.tell("failed");
        assert!(said.starts_with(reason), "`{said}` instead of `{reason}`");
        child.end();
    }
}

/// Whoever starts the JVM has the last word.
#[test]
fn a_property_joins_the_service_or_forbids_to() {
    let Some(service) = Service::start() else { return };
    let socket = service.0.producers();
    let socket = socket.to_str().expect("UTF-8");
    let (on, off) = (["-Dprotolog.perfetto=true"], ["-Dprotolog.perfetto=false"]);
    let start = |options: &[&str], job: &str| {
        RunningChild::start_with(socket, options, job, &service.path("logged"))
    };
    let Some(mut child) = start(&off, "init") else { return };
    assert_eq!(child.tell("threads"), "");
    child.end();
    let Some(mut child) = start(&on, "settings") else { return };
    child.tell("connected");
    child.end();
}
