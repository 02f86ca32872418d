//! The command line of `export otlp`, with what the environment says where it is silent.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};

use super::endpoint::Endpoint;
use super::headers::{Headers, pairs};
use super::metrics::Chosen;
use super::records::Labels;
use crate::args::{misuse, text, this_host};
use crate::failure::{Failure, Result};

/// How long a request is repeated without `--follow`.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long the collector may take for one request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Longer than anybody waits for one.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(86_400);

/// What is sent where.
pub(crate) struct OtlpOptions {
    pub(super) endpoint: Endpoint,
    pub(super) headers: Headers,
    pub(super) authorities: Option<PathBuf>,
    pub(super) labels: Labels,
    pub(super) state: Option<PathBuf>,
    pub(super) follow: bool,
    /// None to repeat a request until it is accepted.
    pub(super) patience: Option<Duration>,
    pub(super) timeout: Duration,
    pub(super) metrics: Option<PathBuf>,
    pub(super) histograms: Vec<Chosen>,
    pub(super) dictionaries: Vec<PathBuf>,
    pub(super) traces: Vec<PathBuf>,
}

/// What the command line says, as it stands there.
#[derive(Default)]
struct Given {
    url: Option<String>,
    headers: Vec<String>,
    header_files: Vec<PathBuf>,
    authorities: Option<PathBuf>,
    service: Option<String>,
    build: Option<String>,
    host: Option<String>,
    state: Option<PathBuf>,
    follow: bool,
    patience: Option<Duration>,
    timeout: Option<Duration>,
    metrics: Option<PathBuf>,
    histograms: Vec<Chosen>,
    dictionaries: Vec<PathBuf>,
    traces: Vec<PathBuf>,
}

impl OtlpOptions {
    /// Parses what stands behind `otlp`; none if that asks for help.
    pub(crate) fn parse(parser: &mut Parser) -> Result<Option<Self>> {
        let Some(given) = Given::parse(parser)? else { return Ok(None) };
        given.complete(|name| std::env::var(name).ok().filter(|value| !value.is_empty())).map(Some)
    }
}

impl Given {
    fn parse(parser: &mut Parser) -> Result<Option<Self>> {
        let mut given = Self::default();
        while let Some(arg) = parser.next().map_err(misuse)? {
            match arg {
                Arg::Long("follow") => given.follow = true,
                Arg::Long("state") => given.state = Some(path(parser)?),
                Arg::Long("header") => given.headers.push(text(parser)?),
                Arg::Long("header-file") => given.header_files.push(path(parser)?),
                Arg::Long("ca-file") => given.authorities = Some(path(parser)?),
                Arg::Long("service") => given.service = Some(text(parser)?),
                Arg::Long("build") => given.build = Some(text(parser)?),
                Arg::Long("host") => given.host = Some(text(parser)?),
                Arg::Long("retry-for") => given.patience = Some(seconds(parser)?),
                Arg::Long("timeout") => given.timeout = Some(seconds(parser)?),
                Arg::Long("metrics-file") => given.metrics = Some(path(parser)?),
                Arg::Long("histogram") => given.choose(chosen(&text(parser)?)?),
                Arg::Long("viewer-config") => given.dictionaries.push(path(parser)?),
                Arg::Value(value) => {
                    let url = value.to_str().filter(|it| it.contains("://"));
                    match url.filter(|_| given.url.is_none() && given.traces.is_empty()) {
                        Some(url) => given.url = Some(url.to_owned()),
                        None => given.traces.push(value.into()),
                    }
                }
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                other => return Err(misuse(other.unexpected())),
            }
        }
        Ok(Some(given))
    }

    /// Adds a histogram; the same one twice would be two rows with the same labels.
    fn choose(&mut self, chosen: Chosen) {
        if !self.histograms.contains(&chosen) {
            self.histograms.push(chosen);
        }
    }

