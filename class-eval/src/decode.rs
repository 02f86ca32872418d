//! From noak's instructions to [`Op`]s: a method's code as the evaluator runs it.

use crate::class::{Class, malformed};
use crate::descriptor::descriptor_of;
use crate::fault::Fault;
use crate::op::{
    Arithmetic, CallSite, Code, Compare, Condition, Dispatch, Element, Op, Relation, Shuffle,
    Switch, Target,
};
use crate::pool::{Constant, Member};
use crate::value::{Kind, Value};
use noak::reader::AttributeContent;
use noak::reader::attributes::{ArrayType, Code as RawCode, RawInstruction as Raw};
use std::rc::Rc;

/// By the class file format.
const MAX_CODE: usize = 65535;

impl Class<'_> {
    /// The code of the method at `index`, decoded once; `None` if it is abstract or native.
    pub(crate) fn code(&self, index: usize) -> Result<Option<Rc<Code>>, Fault> {
        let method = &self.methods[index];
        if let Some(code) = method.code.get() {
            return Ok(Some(Rc::clone(code)));
        }
        let Some(AttributeContent::Code(code)) =
            self.attribute(method.table.attributes(), b"Code")?
        else {
            return Ok(None);
        };
        let code = Rc::new(decode(self, &code)?);
        Ok(Some(Rc::clone(method.code.get_or_init(|| code))))
    }
}

/// Decodes the code of a method of `class`.
fn decode<'j>(class: &Class<'j>, raw: &RawCode<'j>) -> Result<Code, Fault> {
    let mut instructions = Vec::new();
    let mut offsets = Vec::new();
    for instruction in raw.raw_instructions() {
        let (at, instruction) = instruction.map_err(malformed)?;
        if at.as_u32() as usize >= MAX_CODE {
            return Err(Fault::malformed("a method of more than 65535 bytes"));
        }
        offsets.push(at.as_u32());
        instructions.push(instruction);
    }
    let mut ops = Vec::with_capacity(instructions.len());
    for (instruction, at) in instructions.iter().zip(&offsets) {
        let decoder = Decoder { class, offsets: &offsets, at: *at };
        ops.push(decoder.op(instruction)?);
    }
    let lines = lines(class, raw, &offsets)?;
    let (max_stack, max_locals) = (usize::from(raw.max_stack()), usize::from(raw.max_locals()));
    Ok(Code { max_stack, max_locals, ops, lines })
}

/// The line of each instruction, from the entries (offset, line) of the `LineNumberTable`.
fn lines<'j>(class: &Class<'j>, raw: &RawCode<'j>, offsets: &[u32]) -> Result<Vec<u16>, Fault> {
    let Some(table) = class.raw_attribute(raw.attributes(), b"LineNumberTable")? else {
        return Ok(vec![0; offsets.len()]);
    };
    let entries = table.content().get(2..).unwrap_or_default().chunks_exact(4);
    let mut entries: Vec<(u32, u16)> = entries
        .map(|entry| {
            let number = |high: u8, low: u8| u16::from_be_bytes([high, low]);
            (u32::from(number(entry[0], entry[1])), number(entry[2], entry[3]))
        })
        .collect();
    entries.sort_by_key(|entry| entry.0);
    let line = |offset: &u32| {
        let after = entries.partition_point(|entry| entry.0 <= *offset);
        after.checked_sub(1).map_or(0, |last| entries[last].1)
    };
    Ok(offsets.iter().map(line).collect())
}

struct Decoder<'a, 'j> {
    class: &'a Class<'j>,
    offsets: &'a [u32],
    at: u32,
}

