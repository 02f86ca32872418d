//! A method that is under way: its local variables, its operands, its next instruction.

use crate::fault::Fault;
use crate::op::Code;
use crate::value::{Kind, Value};
use std::rc::Rc;

#[derive(Debug)]
pub(crate) struct Frame {
    /// The number of the method's class in the machine.
    pub(crate) class: usize,
    /// The method's position in its class.
    pub(crate) method: usize,
    pub(crate) code: Rc<Code>,
    /// The instruction that is next, and while one runs, that one.
    pub(crate) next: usize,
    locals: Vec<Option<Value>>,
    operands: Vec<Value>,
}

impl Frame {
    /// A call with these arguments. A wide argument takes two locals, the second of which holds
    /// nothing.
    pub(crate) fn new(
        class: usize,
        method: usize,
        code: Rc<Code>,
        arguments: &[Value],
    ) -> Result<Self, Fault> {
        let mut locals = Vec::with_capacity(code.max_locals);
        for argument in arguments {
            locals.push(Some(*argument));
            if argument.is_wide() {
                locals.push(None);
            }
        }
        if locals.len() > code.max_locals {
            return Err(Fault::malformed("more arguments than local variables"));
        }
        locals.resize(code.max_locals, None);
        Ok(Self { class, method, code, next: 0, locals, operands: Vec::new() })
    }

    pub(crate) fn push(&mut self, value: impl Into<Value>) -> Result<(), Fault> {
        if self.operands.len() >= self.code.max_stack {
            return Err(Fault::malformed("more operands than the method declares"));
        }
        self.operands.push(value.into());
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Result<Value, Fault> {
        self.operands.pop().ok_or_else(|| Fault::malformed("an operand is missing"))
    }

    /// The last `count` operands, in order.
    pub(crate) fn pop_many(&mut self, count: usize) -> Result<Vec<Value>, Fault> {
        let start = self.operands.len().checked_sub(count);
        let start = start.ok_or_else(|| Fault::malformed("an operand is missing"))?;
        Ok(self.operands.split_off(start))
    }

    pub(crate) fn load(&self, index: u16, kind: Kind) -> Result<Value, Fault> {
        let value = self.locals.get(usize::from(index)).copied().flatten();
        value
            .filter(|value| value.kind() == kind)
            .ok_or_else(|| Fault::malformed(format!("local variable {index} holds no {kind:?}")))
    }

    pub(crate) fn store(&mut self, index: u16, value: Value) -> Result<(), Fault> {
        let index = usize::from(index);
        let last = if value.is_wide() { index + 1 } else { index };
        if last >= self.locals.len() {
            return Err(Fault::malformed("a local variable beyond the last"));
        }
        self.locals[last] = None;
        self.locals[index] = Some(value);
        Ok(())
    }
}
