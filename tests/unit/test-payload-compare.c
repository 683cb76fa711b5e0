#include "mcp/payload-compare.h"

#include "terse.h"
#include "test.h"

static struct compare_rules rules;

static int setup(void **state)
{
    (void)state;
    compare_rules_init(&rules);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    compare_rules_release(&rules);
    return 0;
}

static void given_rules(const char *text)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;

    compare_rules_release(&rules);
    if (!compare_rules_parse(&rules, terse_json(&a, text), &e))
        fail_msg("%s", e.msg);
    arena_release(&a);
}

struct seen {
    struct buf text;
    struct payload_counts counts;
    size_t left; /* until the callback returns false */
};

static bool note(void *arg, const struct payload_difference *d)
{
    static const char *const kinds[] = { "changed", "type",      "added",
                                         "removed", "reordered", "length" };
    struct seen *s = arg;

    assert_int_equal(json_exists(d->recorded), d->kind != PAYLOAD_ADDED);
    assert_int_equal(json_exists(d->live), d->kind != PAYLOAD_REMOVED);
    s->counts.of[d->class]++;
    buf_printf(&s->text, "%s%s %s ", s->text.len ? "; " : "", payload_class_name(d->class),
               kinds[d->kind]);
    json_location_write(d->location, &s->text);
    return --s->left;
}

/* Compares two texts in the manner of terse.h. The differences are written as
 * "content changed $.result.a; …". */
static void compares_to(const char *method, const char *recorded, const char *live,
                        const char *want)
{
    struct terse_scanned a, b;
    struct json_val va = terse_scan(&a, recorded), vb = terse_scan(&b, live);
    struct seen s = { .left = 1000 };
    struct payload_counts counts;

    buf_init(&s.text, 1 << 16);
    counts = payload_compare(va, vb, str_z(method), &rules, note, &s);
    assert_str(buf_str(&s.text), str_z(want));
    assert_memory_equal(&counts, &s.counts, sizeof counts);
    assert_int_equal(payload_equal(va, vb, str_z(method), &rules), !counts.of[PAYLOAD_CONTENT]);
    counts = payload_compare(va, vb, str_z(method), &rules, NULL, NULL);
    assert_memory_equal(&counts, &s.counts, sizeof counts);
    buf_release(&s.text);
    terse_scanned_release(&a);
    terse_scanned_release(&b);
}

static void a_call_compares_to(const char *recorded, const char *live, const char *want)
{
    compares_to("tools/call", recorded, live, want);
}

struct payload_row {
    const char *recorded, *live, *want;
};

#define CHECK_ROWS(method, rows)                                                               \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                 \
    compares_to((method), (rows)[i].recorded, (rows)[i].live, (rows)[i].want)

static void values_are_compared_by_meaning(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'a':1,'b':2}}", "{'result':{'b':2,'a':1}}", "" },
        { "{'result':{'a':2}}", "{'result':{'a':2.0}}", "" },
        { "{'result':{'a':2}}", "{'result':{'a':3}}", "content changed $.result.a" },
        { "{'result':{'a':true}}", "{'result':{'a':false}}", "content changed $.result.a" },
        { "{'result':{'a':'x'}}", "{'result':{'a':'`u0078'}}", "" },
        { "{'result':{'a':'1'}}", "{'result':{'a':1}}", "content type $.result.a" },
        { "{'result':{'a':1}}", "{'result':{}}", "content removed $.result.a" },
        { "{'result':{}}", "{'result':{'a':null}}", "content added $.result.a" },
        { "{'result':{'a':[1,2]}}", "{'result':{'a':[2,1]}}",
          "content changed $.result.a[0]; content changed $.result.a[1]" },
        { "{'result':{'a':[1,2]}}", "{'result':{'a':[1]}}", "content removed $.result.a[1]" },
        { "{'result':{'a':[]}}", "{'result':{'a':[1]}}", "content added $.result.a[0]" },
        { "{'result':{'a':1,'a':2}}", "{'result':{'a':2}}", "" },
        { "{'result':{'z':1,'b':1,'m':1}}", "{'result':{'z':2,'a':0,'m':2}}",
          "content added $.result.a; content removed $.result.b; content changed $.result.m; "
          "content changed $.result.z" },
    };

    (void)state;
    CHECK_ROWS("tools/call", rows);
}

static void the_envelope_is_not_compared(void **state)
{
    (void)state;
    a_call_compares_to("{'jsonrpc':'2.0','id':1,'result':{}}", "{'id':'x','result':{}}", "");
    a_call_compares_to("{'id':1,'result':{'id':1,'jsonrpc':1}}",
                       "{'id':1,'result':{'id':2,'jsonrpc':2}}",
                       "content changed $.result.id; content changed $.result.jsonrpc");
    a_call_compares_to("{'id':1,'result':{}}", "{'id':1,'result':{},'extra':1}",
                       "content added $.extra");
}

static void a_result_and_an_error_differ(void **state)
{
    (void)state;
    a_call_compares_to("{'result':{}}", "{'error':{'code':-32602,'message':'no'}}",
                       "content added $.error; content removed $.result");
}

