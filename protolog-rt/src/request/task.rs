//! Futures of a request: a scope on the thread that polls, for each time that it does.

use super::Request;
use std::future::{Future, poll_fn};
use std::pin::pin;

/// Puts a future into a request.
///
/// ```
/// use protolog_rt::{InRequest, Request};
///
/// # async fn answer(_: &str) -> Result<(), String> { Ok(()) }
/// async fn serve(path: String) {
///     let request = Request::new(&path);
///     let answered = answer(&path).in_request(request.clone()).await;
///     request.keep_if_failed(&answered);
/// }
/// # let _ = serve(String::new());
/// ```
pub trait InRequest: Future + Sized {
    /// Returns a future whose thread is in the request while it is polled, as by
    /// [`Request::enter`]: so its messages belong to the request, on whatever threads it runs and
    /// whatever else runs on them. A poll that logs nothing writes nothing. A panic of the future
    /// fails the request.
    ///
    /// A scope that the future itself holds over an `await` belongs to the thread, and would take
    /// in what else is polled there; it can't be sent to another thread, so that futures for
    /// several threads are refused with one.
    fn in_request(self, request: Request) -> impl Future<Output = Self::Output> {
        async move {
            let mut future = pin!(self);
            poll_fn(|context| {
                let _scope = request.enter();
                future.as_mut().poll(context)
            })
            .await
        }
    }
}

impl<F: Future> InRequest for F {}
