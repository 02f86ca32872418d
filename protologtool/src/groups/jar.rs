//! Groups from a jar, without a JVM: the class files are read and their code is evaluated.
//!
//! An enum's groups are the elements of its `values()`. Of another class they are its static final
//! fields whose values are groups. A group is an object with `isEnabled()`, `isLogToLogcat()` or
//! `isLogToText()`, and `getTag()`; `getId()` is asked where there is one.
//!
//! Invariants: only the classes that are needed are read; no jar, however made, brings about a
//! panic, an endless loop or unbounded memory ([`class_eval`] limits the code that is evaluated).

use super::{Group, GroupClash, Groups};
use class_eval::{Class, ClassSource, Fault, FaultKind, Machine, Ref, Value};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{Cursor, Read};
use std::rc::Rc;
use zip::ZipArchive;
use zip::result::ZipError;

/// Bytes of one class file. Compilers make none larger, since each table is limited.
const MAX_CLASS: u64 = 2 << 20;
/// Bytes of all class files that are read.
const MAX_CLASSES: u64 = 16 << 20;
/// Groups of one class.
const MAX_GROUPS: usize = 1 << 12;
/// UTF-16 units of a name or tag.
const MAX_TEXT: usize = 1 << 12;

/// Why the groups of a jar could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JarError {
    /// Not a zip archive; why.
    NotAJar(&'static str),
    /// The jar lacks the class.
    NoClass {
        /// The class as it was asked for.
        class: String,
        /// The jar holds code for Android's runtime instead.
        dex: bool,
    },
    /// The class is local or anonymous: no call can name its groups.
    NoCanonicalName(String),
    /// The code of the class can't be evaluated.
    Fault {
        /// The class, or the getter of a group, that was evaluated.
        what: String,
        /// Why it can't be.
        fault: Fault,
    },
    /// An object that lacks a method of groups.
    NotAGroup {
        /// The object's name.
        name: String,
        /// The method that it lacks.
        method: &'static str,
    },
    /// A class that is no enum and has no static final fields with groups.
    NoGroups(String),
    /// A getter gave null, or a text too long for a name or tag.
    NoText {
        /// The group and the getter.
        what: String,
        /// Null, not too long.
        null: bool,
    },
    /// More groups than 4096.
    TooMany(String),
    /// Two groups call themselves by one name.
    SameName(String),
    /// `getId()` of two groups gives one id.
    SameId {
        /// Full names of the two.
        names: (String, String),
        /// The id.
        id: i32,
    },
    /// The ids that are made of two groups' names are the same.
    Clash(GroupClash),
}

/// The groups of the class `class`, as `com.foo.AppLog`, `com.foo.Bar$AppLog` or
/// `com.foo.Bar.AppLog`, in `jar`, the bytes of a jar.
pub fn from_jar(jar: &[u8], class: &str) -> Result<Groups, JarError> {
    let jar = Jar::open(jar)?;
    let mut machine = Machine::new(&jar);
    let fault = |what: &str| {
        let what = what.to_owned();
        move |fault| JarError::Fault { what, fault }
    };
    let found = find_class(&mut machine, class).map_err(fault(class))?;
    let Some(file) = found else {
        let dex = jar.has("classes.dex");
        return Err(JarError::NoClass { class: class.to_owned(), dex });
    };
    let name = machine.canonical_name(&file).map_err(fault(class))?;
    let name = name.ok_or_else(|| JarError::NoCanonicalName(class.to_owned()))?;
    let groups = if file.is_enum() {
        enum_groups(&mut machine, &file, &name)?
    } else {
        field_groups(&mut machine, &file, &name)?
    };
    check_unique(&groups)?;
    Groups::new(name, groups).map_err(JarError::Clash)
}

/// No two groups may have one name, nor one id that they declare.
fn check_unique(groups: &[Group]) -> Result<(), JarError> {
    let (mut names, mut ids) = (HashSet::new(), HashMap::new());
    for group in groups {
        let new = names.insert(&group.full_name);
        if !new {
            return Err(JarError::SameName(group.full_name.clone()));
        }
        let Some(id) = group.declared_id else { continue };
        if let Some(earlier) = ids.insert(id, &group.full_name) {
            let names = (earlier.clone(), group.full_name.clone());
            return Err(JarError::SameId { names, id: id as i32 });
        }
    }
    Ok(())
}

