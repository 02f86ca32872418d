//! Sessions: `struct protolog_options`, and the functions on a session.

use crate::groups::level_or_off;
use crate::result::{Failure, run};
use protolog_core::Level;
use protolog_rt::{Builder, LossCause, Session, Summary};
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// `struct protolog_options`. One of another size, of a program that was compiled with another
/// header, is refused.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Options {
    pub(crate) size: usize,
    pub(crate) file: *const c_char,
    pub(crate) levels: *const c_char,
    pub(crate) recording: *const c_char,
    pub(crate) buffer_bytes: u64,
    pub(crate) segment_bytes: u64,
    pub(crate) keep_segments: u32,
    pub(crate) level: u32,
    pub(crate) keep: u32,
    pub(crate) wait_milliseconds: u32,
    pub(crate) without_recording: u32,
    pub(crate) truncate: u32,
    pub(crate) follow_forks: u32,
    pub(crate) file_mode: u32,
}

/// `struct protolog_summary`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct CSummary {
    pub(crate) messages: u64,
    pub(crate) lost: u64,
    pub(crate) overwritten: u64,
    pub(crate) bytes: u64,
}

/// Starts a session.
///
/// # Contract
/// Each pointer is null or valid: `options` for as many bytes as its `size` says, its texts up to
/// their zeros, `session` for a pointer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protolog_session_start(
    options: *const Options,
    session: *mut *mut Session,
) -> c_int {
    run(|| {
        if session.is_null() {
            return Err(Failure::null("session"));
        }
        // SAFETY: the caller's promise.
        unsafe { session.write(std::ptr::null_mut()) };
        if options.is_null() {
            return Err(Failure::null("options"));
        }
        // SAFETY: the caller's promise. Of smaller ones only the size, which is first, may be read.
        let size = unsafe { options.cast::<usize>().read() };
        if size != size_of::<Options>() {
            let what = format!("the options have {size} bytes");
            return Err(Failure::argument(&what, "begin with `PROTOLOG_OPTIONS_INIT`"));
        }
        // SAFETY: the caller's promise; it has all bytes, as was checked.
        let options = unsafe { &*options };
        // SAFETY: the caller's promise.
        let started = unsafe { builder(options) }?.start()?;
        // SAFETY: the caller's promise.
        unsafe { session.write(Box::into_raw(Box::new(started))) };
        Ok(())
    })
}

/// Writes what was logged before.
///
/// # Contract
/// `session` is null or one that was started and not stopped.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protolog_session_flush(session: *mut Session) -> c_int {
    // SAFETY: the caller's promise.
    run(|| Ok(unsafe { running(session) }?.flush()?))
}

/// Writes what a session keeps to another file.
///
/// # Contract
/// As [`protolog_session_flush`]; `path` is null or a text, `summary` null or valid.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protolog_session_snapshot(
    session: *mut Session,
    path: *const c_char,
    summary: *mut CSummary,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let path = unsafe { path_of(path) }.ok_or_else(|| Failure::null("path"))?;
        // SAFETY: the caller's promise.
        let made = unsafe { running(session) }?.snapshot(path)?;
        // SAFETY: the caller's promise.
        unsafe { write_summary(summary, &made) };
        Ok(())
    })
}

/// Writes the path of the recording.
///
/// # Contract
/// As [`protolog_session_flush`]; `path` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protolog_session_recording(
    session: *mut Session,
    path: *mut c_char,
    size: usize,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let session = unsafe { running(session) }?;
        if path.is_null() {
            return Err(Failure::null("path"));
        }
        let found = session.recording().map_or(&b""[..], |path| path.as_os_str().as_bytes());
        if found.len() >= size {
            let what = format!("the path has {} bytes, the buffer {size}", found.len());
            return Err(Failure::argument(&what, "pass one that has room for it and a zero"));
        }
        // SAFETY: the caller's promise; the path and a zero fit, as was checked.
        unsafe { path.cast::<u8>().copy_from_nonoverlapping(found.as_ptr(), found.len()) };
        // SAFETY: as before.
        unsafe { path.wrapping_add(found.len()).write(0) };
        Ok(())
    })
}

/// Completes the file, and frees the session.
///
/// # Contract
/// As [`protolog_session_flush`]; nobody uses the session afterwards. `summary` is null or valid.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protolog_session_stop(
    session: *mut Session,
    summary: *mut CSummary,
) -> c_int {
    run(|| {
        if session.is_null() {
            return Err(Failure::null("session"));
        }
        // SAFETY: the caller's promise: it comes from `Box::into_raw`, and is given up.
        let session = unsafe { Box::from_raw(session) };
        let made = session.stop()?;
        // SAFETY: the caller's promise.
        unsafe { write_summary(summary, &made) };
        Ok(())
    })
}

