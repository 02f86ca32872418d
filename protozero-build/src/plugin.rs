//! The protocol of protoc's plugins: one request comes in, one response goes out, each as protobuf.

use crate::{Error, Options, generate_from, schema};
use protozero::{DecodeError, Heap, Reader, Writer};

/// The features of the plugin: `optional` of proto3, and editions.
const FEATURES: u64 = 1 | 2;

/// The editions that it knows: from proto2 to 2024.
const EDITIONS: (i32, i32) = (998, 1001);

/// Answers a `CodeGeneratorRequest` by a `CodeGeneratorResponse`. A problem with the schema is in
/// the response; an error is one of the request itself.
pub fn answer(request: &[u8]) -> Result<Vec<u8>, Error> {
    let (asked, parameter) = read(request).map_err(Error::Descriptor)?;
    let made = settings(&parameter).and_then(|(file, options)| {
        let files = schema::read_set(request, 15)?;
        Ok((file, generate_from(&files, |name| asked.iter().any(|it| it == name), &options)?))
    });
    let mut writer = Writer::new(Heap::default());
    let mut response = writer.message();
    match made {
        Ok((name, code)) => {
            response.uint64(2, FEATURES).int32(3, EDITIONS.0).int32(4, EDITIONS.1);
            response.nested(15).string(1, &name).string(15, &code);
        }
        Err(error) => {
            response.string(1, &format!("{error}\nhelp: {}", error.help())).uint64(2, FEATURES);
            response.int32(3, EDITIONS.0).int32(4, EDITIONS.1);
        }
    }
    writer.into_vec().map_err(|error| Error::Schema(format!("the code is too long: {error}")))
}

/// The files that are asked for, and the parameter.
fn read(request: &[u8]) -> Result<(Vec<String>, String), DecodeError> {
    let (mut asked, mut parameter) = (Vec::new(), String::new());
    for field in Reader::new(request) {
        let field = field?;
        match field.number {
            1 => asked.push(field.as_str()?.to_owned()),
            2 => parameter = field.as_str()?.into(),
            _ => {}
        }
    }
    Ok((asked, parameter))
}

/// The name of the file to write, `protos.rs` by default, and the settings.
fn settings(parameter: &str) -> Result<(String, Options), Error> {
    let (mut file, mut options) = ("protos.rs".to_owned(), Options::default());
    for setting in parameter.split(',').filter(|setting| !setting.is_empty()) {
        match setting.split_once('=') {
            Some(("file", name)) if !name.is_empty() => file = name.into(),
            Some(("runtime", path)) => options.runtime = path.into(),
            Some(("message", name)) => options.messages.push(name.to_owned()),
            None if setting == "leave_out_groups" => options.leave_out_groups = true,
            _ => return Err(Error::Parameter(setting.to_owned())),
        }
    }
    Ok((file, options))
}
