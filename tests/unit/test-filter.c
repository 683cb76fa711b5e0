#include "filter/filter.h"

#include "base/buf.h"
#include "terse.h"
#include "test.h"

static const char call[] =
    "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'read_file','arguments':"
    "{'path':'/etc/passwd','limit':10,'deep':{'a':[1,2.50,'x']},'flag':true,'none':null,"
    "'odd key':'it`u0027s','q':'caf`u00e9 `'x`''},"
    "'_meta':{'progressToken':5,'io.modelcontextprotocol/logLevel':'info'}}}";

static const char answer[] =
    "{'id':7,'result':{'content':[{'type':'text','text':'Root:x'},{'type':'image','data':''}],"
    "'structuredContent':{'n':1},'_meta':{'traceparent':'00-1'}}}";

/* Query and whether it is satisfied. */
struct seen_row {
    const char *query;
    bool want;
};

static void check_rows(const struct filter_view *v, const struct seen_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct err e = ERR_NONE;
        struct filter_fault fault;
        struct filter *f;

        if (!filter_new(&f, str_z(rows[i].query), &fault, &e))
            fail_msg("%s: %s", rows[i].query, e.msg);
        if (filter_matches(f, v) != rows[i].want)
            fail_msg("'%s' should %sbe satisfied", rows[i].query, rows[i].want ? "" : "not ");
        filter_free(f);
    }
}

#define CHECK_ROWS(v, rows) check_rows((v), (rows), sizeof(rows) / sizeof *(rows))

static const struct filter_view operation = {
    .has = FILTER_HAS_CODE | FILTER_HAS_STATUS | FILTER_HAS_DUR | FILTER_HAS_SERVER_DUR |
           FILTER_HAS_WAIT | FILTER_HAS_GAP | FILTER_HAS_SIZE | FILTER_HAS_REQ_SIZE |
           FILTER_HAS_RES_SIZE | FILTER_HAS_T | FILTER_HAS_WALL,
    .kind = FILTER_KIND_OP | FILTER_KIND_REQ,
    .dir = FILTER_DIR_C2S,
    .is = FILTER_IS_RPC_ERROR | FILTER_IS_SLOW | FILTER_IS_PROGRESS,
    .method = STR_INIT("tools/call"),
    .tool = STR_INIT("read_file"),
    .id = STR_INIT("7"),
    .server = STR_INIT("fs"),
    .trace = STR_INIT("nightly run"),
    .session = STR_INIT("2"),
    .code = -32602,
    .status = 200,
    .dur = 1500000,
    .server_dur = 1200000,
    .wait = 300000,
    .gap = 0,
    .size = 2500000,
    .req_size = 4096,
    .res_size = 2000000,
    .t = 75000000,
    .wall = INT64_C(1794776475) * 1000000, /* 2026-11-15T21:01:15Z */
};

static void texts_match_completely_or_with_stars(void **state)
{
    static const struct seen_row rows[] = {
        { "method:tools/call", true },
        { "method:tools", false },
        { "method:tools/*", true },
        { "method:*call", true },
        { "method:t*l*/c*l", true },
        { "method:*", true },
        { "method:t*x", false },
        { "method=tools/call", true },
        { "method!=tools/call", false },
        { "method!=x", true },
        { "method:x,tools/call", true },
        { "method:x,y", false },
        { "method!=x,tools/call", false },
        { "method~^TOOLS/", true },
        { "method~^call", false },
        { "method:/^TOOLS.call$/", true },
        { "method:/^TOOLS.call$/i", true },
        { "method:/(?-i)^TOOLS/", false },
        { "tool:Read_File", false },
        { "tool:read_file", true },
        { "tool:\"read_*\"", false },
        { "trace:\"nightly run\"", true },
        { "trace:nightly*", true },
        { "server:f,fs", true },
        { "session:2", true },
        { "id:7", true },
        { "id:70", false },
        { "tool:read.file", false },
        { "prompt:*", false },
        { "prompt!=x", false },
        { "-prompt:x", true },
        { "task:1", false },
        { "uri:file:///etc/*", false },
    };

    (void)state;
    CHECK_ROWS(&operation, rows);
}

