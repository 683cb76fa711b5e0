#include "runtime/traffic-recorder.h"

#include "base/clock.h"

enum { WALL_CLOCK_US = 10000 }; /* the wall clock is read again after this time */

/* Derives the wall time from the monotonic clock in between, to save a system call per
 * message. */
struct recorder_time traffic_recorder_now(struct traffic_recorder *t)
{
    int64_t us = clock_mono_us() - t->started_us;

    if (us - t->wall_clock_read.us >= WALL_CLOCK_US || !t->wall_clock_read.wall_us)
        t->wall_clock_read = (struct recorder_time){ us, clock_wall_us() };
    return (struct recorder_time){ us,
                                   t->wall_clock_read.wall_us + us - t->wall_clock_read.us };
}

static bool put_redacted(struct sink *self, const struct record *r, struct err *e)
{
    struct traffic_recorder *t =
        (struct traffic_recorder *)((char *)self -
                                    offsetof(struct traffic_recorder, redacted_sink));
    bool ok = true;

    for (size_t i = 0; i < t->sink_count; i++)
        ok = t->sinks[i].records->put(t->sinks[i].records, r, e) && ok;
    return ok;
}

void traffic_recorder_init(struct traffic_recorder *t, struct redaction *redaction,
                           size_t max_message, traffic_recorder_failed_fn *failed, void *to)
{
    *t = (struct traffic_recorder){
        .redaction = redaction,
        .redacted_sink = { put_redacted },
        .failed = failed,
        .to = to,
        .started_us = clock_mono_us(),
    };
    recorder_init(&t->recorder, redaction_sink(redaction, &t->redacted_sink));
    http_recorder_init(&t->http, &t->recorder, max_message, redaction_seen_secrets(redaction));
}

void traffic_recorder_release(struct traffic_recorder *t)
{
    http_recorder_release(&t->http);
    recorder_release(&t->recorder);
}

void traffic_recorder_add_sink(struct traffic_recorder *t,
                               const struct traffic_recorder_sink *sink)
{
    BUG_IF(t->sink_count == TRAFFIC_RECORDER_SINKS_MAX);
    t->sinks[t->sink_count++] = *sink;
}

void traffic_recorder_set_server(struct traffic_recorder *t, const struct url *parsed,
                                 struct str url)
{
    t->http.server_url = parsed;
    if (!t->redaction->redactor.keep_url)
        http_recorder_redact_urls(&t->http, url);
}

/* Ends the recording of one piece of traffic. `kept`: all its records were accepted; else
 * `error` has the reason. */
static void commit(struct traffic_recorder *t, bool kept)
{
    if (!kept)
        t->failed(t->to, &t->error);
    for (size_t i = 0; i < t->sink_count; i++)
        if (t->sinks[i].flush)
            t->sinks[i].flush(t->sinks[i].to);
}

void traffic_recorder_commit(struct traffic_recorder *t)
{
    commit(t, http_recorder_check(&t->http, &t->error));
}

void traffic_recorder_write_header(struct traffic_recorder *t,
                                   const struct record_header *header)
{
    commit(t, recorder_write_header(&t->recorder, header, traffic_recorder_now(t), &t->error));
}

void traffic_recorder_write_footer(struct traffic_recorder *t, int exit_code)
{
    commit(t,
           recorder_write_footer(&t->recorder, exit_code, traffic_recorder_now(t), &t->error));
}

void traffic_recorder_add_line(struct traffic_recorder *t, uint64_t conn, enum record_dir dir,
                               struct str line)
{
    commit(t, recorder_add_line(&t->recorder, conn, dir, line, traffic_recorder_now(t),
                                &t->error));
}

void traffic_recorder_add_too_long(struct traffic_recorder *t, uint64_t conn,
                                   enum record_dir dir, uint64_t bytes)
{
    t->long_lines++;
    commit(t, recorder_add_too_long(&t->recorder, conn, dir, bytes, traffic_recorder_now(t),
                                    &t->error));
}

void traffic_recorder_add_stderr(struct traffic_recorder *t, uint64_t conn, struct str bytes)
{
    commit(t,
           recorder_add_stderr(&t->recorder, conn, bytes, traffic_recorder_now(t), &t->error));
}

void traffic_recorder_add_start(struct traffic_recorder *t, uint64_t conn)
{
    commit(t, recorder_add_start(&t->recorder, conn, traffic_recorder_now(t), &t->error));
}

void traffic_recorder_add_exit(struct traffic_recorder *t, uint64_t conn, int code, int signum,
                               struct str why)
{
    commit(t, recorder_add_exit(&t->recorder, conn, code, signum, why, traffic_recorder_now(t),
                                &t->error));
}

void traffic_recorder_add_record(struct traffic_recorder *t, const struct recorder_context *at,
                                 struct record *r)
{
    commit(t, recorder_add_record(&t->recorder, at, r, traffic_recorder_now(t), &t->error));
}

uint64_t traffic_recorder_too_long(const struct traffic_recorder *t)
{
    return t->long_lines + t->http.too_long;
}