/// The class with this name; a dot may stand for the `$` between a class and a nested one.
fn find_class<'j>(machine: &mut Machine<'j>, class: &str) -> Result<Option<Rc<Class<'j>>>, Fault> {
    let mut name = class.replace('.', "/");
    loop {
        if let Some(found) = machine.class(&name)? {
            return Ok(Some(found));
        }
        let Some(last) = name.rfind('/') else { return Ok(None) };
        name.replace_range(last..=last, "$");
    }
}

fn enum_groups(
    machine: &mut Machine<'_>,
    file: &Class<'_>,
    class: &str,
) -> Result<Vec<Group>, JarError> {
    let fault = |fault| JarError::Fault { what: class.to_owned(), fault };
    let descriptor = format!("()[L{};", file.name());
    let values = machine.call_static(file.name(), "values", &descriptor).map_err(fault)?;
    let values = values.map(Value::object).transpose().map_err(fault)?;
    let values = values.map(|values| machine.elements(values).map(<[Value]>::to_vec));
    let values = values.transpose().map_err(fault)?;
    let values = values.ok_or_else(|| JarError::NoGroups(class.to_owned()))?;
    if values.len() > MAX_GROUPS {
        return Err(JarError::TooMany(class.to_owned()));
    }
    let mut groups = Vec::new();
    for (at, value) in values.into_iter().enumerate() {
        let constant = value.object().map_err(fault)?;
        let what = format!("{class}, constant {at}");
        let name = Getters { machine, object: constant, group: &what }.text("name")?;
        groups.push(group(machine, constant, class, &name, &name)?);
    }
    Ok(groups)
}

/// Groups that are objects of a class: calls write the field's name; the runtime, which sees
/// objects only, knows them by their own class and `name()`.
fn field_groups(
    machine: &mut Machine<'_>,
    file: &Class<'_>,
    class: &str,
) -> Result<Vec<Group>, JarError> {
    let fault = |what: &str, fault| JarError::Fault { what: what.to_owned(), fault };
    let statics = machine.statics(file.name()).map_err(|it| fault(class, it))?;
    let (mut groups, mut unknown) = (Vec::new(), None);
    for field in statics {
        let what = format!("{class}.{}", field.name);
        if let Err(it) = machine.require(field.value) {
            unknown.get_or_insert_with(|| fault(&what, it));
        }
        let Value::Ref(object) = field.value else { continue };
        let Some(own) = machine.class_of(object).cloned() else { continue };
        let is_group =
            field.is_final && is_group(machine, object).map_err(|it| fault(&what, it))?;
        if !is_group {
            continue;
        }
        if groups.len() >= MAX_GROUPS {
            return Err(JarError::TooMany(class.to_owned()));
        }
        let own_name = machine.canonical_name(&own).map_err(|it| fault(&what, it))?;
        let own_name = own_name.unwrap_or_else(|| own.name().replace('/', "."));
        let name = name_of(machine, object, &what)?;
        groups.push(group(machine, object, &own_name, field.name.as_ref(), &name)?);
    }
    if groups.is_empty() {
        return Err(unknown.unwrap_or_else(|| JarError::NoGroups(class.to_owned())));
    }
    Ok(groups)
}

/// Returns whether an object has the methods of a group.
fn is_group(machine: &mut Machine<'_>, object: Ref) -> Result<bool, Fault> {
    Ok(machine.has_method(object, "isEnabled", "()Z")?
        && machine.has_method(object, "getTag", STRING)?
        && (machine.has_method(object, TEXT_METHODS[0], "()Z")?
            || machine.has_method(object, TEXT_METHODS[1], "()Z")?))
}

const STRING: &str = "()Ljava/lang/String;";
/// AOSP's interface has the first, ours the second.
const TEXT_METHODS: [&str; 2] = ["isLogToLogcat", "isLogToText"];

fn name_of(machine: &mut Machine<'_>, object: Ref, what: &str) -> Result<String, JarError> {
    let mut getters = Getters { machine, object, group: what };
    let method = if getters.has("name", STRING)? { "name" } else { "getName" };
    getters.text(method)
}