static void of_an_error_the_code_counts(void **state)
{
    (void)state;
    a_call_compares_to("{'error':{'code':-32602,'message':'a','data':{'x':1}}}",
                       "{'error':{'code':-32602,'message':'b'}}",
                       "volatile removed $.error.data; volatile changed $.error.message");
    a_call_compares_to("{'error':{'code':-32602}}", "{'error':{'code':-32603}}",
                       "content changed $.error.code");
    /* The error of a task, but not any member with that name. */
    compares_to("tasks/get", "{'result':{'error':{'message':'a'}}}",
                "{'result':{'error':{'message':'b'}}}",
                "volatile changed $.result.error.message");
    a_call_compares_to("{'result':{'structuredContent':{'error':{'message':'a'}}}}",
                       "{'result':{'structuredContent':{'error':{'message':'b'}}}}",
                       "content changed $.result.structuredContent.error.message");
}

static void meta_is_volatile_at_any_depth(void **state)
{
    (void)state;
    a_call_compares_to("{'result':{'_meta':{'a':1},'x':{'_meta':1}}}",
                       "{'result':{'_meta':{'a':2},'x':{}}}",
                       "volatile changed $.result._meta; volatile removed $.result.x._meta");
    given_rules("{'volatile':false}");
    a_call_compares_to("{'result':{'_meta':{'a':1}}}", "{'result':{'_meta':{'a':2}}}",
                       "volatile changed $.result._meta");
}

static void meta_is_compared_if_the_rules_include_it(void **state)
{
    (void)state;
    given_rules("{'include_meta':true}");
    a_call_compares_to("{'result':{'_meta':{'a':1,'traceparent':'x','baggage':'y'}}}",
                       "{'result':{'_meta':{'a':2,'traceparent':'z'}}}",
                       "content changed $.result._meta.a; volatile removed "
                       "$.result._meta.baggage; volatile changed $.result._meta.traceparent");
    a_call_compares_to(
        "{'result':{'_meta':{'io.modelcontextprotocol/serverInfo':"
        "{'name':'s','version':'1'}}}}",
        "{'result':{'_meta':{'io.modelcontextprotocol/serverInfo':"
        "{'name':'t','version':'2'}}}}",
        "content changed $.result._meta['io.modelcontextprotocol/serverInfo'].name; "
        "volatile changed $.result._meta['io.modelcontextprotocol/serverInfo'].version");
}

#define TEXT(json) "{'result':{'content':[{'type':'text','text':'" json "'}]}}"

static void json_in_strings_is_compared_inside(void **state)
{
    (void)state;
    a_call_compares_to(TEXT("{`'a`':1,`'b`':2}"), TEXT(" {`'b`': 2.0, `'a`': 1}"), "");
    a_call_compares_to(TEXT("{`'m`':{`'k`':[1,2]}}"), TEXT("{`'m`':{`'k`':[1,3]}}"),
                       "content changed $.result.content[0].text.m.k[1]");
    a_call_compares_to(TEXT("[1]"), TEXT("{`'a`':1}"), "content type $.result.content[0].text");
    a_call_compares_to(TEXT("{`'a`':1}"), TEXT("{`'a`':1"),
                       "content changed $.result.content[0].text");
    a_call_compares_to(TEXT("1"), TEXT("1.0"), "content changed $.result.content[0].text");
    a_call_compares_to(TEXT("{`'s`':`'{```'a```':1}`'}"), TEXT("{`'s`':`'{```'a```':2}`'}"),
                       "content changed $.result.content[0].text.s.a");
}

/* Puts {"s":…} around a JSON text, as a string. */
static struct str wrapped(struct arena *a, struct str inner)
{
    struct buf b;
    struct str out;

    buf_init(&b, 1 << 24);
    buf_add(&b, STR("{\"s\":\""));
    for (size_t i = 0; i < inner.len; i++) {
        if (inner.at[i] == '"' || inner.at[i] == '\\')
            buf_add_ch(&b, '\\');
        buf_add_ch(&b, inner.at[i]);
    }
    buf_add(&b, STR("\"}"));
    out = arena_str(a, buf_str(&b));
    buf_release(&b);
    return out;
}

/* Compares two JSON texts as they are. */
static void plain_compares_to(struct str recorded, struct str live, const char *want)
{
    struct json_fault fault;
    struct json a, b;
    struct seen s = { .left = 1000 };

    json_init(&a);
    json_init(&b);
    buf_init(&s.text, 1 << 20);
    assert_true(json_scan(&a, recorded, &fault) && json_scan(&b, live, &fault));
    payload_compare(json_root(&a), json_root(&b), STR("tools/call"), &rules, note, &s);
    assert_str(buf_str(&s.text), str_z(want));
    buf_release(&s.text);
    json_release(&a);
    json_release(&b);
}

static void json_is_not_opened_inside_more_than_three_strings(void **state)
{
    struct arena a = { 0 };
    struct str x = STR("{\"k\":1}"), y = STR("{\"k\":2}");

    (void)state;
    for (int i = 0; i < 3; i++) {
        x = wrapped(&a, x);
        y = wrapped(&a, y);
    }
    plain_compares_to(x, y, "content changed $.s.s.s.k");
    plain_compares_to(wrapped(&a, x), wrapped(&a, y), "content changed $.s.s.s.s");
    arena_release(&a);
}