impl<'j> Decoder<'_, 'j> {
    fn op(&self, raw: &Raw<'j>) -> Result<Op, Fault> {
        let simple = constant(raw)
            .or_else(|| local(raw))
            .or_else(|| array(raw))
            .or_else(|| shuffle(raw))
            .or_else(|| arithmetic(raw))
            .or_else(|| conversion(raw))
            .or_else(|| other(raw));
        if let Some(op) = simple {
            return Ok(op);
        }
        if let Some(op) = self.branch(raw)? {
            return Ok(op);
        }
        self.linked(raw)
    }

    fn branch(&self, raw: &Raw<'j>) -> Result<Option<Op>, Fault> {
        use Condition::{Ints, Null, References, Zero};
        use Relation::{Eq, Ge, Gt, Le, Lt, Ne};
        let (condition, offset) = match raw {
            Raw::Goto { offset } => return Ok(Some(Op::Goto(self.target((*offset).into())?))),
            Raw::GotoW { offset } => return Ok(Some(Op::Goto(self.target(*offset)?))),
            Raw::TableSwitch(_) | Raw::LookupSwitch(_) => return self.switch(raw).map(Some),
            Raw::IfEq { offset } => (Zero(Eq), offset),
            Raw::IfNe { offset } => (Zero(Ne), offset),
            Raw::IfLt { offset } => (Zero(Lt), offset),
            Raw::IfGe { offset } => (Zero(Ge), offset),
            Raw::IfGt { offset } => (Zero(Gt), offset),
            Raw::IfLe { offset } => (Zero(Le), offset),
            Raw::IfICmpEq { offset } => (Ints(Eq), offset),
            Raw::IfICmpNe { offset } => (Ints(Ne), offset),
            Raw::IfICmpLt { offset } => (Ints(Lt), offset),
            Raw::IfICmpGe { offset } => (Ints(Ge), offset),
            Raw::IfICmpGt { offset } => (Ints(Gt), offset),
            Raw::IfICmpLe { offset } => (Ints(Le), offset),
            Raw::IfACmpEq { offset } => (References(true), offset),
            Raw::IfACmpNe { offset } => (References(false), offset),
            Raw::IfNull { offset } => (Null(true), offset),
            Raw::IfNonNull { offset } => (Null(false), offset),
            _ => return Ok(None),
        };
        Ok(Some(Op::If(condition, self.target((*offset).into())?)))
    }

    fn switch(&self, raw: &Raw<'j>) -> Result<Op, Fault> {
        let (name, pairs, default): (_, Vec<(i32, i32)>, _) = match raw {
            Raw::TableSwitch(table) => {
                if table.high() == i32::MAX {
                    // noak counts one beyond the last key.
                    return Ok(Op::Unsupported("tableswitch up to 2147483647"));
                }
                let pairs = table.pairs().map(|pair| (pair.key(), pair.offset())).collect();
                ("tableswitch", pairs, table.default_offset())
            }
            Raw::LookupSwitch(lookup) => {
                let mut pairs: Vec<_> =
                    lookup.pairs().map(|pair| (pair.key(), pair.offset())).collect();
                pairs.sort_by_key(|pair| pair.0);
                ("lookupswitch", pairs, lookup.default_offset())
            }
            _ => return Err(Fault::malformed("no switch")),
        };
        let pairs = pairs
            .into_iter()
            .map(|(key, offset)| Ok((key, self.target(offset)?)))
            .collect::<Result<_, Fault>>()?;
        Ok(Op::Switch(Rc::new(Switch { name, pairs, default: self.target(default)? })))
    }

    /// The index of the instruction at `offset` bytes from this one.
    fn target(&self, offset: i32) -> Result<usize, Fault> {
        u32::try_from(i64::from(self.at) + i64::from(offset))
            .ok()
            .and_then(|target| self.offsets.binary_search(&target).ok())
            .ok_or_else(|| Fault::malformed("a jump to where no instruction begins"))
    }

    /// Instructions that name something of the constant pool.
    fn linked(&self, raw: &Raw<'j>) -> Result<Op, Fault> {
        let class = self.class;
        let method = |dispatch, member: Result<Member, Fault>| {
            let member = member?;
            if member.signature.is_none() {
                return Err(Fault::malformed("a call of a field"));
            }
            Ok(Op::Invoke(dispatch, Rc::new(member)))
        };
        let field = |op: fn(bool, Rc<Member>) -> Op, fixed, index| {
            let member = class.member(index)?;
            if member.signature.is_some() {
                return Err(Fault::malformed("a method used as a field"));
            }
            Ok(op(fixed, Rc::new(member)))
        };
        match raw {
            Raw::LdC { index } | Raw::LdCW { index } | Raw::LdC2W { index } => {
                Ok(match class.constant(*index)? {
                    Some(Constant::Number(value)) => Op::Push(value),
                    Some(Constant::String(text)) => Op::PushString(text),
                    Some(Constant::Class(name)) => Op::PushClass(name),
                    None => Op::Unsupported("ldc of a constant that code computes"),
                })
            }
            Raw::GetStatic { index } => field(Op::Get, true, *index),
            Raw::GetField { index } => field(Op::Get, false, *index),
            Raw::PutStatic { index } => field(Op::Put, true, *index),
            Raw::PutField { index } => field(Op::Put, false, *index),
            Raw::InvokeStatic { index } => method(Dispatch::Static, class.member(*index)),
            Raw::InvokeSpecial { index } => method(Dispatch::Special, class.member(*index)),
            Raw::InvokeVirtual { index } => method(Dispatch::Virtual, class.member(*index)),
            Raw::InvokeInterface { index, .. } => method(Dispatch::Interface, class.member(*index)),
            Raw::InvokeDynamic { index } => {
                let site = class.invoke_dynamic(*index)?;
                let bootstrap = class.bootstrap(site.bootstrap_method_attr)?;
                let member = class.named(Rc::clone(&bootstrap.class), site.name_and_type)?;
                if member.signature.is_none() {
                    return Err(Fault::malformed("a call site without a method's type"));
                }
                Ok(Op::InvokeDynamic(Rc::new(CallSite { member, bootstrap })))
            }
            Raw::New { index } => Ok(Op::New(class.class_name(*index)?)),
            Raw::ANewArray { index } => {
                let element = class.class_name(*index)?;
                Ok(Op::NewArray(descriptor_of(&element).into()))
            }
            Raw::MultiANewArray { index, dimensions } => {
                Ok(Op::NewMultiArray(class.class_name(*index)?, *dimensions))
            }
            Raw::CheckCast { index } => Ok(Op::CheckCast(class.class_name(*index)?)),
            Raw::InstanceOf { index } => Ok(Op::InstanceOf(class.class_name(*index)?)),
            _ => Err(Fault::malformed("an unknown instruction")),
        }
    }
}

