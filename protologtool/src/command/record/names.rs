//! The names in a configuration that nothing answers to: a data source that no program offers, a
//! group that none has; and the programs that were asked to record, and do not.
//!
//! The service takes any name, since a program may come that answers to it, and the trace is then
//! without what was asked for. So both are said once the session is over.
//!
//! Invariant: of what was recorded nothing is said. A data source counts as offered if a program
//! offered it when the session began or ended, and that of logs also if the trace has a dictionary.
//! A dictionary has the groups that have messages of a level that is recorded. However many names
//! producers have, they take little memory.

use crate::suggest::{did_you_mean, did_you_mean_group};
use perfetto_ipc::{ConfigNames, Consumer, Error, PROTOLOG_SOURCE, asked_names};
use protolog_core::control::matches_group;
use protolog_core::schema::{group, packet, viewer_config};
use protolog_reader::{Refusal, printable};
use protozero::{DecodeError, Reader};
use std::collections::BTreeSet;

/// The most bytes of names of groups that are kept to suggest one, about: a producer may make up
/// names without end.
const MAX_GROUP_BYTES: usize = 1 << 20;

/// About the bytes that a name takes beside its own.
const GROUP_BYTES: usize = 64;

/// Names of a configuration, and what of them was found.
#[derive(Debug, Default)]
pub(super) struct AskedNames {
    asked: ConfigNames,
    offered: BTreeSet<String>,
    /// Those of groups that the trace has.
    found: BTreeSet<String>,
    /// The full names of groups in the trace, some of the first ones.
    groups: BTreeSet<String>,
    /// The bytes of those.
    group_bytes: usize,
    /// The trace has packets whose contents are not looked at.
    is_compressed: bool,
    /// The programs that do not record.
    refusals: BTreeSet<Refusal>,
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
        let refused = self.refusals.iter().map(|refusal| {
            format!(
                "warning: {refusal}\n\
                 help: end other sessions of the tracing service, and record again\n"
            )
        });
        let missing = self.asked.data_sources.difference(&self.offered);
        let missing = missing.map(|name| self.warning_of_source(name)).filter(|it| !it.is_empty());
        let mut warnings: Vec<_> = refused.chain(missing).collect();
        let is_offered = !self.groups.is_empty() || self.offered.contains(PROTOLOG_SOURCE);
        if self.is_compressed || !is_offered {
            return warnings;
        }
        for name in &self.asked.groups {
            if !self.found.contains(name) {
                let close = did_you_mean_group(name, &self.groups);
                warnings.push(format!(
                    "warning: no program has messages of a group `{}` at the level that is \
                     recorded{close}\n\
                     help: list the groups by `protologtool configuration groups list`\n",
                    printable(name)
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
        let name = printable(name);
        format!(
            "warning: no connected program offers the data source `{name}`{close}\nhelp: {help}\n"
        )
    }

    fn look(&mut self, packet: &[u8]) -> Result<(), DecodeError> {
        for packet in Reader::new(packet) {
            let fields = packet?.as_message()?;
            for field in fields.clone() {
                let field = field?;
                match field.number {
                    packet::PROTOLOG_VIEWER_CONFIG => self.look_at_groups(field.as_message()?)?,
                    packet::COMPRESSED_PACKETS => self.is_compressed = true,
                    packet::REFUSAL => {
                        if let Some(refusal) = Refusal::of_packet(fields.clone()) {
                            refusal.add_to(&mut self.refusals);
                        }
                    }
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
                    self.note_group(field.as_str()?);
                }
            }
        }
        Ok(())
    }

    fn note_group(&mut self, full_name: &str) {
        if self.groups.contains(full_name) {
            return;
        }
        let matching = self.asked.groups.iter().filter(|name| matches_group(name, full_name));
        self.found.extend(matching.cloned());
        if self.group_bytes + full_name.len() <= MAX_GROUP_BYTES {
            self.group_bytes += full_name.len() + GROUP_BYTES;
            self.groups.insert(full_name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfetto_ipc::frame::message;

    /// A packet with a dictionary of these groups.
    fn dictionary(names: impl Iterator<Item = String>) -> Vec<u8> {
        message(|to| {
            let mut packet = to.nested(1);
            let mut dictionary = packet.nested(packet::PROTOLOG_VIEWER_CONFIG);
            for name in names {
                dictionary.nested(viewer_config::GROUPS).string(group::NAME, &name);
            }
        })
    }

    #[test]
    fn names_without_end_take_little_memory() {
        let mut names = AskedNames::default();
        names.asked.groups = BTreeSet::from(["Net".to_owned(), "Nets".to_owned()]);
        let name = |number: usize| format!("a.group.of.nobody.{number}");
        for from in (0..100_000).step_by(1000) {
            names.look_at_packet(&dictionary((from..from + 1000).map(name)));
        }
        assert!(names.groups.len() > 5000 && names.group_bytes <= MAX_GROUP_BYTES + 64);
        assert!(names.groups.len() < 50_000, "{} names", names.groups.len());
        // One that comes after them is found all the same.
        names.look_at_packet(&dictionary(["app.Net".to_owned()].into_iter()));
        let warnings = names.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("of a group `Nets`"), "{warnings:?}");
    }

    /// A configuration may be somebody else's.
    #[test]
    fn names_of_a_configuration_do_not_control_the_terminal() {
        let evil = || BTreeSet::from(["evil\u{1b}[2J\u{9b}1m".to_owned()]);
        let asked = ConfigNames { data_sources: evil(), groups: evil() };
        let offered = BTreeSet::from([PROTOLOG_SOURCE.to_owned()]);
        let warnings = AskedNames { asked, offered, ..AskedNames::default() }.warnings();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!warnings.concat().contains(is_control), "{warnings:?}");
    }
}