static void long_strings_are_not_parsed_as_json(void **state)
{
    struct arena a = { 0 };
    char *blanks = arena_alloc(&a, PAYLOAD_JSON_MAX);
    struct str x, y;

    (void)state;
    memset(blanks, ' ', PAYLOAD_JSON_MAX);
    x = arena_printf(&a, "{\"s\":\"[1,%.*s2]\"}", PAYLOAD_JSON_MAX - 6, blanks);
    y = arena_printf(&a, "{\"s\":\"[1,%.*s3]\"}", PAYLOAD_JSON_MAX - 6, blanks);
    plain_compares_to(x, y, "content changed $.s[1]");
    x = arena_printf(&a, "{\"s\":\"[1,%.*s2]\"}", PAYLOAD_JSON_MAX - 4, blanks);
    plain_compares_to(x, y, "content changed $.s");
    arena_release(&a);
}

static void ignored_fields_and_paths_reach_inside_strings(void **state)
{
    (void)state;
    given_rules("{'ignore_fields':['etag'],"
                "'ignore_paths':['$.result.content[*].text.meta.n','$..hidden[0]']}");
    a_call_compares_to(TEXT("{`'meta`':{`'n`':1,`'etag`':1,`'x`':1},`'hidden`':[1,1]}"),
                       TEXT("{`'meta`':{`'n`':2,`'etag`':2,`'x`':2},`'hidden`':[2,2]}"),
                       "ignored changed $.result.content[0].text.hidden[0]; "
                       "content changed $.result.content[0].text.hidden[1]; "
                       "ignored changed $.result.content[0].text.meta.etag; "
                       "ignored changed $.result.content[0].text.meta.n; "
                       "content changed $.result.content[0].text.meta.x");
}

static void an_ignored_value_is_one_difference_whatever_is_in_it(void **state)
{
    (void)state;
    given_rules("{'ignore_fields':['a'],'ignore_paths':['$.result.b']}");
    a_call_compares_to("{'result':{'a':{'x':1,'y':2},'b':[1,2]}}", "{'result':{'a':{},'b':3}}",
                       "ignored changed $.result.a; ignored type $.result.b");
    a_call_compares_to("{'result':{'a':1}}", "{'result':{'b':1}}",
                       "ignored removed $.result.a; ignored added $.result.b");
    a_call_compares_to("{'result':{'a':1,'c':1}}", "{'result':{'a':1.0,'c':2}}",
                       "content changed $.result.c");
    given_rules("{'ignore_paths':['$']}");
    a_call_compares_to("{'result':1}", "{'result':2}", "ignored changed $");
}

static void lists_are_compared_by_name(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'tools':[{'name':'a','x':1},{'name':'b'}]}}",
          "{'result':{'tools':[{'name':'b'},{'name':'a','x':2}]}}",
          "order reordered $.result.tools; content changed $.result.tools.a.x" },
        { "{'result':{'tools':[{'name':'a'},{'name':'b'},{'name':'my tool'}]}}",
          "{'result':{'tools':[{'name':'new'},{'name':'b'}]}}",
          "content removed $.result.tools.a; content removed $.result.tools['my tool']; "
          "content added $.result.tools.new" },
        { "{'result':{'tools':[{'name':'a'},{'name':'b'}]}}",
          "{'result':{'tools':[{'name':'a'},{'name':'new'},{'name':'b'}]}}",
          "content added $.result.tools.new" },
        { "{'result':{'tools':[]}}", "{'result':{'tools':[]}}", "" },
        { "{'result':{'tools':[]}}", "{'result':{'tools':{}}}", "content type $.result.tools" },
    };

    (void)state;
    CHECK_ROWS("tools/list", rows);
    compares_to("prompts/list", "{'result':{'prompts':[{'name':'a'},{'name':'b'}]}}",
                "{'result':{'prompts':[{'name':'b'},{'name':'a'}]}}",
                "order reordered $.result.prompts");
    compares_to("resources/list",
                "{'result':{'resources':[{'uri':'file:///a','name':'n'},{'uri':'b'}]}}",
                "{'result':{'resources':[{'uri':'b'},{'uri':'file:///a','name':'m'}]}}",
                "order reordered $.result.resources; "
                "content changed $.result.resources['file:///a'].name");
    compares_to(
        "resources/list",
        "{'result':{'resources':[{'uri':'s://1/a','name':'a'},{'uri':'s://1/b','name':'b'},"
        "{'uri':'c','name':'c'},{'uri':'d','name':'d'},{'uri':'e'}]}}",
        "{'result':{'resources':[{'uri':'s://2/a','name':'a'},{'uri':'s://2/b','name':'b'},"
        "{'uri':'c','name':'x'},{'uri':'f','name':'f'},{'uri':'g'}]}}",
        "content changed $.result.resources['s://1/a'].uri; "
        "content changed $.result.resources['s://1/b'].uri; "
        "content changed $.result.resources.c.name; "
        "content removed $.result.resources.d; content removed $.result.resources.e; "
        "content added $.result.resources.f; content added $.result.resources.g");
    compares_to("resources/templates/list",
                "{'result':{'resourceTemplates':[{'uriTemplate':'a{x}'},{'uriTemplate':'b'}]}}",
                "{'result':{'resourceTemplates':[{'uriTemplate':'b'},{'uriTemplate':'a{x}'}]}}",
                "order reordered $.result.resourceTemplates");
}

