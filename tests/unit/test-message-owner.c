#include "trace/message-owner.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "format/reader.h"
#include "index/index.h"
#include "ops/op-builder.h"
#include "terse.h"
#include "test.h"

/* Requests that are open, as terse lines, and a message: its owner as text. The message is not
 * added. */
struct decision {
    struct sink sink;
    struct pairing pairs;
    struct scope_chain scopes; /* of the last message of the server */
    bool is_request;
    struct arena arena;
};

static bool put_open(struct sink *self, const struct record *r, struct err *e)
{
    struct decision *d = (struct decision *)self;
    struct mcp_message m;

    (void)e;
    scope_track(&d->pairs.tracker, r);
    if (r->kind != RECORD_MESSAGE)
        return true;
    m = mcp_classify(r->message.msg, &d->arena);
    if (r->message.dir == TO_SERVER && m.kind == MCP_NOTIFICATION) {
        pairing_detach(
            pairing_find(&d->pairs, r, TO_SERVER, json_get(m.params, STR("requestId")), NULL));
    } else if (r->message.dir == TO_SERVER) {
        pairing_add_request(&d->pairs, r, &m, r->message.seq);
        d->pairs.newest->stateless = json_exists(m.meta);
        d->pairs.newest->accepted = json_exists(json_get(m.root, STR("accepted")));
        if (message_owner_is_subscription(d->pairs.newest))
            pairing_detach(d->pairs.newest);
    } else {
        d->scopes = scope_of(&d->pairs.tracker, r);
        d->is_request = m.kind == MCP_REQUEST;
    }
    return true;
}

static void check_owner(const char *traffic, const char *task, const char *want)
{
    static const char *const kinds[] = { "none", "ambiguous", "concurrent", "inferred",
                                         "certain" };
    struct decision d = { .sink = { put_open } };
    struct message_owner owner;
    char got[64];

    pairing_init(&d.pairs);
    terse_feed(&d.sink, traffic);
    owner = message_owner_find(&d.pairs, &d.scopes, d.is_request, str_z(task));
    snprintf(got, sizeof got, owner.request ? "%s %llu" : "%s", kinds[owner.kind],
             owner.request ? (unsigned long long)owner.request->tag : 0);
    assert_string_equal(got, want);
    pairing_release(&d.pairs);
    arena_release(&d.arena);
}

#define CALL "c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n"
#define CALL2 "c2s {'id':2,'method':'tools/call','params':{'name':'t'}}\n"
#define STATELESS "c2s {'id':3,'method':'tools/call','params':{'_meta':{}}}\n"
#define ACCEPTED "c2s {'id':1,'method':'tools/call','accepted':1}\n"
#define LIST "c2s {'id':4,'method':'tools/list'}\n"
#define PING "c2s {'id':5,'method':'ping'}\n"
#define START "c2s {'id':6,'method':'initialize'}\n"
#define LISTEN "c2s {'id':7,'method':'subscriptions/listen'}\n"
#define RESULT "c2s {'id':8,'method':'tasks/result','params':{'taskId':'T'}}\n"
#define CANCEL "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n"
#define LOG "s2c {'method':'notifications/message'}\n"
#define REQUEST "s2c {'id':1,'method':'sampling/createMessage'}\n"
#define X(n) "session=1 x=" #n " "
#define Z(n) "x=" #n " "

static void on_stdio_the_only_request_in_flight_is_the_owner(void **state)
{
    (void)state;
    check_owner(LOG, "", "none");
    check_owner(CALL LOG, "", "inferred 1");
    check_owner(CALL CALL2 LOG, "", "ambiguous 1");
    check_owner(CALL CALL2 CANCEL LOG, "", "inferred 2");
    check_owner("conn=2 " CALL CALL2 LOG, "", "inferred 2");
    check_owner(START LOG, "", "inferred 1");
}

