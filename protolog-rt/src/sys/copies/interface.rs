//! The functions by which one copy of this runtime serves another, and the types that they pass.
//!
//! Nothing that has a destructor crosses, since each copy may have an allocator of its own, and
//! every type here is of the C ABI: the copies may come from other compilers. [`Host`] is the side
//! that serves, the methods of [`Interface`] are the side that asks.
//!
//! Invariants
//! - *announced*: an [`Interface`] is reached by `super::host` alone, which has found it by its
//!   note, and kept its module loaded.
//! - *borrowed*: an argument lives through the call, but for a [`Handle`] and its word, which
//!   live as long as the host.

use super::service_state::{ServiceState, TakeState, lend, take_state};
use crate::sync::{AtomicU32, Ordering};
use protolog_core::{Arg, MAX_PARAMS};
use std::ffi::c_void;

/// The version of [`Interface`] and of the promises of its functions. A test builds a library with
/// another one.
pub(crate) const VERSION: u32 = if cfg!(protolog_other_interface) { u32::MAX } else { 3 };

/// This copy. The bytes tell an interface from other data, to which a note leads that a tool has
/// moved within its module.
static IDENTITY: [u8; 16] = MARK;
pub(super) const MARK: [u8; 16] = *b"protolog-rt copy";

/// The host's side, which [`interface`] makes functions of.
pub(crate) trait Host {
    /// A group as the host has it.
    type Group: 'static;
    /// Registers a group of another copy; `changed` is to be called whenever a word may have
    /// changed, with no lock held.
    fn register(group: NewGroup<'_>, changed: extern "C" fn()) -> &'static Self::Group;
    /// Returns the group's switch word.
    fn word(group: &'static Self::Group) -> &'static AtomicU32;
    /// Sets the levels that sessions may record, and those for the text output.
    fn switch(group: &'static Self::Group, allowed: u8, text: u8);
    /// Makes a template known before a message has its id; false if there is no room.
    fn intern(group: &'static Self::Group, template: NewTemplate<'_>) -> bool;
    /// Takes a message for sessions.
    fn message(group: &'static Self::Group, severity: u8, id: u64, args: &[Arg<'_>], stack: bool);
    /// Takes the begin or end of a timeline slice, and the fields beside it in its packet.
    fn slice(group: &'static Self::Group, severity: u8, event: &[u8], beside: &[u8]);
    /// Returns a number that no span has.
    fn next_span() -> u64;
    /// Notes that the calling thread enters a span, and returns the number of those that it is in.
    fn enter_span() -> u32;
    /// Notes that the calling thread has left a span.
    fn leave_span();
    /// Counts a message as lost.
    fn count_lost(group: &'static Self::Group, severity: u8, cause: u32);
    /// Shows a message as text.
    fn show(severity: u8, tag: &str, text: &str);
    /// Listens to operators; an empty directory is the usual one.
    fn listen(directory: &str);
    /// Joins Perfetto's tracing service, and keeps so many bytes of messages for it.
    fn connect(startup_bytes: usize, startup_severity: u8);
    /// Passes on the state of the connection with the service.
    fn service_state(take: impl FnOnce(ServiceState<&str>));
}

/// A group to be registered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewGroup<'a> {
    pub(crate) name: &'a str,
    pub(crate) tag: &'a str,
    pub(crate) compiled: bool,
    pub(crate) log_to_text: bool,
}

/// A template that is known at run time only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewTemplate<'a> {
    pub(crate) id: u64,
    pub(crate) severity: u8,
    pub(crate) template: &'a str,
    pub(crate) names: &'a str,
    pub(crate) place: &'a str,
    pub(crate) at: Option<(&'a str, u32)>,
    pub(crate) limit: usize,
}

/// A text of another copy.
#[derive(Clone, Copy)]
#[repr(C)]
struct Text {
    start: *const u8,
    length: usize,
}

/// An argument of another copy.
#[derive(Clone, Copy)]
#[repr(C)]
struct Value {
    kind: u32,
    /// The bits of a number.
    bits: u64,
    text: Text,
}

const KIND_STR: u32 = 0;
const KIND_INT: u32 = 1;
const KIND_UINT: u32 = 2;
const KIND_FLOAT: u32 = 3;
const KIND_BOOL: u32 = 4;

#[derive(Clone, Copy)]
#[repr(C)]
struct Template {
    id: u64,
    severity: u8,
    text: Text,
    names: Text,
    place: Text,
    /// Without a start if there is none.
    file: Text,
    line: u32,
    limit: usize,
}

/// A group at the host, and its switch word there.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Handle {
    group: *const c_void,
    word: *const AtomicU32,
}

// SAFETY: *borrowed*: both are addresses of `'static` values that all threads may use.
unsafe impl Send for Handle {}
// SAFETY: as for `Send`: a handle is two addresses.
unsafe impl Sync for Handle {}

type Register =
    unsafe extern "C" fn(name: Text, tag: Text, flags: u32, changed: extern "C" fn()) -> Handle;
type Message = unsafe extern "C" fn(Handle, u8, u64, *const Value, usize, bool);

/// The functions of a copy. A change of any of them, or of its arguments, needs a new [`VERSION`].
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Interface {
    identity: &'static [u8; 16],
    register: Register,
    switch: unsafe extern "C" fn(Handle, u8, u8),
    intern: unsafe extern "C" fn(Handle, *const Template) -> bool,
    message: Message,
    slice: unsafe extern "C" fn(Handle, u8, Text, Text),
    next_span: extern "C" fn() -> u64,
    enter_span: extern "C" fn() -> u32,
    leave_span: extern "C" fn(),
    count_lost: unsafe extern "C" fn(Handle, u8, u32),
    show: unsafe extern "C" fn(u8, Text, Text),
    listen: unsafe extern "C" fn(Text),
    connect: extern "C" fn(usize, u8),
    service_state: unsafe extern "C" fn(*mut c_void, TakeState),
}

/// Makes the interface of this copy.
pub(crate) const fn interface<H: Host>() -> Interface {
    Interface {
        identity: &IDENTITY,
        register: register::<H>,
        switch: switch::<H>,
        intern: intern::<H>,
        message: message::<H>,
        slice: slice::<H>,
        next_span: next_span::<H>,
        enter_span: enter_span::<H>,
        leave_span: leave_span::<H>,
        count_lost: count_lost::<H>,
        show: show::<H>,
        listen: listen::<H>,
        connect: connect::<H>,
        service_state: service_state::<H>,
    }
}

impl Text {
    const NONE: Self = Self { start: std::ptr::null(), length: 0 };

    fn new(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self { start: bytes.as_ptr(), length: bytes.len() }
    }

    /// # Safety
    /// *borrowed*: it is one that [`Self::of_bytes`] made of bytes that live through `'a`.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// # Safety
    /// *borrowed*: it is one that [`Self::new`] made of a string that lives through `'a`.
    unsafe fn text<'a>(self) -> &'a str {
        // SAFETY: the caller's promise.
        std::str::from_utf8(unsafe { self.bytes() }).unwrap_or_default()
    }
}

impl Value {
    fn new(arg: Arg<'_>) -> Self {
        let number = |kind, bits| Self { kind, bits, text: Text::NONE };
        match arg {
            Arg::Str(text) => Self { kind: KIND_STR, bits: 0, text: Text::new(text) },
            Arg::Int(value) => number(KIND_INT, value as u64),
            Arg::Uint(value) => number(KIND_UINT, value),
            Arg::Float(value) => number(KIND_FLOAT, value.to_bits()),
            Arg::Bool(value) => number(KIND_BOOL, value.into()),
        }
    }

    /// # Safety
    /// *borrowed*: it is one that [`Self::new`] made of an argument that lives through `'a`.
    unsafe fn arg<'a>(self) -> Arg<'a> {
        match self.kind {
            KIND_INT => Arg::Int(self.bits as i64),
            KIND_UINT => Arg::Uint(self.bits),
            KIND_FLOAT => Arg::Float(f64::from_bits(self.bits)),
            KIND_BOOL => Arg::Bool(self.bits != 0),
            // SAFETY: the caller's promise.
            _ => Arg::Str(unsafe { self.text.text() }),
        }
    }
}

impl Handle {
    /// # Safety
    /// *borrowed*: it is one that this copy gave out, whose groups are of this type.
    unsafe fn group<G>(self) -> &'static G {
        // SAFETY: the caller's promise.
        unsafe { &*self.group.cast() }
    }

    /// Returns the group's switch word at the host.
    pub(crate) fn word(&self) -> u32 {
        // SAFETY: *kept*, *borrowed*: the word lives as long as the host.
        unsafe { &*self.word }.load(Ordering::Acquire)
    }
}

const COMPILED: u32 = 1;
const LOG_TO_TEXT: u32 = 2;

impl Interface {
    /// Returns whether it is that of this copy.
    pub(super) fn is_own(&self) -> bool {
        std::ptr::eq(self.identity, &raw const IDENTITY)
    }