static void other_arrays_are_compared_by_index(void **state)
{
    static const char a[] = "{'result':{'tools':[{'name':'a'},{'name':'b'}]}}",
                      b[] = "{'result':{'tools':[{'name':'b'},{'name':'a'}]}}";

    (void)state;
    a_call_compares_to(a, b,
                       "content changed $.result.tools[0].name; "
                       "content changed $.result.tools[1].name");
    compares_to("tools/list", "{'result':{'tools':[{'name':'a','tools':[{'name':'x'}]}]}}",
                "{'result':{'tools':[{'name':'a','tools':[{'name':'y'}]}]}}",
                "content changed $.result.tools.a.tools[0].name");
}

static void items_with_one_name_or_none_are_paired_in_their_order(void **state)
{
    (void)state;
    compares_to("tools/list",
                "{'result':{'tools':[{'name':'a','x':1},{'name':'a','x':2},{'x':3},7]}}",
                "{'result':{'tools':[{'name':'a','x':1},{'name':'a','x':9},{'x':4},8]}}",
                "content changed $.result.tools.a.x; content changed $.result.tools[2].x; "
                "content changed $.result.tools[3]");
    compares_to("tools/list", "{'result':{'tools':[{'name':'a'},{'name':'a'}]}}",
                "{'result':{'tools':[{'name':'a'}]}}", "content removed $.result.tools.a");
}

static void rules_find_an_item_by_name_and_by_index(void **state)
{
    static const char a[] = "{'result':{'tools':[{'name':'a','d':1},{'name':'b','d':1}]}}",
                      b[] = "{'result':{'tools':[{'name':'a','d':2},{'name':'b','d':2}]}}";

    (void)state;
    given_rules("{'ignore_paths':['$.result.tools.a.d']}");
    compares_to("tools/list", a, b,
                "ignored changed $.result.tools.a.d; content changed $.result.tools.b.d");
    given_rules("{'ignore_paths':['$.result.tools[1].d']}");
    compares_to("tools/list", a, b,
                "content changed $.result.tools.a.d; ignored changed $.result.tools.b.d");
    given_rules("{'ignore_paths':['$.result.tools[*].d']}");
    compares_to("tools/list", a, b,
                "ignored changed $.result.tools.a.d; ignored changed $.result.tools.b.d");
}

static void the_name_of_an_item_is_not_the_name_of_a_member(void **state)
{
    (void)state;
    given_rules("{'ignore_fields':['a']}");
    compares_to("tools/list",
                "{'result':{'tools':[{'name':'a','x':1},{'name':'nonce','x':1}]}}",
                "{'result':{'tools':[{'name':'a','x':2},{'name':'nonce','x':2}]}}",
                "content changed $.result.tools.a.x; content changed $.result.tools.nonce.x");
}

static void placeholders_match_on_the_recorded_side(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'a':'[REDACTED:TOKEN]'}}", "{'result':{'a':'secret'}}", "" },
        { "{'result':{'a':'[REDACTED]'}}", "{'result':{'a':{'b':[1]}}}", "" },
        { "{'result':{'a':'[REDACTED]'}}", "{'result':{}}", "content removed $.result.a" },
        { "{'result':{'a':'key [REDACTED:rule-1] ok'}}", "{'result':{'a':'key x y ok'}}", "" },
        { "{'result':{'a':'key [REDACTED:rule-1] ok'}}", "{'result':{'a':'key x y no'}}",
          "content changed $.result.a" },
        { "{'result':{'a':'key [REDACTED:rule-1]'}}", "{'result':{'a':7}}",
          "content type $.result.a" },
        { "{'result':{'a':'secret'}}", "{'result':{'a':'[REDACTED:TOKEN]'}}",
          "content changed $.result.a" },
    };

    (void)state;
    CHECK_ROWS("tools/call", rows);
}

static void placeholders_match_inside_json_in_strings_but_not_around_it(void **state)
{
    (void)state;
    a_call_compares_to(TEXT("{`'t`':`'[REDACTED:T]`',`'n`':1}"),
                       TEXT("{`'n`':1,`'t`':`'secret`'}"), "");
    a_call_compares_to(TEXT("{`'t`':`'[REDACTED:T]`',`'n`':1}"),
                       TEXT("{`'t`':`'x`',`'m`':5,`'n`':1}"),
                       "content added $.result.content[0].text.m");
}

static void placeholders_and_volatile_parts_can_share_a_text(void **state)
{
    (void)state;
    a_call_compares_to(TEXT("[REDACTED:T] at 2026-01-02T03:04:05Z"),
                       TEXT("abc at 2027-01-02T03:04:05Z"),
                       "volatile changed $.result.content[0].text");
    a_call_compares_to(TEXT("[REDACTED:T] at 2026-01-02T03:04:05Z"),
                       TEXT("abc on 2027-01-02T03:04:05Z"),
                       "content changed $.result.content[0].text");
}

