/* tests/fuzz/fuzz-http-replay.c - any bytes as a recording, replayed over HTTP.
 *
 * The first byte chooses how, the rest is a native recording (http-replay-rig.h). Must hold:
 * the recording is refused, or every request is answered and the replay ends. */
#include <stdint.h>

#include "http-replay-rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t how = size ? data[0] : 0;
    enum match_mode mode = how & 3;
    struct replay_options options = {
        .match = { .mode = mode,
                   .exhausted = (how >> 2 & 3) % 3,
                   .rules = matcher_rules(&(struct match_options){ .mode = mode }, false) },
        .exhausted_given = true,
        .on_miss = how & 16 ? ON_MISS_ERROR : ON_MISS_WARN,
        .pace = how & 32 ? 0.5 : 0,
    };
    struct http_replay_rig r;

    (void)http_replay_rig_run(&r, str_skip(str_n((const char *)data, size), 1), &options);
    http_replay_rig_release(&r);
    return 0;
}
