//! Pages that a thread of its own reads ahead, while the one before is shown.
//!
//! Invariant: besides the page that is shown there is one more in memory, which is read or waits.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use crate::decode::collect::Collected;
use crate::losses::loss::Loss;

/// The entries and losses of a page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) collected: Collected,
    pub(crate) losses: Vec<Loss>,
    /// All before this time is in this page, or an earlier one; none if all is.
    pub(crate) limit: Option<i64>,
    /// The time before which nothing is that follows; none if nothing follows, or it is not known.
    pub(crate) next_time: Option<i64>,
    pub(crate) is_last: bool,
}

/// Where pages come from, in their order.
pub(crate) trait ReadPages: Send + 'static {
    /// Reads the next page, into the memory of one that nobody needs any more.
    ///
    /// # Errors
    ///
    /// If the trace can't be read any more.
    fn read(&mut self, used: Collected) -> io::Result<Page>;
}

/// The thread that reads ahead. It ends after the last page, after an error, and when nobody waits
/// for pages any more.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    pages: Receiver<io::Result<Page>>,
    used: Sender<Collected>,
}

impl ReadAhead {
    /// Starts the thread. If there can be none, the reader is returned.
    pub(crate) fn start<R: ReadPages>(reader: Box<R>) -> Result<Self, Box<R>> {
        // The reader comes when the thread runs, since one that can't be started would take it
        // along.
        let (give_reader, reader_of_thread) = mpsc::sync_channel(1);
        let (pages_of_thread, pages) = mpsc::sync_channel(0);
        let (used, used_of_thread) = mpsc::channel();
        let run = move || {
            let reader: Result<Box<R>, _> = reader_of_thread.recv();
            if let Ok(reader) = reader {
                read_all(*reader, &pages_of_thread, &used_of_thread);
            }
        };
        match thread::Builder::new().name("protolog-pages".to_owned()).spawn(run) {
            Ok(_) => match give_reader.send(reader) {
                Ok(()) => Ok(Self { pages, used }),
                Err(mpsc::SendError(reader)) => Err(reader),
            },
            Err(_) => Err(reader),
        }
    }

    /// The next page; none after the last one.
    pub(crate) fn next(&mut self) -> Option<io::Result<Page>> {
        self.pages.recv().ok()
    }

    /// Hands over a page that nobody needs any more.
    pub(crate) fn give_back(&mut self, used: Collected) {
        // After the last page, nobody takes it.
        let _ = self.used.send(used);
    }
}

fn read_all(
    mut reader: impl ReadPages,
    pages: &SyncSender<io::Result<Page>>,
    used: &Receiver<Collected>,
) {
    loop {
        let page = reader.read(used.try_recv().unwrap_or_default());
        let is_last = page.as_ref().map_or(true, |page| page.is_last);
        if pages.send(page).is_err() || is_last {
            return;
        }
    }
}