static void pings_and_subscriptions_own_nothing(void **state)
{
    (void)state;
    check_owner(PING LOG, "", "none");
    check_owner(PING CALL LOG, "", "inferred 2");
    check_owner(LISTEN LOG, "", "none");
    check_owner(LISTEN CALL REQUEST, "", "inferred 2");
}

static void a_server_request_belongs_to_a_method_that_allows_it(void **state)
{
    (void)state;
    check_owner(LIST CALL REQUEST, "", "inferred 2");
    check_owner(LIST CALL LOG, "", "ambiguous 1");
    check_owner(LIST REQUEST, "", "inferred 1");
    check_owner(LIST CALL CALL2 REQUEST, "", "ambiguous 2");
    check_owner(CALL RESULT REQUEST, "", "ambiguous 1");
    check_owner(CALL RESULT REQUEST, "T", "certain 2");
    check_owner(CALL RESULT REQUEST, "U", "ambiguous 1");
    check_owner(CALL CALL2 RESULT REQUEST, "T", "certain 3");
}

static void a_stream_names_its_only_request(void **state)
{
    (void)state;
    check_owner(X(1) CALL X(2) CALL2 X(2) LOG, "", "certain 2");
    check_owner(X(1) CALL X(2) CANCEL X(1) LOG, "", "certain 1");
    check_owner(X(1) CALL X(1) CALL2 X(1) LOG, "", "ambiguous 1");
    check_owner(X(1) LIST X(1) CALL X(1) REQUEST, "", "inferred 2");
    check_owner(X(1) LISTEN X(1) LOG, "", "certain 1");
    check_owner(Z(1) PING Z(1) LOG, "", "certain 1");
}

static void a_stream_without_requests_is_that_of_the_session(void **state)
{
    (void)state;
    check_owner(X(1) CALL X(9) LOG, "", "concurrent 1");
    check_owner(X(1) ACCEPTED X(9) LOG, "", "inferred 1");
    check_owner(X(1) CALL X(2) CALL2 X(9) LOG, "", "ambiguous 1");
    check_owner(X(1) CALL "session=2 x=9 " LOG, "", "none");
}

static void without_sessions_only_requests_of_the_same_protocol_count(void **state)
{
    (void)state;
    check_owner(Z(1) CALL Z(9) LOG, "", "concurrent 1");
    check_owner(Z(1) START Z(9) LOG, "", "none");
    check_owner(Z(1) CALL Z(2) STATELESS Z(9) LOG, "", "concurrent 1");
    check_owner(Z(2) STATELESS Z(9) LOG, "", "none");
}

static void no_more_than_a_limit_of_requests_is_looked_at(void **state)
{
    struct buf traffic;

    (void)state;
    buf_init(&traffic, 1 << 20);
    for (int i = 0; i < MESSAGE_OWNER_MAX; i++)
        buf_add(&traffic, STR(PING));
    buf_add(&traffic, STR(CALL LOG));
    check_owner(buf_z(&traffic), "", "inferred 257");
    buf_clear(&traffic);
    for (int i = 0; i <= MESSAGE_OWNER_MAX; i++)
        buf_add(&traffic, STR(PING));
    buf_add(&traffic, STR(CALL LOG));
    check_owner(buf_z(&traffic), "", "inferred 257");
    buf_release(&traffic);
}

/* Owners of the messages of a recording: by operations and by the index of a replay. Arrays by
 * number of the message: 0 is none. */
struct owners {
    struct sink sink;
    struct operation_sink operations;
    struct op_builder builder;
    struct message_store_memory store;
    struct index index;
    struct owned_message {
        uint64_t shown, replayed; /* number of the owner's request */
        char method[64];
    } * messages;
    size_t count, cap;
    uint64_t *op_requests; /* by number of the operation: its first message */
    size_t op_count, op_cap;
    uint32_t *step_seq; /* by number of the step */
    size_t step_count, step_cap;
};

