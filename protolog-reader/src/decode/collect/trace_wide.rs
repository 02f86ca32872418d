//! Fields of packets about the whole trace: dictionaries, process and thread names, statistics.

use std::sync::Arc;

use protozero::{DecodeError, Field};

use super::Collected;
use crate::inputs::pid_apart::name_suffix;
use crate::losses::refusal;
use crate::losses::stats::{self, ServiceLosses};
use crate::packets::trace_packet::Packet;
use crate::sequences::thread;
use crate::sequences::thread::ANY;

/// `ProcessTree.processes` and `ProcessTree.threads`, whose first fields are pid and tid.
const PROCESSES: u32 = 1;
const THREADS: u32 = 2;
const ID: u32 = 1;
/// `ProcessTree.Process.cmdline`
const COMMAND: u32 = 3;
/// `ProcessTree.Thread.name` and `tgid`
const THREAD_NAME: u32 = 2;
const THREAD_PROCESS: u32 = 3;

impl Collected {
    /// Applies the fields about the whole trace of a packet of this thread.
    pub(super) fn apply_trace_wide(
        &mut self,
        thread: u32,
        packet: &Packet<'_>,
    ) -> Result<(), DecodeError> {
        if let Some(viewer_config) = packet.viewer_config {
            Arc::make_mut(&mut self.dictionary)
                .add_packet(viewer_config, packet.trusted_pid.unwrap_or(ANY))?;
        }
        if let Some(process) = packet.process {
            let (mut pid, mut name) = thread::parse_process(process)?;
            if let Some(track) = packet.process_track {
                Arc::make_mut(&mut self.process_tracks).entry(pid).or_insert(track);
            }
            if let Some(local) = packet.local_pid {
                Arc::make_mut(&mut self.told_apart).insert(pid);
                name.truncate(name.strip_suffix(&name_suffix(local)).map_or(name.len(), str::len));
                pid = local;
            }
            let own = self.threads.get(thread);
            let (pid, is_known) = named_process(pid, own, packet);
            let processes = Arc::make_mut(&mut self.processes);
            if is_known {
                if own.process.is_some() && own.pid == Some(pid) {
                    processes.insert((pid, own.process), name.clone());
                }
                processes.insert((pid, None), name);
            } else {
                processes.entry((pid, None)).or_insert(name);
            }
        }
        if let Some(track) = packet.track_thread {
            let track = thread::parse_descriptor(track)?;
            let own = self.threads.get(thread);
            let pid = packet.local_pid.or(track.pid);
            let (pid, is_known) = pid.map_or((None, true), |pid| {
                let (pid, is_known) = named_process(pid, own, packet);
                (Some(pid), is_known)
            });
            self.name_thread((pid, track.tid), track.name, is_known);
        }
        if let Some(tree) = packet.process_tree {
            self.apply_process_tree(tree, packet)?;
        }
        if let Some(stats) = packet.trace_stats {
            match stats::parse_buffer_stats(stats)? {
                Some(buffer) => self.stats.buffer = Some(buffer),
                None => self.stats.service = ServiceLosses::parse(stats)?,
            }
        }
        if let Some(filtered) = packet.filtered {
            let left_out = stats::parse_filtered(filtered)?;
            let sum = self.stats.left_out.get_or_insert(0);
            *sum = sum.saturating_add(left_out);
        }
        refusal::note(packet, &mut self.stats.refusals)
    }

    /// Takes the name of a thread; of one that another process names only if nobody has yet.
    fn name_thread(
        &mut self,
        (pid, tid): (Option<u32>, Option<u32>),
        name: Option<String>,
        is_known: bool,
    ) {
        let (Some(pid), Some(tid), Some(name)) = (pid, tid, name) else { return };
        if is_known {
            self.thread_names.insert((pid, tid), name);
        } else {
            self.thread_names.entry((pid, tid)).or_insert(name);
        }
    }

    /// Takes the names of a list of processes and threads, where nobody else names them.
    fn apply_process_tree(
        &mut self,
        tree: Field<'_>,
        packet: &Packet<'_>,
    ) -> Result<(), DecodeError> {
        for field in tree.as_message()? {
            let field = field?;
            let (mut id, mut owner, mut name) = (None, None, None);
            let is_thread = field.number == THREADS;
            if !is_thread && field.number != PROCESSES {
                continue;
            }
            for part in field.as_message()? {
                let part = part?;
                match (is_thread, part.number) {
                    (true, THREAD_NAME) => name = Some(thread::text(part)?),
                    (true, THREAD_PROCESS) => owner = Some(part.as_u32()?),
                    (_, ID) => id = Some(part.as_u32()?),
                    (false, COMMAND) if name.is_none() => name = Some(thread::text(part)?),
                    _ => {}
                }
            }
            let name = name.filter(|name| !name.is_empty());
            if is_thread {
                self.name_thread((owner, id), name, packet.trusted_pid.is_none());
            } else if let (Some(pid), Some(name)) = (id, name) {
                let processes = Arc::make_mut(&mut self.processes);
                processes.entry((pid, None)).or_insert(name);
            }
        }
        Ok(())
    }
}

/// Returns the process that a packet names by `pid`, and whether it may: a process names itself,
/// whatever it takes for its own pid, as in a container; of others, it may be the only one to know.
fn named_process(pid: u32, own: &thread::Thread, packet: &Packet<'_>) -> (u32, bool) {
    match packet.trusted_pid {
        Some(trusted) if pid == trusted || own.claimed == Some(pid) => (trusted, true),
        Some(_) => (pid, false),
        None => (pid, true),
    }
}