fn constant(raw: &Raw<'_>) -> Option<Op> {
    Some(Op::Push(match raw {
        Raw::AConstNull => Value::Null,
        Raw::IConstM1 => Value::Int(-1),
        Raw::IConst0 => Value::Int(0),
        Raw::IConst1 => Value::Int(1),
        Raw::IConst2 => Value::Int(2),
        Raw::IConst3 => Value::Int(3),
        Raw::IConst4 => Value::Int(4),
        Raw::IConst5 => Value::Int(5),
        Raw::BIPush { value } => Value::Int((*value).into()),
        Raw::SIPush { value } => Value::Int((*value).into()),
        Raw::LConst0 => Value::Long(0),
        Raw::LConst1 => Value::Long(1),
        Raw::FConst0 => Value::Float(0.0),
        Raw::FConst1 => Value::Float(1.0),
        Raw::FConst2 => Value::Float(2.0),
        Raw::DConst0 => Value::Double(0.0),
        Raw::DConst1 => Value::Double(1.0),
        _ => return None,
    }))
}

#[rustfmt::skip] // one line per kind
fn local(raw: &Raw<'_>) -> Option<Op> {
    use Kind::{Double, Float, Int, Long, Reference};
    let load = |kind, index: u16| Some(Op::Load(kind, index));
    let store = |kind, index: u16| Some(Op::Store(kind, index));
    match *raw {
        Raw::ILoad { index } => load(Int, index.into()), Raw::ILoadW { index } => load(Int, index),
        Raw::LLoad { index } => load(Long, index.into()), Raw::LLoadW { index } => load(Long, index),
        Raw::FLoad { index } => load(Float, index.into()), Raw::FLoadW { index } => load(Float, index),
        Raw::DLoad { index } => load(Double, index.into()), Raw::DLoadW { index } => load(Double, index),
        Raw::ALoad { index } => load(Reference, index.into()), Raw::ALoadW { index } => load(Reference, index),
        Raw::ILoad0 => load(Int, 0), Raw::ILoad1 => load(Int, 1),
        Raw::ILoad2 => load(Int, 2), Raw::ILoad3 => load(Int, 3),
        Raw::LLoad0 => load(Long, 0), Raw::LLoad1 => load(Long, 1),
        Raw::LLoad2 => load(Long, 2), Raw::LLoad3 => load(Long, 3),
        Raw::FLoad0 => load(Float, 0), Raw::FLoad1 => load(Float, 1),
        Raw::FLoad2 => load(Float, 2), Raw::FLoad3 => load(Float, 3),
        Raw::DLoad0 => load(Double, 0), Raw::DLoad1 => load(Double, 1),
        Raw::DLoad2 => load(Double, 2), Raw::DLoad3 => load(Double, 3),
        Raw::ALoad0 => load(Reference, 0), Raw::ALoad1 => load(Reference, 1),
        Raw::ALoad2 => load(Reference, 2), Raw::ALoad3 => load(Reference, 3),
        Raw::IStore { index } => store(Int, index.into()), Raw::IStoreW { index } => store(Int, index),
        Raw::LStore { index } => store(Long, index.into()), Raw::LStoreW { index } => store(Long, index),
        Raw::FStore { index } => store(Float, index.into()), Raw::FStoreW { index } => store(Float, index),
        Raw::DStore { index } => store(Double, index.into()), Raw::DStoreW { index } => store(Double, index),
        Raw::AStore { index } => store(Reference, index.into()),
        Raw::AStoreW { index } => store(Reference, index),
        Raw::IStore0 => store(Int, 0), Raw::IStore1 => store(Int, 1),
        Raw::IStore2 => store(Int, 2), Raw::IStore3 => store(Int, 3),
        Raw::LStore0 => store(Long, 0), Raw::LStore1 => store(Long, 1),
        Raw::LStore2 => store(Long, 2), Raw::LStore3 => store(Long, 3),
        Raw::FStore0 => store(Float, 0), Raw::FStore1 => store(Float, 1),
        Raw::FStore2 => store(Float, 2), Raw::FStore3 => store(Float, 3),
        Raw::DStore0 => store(Double, 0), Raw::DStore1 => store(Double, 1),
        Raw::DStore2 => store(Double, 2), Raw::DStore3 => store(Double, 3),
        Raw::AStore0 => store(Reference, 0), Raw::AStore1 => store(Reference, 1),
        Raw::AStore2 => store(Reference, 2), Raw::AStore3 => store(Reference, 3),
        Raw::IInc { index, value } => Some(Op::Increment(index.into(), value.into())),
        Raw::IIncW { index, value } => Some(Op::Increment(index, value)),
        _ => None,
    }
}

