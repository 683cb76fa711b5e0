#include "format/spans.h"

#include <stdlib.h>

#include "base/mem.h"
#include "memory-file.h"
#include "terse.h"
#include "test.h"

/* A format that writes a line for each span: a letter for its number in place of its id. */
struct lines {
    struct spans spans;
};

static uint64_t number_of(const struct spans *s, struct uuid id)
{
    for (uint64_t n = 0; n < 64; n++)
        if (span_ids_span(&s->ids, n).high == id.high)
            return n;
    return 99;
}

static void put_attribute(struct buf *to, const struct span_attribute *a)
{
    buf_printf(to, " %s=", a->key);
    if (a->type == SPAN_TEXT || a->type == SPAN_JSON)
        buf_add(to, a->text);
    else
        buf_add_int(to, a->number);
}

static void put_span(void *state, struct buf *to, const struct span *span)
{
    static const char *const kinds[] = { "", "internal", "server", "client" },
                             *const statuses[] = { "running", "completed", "failed",
                                                   "cancelled" };
    struct lines *l = state;

    buf_printf(to, "%llu", (unsigned long long)number_of(&l->spans, span->id));
    if (span->has_parent)
        buf_printf(to, "<%llu", (unsigned long long)number_of(&l->spans, span->parent));
    buf_printf(to, " %s %s '%.*s' of %.*s %lld-%lld%s", kinds[span->kind],
               statuses[span->status], STR_ARG(span->name), STR_ARG(span->service),
               (long long)span->start_us, (long long)span->end_us,
               span->is_error ? " error" : "");
    if (span->message.len)
        buf_printf(to, " '%.*s'", STR_ARG(span->message));
    if (span->in_other_trace)
        buf_printf(to, " trace=%llx", (unsigned long long)span->trace_high);
    if (span->parent_is_remote)
        buf_printf(to, " remote=%llx", (unsigned long long)span->w3c_parent);
    if (span->link)
        buf_printf(to, " link=%llx", (unsigned long long)span->link->context.parent);
    for (size_t i = 0; i < span->attribute_count; i++)
        put_attribute(to, &span->attributes[i]);
    for (size_t i = 0; i < span->event_count; i++)
        buf_printf(to, " @%lld %.*s", (long long)span->events[i].us,
                   STR_ARG(span->events[i].name));
    buf_add_ch(to, '\n');
}

static void put_state(void *state, struct buf *to, const struct span *span)
{
    struct lines *l = state;
    struct str text = spans_state(&l->spans, span);

    buf_add(to, str_skip(text, str_find(text, ',')));
    buf_add_ch(to, '\n');
}

static void *begin_with(const struct span_sink *sink, const struct format_options *o)
{
    struct lines *l = mem_new(struct lines);
    const struct spans_config config = {
        .options = o, .sink = sink, .state = l, .mplp = o->mplp
    };

    spans_init(&l->spans, &config);
    return l;
}

static void *begin(const struct format_options *o)
{
    static const struct span_sink sink = { .put = put_span };

    return begin_with(&sink, o);
}

static void *begin_states(const struct format_options *o)
{
    static const struct span_sink sink = { .put = put_state };

    return begin_with(&sink, o);
}

static void put(void *state, struct buf *to, const struct record *r)
{
    (void)to;
    spans_put(&((struct lines *)state)->spans, r);
}

static void put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    spans_put_operation(&((struct lines *)state)->spans, to, o);
}

static void end(void *state, struct buf *to)
{
    struct lines *l = state;

    spans_finish(&l->spans, to);
    spans_release(&l->spans);
    free(l);
}

static const struct format lines_format = {
    .name = "lines", .begin = begin, .put = put, .put_operation = put_operation, .end = end
};

/* Writes the members of others in the tracestate of each span. */
static const struct format states_format = { .name = "states",
                                             .begin = begin_states,
                                             .put = put,
                                             .put_operation = put_operation,
                                             .end = end };

