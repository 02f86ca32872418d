//! A trace with every conversion, of values that are likely to be shown otherwise elsewhere.

use std::fmt::Write;

use super::described;

/// Widths and precisions.
const SIZES: [&str; 6] = ["", "3", "12", "05", "020", ".0"];
const PRECISIONS: [&str; 4] = ["", ".1", ".3", ".10"];

const INTEGERS: [i64; 7] = [0, 7, -1, -123_456, i64::MAX, i64::MIN, 4_294_967_296];
const FLOATS: [f64; 16] = [
    0.0,
    1.0,
    0.1,
    1.005,
    0.125,
    2.5,
    0.5,
    9.995,
    999_999.5,
    123_456.789,
    1e-5,
    0.000_123_4,
    1e15,
    3e22,
    1e300,
    5e-324,
];
const TEXTS: [&str; 5] = ["", "x", "example.org", "größe und länge", "a \\\"quoted\\\" text"];

/// Returns the trace.
pub(crate) fn trace() -> Vec<u8> {
    let (mut dictionary, mut packets) = (String::new(), String::new());
    let (mut id, mut time, mut iid) = (0x100, 1_000, 0);
    let mut add = |full: &str, verb: &str, is_unsigned: bool, values: &[String]| {
        id += 1;
        let _ = writeln!(
            dictionary,
            "hint({id:#x}, INFO, 1, \"<%{verb}> 100%%\", \"<{full}> 100%%\", {})",
            u8::from(is_unsigned)
        );
        for value in values {
            time += 1;
            let (string, value) = match value.strip_prefix('"') {
                Some(_) => {
                    iid += 1;
                    (format!("string({iid}, {value})"), format!("${iid}"))
                }
                None => (String::new(), value.clone()),
            };
            let _ = writeln!(packets, "@1 needs ts={time} {string} log({id:#x}, {value})");
        }
    };
    let integers: Vec<String> = INTEGERS.iter().map(i64::to_string).collect();
    let signed = |value: &f64| [format!("{value:?}"), format!("{:?}", -value)];
    let floats: Vec<String> = FLOATS.iter().flat_map(signed).collect();
    let texts: Vec<String> = TEXTS.iter().map(|text| format!("\"{text}\"")).collect();
    for size in SIZES {
        let is_plain = !size.starts_with(['0', '.']);
        for verb in ["d", "x", "o"].into_iter().filter(|_| !size.starts_with('.')) {
            for is_unsigned in [false, true] {
                add(&format!("%{size}{verb}"), verb, is_unsigned, &integers);
            }
        }
        for precision in PRECISIONS.iter().filter(|_| !size.starts_with('.')).chain([&""]) {
            for verb in ["f", "e", "g"] {
                add(&format!("%{size}{precision}{verb}"), verb, false, &floats);
            }
            if is_plain {
                add(&format!("%{size}{precision}s"), "s", false, &texts);
            }
        }
        if is_plain {
            add(&format!("%{size}b"), "b", false, &["true".to_owned(), "false".to_owned()]);
        }
    }
    described::trace(&format!(
        "group(1, \"demo::Log::A\", \"A\")\n{dictionary}@1 cleared snapshot(boot=5, real=1795199220000000000)\n{packets}"
    ))
}
