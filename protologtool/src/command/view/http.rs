//! HTTP over loopback: requests that are refused, the page for anybody, and requests with a proof.
//!
//! hyper takes the requests apart, on a thread with tokio's runtime for one; the thread of the
//! command makes the replies, so that a trace which takes long to read keeps no connection waiting.
//!
//! Invariants:
//! - A request without a proof ([`Admission`]) gets the page, in which there is nothing of a log,
//!   or a status, and its connection is closed after that. It reaches nothing else.
//! - No request has a body, and its head has at most [`HEAD`] bytes. Time and number of connections
//!   have limits ([`connections`]), so memory is bounded before any proof is seen.
//! - A request that may change something is one of the page's own origin, as browsers say, and its
//!   proof works once. Whoever answers it is told whether it came to the very address that is
//!   listened at.
//! - A request under a name that is not this machine's own is refused: a page of the network may
//!   have its name lead here.

mod connections;
#[cfg(any(test, fuzzing))]
mod exercise;
mod peer;
mod stream;

use super::admission::{Admission, Admitted, Claim, hex};
use super::loopback::is_loopback;
use crate::exit::Failure;
use connections::{Comer, Connections, Lease};
#[cfg(fuzzing)]
pub use exercise::exchange;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, ETAG, HOST, HeaderMap, HeaderName, HeaderValue,
    IF_NONE_MATCH, ORIGIN,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use peer::Users;
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{self, SocketAddr};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use stream::Stream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::{LocalSet, yield_now};
use tokio::time::sleep;

/// The most bytes of a request's head. Other programs of this machine may have left a browser many
/// cookies.
const HEAD: usize = 32 << 10;
/// The path that makes a key of a code.
const SESSION: &str = "/session";
/// The most connections that wait to be taken; the system may have a lower limit.
const BACKLOG: i32 = 4096;
/// The pause after a connection could not be taken, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// The page for everybody.
pub(super) struct Shell {
    pub(super) page: String,
    /// Its content security policy.
    pub(super) policy: String,
    /// `Cross-Origin-Opener-Policy`.
    pub(super) opener: &'static str,
}

/// A request with a proof.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) path: String,
    /// The tag of the data that the browser has; empty for none.
    pub(super) tag: String,
    /// True if it came to the address that is listened at, and not, as through `ssh -L`, to another
    /// one that leads there.
    pub(super) is_direct: bool,
}

/// A request that waits for its reply.
pub(super) struct Job {
    pub(super) asked: Asked,
    reply: oneshot::Sender<PageReply>,
}

/// A reply to a request with a proof.
#[derive(Clone)]
pub(super) struct PageReply {
    status: StatusCode,
    kind: &'static str,
    tag: String,
    body: Bytes,
    digest: String,
    is_last: bool,
}