static void assert_written(const struct format *format, const struct format_options *options,
                           const char *story, const char *want)
{
    struct memory_writer w;

    memory_writer_init(&w, format);
    encoder_end(&w.encoder, &w.text);
    buf_clear(&w.text);
    encoder_begin(&w.encoder, format, options);
    terse_feed(&w.sink, story);
    memory_writer_finish(&w);
    assert_str(buf_str(&w.text), str_z(want));
    memory_writer_release(&w);
}

static void assert_spans_with(const struct format_options *options, const char *story,
                              const char *want)
{
    assert_written(&lines_format, options, story, want);
}

static void assert_spans(const char *story, const char *want)
{
    assert_spans_with(NULL, story, want);
}

#define ROOT(times) "0 internal running 'mcp session' of mcp-client " times "\n"

static void an_empty_recording_is_a_root(void **state)
{
    (void)state;
    assert_spans("", ROOT("0-0"));
}

static void a_request_is_a_span_of_its_sender(void **state)
{
    (void)state;
    assert_spans(
        "@1 c2s {'id':'x','method':'tools/call','params':{'name':'t'}}\n"
        "@2 s2c {'id':5,'method':'roots/list'}\n@4 c2s {'id':5,'result':{}}\n"
        "@9 s2c {'id':'x','result':{}}\n",
        "4<2 client completed 'roots/list' of mcp-server 2-4 mcp.method.name=roots/list "
        "jsonrpc.request.id=5 mcpreel.link=server-request mcpreel.link_inferred=1\n"
        "2<0 client completed 'tools/call t' of mcp-client 1-9 mcp.method.name=tools/call "
        "gen_ai.operation.name=execute_tool gen_ai.tool.name=t jsonrpc.request.id=x\n" ROOT(
            "0-9"));
}

static void errors_have_a_type(void **state)
{
    (void)state;
    assert_spans(
        "c2s {'id':1,'method':'ping'}\ns2c {'id':1,'error':{'code':-32601,'message':'no'}}\n"
        "c2s {'id':2,'method':'tools/call'}\ns2c {'id':2,'result':{'isError':true}}\n"
        "c2s {'id':3,'method':'ping'}\n"
        "c2s {'method':'notifications/cancelled','params':{'requestId':3}}\n"
        "c2s {'id':4,'method':'ping'}\nc2s {'id':5,'method':'subscriptions/listen'}\n",
        "2<0 client failed 'ping' of mcp-client 0-0 error 'no' mcp.method.name=ping "
        "jsonrpc.request.id=1 rpc.response.status_code=-32601 error.type=-32601\n"
        "4<0 client failed 'tools/call' of mcp-client 0-0 error mcp.method.name=tools/call "
        "gen_ai.operation.name=execute_tool jsonrpc.request.id=2 error.type=tool_error\n"
        "6<0 client cancelled 'ping' of mcp-client 0-0 error mcp.method.name=ping "
        "jsonrpc.request.id=3 error.type=cancelled @0 notifications/cancelled\n"
        "8<0 client running 'ping' of mcp-client 0-0 error mcp.method.name=ping "
        "jsonrpc.request.id=4 error.type=no_response\n"
        "10<0 client running 'subscriptions/listen' of mcp-client 0-0 "
        "mcp.method.name=subscriptions/listen jsonrpc.request.id=5\n" ROOT("0-0"));
}

#define CONTEXT                                                                                \
    "'_meta':{'traceparent':'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'}"

