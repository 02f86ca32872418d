//! The schema is the official one, and texts mean what prost-reflect says they do.

use super::{Problem, encode, is_text};
use prost_reflect::prost::Message as _;
use prost_reflect::text_format::FormatOptions;
use prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, Kind, MessageDescriptor, Value,
};
use protolog_testkit::{Random, expect_file};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "perfetto.protos.";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/record")
}

/// A `TraceConfig`, by the official schema.
fn official() -> MessageDescriptor {
    let mut compiler = protox::Compiler::new([fixtures()]).expect("a directory");
    compiler.open_file("perfetto_config.proto").expect("a schema");
    let pool = DescriptorPool::decode(&*compiler.encode_file_descriptor_set());
    let name = format!("{PACKAGE}TraceConfig");
    pool.expect("a schema").get_message_by_name(&name).expect("the message")
}

/// The messages and enumerations that are reached from a message, in the order of their names.
#[derive(Default)]
struct Reached {
    messages: Vec<MessageDescriptor>,
    enums: Vec<EnumDescriptor>,
}

impl Reached {
    fn add(&mut self, message: &MessageDescriptor) {
        if self.messages.contains(message) {
            return;
        }
        self.messages.push(message.clone());
        for field in message.fields() {
            match field.kind() {
                Kind::Message(of) => self.add(&of),
                Kind::Enum(of) if !self.enums.contains(&of) => self.enums.push(of),
                _ => {}
            }
        }
    }

    fn text(mut self) -> String {
        self.messages.sort_by_key(|it| it.full_name().to_owned());
        self.enums.sort_by_key(|it| it.full_name().to_owned());
        let mut text = String::new();
        let short = |name: &str| name.strip_prefix(PACKAGE).expect("of the package").to_owned();
        for message in self.messages {
            _ = writeln!(text, "message {}", short(message.full_name()));
            for field in message.fields() {
                assert!(!field.is_packed() && !field.is_map() && !field.is_group(), "{field:?}");
                let of = match field.kind() {
                    Kind::Message(of) => short(of.full_name()),
                    Kind::Enum(of) => short(of.full_name()),
                    scalar => format!("{scalar:?}").to_lowercase(),
                };
                let count = if field.is_list() { "*" } else { "" };
                _ = write!(text, "{} {} {of}{count}", field.number(), field.name());
                if let Some(one_of) = field.containing_oneof() {
                    _ = write!(text, " {}", one_of.name());
                }
                text.push('\n');
            }
        }
        for of in self.enums {
            _ = writeln!(text, "enum {}", short(of.full_name()));
            of.values().for_each(|it| _ = writeln!(text, "{} {}", it.number(), it.name()));
        }
        text
    }
}

#[test]
fn the_schema_is_the_official_one() {
    let mut reached = Reached::default();
    reached.add(&official());
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/command/record/text/schema.txt");
    expect_file(&place, &reached.text());
}

/// The bytes that we make of a text, after it was compared with what prost-reflect makes of it.
#[track_caller]
fn compare(of: &MessageDescriptor, text: &str) -> Result<DynamicMessage, Problem> {
    let expected = DynamicMessage::parse_text_format(of.clone(), text);
    let encoded = encode(text.as_bytes());
    match (&encoded, &expected) {
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
        _ => panic!("{text}\nours: {encoded:?}\nprost's: {:?}", expected.map(drop)),
    }
    let ours = DynamicMessage::decode(of.clone(), &*encoded?).expect("a message");
    assert!(expected.is_ok_and(|expected| expected == ours), "{text}");
    Ok(ours)
}

#[test]
fn configurations_of_perfetto_mean_the_same() {
    let of = official();
    let files = fs::read_dir(fixtures().join("configs")).expect("a directory");
    let mut count = 0;
    for file in files {
        let text = fs::read_to_string(file.expect("a file").path()).expect("text");
        assert!(is_text(text.as_bytes()));
        let message = compare(&of, &text).expect("a configuration");
        assert!(!is_text(&message.encode_to_vec()), "{text}");
        count += 1;
    }
    assert!(count > 10);
}

/// A message with some of its fields, nested up to `depth` messages.
fn random_message(of: &MessageDescriptor, random: &mut Random, depth: u32) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    for field in of.fields() {
        let is_message = matches!(field.kind(), Kind::Message(_));
        if random.below(3) > 0 || is_message && depth == 0 {
            continue;
        }
        let value = if field.is_list() {
            Value::List(
                (0..random.below(4)).map(|_| random_value(&field.kind(), random, depth)).collect(),
            )
        } else {
            random_value(&field.kind(), random, depth)
        };
        message.set_field(&field, value);
    }
    message
}

