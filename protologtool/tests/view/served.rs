//! `view` as it serves a page, and a client that proves what browsers prove.

use hmac::{Hmac, KeyInit, Mac};
use protolog_testkit::TempDir;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The longest that anything may take, on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// `view` that serves, until this is dropped.
pub(crate) struct Served {
    pub(crate) process: Child,
    /// The address that it printed.
    pub(crate) url: String,
}

impl Served {
    /// Serves a trace without a browser.
    pub(crate) fn start(trace: &Path) -> Self {
        Self::with(&["--no-browser"], trace)
    }

    pub(crate) fn with(args: &[&str], trace: &Path) -> Self {
        let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        view.arg("view").args(args).arg(trace).stdin(Stdio::null()).stderr(Stdio::null());
        Self::spawn(&mut view)
    }

    pub(crate) fn spawn(view: &mut Command) -> Self {
        let mut process = view.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim_end().to_owned() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        address(&self.url)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// The reply to a request with these lines of a head.
    pub(crate) fn ask(&self, head: &str) -> Reply {
        let mut stream = self.connect();
        stream.write_all(head.replace('\n', "\r\n").as_bytes()).unwrap();
        stream.write_all(b"\r\n").unwrap();
        Reply::read(&mut BufReader::new(stream)).expect("a reply")
    }

    /// The reply to a request without a proof.
    pub(crate) fn ask_plainly(&self, method: &str, path: &str, host: &str) -> Reply {
        self.ask(&format!("{method} {path} HTTP/1.1\nHost: {host}\n"))
    }

    /// The memory that the process has taken at most, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it runs");
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Address and port of an address with a path.
pub(crate) fn address(url: &str) -> SocketAddr {
    let rest = url.strip_prefix("http://").unwrap_or_else(|| panic!("{url:?}"));
    rest.split('/').next().unwrap().parse().unwrap()
}

/// The code in an address.
pub(crate) fn code(url: &str) -> &str {
    url.split_once("/#code=").unwrap_or_else(|| panic!("no code in {url}")).1
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn read(from: &mut impl BufRead) -> std::io::Result<Self> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if from.read_line(&mut head)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Self { status, head, body: Vec::new() };
        let length = reply.header("content-length").map_or(0, |it| it.parse().unwrap());
        reply.body = vec![0; if status == 304 { 0 } else { length }];
        from.read_exact(&mut reply.body)?;
        Ok(reply)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A client that was let in.
pub(crate) struct Client {
    address: SocketAddr,
    name: String,
    secret: String,
    /// The number of requests.
    asked: AtomicU32,
}

impl Client {
    /// The client that has the code of an address; the refusal if it is not let in.
    pub(crate) fn open(url: &str) -> Result<Self, Reply> {
        let (address, code, nonce) = (address(url), code(url), "0123456789abcdef0123456789abcdef");
        let name = mac(code, &["name", nonce])[..16].to_owned();
        let secret = mac(code, &["key", nonce]);
        let client = Self { address, name, secret, asked: AtomicU32::new(0) };
        let proof = mac(code, &["request", nonce, "POST", "/session", ""]);
        let reply = client.send(&format!(
            "POST /session HTTP/1.1\nAuthorization: Protolog code.{nonce}.{proof}\n"
        ));
        if reply.status == 204 { Ok(client.checked(nonce, reply).0) } else { Err(reply) }
    }

    fn checked(self, nonce: &str, reply: Reply) -> (Self, Reply) {
        self.check(nonce, &reply);
        (self, reply)
    }

    /// The reply to a request of the page, with a proof, whose own proof is right.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Reply {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let nonce = &format!("fedcba9876543210fedcba98{number:08x}");
        let proof = self.proof(nonce, method, path);
        let own = format!("Origin: http://{}\nSec-Fetch-Site: same-origin", self.address);
        let reply = self.send(&format!("{method} {path} HTTP/1.1\n{proof}\n{own}\n"));
        self.check(nonce, &reply);
        reply
    }

    /// The header that proves a request.
    pub(crate) fn proof(&self, nonce: &str, method: &str, path: &str) -> String {
        let proof = mac(&self.secret, &["request", nonce, method, path, ""]);
        format!("Authorization: Protolog {}.{nonce}.{proof}", self.name)
    }

    fn check(&self, nonce: &str, reply: &Reply) {
        let header = |name| reply.header(name).unwrap_or_default();
        let digest = hex(&Sha256::digest(&reply.body));
        assert_eq!(header("protolog-digest"), digest);
        let status = reply.status.to_string();
        let proof = mac(&self.secret, &["answer", nonce, &status, header("etag"), &digest]);
        assert_eq!(header("protolog-proof"), proof, "{}", reply.head);
    }

    fn send(&self, head: &str) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let head = format!("{head}Host: {}\n\n", self.address).replace('\n', "\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        Reply::read(&mut BufReader::new(stream)).expect("a reply")
    }
}

fn mac(secret: &str, parts: &[&str]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(parts.join("\n").as_bytes());
    hex(&mac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Directory with programs that stand for those of the desktop.
pub(crate) struct Desktop(TempDir);

impl Desktop {
    /// A desktop whose `xdg-open` is this script; without one if it is empty.
    pub(crate) fn new(xdg_open: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let dir = protolog_testkit::temp_dir();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open.clone()).unwrap();
        if !xdg_open.is_empty() {
            let program = dir.path().join("xdg-open");
            std::fs::write(&program, format!("#!/bin/sh\n{xdg_open}\n")).unwrap();
            std::fs::set_permissions(program, open).unwrap();
        }
        Self(dir)
    }

    /// A file that the script may write, as `$DESKTOP/NAME`.
    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// `view` on this desktop.
    pub(crate) fn view(&self, args: &[&str], trace: &Path) -> Command {
        let mut view = self.run(env!("CARGO_BIN_EXE_protologtool"));
        view.arg("view").args(args).arg(trace).stdin(Stdio::null());
        view
    }

    /// A program on this desktop.
    pub(crate) fn run(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        // The redirect file of one that is killed goes with the desktop.
        for name in ["DESKTOP", "HOME", "XDG_RUNTIME_DIR"] {
            command.env(name, self.0.path());
        }
        // Of the programs of this machine, those that the scripts call: there may be an `xdg-open`.
        for name in ["sh", "sleep", "mv"] {
            let found = ["/bin", "/usr/bin"].map(|it| Path::new(it).join(name));
            let found = found.iter().find(|it| it.exists()).expect("it is everywhere");
            let _ = std::os::unix::fs::symlink(found, self.0.path().join(name));
        }
        command.env("PATH", self.0.path());
        command
    }
}

/// Waits until `made` has something.
pub(crate) fn wait_for<T>(what: &str, mut made: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(made) = made() {
            return made;
        }
        assert!(begun.elapsed() < LIMIT, "waited for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
