//! The number of bytes, tokens, members and declarations that are looked at in Java and Kotlin,
//! which tests hold against the length of a file: a program may have written one of any shape.

#[cfg(not(test))]
pub(in crate::lang) fn count(_: usize) {}

#[cfg(test)]
pub(in crate::lang) fn count(looks: usize) {
    counted::LOOKS.set(counted::LOOKS.get() + looks);
}

/// The number of looks of this thread that `work` takes.
#[cfg(test)]
pub(in crate::lang) fn of<R>(work: impl FnOnce() -> R) -> (R, usize) {
    counted::LOOKS.set(0);
    let done = work();
    (done, counted::LOOKS.get())
}

/// Files with twice and four times as many calls take no more looks for each.
#[cfg(test)]
pub(in crate::lang) fn assert_linear(shape: &str, looks: impl Fn(usize) -> usize) {
    let (some, twice, more) = (looks(50), looks(100), looks(200));
    // Numbers have more digits in a longer file.
    assert!(
        some > 0 && twice < some * 22 / 10 && more < some * 44 / 10,
        "{shape}: 50 calls took {some} looks, 100 {twice}, 200 {more}"
    );
}

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local! {
        pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
    }
}
