//! Fields, new objects, casts.

use crate::fault::{Cause, Fault};
use crate::heap::Object;
use crate::machine::{FieldAt, Machine};
use crate::op::Op;
use crate::platform;
use crate::pool::Member;
use crate::value::{Kind, Value};
use std::rc::Rc;

const OBJECT: &str = "Ljava/lang/Object;";

impl Machine<'_> {
    pub(super) fn member(&mut self, op: &Op) -> Result<(), Fault> {
        match op {
            Op::Get(true, member) => self.get_static(member),
            Op::Put(true, member) => {
                let at = self.linked_field(member)?;
                self.initialize(at.class)?;
                let value = self.frame()?.pop()?.fit(&member.descriptor)?;
                *self.static_field(at)? = value;
                Ok(())
            }
            Op::Get(false, member) => {
                let at = self.linked_field(member)?;
                let object = self.frame()?.pop()?.object()?;
                let value = *self.instance_field(object, at)?;
                self.frame()?.push(value)
            }
            Op::Put(false, member) => {
                let at = self.linked_field(member)?;
                let frame = self.frame()?;
                let (value, object) = (frame.pop()?, frame.pop()?.object()?);
                *self.instance_field(object, at)? = value.fit(&member.descriptor)?;
                Ok(())
            }
            Op::New(class) => self.new_object(class),
            Op::CheckCast(class) => self.check_cast(class),
            Op::InstanceOf(class) => self.instance_of(class),
            _ => Err(Fault::malformed("no instruction for members")),
        }
    }

    fn get_static(&mut self, member: &Member) -> Result<(), Fault> {
        let value = match platform::constant(&member.class, &member.name) {
            Some((name, object)) => Value::Ref(self.heap.token(name, object)?),
            None => match self.linked_field(member) {
                Ok(at) => {
                    self.initialize(at.class)?;
                    *self.static_field(at)?
                }
                Err(fault) if fault.cause() == Cause::Missing => {
                    self.unknown(fault, &member.descriptor)?
                }
                Err(fault) => return Err(fault),
            },
        };
        self.frame()?.push(value)
    }

    fn linked_field(&mut self, member: &Member) -> Result<FieldAt, Fault> {
        self.spend((member.name.len() + member.descriptor.len()) / 16)?;
        let Some(class) = self.load(&member.class)? else {
            return Err(outside(&member.class));
        };
        let found = self.find_field(class, &member.name, &member.descriptor)?;
        found.ok_or_else(|| {
            Fault::unsupported(format!(
                "`{}.{}` is not in the jar",
                member.class.replace('/', "."),
                member.name
            ))
        })
    }

    fn new_object(&mut self, class: &Rc<str>) -> Result<(), Fault> {
        let object = match self.load(class)? {
            Some(class) => {
                self.initialize(class)?;
                self.instance(class)?
            }
            None => match platform::unset(class) {
                Some(object) => self.heap.add(object)?,
                None => {
                    let unknown = self.unknown(outside(class), OBJECT)?;
                    return self.frame()?.push(unknown);
                }
            },
        };
        self.frame()?.push(Value::Ref(object))
    }

    /// A cast to a class that is not here is taken for right: javac and kotlinc put casts where
    /// generics were.
    fn check_cast(&mut self, class: &str) -> Result<(), Fault> {
        let value = self.frame()?.pop()?;
        if value.unknown_as(Kind::Reference).is_some() {
            return self.frame()?.push(value);
        }
        if let Some(object) = value.reference()? {
            let from = self.object_class_name(object);
            if self.is_kind_of(&from, class)? == Some(false) {
                let (from, to) = (from.replace('/', "."), class.replace('/', "."));
                let message = format!("class {from} cannot be cast to class {to}");
                return Err(Fault::thrown("java.lang.ClassCastException", message));
            }
        }
        self.frame()?.push(value)
    }

    fn instance_of(&mut self, class: &str) -> Result<(), Fault> {
        let value = self.frame()?.pop()?;
        if let Some(unknown) = value.unknown_as(Kind::Int) {
            return self.frame()?.push(unknown);
        }
        let answer = match value.reference()? {
            None => false,
            Some(object) => {
                let from = self.object_class_name(object);
                self.is_kind_of(&from, class)?.ok_or_else(|| outside(class))?
            }
        };
        self.frame()?.push(Value::from(answer))
    }
}

/// A class that neither the jar nor the platform as it is here has.
pub(super) fn outside(class: &str) -> Fault {
    let class = class.replace('/', ".");
    if class.starts_with("java.") || class.starts_with("kotlin.") {
        return Fault::missing(format!("`{class}` can't be evaluated"));
    }
    Fault::missing(format!("`{class}` is not in the jar"))
}

impl Machine<'_> {
    /// The object of a platform class that a constructor has to fill.
    pub(crate) fn fill(&mut self, object: Value, content: Object) -> Result<(), Fault> {
        *self.heap.get_mut(object.object()?) = content;
        Ok(())
    }
}