fn random_value(kind: &Kind, random: &mut Random, depth: u32) -> Value {
    let bits = random.below(u64::MAX) >> random.below(64);
    let signed = if random.below(2) == 0 { bits as i64 } else { !bits as i64 };
    match kind {
        Kind::Double => Value::F64(signed as f64 / 1000.0),
        Kind::Float => Value::F32(signed as f32 / 1000.0),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(signed as i32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(signed),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(bits as u32),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(bits),
        Kind::Bool => Value::Bool(bits & 1 == 0),
        Kind::String => Value::String("añ日\0\"'\\\n\u{1}".repeat((bits % 3) as usize)),
        Kind::Bytes => Value::Bytes(bits.to_le_bytes().repeat((bits % 3) as usize).into()),
        Kind::Message(of) => Value::Message(random_message(of, random, depth - 1)),
        Kind::Enum(of) => {
            let values: Vec<_> = of.values().collect();
            Value::EnumNumber(values[(bits % values.len() as u64) as usize].number())
        }
    }
}

#[test]
fn random_configurations_mean_the_same_in_each_form() {
    let of = official();
    let mut random = Random::from_seed(b"configurations");
    for round in 0..200 {
        let message = random_message(&of, &mut random, 1 + round % 5);
        let pretty = FormatOptions::new().pretty(round % 2 == 0);
        let text = message.to_text_format_with_options(&pretty.skip_unknown_fields(false));
        assert!(compare(&of, &text).is_ok(), "{text}");
        // And with one character left out, or twice.
        let at = (0..=random.below(text.len() as u64 + 1) as usize).rev();
        let Some(at) = at.into_iter().find(|at| text.is_char_boundary(*at)) else { continue };
        let (before, after) = text.split_at(at);
        let rest = after.chars().skip(1).collect::<String>();
        _ = encode(format!("{before}{rest}").as_bytes());
        _ = encode(format!("{before}{}{after}", &after[..after.len() - rest.len()]).as_bytes());
    }
}

#[test]
fn every_form_of_the_format_is_understood() {
    let of = official();
    for text in [
        "",
        "# nothing\n",
        "buffers { size_kb: 64 } buffers: { size_kb: 0x40 }, buffers < size_kb: 0100 >;",
        "buffers: [{size_kb: 1}, <size_kb: 2>] buffers: []",
        "unique_session_name: \"a\\n\\t\\\"\\x41\\101\\u00e9\\U0001F600\" ' b' # rest\n \"c\"",
        "duration_ms: 4294967295 write_into_file: true",
        "data_sources { config { name: 'x' ftrace_config { ftrace_events: ['a', \"b\"] ftrace_events: 'c' } } }",
        "lockdown_mode: LOCKDOWN_SET",
        "lockdown_mode: 2",
        "trigger_config { trigger_mode: STOP_TRACING triggers { name: 'a' skip_probability: .5 } }",
        "trigger_config { triggers { skip_probability: 1e-3 } triggers { skip_probability: -inf } triggers { skip_probability: 2f } }",
        "trace_uuid_msb: -9223372036854775808",
        "write_into_file: t",
        "write_into_file: 0",
    ] {
        compare(&of, text).unwrap_or_else(|problem| panic!("{problem}: {text}"));
    }
    for text in [
        "buffers { size_kb: 64",
        "buffers { size_kb: 64 >",
        "buffers { size_kb 64 }",
        "buffers { size_kb: [64] }",
        "buffers }",
        "no_such_field: 1",
        "duration_ms: 1 duration_ms: 2",
        "duration_ms: 4294967296",
        "duration_ms: -1",
        "duration_ms: 09",
        "duration_ms: 1.5",
        "duration_ms: 'a'",
        "lockdown_mode: NO_SUCH_VALUE",
        "unique_session_name: a",
        "unique_session_name: 'a",
        "unique_session_name: 'a\nb'",
        "unique_session_name: '\\q'",
        "write_into_file: yes",
        "write_into_file: 2",
        "[a.b.c]: 1",
        "duration_ms: 1 % 2",
    ] {
        assert!(compare(&of, text).is_err(), "{text}");
    }
}

#[test]
fn problems_have_their_place_and_a_hint() {
    let problem = |text: &str| encode(text.as_bytes()).expect_err("a problem").to_string();
    assert_eq!(
        problem("# é\nbuffers {\n  size_kib: 64\n}\n"),
        "3:3: `TraceConfig.BufferConfig` has no field `size_kib`; did you mean `size_kb`?"
    );
    assert_eq!(
        problem("data_sources { config { protolog_config { default_log_from_level: info } } }"),
        "1:67: `ProtoLogLevel` has no value `info`; did you mean `PROTOLOG_LEVEL_INFO`?"
    );
    assert_eq!(problem("buffers {"), "1:10: a field or `}` is expected here, not the end");
    assert_eq!(
        problem("duration_ms: 'a'"),
        "1:14: an integer from 0 to 4294967295 is expected here, not a text"
    );
    assert_eq!(encode(b"# \xff").expect_err("a problem").to_string(), "1:3: this is no UTF-8");
    // The type is a closed one, which prost-reflect does not mind.
    assert_eq!(
        problem("lockdown_mode: 77"),
        "1:16: `TraceConfig.LockdownModeOperation` has no value 77"
    );
    let deep = "data_sources { config { interceptor_config { ".repeat(30);
    assert!(encode(deep.as_bytes()).is_err());
}
