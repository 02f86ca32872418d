//! Instructions as the evaluator runs them: about two hundred opcodes in some thirty operations,
//! constants looked up, branch targets as indexes of instructions. `Display` gives the form that
//! `javap` prints.

use crate::pool::{Bootstrap, Member};
use crate::text::Text;
use crate::value::{Kind, Value};
use std::fmt;
use std::rc::Rc;

/// A method's code.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) max_stack: usize,
    pub(crate) max_locals: usize,
    pub(crate) ops: Vec<Op>,
    /// Line of each instruction, 0 where unknown.
    pub(crate) lines: Vec<u16>,
}

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Nop,
    /// A number or null.
    Push(Value),
    PushString(Text),
    /// A class literal.
    PushClass(Rc<str>),
    Load(Kind, u16),
    Store(Kind, u16),
    /// `iinc`.
    Increment(u16, i16),
    ArrayLoad(Element),
    ArrayStore(Element),
    Shuffle(Shuffle),
    Arithmetic(Kind, Arithmetic),
    Negate(Kind),
    Convert(Kind, Target),
    Compare(Compare),
    If(Condition, usize),
    Goto(usize),
    Switch(Rc<Switch>),
    Return(Option<Kind>),
    /// Reads a field: static or not.
    Get(bool, Rc<Member>),
    /// Writes a field: static or not.
    Put(bool, Rc<Member>),
    Invoke(Dispatch, Rc<Member>),
    InvokeDynamic(Rc<CallSite>),
    New(Rc<str>),
    /// An array of elements with this descriptor.
    NewArray(Rc<str>),
    /// An array of arrays: its descriptor, how many of its dimensions have a size.
    NewMultiArray(Rc<str>, u8),
    ArrayLength,
    CheckCast(Rc<str>),
    InstanceOf(Rc<str>),
    Throw,
    /// `monitorenter` and `monitorexit`; one thread needs no locks.
    Monitor(&'static str),
    /// An instruction that no compiler has made since 2006, or a constant of a kind that the
    /// evaluator lacks.
    Unsupported(&'static str),
}

/// The element types that array instructions tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Booleans too.
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    Reference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    And,
    Or,
    Xor,
}

/// The type that a number is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Int,
    Long,
    Float,
    Double,
    Byte,
    Char,
    Short,
}

/// Comparisons that push -1, 0 or 1; where a NaN is involved `Less` gives -1 and `Greater` 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Long,
    FloatLess,
    FloatGreater,
    DoubleLess,
    DoubleGreater,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// An int against zero.
    Zero(Relation),
    /// Two ints.
    Ints(Relation),
    /// Two references: the same or not.
    References(bool),
    /// A reference: null or not.
    Null(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

/// `tableswitch` and `lookupswitch`.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    pub(crate) name: &'static str,
    /// Key and target, sorted by key.
    pub(crate) pairs: Vec<(i32, usize)>,
    pub(crate) default: usize,
}

/// The rule that chooses a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dispatch {
    Static,
    Special,
    Virtual,
    Interface,
}

/// An `invokedynamic`.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    /// Name, descriptor and parameters of the called method; its class is the one of the bootstrap
    /// method.
    pub(crate) member: Member,
    pub(crate) bootstrap: Rc<Bootstrap>,
}

impl Element {
    /// Returns whether an array of elements with this descriptor holds such elements.
    pub(crate) fn is(self, descriptor: &str) -> bool {
        match descriptor.as_bytes().first() {
            Some(b'Z' | b'B') => self == Self::Byte,
            Some(b'C') => self == Self::Char,
            Some(b'S') => self == Self::Short,
            Some(b'I') => self == Self::Int,
            Some(b'J') => self == Self::Long,
            Some(b'F') => self == Self::Float,
            Some(b'D') => self == Self::Double,
            _ => self == Self::Reference,
        }
    }

    const fn letter(self) -> char {
        match self {
            Self::Byte => 'b',
            Self::Char => 'c',
            Self::Short => 's',
            Self::Int => 'i',
            Self::Long => 'l',
            Self::Float => 'f',
            Self::Double => 'd',
            Self::Reference => 'a',
        }
    }
}