/// Serves on a thread of its own.
pub(super) struct HttpServer {
    jobs: Receiver<Job>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl HttpServer {
    pub(super) fn start(
        listener: net::TcpListener,
        shell: Shell,
        admission: Arc<Admission>,
    ) -> Result<Self, Failure> {
        let cant = |error| Failure::new(format!("can't serve the page: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(cant)?;
        listener.set_nonblocking(true).map_err(cant)?;
        // A longer queue than the standard library's: a client that comes in a crowd waits for its
        // turn, and is not turned away.
        rustix::net::listen(&listener, BACKLOG).map_err(|error| cant(error.into()))?;
        let own = listener.local_addr().map_err(cant)?;
        let entered = runtime.enter();
        let listener = TcpListener::from_std(listener).map_err(cant)?;
        drop(entered);
        let (sender, jobs) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let forward = move |job| drop(sender.send(job));
            let gate = Gate::new(shell, admission, own, forward);
            LocalSet::new().block_on(&runtime, accept(listener, gate, stopped));
        });
        Ok(Self { jobs, stop, thread })
    }

    /// The requests that are let in, as they come.
    pub(super) fn jobs(&self) -> impl Iterator<Item = Job> {
        self.jobs.iter()
    }

    /// Ends, after the last reply was sent.
    pub(super) fn finish(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

impl Job {
    /// Sends the reply. A client that has gone away needs none.
    pub(super) fn answer(self, reply: PageReply) {
        let _ = self.reply.send(reply);
    }
}

impl PageReply {
    pub(super) fn new(body: impl Into<Bytes>, kind: &'static str) -> Self {
        let body = body.into();
        let digest = hex(&Sha256::digest(&body));
        Self { status: StatusCode::OK, kind, tag: String::new(), body, digest, is_last: false }
    }

    pub(super) fn status(status: StatusCode) -> Self {
        Self { status, ..Self::new(Bytes::new(), "") }
    }

    pub(super) fn with_tag(self, tag: String) -> Self {
        Self { tag, ..self }
    }

    /// With the status 304, and without a body, for a browser that has it.
    pub(super) fn not_modified(tag: &str) -> Self {
        Self::status(StatusCode::NOT_MODIFIED).with_tag(tag.to_owned())
    }

    /// The last one before the end.
    pub(super) fn last(self) -> Self {
        Self { is_last: true, ..self }
    }

    #[cfg(test)]
    pub(super) fn code(&self) -> u16 {
        self.status.as_u16()
    }

    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    fn response(self, admitted: &Admitted) -> Response<ResponseBody> {
        let proof = admitted.sign(self.status.as_u16(), &self.tag, &self.digest);
        let mut response = plain(self.status, self.body, self.kind);
        let headers = response.headers_mut();
        let mut put = |name: HeaderName, text: &str| {
            let value = HeaderValue::from_str(text).expect("our values are ASCII");
            headers.insert(name, value);
        };
        put(HeaderName::from_static("protolog-proof"), &proof);
        put(HeaderName::from_static("protolog-digest"), &self.digest);
        if !self.tag.is_empty() {
            put(ETAG, &self.tag);
        }
        if self.is_last { closing(response) } else { response }
    }
}

/// The checks between connections and the log.
pub(super) struct Gate {
    shell: Shell,
    page: Bytes,
    admission: Arc<Admission>,
    /// Address and port, as `Host` has them.
    own: String,
    forward: Box<dyn Fn(Job)>,
}

impl Gate {
    fn new(
        shell: Shell,
        admission: Arc<Admission>,
        own: SocketAddr,
        forward: impl Fn(Job) + 'static,
    ) -> Rc<Self> {
        let page = Bytes::from(shell.page.clone());
        let own = own.to_string();
        Rc::new(Self { shell, page, admission, own, forward: Box::new(forward) })
    }

    async fn respond(&self, request: Request<Incoming>, lease: &Lease) -> Response<ResponseBody> {
        if let Some(status) = refusal(&request) {
            return closing(plain(status, Bytes::new(), ""));
        }
        let path = request.uri().path();
        if (request.method(), path) == (&Method::GET, "/") {
            return closing(self.page());
        }
        let claim = Claim {
            method: request.method().as_str(),
            path,
            tag: header(request.headers(), IF_NONE_MATCH),
            proof: header(request.headers(), AUTHORIZATION),
        };
        let is_new = (claim.method, path) == ("POST", SESSION);
        let admitted =
            if is_new { self.admission.open(&claim) } else { self.admission.verify(&claim) };
        let Some(admitted) = admitted else {
            return closing(plain(StatusCode::UNAUTHORIZED, Bytes::new(), ""));
        };
        lease.note_proof();
        if claim.changes() && !is_new && !is_of_own_page(request.headers()) {
            return closing(plain(StatusCode::FORBIDDEN, Bytes::new(), ""));
        }
        let (path, tag) = (claim.path.to_owned(), claim.tag.to_owned());
        let is_direct = header(request.headers(), HOST) == self.own
            && request.uri().authority().is_none_or(|it| it.as_str() == self.own);
        let reply = if is_new {
            PageReply::status(StatusCode::NO_CONTENT)
        } else {
            let (reply, made) = oneshot::channel();
            (self.forward)(Job {
                asked: Asked { method: request.method().clone(), path, tag, is_direct },
                reply,
            });
            made.await.unwrap_or_else(|_| PageReply::status(StatusCode::SERVICE_UNAVAILABLE))
        };
        lease.note_reply(reply.is_last);
        reply.response(&admitted)
    }

    fn page(&self) -> Response<ResponseBody> {
        let mut page = plain(StatusCode::OK, self.page.clone(), "text/html; charset=utf-8");
        let headers = page.headers_mut();
        for (name, value) in [
            ("content-security-policy", &*self.shell.policy),
            ("cross-origin-opener-policy", self.shell.opener),
        ] {
            let value = HeaderValue::from_str(value).expect("our values are ASCII");
            headers.insert(HeaderName::from_static(name), value);
        }
        page
    }
}

/// The reason to look no further at a request.
fn refusal(request: &Request<Incoming>) -> Option<StatusCode> {
    let host = header(request.headers(), HOST);
    let named = request.uri().authority().is_none_or(|it| is_loopback(it.as_str()));
    if !named || !is_loopback(host) {
        return Some(StatusCode::FORBIDDEN);
    }
    if !request.body().is_end_stream() {
        return Some(StatusCode::PAYLOAD_TOO_LARGE);
    }
    None
}

/// Returns whether a page of this origin sends a request, as browsers say. They say so of each that
/// may change something. Its proof says more, but is worth nothing if the page's key were known.
fn is_of_own_page(headers: &HeaderMap) -> bool {
    let site = header(headers, HeaderName::from_static("sec-fetch-site"));
    header(headers, ORIGIN) == format!("http://{}", header(headers, HOST))
        && matches!(site, "" | "same-origin")
}

/// The value of a header; empty if it is not there, is there twice, or is no ASCII.
fn header(headers: &HeaderMap, name: HeaderName) -> &str {
    let mut values = headers.get_all(name).iter();
    let one = values.next().filter(|_| values.next().is_none());
    one.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn plain(status: StatusCode, body: Bytes, kind: &'static str) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody(Some(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if !kind.is_empty() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// The response, after which the connection is closed.
fn closing(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Takes connections until it is stopped.
async fn accept(listener: TcpListener, gate: Rc<Gate>, mut stop: oneshot::Receiver<()>) {
    let connections = Rc::new(Connections::default());
    let (users, own) = (Users::new(), listener.local_addr());
    loop {
        let next = poll_fn(|cx| match Pin::new(&mut stop).poll(cx) {
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => listener.poll_accept(cx).map(Some),
        });
        match next.await {
            Some(Ok((stream, address))) => {
                let user = own.as_ref().ok().and_then(|own| users.of(address, *own));
                let comer = Comer::new(user, address.ip());
                connections.add(comer, |lease| serve(stream, lease, gate.clone()));
                // Bytes that have arrived by now are read before another one can take its place.
                yield_now().await;
            }
            Some(Err(_)) => sleep(PAUSE).await,
            None => return connections.finish().await,
        }
    }
}

/// Answers the requests of a connection, until it ends or its time is over.
async fn serve<S>(stream: S, lease: Rc<Lease>, gate: Rc<Gate>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let service = service_fn(|request| {
        let (gate, lease) = (gate.clone(), lease.clone());
        async move { Ok::<_, Infallible>(gate.respond(request, &lease).await) }
    });
    let mut http = http1::Builder::new();
    http.max_header_size(HEAD).max_buf_size(2 * HEAD);
    let mut served = pin!(http.serve_connection(Stream::new(stream, lease.clone()), service));
    let mut end = pin!(lease.end());
    poll_fn(|cx| match end.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        // An error is that of a client.
        Poll::Pending => served.as_mut().poll(cx).map(drop),
    })
    .await;
}

/// A body in one piece.
struct ResponseBody(Option<Bytes>);

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, Bytes::len) as u64)
    }
}
