//! The names in a configuration that nothing answers to: a data source that no program offers, a
//! group that none has.
//!
//! The service takes any name, since a program may come that answers to it, and the trace is then
//! without what was asked for. So both are said once the session is over.
//!
//! Invariant: of what was recorded nothing is said. A data source counts as offered if a program
//! offered it when the session began or ended, and that of logs also if the trace has a dictionary.
//! A dictionary has the groups that have messages of a level that is recorded.

use crate::suggest::{did_you_mean, did_you_mean_group};
use perfetto_ipc::{ConfigNames, Consumer, Error, PROTOLOG_SOURCE, asked_names};
use protolog_core::control::matches_group;
use protolog_core::schema::{group, packet, viewer_config};
use protozero::{DecodeError, Reader};
use std::collections::BTreeSet;

/// Names of a configuration, and what of them was found.
#[derive(Debug, Default)]
pub(super) struct AskedNames {
    asked: ConfigNames,
    offered: BTreeSet<String>,
    /// The full names of groups in the trace.
    groups: BTreeSet<String>,
    /// The trace has packets whose contents are not looked at.
    is_compressed: bool,
}

impl AskedNames {
    /// Those of an encoded `TraceConfig`; none if it can't be decoded.
    pub(super) fn of(config: &[u8]) -> Self {
        Self { asked: asked_names(config).unwrap_or_default(), ..Self::default() }
    }

    /// Looks at what is offered now.
    pub(super) fn look_at_service(&mut self, consumer: &mut Consumer) -> Result<(), Error> {
        match consumer.data_sources() {
            Ok(names) => self.offered.extend(names),
            // A service so old is not asked, and nothing is said of its data sources.
            Err(Error::Missing(_)) => self.asked.data_sources.clear(),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Looks at a packet of the trace, as a field of `Trace`. One that is no packet says nothing.
    pub(super) fn look_at_packet(&mut self, packet: &[u8]) {
        // It is for the reader to say that the trace is damaged.
        let _: Result<(), DecodeError> = self.look(packet);
    }

    /// Returns the warnings, each with its advice.
    pub(super) fn warnings(&self) -> Vec<String> {
        let missing = self.asked.data_sources.difference(&self.offered);
        let mut warnings: Vec<_> =
            missing.map(|name| self.warning_of_source(name)).filter(|it| !it.is_empty()).collect();
        let is_offered = !self.groups.is_empty() || self.offered.contains(PROTOLOG_SOURCE);
        if self.is_compressed || !is_offered {
            return warnings;
        }
        for name in &self.asked.groups {
            if !self.groups.iter().any(|full_name| matches_group(name, full_name)) {
                let close = did_you_mean_group(name, &self.groups);
                warnings.push(format!(
                    "warning: no program has messages of a group `{name}` at the level that is \
                     recorded{close}\n\
                     help: list the groups by `protologtool configuration groups list`\n"
                ));
            }
        }
        warnings
    }

    fn warning_of_source(&self, name: &str) -> String {
        let (mut known, mut close) = (self.offered.clone(), String::new());
        let help = match name {
            PROTOLOG_SOURCE if !self.groups.is_empty() => return String::new(),
            PROTOLOG_SOURCE => {
                "call `producer::connect()` in Rust or `ProtoLogProducer.connect()` in Java, \
                 with the service's socket in PERFETTO_PRODUCER_SOCK_NAME if it is elsewhere"
            }
            "linux.ftrace" => "start `traced_probes` as root",
            _ => {
                known.insert(PROTOLOG_SOURCE.to_owned());
                close = did_you_mean(name, &known);
                "correct the name, or start the program that offers it"
            }
        };
        format!(
            "warning: no connected program offers the data source `{name}`{close}\nhelp: {help}\n"
        )
    }

    fn look(&mut self, packet: &[u8]) -> Result<(), DecodeError> {
        for packet in Reader::new(packet) {
            for field in packet?.as_message()? {
                let field = field?;
                match field.number {
                    packet::PROTOLOG_VIEWER_CONFIG => self.look_at_groups(field.as_message()?)?,
                    packet::COMPRESSED_PACKETS => self.is_compressed = true,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn look_at_groups(&mut self, dictionary: Reader<'_>) -> Result<(), DecodeError> {
        for field in dictionary {
            let field = field?;
            if field.number != viewer_config::GROUPS {
                continue;
            }
            for field in field.as_message()? {
                let field = field?;
                if field.number == group::NAME {
                    let name = field.as_str()?;
                    if !self.groups.contains(name) {
                        self.groups.insert(name.to_owned());
                    }
                }
            }
        }
        Ok(())
    }
}
