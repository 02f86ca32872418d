//! One instruction: its operands, its results, where it goes on. By
//! families: [`number`] arithmetic, conversions and comparisons; [`mod@array`]; [`member`] fields,
//! objects, casts; [`invoke`] calls; [`mod@concat`] the supported calls by `invokedynamic`.
//! Constants, local variables and branches are here.

mod array;
mod concat;
mod invoke;
mod member;
mod number;

use crate::fault::Fault;
use crate::frame::Frame;
use crate::heap::Object;
use crate::machine::{Flow, Machine};
use crate::op::{Condition, Op, Shuffle};
use crate::text;
use crate::value::{Kind, Value};

impl Machine<'_> {
    /// Runs one instruction of the method at the top.
    pub(super) fn step(&mut self, op: &Op) -> Result<Flow, Fault> {
        match op {
            Op::Nop => {}
            Op::Push(value) => self.frame()?.push(*value)?,
            Op::PushString(text) => {
                self.spend(text.len() / 16)?;
                let string = self.heap.interned(text)?;
                self.frame()?.push(Value::Ref(string))?;
            }
            Op::PushClass(name) => {
                let class = self.heap.class(name)?;
                self.frame()?.push(Value::Ref(class))?;
            }
            Op::Load(kind, index) => {
                let frame = self.frame()?;
                let value = frame.load(*index, *kind)?;
                frame.push(value)?;
            }
            Op::Store(kind, index) => {
                let frame = self.frame()?;
                let value = frame.pop()?;
                if value.kind() != *kind {
                    return Err(Fault::malformed(format!("an operand that is no {kind:?}")));
                }
                frame.store(*index, value)?;
            }
            Op::Increment(index, by) => {
                let frame = self.frame()?;
                let value = frame.load(*index, Kind::Int)?.int()?;
                frame.store(*index, Value::Int(value.wrapping_add((*by).into())))?;
            }
            Op::Shuffle(shuffle) => self.shuffle(*shuffle)?,
            Op::If(condition, target) => {
                return Ok(if self.holds(*condition)? { Flow::Jump(*target) } else { Flow::Next });
            }
            Op::Goto(target) => return Ok(Flow::Jump(*target)),
            Op::Switch(switch) => {
                let key = self.frame()?.pop()?.int()?;
                let found = switch.pairs.binary_search_by_key(&key, |pair| pair.0);
                return Ok(Flow::Jump(found.map_or(switch.default, |at| switch.pairs[at].1)));
            }
            Op::Return(kind) => return self.return_value(*kind),
            Op::Invoke(dispatch, member) => return self.invoke(*dispatch, member),
            Op::InvokeDynamic(site) => self.invoke_dynamic(site)?,
            Op::Throw => return Err(self.thrown()?),
            Op::Monitor(_) => {
                self.frame()?.pop()?.object()?;
            }
            Op::Unsupported(_) => {
                return Err(Fault::unsupported("an instruction that can't be evaluated"));
            }
            Op::Arithmetic(..) | Op::Negate(_) | Op::Convert(..) | Op::Compare(_) => {
                self.number(op)?;
            }
            Op::ArrayLoad(_)
            | Op::ArrayStore(_)
            | Op::ArrayLength
            | Op::NewArray(_)
            | Op::NewMultiArray(..) => self.array(op)?,
            Op::Get(..) | Op::Put(..) | Op::New(_) | Op::CheckCast(_) | Op::InstanceOf(_) => {
                self.member(op)?;
            }
        }
        Ok(Flow::Next)
    }

    fn return_value(&mut self, kind: Option<Kind>) -> Result<Flow, Fault> {
        let frame = self.frame()?;
        let value = kind.map(|_| frame.pop()).transpose()?;
        if value.map(Value::kind) != kind {
            return Err(Fault::malformed("a result of the wrong kind"));
        }
        let (class, method) = (frame.class, frame.method);
        let descriptor = &self.loaded[class].class.methods[method].descriptor;
        let (_, result) = descriptor.rsplit_once(')').unwrap_or_default();
        match value {
            None if result == "V" => Ok(Flow::Return(None)),
            Some(value) if result != "V" => Ok(Flow::Return(Some(value.fit(result)?))),
            _ => Err(Fault::malformed("a result of the wrong kind")),
        }
    }

    fn holds(&mut self, condition: Condition) -> Result<bool, Fault> {
        let frame = self.frame()?;
        let right = frame.pop()?;
        Ok(match condition {
            Condition::Zero(relation) => relation.holds(right.int()?, 0),
            Condition::Ints(relation) => relation.holds(frame.pop()?.int()?, right.int()?),
            Condition::References(same) => {
                (frame.pop()?.reference()? == right.reference()?) == same
            }
            Condition::Null(null) => right.reference()?.is_none() == null,
        })
    }

    /// The stack instructions, which count long and double twice.
    fn shuffle(&mut self, shuffle: Shuffle) -> Result<(), Fault> {
        use Shuffle::{Dup, Dup2, Dup2X1, Dup2X2, DupX1, DupX2, Pop, Pop2, Swap};
        let frame = self.frame()?;
        // One wide value or two others.
        let pair = |frame: &mut Frame| -> Result<Vec<Value>, Fault> {
            let top = frame.pop()?;
            if top.is_wide() { Ok(vec![top]) } else { Ok(vec![frame.pop()?, top]) }
        };
        let (copied, skipped) = match shuffle {
            Pop => return frame.pop().map(drop),
            Pop2 => return pair(frame).map(drop),
            Swap => {
                let (top, under) = (frame.pop()?, frame.pop()?);
                frame.push(top)?;
                return frame.push(under);
            }
            Dup => (vec![frame.pop()?], Vec::new()),
            DupX1 => (vec![frame.pop()?], vec![frame.pop()?]),
            DupX2 => (vec![frame.pop()?], pair(frame)?),
            Dup2 => (pair(frame)?, Vec::new()),
            Dup2X1 => (pair(frame)?, vec![frame.pop()?]),
            Dup2X2 => (pair(frame)?, pair(frame)?),
        };
        copied.iter().chain(&skipped).chain(&copied).try_for_each(|value| frame.push(*value))
    }

    /// The exception on the stack, as the fault that it ends in.
    fn thrown(&mut self) -> Result<Fault, Fault> {
        let exception = self.frame()?.pop()?.object()?;
        let class = self.object_class_name(exception).replace('/', ".");
        let message = match self.heap.get(exception) {
            Object::Throwable { message: Some(message), .. } => text::to_string(message),
            _ => String::new(),
        };
        Ok(Fault::thrown(class, message))
    }
}
