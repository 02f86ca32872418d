//! One class file: the content of its tables, with names as text. A method's code is decoded when
//! the method is first called, since most methods of a class never are.
//!
//! The tables are read by noak, which is safe for any bytes, with three exceptions. These are kept
//! from it:
//!
//! - the table of line numbers, whose entries it takes for six bytes each
//! - a `tableswitch` up to the largest int
//! - descriptors, which it parses only where they are known to be right

use crate::MAX_NAME;
use crate::descriptor::{Signature, is_type};
use crate::fault::Fault;
use crate::op::Code;
use crate::pool::{Bootstrap, Constant, Member};
use crate::text::{self, Text};
use crate::value::Value;
use noak::AccessFlags;
use noak::error::DecodeError;
use noak::reader::attributes::BootstrapMethod;
use noak::reader::{self, AttributeContent, cpool};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// A class file that was parsed.
pub struct Class<'j> {
    file: reader::Class<'j>,
    names: RefCell<HashMap<u16, Rc<str>>>,
    texts: RefCell<HashMap<u16, Text>>,
    signatures: RefCell<HashMap<Rc<str>, Option<Rc<Signature>>>>,
    bootstrap_methods: OnceCell<Vec<BootstrapMethod<'j>>>,
    bootstraps: RefCell<HashMap<u16, Rc<Bootstrap>>>,
    /// The internal name, `com/foo/Bar$Baz`.
    pub(crate) name: Rc<str>,
    pub(crate) superclass: Option<Rc<str>>,
    pub(crate) interfaces: Vec<Rc<str>>,
    pub(crate) flags: AccessFlags,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: Vec<Method<'j>>,
    methods_by_name: HashMap<(Rc<str>, Rc<str>), usize>,
}

/// A field as its class declares it.
pub(crate) struct Field {
    pub(crate) flags: AccessFlags,
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
    /// The value that a static constant has before any code runs.
    pub(crate) constant: Option<Constant>,
}

/// A method as its class declares it.
pub(crate) struct Method<'j> {
    pub(crate) flags: AccessFlags,
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
    pub(crate) table: reader::Method<'j>,
    pub(crate) code: OnceCell<Rc<Code>>,
}

/// Where a class is declared that stands in another one.
pub(crate) struct Nesting {
    /// The class of which it is a member; `None` for a local or anonymous class.
    pub(crate) outer: Option<Rc<str>>,
    /// Its simple name; `None` for an anonymous class.
    pub(crate) name: Option<Rc<str>>,
}

/// By the class file format.
const MAX_BOOTSTRAP_ARGUMENTS: usize = 251;

impl<'j> Class<'j> {
    /// Reads the tables of a class file.
    pub(crate) fn parse(bytes: &'j [u8]) -> Result<Self, Fault> {
        let file = reader::Class::new(bytes).map_err(malformed)?;
        let mut class = Self {
            names: RefCell::default(),
            texts: RefCell::default(),
            signatures: RefCell::default(),
            bootstrap_methods: OnceCell::new(),
            bootstraps: RefCell::default(),
            name: "".into(),
            superclass: None,
            interfaces: Vec::new(),
            flags: file.access_flags(),
            fields: Vec::new(),
            methods: Vec::new(),
            methods_by_name: HashMap::new(),
            file,
        };
        class.name = class.class_name(class.file.this_class())?;
        class.superclass = class.file.super_class().map(|at| class.class_name(at)).transpose()?;
        for interface in class.file.interfaces() {
            let interface = class.class_name(interface.map_err(malformed)?)?;
            class.interfaces.push(interface);
        }
        for field in class.file.fields() {
            let field = class.field(&field.map_err(malformed)?)?;
            class.fields.push(field);
        }
        for (index, method) in class.file.methods().iter().enumerate() {
            let method = class.read_method(method.map_err(malformed)?)?;
            let key = (Rc::clone(&method.name), Rc::clone(&method.descriptor));
            class.methods.push(method);
            class.methods_by_name.entry(key).or_insert(index);
        }
        Ok(class)
    }