static void text_in_base64_is_decoded(void **state)
{
    (void)state; /* "made at 2:21:54 AM", "made at 3:00:09 PM", "done at 3:00:09 PM" */
    compares_to("resources/read",
                "{'result':{'contents':[{'blob':'bWFkZSBhdCAyOjIxOjU0IEFN'}]}}",
                "{'result':{'contents':[{'blob':'bWFkZSBhdCAzOjAwOjA5IFBN'}]}}",
                "volatile changed $.result.contents[0].blob");
    compares_to("resources/read",
                "{'result':{'contents':[{'blob':'bWFkZSBhdCAyOjIxOjU0IEFN'}]}}",
                "{'result':{'contents':[{'blob':'ZG9uZSBhdCAzOjAwOjA5IFBN'}]}}",
                "content changed $.result.contents[0].blob");
}

static void members_of_the_protocol_are_volatile_where_they_belong(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'task':{'taskId':'a','createdAt':1,'lastUpdatedAt':1,'statusMessage':'x',"
          "'ttl':1,'pollInterval':1,'status':'working'}}}",
          "{'result':{'task':{'taskId':'b','createdAt':2,'ttl':null,'status':'working'}}}",
          "volatile changed $.result.task.createdAt; "
          "volatile removed $.result.task.lastUpdatedAt; "
          "volatile removed $.result.task.pollInterval; "
          "volatile removed $.result.task.statusMessage; "
          "volatile changed $.result.task.taskId; volatile type $.result.task.ttl" },
        { "{'result':{'taskId':'a','ttlMs':1,'pollIntervalMs':1}}",
          "{'result':{'taskId':'b','ttlMs':2,'pollIntervalMs':2}}",
          "volatile changed $.result.pollIntervalMs; volatile changed $.result.taskId; "
          "volatile changed $.result.ttlMs" },
        { "{'result':{'tasks':[{'taskId':'a','status':'x'}]}}",
          "{'result':{'tasks':[{'taskId':'b','status':'y'}]}}",
          "content changed $.result.tasks[0].status; "
          "volatile changed $.result.tasks[0].taskId" },
        { "{'result':{'serverInfo':{'name':'a','version':'1'},'instructions':'x'}}",
          "{'result':{'serverInfo':{'name':'a','version':'2'}}}",
          "volatile removed $.result.instructions; "
          "volatile changed $.result.serverInfo.version" },
        { "{'result':{'supportedVersions':['a']}}",
          "{'result':{'supportedVersions':['a','b']}}",
          "volatile changed $.result.supportedVersions" },
        { "{'result':{'content':[{'uri':'u','size':1,'annotations':{'lastModified':'a'}}]}}",
          "{'result':{'content':[{'uri':'u','size':2,'annotations':{'lastModified':'b'}}]}}",
          "volatile changed $.result.content[0].annotations.lastModified; "
          "volatile changed $.result.content[0].size" },
        { "{'result':{'messages':[{'content':{'resource':{'annotations':"
          "{'lastModified':'a','priority':1}}}}]}}",
          "{'result':{'messages':[{'content':{'resource':{'annotations':"
          "{'lastModified':'b','priority':2}}}}]}}",
          "volatile changed $.result.messages[0].content.resource.annotations.lastModified; "
          "content changed $.result.messages[0].content.resource.annotations.priority" },
        { "{'result':{'result':{'content':[{'size':1}]}}}",
          "{'result':{'result':{'content':[{'size':2}]}}}",
          "volatile changed $.result.result.content[0].size" },
        /* The same names in content of the server. */
        { "{'result':{'structuredContent':{'taskId':'a','ttl':1,'size':1,'version':'1',"
          "'instructions':'x','annotations':{'lastModified':'a'}}}}",
          "{'result':{'structuredContent':{'taskId':'b','ttl':2,'size':2,'version':'2',"
          "'instructions':'y','annotations':{'lastModified':'b'}}}}",
          "content changed $.result.structuredContent.annotations.lastModified; "
          "content changed $.result.structuredContent.instructions; "
          "content changed $.result.structuredContent.size; "
          "content changed $.result.structuredContent.taskId; "
          "content changed $.result.structuredContent.ttl; "
          "content changed $.result.structuredContent.version" },
        { TEXT("{`'result`':{`'taskId`':1}}"), TEXT("{`'result`':{`'taskId`':2}}"),
          "content changed $.result.content[0].text.result.taskId" },
    };

    (void)state;
    CHECK_ROWS("tools/call", rows);
    compares_to("resources/list", "{'result':{'resources':[{'uri':'a','size':1}]}}",
                "{'result':{'resources':[{'uri':'a','size':2}]}}",
                "volatile changed $.result.resources.a.size");
}

static void a_cursor_may_differ_but_not_be_missing(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'nextCursor':'a'}}", "{'result':{'nextCursor':'b'}}",
          "volatile changed $.result.nextCursor" },
        { "{'result':{'nextCursor':'a'}}", "{'result':{}}",
          "content removed $.result.nextCursor" },
        { "{'result':{}}", "{'result':{'nextCursor':'b'}}",
          "content added $.result.nextCursor" },
        { "{'result':{'requestState':'a'}}", "{'result':{'requestState':'b'}}",
          "volatile changed $.result.requestState" },
        { "{'result':{'requestState':'a'}}", "{'result':{}}",
          "content removed $.result.requestState" },
        { "{'result':{'taskId':'a'}}", "{'result':{}}", "content removed $.result.taskId" },
        { "{'result':{'taskId':'a'}}", "{'result':{'taskId':1}}",
          "content type $.result.taskId" },
    };

    (void)state;
    CHECK_ROWS("tools/list", rows);
}

