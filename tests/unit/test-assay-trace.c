#include "format/format.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

/* The trace of a transcript. */
static void write_trace(struct memory_writer *w, const struct format *from, const char *terse,
                        const struct format_options *options)
{
    struct arena a = { 0 };
    struct memory_reader r;

    memory_writer_init(w, &flat_format);
    encoder_end(&w->encoder, &w->text);
    buf_clear(&w->text);
    encoder_begin(&w->encoder, &assay_trace_format, options);
    memory_reader_run(&r, from, terse_json(&a, terse), 1 << 20, &w->sink);
    assert_false(r.failed);
    memory_writer_finish(w);
    memory_reader_release(&r);
    arena_release(&a);
}

#define SUMMARY(visible, kind, metadata, scope)                                                \
    "'mcp':{'authorization_discovery':{'visible':" visible ",'source_kind':'" kind             \
    "','resource_metadata_visible':" metadata                                                  \
    ",'authorization_servers_visible':false,'scope_challenge_visible':" scope "}}"
#define NO_SUMMARY SUMMARY("false", "unknown", "false", "false")
#define START(ms)                                                                              \
    "{'type':'episode_start','episode_id':'session','timestamp':" #ms                          \
    ",'input':{'prompt':'<mcp:session>'},'meta':{'source':'mcp_import','episode_id':"          \
    "'session'," NO_SUMMARY "}}\n"
#define STEP(n, ms, name, content, meta)                                                       \
    "{'type':'step','episode_id':'session','step_id':'step_00" #n "','idx':" #n                \
    ",'timestamp':" #ms ",'kind':'tool','name':'" name "','content':" content                  \
    ",'content_sha256':null,'truncations':[],'meta':" meta "}\n"
#define TOOL_CALL(n, ms, name, args, result, error)                                            \
    "{'type':'tool_call','episode_id':'session','step_id':'step_00" #n "','timestamp':" #ms    \
    ",'tool_name':'" name "','call_index':0,'args':" args                                      \
    ",'args_sha256':null,'result':" result ",'result_sha256':null,'error':" error              \
    ",'truncations':[]}\n"
#define END(ms, output)                                                                        \
    "{'type':'episode_end','episode_id':'session','timestamp':" #ms                            \
    ",'outcome':null,'final_output':" output "}\n"

static void check(const char *lines, const char *want)
{
    struct memory_writer w;
    struct arena a = { 0 };

    write_trace(&w, &jsonrpc_format, lines, NULL);
    assert_str(buf_str(&w.text), terse_json(&a, want));
    memory_writer_release(&w);
    arena_release(&a);
}

#define CALL(id, ms)                                                                           \
    "{'id':" id ",'method':'tools/call','params':{'name':'t','arguments':{'a' : 1.0}},"        \
    "'timestamp_ms':" #ms "}\n"
#define RESULT(id, result, ms) "{'id':" id ",'result':" result ",'timestamp_ms':" #ms "}\n"

static void the_first_response_binds_a_call(void **state)
{
    (void)state;
    check(CALL("7", 1000) RESULT("'7'", "{'x':1}", 1002) RESULT("7", "'late'", 1003),
          START(1000) STEP(0, 1000, "t", "null", "{'jsonrpc_id':'7'}")
              TOOL_CALL(0, 1002, "t", "{'a':1.0}", "{'x':1}", "null") END(1003, "'`'late`''"));
    check(CALL("'a'", 1000) "{'id':'a','error':{'code':1},'timestamp':1000}\n",
          START(1000) STEP(0, 1000, "t", "null", "{'jsonrpc_id':'a'}")
              TOOL_CALL(0, 1000, "t", "{'a':1.0}", "{'error':{'code':1}}", "'mcp_error'")
                  END(1000, "'{`'code`':1}'"));
}

static void a_call_without_a_response_is_last(void **state)
{
    (void)state;
    check(CALL("1", 1000) RESULT("2", "1", 1005),
          START(1000) STEP(0, 1000, "t", "null", "{'jsonrpc_id':'1'}")
              TOOL_CALL(0, 1000, "t", "{'a':1.0}", "null", "'timeout/no_response'")
                  END(1005, "'1'"));
    check("{'id':null,'method':'tools/call'}\n{'id':null,'result':1}\n",
          START(0) STEP(0, 0, "unknown_tool", "null", "{'jsonrpc_id':null}")
              TOOL_CALL(0, 0, "unknown_tool", "null", "null", "null") END(0, "'1'"));
}

static void lines_are_ordered_by_time(void **state)
{
    (void)state;
    check(CALL("1", 2000) RESULT("1", "1", 1000),
          START(1000) STEP(0, 2000, "t", "null", "{'jsonrpc_id':'1'}")
              TOOL_CALL(0, 2000, "t", "{'a':1.0}", "null", "'timeout/no_response'")
                  END(2000, "'1'"));
}

static void a_response_to_the_server_binds_no_call(void **state)
{
    (void)state;
    check(CALL("0", 1000) "{'id':0,'method':'roots/list','timestamp':1000}\n" RESULT(
              "0", "{'roots':[]}", 1000)
              RESULT("0", "{}", 1000) "{'method':'notifications/progress'}\n",
          START(1000) STEP(0, 1000, "t", "null", "{'jsonrpc_id':'0'}")
              TOOL_CALL(0, 1000, "t", "{'a':1.0}", "{}", "null") END(1000, "'{}'"));
}