    /// The internal name, `com/foo/Bar$Baz`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True for enums.
    pub fn is_enum(&self) -> bool {
        self.is(AccessFlags::ENUM)
    }

    /// The position of a method that this class declares.
    pub(crate) fn method(&self, name: &Rc<str>, descriptor: &Rc<str>) -> Option<usize> {
        self.methods_by_name.get(&(Rc::clone(name), Rc::clone(descriptor))).copied()
    }

    pub(crate) fn is(&self, flags: AccessFlags) -> bool {
        self.flags.contains(flags)
    }

    /// Where the class is declared, if not on its own.
    pub(crate) fn nesting(&self) -> Result<Option<Nesting>, Fault> {
        let found = self.attribute(self.file.attributes(), b"InnerClasses")?;
        let Some(AttributeContent::InnerClasses(found)) = found else { return Ok(None) };
        for inner in found.classes() {
            let inner = inner.map_err(malformed)?;
            if self.class_name(inner.inner_class())? == self.name {
                let name = inner.inner_name().map(|at| self.utf8(at)).transpose()?;
                let outer = inner.outer_class().map(|at| self.class_name(at)).transpose()?;
                return Ok(Some(Nesting { outer, name }));
            }
        }
        Ok(None)
    }

    /// The bootstrap method at `index`.
    pub(crate) fn bootstrap(&self, index: u16) -> Result<Rc<Bootstrap>, Fault> {
        if let Some(known) = self.bootstraps.borrow().get(&index) {
            return Ok(Rc::clone(known));
        }
        let method = self.bootstrap_methods()?.get(usize::from(index));
        let method = method.ok_or_else(|| Fault::malformed("no such bootstrap method"))?;
        let handle = self.get(method.method_ref())?.reference;
        let member = self.member(handle)?;
        let mut arguments = Vec::new();
        for argument in method.arguments().iter().take(MAX_BOOTSTRAP_ARGUMENTS) {
            arguments.push(self.constant(argument.map_err(malformed)?)?);
        }
        let found = Rc::new(Bootstrap { class: member.class, name: member.name, arguments });
        self.bootstraps.borrow_mut().insert(index, Rc::clone(&found));
        Ok(found)
    }

    fn bootstrap_methods(&self) -> Result<&[BootstrapMethod<'j>], Fault> {
        if let Some(methods) = self.bootstrap_methods.get() {
            return Ok(methods);
        }
        let found = self.attribute(self.file.attributes(), b"BootstrapMethods")?;
        let Some(AttributeContent::BootstrapMethods(found)) = found else {
            return Err(Fault::malformed("no bootstrap methods"));
        };
        let methods = found.methods().iter().collect::<Result<Vec<_>, _>>().map_err(malformed)?;
        Ok(self.bootstrap_methods.get_or_init(|| methods))
    }

    /// The field or method at `index` of the constant pool.
    pub(crate) fn member<I>(&self, index: cpool::Index<I>) -> Result<Member, Fault> {
        let (class, name_and_type) = match self.item(index)? {
            cpool::Item::FieldRef(at) => (at.class, at.name_and_type),
            cpool::Item::MethodRef(at) => (at.class, at.name_and_type),
            cpool::Item::InterfaceMethodRef(at) => (at.class, at.name_and_type),
            _ => return Err(Fault::malformed("a constant that is no field or method")),
        };
        self.named(self.class_name(class)?, name_and_type)
    }

    /// A member of `class` with this name and type.
    pub(crate) fn named(
        &self,
        class: Rc<str>,
        name_and_type: cpool::Index<cpool::NameAndType<'j>>,
    ) -> Result<Member, Fault> {
        let at = self.get(name_and_type)?;
        let (name, descriptor) = (self.utf8(at.name)?, self.utf8(at.descriptor)?);
        let signature = descriptor.starts_with('(').then(|| self.signature(&descriptor));
        let signature = signature.transpose()?;
        if signature.is_none() && !is_type(&descriptor) {
            return Err(Fault::malformed(format!("a descriptor `{descriptor}`")));
        }
        Ok(Member { class, name, descriptor, signature })
    }

