//! Perfetto's tracing service, as a process of a test's own.

use crate::{TempDir, temp_dir_for_sockets, traced};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A tracing service that runs until it is dropped, with its sockets in a directory of its own.
#[derive(Debug)]
pub struct TracingService {
    /// The directory.
    pub dir: TempDir,
    program: PathBuf,
    /// Where producers connect, if not at a socket in the directory.
    address: Option<String>,
    /// The process in whose network namespace it runs, if not in that of this one.
    namespace: Option<u32>,
    process: Option<Child>,
}

impl TracingService {
    /// Starts the service; none where it was not compiled, which is reported.
    pub fn start() -> Option<Self> {
        let mut service = Self::stopped()?;
        service.restart();
        Some(service)
    }

    /// Starts a service that producers reach at `HOST:PORT`.
    pub fn start_at(address: &str) -> Option<Self> {
        let mut service = Self::stopped()?;
        service.address = Some(address.to_owned());
        service.restart();
        Some(service)
    }

    /// Likewise, in the network namespace of another process. For root only.
    pub fn start_in(process: u32, address: &str) -> Option<Self> {
        let mut service = Self::stopped()?;
        (service.address, service.namespace) = (Some(address.to_owned()), Some(process));
        service.restart();
        Some(service)
    }

    /// A service that does not run yet.
    pub fn stopped() -> Option<Self> {
        let dir = temp_dir_for_sockets();
        Some(Self { program: traced()?, dir, address: None, namespace: None, process: None })
    }

    /// The socket for producers.
    pub fn producers(&self) -> PathBuf {
        self.dir.path().join("producer")
    }

    /// The socket for consumers.
    pub fn consumers(&self) -> PathBuf {
        self.dir.path().join("consumer")
    }

    /// Starts it, after it was killed if it runs, and waits until it listens.
    ///
    /// # Panics
    ///
    /// If it can't be started.
    pub fn restart(&mut self) {
        self.kill();
        for socket in [self.producers(), self.consumers()] {
            let _ = fs::remove_file(socket);
        }
        let producers = self.address.as_ref().map_or_else(|| self.producers(), PathBuf::from);
        let mut command = match self.namespace {
            None => Command::new(&self.program),
            Some(process) => {
                let mut enter = Command::new("nsenter");
                enter.args(["--net", "--target", &process.to_string()]).arg(&self.program);
                enter
            }
        };
        let mut process = command
            .args([producers, self.consumers()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start the service");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("read a line");
        assert_eq!(line, "listening\n");
        self.process = Some(process);
    }

    /// Sends it a signal, such as `STOP`.
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn signal(&self, name: &str) {
        let process = self.process.as_ref().expect("a service that runs");
        let id = process.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("run kill").success());
    }

    /// Ends it at once.
    ///
    /// # Panics
    ///
    /// If the system refuses.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("kill the service");
            process.wait().expect("wait for the service");
        }
    }
}

impl Drop for TracingService {
    fn drop(&mut self) {
        self.kill();
    }
}