/// # Safety
/// As [`protolog_session_flush`].
unsafe fn running<'a>(session: *mut Session) -> Result<&'a Session, Failure> {
    // SAFETY: the caller's promise.
    unsafe { session.as_ref() }.ok_or_else(|| Failure::null("session"))
}

/// # Safety
/// `summary` is null or valid.
unsafe fn write_summary(summary: *mut CSummary, made: &Summary) {
    let of_ring = made.losses.iter().filter(|loss| loss.cause == LossCause::Overwritten);
    let overwritten = of_ring.map(|loss| loss.count).sum();
    let lost = made.lost().saturating_sub(overwritten);
    let (messages, bytes) = (made.messages, made.bytes);
    if !summary.is_null() {
        // SAFETY: the caller's promise.
        unsafe { summary.write(CSummary { messages, lost, overwritten, bytes }) };
    }
}

/// Returns the builder that the options mean.
///
/// # Safety
/// The texts of the options are null or valid.
unsafe fn builder(options: &Options) -> Result<Builder, Failure> {
    let mut builder = match level_or_off(options.level)? {
        Some(level) => Session::builder().log_from(level),
        None => Session::builder().group("*", None),
    };
    // SAFETY: the caller's promise.
    if let Some(levels) = unsafe { text_of(options.levels) } {
        for (group, level) in levels_in(&levels)? {
            builder = builder.group(group, level);
        }
    }
    // SAFETY: the caller's promise.
    if let Some(file) = unsafe { path_of(options.file) } {
        builder = builder.file(file);
    }
    // SAFETY: the caller's promise.
    let recording = unsafe { path_of(options.recording) };
    builder = match (options.keep, recording) {
        (0, None) => builder,
        (1, None) => builder.keep_newest(),
        (2, None) => builder.keep_first(),
        (3, None) => builder.record(),
        (3, Some(path)) => builder.record_at(path),
        (0..=2, Some(_)) => {
            return Err(Failure::argument(
                "`recording` is for `PROTOLOG_RECORD`",
                "set `keep` to it, or leave out `recording`",
            ));
        }
        (keep, _) => {
            let what = format!("`{keep}` is no way to keep messages");
            return Err(Failure::argument(&what, "pass one of `enum protolog_keep`"));
        }
    };
    Ok(with_numbers(builder, options))
}

/// Applies the numbers of the options that are not zero.
fn with_numbers(mut builder: Builder, options: &Options) -> Builder {
    if options.buffer_bytes > 0 {
        builder = builder.buffer_size(usize::try_from(options.buffer_bytes).unwrap_or(usize::MAX));
    }
    if options.segment_bytes > 0 {
        builder = builder.segment_bytes(options.segment_bytes);
    }
    if options.keep_segments > 0 {
        builder = builder.keep_segments(options.keep_segments as usize);
    }
    if options.wait_milliseconds > 0 {
        builder = builder.wait_at_most(Duration::from_millis(options.wait_milliseconds.into()));
    }
    if options.without_recording > 0 {
        builder = builder.without_recording();
    }
    if options.truncate > 0 {
        builder = builder.truncate();
    }
    if options.follow_forks > 0 {
        builder = builder.follow_forks();
    }
    if options.file_mode > 0 {
        builder = builder.file_mode(options.file_mode);
    }
    builder
}

/// Returns the groups and levels in a text such as `Net=verbose,Disk=off`.
fn levels_in(text: &str) -> Result<Vec<(&str, Option<Level>)>, Failure> {
    let item = |item: &'_ str| -> Option<Option<Level>> {
        if item.eq_ignore_ascii_case("off") { Some(None) } else { item.parse().ok().map(Some) }
    };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let pair =
                part.split_once('=').map(|(group, level)| (group.trim(), item(level.trim())));
            match pair {
                Some((group, Some(level))) if !group.is_empty() => Ok((group, level)),
                _ => Err(Failure::argument(
                    &format!("`{part}` is no level of a group"),
                    "write `GROUP=LEVEL`, with verbose, debug, info, warn, error, wtf or off",
                )),
            }
        })
        .collect()
}

/// # Safety
/// `text` is null or a text.
unsafe fn text_of<'a>(text: *const c_char) -> Option<std::borrow::Cow<'a, str>> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// # Safety
/// `path` is null or a text.
unsafe fn path_of<'a>(path: *const c_char) -> Option<&'a Path> {
    // SAFETY: the caller's promise.
    (!path.is_null())
        .then(|| Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes())))
}
