#include "ops/op-continue.h"

#include "op-lines.h"
#include "terse.h"
#include "test.h"

/* tests/operations has the continuations of requests; here are the facts of a single response.
 */
static void the_outcome_of_a_response_depends_on_the_failing_side(void **state)
{
    static const struct {
        const char *message;
        enum operation_response answer;
        enum operation_outcome outcome;
        bool has_code;
        int64_t code;
    } rows[] = {
        { "{'id':1,'result':{}}", RESPONSE_RESULT, OUTCOME_OK, false, 0 },
        { "{'id':1,'result':null}", RESPONSE_RESULT, OUTCOME_OK, false, 0 },
        { "{'id':1,'result':[true]}", RESPONSE_RESULT, OUTCOME_OK, false, 0 },
        { "{'id':1,'result':{'isError':true}}", RESPONSE_RESULT, OUTCOME_TOOL_ERROR, false, 0 },
        { "{'id':1,'result':{'isError':false}}", RESPONSE_RESULT, OUTCOME_OK, false, 0 },
        { "{'id':1,'result':{'isError':'true'}}", RESPONSE_RESULT, OUTCOME_OK, false, 0 },
        { "{'id':1,'error':{'code':-32602}}", RESPONSE_ERROR, OUTCOME_RPC_ERROR, true, -32602 },
        { "{'id':1,'error':{'code':0}}", RESPONSE_ERROR, OUTCOME_RPC_ERROR, true, 0 },
        { "{'id':1,'error':{'code':-32602.0}}", RESPONSE_ERROR, OUTCOME_RPC_ERROR, true,
          -32602 },
        { "{'id':1,'error':{'code':1.5}}", RESPONSE_ERROR, OUTCOME_RPC_ERROR, false, 0 },
        { "{'id':1,'error':{'code':'-1'}}", RESPONSE_ERROR, OUTCOME_RPC_ERROR, false, 0 },
        { "{'id':1,'error':'no'}", RESPONSE_ERROR, OUTCOME_RPC_ERROR, false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct operation op = { .outcome = OUTCOME_PENDING };
        struct terse_scanned s;
        struct mcp_message m = mcp_classify(terse_scan(&s, rows[i].message), &s.arena);

        op_continue_set_outcome(&op, &m);
        if (op.response != rows[i].answer || op.outcome != rows[i].outcome ||
            !(op.flags & OP_HAS_CODE) != !rows[i].has_code || op.code != rows[i].code)
            fail_msg("%s: %s, %s, %lld", rows[i].message, operation_response_name(op.response),
                     operation_outcome_name(op.outcome), (long long)op.code);
        terse_scanned_release(&s);
    }
}

/* A request, its answer, and a request that may go on with it. */
static void check(const char *request_text, const char *response_text, const char *next,
                  bool goes_on)
{
    struct buf traffic, got;
    struct arena a = { 0 };

    buf_init(&traffic, 1 << 16);
    buf_init(&got, 1 << 16);
    buf_printf(&traffic, "c2s {'id':1,%s}\ns2c {'id':1,'result':{%s}}\nc2s {'id':2,%s}\n",
               request_text, response_text, next);
    op_lines_of_traffic(terse_json(&a, buf_z(&traffic)), &got);
    if (!strstr(buf_z(&got), goes_on ? "\n2<1:" : "\n2 c2s "))
        fail_msg("%s\n%s", buf_z(&traffic), buf_z(&got));
    buf_release(&traffic);
    buf_release(&got);
    arena_release(&a);
}

#define CALL "'method':'tools/call'"
#define LIST "'method':'tools/list'"
#define POLL "'method':'tasks/get'"
#define WANTS "'resultType':'input_required'"

static void a_continuation_is_distinguished_from_similar_requests(void **state)
{
    (void)state;
    check(CALL, WANTS ",'requestState':'s'", CALL ",'params':{'requestState':'s'}", true);
    check(CALL, WANTS ",'requestState':''", CALL ",'params':{'requestState':''}", true);
    check(CALL, WANTS ",'requestState':'s'", CALL ",'params':{'requestState':7}", false);
    check(CALL, WANTS ",'requestState':7", CALL ",'params':{'requestState':7}", false);
    check(CALL, "'requestState':'s'", CALL ",'params':{'requestState':'s'}", false);
    check(CALL, "'resultType':['input_required'],'requestState':'s'",
          CALL ",'params':{'requestState':'s'}", false);
    check(CALL, WANTS ",'inputRequests':{'a':1}", CALL ",'params':{'inputResponses':{'a':2}}",
          true);
    check(CALL, WANTS, CALL ",'params':{'inputResponses':{}}", false);
    check(CALL, WANTS ",'inputRequests':{'a':1},'requestState':'s'",
          CALL ",'params':{'inputResponses':{'a':2}}", false);
    check(LIST, "'nextCursor':'c'", LIST ",'params':{'cursor':'c'}", true);
    check(LIST, "'nextCursor':''", LIST ",'params':{'cursor':''}", false);
    check(LIST, "'nextCursor':7", LIST ",'params':{'cursor':7}", false);
    check(LIST, "'nextCursor':'c'", "'method':'x/list','params':{'cursor':'c'}", false);
    check(CALL, "'nextCursor':'c'", CALL ",'params':{'cursor':'c'}", false);
    check(CALL, "'task':{'taskId':'t','status':'working'}", POLL ",'params':{'taskId':'t'}",
          true);
    check(CALL, "'resultType':'task','taskId':'t','status':'working'",
          POLL ",'params':{'taskId':'t'}", true);
    check(CALL, "'task':{'taskId':7,'status':'working'}", POLL ",'params':{'taskId':7}", false);
    check(CALL, "'task':{'taskId':'t'}", POLL ",'params':{'taskId':'t'}", false);
    check(CALL, "'taskId':'t','status':'working'", POLL ",'params':{'taskId':'t'}", false);
    check(POLL, "'resultType':'task','taskId':'t','status':'failed'",
          POLL ",'params':{'taskId':'t'}", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outcome_of_a_response_depends_on_the_failing_side),
        cmocka_unit_test(a_continuation_is_distinguished_from_similar_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
