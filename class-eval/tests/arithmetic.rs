//! Arithmetic as the JVM does it: random expressions over all numeric types, compiled, evaluated,
//! and run.

use class_eval::{ClassSource, Machine, Value};
use protolog_testkit::{assert_eq_text, run, run_java, temp_dir, tool};
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::process::Command;

/// Expressions per class: as many as fit a static initialiser.
const EXPRESSIONS: usize = 250;

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Int,
    Long,
    Float,
    Double,
}

use Type::{Double, Float, Int, Long};

const TYPES: [Type; 4] = [Int, Long, Float, Double];

/// Class files in memory, by internal name.
struct InMemory(HashMap<&'static str, Vec<u8>>);

impl ClassSource for InMemory {
    fn class(&self, name: &str) -> Result<Option<&[u8]>, String> {
        Ok(self.0.get(name).map(Vec::as_slice))
    }
}

#[test]
fn random_expressions_give_what_a_jvm_computes() {
    let Some(javac) = tool("javac") else { return };
    let dir = temp_dir();
    let file = dir.path().join("Expressions.java");
    fs::write(&file, source(&mut Random(0x9e37_79b9_7f4a_7c15))).unwrap();
    let classes = dir.path().join("classes");
    run(Command::new(javac).args(["-nowarn", "-d"]).arg(&classes).arg(&file));
    let read = |name: &str| fs::read(classes.join(format!("{name}.class"))).unwrap();
    let files = InMemory(["Expressions", "Expressions$Of"].map(|name| (name, read(name))).into());
    let fields = Machine::new(&files).statics("Expressions");
    let fields = fields.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(fields.len(), EXPRESSIONS);
    let mut found = String::new();
    for field in fields {
        assert!(field.is_final, "{}", field.name);
        match field.value {
            Value::Int(value) => writeln!(found, "{} {value}", field.name).unwrap(),
            Value::Long(value) => writeln!(found, "{} {value}", field.name).unwrap(),
            other => panic!("{} is {other:?}", field.name),
        }
    }
    let Some(jvm) = run_java(&[classes], "Expressions", &[]) else { return };
    assert_eq!(jvm.code, Some(0), "{}", jvm.stderr);
    assert_eq_text(&jvm.stdout, &found);
}

/// A class with an expression's bits in each field, which it prints. `Of` keeps javac from folding.
fn source(random: &mut Random) -> String {
    let mut out = "public class Expressions {\n".to_owned();
    let mut main = String::new();
    for index in 0..EXPRESSIONS {
        let kind = random.pick(&TYPES);
        let expression = expression(random, kind, 4);
        let (bits, expression) = match kind {
            Int => ("int", expression),
            Long => ("long", expression),
            Float => ("int", format!("Float.floatToIntBits({expression})")),
            Double => ("long", format!("Double.doubleToLongBits({expression})")),
        };
        writeln!(out, "    static final {bits} E{index} = {expression};").unwrap();
        writeln!(main, "        System.out.println(\"E{index} \" + E{index});").unwrap();
    }
    write!(
        out,
        "    public static void main(String[] arguments) {{
{main}    }}
    static class Of {{
        static int i(int value) {{ return value; }}
        static long l(long value) {{ return value; }}
        static float f(float value) {{ return value; }}
        static double d(double value) {{ return value; }}
    }}
}}
"
    )
    .unwrap();
    out
}

fn expression(random: &mut Random, kind: Type, depth: usize) -> String {
    if depth == 0 {
        return leaf(random, kind);
    }
    let mut inner = |kind| expression(random, kind, depth - 1);
    let (left, right) = (inner(kind), inner(kind));
    let floating = kind == Float || kind == Double;
    match random.below(if floating { 8 } else { 14 }) {
        0 => format!("({left} + {right})"),
        1 => format!("({left} - {right})"),
        2 => format!("({left} * {right})"),
        // Never by zero where that throws.
        3 if !floating => format!("({left} / ({right} | 1))"),
        4 if !floating => format!("({left} % ({right} | 1))"),
        3 => format!("({left} / {right})"),
        4 => format!("({left} % {right})"),
        5 => format!("(-{left})"),
        6 => {
            let other = random.pick(&TYPES);
            let operator = random.pick(&["<", "<=", ">", ">=", "==", "!="]);
            let (a, b) =
                (expression(random, other, depth - 1), expression(random, other, depth - 1));
            format!("({a} {operator} {b} ? {left} : {right})")
        }
        7 => {
            let other = random.pick(&TYPES);
            let small = random.pick(&["", "(byte) ", "(short) ", "(char) "]);
            let operand = expression(random, other, depth - 1);
            format!("(({}) {small}({operand}))", name(kind))
        }
        8 => format!("({left} & {right})"),
        9 => format!("({left} | {right})"),
        10 => format!("({left} ^ {right})"),
        11 => format!("({left} << {right})"),
        12 => format!("({left} >> {right})"),
        _ => format!("({left} >>> {right})"),
    }
}

fn leaf(random: &mut Random, kind: Type) -> String {
    let number = random.pick(&[
        0,
        1,
        -1,
        2,
        7,
        31,
        63,
        255,
        -128,
        65536,
        i64::from(i32::MIN),
        i64::MIN,
        i64::MAX,
    ]);
    let noise = random.next() as i64;
    let value = if random.below(3) == 0 { noise } else { number };
    match kind {
        Int => format!("Of.i({})", value as i32),
        Long => format!("Of.l({value}L)"),
        Float => format!(
            "Of.f({})",
            random.pick(&["0f", "-0f", "1.5f", "-3.25e9f", "1e-40f", "3e38f", "1f / 0", "0f / 0"])
        ),
        Double => format!(
            "Of.d({})",
            random.pick(&[
                "0.0",
                "-0.0",
                "0.1",
                "-7.75",
                "1e300",
                "5e-324",
                "-1.0 / 0",
                "0.0 / 0",
                "2147483648.5"
            ])
        ),
    }
}

const fn name(kind: Type) -> &'static str {
    match kind {
        Int => "int",
        Long => "long",
        Float => "float",
        Double => "double",
    }
}

/// Splitmix64: the same expressions in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
