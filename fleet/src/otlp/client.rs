//! One request to a collector, and what its answer means.
//!
//! Invariants: headers go to the collector that was named, and to nobody that it redirects to; an
//! answer is read as far as [`MOST_ANSWER`].

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use protolog_files::open_regular_file;
use protolog_reader::{printable, shortened};
use ureq::http::Response;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::headers::Headers;
use crate::failure::{Failure, Result};

/// The most bytes of an answer that are read.
const MOST_ANSWER: u64 = 64 << 10;

/// The most bytes of what a collector says that are shown.
const MOST_SHOWN: usize = 300;

/// The level of gzip: the least one has most of the gain, as names of attributes repeat.
const LEVEL: u32 = 1;

/// A way to a collector.
pub(super) struct Client {
    agent: Agent,
    headers: Headers,
}

/// The end of one attempt.
#[derive(Debug)]
pub(super) enum Answer {
    /// With the content of the answer.
    Accepted(Vec<u8>),
    /// It may be accepted later: after so long, if the collector says it.
    Later(String, Option<Duration>),
    /// Something in it is wrong, or it is too large: a part of it may be accepted.
    BadData(String),
    /// Nothing will be accepted as things are.
    Refused(String),
}

impl Client {
    /// With these headers. `timeout` is that of one request; `authorities`, certificates in PEM
    /// instead of those of the system.
    pub(super) fn new(
        headers: Headers,
        timeout: Duration,
        authorities: Option<&Path>,
    ) -> Result<Self> {
        let roots = match authorities {
            Some(path) => RootCerts::from(certificates(path)?),
            None => RootCerts::PlatformVerifier,
        };
        let tls = TlsConfig::builder()
            .root_certs(roots)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(tls)
            .user_agent(concat!("protologtool-fleet/", env!("CARGO_PKG_VERSION")));
        Ok(Self { agent: config.build().into(), headers })
    }

    /// Sends a body that is compressed.
    pub(super) fn send(&self, url: &str, body: &[u8]) -> Answer {
        let mut request = self
            .agent
            .post(url)
            .header("content-type", "application/x-protobuf")
            .header("content-encoding", "gzip");
        for (name, value) in self.headers.iter() {
            request = request.header(name, value);
        }
        match request.send(body) {
            Ok(answer) => self.judge(answer),
            Err(ureq::Error::BadUri(_)) => Answer::Refused("the URL is malformed".to_owned()),
            Err(error @ (ureq::Error::Tls(_) | ureq::Error::Rustls(_))) => {
                Answer::Refused(self.shown(&error.to_string()))
            }
            Err(ureq::Error::Io(error)) if is_certificate(&error) => {
                Answer::Refused(self.shown(&error.to_string()))
            }
            Err(ureq::Error::Io(error)) if is_no_tls(&error) => Answer::Refused(NO_TLS.to_owned()),
            Err(error) if is_no_http(&error) => Answer::Refused(NO_HTTP.to_owned()),
            Err(error) => Answer::Later(self.shown(&error.to_string()), None),
        }
    }

    fn judge(&self, answer: Response<Body>) -> Answer {
        let status = answer.status().as_u16();
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let is_page = header("content-type").is_some_and(|it| it.starts_with("text/html"));
        let target = header("location").map(super::endpoint::shown);
        let wait = header("retry-after").and_then(retry_after);
        let mut content = Vec::new();
        // What was accepted stays so, even if the rest of the answer does not come.
        let _ = answer.into_body().into_reader().take(MOST_ANSWER).read_to_end(&mut content);
        match status {
            200..=299 if is_page => {
                Answer::Refused("it answers with a page, as no collector does".to_owned())
            }
            200..=299 => Answer::Accepted(content),
            300..=399 => {
                let target =
                    target.map_or(String::new(), |it| format!(" to `{}`", self.shown(&it)));
                Answer::Refused(format!("it redirects{target}"))
            }
            400 | 413 | 422 => Answer::BadData(self.reason(status, &content)),
            408 | 429 | 502..=504 => Answer::Later(self.reason(status, &content), wait),
            _ => Answer::Refused(self.reason(status, &content)),
        }
    }

    /// The status, with what the collector says: a `google.rpc.Status`, or a text.
    fn reason(&self, status: u16, content: &[u8]) -> String {
        let fields = protozero::Reader::new(content).map_while(std::result::Result::ok);
        let message = fields.filter(|field| field.number == 2).find_map(|it| it.as_bytes().ok());
        let said = message.unwrap_or(content);
        match std::str::from_utf8(said).map(str::trim) {
            Ok(text) if !text.is_empty() && !text.starts_with('<') => {
                format!("status {status}, `{}`", self.shown(text))
            }
            _ => format!("status {status}"),
        }
    }

    /// A text of somebody else, as it is shown: without secrets, and of one line.
    pub(super) fn shown(&self, text: &str) -> String {
        let text = self.headers.redacted(text);
        printable(&shortened(&text, MOST_SHOWN).replace('\n', " "))
    }
}

/// The certificates in a file.
fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>> {
    let mut bytes = Vec::new();
    let read = open_regular_file(path).and_then(|file| file.take(16 << 20).read_to_end(&mut bytes));
    read.map_err(|error| Failure::cant_read(path, &error))?;
    let items = parse_pem(&bytes).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let all: Vec<_> = items.collect();
    if all.is_empty() {
        let message = format!("no certificate in `{}`", path.display());
        return Err(Failure::new(message).help("give a file in PEM"));
    }
    Ok(all)
}

/// Returns whether the connection failed since the other end has no certificate that is trusted.
fn is_certificate(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_)))
}

/// What is said where `https://` stands before a port that has no TLS.
const NO_TLS: &str = "it does not answer in TLS; without it, a URL begins with `http://`";

/// Returns whether the other end answers, and not in TLS.
fn is_no_tls(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)))
}

/// What is said of a port for gRPC, where HTTP/2 is spoken from the first byte.
const NO_HTTP: &str = "it does not answer in HTTP/1.1; port 4317 is that of gRPC, which is not \
    spoken here, and 4318 that of HTTP";

/// Returns whether the answer begins with what is no HTTP/1.1.
fn is_no_http(error: &ureq::Error) -> bool {
    // The library does not name the type that it has within.
    matches!(error, ureq::Error::Protocol(_)) && error.to_string().contains("http parse fail")
}

/// `Retry-After`: seconds, or a date.
fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(time.duration_since(Timestamp::now())).unwrap_or_default())
}

/// The content with gzip.
pub(super) fn compressed(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder =
        GzEncoder::new(Vec::with_capacity(content.len() / 8), Compression::new(LEVEL));
    let done = encoder.write_all(content).and_then(|()| encoder.finish());
    done.map_err(|error| Failure::new(format!("can't compress a request: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_given_in_seconds_or_by_a_date() {
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let later = Timestamp::now() + Duration::from_secs(100);
        let later = rfc2822::to_string(&later.to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
        let wait = retry_after(&later).unwrap();
        assert!((98..=100).contains(&wait.as_secs()), "{wait:?}");
        assert_eq!(retry_after("soon"), None);
    }
}
