// LTTng-UST as a candidate: whoever starts this program has a session running that wants `bench:*`.
//   PROGRAM measure lttng SHAPE FILE
//   PROGRAM kill lttng FILE

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

#include "harness.h"

namespace {

struct Logger {
  void TwoInts(uint64_t n, uint64_t of) { lttng_ust_tracepoint(bench, two_ints, n, of); }
  void IntAndText(uint64_t n, const char* of) { lttng_ust_tracepoint(bench, int_and_text, n, of); }
  void TwoIntsAndFloat(uint64_t n, uint64_t of, double time) {
    lttng_ust_tracepoint(bench, two_ints_and_float, n, of, time);
  }
  void LongText(const char* text) { lttng_ust_tracepoint(bench, long_text, text); }

  // The consumer writes every tenth of a second at the latest, as it is told when the channel is
  // made.
  void Settle() { std::this_thread::sleep_for(std::chrono::milliseconds(250)); }
};

}  // namespace

int main(int argc, char** argv) {
  Logger logger;
  return harness::Run(logger, argc, argv) ? 0 : 2;
}
