//! Threads: the process and thread of a sequence, as far as the trace identifies them.

use std::collections::HashMap;
use std::sync::Arc;

use protolog_core::schema::{process_descriptor, sequence_info, thread_descriptor};
use protozero::{DecodeError, Field};

/// The process that a part of a trace is of, by its id as the tracing service says it; where nobody
/// says so, all are of one.
pub(crate) type Origin = u32;

/// No process in particular.
pub(crate) const ANY: Origin = 0;

/// A thread, as far as the trace knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Thread {
    /// Process id.
    pub pid: Option<u32>,
    /// Thread id.
    pub tid: Option<u32>,
    /// The thread's name.
    pub name: Option<String>,
    /// Differs between processes with one pid, as containers have them, where the trace tells them
    /// apart.
    pub(crate) process: Option<u64>,
    /// The process, as the tracing service says it.
    pub(crate) origin: Origin,
    /// The pid that the process says it has, where the tracing service says another.
    pub(crate) claimed: Option<u32>,
}

impl Thread {
    /// The same, with the process that the tracing service says it is of, if it says one: it asks
    /// the kernel, and a process may write anything.
    pub(crate) fn of_service(mut self, trusted_pid: Option<u32>) -> Self {
        self.origin = trusted_pid.unwrap_or(ANY);
        if trusted_pid.is_some() {
            self.claimed = self.pid.filter(|pid| trusted_pid != Some(*pid));
            self.pid = trusted_pid;
        }
        self
    }
}

/// The source of a sequence's thread. A better source wins; of equal ones, the later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    #[default]
    None,
    /// `TracePacket.trusted_pid`, set by the tracing service.
    Service,
    /// `ThreadDescriptor`
    Descriptor,
    /// `SEQUENCE_INFO`, ours.
    Sequence,
}

/// All distinct threads.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    threads: Vec<Thread>,
    index: HashMap<Thread, u32>,
}

/// Index of the thread of which nothing is known.
pub(crate) const UNKNOWN: u32 = 0;

impl Default for Threads {
    fn default() -> Self {
        let unknown = Thread::default();
        Self { threads: vec![unknown.clone()], index: HashMap::from([(unknown, UNKNOWN)]) }
    }
}

impl Threads {
    pub(crate) fn get(&self, index: u32) -> &Thread {
        &self.threads[index as usize]
    }

    /// All threads by index, with that of which nothing is known.
    pub(crate) fn all(&self) -> &[Thread] {
        &self.threads
    }

    /// All threads that are known.
    pub(crate) fn known(&self) -> &[Thread] {
        self.threads.get(UNKNOWN as usize + 1..).unwrap_or_default()
    }

    /// Names threads that have no name, by pid and tid; those that are named so are found as
    /// before.
    pub(crate) fn name(all: &mut Arc<Self>, names: &foldhash::HashMap<(u32, u32), String>) {
        if names.is_empty() {
            return;
        }
        for thread in &mut Arc::make_mut(all).threads {
            let ids = thread.pid.zip(thread.tid).filter(|_| thread.name.is_none());
            thread.name = ids.and_then(|ids| names.get(&ids).cloned()).or(thread.name.take());
        }
    }

    /// The index of `thread`, which is usually `likely`. Logs of pages share the threads that they
    /// know.
    pub(crate) fn index(all: &mut Arc<Self>, thread: Thread, likely: u32) -> u32 {
        if *all.get(likely) == thread {
            return likely;
        }
        if let Some(known) = all.index.get(&thread) {
            return *known;
        }
        let all = Arc::make_mut(all);
        let index = all.threads.len() as u32;
        all.threads.push(thread.clone());
        all.index.insert(thread, index);
        index
    }
}

/// Parses our `SEQUENCE_INFO`.
pub(crate) fn parse_sequence_info(info: Field<'_>) -> Result<Thread, DecodeError> {
    let fields = [sequence_info::PID, sequence_info::TID, sequence_info::THREAD_NAME];
    let mut thread = parse(info, fields)?;
    for field in info.as_message()? {
        let field = field?;
        if field.number == sequence_info::PROCESS {
            thread.process = Some(field.as_fixed64()?);
        }
    }
    Ok(thread)
}

/// Parses Perfetto's `ThreadDescriptor`.
pub(crate) fn parse_descriptor(descriptor: Field<'_>) -> Result<Thread, DecodeError> {
    let fields = [thread_descriptor::PID, thread_descriptor::TID, thread_descriptor::THREAD_NAME];
    parse(descriptor, fields)
}

/// Parses pid and name of a `ProcessDescriptor`; without a name, the first word of its command
/// line.
pub(crate) fn parse_process(descriptor: Field<'_>) -> Result<(u32, String), DecodeError> {
    let (mut pid, mut name, mut command) = (0, None, None);
    for field in descriptor.as_message()? {
        let field = field?;
        match field.number {
            process_descriptor::PID => pid = field.as_u32()?,
            process_descriptor::PROCESS_NAME => name = Some(text(field)?),
            process_descriptor::CMDLINE if command.is_none() => command = Some(text(field)?),
            _ => {}
        }
    }
    Ok((pid, name.or(command).unwrap_or_default()))
}

fn parse(message: Field<'_>, fields: [u32; 3]) -> Result<Thread, DecodeError> {
    let [pid, tid, name] = fields;
    let mut thread = Thread::default();
    for field in message.as_message()? {
        let field = field?;
        match field.number {
            number if number == pid => thread.pid = Some(field.as_u32()?),
            number if number == tid => thread.tid = Some(field.as_u32()?),
            number if number == name => thread.name = Some(text(field)?),
            _ => {}
        }
    }
    thread.name = thread.name.filter(|name| !name.is_empty());
    Ok(thread)
}

pub(crate) fn text(field: Field<'_>) -> Result<String, DecodeError> {
    Ok(String::from_utf8_lossy(field.as_bytes()?).into_owned())
}
