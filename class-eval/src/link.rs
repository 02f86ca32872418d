//! Finding classes, fields and methods; initialising classes; which class is a kind of which.

use crate::class::Class;
use crate::fault::Fault;
use crate::heap::Object;
use crate::machine::{Callee, FieldAt, Known, Loaded, Machine, StaticField};
use crate::platform;
use crate::pool::Constant;
use crate::value::{Ref, Value};
use crate::{MAX_CLASSES, MAX_SUPERCLASSES, descriptor};
use noak::AccessFlags;
use std::collections::HashSet;
use std::rc::Rc;

impl<'j> Machine<'j> {
    /// Loads the class with this internal name, and its superclasses. `None` if the source doesn't
    /// have it.
    pub(crate) fn load(&mut self, name: &Rc<str>) -> Result<Option<usize>, Fault> {
        match self.by_name.get(name) {
            Some(Known::At(class)) => return Ok(Some(*class)),
            Some(Known::Absent) => return Ok(None),
            Some(Known::Loading) => {
                return Err(Fault::malformed(format!("`{name}` is its own superclass")));
            }
            None => {}
        }
        // A jar can't replace classes of the platform, and `[…` is an array.
        let reserved = name.starts_with("java/") || name.starts_with('[');
        let bytes = if reserved { None } else { self.read(name)? };
        let Some(bytes) = bytes else {
            self.heap.charge(name.len())?;
            self.by_name.insert(Rc::clone(name), Known::Absent);
            return Ok(None);
        };
        if self.loaded.len() >= MAX_CLASSES {
            return Err(Fault::limit("more than 4096 classes"));
        }
        self.spend(bytes.len() / 64)?;
        let class = Class::parse(bytes).map_err(|fault| in_class(name, fault))?;
        if class.name != *name {
            return Err(Fault::malformed(format!("the file of `{name}` holds `{}`", class.name)));
        }
        self.by_name.insert(Rc::clone(name), Known::Loading);
        let loaded = self.prepare(class)?;
        self.loaded.push(loaded);
        let class = self.loaded.len() - 1;
        self.by_name.insert(Rc::clone(name), Known::At(class));
        Ok(Some(class))
    }