static void generated_values_are_volatile_on_both_sides_only(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'a':'2026-01-02T03:04:05Z'}}", "{'result':{'a':'2027-01-02T03:04:05Z'}}",
          "volatile changed $.result.a" },
        { "{'result':{'a':'2026-01-02T03:04:05Z'}}", "{'result':{'a':'never'}}",
          "content changed $.result.a" },
        { "{'result':{'a':1700000000}}", "{'result':{'a':1700000001.5}}",
          "volatile changed $.result.a" },
        { "{'result':{'a':1700000000}}", "{'result':{'a':0}}", "content changed $.result.a" },
        { TEXT("created 2026-01-02T03:04:05Z by job 4f3c2a1b9d8e7f60"),
          TEXT("created 2027-01-02T03:04:05Z by job 5f3c2a1b9d8e7f61"),
          "volatile changed $.result.content[0].text" },
        { TEXT("created 2026-01-02T03:04:05Z by job 4f3c2a1b9d8e7f60"),
          TEXT("deleted 2027-01-02T03:04:05Z by job 5f3c2a1b9d8e7f61"),
          "content changed $.result.content[0].text" },
        /* A text that begins with a time is not volatile as a whole. */
        { TEXT("2026-01-02T03:04:05Z ok"), TEXT("2026-01-02T03:04:06Z failed"),
          "content changed $.result.content[0].text" },
        { TEXT("wrote /tmp/a1/out.txt"), TEXT("wrote /tmp/b2/out.txt"),
          "volatile changed $.result.content[0].text" },
        { TEXT("wrote /tmp/a1/out.txt"), TEXT("wrote /tmp/b2/err.txt"),
          "content changed $.result.content[0].text" },
        { TEXT("http://127.0.0.1:4711/x"), TEXT("http://127.0.0.1:4712/x"),
          "volatile changed $.result.content[0].text" },
        { TEXT("http://example.com:4711/x"), TEXT("http://example.com:4712/x"),
          "content changed $.result.content[0].text" },
    };

    (void)state;
    CHECK_ROWS("tools/call", rows);
}

static void members_with_generated_names_may_differ_in_value_only(void **state)
{
    static const struct payload_row rows[] = {
        { TEXT("{`'metadata`':{`'requestId`':17}}"), TEXT("{`'metadata`':{`'requestId`':18}}"),
          "volatile changed $.result.content[0].text.metadata.requestId" },
        { "{'result':{'x':{'requestId':17}}}", "{'result':{'x':{'requestId':'17'}}}",
          "content type $.result.x.requestId" },
        { "{'result':{'x':{'requestId':17}}}", "{'result':{'x':{}}}",
          "content removed $.result.x.requestId" },
        { "{'result':{'x':{'nonce':{'a':1,'b':[1]}}}}",
          "{'result':{'x':{'nonce':{'a':2,'b':[1,2]}}}}",
          "volatile changed $.result.x.nonce.a; content added $.result.x.nonce.b[1]" },
        { "{'result':{'x':{'orderId':17}}}", "{'result':{'x':{'orderId':18}}}",
          "content changed $.result.x.orderId" },
    };

    (void)state;
    CHECK_ROWS("tools/call", rows);
}

static void names_of_parameters_in_a_schema_are_not_generated(void **state)
{
    (void)state;
    compares_to(
        "tools/list",
        "{'result':{'tools':[{'name':'t','inputSchema':{'properties':"
        "{'timestamp':{'description':'a'},'_meta':{'type':'object'}}}}]}}",
        "{'result':{'tools':[{'name':'t','inputSchema':{'properties':"
        "{'timestamp':{'description':'b'},'_meta':{'type':'string'}}}}]}}",
        "content changed $.result.tools.t.inputSchema.properties._meta.type; "
        "content changed $.result.tools.t.inputSchema.properties.timestamp.description");
    compares_to("tools/list", "{'result':{'tools':[{'name':'t','x':{'timestamp':'a'}}]}}",
                "{'result':{'tools':[{'name':'t','x':{'timestamp':'b'}}]}}",
                "volatile changed $.result.tools.t.x.timestamp");
}

static void without_the_default_set_volatile_values_are_content(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'nextCursor':'a'}}", "{'result':{'nextCursor':'b'}}",
          "content changed $.result.nextCursor" },
        { "{'error':{'message':'a'}}", "{'error':{'message':'b'}}",
          "content changed $.error.message" },
        { TEXT("at 2026-01-02T03:04:05Z"), TEXT("at 2027-01-02T03:04:05Z"),
          "content changed $.result.content[0].text" },
        { "{'result':{'a':1700000000}}", "{'result':{'a':1700000001}}",
          "content changed $.result.a" },
        { "{'result':{'requestId':1}}", "{'result':{'requestId':2}}",
          "content changed $.result.requestId" },
        { "{'id':1,'result':{'_meta':1}}", "{'id':2,'result':{'_meta':2}}",
          "volatile changed $.result._meta" },
    };

    (void)state;
    given_rules("{'volatile':false}");
    CHECK_ROWS("tools/call", rows);
}