    /// The constant at `index` of the constant pool; `None` if it is a method handle or the like.
    pub(crate) fn constant<I>(&self, index: cpool::Index<I>) -> Result<Option<Constant>, Fault> {
        Ok(Some(match self.item(index)? {
            cpool::Item::Integer(number) => Constant::Number(Value::Int(number.value)),
            cpool::Item::Long(number) => Constant::Number(Value::Long(number.value)),
            cpool::Item::Float(number) => Constant::Number(Value::Float(number.value)),
            cpool::Item::Double(number) => Constant::Number(Value::Double(number.value)),
            cpool::Item::String(string) => Constant::String(self.text(string.string)?),
            cpool::Item::Class(class) => Constant::Class(self.utf8(class.name)?),
            _ => return Ok(None),
        }))
    }

    /// The call site at `index` of the constant pool.
    pub(crate) fn invoke_dynamic(
        &self,
        index: cpool::Index<cpool::InvokeDynamic<'j>>,
    ) -> Result<&cpool::InvokeDynamic<'j>, Fault> {
        self.get(index)
    }

    /// The name of the class at `index` of the constant pool.
    pub(crate) fn class_name(
        &self,
        index: cpool::Index<cpool::Class<'j>>,
    ) -> Result<Rc<str>, Fault> {
        self.utf8(self.get(index)?.name)
    }

    /// The content of the attribute with this name.
    pub(crate) fn attribute(
        &self,
        attributes: reader::DecodeMany<'j, reader::Attribute<'j>, u16>,
        name: &[u8],
    ) -> Result<Option<AttributeContent<'j>>, Fault> {
        Ok(match self.raw_attribute(attributes, name)? {
            Some(found) => Some(found.read_content(self.file.pool()).map_err(malformed)?),
            None => None,
        })
    }

    /// The attribute with this name.
    pub(crate) fn raw_attribute(
        &self,
        attributes: reader::DecodeMany<'j, reader::Attribute<'j>, u16>,
        name: &[u8],
    ) -> Result<Option<reader::Attribute<'j>>, Fault> {
        for attribute in attributes {
            let attribute = attribute.map_err(malformed)?;
            if self.get(attribute.name())?.content.as_bytes() == name {
                return Ok(Some(attribute));
            }
        }
        Ok(None)
    }

    fn field(&self, field: &reader::Field<'j>) -> Result<Field, Fault> {
        let descriptor = self.utf8(field.descriptor())?;
        if !is_type(&descriptor) {
            return Err(Fault::malformed(format!("a field's descriptor `{descriptor}`")));
        }
        let constant = match self.attribute(field.attributes(), b"ConstantValue")? {
            Some(AttributeContent::ConstantValue(at)) => self.constant(at.value())?,
            _ => None,
        };
        Ok(Field {
            flags: field.access_flags(),
            name: self.utf8(field.name())?,
            descriptor,
            constant,
        })
    }

    fn read_method(&self, table: reader::Method<'j>) -> Result<Method<'j>, Fault> {
        let (name, descriptor) = (self.utf8(table.name())?, self.utf8(table.descriptor())?);
        let flags = table.access_flags();
        Ok(Method { flags, name, descriptor, table, code: OnceCell::new() })
    }

    fn signature(&self, descriptor: &Rc<str>) -> Result<Rc<Signature>, Fault> {
        let mut signatures = self.signatures.borrow_mut();
        let parsed = signatures
            .entry(Rc::clone(descriptor))
            .or_insert_with(|| Signature::parse(descriptor).map(Rc::new));
        parsed
            .clone()
            .ok_or_else(|| Fault::malformed(format!("a method's descriptor `{descriptor}`")))
    }

    /// A name or descriptor, as text.
    fn utf8(&self, index: cpool::Index<cpool::Utf8<'j>>) -> Result<Rc<str>, Fault> {
        if let Some(name) = self.names.borrow().get(&index.as_u16()) {
            return Ok(Rc::clone(name));
        }
        let bytes = self.get(index)?.content.as_bytes();
        if bytes.len() > MAX_NAME {
            return Err(Fault::limit("a name of more than 4096 bytes"));
        }
        let name: Rc<str> = text::to_string(&text::from_modified_utf8(bytes)).into();
        self.names.borrow_mut().insert(index.as_u16(), Rc::clone(&name));
        Ok(name)
    }

    /// A string's content.
    fn text(&self, index: cpool::Index<cpool::Utf8<'j>>) -> Result<Text, Fault> {
        if let Some(text) = self.texts.borrow().get(&index.as_u16()) {
            return Ok(Rc::clone(text));
        }
        let bytes = self.get(index)?.content.as_bytes();
        let text = Text::from(text::from_modified_utf8(bytes));
        self.texts.borrow_mut().insert(index.as_u16(), Rc::clone(&text));
        Ok(text)
    }

    fn item<I>(&self, index: cpool::Index<I>) -> Result<&cpool::Item<'j>, Fault> {
        let index = cpool::Index::new(index.as_u16()).map_err(malformed)?;
        self.file.pool().get::<cpool::Item<'j>>(index).map_err(malformed)
    }

    fn get<I: cpool::TryFromItem<'j>>(&self, index: cpool::Index<I>) -> Result<&I, Fault> {
        self.file.pool().get(index).map_err(malformed)
    }
}

