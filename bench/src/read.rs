//! A trace read as `protologtool read-log` reads it, for valgrind to count: page by page, with a
//! thread that reads ahead.

use protolog_reader::{Entry, FileBytes, Item, JsonWriter, Level, Log, Pages, TextWriter, Times};
use std::collections::HashMap;
use std::fs::File;
use std::hint::black_box;
use std::path::Path;

use crate::vouched;

/// Lines are written in blocks of so many bytes, and forgotten here.
const BLOCK: usize = 64 << 10;

/// Reads the trace to lines of text or of JSON, to those of errors, or to the number of messages of
/// each template.
pub(crate) fn run(form: &str, path: &Path) -> Option<()> {
    let (form, path) = match form {
        "vouched" => ("text", &*vouched::beside(path)),
        _ => (form, path),
    };
    let file = FileBytes::new(File::open(path).expect("open the trace")).expect("read the trace");
    let pages = Pages::survey(file, &[], |_| None).expect("read the trace");
    let mut pages = pages.expect("a trace that is read page by page");
    pages.read_ahead();
    let (mut lines, mut counts) = (Lines::default(), HashMap::new());
    while pages.next_page().expect("read a page") {
        match form {
            "text" => text(pages.log(), &mut lines, |_| true),
            "errors" => text(pages.log(), &mut lines, is_error),
            "json" => {
                let mut writer = JsonWriter::new(pages.log());
                pages.log().items().for_each(|item| lines.push(|out| writer.write(&item, out)));
            }
            "counts" => count(pages.log(), &mut counts),
            _ => return None,
        }
    }
    println!("{} bytes of lines, {} templates", lines.written + lines.block.len(), counts.len());
    Some(())
}

fn text(log: &Log, lines: &mut Lines, admits: impl Fn(&Entry<'_>) -> bool) {
    let mut writer = TextWriter::new(log, Times::utc());
    let admitted = log.items().filter(|item| match item {
        Item::Entry(entry) => admits(entry),
        _ => true,
    });
    admitted.for_each(|item| lines.push(|out| writer.write(&item, out)));
}

fn is_error(entry: &Entry<'_>) -> bool {
    let level = entry.message().and_then(|message| message.level);
    level.is_some_and(|level| level >= Level::Error)
}

fn count(log: &Log, counts: &mut HashMap<String, u64>) {
    for entry in log.entries() {
        let template = entry.message().map_or("", |message| message.template());
        match counts.get_mut(template) {
            Some(count) => *count += 1,
            None => _ = counts.insert(template.to_owned(), 1),
        }
    }
}

#[derive(Default)]
struct Lines {
    block: Vec<u8>,
    written: usize,
}

impl Lines {
    fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.block);
        if self.block.len() >= BLOCK {
            self.written += black_box(&self.block).len();
            self.block.clear();
        }
    }
}