fn array(raw: &Raw<'_>) -> Option<Op> {
    use Element::{Byte, Char, Double, Float, Int, Long, Reference, Short};
    Some(match raw {
        Raw::AALoad => Op::ArrayLoad(Reference),
        Raw::BALoad => Op::ArrayLoad(Byte),
        Raw::CALoad => Op::ArrayLoad(Char),
        Raw::DALoad => Op::ArrayLoad(Double),
        Raw::FALoad => Op::ArrayLoad(Float),
        Raw::IALoad => Op::ArrayLoad(Int),
        Raw::LALoad => Op::ArrayLoad(Long),
        Raw::SALoad => Op::ArrayLoad(Short),
        Raw::AAStore => Op::ArrayStore(Reference),
        Raw::BAStore => Op::ArrayStore(Byte),
        Raw::CAStore => Op::ArrayStore(Char),
        Raw::DAStore => Op::ArrayStore(Double),
        Raw::FAStore => Op::ArrayStore(Float),
        Raw::IAStore => Op::ArrayStore(Int),
        Raw::LAStore => Op::ArrayStore(Long),
        Raw::SAStore => Op::ArrayStore(Short),
        Raw::ArrayLength => Op::ArrayLength,
        Raw::NewArray { atype } => {
            let element = match atype {
                ArrayType::Boolean => "Z",
                ArrayType::Char => "C",
                ArrayType::Float => "F",
                ArrayType::Double => "D",
                ArrayType::Byte => "B",
                ArrayType::Short => "S",
                ArrayType::Int => "I",
                ArrayType::Long => "J",
            };
            Op::NewArray(element.into())
        }
        _ => return None,
    })
}

fn shuffle(raw: &Raw<'_>) -> Option<Op> {
    Some(Op::Shuffle(match raw {
        Raw::Pop => Shuffle::Pop,
        Raw::Pop2 => Shuffle::Pop2,
        Raw::Dup => Shuffle::Dup,
        Raw::DupX1 => Shuffle::DupX1,
        Raw::DupX2 => Shuffle::DupX2,
        Raw::Dup2 => Shuffle::Dup2,
        Raw::Dup2X1 => Shuffle::Dup2X1,
        Raw::Dup2X2 => Shuffle::Dup2X2,
        Raw::Swap => Shuffle::Swap,
        _ => return None,
    }))
}