static void a_request_with_a_context_is_a_span_of_its_receiver(void **state)
{
    (void)state;
    assert_spans(
        "@1 c2s {'id':1,'method':'ping','params':{" CONTEXT "}}\n"
        "@2 s2c {'id':1,'error':{'code':-32601,'message':'no'}}\n"
        "@3 c2s {'id':2,'method':'tools/call','params':{'name':'t'," CONTEXT "}}\n"
        "@4 s2c {'id':7,'method':'roots/list'}\n@5 c2s {'id':7,'result':{}}\n"
        "@6 s2c {'id':2,'error':{'code':-32603,'message':'no'}}\n",
        "2<0 server failed 'ping' of mcp-server 1-2 'no' trace=af7651916cd43dd "
        "remote=b7ad6b7169203331 mcp.method.name=ping jsonrpc.request.id=1 "
        "rpc.response.status_code=-32601\n"
        "6<4 client completed 'roots/list' of mcp-server 4-5 trace=af7651916cd43dd "
        "mcp.method.name=roots/list jsonrpc.request.id=7 mcpreel.link=server-request "
        "mcpreel.link_inferred=1\n"
        "4<0 server failed 'tools/call t' of mcp-server 3-6 error 'no' trace=af7651916cd43dd "
        "remote=b7ad6b7169203331 mcp.method.name=tools/call "
        "gen_ai.operation.name=execute_tool gen_ai.tool.name=t jsonrpc.request.id=2 "
        "rpc.response.status_code=-32603 error.type=-32603\n" ROOT("0-6"));
}

static void retries_are_below_a_span_of_the_operation(void **state)
{
    (void)state;
    assert_spans(
        "@1 c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n"
        "@2 s2c {'id':1,'result':{'resultType':'input_required','requestState':'s',"
        "'inputRequests':{'k':{}}}}\n"
        "@5 c2s {'id':2,'method':'tools/call','params':{'name':'t','requestState':'s',"
        "'inputResponses':{'k':{}}," CONTEXT "}}\n"
        "@8 s2c {'id':2,'result':{}}\n",
        "4<2 server completed 'tools/call t' of mcp-server 5-8 link=b7ad6b7169203331 "
        "mcp.method.name=tools/call gen_ai.operation.name=execute_tool gen_ai.tool.name=t "
        "jsonrpc.request.id=2 mcpreel.link=retry\n"
        "3<2 client completed 'tools/call t' of mcp-client 1-2 mcp.method.name=tools/call "
        "gen_ai.operation.name=execute_tool gen_ai.tool.name=t jsonrpc.request.id=1\n"
        "2<0 internal completed 'execute_tool t' of mcp-client 1-8 mcp.method.name=tools/call "
        "gen_ai.operation.name=execute_tool gen_ai.tool.name=t\n" ROOT("0-8"));
}

static void notifications_are_events(void **state)
{
    (void)state;
    assert_spans(
        "@1 c2s {'method':'notifications/initialized'}\n"
        "@2 c2s {'id':1,'method':'ping','params':{'_meta':{'progressToken':1}}}\n"
        "@3 s2c {'method':'notifications/progress','params':{'progressToken':1}}\n"
        "@4 s2c {'id':1,'result':{}}\n@5 s2c {'id':1,'result':{}}\n",
        "4<0 client completed 'ping' of mcp-client 2-4 mcp.method.name=ping "
        "jsonrpc.request.id=1 @3 notifications/progress\n"
        "0 internal running 'mcp session' of mcp-client 0-5 @1 notifications/initialized "
        "@5 mcp.response.orphan\n");
}

static void a_stateless_request_has_no_session(void **state)
{
    (void)state;
    assert_spans("session=3 c2s {'id':1,'method':'ping','params':{'_meta':{"
                 "'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n",
                 "2<0 client running 'ping' of mcp-client 0-0 error mcp.method.name=ping "
                 "jsonrpc.request.id=1 mcp.protocol.version=2026-07-28 error.type=no_response\n"
                 "0 internal running 'mcp session' of mcp-client 0-0 "
                 "mcp.protocol.version=2026-07-28\n");
}