    /// Returns an address in the module of this copy.
    pub(super) fn own_address() -> usize {
        (&raw const IDENTITY).addr()
    }

    /// As [`Host::register`].
    pub(crate) fn register(&self, group: NewGroup<'_>, changed: extern "C" fn()) -> Handle {
        let flags = if group.compiled { COMPILED } else { 0 };
        let flags = flags | if group.log_to_text { LOG_TO_TEXT } else { 0 };
        // SAFETY: *announced*; *borrowed*: the texts live through the call.
        unsafe { (self.register)(Text::new(group.name), Text::new(group.tag), flags, changed) }
    }

    /// As [`Host::switch`].
    pub(crate) fn switch(&self, group: Handle, allowed: u8, text: u8) {
        // SAFETY: *announced*; *borrowed*: the host gave the handle out.
        unsafe { (self.switch)(group, allowed, text) }
    }

    /// As [`Host::intern`].
    pub(crate) fn intern(&self, group: Handle, new: NewTemplate<'_>) -> bool {
        let template = Template {
            id: new.id,
            severity: new.severity,
            text: Text::new(new.template),
            names: Text::new(new.names),
            place: Text::new(new.place),
            file: new.at.map_or(Text::NONE, |(file, _)| Text::new(file)),
            line: new.at.map_or(0, |(_, line)| line),
            limit: new.limit,
        };
        // SAFETY: *announced*; *borrowed*: the host gave the handle out, and the texts live through
        // the call.
        unsafe { (self.intern)(group, &raw const template) }
    }

