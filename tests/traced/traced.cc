// Perfetto's tracing service as a program, for tests: what `traced` is, without its options.
//
//     traced PRODUCER_SOCKET CONSUMER_SOCKET
//
// A socket is the path of a Unix socket, or HOST:PORT. The service itself is the amalgamation of
// the crate perfetto-sdk-sys; `cargo xtask setup` compiles it with this file. It prints a line once
// it listens, and ends by a signal.

#include "perfetto_c.cc"

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: traced PRODUCER_SOCKET CONSUMER_SOCKET\n");
    return 2;
  }
  perfetto::base::MaybeLockFreeTaskRunner runner;
  auto host = perfetto::ServiceIPCHost::CreateInstance(&runner);
  std::list<perfetto::ListenEndpoint> producers;
  producers.emplace_back(std::string(argv[1]));
  if (!host->Start(std::move(producers), perfetto::ListenEndpoint(std::string(argv[2])))) {
    fprintf(stderr, "error: can't listen on `%s` and `%s`\n", argv[1], argv[2]);
    return 2;
  }
  printf("listening\n");
  fflush(stdout);
  runner.Run();
}