static void a_list_of_tools_is_a_step(void **state)
{
    (void)state;
    check(
        "{'id':1,'method':'tools/list'}\n{'id':1,'result':{'tools':[{'name':'a','inputSchema':"
        "{ 'type':'object'},'x':1},{'description':'d','input_schema':true},{}]}}\n",
        START(0) STEP(0, 0, "tools/list", "'{}'", "{}") STEP(
            1, 0, "tools/list.result",
            "'{`'tools`':[{`'name`':`'a`',`'description`':null,`'input_schema`':{`'type`':"
            "`'object`'},`'tool_identity`':null},{`'name`':`'unknown`',`'description`':`'d`',"
            "`'input_schema`':true,`'tool_identity`':null},{`'name`':`'unknown`',"
            "`'description`':null,`'input_schema`':null,`'tool_identity`':null}]}'",
            "{}") END(0, "null"));
}

/* Whether the summary of a document with one 401 or other response is as wanted. */
static void check_summary(const char *members, const char *want)
{
    struct memory_writer w;
    struct arena a = { 0 };

    write_trace(&w, &streamable_http_format,
                arena_printf(&a,
                             "{'transport':'streamable-http','transport_context':{'status':"
                             "401,'headers':{'www-authenticate':'scope=x'}},'entries':[{"
                             "%s}]}",
                             members)
                    .at,
                NULL);
    if (!str_contains(buf_str(&w.text), terse_json(&a, want)))
        fail_msg("%s: %.*s", members, STR_ARG(buf_str(&w.text)));
    memory_writer_release(&w);
    arena_release(&a);
}

#define BODY "'response':{'jsonrpc':'2.0','id':'c','error':{'code':401,'message':'u'}},"
#define CONTEXT "'transport_context':"

static void a_401_with_a_challenge_is_summarized(void **state)
{
    const char *scope = SUMMARY("true", "www_authenticate", "false", "true");

    (void)state;
    check_summary(BODY CONTEXT "{'status':401,'headers':{'WWW-Authenticate':'Bearer "
                               "resource_metadata=`'https://m/x`', scope=`'a`''}}",
                  SUMMARY("true", "www_authenticate", "true", "true"));
    check_summary(BODY CONTEXT "{'response':{'status_code':'401','headers':{'www-AUTHENTICATE':"
                               "'Bearer SCOPE=x'}}}",
                  scope);
    check_summary(BODY "'headers':{'http_status':401,'www-authenticate':'Bearer "
                       "realm=`'r`',scope=`'x`''}",
                  scope);
    check_summary("'response':{'message':'no'}," CONTEXT
                  "{'status':401,'www-authenticate':'scope=x'}",
                  scope);
    check_summary(BODY CONTEXT "{'status':200,'headers':{'WWW-Authenticate':'scope=x'}}",
                  NO_SUMMARY);
    check_summary(BODY CONTEXT "{'status':401,'headers':{'WWW-Authenticate':'Bearer "
                               "realm=`'x`''}}",
                  NO_SUMMARY);
    check_summary(BODY CONTEXT "{'status':401,'headers':[{'name':'WWW-Authenticate','value':"
                               "'scope=x'}]}",
                  NO_SUMMARY);
    check_summary("'request':{'id':1,'method':'ping'}," CONTEXT
                  "{'status':401,'www-authenticate':'scope=x'}",
                  NO_SUMMARY);
    check_summary("'sse':{'data':{'id':1,'result':1}}," CONTEXT
                  "{'status':401,'www-authenticate':'scope=x'}",
                  NO_SUMMARY);
    check_summary(BODY "'x':1", NO_SUMMARY);
}

static void the_options_name_episode_test_and_prompt(void **state)
{
    const struct format_options options = {
        .episode_id = "e", .test_id = "t", .prompt = "say \"hi\"", .source = STR("a/b.c.json")
    };
    const struct format_options source = { .source = STR("a.d/b.c.json") };
    struct memory_writer w;
    struct arena a = { 0 };

    (void)state;
    write_trace(&w, &jsonrpc_format, "", &options);
    assert_str(buf_str(&w.text),
               terse_json(&a, "{'type':'episode_start','episode_id':'e','timestamp':0,'input':{"
                              "'prompt':'say `'hi`''},'meta':{'source':'mcp_import',"
                              "'episode_id':'e'," NO_SUMMARY ",'test_id':'t'}}\n"
                              "{'type':'episode_end','episode_id':'e','timestamp':0,"
                              "'outcome':null,'final_output':null}\n"));
    memory_writer_release(&w);
    write_trace(&w, &jsonrpc_format, "", &source);
    assert_true(str_contains(buf_str(&w.text), STR("\"episode_id\":\"b.c\"")));
    memory_writer_release(&w);
    arena_release(&a);
}

static void head_compares_ids_with_their_type(void **state)
{
    const struct format_options head = { .rules = FORMAT_RULES_HEAD };
    struct memory_writer w;

    (void)state;
    write_trace(&w, &jsonrpc_format,
                "{'id':1,'method':'tools/call'}\n{'id':'1','result':5}\n"
                "{'id':1.5,'method':'tools/call'}\n{'id':1.5,'result':6}\n",
                &head);
    assert_true(str_contains(buf_str(&w.text), STR("timeout/no_response")));
    assert_false(str_contains(buf_str(&w.text), STR("\"result\":5")));
    assert_false(str_contains(buf_str(&w.text), STR("\"result\":6")));
    memory_writer_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_response_binds_a_call),
        cmocka_unit_test(a_call_without_a_response_is_last),
        cmocka_unit_test(lines_are_ordered_by_time),
        cmocka_unit_test(a_response_to_the_server_binds_no_call),
        cmocka_unit_test(a_list_of_tools_is_a_step),
        cmocka_unit_test(a_401_with_a_challenge_is_summarized),
        cmocka_unit_test(the_options_name_episode_test_and_prompt),
        cmocka_unit_test(head_compares_ids_with_their_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
