// spdlog to a file, on the calling thread (`spdlog-sync`) or through its thread (`spdlog-async`),
// as a candidate:
//   PROGRAM measure CANDIDATE SHAPE FILE
//   PROGRAM kill CANDIDATE FILE

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "harness.h"

namespace {

class Logger {
 public:
  Logger(bool async, const char* path) {
    if (async) {
      // As long as tracing-appender's queue; a caller that finds it full waits, as is spdlog's
      // default.
      spdlog::init_thread_pool(128000, 1);
      logger_ = spdlog::basic_logger_mt<spdlog::async_factory>("bench", path, true);
    } else {
      logger_ = spdlog::basic_logger_st("bench", path, true);
    }
    path_ = path;
  }

  void TwoInts(uint64_t n, uint64_t of) { logger_->info("{} of {}", n, of); }
  void IntAndText(uint64_t n, const char* of) { logger_->info("{} of {}", n, of); }
  void TwoIntsAndFloat(uint64_t n, uint64_t of, double time) { logger_->info("{} of {} in {:.6f}", n, of, time); }
  void LongText(const char* text) { logger_->info("text {}", text); }

  // Waits until the file does not grow any more.
  void Settle() {
    logger_->flush();
    std::error_code error;
    auto before = std::filesystem::file_size(path_, error);
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      auto now = std::filesystem::file_size(path_, error);
      if (now == before) return;
      before = now;
    }
  }

 private:
  std::shared_ptr<spdlog::logger> logger_;
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Logger logger(strcmp(argv[2], "spdlog-async") == 0, argv[argc - 1]);
  bool done = harness::Run(logger, argc, argv);
  spdlog::shutdown();
  return done ? 0 : 2;
}
