//! The address of a collector: what `--help` calls URL, or what the environment says.
//!
//! Invariant: what is shown of it has neither a password nor a query, which may be a token.

use crate::failure::{Failure, Result};

/// The paths of OTLP over HTTP.
const LOGS: &str = "/v1/logs";
const METRICS: &str = "/v1/metrics";

/// The addresses to which requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) logs: String,
    pub(super) metrics: String,
}

impl Endpoint {
    /// The address itself, as OTEL_EXPORTER_OTLP_LOGS_ENDPOINT has it.
    pub(super) fn exactly(url: String) -> Result<String> {
        Self::of(&url)?;
        Ok(url)
    }

    /// The collector at `url`, which may end with the path of logs.
    pub(super) fn of(url: &str) -> Result<Self> {
        let Some((scheme, rest)) = url.split_once("://") else { return Err(misspelled(url)) };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if !matches!(scheme, "http" | "https") || host.is_empty() || host.starts_with(':') {
            return Err(misspelled(url));
        }
        if host.contains('@') {
            let message = format!("`{}` has a user or a password in it", shown(url));
            return Err(Failure::new(message)
                .help("write `authorization=Basic …` into a file, for `--header-file`"));
        }
        let (address, query) = match url.split_once('?') {
            Some((address, query)) => (address, format!("?{query}")),
            None => (url, String::new()),
        };
        let address = address.trim_end_matches('/');
        let base = address.strip_suffix(LOGS).unwrap_or(address);
        let of = |path: &str| format!("{base}{path}{query}");
        Ok(Self { logs: of(LOGS), metrics: of(METRICS) })
    }
}

fn misspelled(url: &str) -> Failure {
    Failure::new(format!("`{}` is no URL of a collector", shown(url)))
        .help("name one, such as `http://localhost:4318`")
}

/// The address as it is shown.
pub(super) fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_added_and_secrets_are_not_shown() {
        let logs = |url| Endpoint::of(url).unwrap().logs;
        assert_eq!(logs("http://localhost:4318"), "http://localhost:4318/v1/logs");
        assert_eq!(logs("http://localhost:4318/"), "http://localhost:4318/v1/logs");
        assert_eq!(logs("https://a.example/otlp"), "https://a.example/otlp/v1/logs");
        assert_eq!(logs("https://a.example/otlp/v1/logs"), "https://a.example/otlp/v1/logs");
        assert_eq!(logs("http://[::1]:4318/?key=s"), "http://[::1]:4318/v1/logs?key=s");
        let metrics = Endpoint::of("https://a.example/otlp/v1/logs?key=s").unwrap().metrics;
        assert_eq!(metrics, "https://a.example/otlp/v1/metrics?key=s");
        for url in ["ftp://a", "http://", "http://:4318", "localhost:4318", "http:///v1/logs"] {
            assert!(Endpoint::of(url).unwrap_err().to_string().contains("no URL"), "{url}");
        }
        let refused = Endpoint::of("https://me:secret@a.example/x?key=token").unwrap_err();
        let refused = refused.to_string();
        assert!(refused.starts_with("error: `https://a.example/x` has a user"), "{refused}");
    }
}
