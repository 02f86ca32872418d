//! Arrays.

use crate::MAX_HEAP;
use crate::descriptor::class_of;
use crate::fault::Fault;
use crate::heap::Object;
use crate::machine::Machine;
use crate::op::{Element, Op};
use crate::value::{Ref, Value};
use std::mem::size_of;

impl Machine<'_> {
    pub(super) fn array(&mut self, op: &Op) -> Result<(), Fault> {
        match op {
            Op::ArrayLoad(element) => self.array_load(*element),
            Op::ArrayStore(element) => self.array_store(*element),
            Op::ArrayLength => {
                let array = self.frame()?.pop()?.object()?;
                let (_, values) = self.array_mut(array)?;
                let length = values.len() as i32;
                self.frame()?.push(Value::Int(length))
            }
            Op::NewArray(element) => {
                let length = self.frame()?.pop()?.int()?;
                let array = self.new_array(&descriptor_of_array(element), &[length])?;
                self.frame()?.push(Value::Ref(array))
            }
            Op::NewMultiArray(descriptor, sizes) => {
                let sizes = self.frame()?.pop_many(usize::from(*sizes))?;
                let sizes: Vec<i32> =
                    sizes.into_iter().map(Value::int).collect::<Result<_, _>>()?;
                let array = self.new_array(descriptor, &sizes)?;
                self.frame()?.push(Value::Ref(array))
            }
            _ => Err(Fault::malformed("no array instruction")),
        }
    }

    fn array_load(&mut self, element: Element) -> Result<(), Fault> {
        let frame = self.frame()?;
        let (index, array) = (frame.pop()?.int()?, frame.pop()?.object()?);
        let (kind, values) = self.array_mut(array)?;
        check_element(element, kind)?;
        let value = *at(values, index)?;
        self.frame()?.push(value)
    }

    fn array_store(&mut self, element: Element) -> Result<(), Fault> {
        let frame = self.frame()?;
        let (value, index, array) = (frame.pop()?, frame.pop()?.int()?, frame.pop()?.object()?);
        let (kind, _) = self.array_mut(array)?;
        check_element(element, kind)?;
        let value = value.fit(kind)?;
        let to = class_of(kind).to_owned();
        if let Value::Ref(object) = value {
            let from = self.object_class_name(object);
            if self.is_kind_of(&from, &to)? == Some(false) {
                return Err(Fault::thrown("java.lang.ArrayStoreException", from.replace('/', ".")));
            }
        }
        let (_, values) = self.array_mut(array)?;
        *at(values, index)? = value;
        Ok(())
    }

    /// A new array with this descriptor; as many of its dimensions as there are sizes are filled
    /// with arrays.
    fn new_array(&mut self, descriptor: &str, sizes: &[i32]) -> Result<Ref, Fault> {
        let (Some(element), Some((size, inner))) =
            (descriptor.strip_prefix('['), sizes.split_first())
        else {
            return Err(Fault::malformed("an array without that many dimensions"));
        };
        let size = usize::try_from(*size)
            .map_err(|_| Fault::thrown("java.lang.NegativeArraySizeException", size.to_string()))?;
        if size > MAX_HEAP / size_of::<Value>() {
            return Err(Fault::limit("more than 32 MB of objects"));
        }
        self.spend(size / 16)?;
        let mut values = vec![Value::default_of(element); size];
        if !inner.is_empty() {
            for value in &mut values {
                *value = Value::Ref(self.new_array(element, inner)?);
            }
        }
        self.heap.array(element, values)
    }

    /// An array's element type and its elements.
    fn array_mut(&mut self, array: Ref) -> Result<(&str, &mut Vec<Value>), Fault> {
        match self.heap.get_mut(array) {
            Object::Array { element, values } => Ok((element, values)),
            _ => Err(Fault::malformed("an object that is no array")),
        }
    }
}

/// The descriptor of an array of elements with this one.
fn descriptor_of_array(element: &str) -> String {
    format!("[{element}")
}

fn check_element(element: Element, descriptor: &str) -> Result<(), Fault> {
    if element.is(descriptor) {
        return Ok(());
    }
    Err(Fault::malformed(format!("an array of `{descriptor}`")))
}

fn at(values: &mut [Value], index: i32) -> Result<&mut Value, Fault> {
    let length = values.len();
    usize::try_from(index).ok().and_then(|index| values.get_mut(index)).ok_or_else(|| {
        let message = format!("Index {index} out of bounds for length {length}");
        Fault::thrown("java.lang.ArrayIndexOutOfBoundsException", message)
    })
}
