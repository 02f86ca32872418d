//! The command line of `export otlp`, with what the environment says where it is silent.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};

use super::endpoint::Endpoint;
use super::headers::{Headers, pairs};
use super::metrics::Chosen;
use super::resource::Labels;
use crate::args::{misuse, text, this_host};
use crate::failure::{Failure, Result};

/// The time for which a request is repeated without `--follow`.
const PATIENCE: Duration = Duration::from_secs(300);

/// The time that the collector may take for one request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The time between two requests with metrics, as the SDKs of OpenTelemetry have it.
const METRICS_INTERVAL: Duration = Duration::from_secs(60);

/// The shortest such time that is understood.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// Longer than anybody waits for one.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(86_400);

/// The settings of a run: the records to send, and the collector.
pub(crate) struct OtlpOptions {
    pub(super) logs: Target,
    pub(super) metrics: Option<Target>,
    pub(super) metrics_interval: Duration,
    pub(super) authorities: Option<PathBuf>,
    pub(super) labels: Labels,
    pub(super) state: Option<PathBuf>,
    pub(super) follow: bool,
    /// None to repeat a request until it is accepted.
    pub(super) patience: Option<Duration>,
    pub(super) timeout: Duration,
    pub(super) metrics_file: Option<PathBuf>,
    pub(super) histograms: Vec<Chosen>,
    pub(super) dictionaries: Vec<PathBuf>,
    pub(super) traces: Vec<PathBuf>,
}

/// The address of a request, and its headers.
pub(super) struct Target {
    pub(super) url: String,
    pub(super) headers: Headers,
}

/// The values of the command line, as they stand there.
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
    metrics: bool,
    metrics_file: Option<PathBuf>,
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
                Arg::Long("metrics") => given.metrics = true,
                Arg::Long("metrics-file") => given.metrics_file = Some(path(parser)?),
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

    /// The headers of a signal, of which this variable has more than those of all signals.
    fn headers_of(
        &self,
        signal: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Headers> {
        let mut headers = Headers::default();
        for name in ["OTEL_EXPORTER_OTLP_HEADERS", signal] {
            if let Some(value) = variable(name) {
                headers.add_variable(name, &value)?;
            }
        }
        self.header_files.iter().try_for_each(|path| headers.add_file(path))?;
        self.headers.iter().try_for_each(|header| headers.add(header, "`--header`"))?;
        Ok(headers)
    }

    fn complete(self, variable: impl Fn(&str) -> Option<String>) -> Result<OtlpOptions> {
        let (logs, metrics) = endpoints(self.url.as_deref(), self.metrics, &variable)?;
        if self.traces.is_empty() {
            let failure = Failure::new("no trace is named");
            return Err(failure.help("give the file that a session writes, or a directory"));
        }
        if self.metrics_file.is_none() && !self.metrics && !self.histograms.is_empty() {
            let failure = Failure::new("a histogram is a part of metrics, which go nowhere");
            return Err(
                failure.help("send them by `--metrics`, or name a file by `--metrics-file FILE`")
            );
        }
        let target = |url: String, signal| {
            let mut headers = self.headers_of(signal, &variable)?;
            headers.hide_query(&url);
            Ok::<_, Failure>(Target { url, headers })
        };
        let logs = target(logs, "OTEL_EXPORTER_OTLP_LOGS_HEADERS")?;
        let metrics = metrics.map(|url| target(url, "OTEL_EXPORTER_OTLP_METRICS_HEADERS"));
        let metrics = metrics.transpose()?;
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
        Ok(OtlpOptions {
            logs,
            metrics,
            metrics_interval: metrics_interval(variable("OTEL_METRIC_EXPORT_INTERVAL"))?,
            authorities: self.authorities.or(authorities),
            labels,
            state: self.state,
            patience: self.patience.or(if self.follow { None } else { Some(PATIENCE) }),
            follow: self.follow,
            timeout: self.timeout.unwrap_or(TIMEOUT).clamp(Duration::from_secs(1), LONGEST_TIMEOUT),
            metrics_file: self.metrics_file,
            histograms: self.histograms,
            dictionaries: self.dictionaries,
            traces: self.traces,
        })
    }
}

