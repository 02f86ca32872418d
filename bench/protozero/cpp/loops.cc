// C++ ProtoZero filling the messages of the bench, in loops that mirror those of src/memory.rs.
//
// EveryField is what ProtoZero's compiler generates from a .proto file, written by hand: setters
// that name a field's number and type, and nothing else.

#include "protozero_cut.h"

namespace {

using protozero::proto_utils::ProtoSchemaType;

// Keep in sync with src/record.rs.
struct Record {
  uint64_t words[4];
  char text[32];
  size_t text_len;
  const void* unused[3];
};

constexpr size_t kSlot = 512;
constexpr size_t kRecordsPerMessage = 4;

class EveryField : public protozero::Message {
 public:
  void set_field_int32(int32_t value) { Set<ProtoSchemaType::kInt32>(1, value); }
  void set_field_int64(int64_t value) { Set<ProtoSchemaType::kInt64>(2, value); }
  void set_field_uint32(uint32_t value) { Set<ProtoSchemaType::kUint32>(3, value); }
  void set_field_uint64(uint64_t value) { Set<ProtoSchemaType::kUint64>(4, value); }
  void set_field_string(const char* data, size_t size) { AppendBytes(500, data, size); }
  EveryField* add_field_nested() { return BeginNestedMessage<EveryField>(501); }

 private:
  template <ProtoSchemaType type, typename T>
  void Set(uint32_t field, T value) {
    protozero::internal::FieldWriter<type>::Append(*this, field, value);
  }
};

// The speed of light of ProtoZero's own benchmark: the same setters on an object that lies in the
// slot, appends every value at its running position, and trusts the text's zero.
class Light {
 public:
  void set_field_int32(int32_t value) { Append(value); }
  void set_field_int64(int64_t value) { Append(value); }
  void set_field_uint32(uint32_t value) { Append(value); }
  void set_field_uint64(uint64_t value) { Append(value); }
  void set_field_string(const char* data, size_t) { end_ = strcpy(end_, data); }
  Light* add_field_nested() { return new (this + 1) Light(); }

 private:
  template <typename T>
  void Append(T value) {
    memcpy(end_, &value, sizeof(value));
    end_ += sizeof(value);
  }

  char storage_[64];
  char* end_ = storage_;
};

template <typename T>
PERFETTO_ALWAYS_INLINE inline void FillSimple(T* message, const Record* record) {
  message->set_field_int32(static_cast<int32_t>(record->words[0]));
  message->set_field_uint32(static_cast<uint32_t>(record->words[1]));
  message->set_field_int64(static_cast<int64_t>(record->words[2]));
  message->set_field_uint64(record->words[3]);
  message->set_field_string(record->text, record->text_len);
}

template <int depth, typename T>
PERFETTO_ALWAYS_INLINE inline void FillNested(T* message, const Record* record) {
  FillSimple(message, record);
  if constexpr (depth > 0)
    FillNested<depth - 1>(message->add_field_nested(), record + 1);
}

struct Simple {
  static constexpr size_t kLevels = 1;
  template <typename T>
  static void Fill(T* message, const Record* record) { FillSimple(message, record); }
};

struct Nested {
  static constexpr size_t kLevels = 4;
  template <typename T>
  static void Fill(T* message, const Record* record) { FillNested<3>(message, record); }
};

// As ProtoZero's own benchmark: all objects are made for each message.
template <typename Shape>
size_t FillStatic(uint8_t* slot, const Record* record) {
  protozero::StaticBuffered<EveryField> message(slot, kSlot);
  Shape::Fill(message.get(), record);
  return message.Finalize();
}

// As Perfetto's trace writer: the objects stay, and are reset for each message.
class Kept : public protozero::ScatteredStreamWriter::Delegate {
 public:
  template <typename Shape>
  size_t Fill(uint8_t* slot, const Record* record) {
    writer_.Reset({slot, slot + kSlot});
    message_.Reset(&writer_);
    Shape::Fill(&message_, record);
    message_.Finalize();
    return static_cast<size_t>(writer_.write_ptr() - slot);
  }

  protozero::ContiguousMemoryRange GetNewBuffer() override { PERFETTO_FATAL("slot too small"); }

 private:
  protozero::ScatteredStreamWriter writer_{this};
  protozero::RootMessage<EveryField> message_;
};

template <typename Shape>
size_t FillLight(uint8_t* slot, const Record* record) {
  Shape::Fill(new (slot) Light(), record);
  return Shape::kLevels * sizeof(Light);
}

template <typename Fill>
size_t Loop(uint8_t* slots, size_t count, size_t passes, const Record* records, size_t mask,
            Fill fill) {
  size_t written = 0;
  size_t next = 0;
  for (size_t pass = 0; pass < passes; pass++) {
    for (size_t i = 0; i < count; i++) {
      written += fill(slots + i * kSlot, records + (next++ & mask) * kRecordsPerMessage);
    }
  }
  return written;
}

}  // namespace

// Who fills; keep in sync with src/writers/cpp.rs.
enum class Who : uint32_t { kLight = 0, kKept = 1, kStatic = 2 };

// Fills `count` slots `passes` times with messages made of the records, which are `mask` + 1 times
// four; returns the bytes written.
extern "C" size_t protozero_loop(Who who, bool nested, uint8_t* slots, size_t count, size_t passes,
                                 const Record* records, size_t mask) {
  auto loop = [&](auto fill) { return Loop(slots, count, passes, records, mask, fill); };
  switch (who) {
    case Who::kLight:
      return nested ? loop(FillLight<Nested>) : loop(FillLight<Simple>);
    case Who::kStatic:
      return nested ? loop(FillStatic<Nested>) : loop(FillStatic<Simple>);
    case Who::kKept:
      Kept objects;
      if (nested)
        return loop([&](uint8_t* slot, const Record* record) {
          return objects.Fill<Nested>(slot, record);
        });
      return loop([&](uint8_t* slot, const Record* record) {
        return objects.Fill<Simple>(slot, record);
      });
  }
  return 0;
}
