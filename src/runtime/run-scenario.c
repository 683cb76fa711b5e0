#include "runtime/run-scenario.h"

#include "format/writer.h"
#include "trace/limits.h"

enum { CONN = 1 };

/* The sink in front of the file. */
struct scenario_output {
    struct sink sink;
    struct writer writer;
    bool messages_only;    /* drop exchanges without messages */
    struct map dropped;    /* their numbers */
    const struct log *log; /* gets the messages; NULL: it does not */
    struct err error;      /* the first that the file reported */
    uint64_t interactions;
};

static bool is_bare_request(const struct record *r)
{
    return r->kind == RECORD_HTTP_REQUEST &&
           (str_eq(r->http.method, STR("GET")) || str_eq(r->http.method, STR("DELETE")));
}

/* Returns whether a record belongs to an exchange that only opens a stream or ends a session.
 */
static bool is_dropped(struct scenario_output *o, const struct record *r)
{
    bool http = r->kind == RECORD_HTTP_REQUEST || r->kind == RECORD_HTTP_RESPONSE ||
                r->kind == RECORD_HTTP_END;

    if (!o->messages_only || !http || !(r->has & HAS_EXCHANGE))
        return false;
    if (is_bare_request(r))
        map_put(&o->dropped, map_number_key(&r->exchange), o);
    return map_get(&o->dropped, map_number_key(&r->exchange)) != NULL;
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct scenario_output *o = (struct scenario_output *)self;

    if (is_dropped(o, r))
        return true;
    if (o->log)
        record_output_log_message(o->log, r);
    if (r->kind == RECORD_MESSAGE && r->message.dir == TO_SERVER &&
        json_exists(json_get(r->message.msg, STR("method"))))
        o->interactions++;
    return o->writer.sink.put(&o->writer.sink, r, e);
}

static void on_failed(void *to, const struct err *why)
{
    struct scenario_output *o = to;

    if (o->error.kind == ERR_OK)
        o->error = *why;
}

static void step(void *engine, const struct event *ev)
{
    scenario_step(engine, ev);
}

/* Says how the server ended, or why it did not respond. */
static void explain_failure(struct run_scenario *r, const struct run_client *client)
{
    const struct peer_outcome *end = run_client_outcome(client);

    if (!r->spoke)
        run_client_explain_silence(client, &r->target, &r->why);
    else if (end->exit_text.len && (end->exit_code || end->signum) && !end->stop_reason.len)
        err_set(&r->why, ERR_PEER, "%.*s%s%.*s", STR_ARG(buf_str(&end->exit_text)),
                end->last_stderr.len ? ": " : "", STR_ARG(buf_str(&end->last_stderr)));
}

static void run_session(struct run_scenario *r, struct traffic_recorder *recorder)
{
    struct run_client_options options = { .stop_on_signal = true };
    struct run_client client;
    struct scenario engine;
    bool ok;

    run_client_init(&client, r->app, step, &engine, LOG_DEBUG);
    client.server.recorder = recorder;
    client.server.conn = CONN;
    scenario_init(&engine, r->plan, r->ordinal, r->first_number, r->timeout_us,
                  &client.driver.actions, r->events, r->to);
    ok = run_client_run(&client, &r->target, &options, &r->why);
    scenario_abandon(&engine, !ok                  ? str_z(r->why.msg)
                              : client.interrupted ? STR("the run was interrupted")
                                                   : STR("the server has exited"));
    r->interrupted = client.interrupted;
    r->last_number = engine.number;
    r->failed = engine.failed || r->interrupted;
    r->spoke = engine.responses > 0;
    if (ok && engine.failed && !r->interrupted)
        explain_failure(r, &client);
    scenario_release(&engine);
    run_client_release(&client);
}

/* Gives the file its name, or removes it. */
static bool end_file(struct run_scenario *r, struct scenario_output *o, struct err *e)
{
    if (o->error.kind != ERR_OK) {
        writer_abort(&o->writer);
        *e = o->error;
        return err_wrap(e, "cannot write '%s'", r->path);
    }
    if (r->failed || !o->interactions) {
        writer_abort(&o->writer);
        return true;
    }
    r->interactions = o->interactions;
    r->written = writer_finish(&o->writer, e);
    return r->written;
}

bool run_scenario_run(struct run_scenario *r, struct err *e)
{
    struct scenario_output output = { .sink = { put_record },
                                      .messages_only = r->format == &cassette_format,
                                      .log = r->settings->log_http ? r->app->log : NULL };
    struct traffic_recorder_sink file = { .records = &output.sink };
    struct traffic_recorder recorder;
    struct arena a = { 0 };
    struct record_header header;
    bool ok;

    if (!writer_open(&output.writer, r->app->sys, r->path, true, r->format, NULL, e))
        return false;
    map_init(&output.dropped);
    traffic_recorder_init(&recorder, r->settings->redaction, LIMIT_MESSAGE, on_failed, &output);
    traffic_recorder_add_sink(&recorder, &file);
    header = record_output_compose_header(r->settings,
                                          r->target.remote ? STR("http") : STR("stdio"), &a);
    traffic_recorder_write_header(&recorder, &header);
    run_session(r, &recorder);
    traffic_recorder_write_footer(&recorder, 0);
    ok = end_file(r, &output, e);
    traffic_recorder_release(&recorder);
    map_release(&output.dropped);
    arena_release(&a);
    return ok;
}
