// Quill, which keeps what it is given in a queue of each thread,
// for a thread of its own to format:
//   PROGRAM measure quill SHAPE FILE

#include "quill/Backend.h"
#include "quill/Frontend.h"
#include "quill/LogMacros.h"
#include "quill/Logger.h"
#include "quill/sinks/FileSink.h"

#include "harness.h"

namespace {

class Logger {
 public:
  explicit Logger(const char* path) {
    quill::Backend::start();
    auto file = quill::Frontend::create_or_get_sink<quill::FileSink>(path);
    logger_ = quill::Frontend::create_or_get_logger("bench", file);
    quill::Frontend::preallocate();
  }

  void TwoInts(uint64_t n, uint64_t of) { LOG_INFO(logger_, "{} of {}", n, of); }
  void IntAndText(uint64_t n, const char* of) { LOG_INFO(logger_, "{} of {}", n, of); }
  void TwoIntsAndFloat(uint64_t n, uint64_t of, double time) { LOG_INFO(logger_, "{} of {} in {:.6f}", n, of, time); }
  void LongText(const char* text) { LOG_INFO(logger_, "text {}", text); }
  void Settle() { logger_->flush_log(); }

 private:
  quill::Logger* logger_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Logger logger(argv[argc - 1]);
  return harness::Run(logger, argc, argv) ? 0 : 2;
}
