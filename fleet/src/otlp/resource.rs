//! Resources: the process that logged, its service, and what all records of a run have in common.

use protolog_core::Arg;

use super::encode::{RESOURCE_ATTRIBUTES, attribute};

/// The name of a service that nobody knows, by the conventions of OpenTelemetry.
const UNKNOWN_SERVICE: &str = "unknown_service";

/// The attributes that all records of a run share.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    pub(super) service: Option<String>,
    pub(super) version: Option<String>,
    pub(super) host: Option<String>,
    /// More attributes of resources.
    pub(super) others: Vec<(String, String)>,
}

impl Labels {
    /// Sets an attribute of resources.
    pub(super) fn set(&mut self, key: String, value: String) {
        match key.as_str() {
            "service.name" => self.service = Some(value),
            "service.version" => self.version = Some(value),
            "host.name" => self.host = Some(value),
            _ => self.others.push((key, value)),
        }
    }

    /// The name of the service of a program.
    pub(super) fn service_of<'a>(&'a self, program: Option<&'a str>) -> &'a str {
        self.service.as_deref().or(program).unwrap_or(UNKNOWN_SERVICE)
    }

    /// The attributes of a service, a program and a process, as `Resource`.
    pub(super) fn resource(
        &self,
        service: Option<&str>,
        program: Option<&str>,
        pid: Option<u32>,
    ) -> Vec<u8> {
        let mut resource = Vec::new();
        let mut put = |key: &str, value: Arg<'_>| {
            attribute(&mut resource, RESOURCE_ATTRIBUTES, key, value);
        };
        put("service.name", Arg::Str(service.unwrap_or_else(|| self.service_of(program))));
        if let Some(version) = &self.version {
            put("service.version", Arg::Str(version));
        }
        if let Some(host) = &self.host {
            put("host.name", Arg::Str(host));
        }
        if let Some(program) = program {
            put("process.executable.name", Arg::Str(program));
        }
        if let Some(pid) = pid {
            put("process.pid", Arg::Uint(pid.into()));
        }
        for (key, value) in &self.others {
            put(key, Arg::Str(value));
        }
        resource
    }
}

/// The name of a program: that of its executable, without the path.
pub(super) fn program(process: &str) -> &str {
    process.rsplit('/').next().unwrap_or(process)
}