static void the_user_can_add_volatile_and_rebound_paths(void **state)
{
    (void)state;
    given_rules("{'volatile':['$.result.price'],'rebind':['$.result.handle']}");
    a_call_compares_to("{'result':{'price':1,'handle':'a','x':1}}",
                       "{'result':{'price':'2','handle':'b','x':2}}",
                       "volatile changed $.result.handle; volatile type $.result.price; "
                       "content changed $.result.x");
    a_call_compares_to("{'result':{'price':1,'handle':'a'}}", "{'result':{}}",
                       "content removed $.result.handle; volatile removed $.result.price");
}

static void mcp_recorder_strips_ids_and_meta_but_not_in_strings(void **state)
{
    static const struct payload_row rows[] = {
        { "{'id':1,'result':{}}", "{'id':2,'result':{}}", "" },
        { "{'jsonrpc':'2.0'}", "{'jsonrpc':'1.0'}", "content changed $.jsonrpc" },
        { "{'result':{'id':1,'_meta':1,'a':[{'id':1}]}}", "{'result':{'id':2,'a':[{'id':2}]}}",
          "ignored removed $.result._meta; ignored changed $.result.a[0].id; "
          "ignored changed $.result.id" },
        { TEXT("{`'id`':1}"), TEXT("{`'id`':2}"),
          "content changed $.result.content[0].text.id" },
    };

    (void)state;
    rules.like_mcp_recorder = true;
    CHECK_ROWS("tools/call", rows);
}

static void mcp_recorder_tells_python_types_apart(void **state)
{
    static const struct payload_row rows[] = {
        { "{'a':5}", "{'a':5.0}", "content type $.a" },
        { "{'a':5.0}", "{'a':5.00}", "" },
        { "{'a':1}", "{'a':true}", "content type $.a" },
        { "{'a':false}", "{'a':true}", "content changed $.a" },
        { "{'a':1e2}", "{'a':100}", "content type $.a" },
        { "{'a':{}}", "{'a':[]}", "content type $.a" },
    };

    (void)state;
    rules.like_mcp_recorder = true;
    CHECK_ROWS("tools/call", rows);
}

static void mcp_recorder_reports_a_length_and_the_common_elements(void **state)
{
    (void)state;
    rules.like_mcp_recorder = true;
    a_call_compares_to("{'a':[1,2,3]}", "{'a':[1,9]}",
                       "content length $.a; content changed $.a[1]");
    a_call_compares_to("{'a':[1,2]}", "{'a':[1,2]}", "");
    /* No lists by name. */
    compares_to(
        "tools/list", "{'result':{'tools':[{'name':'a'},{'name':'b'}]}}",
        "{'result':{'tools':[{'name':'b'},{'name':'a'}]}}",
        "content changed $.result.tools[0].name; content changed $.result.tools[1].name");
}

static void mcp_recorder_has_no_volatile_set(void **state)
{
    static const struct payload_row rows[] = {
        { "{'result':{'nextCursor':'a','timestamp':1}}",
          "{'result':{'nextCursor':'b','timestamp':2}}",
          "content changed $.result.nextCursor; content changed $.result.timestamp" },
        { TEXT("2026-01-02T03:04:05Z"), TEXT("2027-01-02T03:04:05Z"),
          "content changed $.result.content[0].text" },
        { "{'error':{'message':'a'}}", "{'error':{'message':'b'}}",
          "content changed $.error.message" },
    };

    (void)state;
    rules.like_mcp_recorder = true;
    CHECK_ROWS("tools/call", rows);
}

static void mcp_recorder_opens_strings_and_here_rules_and_placeholders_apply(void **state)
{
    (void)state;
    given_rules(
        "{'ignore_fields':['n'],'ignore_paths':['$.result.content[0].text.m.requestId']}");
    rules.like_mcp_recorder = true;
    a_call_compares_to(
        TEXT("{`'n`':1,`'m`':{`'requestId`':1},`'t`':`'[REDACTED]`',`'x`':1}"),
        TEXT("{`'n`':2,`'m`':{`'requestId`':2},`'t`':`'secret`',`'x`':1.0}"),
        "ignored changed $.result.content[0].text.m.requestId; "
        "ignored changed $.result.content[0].text.n; content type $.result.content[0].text.x");
}

static void types_have_the_names_of_python(void **state)
{
    static const char *const names[] = { "NoneType", "bool",  "bool", "int",  "int", "float",
                                         "float",    "float", "str",  "list", "dict" };
    struct terse_scanned s;
    struct json_val v =
        terse_scan(&s, "[null,true,false,0,-12,1.0,1e2,1E2,'1.0',[1.0],{'a':1.0}]");

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(payload_python_type(json_item(v, i)), names[i]);
    terse_scanned_release(&s);
}