/* A server request is a child of its owner; any other message is one of its owner's. */
static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct owners *o = (struct owners *)((char *)self - offsetof(struct owners, operations));
    const struct operation *op = ev->op;
    uint64_t owner = op->dir == TO_CLIENT ? op->parent : op->number;

    (void)e;
    o->op_requests =
        mem_reserve(o->op_requests, &o->op_cap, op->number + 1, sizeof *o->op_requests);
    while (o->op_count <= op->number)
        o->op_requests[o->op_count++] = 0;
    if (!ev->message || !ev->record || ev->record->kind != RECORD_MESSAGE)
        return true;
    if (!o->op_requests[op->number])
        o->op_requests[op->number] = o->count - 1;
    if (ev->message->dir == TO_CLIENT && ev->message->role != ROLE_RESPONSE &&
        !(ev->record->has & HAS_REDELIVERS) && owner)
        o->messages[o->count - 1].shown = o->op_requests[owner];
    return true;
}

/* Messages are counted, because some files have no numbers. */
static bool put_both(struct sink *self, const struct record *given, struct err *e)
{
    struct owners *o = (struct owners *)self;
    struct record r = *given;
    struct arena a = { 0 };

    if (r.kind == RECORD_MESSAGE) {
        o->messages = mem_reserve(o->messages, &o->cap, o->count + 1, sizeof *o->messages);
        o->messages[o->count] = (struct owned_message){ 0 };
        snprintf(o->messages[o->count].method, sizeof o->messages->method, "%.*s",
                 STR_ARG(mcp_classify(r.message.msg, &a).method));
        r.has |= HAS_SEQ;
        r.message.seq = o->count++;
    }
    arena_release(&a);
    if (!o->index.sink.put(&o->index.sink, &r, e) ||
        !o->builder.sink.put(&o->builder.sink, &r, e))
        return false;
    o->step_seq =
        mem_reserve(o->step_seq, &o->step_cap, o->index.step_count, sizeof *o->step_seq);
    while (o->step_count < o->index.step_count)
        o->step_seq[o->step_count++] = (uint32_t)(o->count - 1);
    return true;
}

static void owners_init(struct owners *o)
{
    static const struct params_rules rules = { .include_meta = false };

    *o = (struct owners){ .sink = { put_both }, .operations = { put_event } };
    o->messages = mem_reserve(o->messages, &o->cap, 1, sizeof *o->messages);
    o->messages[o->count++] = (struct owned_message){ 0 };
    op_builder_init(&o->builder, &o->operations);
    message_store_memory_init(&o->store);
    index_init(&o->index, &o->store.store, &rules, NULL);
}

static void owners_finish(struct owners *o)
{
    struct err e = ERR_NONE;

    assert_true(op_builder_finish(&o->builder, &e));
    index_finish(&o->index);
    for (uint32_t call = 1; call < o->index.call_count; call++)
        for (uint32_t step = index_first_step(&o->index, call); step;
             step = index_next_step(&o->index, call, step))
            if (o->index.steps[step].kind <= STEP_SERVER_REQUEST)
                o->messages[o->step_seq[step]].replayed = o->index.calls[call].seq;
}

static void owners_release(struct owners *o)
{
    op_builder_release(&o->builder);
    index_release(&o->index);
    message_store_memory_release(&o->store);
    free(o->messages);
    free(o->op_requests);
    free(o->step_seq);
}

static bool has_start(struct str line, const char *const *starts)
{
    while (*starts && !str_starts(line, str_z(*starts)))
        starts++;
    return *starts;
}

