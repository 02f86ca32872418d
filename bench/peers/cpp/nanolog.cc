// NanoLog, which keeps what it is given in a queue of each thread,
// for a thread of its own to write:
//   PROGRAM measure nanolog SHAPE FILE

#include <array>
#include <cstring>

// It needs those before it.
#include "NanoLogCpp17.h"

#include "harness.h"

namespace {

using namespace NanoLog::LogLevels;

class Logger {
 public:
  explicit Logger(const char* path) {
    NanoLog::setLogFile(path);
    NanoLog::preallocate();
  }

  void TwoInts(uint64_t n, uint64_t of) { NANO_LOG(NOTICE, "%lu of %lu", n, of); }
  void IntAndText(uint64_t n, const char* of) { NANO_LOG(NOTICE, "%lu of %s", n, of); }
  void TwoIntsAndFloat(uint64_t n, uint64_t of, double time) { NANO_LOG(NOTICE, "%lu of %lu in %f", n, of, time); }
  void LongText(const char* text) { NANO_LOG(NOTICE, "text %s", text); }
  void Settle() { NanoLog::sync(); }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Logger logger(argv[argc - 1]);
  return harness::Run(logger, argc, argv) ? 0 : 2;
}
