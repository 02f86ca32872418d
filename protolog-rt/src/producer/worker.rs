//! The thread that forwards: it does what the service asks for, and copies what was logged.
//!
//! It sleeps for 10 ms at most while something is logged; a writer wakes it when half of a buffer
//! is complete. While nobody logs it has the chunks of idle threads reclaimed, and sleeps without a
//! limit.
//!
//! Invariant: only this thread sends requests once the connection stands, so that the service gets
//! chunks before the answer to the flush that they belong to.

use super::commands::Command;
use super::config::SourceConfig;
use super::instance::{Instance, Round, Scope};
use super::link::{Link, Receiver};
use super::outlet::{Outlet, PATIENCE, PAUSE};
use super::refusals::Refusals;
use super::{SharedStatus, TIDY_INTERVAL};
use crate::session::forwarded;
use crate::sys::thread::block_signals;
use perfetto_ipc::frame::Body;
use protolog_shmem::ServiceMemory;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest that a message is in the process only.
const INTERVAL: Duration = Duration::from_millis(10);

/// So many commands may wait, and take so many bytes.
const MAX_COMMANDS: usize = 1024;
const MAX_COMMAND_BYTES: usize = 4 << 20;

/// So many sessions record a process at a time.
const MAX_SESSIONS: usize = 32;

/// The reason of a flush, in its flags: it is one of a series.
const PERIODIC: u64 = 1;

/// Commands on their way from one thread to the other.
#[derive(Debug, Default)]
struct Commands {
    queue: Mutex<VecDeque<Command>>,
    /// Memory that the service gives, on its way.
    memory: Mutex<Option<ServiceMemory>>,
    /// The connection is over.
    is_closed: Arc<AtomicBool>,
    /// The first reason of its end.
    reason: Mutex<Option<String>>,
}

/// See the module.
#[derive(Debug)]
struct Worker {
    outlet: Outlet,
    instances: Vec<Instance>,
    refusals: Refusals,
    commands: Arc<Commands>,
    state: Arc<SharedStatus>,
    /// When chunks that are being written are copied next.
    next_look: Instant,
    /// Nothing was logged since the look before.
    is_quiet: bool,
}

/// Does what the service asks for until the connection ends. Returns the reason of its end.
pub(super) fn serve(link: Link, state: &Arc<SharedStatus>) -> String {
    let Link { sender, mut receiver, memory, commands: request } = link;
    let mut has_memory = memory.is_some();
    let commands = Arc::<Commands>::default();
    let worker = Worker {
        outlet: Outlet::new(memory, sender, Arc::clone(&commands.is_closed)),
        instances: Vec::new(),
        refusals: Refusals::default(),
        commands: Arc::clone(&commands),
        state: Arc::clone(state),
        next_look: Instant::now(),
        is_quiet: false,
    };
    let spawned = thread::Builder::new().name("protolog-fwd".into()).spawn(|| worker.run());
    let Ok(thread) = spawned else { return "there is no thread to be had".into() };
    // Those that the service has started and not stopped, whether or not one records.
    let mut started = 0_usize;
    let end = loop {
        match next_command(&mut receiver, request, started > 0) {
            Ok(Some(Command::Memory { page_kb })) => {
                // It says so also where ours is used.
                if has_memory {
                    continue;
                }
                match receiver.take_memory(page_kb) {
                    Ok(memory) => *commands.memory() = Some(memory),
                    Err(error) => break error.to_string(),
                }
                has_memory = true;
            }
            Ok(Some(command)) => {
                match command {
                    Command::Start { .. } => started += 1,
                    Command::Stop { .. } => started = started.saturating_sub(1),
                    _ => {}
                }
                let mut queue = commands.queue();
                let bytes: usize = queue.iter().chain([&command]).map(Command::bytes).sum();
                if queue.len() >= MAX_COMMANDS || bytes > MAX_COMMAND_BYTES {
                    break "the service sends more commands than can be done".into();
                }
                queue.push_back(command);
            }
            Ok(None) => continue,
            Err(error) => break error.to_string(),
        }
        thread.thread().unpark();
    };
    // Later ones come of the end.
    let reason = commands.reason().get_or_insert(end).clone();
    commands.is_closed.store(true, Ordering::Release);
    thread.thread().unpark();
    let _ = thread.join();
    reason
}

