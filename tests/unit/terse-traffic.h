/* tests/unit/terse-traffic.h - a traffic recorder that writes its records down, without times
 * (terse.h). */
#ifndef TERSE_TRAFFIC_H
#define TERSE_TRAFFIC_H

#include "runtime/traffic-recorder.h"
#include "terse.h"
#include "test.h"

struct terse_traffic {
    struct log log;
    struct redaction redaction;
    struct terse records;
    struct traffic_recorder recorder;
    struct buf failures; /* a line for each record that was not accepted */
};

static inline void terse_traffic_drop_line(void *to, struct str line)
{
    (void)to;
    (void)line;
}

static inline void terse_traffic_failed(void *to, const struct err *why)
{
    struct terse_traffic *t = to;

    buf_printf(&t->failures, "%s\n", why->msg);
}

static inline void terse_traffic_init(struct terse_traffic *t)
{
    struct err e = ERR_NONE;

    *t = (struct terse_traffic){ .log = { .level = LOG_ERROR,
                                          .write = terse_traffic_drop_line } };
    secret_rules_init(&t->redaction.secrets);
    secret_rules_add_credentials(&t->redaction.secrets);
    assert_true(secret_rules_seal(&t->redaction.secrets, &e));
    redaction_init(&t->redaction, &t->log);
    terse_init(&t->records);
    t->records.no_times = true;
    buf_init(&t->failures, 1 << 16);
    traffic_recorder_init(&t->recorder, &t->redaction, 1 << 20, terse_traffic_failed, t);
    traffic_recorder_add_sink(&t->recorder,
                              &(struct traffic_recorder_sink){ .records = &t->records.sink });
}

static inline void terse_traffic_release(struct terse_traffic *t)
{
    traffic_recorder_release(&t->recorder);
    redaction_release(&t->redaction);
    terse_release(&t->records);
    buf_release(&t->failures);
}

#endif