static void numbers_are_compared_with_their_units(void **state)
{
    static const struct seen_row rows[] = {
        { "code:-32602", true },
        { "code:-32602,-32601", true },
        { "code:-32603..-32601", true },
        { "code:..-32603", false },
        { "code!=-32602", false },
        { "code!=-32601", true },
        { "code<0", true },
        { "code:>0", false },
        { "status:>=200", true },
        { "status:>200", false },
        { "status:<200", false },
        { "status<=200", true },
        { "status:200..299", true },
        { "status:201..", false },
        { "status:>=400,200", true },
        { "status-code:200", true },
        { "dur:1500ms", true },
        { "dur:>1s", true },
        { "dur>1.5s", false },
        { "dur:>=1.5s", true },
        { "dur:1s..2s", true },
        { "dur:<1m", true },
        { "server-dur:>500ms", true },
        { "wait:>300000us", false },
        { "wait:300ms..", true },
        { "gap:0", true },
        { "size:>1MB", true },
        { "size:>3MB", false },
        { "larger-than:2MB", true },
        { "larger-than:2500000", false },
        { "req-size:4096B", true },
        { "req-size:>4KB", true },
        { "res-size:2000KB", true },
        { "t:1m..1m30s", true },
        { "t:>1m15s", false },
        { "t:21:01..21:02", true },
        { "t:21:01:16..", false },
        { "t:<2026-11-15T21:01:16Z", true },
        { "t:2026-11-15T21:01:15Z", true },
        { "t:>2026-11-15T21:01:15Z", false },
    };
    static const struct seen_row nothing[] = {
        { "code:0", false }, { "code!=5", false }, { "status<500", false },
        { "dur:0", false },  { "t:..1h", false },  { "t:00:00..", false },
        { "size:0", false },
    };
    static const struct filter_view bare = { .has = 0 };

    (void)state;
    CHECK_ROWS(&operation, rows);
    CHECK_ROWS(&bare, nothing);
}

static void words_match_properties(void **state)
{
    static const struct seen_row rows[] = {
        { "is:error", true },    { "is:rpc-error", true }, { "is:tool-error", false },
        { "is:running", false }, { "is:pending", false },  { "is:ok,slow", true },
        { "is!=error", false },  { "is!=pending", true },  { "is:progress", true },
        { "is:binary", false },  { "dir:c2s", true },      { "dir:in", true },
        { "dir:out", false },    { "kind:op", true },      { "kind:req", true },
        { "kind:notif", false }, { "has:image", false },   { "kind:res,op", true },
    };
    static const struct filter_view late = { .is = FILTER_IS_PENDING | FILTER_IS_TASK };
    static const struct seen_row others[] = {
        { "is:running", true },
        { "is:task", true },
        { "kind:op", false },
        { "kind!=op", false },
    };

    (void)state;
    CHECK_ROWS(&operation, rows);
    CHECK_ROWS(&late, others);
}

static void terms_are_combined(void **state)
{
    static const struct seen_row rows[] = {
        { "", true },
        { "  ", true },
        { "id:7 tool:read_file", true },
        { "id:7 tool:x", false },
        { "id:7 AND tool:x", false },
        { "id:8 OR tool:read_file", true },
        { "id:8|tool:read_file", true },
        { "id:8 | tool:x", false },
        { "id:8 id:8 OR id:7", true },
        { "id:7 OR id:8 id:8", true },
        { "(id:7 OR id:8) id:8", false },
        { "id:8 (id:7 OR id:8)", false },
        { "-id:8", true },
        { "!id:7", false },
        { "NOT id:7", false },
        { "NOT (id:7 id:8)", true },
        { "-(id:7 OR id:8)", false },
        { "-(-id:7)", true },
        { "-id:8 -id:9 -id:10", true },
        { "((((id:7))))", true },
        { "(id:8)(id:7)", false },
        { "(id:7)(id:7)", true },
        { "id:7(tool:x)", false },
        { "id:8 OR id:9 OR id:10 OR id:7", true },
        { "id:8 OR (id:7 (id:9 OR (id:7 (id:10 OR id:7))))", true },
        { "ANDROID OR id:7", true },
        { "NOTHING", false },
        { "ORDER", false },
    };

    (void)state;
    CHECK_ROWS(&operation, rows);
}