    fn read(&self, name: &str) -> Result<Option<&'j [u8]>, Fault> {
        let source = self.source;
        source.class(name).map_err(Fault::malformed)
    }

    /// Loads the superclass and lays out the fields.
    fn prepare(&mut self, class: Class<'j>) -> Result<Loaded<'j>, Fault> {
        if self.loading >= MAX_SUPERCLASSES {
            return Err(Fault::limit("a class with more than 32 superclasses"));
        }
        self.loading += 1;
        let superclass = class.superclass.clone().map(|name| self.load(&name)).transpose();
        self.loading -= 1;
        let superclass = superclass?.flatten();
        let inherited = superclass.map(|class| self.loaded[class].instance.clone());
        let mut instance = inherited.unwrap_or_default();
        let (mut slots, mut statics) = (Vec::new(), Vec::new());
        for field in &class.fields {
            let fixed = field.flags.contains(AccessFlags::STATIC);
            let values = if fixed { &mut statics } else { &mut instance };
            slots.push(values.len());
            let constant = field.constant.as_ref().filter(|_| fixed);
            values.push(match constant {
                Some(Constant::Number(value)) => value.fit(&field.descriptor)?,
                Some(Constant::String(text)) => Value::Ref(self.heap.interned(text)?),
                _ => Value::default_of(&field.descriptor),
            });
        }
        self.heap.charge((instance.len() + statics.len()) * size_of::<Value>())?;
        let class = Rc::new(class);
        Ok(Loaded { class, superclass, slots, statics, instance, initialized: false })
    }

    /// Runs the initialisers of the class and its superclasses, if that has not begun yet.
    pub(crate) fn initialize(&mut self, class: usize) -> Result<(), Fault> {
        if self.loaded[class].initialized {
            return Ok(());
        }
        // Set before: code that is run from the initialiser sees the class as it is so far, as in
        // Java.
        self.loaded[class].initialized = true;
        if let Some(superclass) = self.loaded[class].superclass {
            self.initialize(superclass)?;
        }
        let initializer = self.loaded[class].class.method(&"<clinit>".into(), &"()V".into());
        if let Some(method) = initializer {
            self.call(class, method, &[])?;
        }
        Ok(())
    }

    /// A field, searched as Java does: in the class, its interfaces, its superclass.
    pub(crate) fn find_field(
        &mut self,
        class: usize,
        name: &str,
        descriptor: &str,
    ) -> Result<Option<FieldAt>, Fault> {
        for class in self.family(class)? {
            let fields = &self.loaded[class].class.fields;
            let looked_at = fields.len() / 16;
            let found = fields
                .iter()
                .position(|field| *field.name == *name && *field.descriptor == *descriptor);
            self.spend(looked_at)?;
            if let Some(field) = found {
                return Ok(Some(FieldAt { class, field }));
            }
        }
        Ok(None)
    }

    /// A static field's variable.
    pub(crate) fn static_field(&mut self, at: FieldAt) -> Result<&mut Value, Fault> {
        let loaded = &mut self.loaded[at.class];
        if !loaded.class.fields[at.field].flags.contains(AccessFlags::STATIC) {
            return Err(Fault::malformed("a static access to a field that is not"));
        }
        Ok(&mut loaded.statics[loaded.slots[at.field]])
    }

    /// The variable of a field in an instance.
    pub(crate) fn instance_field(&mut self, object: Ref, at: FieldAt) -> Result<&mut Value, Fault> {
        let declared = &self.loaded[at.class];
        let slot = declared.slots[at.field];
        let fixed = declared.class.fields[at.field].flags.contains(AccessFlags::STATIC);
        let class = self.instance_class(object);
        let inherits = class.is_some_and(|class| self.superclasses(class).any(|it| it == at.class));
        match self.heap.get_mut(object) {
            Object::Instance { fields, .. } if inherits && !fixed => Ok(&mut fields[slot]),
            _ => Err(Fault::malformed("an object without that field")),
        }
    }

    /// The values of the static fields of `class`, with the position of each.
    pub(crate) fn static_values(&self, class: usize) -> Vec<StaticField> {
        let loaded = &self.loaded[class];
        let fields = loaded.class.fields.iter().zip(&loaded.slots);
        fields
            .filter(|(field, _)| field.flags.contains(AccessFlags::STATIC))
            .map(|(field, slot)| StaticField {
                name: Rc::clone(&field.name),
                is_final: field.flags.contains(AccessFlags::FINAL),
                value: loaded.statics[*slot],
            })
            .collect()
    }

    /// A new instance of a class, fields unset.
    pub(crate) fn instance(&mut self, class: usize) -> Result<Ref, Fault> {
        let fields = self.loaded[class].instance.clone();
        self.heap.add(Object::Instance { class, fields })
    }

    /// A method of the source, searched in the class and its superclasses, then in all their
    /// interfaces, where one with code is preferred.
    pub(crate) fn find_method(
        &mut self,
        class: usize,
        name: &Rc<str>,
        descriptor: &Rc<str>,
    ) -> Result<Option<(usize, usize)>, Fault> {
        if let Some(found) = self.find_class_method(class, name, descriptor)? {
            return Ok(Some(found));
        }
        self.find_interface_method(class, name, descriptor)
    }

    fn find_class_method(
        &mut self,
        class: usize,
        name: &Rc<str>,
        descriptor: &Rc<str>,
    ) -> Result<Option<(usize, usize)>, Fault> {
        self.spend((name.len() + descriptor.len()) / 16)?;
        let declared =
            |class: usize| Some((class, self.loaded[class].class.method(name, descriptor)?));
        Ok(self.superclasses(class).find_map(declared))
    }

    fn find_interface_method(
        &mut self,
        class: usize,
        name: &Rc<str>,
        descriptor: &Rc<str>,
    ) -> Result<Option<(usize, usize)>, Fault> {
        let mut inherited = None;
        for class in self.family(class)? {
            self.spend((name.len() + descriptor.len()) / 16)?;
            let file = &self.loaded[class].class;
            let Some(method) = file.method(name, descriptor) else { continue };
            let flags = file.methods[method].flags;
            if !flags.contains(AccessFlags::ABSTRACT) {
                return Ok(Some((class, method)));
            }
            inherited.get_or_insert((class, method));
        }
        Ok(inherited)
    }

    /// The method that a call on `object` runs: its own class's method, the platform's, an
    /// interface's default.
    pub(crate) fn select(
        &mut self,
        object: Ref,
        name: &Rc<str>,
        descriptor: &Rc<str>,
    ) -> Result<Option<Callee>, Fault> {
        let Some(class) = self.instance_class(object) else {
            let class = self.object_class_name(object);
            return Ok(platform::method(&class, name, descriptor).map(Callee::Platform));
        };
        if let Some((class, method)) = self.find_class_method(class, name, descriptor)? {
            return Ok(Some(Callee::Code(class, method)));
        }
        let outside = self.platform_superclass(class);
        if let Some(native) = platform::method(&outside, name, descriptor) {
            return Ok(Some(Callee::Platform(native)));
        }
        let default = self.find_interface_method(class, name, descriptor)?;
        Ok(default.map(|(class, method)| Callee::Code(class, method)))
    }

    /// The superclass that is not of the source: where the chain of superclasses leaves it.
    pub(crate) fn platform_superclass(&self, class: usize) -> Rc<str> {
        let last = self.superclasses(class).last().unwrap_or(class);
        self.loaded[last].class.superclass.clone().unwrap_or_else(|| "java/lang/Object".into())
    }

    /// The class and those of its superclasses that the source has.
    pub(crate) fn superclasses(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(class), |class| self.loaded[*class].superclass)
    }

    /// The class with everything that it inherits from and that the source has: each class before
    /// its interfaces, those before its superclass.
    fn family(&mut self, class: usize) -> Result<Vec<usize>, Fault> {
        let mut family = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            if !seen.insert(class) {
                continue;
            }
            family.push(class);
            let file = Rc::clone(&self.loaded[class].class);
            self.spend(1 + file.interfaces.len() / 16)?;
            open.extend(self.loaded[class].superclass);
            for interface in file.interfaces.iter().rev() {
                open.extend(self.load(interface)?);
            }
        }
        Ok(family)
    }

    /// The number of the class of which `object` is an instance, if that is a class of the source.
    pub(crate) fn instance_class(&self, object: Ref) -> Option<usize> {
        match self.heap.get(object) {
            Object::Instance { class, .. } => Some(*class),
            _ => None,
        }
    }

    /// The name of an object's class, an array's descriptor.
    pub(crate) fn object_class_name(&self, object: Ref) -> Rc<str> {
        match self.heap.get(object) {
            Object::Instance { class, .. } => Rc::clone(&self.loaded[*class].class.name),
            Object::Array { element, .. } => format!("[{element}").into(),
            object => platform::class_of(object).into(),
        }
    }

    /// Returns whether an object of class `from` is also one of `to`; `None` if that depends on a
    /// class that is not here.
    pub(crate) fn is_kind_of(&mut self, from: &str, to: &str) -> Result<Option<bool>, Fault> {
        if let (Some(from), Some(to)) = (descriptor::element(from), descriptor::element(to)) {
            let primitive = |element: &str| !element.starts_with(['L', '[']);
            if primitive(from) || primitive(to) {
                return Ok(Some(from == to));
            }
            return self.is_kind_of(descriptor::class_of(from), descriptor::class_of(to));
        }
        if from == to || to == "java/lang/Object" {
            return Ok(Some(true));
        }
        let Some(class) = self.load(&from.into())? else {
            return Ok(platform::is_kind_of(from, to));
        };
        let mut unknown = false;
        for class in self.family(class)? {
            let file = Rc::clone(&self.loaded[class].class);
            for parent in file.interfaces.iter().chain(&file.superclass) {
                if **parent == *to {
                    return Ok(Some(true));
                }
                if self.load(parent)?.is_none() {
                    match platform::is_kind_of(parent, to) {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => unknown = true,
                    }
                }
            }
        }
        Ok((!unknown).then_some(false))
    }
}

fn in_class(name: &str, fault: Fault) -> Fault {
    match fault.kind() {
        crate::FaultKind::Malformed(what) => {
            Fault::malformed(format!("`{}`: {what}", name.replace('/', ".")))
        }
        _ => fault,
    }
}
