//! Requests: which messages belong together, on whatever threads they are logged.
//!
//! ```text
//! Request::new                 a number of its own, and the program's id
//! enter, request_scope         a guard: messages of its thread belong to the request
//! in_request                   task.rs: a guard for each poll of a future
//! fail, keep_if_failed         the triggers that wait for failed requests
//! ```
//!
//! The marks that messages of a request lie between are in `writer/request.rs`.
//!
//! Invariant: a guard's key is 0, or names one scope of its own thread.

mod task;

pub use task::InRequest;

use crate::value::FixedString;
use crate::writer::owner::{Event, FailedRequest};
use crate::writer::request::{MAX_ID, RequestMark, current_request, enter_request, leave_request};
use crate::writer::running;
use crate::writer::slice::next_span;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::ops::Deref;
use std::thread;

/// The most bytes of a reason.
const MAX_REASON: usize = 200;

/// A request that a program works on: what is logged on its behalf belongs together, on whatever
/// threads and in whatever tasks.
///
/// A thread that has [entered](Self::enter) it marks its messages, so that `protolog read-log
/// --request ID` shows them alone. Where it [fails](Self::fail), a session whose triggers wait for
/// that ([`Triggers::on_failed_request`](crate::Triggers::on_failed_request)) writes its messages
/// to a file, and not those of others.
///
/// ```
/// use protolog_rt::{Request, d};
///
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net, Db }
/// # fn query(_: &str) -> Result<u32, String> { Err("no rows".into()) }
/// let request = Request::new("GET /cart/17");
/// let _scope = request.enter();
/// d!(AppLog::Net, "cart %d", 17);
/// let of_thread = request.clone();
/// let rows = std::thread::spawn(move || {
///     let _scope = of_thread.enter();
///     d!(AppLog::Db, "query");
///     query("select 1")
/// });
/// request.keep_if_failed(&rows.join().unwrap());
/// ```
///
/// With the feature `tracing`, a span of that crate with a field `request_id` is a request as well:
/// [`Self::current`] has it fail.
///
/// A message belongs to the innermost request that its thread is in. That costs a message nothing:
/// where a thread's request has changed since its last message, the next one has a mark before it
/// in the trace. A thread that logs nothing writes no marks.
#[derive(Clone)]
pub struct Request(RequestMark);

/// The scope of a request on a thread: until it is dropped, what the thread logs belongs to the
/// request. [`Request::enter`] and [`request_scope`] return it.
///
/// It is the request, too, so that it can fail: `scope.fail("no answer")`. Where it is dropped by a
/// panic, the request fails, with `panic` as the reason.
///
/// Scopes may end in any order; messages belong to the innermost one that has not ended. On a
/// thread there may be 16 of them, one within the other; those beyond mark nothing.
///
/// ```compile_fail
/// let scope = protolog_rt::request_scope("7");
/// std::thread::spawn(move || drop(scope)); // error: `*mut ()` cannot be sent between threads safely
/// ```
#[derive(Debug)]
#[must_use = "it ends when it is dropped: bind it, as in `let _scope = request.enter()`"]
pub struct RequestScope {
    request: Request,
    key: u64,
    /// The thread was unwinding when it entered.
    was_panicking: bool,
    thread: PhantomData<*mut ()>,
}

/// Enters a new request: [`Request::new`] and [`Request::enter`].
///
/// ```
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// # fn serve(_: u64) -> Result<(), std::io::Error> { Ok(()) }
/// fn handle(id: u64) -> Result<(), std::io::Error> {
///     let request = protolog_rt::request_scope(id);
///     let done = serve(id);
///     request.keep_if_failed(&done);
///     done
/// }
/// # handle(7).unwrap();
/// ```
pub fn request_scope(id: impl Display) -> RequestScope {
    Request::new(id).enter()
}

impl Request {
    /// A request with this id, by which people know it: a number, a path, the trace id of a header.
    /// It has at most 64 bytes; a longer one is cut. Several requests may have one id.
    pub fn new(id: impl Display) -> Self {
        let mut text = FixedString::<MAX_ID>::new();
        let id = text.print(&id);
        Self(RequestMark::new(next_span(), id))
    }

    /// Returns the innermost request that the calling thread is in.
    ///
    /// ```
    /// use protolog_rt::{Request, request_scope};
    ///
    /// let _scope = request_scope("GET /cart/17");
    /// assert_eq!(Request::current().unwrap().id(), "GET /cart/17");
    /// ```
    pub fn current() -> Option<Self> {
        current_request().map(Self)
    }

    /// The id.
    pub fn id(&self) -> &str {
        self.0.id()
    }

    /// Makes the messages of the calling thread those of this request, until the scope is dropped.
    pub fn enter(&self) -> RequestScope {
        let key = enter_request(self.0);
        let was_panicking = thread::panicking();
        RequestScope { request: self.clone(), key, was_panicking, thread: PhantomData }
    }

    /// Says that the request has failed: sessions whose triggers wait for that write its messages
    /// to a file ([`Triggers::on_failed_request`](crate::Triggers::on_failed_request)), with this
    /// reason, of at most 200 bytes. A request fails once; after that this does nothing.
    ///
    /// It takes a lock, so a signal handler should not call it.
    pub fn fail(&self, reason: impl Display) {
        let mut text = FixedString::<MAX_REASON>::new();
        let reason = text.print(&reason);
        let failed = FailedRequest { number: self.0.number, id: self.id(), reason };
        running::report_event(Event::FailedRequest(failed));
    }

    /// Fails if the result is an error, which is the reason.
    pub fn keep_if_failed<T, E: Display>(&self, result: &Result<T, E>) {
        if let Err(error) = result {
            self.fail(error);
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request").field(&self.id()).finish()
    }
}

impl Deref for RequestScope {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.request
    }
}

impl Drop for RequestScope {
    fn drop(&mut self) {
        if !self.was_panicking && thread::panicking() {
            self.request.fail("panic");
        }
        if self.key != 0 {
            leave_request(self.key);
        }
    }
}