static const struct seen_row places_in_a_call[] = {
    { "arg.path", true },
    { "arg.nothing", false },
    { "-arg.nothing", true },
    { "arg.path:/etc/passwd", true },
    { "arg.path=/etc/passwd", true },
    { "arg.path:/etc/*", true },
    { "arg.path:/etc/", true }, /* a regular expression: it ends with a slash */
    { "arg.path:passwd", false },
    { "arg.path~/ETC/", true },
    { "arg.path~^/etc/", true },
    { "arg.path~^passwd", false },
    { "arg.path!=/etc/hosts", true },
    { "arg.path!=/etc/passwd", false },
    { "arg.gone!=x", false },
    { "arg.limit:10", true },
    { "arg.limit:10.0", true },
    { "arg.limit:1e1", true },
    { "arg.limit:\"10\"", false },
    { "arg.limit:1", false },
    { "arg.limit>9", true },
    { "arg.limit>10", false },
    { "arg.limit:>=10", true },
    { "arg.limit<10.5", true },
    { "arg.limit:5..10", true },
    { "arg.limit:11..20", false },
    { "arg.limit:1*", true },
    { "arg.path>5", false },
    { "arg.deep.a[1]:2.5", true },
    { "arg.deep.a[*]:x", true },
    { "arg.deep.a[*]!=x", false },
    { "arg..a", true },
    { "arg.deep~2.50", true },
    { "arg.flag:true", true },
    { "arg.flag:false", false },
    { "arg.flag:\"true\"", false },
    { "arg.none:null", true },
    { "arg['odd key']:it's", true },
    { "arg[\"odd key\"]", true },
    { "arg['odd key']=\"it's\"", true },
    { "arg.q:\"café \\\"x\\\"\"", true },
    { "arg~passwd", true },
    { "$.method:tools/call", true },
    { "$.params.name:read_*", true },
    { "$..progressToken:5", true },
    { "meta.progressToken:5", true },
    { "meta['io.modelcontextprotocol/logLevel']:info", true },
    { "result.content", false },
    { "tool:read_file", false }, /* the view decides, not the message */
};

static void paths_select_values_in_the_message(void **state)
{
    static const struct seen_row of_answer[] = {
        { "result.content[1].type:image", true },
        { "result.content[0].type:image", false },
        { "result.content[*].type:image,audio", true },
        { "meta.traceparent", true },
        { "arg.path", false },
        { "has:image", true },
        { "has:audio", false },
        { "has:structured", true },
        { "has:traceparent", true },
        { "has:link,structured", true },
        { "has!=audio", true },
        { "is:binary", true },
    };
    struct terse_scanned s = { 0 };
    struct filter_view v = { .has = 0 };

    (void)state;
    v.message = terse_scan(&s, call);
    CHECK_ROWS(&v, places_in_a_call);
    terse_scanned_release(&s);
    s = (struct terse_scanned){ 0 };
    v.message = terse_scan(&s, answer);
    CHECK_ROWS(&v, of_answer);
    terse_scanned_release(&s);
}

static void a_bare_text_is_searched_everywhere(void **state)
{
    static const struct seen_row rows[] = {
        { "passwd", true },
        { "PASSWD", true },
        { "pass*etc", false },
        { "etc*passwd", true },
        { "\"etc*passwd\"", false },
        { "\"odd key\"", true },
        { "/p.ss/", true },
        { "/^passwd/", false },
        { "/etc/passwd", true },
        { "café", true },
        { "CAFÉ", true },
        { "it's", true },
        { "tools/call", true },
        { "fs", false },
        { "a,b", false },
        { "1,2.50", true },
        { "zzz", false },
        { "-zzz", true },
        { "$5", false },
        { "arg", true },
        { "~", false },
    };
    static const struct seen_row of_view[] = {
        { "call", true },
        { "READ_", true },
        { "7", true },
        { "nightly", false },
    };
    static const struct filter_view noise = { .bytes = STR_INIT("\xff"
                                                                "Listening on 80\n") };
    static const struct seen_row of_noise[] = { { "listening", true },
                                                { "on*80", true },
                                                { "x", false } };
    struct terse_scanned s = { 0 };
    struct filter_view v = { .has = 0 };

    (void)state;
    v.message = terse_scan(&s, call);
    CHECK_ROWS(&v, rows);
    terse_scanned_release(&s);
    CHECK_ROWS(&operation, of_view);
    CHECK_ROWS(&noise, of_noise);
}