const fn letter(kind: Kind) -> char {
    match kind {
        Kind::Int => 'i',
        Kind::Long => 'l',
        Kind::Float => 'f',
        Kind::Double => 'd',
        Kind::Reference => 'a',
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nop => f.write_str("nop"),
            Self::Push(value) => write!(f, "push {value:?}"),
            Self::PushString(_) => f.write_str("ldc String"),
            Self::PushClass(name) => write!(f, "ldc {name}.class"),
            Self::Load(kind, index) => write!(f, "{}load {index}", letter(*kind)),
            Self::Store(kind, index) => write!(f, "{}store {index}", letter(*kind)),
            Self::Increment(index, by) => write!(f, "iinc {index} {by}"),
            Self::ArrayLoad(element) => write!(f, "{}aload", element.letter()),
            Self::ArrayStore(element) => write!(f, "{}astore", element.letter()),
            Self::Shuffle(shuffle) => f.write_str(shuffle.name()),
            Self::Arithmetic(kind, operation) => {
                write!(f, "{}{}", letter(*kind), operation.name())
            }
            Self::Negate(kind) => write!(f, "{}neg", letter(*kind)),
            Self::Convert(from, to) => write!(f, "{}2{}", letter(*from), to.letter()),
            Self::Compare(compare) => f.write_str(compare.name()),
            Self::If(condition, _) => condition.fmt(f),
            Self::Goto(_) => f.write_str("goto"),
            Self::Switch(switch) => f.write_str(switch.name),
            Self::Return(None) => f.write_str("return"),
            Self::Return(Some(kind)) => write!(f, "{}return", letter(*kind)),
            Self::Get(true, member) => write!(f, "getstatic {member}"),
            Self::Get(false, member) => write!(f, "getfield {member}"),
            Self::Put(true, member) => write!(f, "putstatic {member}"),
            Self::Put(false, member) => write!(f, "putfield {member}"),
            Self::Invoke(dispatch, member) => write!(f, "{} {member}", dispatch.name()),
            Self::InvokeDynamic(site) => {
                write!(f, "invokedynamic {}{}", site.member.name, site.member.descriptor)
            }
            Self::New(class) => write!(f, "new {class}"),
            Self::NewArray(element) => write!(f, "newarray {element}"),
            Self::NewMultiArray(descriptor, sizes) => {
                write!(f, "multianewarray {descriptor} {sizes}")
            }
            Self::ArrayLength => f.write_str("arraylength"),
            Self::CheckCast(class) => write!(f, "checkcast {class}"),
            Self::InstanceOf(class) => write!(f, "instanceof {class}"),
            Self::Throw => f.write_str("athrow"),
            Self::Monitor(name) | Self::Unsupported(name) => f.write_str(name),
        }
    }
}

impl Shuffle {
    const fn name(self) -> &'static str {
        match self {
            Self::Pop => "pop",
            Self::Pop2 => "pop2",
            Self::Dup => "dup",
            Self::DupX1 => "dup_x1",
            Self::DupX2 => "dup_x2",
            Self::Dup2 => "dup2",
            Self::Dup2X1 => "dup2_x1",
            Self::Dup2X2 => "dup2_x2",
            Self::Swap => "swap",
        }
    }
}

impl Arithmetic {
    const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Rem => "rem",
            Self::ShiftLeft => "shl",
            Self::ShiftRight => "shr",
            Self::ShiftRightUnsigned => "ushr",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }
}

impl Target {
    const fn letter(self) -> char {
        match self {
            Self::Int => 'i',
            Self::Long => 'l',
            Self::Float => 'f',
            Self::Double => 'd',
            Self::Byte => 'b',
            Self::Char => 'c',
            Self::Short => 's',
        }
    }
}

impl Compare {
    const fn name(self) -> &'static str {
        match self {
            Self::Long => "lcmp",
            Self::FloatLess => "fcmpl",
            Self::FloatGreater => "fcmpg",
            Self::DoubleLess => "dcmpl",
            Self::DoubleGreater => "dcmpg",
        }
    }
}

impl Dispatch {
    const fn name(self) -> &'static str {
        match self {
            Self::Static => "invokestatic",
            Self::Special => "invokespecial",
            Self::Virtual => "invokevirtual",
            Self::Interface => "invokeinterface",
        }
    }
}

impl Relation {
    pub(crate) fn holds(self, left: i32, right: i32) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Ge => left >= right,
            Self::Gt => left > right,
            Self::Le => left <= right,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Ge => "ge",
            Self::Gt => "gt",
            Self::Le => "le",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(relation) => write!(f, "if{}", relation.name()),
            Self::Ints(relation) => write!(f, "if_icmp{}", relation.name()),
            Self::References(same) => f.write_str(if *same { "if_acmpeq" } else { "if_acmpne" }),
            Self::Null(null) => f.write_str(if *null { "ifnull" } else { "ifnonnull" }),
        }
    }
}
