// fmtlog, which keeps what it is given in a queue of each thread,
// for a thread of its own to format:
//   PROGRAM measure fmtlog SHAPE FILE

#define FMTLOG_HEADER_ONLY
#define FMT_HEADER_ONLY
#include "fmtlog.h"

#include "harness.h"

namespace {

class Logger {
 public:
  explicit Logger(const char* path) {
    fmtlog::setLogFile(path, true);
    fmtlog::preallocate();
    fmtlog::startPollingThread(1000000);
  }

  void TwoInts(uint64_t n, uint64_t of) { logi("{} of {}", n, of); }
  void IntAndText(uint64_t n, const char* of) { logi("{} of {}", n, of); }
  void TwoIntsAndFloat(uint64_t n, uint64_t of, double time) { logi("{} of {} in {:.6f}", n, of, time); }
  void LongText(const char* text) { logi("text {}", text); }

  void Settle() {
    fmtlog::stopPollingThread();
    fmtlog::poll(true);
    fmtlog::startPollingThread(1000000);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Logger logger(argv[argc - 1]);
  bool done = harness::Run(logger, argc, argv);
  fmtlog::stopPollingThread();
  return done ? 0 : 2;
}