/* The traffic of a test case: its lines before the expected operations. */
static void feed_input(struct sink *to, const char *path)
{
    static const char *const ends[] = { "operations", "options", NULL };
    static const char *const recorded[] = { "c2s ",     "s2c ",     "| ",      "@",
                                            "conn=",    "session=", "x=",      "raw ",
                                            "latency=", "batch=",   "stream=", NULL };
    struct err e = ERR_NONE;
    struct str rest, line;
    struct buf text, traffic;

    buf_init(&text, 1 << 24);
    buf_init(&traffic, 1 << 24);
    assert_true(file_read_all(&text, &sys_real, path, &e));
    for (rest = buf_str(&text); rest.len;) {
        line = str_cut(&rest, '\n');
        if (has_start(line, ends))
            break;
        if (!has_start(line, recorded))
            continue;
        buf_add(&traffic, line);
        buf_add_ch(&traffic, '\n');
    }
    terse_feed_plain(to, buf_str(&traffic));
    buf_release(&text);
    buf_release(&traffic);
}

static void drop_line(void *to, struct str line)
{
    (void)to;
    (void)line;
}

static void feed_file(struct sink *to, const char *path)
{
    const struct log log = { .write = drop_line };
    struct err e = ERR_NONE;
    struct reader *reader;
    struct record r;

    if (!reader_open(&reader, &sys_real, path, &log, &e))
        fail_msg("%s", e.msg);
    while (reader_next(reader, &r, &e) == NEXT_RECORD)
        assert_true(to->put(to, &r, &e));
    reader_close(reader);
}

static void add_differences(struct buf *to, const char *pattern,
                            void (*feed)(struct sink *to, const char *path))
{
    glob_t files;

    assert_int_equal(glob(pattern, GLOB_ERR, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct owners o;

        owners_init(&o);
        feed(&o.sink, files.gl_pathv[i]);
        owners_finish(&o);
        for (size_t n = 1; n < o.count; n++) {
            const struct owned_message *m = &o.messages[n];

            if (m->shown && m->shown != m->replayed)
                buf_printf(to, "%s #%zu %s: show #%llu, replay #%llu\n", files.gl_pathv[i], n,
                           m->method, (unsigned long long)m->shown,
                           (unsigned long long)m->replayed);
        }
        owners_release(&o);
    }
    globfree(&files);
}

#define DIFFERENCES "tests/operations/show-and-replay.txt"

/* Operations and the replay name the same owner for every message of all test cases and
 * samples, but for those in the file, each with its reason behind a "|". */
static void show_and_replay_name_the_same_owners(void **state)
{
    struct err e = ERR_NONE;
    struct buf got, file, want;
    struct str rest, line, reason;

    (void)state;
    buf_init(&got, 1 << 24);
    buf_init(&file, 1 << 24);
    buf_init(&want, 1 << 24);
    add_differences(&got, "tests/operations/*.play", feed_input);
    add_differences(&got, "tests/playbook/*.play", feed_input);
    add_differences(&got, "tests/formats/*/*.sample", feed_file);
    assert_true(file_read_all(&file, &sys_real, DIFFERENCES, &e));
    for (rest = buf_str(&file); rest.len;) {
        reason = str_cut(&rest, '\n');
        if (!reason.len || reason.at[0] == '#')
            continue;
        line = str_cut(&reason, '|');
        assert_true(str_trim(reason).len > 0);
        buf_add(&want, str_trim(line));
        buf_add_ch(&want, '\n');
    }
    assert_str(buf_str(&got), buf_str(&want));
    buf_release(&got);
    buf_release(&file);
    buf_release(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_stdio_the_only_request_in_flight_is_the_owner),
        cmocka_unit_test(pings_and_subscriptions_own_nothing),
        cmocka_unit_test(a_server_request_belongs_to_a_method_that_allows_it),
        cmocka_unit_test(a_stream_names_its_only_request),
        cmocka_unit_test(a_stream_without_requests_is_that_of_the_session),
        cmocka_unit_test(without_sessions_only_requests_of_the_same_protocol_count),
        cmocka_unit_test(no_more_than_a_limit_of_requests_is_looked_at),
        cmocka_unit_test(show_and_replay_name_the_same_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
