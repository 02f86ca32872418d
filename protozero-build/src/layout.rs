//! The place of each type in the modules of the generated code.
//!
//! A package is a path of modules. A message has a module of its name for what is declared in it.
//! So a package and a message may share a module, as `a.b` and the message `B` of `a` do.
//!
//! Invariant: paths are relative, so that the code may be included anywhere.

use crate::Error;
use crate::names::{self, Names};
use crate::schema::{Enum, Field, File, Kind, Message};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A module, with the types in it.
#[derive(Debug, Default)]
pub(crate) struct Module<'a> {
    pub(crate) modules: BTreeMap<String, Module<'a>>,
    pub(crate) messages: Vec<(&'a Message, String)>,
    pub(crate) enums: Vec<(&'a Enum, String)>,
    names: Names,
}

impl Module<'_> {
    /// Without types. The names of type parameters are taken.
    fn new() -> Self {
        Self { names: Names::with(&["M", "D"]), ..Self::default() }
    }
}

/// All types that code is generated for.
#[derive(Debug, Default)]
pub(crate) struct Layout<'a> {
    pub(crate) root: Module<'a>,
    /// By full name in the schema: the path of modules, and the name of the type in the last of
    /// them.
    places: HashMap<&'a str, (Vec<String>, String)>,
    /// By full name of the message.
    extensions: HashMap<&'a str, Vec<&'a Field>>,
    maps: HashSet<&'a str>,
}

impl<'a> Layout<'a> {
    /// Places the types of the files that `is_asked` names, or `only` some messages, and those of
    /// others that they need.
    pub(crate) fn of(
        files: &'a [File],
        is_asked: impl Fn(&str) -> bool,
        only: &'a [String],
    ) -> Result<Self, Error> {
        let mut layout = Self { root: Module::new(), ..Self::default() };
        for extension in files.iter().flat_map(|file| &file.extensions) {
            layout.extensions.entry(&extension.of).or_default().push(&extension.field);
        }
        let needed = Needed::of(files, is_asked, only, &layout.extensions);
        for file in files {
            let path: Vec<_> = file
                .package
                .split('.')
                .filter(|part| !part.is_empty())
                .map(names::module)
                .collect();
            layout.place(&path, &file.messages, &file.enums, &needed.names);
        }
        match needed.unknown {
            Some(name) => Err(Error::UnknownType { name }),
            None => Ok(layout),
        }
    }

    /// The path of a type from the module `from`; its name may get a suffix.
    pub(crate) fn path_from(&self, from: &[String], full_name: &str, suffix: &str) -> String {
        let Some((modules, name)) = self.places.get(full_name) else { return String::new() };
        let common = from.iter().zip(modules).take_while(|(one, other)| one == other).count();
        let mut path = "super::".repeat(from.len() - common);
        if path.is_empty() {
            path.push_str("self::");
        }
        for module in modules.iter().skip(common) {
            path.push_str(&names::escaped(module));
            path.push_str("::");
        }
        path + &names::escaped(&names::with_suffix(name, suffix))
    }

    /// The fields of a message and its extensions, by number.
    pub(crate) fn fields(&self, message: &'a Message) -> Vec<&'a Field> {
        let extensions = self.extensions.get(&*message.full_name).into_iter().flatten().copied();
        let mut fields: Vec<_> = message.fields.iter().chain(extensions).collect();
        fields.sort_by_key(|field| field.number);
        fields
    }

    /// True if a message has the entries of a map, which no edition delimits like groups.
    pub(crate) fn is_map(&self, full_name: &str) -> bool {
        self.maps.contains(full_name)
    }

    fn place(
        &mut self,
        path: &[String],
        messages: &'a [Message],
        enums: &'a [Enum],
        needed: &HashSet<&str>,
    ) {
        for message in messages {
            if message.is_map_entry {
                self.maps.insert(&message.full_name);
            }
            if needed.contains(&*message.full_name) {
                let module = self.module(path);
                let name = module.names.take_all(&names::camel(&message.name), &SUFFIXES);
                module.messages.push((message, name.clone()));
                self.places.insert(&message.full_name, (path.to_vec(), name));
            }
            let inner = [path, &[names::module(&message.name)]].concat();
            self.place(&inner, &message.messages, &message.enums, needed);
        }
        for one in enums.iter().filter(|one| needed.contains(&*one.full_name)) {
            let module = self.module(path);
            let name = module.names.take(&names::camel(&one.name));
            module.enums.push((one, name.clone()));
            self.places.insert(&one.full_name, (path.to_vec(), name));
        }
    }

    fn module(&mut self, path: &[String]) -> &mut Module<'a> {
        path.iter().fold(&mut self.root, |module, name| {
            module.modules.entry(name.clone()).or_insert_with(Module::new)
        })
    }
}

/// The suffixes of the types of a message: its writer, its reader, and a field that is read.
const SUFFIXES: [&str; 3] = ["", "Reader", "Field"];

/// The types that are needed.
struct Needed<'a> {
    names: HashSet<&'a str>,
    /// A type that no file declares.
    unknown: Option<String>,
}

impl<'a> Needed<'a> {
    fn of(
        files: &'a [File],
        is_asked: impl Fn(&str) -> bool,
        only: &'a [String],
        extensions: &HashMap<&'a str, Vec<&'a Field>>,
    ) -> Self {
        let (mut messages, mut enums) = (HashMap::new(), HashSet::new());
        let mut wanted: Vec<&str> = Vec::new();
        for file in files {
            let mut own = Vec::new();
            declare(&file.messages, &file.enums, &mut messages, &mut enums, &mut own);
            if is_asked(&file.name) {
                wanted.append(&mut own);
                wanted.extend(file.extensions.iter().map(|extension| &*extension.of));
            }
        }
        if !only.is_empty() {
            wanted = only.iter().map(String::as_str).collect();
        }
        let mut needed = Self { names: HashSet::new(), unknown: None };
        while let Some(name) = wanted.pop() {
            let message = messages.get(name);
            if message.is_none() && !enums.contains(name) {
                needed.unknown = Some(name.to_owned());
            } else if needed.names.insert(name) {
                let own = message.into_iter().flat_map(|message| &message.fields);
                let added = extensions.get(name).into_iter().flatten().copied();
                wanted.extend(own.chain(added).filter_map(|field| type_of(field)));
            }
        }
        needed
    }
}

/// The type that a field has to have declared.
fn type_of(field: &Field) -> Option<&str> {
    match &field.kind {
        Kind::Enum(name) | Kind::Message(name) | Kind::Group(name) => Some(name),
        Kind::Scalar(_) | Kind::String | Kind::Bytes => None,
    }
}

/// Adds what is declared, also within messages.
fn declare<'a>(
    messages: &'a [Message],
    enums: &'a [Enum],
    all: &mut HashMap<&'a str, &'a Message>,
    all_enums: &mut HashSet<&'a str>,
    names: &mut Vec<&'a str>,
) {
    for message in messages {
        all.insert(&message.full_name, message);
        names.push(&message.full_name);
        declare(&message.messages, &message.enums, all, all_enums, names);
    }
    for one in enums {
        all_enums.insert(&one.full_name);
        names.push(&one.full_name);
    }
}