/* The terms an operation satisfies are those its pieces do, put together. */
static void a_filter_can_match_an_operation_piece_by_piece(void **state)
{
    struct terse_scanned s = { 0 };
    struct filter_view piece = { .message = terse_scan(&s, call) };
    struct filter_fault fault;
    struct err e = ERR_NONE;
    struct filter *f;
    uint64_t seen;

    (void)state;
    assert_true(filter_new(&f, STR("arg.limit:10 is:slow -is:pending"), &fault, &e));
    assert_false(filter_matches(f, &piece));
    assert_false(filter_matches(f, &operation));
    seen = filter_match_terms(f, &piece) | filter_match_terms(f, &operation);
    assert_true(filter_eval(f, seen));
    assert_false(filter_eval(f, seen | 4));
    filter_free(f);
    filter_free(NULL);
    terse_scanned_release(&s);
}

static void as_many_terms_as_bits_are_accepted(void **state)
{
    struct filter_fault fault;
    struct err e = ERR_NONE;
    struct filter *f;
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    for (int i = 0; i < FILTER_MAX_TERMS - 1; i++)
        buf_add(&b, i % 2 ? STR("id:8 OR ") : STR("id:8 "));
    buf_add(&b, STR("OR id:7"));
    assert_true(filter_new(&f, buf_str(&b), &fault, &e));
    assert_true(filter_matches(f, &operation));
    assert_int_equal(filter_match_terms(f, &operation), UINT64_C(1) << 63);
    filter_free(f);
    buf_add(&b, STR(" x"));
    assert_false(filter_new(&f, buf_str(&b), &fault, &e));
    assert_string_equal(strchr(e.msg, ':'), ": too many terms");
    buf_release(&b);
}

static void content_is_found_where_the_protocol_defines_it(void **state)
{
    static const struct {
        const char *message;
        uint64_t want;
    } cases[] = {
        { "{}", 0 },
        { "5", 0 },
        { "{'result':{'content':[{'type':'text','text':'image'}]}}", 0 },
        { "{'result':{'content':[{'type':'image'}]}}",
          FILTER_CONTENT_IMAGE | FILTER_CONTENT_BINARY },
        { "{'result':{'content':{'type':'audio'}}}",
          FILTER_CONTENT_AUDIO | FILTER_CONTENT_BINARY },
        { "{'result':{'content':[1,null,{'type':5},[]]}}", 0 },
        { "{'result':{'content':[{'type':'resource_link','annotations':{}}]}}",
          FILTER_CONTENT_LINK | FILTER_CONTENT_ANNOTATIONS },
        { "{'result':{'content':[{'type':'resource','resource':{'text':''}}]}}",
          FILTER_CONTENT_RESOURCE },
        { "{'result':{'content':[{'type':'resource','resource':{'blob':''}}]}}",
          FILTER_CONTENT_RESOURCE | FILTER_CONTENT_BINARY },
        { "{'result':{'structuredContent':{'type':'image'}}}", FILTER_CONTENT_STRUCTURED },
        { "{'result':{'contents':[{'uri':'a','blob':''}]}}",
          FILTER_CONTENT_RESOURCE | FILTER_CONTENT_BINARY },
        { "{'result':{'messages':[{'content':{'type':'image'}}]}}",
          FILTER_CONTENT_IMAGE | FILTER_CONTENT_BINARY },
        { "{'params':{'messages':[{'content':[{'type':'audio'}]}]}}",
          FILTER_CONTENT_AUDIO | FILTER_CONTENT_BINARY },
        { "{'params':{'arguments':{'content':[{'type':'image'}]}}}", 0 },
        { "{'params':{'_meta':{'traceparent':'00'}}}", FILTER_CONTENT_TRACEPARENT },
        { "{'result':{'tools':[{'name':'a'},{'annotations':{}}]}}",
          FILTER_CONTENT_ANNOTATIONS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct terse_scanned s = { 0 };
        uint64_t got = filter_content(terse_scan(&s, cases[i].message));

        if (got != cases[i].want)
            fail_msg("%s: %llx", cases[i].message, (unsigned long long)got);
        terse_scanned_release(&s);
    }
    assert_int_equal(filter_content(JSON_VAL_NONE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_match_completely_or_with_stars),
        cmocka_unit_test(numbers_are_compared_with_their_units),
        cmocka_unit_test(words_match_properties),
        cmocka_unit_test(terms_are_combined),
        cmocka_unit_test(paths_select_values_in_the_message),
        cmocka_unit_test(a_bare_text_is_searched_everywhere),
        cmocka_unit_test(a_filter_can_match_an_operation_piece_by_piece),
        cmocka_unit_test(as_many_terms_as_bits_are_accepted),
        cmocka_unit_test(content_is_found_where_the_protocol_defines_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