#[allow(clippy::needless_pass_by_value)] // what `map_err` takes
pub(crate) fn malformed(error: DecodeError) -> Fault {
    Fault::malformed(error.to_string())
}

impl fmt::Debug for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_testkit::{skip, tool};
    use std::fs::{File, canonicalize};
    use std::io::Read;
    use zip::ZipArchive;

    /// The class files of a module of the installed JDK.
    fn jdk_classes(module: &str) -> Option<Vec<(String, Vec<u8>)>> {
        let home = canonicalize(tool("javac")?).unwrap();
        let path = home.ancestors().nth(2).unwrap().join("jmods").join(module);
        let Ok(file) = File::open(&path) else {
            skip("class files of the JDK", "the JDK has no jmods");
            return None;
        };
        let mut archive = ZipArchive::new(file).unwrap();
        let mut classes = Vec::new();
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).unwrap();
            let name = entry.name().unwrap().into_owned();
            if name.strip_suffix(".class").is_some() {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).unwrap();
                classes.push((name, bytes));
            }
        }
        Some(classes)
    }

    /// Decodes everything that evaluation could ask for; returns the number of instructions.
    fn decode_all(bytes: &[u8]) -> Result<usize, Fault> {
        let class = Class::parse(bytes)?;
        class.nesting()?;
        let mut count = 0;
        for index in 0..class.methods.len() {
            count += class.code(index)?.map_or(0, |code| code.ops.len());
        }
        Ok(count)
    }

    #[test]
    fn every_class_file_of_the_jdk_is_decoded() {
        let Some(classes) = jdk_classes("java.base.jmod") else { return };
        assert!(classes.len() > 5000, "{}", classes.len());
        let mut instructions = 0;
        for (name, bytes) in &classes {
            instructions += decode_all(bytes).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        }
        assert!(instructions > 1_000_000, "{instructions}");
    }

    #[test]
    fn damaged_class_files_are_survived() {
        let Some(classes) = jdk_classes("java.logging.jmod") else { return };
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % end
        };
        let mut refused = 0;
        for _ in 0..5000 {
            let mut bytes = classes[random(classes.len())].1.clone();
            for _ in 0..=random(6) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            bytes.truncate(bytes.len() - random(8) / 7 * random(bytes.len()));
            refused += usize::from(decode_all(&bytes).is_err());
        }
        assert!((500..4500).contains(&refused), "{refused} of 5000 were refused");
    }
}
