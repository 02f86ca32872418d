// The events of lttng.cc, as LTTng-UST wants them: this file is included several times by its
// macros.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_events.h"

#if !defined(BENCH_PEERS_CPP_LTTNG_EVENTS_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_PEERS_CPP_LTTNG_EVENTS_H_

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, two_ints, LTTNG_UST_TP_ARGS(uint64_t, n, uint64_t, of),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, n, n)
                                                   lttng_ust_field_integer(uint64_t, of, of)))

LTTNG_UST_TRACEPOINT_EVENT(bench, int_and_text, LTTNG_UST_TP_ARGS(uint64_t, n, const char*, of),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, n, n)
                                                   lttng_ust_field_string(of, of)))

LTTNG_UST_TRACEPOINT_EVENT(bench, two_ints_and_float,
                           LTTNG_UST_TP_ARGS(uint64_t, n, uint64_t, of, double, time),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, n, n)
                                                   lttng_ust_field_integer(uint64_t, of, of)
                                                       lttng_ust_field_float(double, time, time)))

LTTNG_UST_TRACEPOINT_EVENT(bench, long_text, LTTNG_UST_TP_ARGS(const char*, text),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(text, text)))

#endif  // BENCH_PEERS_CPP_LTTNG_EVENTS_H_

#include <lttng/tracepoint-event.h>