    /// As [`Host::message`], of as many arguments as a template can name.
    pub(crate) fn message(
        &self,
        (group, severity): (Handle, u8),
        id: u64,
        args: &[Arg<'_>],
        stack: bool,
    ) {
        let mut values = [Value::new(Arg::Bool(false)); MAX_PARAMS];
        let count = args.len().min(values.len());
        for (value, arg) in values.iter_mut().zip(args) {
            *value = Value::new(*arg);
        }
        // SAFETY: *announced*; *borrowed*: the host gave the handle out, and the arguments live
        // through the call.
        unsafe { (self.message)(group, severity, id, values.as_ptr(), count, stack) }
    }

    /// As [`Host::slice`].
    pub(crate) fn slice(&self, (group, severity): (Handle, u8), event: &[u8], beside: &[u8]) {
        let [event, beside] = [event, beside].map(Text::of_bytes);
        // SAFETY: *announced*; *borrowed*: the host gave the handle out, and the bytes live through
        // the call.
        unsafe { (self.slice)(group, severity, event, beside) }
    }

    /// As [`Host::next_span`].
    pub(crate) fn next_span(&self) -> u64 {
        (self.next_span)()
    }

    /// As [`Host::enter_span`].
    pub(crate) fn enter_span(&self) -> u32 {
        (self.enter_span)()
    }

    /// As [`Host::leave_span`].
    pub(crate) fn leave_span(&self) {
        (self.leave_span)();
    }

    /// As [`Host::count_lost`].
    pub(crate) fn count_lost(&self, (group, severity): (Handle, u8), cause: u32) {
        // SAFETY: *announced*; *borrowed*: the host gave the handle out.
        unsafe { (self.count_lost)(group, severity, cause) }
    }

    /// As [`Host::show`].
    pub(crate) fn show(&self, severity: u8, tag: &str, text: &str) {
        // SAFETY: *announced*; *borrowed*: the texts live through the call.
        unsafe { (self.show)(severity, Text::new(tag), Text::new(text)) }
    }

    /// As [`Host::listen`].
    pub(crate) fn listen(&self, directory: &str) {
        // SAFETY: *announced*; *borrowed*: the text lives through the call.
        unsafe { (self.listen)(Text::new(directory)) }
    }

    /// As [`Host::connect`].
    pub(crate) fn connect(&self, startup_bytes: usize, startup_severity: u8) {
        (self.connect)(startup_bytes, startup_severity);
    }

    /// Returns the state of the host's connection with Perfetto's tracing service.
    pub(crate) fn service_state(&self) -> ServiceState<String> {
        let mut taken = ServiceState::default();
        // SAFETY: *announced*; `take_state` gets the address of what it is for, which lives
        // through the call.
        unsafe { (self.service_state)((&raw mut taken).cast(), take_state) };
        taken
    }
}

// The host's side. Each function gets the arguments that its namesake of `Interface` passes.

unsafe extern "C" fn register<H: Host>(
    name: Text,
    tag: Text,
    flags: u32,
    changed: extern "C" fn(),
) -> Handle {
    // SAFETY: *borrowed*: `Interface::register` made it of a string.
    let name = unsafe { name.text() };
    // SAFETY: *borrowed*: this one, too.
    let tag = unsafe { tag.text() };
    let (compiled, log_to_text) = (flags & COMPILED != 0, flags & LOG_TO_TEXT != 0);
    let group = H::register(NewGroup { name, tag, compiled, log_to_text }, changed);
    Handle { group: std::ptr::from_ref(group).cast(), word: H::word(group) }
}

unsafe extern "C" fn switch<H: Host>(group: Handle, allowed: u8, text: u8) {
    // SAFETY: *borrowed*: `register` gave it out.
    H::switch(unsafe { group.group() }, allowed, text);
}

unsafe extern "C" fn intern<H: Host>(group: Handle, template: *const Template) -> bool {
    // SAFETY: *borrowed*: `Interface::intern` passes a template.
    let Template { id, severity, text, names, place, file, line, limit } = unsafe { *template };
    // SAFETY: *borrowed*: it made the text of a string.
    let template = unsafe { text.text() };
    // SAFETY: *borrowed*: this one, too.
    let names = unsafe { names.text() };
    // SAFETY: *borrowed*: this one, too.
    let place = unsafe { place.text() };
    // SAFETY: *borrowed*: a file with a start, too.
    let at = (!file.start.is_null()).then(|| (unsafe { file.text() }, line));
    // SAFETY: *borrowed*: `register` gave it out.
    let group = unsafe { group.group() };
    H::intern(group, NewTemplate { id, severity, template, names, place, at, limit })
}

unsafe extern "C" fn message<H: Host>(
    group: Handle,
    severity: u8,
    id: u64,
    values: *const Value,
    count: usize,
    stack: bool,
) {
    let mut args = [Arg::Bool(false); MAX_PARAMS];
    // SAFETY: *borrowed*: `Interface::message` passes so many values.
    let values = unsafe { std::slice::from_raw_parts(values, count) };
    for (arg, value) in args.iter_mut().zip(values) {
        // SAFETY: *borrowed*: it made them of arguments.
        *arg = unsafe { value.arg() };
    }
    let args = args.get(..count).unwrap_or_default();
    // SAFETY: *borrowed*: `register` gave it out.
    H::message(unsafe { group.group() }, severity, id, args, stack);
}

unsafe extern "C" fn slice<H: Host>(group: Handle, severity: u8, event: Text, beside: Text) {
    // SAFETY: *borrowed*: `Interface::slice` made it of bytes.
    let event = unsafe { event.bytes() };
    // SAFETY: *borrowed*: this one, too.
    let beside = unsafe { beside.bytes() };
    // SAFETY: *borrowed*: `register` gave it out.
    H::slice(unsafe { group.group() }, severity, event, beside);
}

extern "C" fn next_span<H: Host>() -> u64 {
    H::next_span()
}

extern "C" fn enter_span<H: Host>() -> u32 {
    H::enter_span()
}

extern "C" fn leave_span<H: Host>() {
    H::leave_span();
}

unsafe extern "C" fn count_lost<H: Host>(group: Handle, severity: u8, cause: u32) {
    // SAFETY: *borrowed*: `register` gave it out.
    H::count_lost(unsafe { group.group() }, severity, cause);
}

unsafe extern "C" fn show<H: Host>(severity: u8, tag: Text, text: Text) {
    // SAFETY: *borrowed*: `Interface::show` made it of a string.
    let tag = unsafe { tag.text() };
    // SAFETY: *borrowed*: this one, too.
    let text = unsafe { text.text() };
    H::show(severity, tag, text);
}

unsafe extern "C" fn listen<H: Host>(directory: Text) {
    // SAFETY: *borrowed*: `Interface::listen` made it of a string.
    H::listen(unsafe { directory.text() });
}

extern "C" fn connect<H: Host>(startup_bytes: usize, startup_severity: u8) {
    H::connect(startup_bytes, startup_severity);
}

unsafe extern "C" fn service_state<H: Host>(to: *mut c_void, take: TakeState) {
    // SAFETY: `Interface::service_state` has passed both.
    H::service_state(|state| unsafe { lend(state, to, take) });
}