/// The group that `object` is: `name` as calls write it, `own_name` as it calls itself.
fn group(
    machine: &mut Machine<'_>,
    object: Ref,
    class: &str,
    name: &str,
    own_name: &str,
) -> Result<Group, JarError> {
    let what = format!("{class}.{own_name}");
    let mut getters = Getters { machine, object, group: &what };
    let enabled = getters.flag("isEnabled")?;
    let method =
        if getters.has(TEXT_METHODS[0], "()Z")? { TEXT_METHODS[0] } else { TEXT_METHODS[1] };
    let log_to_text = getters.flag(method)?;
    let tag = getters.text("getTag")?;
    let group = Group::new(class, own_name, enabled, log_to_text, tag).written(name);
    if !getters.has("getId", "()I")? {
        return Ok(group);
    }
    let id = getters.value("getId", "()I")?.int();
    let id = id.map_err(|fault| JarError::Fault { what: format!("{what}.getId()"), fault })?;
    Ok(group.with_declared_id(id))
}

/// Asks an object that is to be a group.
struct Getters<'m, 'j> {
    machine: &'m mut Machine<'j>,
    object: Ref,
    /// The group's name in errors.
    group: &'m str,
}

impl Getters<'_, '_> {
    fn has(&mut self, method: &str, descriptor: &str) -> Result<bool, JarError> {
        let found = self.machine.has_method(self.object, method, descriptor);
        found.map_err(|fault| JarError::Fault { what: self.group.to_owned(), fault })
    }

    fn value(&mut self, method: &'static str, descriptor: &str) -> Result<Value, JarError> {
        if !self.has(method, descriptor)? {
            return Err(JarError::NotAGroup { name: self.group.to_owned(), method });
        }
        let result = self.machine.call_method(self.object, method, descriptor, &[]);
        Ok(result.map_err(|fault| self.fault(method, fault))?.unwrap_or(Value::Null))
    }

    fn flag(&mut self, method: &'static str) -> Result<bool, JarError> {
        let value = self.value(method, "()Z")?;
        Ok(value.int().map_err(|fault| self.fault(method, fault))? != 0)
    }

    fn text(&mut self, method: &'static str) -> Result<String, JarError> {
        let value = self.value(method, STRING)?.reference();
        let no_text = |null| JarError::NoText { what: format!("{}.{method}()", self.group), null };
        let string = value.map_err(|fault| self.fault(method, fault))?;
        let string = string.ok_or_else(|| no_text(true))?;
        let text = self.machine.text(string).map_err(|fault| self.fault(method, fault))?;
        if text.len() > MAX_TEXT {
            return Err(no_text(false));
        }
        Ok(String::from_utf16_lossy(&text))
    }

    fn fault(&self, method: &str, fault: Fault) -> JarError {
        JarError::Fault { what: format!("{}.{method}()", self.group), fault }
    }
}

/// The class files of a jar, read when they are asked for.
struct Jar<'a> {
    archive: RefCell<ZipArchive<Cursor<&'a [u8]>>>,
    /// The content of each entry that was read; a cell is filled once, so that borrowed bytes stay.
    entries: Vec<OnceCell<Vec<u8>>>,
    left: Cell<u64>,
}

impl<'a> Jar<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, JarError> {
        let archive = ZipArchive::new(Cursor::new(bytes));
        let archive = archive.map_err(|_| JarError::NotAJar(not_a_zip(bytes)))?;
        let entries = (0..archive.len()).map(|_| OnceCell::new()).collect();
        Ok(Self { archive: RefCell::new(archive), entries, left: Cell::new(MAX_CLASSES) })
    }

    fn has(&self, entry: &str) -> bool {
        self.archive.borrow().index_for_name(entry).is_some()
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, String> {
        let mut archive = self.archive.borrow_mut();
        let entry = archive.by_index(index).map_err(|error| unreadable(&error).to_owned())?;
        let limit = MAX_CLASS.min(self.left.get());
        let mut bytes = Vec::new();
        let mut entry = entry.take(limit + 1);
        entry.read_to_end(&mut bytes).map_err(|_| DAMAGED.to_owned())?;
        let length = bytes.len() as u64;
        if length > limit {
            return Err("more than 2 MB in one class file, or 16 MB in all".to_owned());
        }
        self.left.set(self.left.get() - length);
        Ok(bytes)
    }
}

/// The reason why bytes are no zip archive.
fn not_a_zip(bytes: &[u8]) -> &'static str {
    match bytes {
        [] => "the file is empty",
        [b'P', b'K', ..] => "its list of entries is damaged or cut off",
        _ => "it does not begin as a zip archive does",
    }
}