#[rustfmt::skip] // one line per operation
fn arithmetic(raw: &Raw<'_>) -> Option<Op> {
    use Arithmetic::{Add, And, Div, Mul, Or, Rem, ShiftLeft, ShiftRight, ShiftRightUnsigned, Sub, Xor};
    use Kind::{Double, Float, Int, Long};
    let (kind, operation) = match raw {
        Raw::IAdd => (Int, Add), Raw::LAdd => (Long, Add),
        Raw::FAdd => (Float, Add), Raw::DAdd => (Double, Add),
        Raw::ISub => (Int, Sub), Raw::LSub => (Long, Sub),
        Raw::FSub => (Float, Sub), Raw::DSub => (Double, Sub),
        Raw::IMul => (Int, Mul), Raw::LMul => (Long, Mul),
        Raw::FMul => (Float, Mul), Raw::DMul => (Double, Mul),
        Raw::IDiv => (Int, Div), Raw::LDiv => (Long, Div),
        Raw::FDiv => (Float, Div), Raw::DDiv => (Double, Div),
        Raw::IRem => (Int, Rem), Raw::LRem => (Long, Rem),
        Raw::FRem => (Float, Rem), Raw::DRem => (Double, Rem),
        Raw::IShL => (Int, ShiftLeft), Raw::LShL => (Long, ShiftLeft),
        Raw::IShR => (Int, ShiftRight), Raw::LShR => (Long, ShiftRight),
        Raw::IUShR => (Int, ShiftRightUnsigned), Raw::LUShR => (Long, ShiftRightUnsigned),
        Raw::IAnd => (Int, And), Raw::LAnd => (Long, And),
        Raw::IOr => (Int, Or), Raw::LOr => (Long, Or),
        Raw::IXor => (Int, Xor), Raw::LXor => (Long, Xor),
        Raw::INeg => return Some(Op::Negate(Int)), Raw::LNeg => return Some(Op::Negate(Long)),
        Raw::FNeg => return Some(Op::Negate(Float)), Raw::DNeg => return Some(Op::Negate(Double)),
        _ => return None,
    };
    Some(Op::Arithmetic(kind, operation))
}

fn conversion(raw: &Raw<'_>) -> Option<Op> {
    use Kind::{Double, Float, Int, Long};
    Some(match raw {
        Raw::I2L => Op::Convert(Int, Target::Long),
        Raw::I2F => Op::Convert(Int, Target::Float),
        Raw::I2D => Op::Convert(Int, Target::Double),
        Raw::I2B => Op::Convert(Int, Target::Byte),
        Raw::I2C => Op::Convert(Int, Target::Char),
        Raw::I2S => Op::Convert(Int, Target::Short),
        Raw::L2I => Op::Convert(Long, Target::Int),
        Raw::L2F => Op::Convert(Long, Target::Float),
        Raw::L2D => Op::Convert(Long, Target::Double),
        Raw::F2I => Op::Convert(Float, Target::Int),
        Raw::F2L => Op::Convert(Float, Target::Long),
        Raw::F2D => Op::Convert(Float, Target::Double),
        Raw::D2I => Op::Convert(Double, Target::Int),
        Raw::D2L => Op::Convert(Double, Target::Long),
        Raw::D2F => Op::Convert(Double, Target::Float),
        Raw::LCmp => Op::Compare(Compare::Long),
        Raw::FCmpL => Op::Compare(Compare::FloatLess),
        Raw::FCmpG => Op::Compare(Compare::FloatGreater),
        Raw::DCmpL => Op::Compare(Compare::DoubleLess),
        Raw::DCmpG => Op::Compare(Compare::DoubleGreater),
        _ => return None,
    })
}

fn other(raw: &Raw<'_>) -> Option<Op> {
    Some(match raw {
        Raw::Nop => Op::Nop,
        Raw::Return => Op::Return(None),
        Raw::IReturn => Op::Return(Some(Kind::Int)),
        Raw::LReturn => Op::Return(Some(Kind::Long)),
        Raw::FReturn => Op::Return(Some(Kind::Float)),
        Raw::DReturn => Op::Return(Some(Kind::Double)),
        Raw::AReturn => Op::Return(Some(Kind::Reference)),
        Raw::AThrow => Op::Throw,
        Raw::MonitorEnter => Op::Monitor("monitorenter"),
        Raw::MonitorExit => Op::Monitor("monitorexit"),
        Raw::JSr { .. } | Raw::JSrW { .. } => Op::Unsupported("jsr"),
        Raw::Ret { .. } | Raw::RetW { .. } => Op::Unsupported("ret"),
        _ => return None,
    })
}