static void the_caller_can_end_the_comparison(void **state)
{
    struct terse_scanned a, b;
    struct seen s = { .left = 2 };
    struct payload_counts counts;

    (void)state;
    buf_init(&s.text, 1 << 10);
    counts = payload_compare(terse_scan(&a, "{'a':[1,2,{'b':1}],'c':1}"),
                             terse_scan(&b, "{'a':[2,3,{'b':2}],'c':2}"), STR("x"), &rules,
                             note, &s);
    assert_str(buf_str(&s.text), STR("content changed $.a[0]; content changed $.a[1]"));
    assert_int_equal(counts.of[PAYLOAD_CONTENT], 2);
    buf_release(&s.text);
    terse_scanned_release(&a);
    terse_scanned_release(&b);
}

static void absent_messages_are_accepted(void **state)
{
    struct terse_scanned a;
    struct json_val v = terse_scan(&a, "{'result':{}}");

    (void)state;
    assert_true(payload_equal(JSON_VAL_NONE, JSON_VAL_NONE, STR_NONE, &rules));
    assert_false(payload_equal(v, JSON_VAL_NONE, STR_NONE, &rules));
    assert_false(payload_equal(JSON_VAL_NONE, v, STR_NONE, &rules));
    terse_scanned_release(&a);
}

/* `depth` arrays around a value. */
static struct str nested(struct arena *a, size_t depth, struct str value)
{
    struct buf b;
    struct str out;

    buf_init(&b, 1 << 16);
    for (size_t i = 0; i < depth; i++)
        buf_add_ch(&b, '[');
    buf_add(&b, value);
    for (size_t i = 0; i < depth; i++)
        buf_add_ch(&b, ']');
    out = arena_str(a, buf_str(&b));
    buf_release(&b);
    return out;
}

static void deep_values_in_deep_strings_are_compared(void **state)
{
    struct arena a = { 0 };
    struct str inner[2];
    struct json_fault fault;
    struct json j[2];

    (void)state;
    given_rules("{'ignore_paths':['$..x','$..[*]..[3]']}");
    for (int i = 0; i < 2; i++) {
        inner[i] = nested(&a, JSON_MAX_DEPTH, i ? STR("1") : STR("2"));
        for (int k = 0; k < 3; k++)
            inner[i] = nested(&a, JSON_MAX_DEPTH - 1, wrapped(&a, inner[i]));
        json_init(&j[i]);
        assert_true(json_scan(&j[i], inner[i], &fault));
    }
    assert_false(payload_equal(json_root(&j[0]), json_root(&j[1]), STR("tools/call"), &rules));
    assert_true(payload_equal(json_root(&j[0]), json_root(&j[0]), STR("tools/call"), &rules));
    json_release(&j[0]);
    json_release(&j[1]);
    arena_release(&a);
}

#define COMPARE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPARE_TEST(values_are_compared_by_meaning),
        COMPARE_TEST(the_envelope_is_not_compared),
        COMPARE_TEST(a_result_and_an_error_differ),
        COMPARE_TEST(of_an_error_the_code_counts),
        COMPARE_TEST(meta_is_volatile_at_any_depth),
        COMPARE_TEST(meta_is_compared_if_the_rules_include_it),
        COMPARE_TEST(json_in_strings_is_compared_inside),
        COMPARE_TEST(json_is_not_opened_inside_more_than_three_strings),
        COMPARE_TEST(long_strings_are_not_parsed_as_json),
        COMPARE_TEST(ignored_fields_and_paths_reach_inside_strings),
        COMPARE_TEST(an_ignored_value_is_one_difference_whatever_is_in_it),
        COMPARE_TEST(lists_are_compared_by_name),
        COMPARE_TEST(other_arrays_are_compared_by_index),
        COMPARE_TEST(items_with_one_name_or_none_are_paired_in_their_order),
        COMPARE_TEST(rules_find_an_item_by_name_and_by_index),
        COMPARE_TEST(the_name_of_an_item_is_not_the_name_of_a_member),
        COMPARE_TEST(placeholders_match_on_the_recorded_side),
        COMPARE_TEST(placeholders_match_inside_json_in_strings_but_not_around_it),
        COMPARE_TEST(placeholders_and_volatile_parts_can_share_a_text),
        COMPARE_TEST(text_in_base64_is_decoded),
        COMPARE_TEST(members_of_the_protocol_are_volatile_where_they_belong),
        COMPARE_TEST(a_cursor_may_differ_but_not_be_missing),
        COMPARE_TEST(generated_values_are_volatile_on_both_sides_only),
        COMPARE_TEST(members_with_generated_names_may_differ_in_value_only),
        COMPARE_TEST(names_of_parameters_in_a_schema_are_not_generated),
        COMPARE_TEST(without_the_default_set_volatile_values_are_content),
        COMPARE_TEST(the_user_can_add_volatile_and_rebound_paths),
        COMPARE_TEST(mcp_recorder_strips_ids_and_meta_but_not_in_strings),
        COMPARE_TEST(mcp_recorder_tells_python_types_apart),
        COMPARE_TEST(mcp_recorder_reports_a_length_and_the_common_elements),
        COMPARE_TEST(mcp_recorder_has_no_volatile_set),
        COMPARE_TEST(mcp_recorder_opens_strings_and_here_rules_and_placeholders_apply),
        COMPARE_TEST(types_have_the_names_of_python),
        COMPARE_TEST(the_caller_can_end_the_comparison),
        COMPARE_TEST(absent_messages_are_accepted),
        COMPARE_TEST(deep_values_in_deep_strings_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