    fn complete(self, variable: impl Fn(&str) -> Option<String>) -> Result<OtlpOptions> {
        let endpoint = endpoint(self.url, &variable)?;
        if self.traces.is_empty() {
            let failure = Failure::new("no trace is named");
            return Err(failure.help("give the file that a session writes, or a directory"));
        }
        if self.metrics.is_none() && !self.histograms.is_empty() {
            let failure = Failure::new("a histogram is a part of metrics, which go nowhere");
            return Err(failure.help("name their file by `--metrics-file FILE`"));
        }
        let mut headers = Headers::default();
        for name in ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS"] {
            if let Some(value) = variable(name) {
                headers.add_variable(name, &value)?;
            }
        }
        self.header_files.iter().try_for_each(|path| headers.add_file(path))?;
        self.headers.iter().try_for_each(|header| headers.add(header, "`--header`"))?;
        let mut labels = Labels::default();
        if let Some(value) = variable("OTEL_RESOURCE_ATTRIBUTES") {
            for (key, value) in pairs(&value, "OTEL_RESOURCE_ATTRIBUTES")? {
                labels.set(key, value);
            }
        }
        labels.service = self.service.or_else(|| variable("OTEL_SERVICE_NAME")).or(labels.service);
        labels.version = self.build.or(labels.version);
        labels.host = self.host.or(labels.host).or_else(this_host).filter(|host| !host.is_empty());
        let authorities = variable("OTEL_EXPORTER_OTLP_CERTIFICATE").map(PathBuf::from);
        headers.hide_query(&endpoint.logs);
        Ok(OtlpOptions {
            endpoint,
            headers,
            authorities: self.authorities.or(authorities),
            labels,
            state: self.state,
            patience: self.patience.or(if self.follow { None } else { Some(PATIENCE) }),
            follow: self.follow,
            timeout: self.timeout.unwrap_or(TIMEOUT).clamp(Duration::from_secs(1), LONGEST_TIMEOUT),
            metrics: self.metrics,
            histograms: self.histograms,
            dictionaries: self.dictionaries,
            traces: self.traces,
        })
    }
}

/// The collector that the command line or the environment names.
fn endpoint(url: Option<String>, variable: impl Fn(&str) -> Option<String>) -> Result<Endpoint> {
    if let Some(url) = url {
        return Endpoint::of(&url);
    }
    if let Some(url) = variable("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT") {
        return Endpoint::exactly(&url);
    }
    let url = variable("OTEL_EXPORTER_OTLP_ENDPOINT").ok_or_else(|| {
        Failure::new("no URL of a collector is named")
            .help("name one, such as `http://localhost:4318`, before the traces")
    })?;
    Endpoint::of(&url)
}

/// `NUMBER:TEMPLATE`
fn chosen(text: &str) -> Result<Chosen> {
    let parts = text.split_once(':');
    let parts = parts.and_then(|(argument, template)| Some((argument.parse().ok()?, template)));
    let (argument, template) = parts.ok_or_else(|| {
        Failure::new(format!("`{text}` is no argument of a template"))
            .help("write `0:TEMPLATE` for the first argument of the messages with that template")
    })?;
    Ok(Chosen { argument, template: template.to_owned() })
}

fn path(parser: &mut Parser) -> Result<PathBuf> {
    Ok(parser.value().map_err(misuse)?.into())
}

fn seconds(parser: &mut Parser) -> Result<Duration> {
    let seconds = parser.value().and_then(|value| value.parse()).map_err(misuse)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str], variables: &[(&str, &str)]) -> Result<OtlpOptions> {
        let given = Given::parse(&mut Parser::from_args(args)).unwrap().unwrap();
        given.complete(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_says_what_the_command_line_does_not() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-a=1,x-b=2"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,service.version=1.2,k8s.pod.name=p"),
        ];
        let of_env = options(&["app.pftrace"], &variables).unwrap();
        assert_eq!(of_env.endpoint.logs, "http://a:4318/v1/logs");
        assert_eq!(of_env.labels.service.as_deref(), Some("shop"));
        assert_eq!(of_env.labels.version.as_deref(), Some("1.2"));
        assert_eq!(of_env.labels.others, [("k8s.pod.name".to_owned(), "p".to_owned())]);
        assert_eq!((of_env.patience, of_env.headers.iter().count()), (Some(PATIENCE), 2));
        let args = ["https://b/otlp", "--service", "cart", "--follow", "--header", "x-a=3", "logs"];
        let of_args = options(&args, &variables).unwrap();
        assert_eq!(of_args.endpoint.logs, "https://b/otlp/v1/logs");
        assert_eq!(of_args.labels.service.as_deref(), Some("cart"));
        assert_eq!((of_args.patience, of_args.headers.iter().count()), (None, 2));
        assert_eq!(of_args.traces, [PathBuf::from("logs")]);
        let timeout = options(&["http://a", "--timeout", &u64::MAX.to_string(), "logs"], &[]);
        assert_eq!(timeout.unwrap().timeout, LONGEST_TIMEOUT);
        let args = ["http://a", "--histogram", "0:%d", "--histogram", "0:%d", "logs"];
        let refused = options(&args, &[]).err().unwrap().to_string();
        assert!(refused.contains("--metrics-file"), "{refused}");
        let args = [&args[..], &["--metrics-file", "m"]].concat();
        assert_eq!(options(&args, &[]).unwrap().histograms.len(), 1);
        let exact = [variables[0], ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://a:1/logs?key=x")];
        let exact = options(&["app.pftrace"], &exact).unwrap();
        assert_eq!(exact.endpoint.logs, "http://a:1/logs?key=x");
        let missing = options(&["app.pftrace"], &[]).err().unwrap().to_string();
        assert!(missing.starts_with("error: no URL of a collector is named"), "{missing}");
    }
}