/// The addresses of logs, and of metrics if those are sent, which the command line or the
/// environment names.
fn endpoints(
    url: Option<&str>,
    has_metrics: bool,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(String, Option<String>)> {
    let common = |what: &str| {
        let url = url.map(str::to_owned).or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT"));
        let missing = || {
            Failure::new(format!("no URL of a collector is named{what}"))
                .help("name one, such as `http://localhost:4318`, before the traces")
        };
        Endpoint::of(&url.ok_or_else(missing)?)
    };
    let exact = |name| variable(name).filter(|_| url.is_none()).map(Endpoint::exactly).transpose();
    let logs = match exact("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")? {
        Some(logs) => logs,
        None => common("")?.logs,
    };
    if !has_metrics {
        return Ok((logs, None));
    }
    let metrics = match exact("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")? {
        Some(metrics) => metrics,
        None => common(" for metrics")?.metrics,
    };
    Ok((logs, Some(metrics)))
}

/// The time between two requests with metrics.
fn metrics_interval(milliseconds: Option<String>) -> Result<Duration> {
    let Some(text) = milliseconds else { return Ok(METRICS_INTERVAL) };
    let milliseconds = text.trim().parse().map_err(|_| {
        let message = format!("`{text}` of `OTEL_METRIC_EXPORT_INTERVAL` is no number");
        Failure::new(message).help("write milliseconds, such as `60000`")
    })?;
    Ok(Duration::from_millis(milliseconds).clamp(SHORTEST_INTERVAL, LONGEST_TIMEOUT))
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
        assert_eq!(of_env.logs.url, "http://a:4318/v1/logs");
        assert_eq!(of_env.labels.service.as_deref(), Some("shop"));
        assert_eq!(of_env.labels.version.as_deref(), Some("1.2"));
        assert_eq!(of_env.labels.others, [("k8s.pod.name".to_owned(), "p".to_owned())]);
        assert_eq!((of_env.patience, of_env.logs.headers.iter().count()), (Some(PATIENCE), 2));
        let args = ["https://b/otlp", "--service", "cart", "--follow", "--header", "x-a=3", "logs"];
        let of_args = options(&args, &variables).unwrap();
        assert_eq!(of_args.logs.url, "https://b/otlp/v1/logs");
        assert_eq!(of_args.labels.service.as_deref(), Some("cart"));
        assert_eq!((of_args.patience, of_args.logs.headers.iter().count()), (None, 2));
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
        assert_eq!(exact.logs.url, "http://a:1/logs?key=x");
        let sent = |args: &[&str], variables: &[_]| {
            let args = [args, &["--metrics", "app.pftrace"]].concat();
            Ok::<_, Failure>(options(&args, variables)?.metrics.unwrap())
        };
        assert_eq!(sent(&["http://a/v1/logs"], &[]).unwrap().url, "http://a/v1/metrics");
        let only_logs = [("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://a:1/x")];
        assert!(sent(&[], &only_logs).err().unwrap().to_string().contains("named for metrics"));
        let both = [
            only_logs[0],
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://b:1/m"),
            ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "x-a=1"),
        ];
        let of_both = sent(&[], &both).unwrap();
        assert_eq!((of_both.url.as_str(), of_both.headers.iter().count()), ("http://b:1/m", 0));
        let interval = |text: &str| metrics_interval(Some(text.to_owned()));
        assert_eq!(interval("500").unwrap(), Duration::from_millis(500));
        assert_eq!(interval("0").unwrap(), SHORTEST_INTERVAL);
        assert!(interval("1s").unwrap_err().to_string().contains("milliseconds"));
        let missing = options(&["app.pftrace"], &[]).err().unwrap().to_string();
        assert!(missing.starts_with("error: no URL of a collector is named"), "{missing}");
    }
}
