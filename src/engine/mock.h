/* engine/mock.h - a server made of a recording.
 *
 * A stepper: what the client sends goes in, what the server would have sent comes
 * out. initialize, server/discover, ping and notifications are answered for any
 * client and use nothing up; every initialize starts the recording afresh. A request
 * the recording has no answer for gets an error that says what is nearest to it. */
#ifndef ENGINE_MOCK_H
#define ENGINE_MOCK_H

#include "engine/match.h"
#include "engine/stage.h"

struct mock_options {
    enum match_mode match;
    bool finish_on_miss; /* an unmatched request ends the session, exit code 1 */
};

struct mock {
    const struct script *script; /* borrowed */
    struct mock_options options;
    struct matcher matcher;
    struct stage stage;
    struct arena arena; /* for one step */
    uint64_t missed, greetings;
    int exit_code; /* to finish with */
    bool closed;   /* nothing more is listened to */
    bool finished; /* nothing more is answered */
};

void mock_init(struct mock *m, const struct script *script, const struct mock_options *options,
               struct action_sink *out);
void mock_release(struct mock *m);

void mock_step(struct mock *m, const struct event *ev);

#endif
