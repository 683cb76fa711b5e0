/* bench/bench-json-libs.h - calls packaged JSON libraries from C.
 *
 * Each parses one text completely, with its memory reused, and returns whether it is JSON. */
#ifndef BENCH_JSON_LIBS_H
#define BENCH_JSON_LIBS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

bool bench_rapidjson_parse(const char *text, size_t len);

/* `readable` bytes from `text` on may be read. */
bool bench_simdjson_parse(const char *text, size_t len, size_t readable);

#ifdef __cplusplus
}
#endif

#endif