static void payloads_and_mplp_are_added_on_request(void **state)
{
    const struct format_options o = {
        .payloads = true, .mplp = true, .agent_role = STR("planner"), .step_id = STR("id")
    };

    (void)state;
    assert_spans_with(
        &o,
        "@0 c2s {'id':1,'method':'tools/call','params':{'name':'t','arguments':{'a':1}}}\n"
        "@2 s2c {'id':1,'result':{'isError':true,'content':[{'text':'bad'}]}}\n",
        "2<0 client failed 'tools/call t' of mcp-client 0-2 error 'bad' "
        "mcp.method.name=tools/call gen_ai.operation.name=execute_tool gen_ai.tool.name=t "
        "jsonrpc.request.id=1 error.type=tool_error mplp.module=extension "
        "mplp.operation=tools/call mplp.agent_role=planner mplp.step_id=id "
        "mplp.duration_ms=2 mplp.error=bad mplp.tool.name=t mplp.tool.args={\"a\":1} "
        "gen_ai.tool.call.arguments={\"a\":1} "
        "gen_ai.tool.call.result={\"isError\":true,\"content\":[{\"text\":\"bad\"}]}\n"
        "0 internal running 'mcp session' of mcp-client 0-2 mplp.module=extension "
        "mplp.operation=mcp.session mplp.agent_role=planner mplp.step_id=id\n");
}

static void assert_state(const char *others, const char *want)
{
    struct arena a = { 0 };

    assert_written(&states_format, NULL,
                   arena_printf(&a,
                                "c2s {'id':1,'method':'ping','params':{'_meta':{'traceparent':"
                                "'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',"
                                "'tracestate':'%s'}}}\n",
                                others)
                       .at,
                   want);
    arena_release(&a);
}

static void the_tracestate_of_others_follows_our_member(void **state)
{
    struct arena a = { 0 };
    struct str list = STR("k=v"), kept;

    (void)state;
    assert_state("b=1, a=2", ",b=1,a=2\n\n");
    assert_state("b=1,mplp=old,a=2", ",b=1,a=2\n\n");
    assert_state("b=1,b=2", "\n\n");
    for (int i = 1; i < 31; i++)
        list = arena_printf(&a, "%.*s,k%d=v", STR_ARG(list), i);
    kept = arena_printf(&a, ",%.*s\n\n", STR_ARG(list));
    assert_state(arena_printf(&a, "%.*s,z=v", STR_ARG(list)).at, kept.at);
    arena_release(&a);
}

static void half_a_surrogate_pair_is_replaced(void **state)
{
    (void)state;
    assert_spans("c2s {'id':1,'method':'tools/call','params':{'name':'a`ud83d'}}\n"
                 "s2c {'id':1,'result':{}}\n",
                 "2<0 client completed 'tools/call a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD' of "
                 "mcp-client 0-0 mcp.method.name=tools/call "
                 "gen_ai.operation.name=execute_tool "
                 "gen_ai.tool.name=a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD "
                 "jsonrpc.request.id=1\n" ROOT("0-0"));
}

static void the_end_of_the_recording_is_the_status_of_the_root(void **state)
{
    (void)state;
    assert_spans("| "
                 "{'type':'footer','ended_at':'2026-11-15T21:00:00Z','total_messages':0,'"
                 "duration_ms':5,'client_messages':0,'server_messages':0,'exit_code':3}\n",
                 "0 internal failed 'mcp session' of mcp-client 0-0 error "
                 "mcpreel.exit_code=3 error.type=server_exited\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_recording_is_a_root),
        cmocka_unit_test(a_request_is_a_span_of_its_sender),
        cmocka_unit_test(errors_have_a_type),
        cmocka_unit_test(a_request_with_a_context_is_a_span_of_its_receiver),
        cmocka_unit_test(retries_are_below_a_span_of_the_operation),
        cmocka_unit_test(notifications_are_events),
        cmocka_unit_test(a_stateless_request_has_no_session),
        cmocka_unit_test(payloads_and_mplp_are_added_on_request),
        cmocka_unit_test(the_tracestate_of_others_follows_our_member),
        cmocka_unit_test(half_a_surrogate_pair_is_replaced),
        cmocka_unit_test(the_end_of_the_recording_is_the_status_of_the_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
