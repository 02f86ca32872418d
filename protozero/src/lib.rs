//! Protobuf wire format: a writer over scattered memory and a borrowing reader.
