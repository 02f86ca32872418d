// What is the same for all loggers in C++ that are measured: the harness of bench/harness, number
// by number.

#ifndef BENCH_PEERS_CPP_HARNESS_H_
#define BENCH_PEERS_CPP_HARNESS_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace harness {

constexpr int kBurst = 20;
constexpr int kBursts = 4000;
constexpr int64_t kPauseNanos = 10000;
constexpr uint64_t kLoop = 200000;
constexpr uint64_t kBeforeTheEnd = 10000;

constexpr const char* kTexts[8] = {"alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"};
constexpr const char* kLong = "0123456789012345678901234567890123456789";

inline int64_t Nanos(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// CPU nanoseconds of another process's threads, which must not end meanwhile.
inline int64_t CpuOf(const std::string& pid) {
  int64_t sum = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task", error)) {
    std::ifstream file(task.path() / "schedstat");
    int64_t nanos = 0;
    if (file >> nanos) sum += nanos;
  }
  return sum;
}

// CPU nanoseconds of this process, and of those in BENCH_HELPERS (ids, with spaces between) that
// work for it.
inline int64_t Cpu() {
  int64_t sum = Nanos(CLOCK_PROCESS_CPUTIME_ID);
  const char* helpers = getenv("BENCH_HELPERS");
  std::istringstream pids(helpers ? helpers : "");
  for (std::string pid; pids >> pid;) sum += CpuOf(pid);
  return sum;
}

// Calls that log one message after the other, in bursts, in a loop.
template <typename Settle, typename Call>
void Measure(Settle settle, Call call) {
  std::vector<double> samples;
  samples.reserve(kBursts);
  uint64_t number = 0;
  for (int burst = 0; burst < kBursts; ++burst) {
    int64_t pause = Nanos(CLOCK_MONOTONIC);
    while (Nanos(CLOCK_MONOTONIC) - pause < kPauseNanos) {
    }
    int64_t start = Nanos(CLOCK_MONOTONIC);
    for (int i = 0; i < kBurst; ++i) call(++number);
    samples.push_back(double(Nanos(CLOCK_MONOTONIC) - start) / kBurst);
  }
  settle();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  int64_t before = Cpu();
  int64_t start = Nanos(CLOCK_MONOTONIC);
  for (uint64_t i = 0; i < kLoop; ++i) call(i);
  double loop = double(Nanos(CLOCK_MONOTONIC) - start) / kLoop;
  settle();
  int64_t cpu = Cpu() - before;
  std::sort(samples.begin(), samples.end());
  auto part = [&](double p) { return samples[size_t(p * kBursts)]; };
  printf("{\"p50\": %f, \"p99\": %f, \"p999\": %f, \"loop\": %f, \"cpu\": %lld, \"looped\": %llu, \"logged\": %llu}\n",
         part(0.5), part(0.99), part(0.999), loop, static_cast<long long>(cpu),
         static_cast<unsigned long long>(kLoop),
         static_cast<unsigned long long>(kLoop + uint64_t(kBurst) * kBursts));
  fflush(stdout);
}

// Messages of each shape, by calls of one logger.
template <typename Logger>
bool Run(Logger& logger, int argc, char** argv) {
  auto settle = [&] { logger.Settle(); };
  std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "kill") {
    for (uint64_t i = 0; i < kBeforeTheEnd; ++i) logger.TwoInts(i, 7);
    if (write(1, "written\n", 8) != 8) return false;
    char byte;
    if (read(0, &byte, 1) != 1) abort();
    return true;
  }
  std::string shape = argc > 3 ? argv[3] : "";
  if (mode != "measure") return false;
  if (shape == "two-ints") {
    Measure(settle, [&](uint64_t n) { logger.TwoInts(n, 7); });
  } else if (shape == "int-and-text") {
    Measure(settle, [&](uint64_t n) { logger.IntAndText(n, kTexts[n % 8]); });
  } else if (shape == "two-ints-and-float") {
    Measure(settle, [&](uint64_t n) { logger.TwoIntsAndFloat(n, 7, double(n)); });
  } else if (shape == "long-text") {
    Measure(settle, [&](uint64_t) { logger.LongText(kLong); });
  } else {
    return false;
  }
  return true;
}

}  // namespace harness

#endif  // BENCH_PEERS_CPP_HARNESS_H_