/// Waits for the next frame; none where it is no command.
fn next_command(
    receiver: &mut Receiver,
    request: u64,
    has_session: bool,
) -> io::Result<Option<Command>> {
    receiver.next(has_session, |frame| match frame.body {
        Body::InvokeReply { success: true, reply, .. } if frame.request_id == request => {
            Command::decode(reply)
                .map_err(|error| refuse(&format!("sent a malformed command: {error}")))
        }
        Body::InvokeReply { success: false, .. } | Body::RequestError(_)
            if frame.request_id == request =>
        {
            Err(refuse("gives no commands"))
        }
        _ => Ok(None),
    })?
}

fn refuse(what: &str) -> io::Error {
    io::Error::other(format!("the service {what}"))
}

impl Commands {
    fn queue(&self) -> MutexGuard<'_, VecDeque<Command>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> MutexGuard<'_, Option<ServiceMemory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reason(&self) -> MutexGuard<'_, Option<String>> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    fn run(mut self) {
        block_signals();
        forwarded::prepare_thread();
        if let Err(error) = self.work() {
            self.commands.reason().get_or_insert_with(|| error.to_string());
        }
        if let Some(reason) = &*self.commands.reason() {
            self.instances.iter_mut().for_each(|it| it.note_end(reason));
        }
        self.outlet.close();
    }

    fn work(&mut self) -> io::Result<()> {
        loop {
            loop {
                // Nobody waits for the rest: each could wait for a service that frees nothing.
                if self.outlet.is_closed() {
                    return Ok(());
                }
                let Some(command) = self.commands.queue().pop_front() else { break };
                self.obey(command)?;
            }
            let progress = self.round()?;
            self.sleep(progress)?;
        }
    }

    fn obey(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Start { id, config } => self.start(id, &config),
            Command::Stop { id } => {
                if let Some(at) = self.instances.iter().position(|instance| instance.id == id) {
                    self.instances.swap_remove(at).stop(&mut self.outlet)?;
                    self.report_sessions();
                }
                self.refusals.end(id, &mut self.outlet)?;
                self.outlet.notify("NotifyDataSourceStopped", id)
            }
            Command::Flush { ids, request, flags } => {
                let with_head = flags & 0xf != PERIODIC;
                let mut is_whole = true;
                for instance in self.instances.iter_mut().filter(|it| ids.contains(&it.id)) {
                    is_whole &= instance.flush(with_head, &mut self.outlet)?;
                }
                if with_head {
                    self.refusals.repeat(&ids, &mut self.outlet)?;
                }
                // A flush that is not answered is one that the service reports as failed.
                self.outlet.commit(is_whole.then_some(request))
            }
            Command::Memory { .. } => Ok(()),
            Command::Clear { ids } => {
                self.outlet.wait_at_most(PATIENCE);
                for instance in self.instances.iter_mut().filter(|it| ids.contains(&it.id)) {
                    // Every chunk sets up its own state; the next ones are not far.
                    instance.session.reclaim();
                    instance.write_head(&mut self.outlet)?;
                }
                self.outlet.commit(None)
            }
        }
    }

    fn start(&mut self, id: u64, config: &[u8]) -> io::Result<()> {
        if self.instances.iter().any(|instance| instance.id == id) {
            return Err(refuse("started a session twice"));
        }
        if let Some(memory) = self.commands.memory().take() {
            self.outlet.set_memory(memory);
        }
        if !self.outlet.has_memory() {
            return Err(refuse("started a session before it gave memory"));
        }
        let source = SourceConfig::decode(config)
            .map_err(|error| refuse(&format!("sent a malformed configuration: {error}")))?;
        if source.asks_for_abort {
            let notice = "a session asks for STALL_THEN_ABORT; messages are dropped instead";
            self.state.update(|status| status.notice = Some(notice.into()));
        }
        if self.instances.len() >= MAX_SESSIONS {
            let notice =
                format!("more than {MAX_SESSIONS} sessions at a time; one does not record");
            self.state.update(|status| status.notice = Some(notice));
            let reason = format!("it records {MAX_SESSIONS} others, the most at a time");
            self.refusals.add((id, source.target_buffer), reason, &mut self.outlet)?;
            // The service waits for an answer before it starts the others of the same trace.
            return self.outlet.notify("NotifyDataSourceStarted", id);
        }
        self.outlet.wait_at_most(PATIENCE);
        let thread = thread::current();
        let startup = self.state.startup().take();
        let kept = startup.as_ref().map(|startup| &*startup.session);
        let target = source.target_buffer;
        match Instance::start(id, source, thread, &self.state, kept, &mut self.outlet) {
            Ok(Ok(mut instance)) => {
                if let Some(startup) = startup {
                    startup.forward(&mut instance, &mut self.outlet)?;
                }
                self.instances.push(instance);
            }
            Ok(Err(error)) => {
                *self.state.startup() = startup;
                self.state.update(|status| status.notice = Some(error.to_string()));
                self.refusals.add((id, target), error.to_string(), &mut self.outlet)?;
            }
            Err(error) => {
                if let Some(startup) = &startup {
                    startup.session.resume();
                }
                *self.state.startup() = startup;
                return Err(error);
            }
        }
        self.report_sessions();
        self.outlet.commit(None)?;
        self.outlet.notify("NotifyDataSourceStarted", id)
    }

    /// Copies what was logged, in all sessions.
    fn round(&mut self) -> io::Result<Round> {
        let now = Instant::now();
        let is_due = now >= self.next_look;
        let mut all = Round::default();
        let mut ended = Vec::new();
        for (at, instance) in self.instances.iter_mut().enumerate() {
            if instance.session.must_end() {
                ended.push(at);
                continue;
            }
            self.outlet.wait_at_most(PATIENCE);
            let scope = if is_due { Scope::Committed } else { Scope::Complete };
            let progress = instance.forward(scope, &mut self.outlet)?;
            all.has_copied |= progress.has_copied;
            all.is_full |= progress.is_full;
            // What has to wait for room waits at the end of the next round, too.
            if !progress.is_full {
                instance.follow(&mut self.outlet)?;
            }
            instance.answer_flush(&mut self.outlet)?;
        }
        for at in ended.into_iter().rev() {
            self.instances.swap_remove(at).stop(&mut self.outlet)?;
            self.report_sessions();
        }
        if is_due {
            self.next_look = now + INTERVAL;
            self.is_quiet = !all.has_copied;
        }
        self.outlet.commit(None)?;
        Ok(all)
    }

    /// Sleeps until there is something to do.
    fn sleep(&mut self, progress: Round) -> io::Result<()> {
        if self.outlet.is_behind()? {
            thread::park_timeout(INTERVAL);
        } else if !self.instances.is_empty() {
            self.sleep_in_session(progress);
        } else if self.state.tidy() {
            thread::park_timeout(TIDY_INTERVAL);
        } else {
            thread::park();
        }
        Ok(())
    }

    fn sleep_in_session(&mut self, progress: Round) {
        if progress.is_full {
            return thread::park_timeout(PAUSE);
        }
        if self.instances.iter().any(|instance| instance.session.buffer().is_due()) {
            return;
        }
        if self.is_quiet && !progress.has_copied {
            let reclaimed: usize = self.instances.iter().map(|it| it.session.reclaim()).sum();
            if reclaimed > 0 {
                return;
            }
            if self.instances.iter().any(Instance::has_due) {
                return thread::park_timeout(INTERVAL);
            }
            let asleep = self.instances.iter().filter(|it| it.session.begin_sleep()).count();
            let is_asleep = asleep == self.instances.len();
            if is_asleep {
                thread::park();
            }
            for instance in &self.instances {
                instance.session.end_sleep();
            }
            if is_asleep {
                self.is_quiet = false;
                self.next_look = Instant::now() + INTERVAL;
                return;
            }
        }
        thread::park_timeout(self.next_look.saturating_duration_since(Instant::now()));
    }

    fn report_sessions(&self) {
        let sessions = self.instances.len();
        if sessions > 0 {
            self.state.has_recorded.store(true, Ordering::Relaxed);
        }
        self.state.update(|status| status.sessions = sessions);
    }
}