const DAMAGED: &str = "its bytes are damaged";

/// Why an entry can't be read.
fn unreadable(error: &ZipError) -> &'static str {
    match error {
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            "it is encrypted, or compressed by a method that jars do not have"
        }
        ZipError::InvalidPassword => "it is encrypted",
        _ => DAMAGED,
    }
}

impl ClassSource for Jar<'_> {
    fn class(&self, name: &str) -> Result<Option<&[u8]>, String> {
        let path = format!("{name}.class");
        let Some(index) = self.archive.borrow().index_for_name(&path) else { return Ok(None) };
        let Some(cell) = self.entries.get(index) else { return Ok(None) };
        if cell.get().is_none() {
            let bytes = self.read(index);
            let bytes =
                bytes.map_err(|error| format!("can't read `{path}` in the jar: {error}"))?;
            return Ok(Some(cell.get_or_init(|| bytes)));
        }
        Ok(cell.get().map(Vec::as_slice))
    }
}

impl JarError {
    /// Returns whether the jar, or a class file in it, is nothing that can be decoded; other errors
    /// are about its contents.
    pub fn is_undecodable(&self) -> bool {
        match self {
            Self::NotAJar(_) => true,
            Self::Fault { fault, .. } => matches!(fault.kind(), FaultKind::Malformed(_)),
            _ => false,
        }
    }

    /// The advice; begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotAJar(_) => "pass a jar of class files",
            Self::NoClass { dex: true, .. } => {
                "pass the jar of class files that the compiler made, not the one for the device"
            }
            Self::NoClass { .. } | Self::NoCanonicalName(_) => {
                "check `--loggroups-class` against the jar's content"
            }
            Self::Fault { fault, .. } => fault_help(fault.kind()),
            Self::NotAGroup { .. } => {
                "give groups `isEnabled()`, `isLogToLogcat()` or `isLogToText()`, and `getTag()`"
            }
            Self::NoGroups(_) => {
                "name an enum of groups, or a class with groups in static final fields"
            }
            Self::NoText { .. } => "return a short text",
            Self::TooMany(_) => "declare fewer groups",
            Self::SameId { .. } => "return another id for each group",
            Self::SameName(_) | Self::Clash(_) => "rename one of the two groups",
        }
    }
}

/// The advice for a class that can't be evaluated.
fn fault_help(kind: &FaultKind) -> &'static str {
    match kind {
        FaultKind::Thrown { .. } => {
            "remove the code that throws, since exceptions can't be caught here, or pass the class's source with `--loggroups-source`"
        }
        FaultKind::Limit(_) => {
            "remove loops and large tables from the static initialisers that groups use"
        }
        FaultKind::Malformed(_) => "compile the jar again",
        _ => {
            "make the groups' flags and tags constants, add the missing class to the jar, or pass the class's source with `--loggroups-source`"
        }
    }
}

impl fmt::Display for JarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAJar(error) => write!(f, "not a jar: {error}"),
            Self::NoClass { class, .. } => write!(f, "no class `{class}` in the jar"),
            Self::NoCanonicalName(class) => {
                write!(f, "`{class}` is a local class, whose groups no call can name")
            }
            Self::Fault { what, fault } => write!(f, "can't evaluate `{what}`: {fault}"),
            Self::NotAGroup { name, method } => {
                write!(f, "`{name}` is no group: it has no `{method}()`")
            }
            Self::NoGroups(class) => write!(f, "no groups in `{class}`"),
            Self::TooMany(class) => write!(f, "more than {MAX_GROUPS} groups in `{class}`"),
            Self::NoText { what, null: true } => write!(f, "`{what}` returns null"),
            Self::NoText { what, null: false } => {
                write!(f, "`{what}` returns more than {MAX_TEXT} characters")
            }
            Self::SameName(name) => write!(f, "two groups call themselves `{name}`"),
            Self::SameId { names: (first, second), id } => {
                write!(f, "`{first}` and `{second}` have the same id `{id}`")
            }
            Self::Clash(GroupClash { names: (first, second), id, .. }) => {
                write!(f, "`{first}` and `{second}` have the same id `{id}`")
            }
        }
    }
}

impl std::error::Error for JarError {}
