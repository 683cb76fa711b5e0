#include "redact/redactor.h"

#include <stdio.h>

#include "format/recording-line.h"
#include "terse.h"
#include "test.h"

/* Writes lines of a recording, without the members that every line has. */
struct redacted_copy {
    struct sink sink;
    struct buf text;
};

static bool write_line(struct sink *self, const struct record *r, struct err *e)
{
    struct redacted_copy *p = (struct redacted_copy *)self;

    (void)e;
    recording_line_write(&p->text, r);
    return true;
}

struct redaction_run {
    struct secret_rules secrets;
    struct redacted_copy redacted_copy;
    struct redactor redactor;
    struct arena arena;
};

static void start(struct redaction_run *d)
{
    struct err e = ERR_NONE;

    *d = (struct redaction_run){ .redacted_copy = { .sink = { write_line } } };
    buf_init(&d->redacted_copy.text, 64 << 20);
    secret_rules_init(&d->secrets);
    assert_true(secret_rules_add_value(&d->secrets, STR("KEY"), STR("hunter2"), &e));
    secret_rules_add_credentials(&d->secrets);
    assert_true(secret_rules_add_pattern(&d->secrets, STR("card [0-9]+"), &e));
    assert_true(secret_rules_seal(&d->secrets, &e));
    redactor_init(&d->redactor, &d->secrets, &d->redacted_copy.sink);
}

static void stop(struct redaction_run *d)
{
    redactor_release(&d->redactor);
    secret_rules_release(&d->secrets);
    buf_release(&d->redacted_copy.text);
    arena_release(&d->arena);
}

/* One line of a recording in, one out; with ' and ` for " and \. */
static void assert_line(struct redaction_run *d, const char *in, const char *want)
{
    struct terse_scanned s = { 0 };
    struct record r = { .has = 0 };
    struct err e = ERR_NONE;
    struct buf line;
    size_t at;

    buf_clear(&d->redacted_copy.text);
    if (!recording_line_read(terse_scan(&s, in), &r, &d->arena, &at, &e))
        fail_msg("%s", e.msg);
    assert_true(d->redactor.sink.put(&d->redactor.sink, &r, &e));
    buf_init(&line, 1 << 20);
    buf_printf(&line, "%s\n", want);
    assert_str(buf_str(&d->redacted_copy.text), terse_json(&d->arena, buf_z(&line)));
    buf_release(&line);
    terse_scanned_release(&s);
}

#define MESSAGE(members)                                                                       \
    "{'type':'message','seq':1,'ts':'2025-02-04T10:00:00.000Z','dir':'c2s'," members "}"

static void a_message_lists_its_redacted_paths(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(
        &d, MESSAGE("'msg':{'method':'a','params':{'x':'hunter2','y':['card 12']}}"),
        MESSAGE(
            "'msg':{'method':'a','params':{'x':'[REDACTED:KEY]','y':['[REDACTED:rule-1]']}},"
            "'redacted':['/params/x','/params/y/0']"));
    assert_line(&d, MESSAGE("'msg':{'method':'a','params':{'x':'hunter3'}}"),
                MESSAGE("'msg':{'method':'a','params':{'x':'hunter3'}}"));
    stop(&d);
}

static void unknown_members_are_searched(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d,
                MESSAGE("'msg':{'method':'a'},'note':['hunter2'],"
                        "'foreign':{'trace':{'corr_id':'hunter2'}}"),
                MESSAGE("'msg':{'method':'a'},'note':['[REDACTED:KEY]'],"
                        "'foreign':{'trace':{'corr_id':'[REDACTED:KEY]'}}"));
    assert_line(&d, "{'type':'stderr','text':'x','note':'hunter2'}",
                "{'type':'stderr','text':'x','note':'[REDACTED:KEY]'}");
    stop(&d);
}

static void already_redacted_paths_stay_listed(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(
        &d,
        MESSAGE("'msg':{'method':'a','params':{'x':'[REDACTED:B] hunter2','y':'hunter2'}},"
                "'redacted':['/params/x']"),
        MESSAGE("'msg':{'method':'a','params':{'x':'[REDACTED:B] [REDACTED:KEY]',"
                "'y':'[REDACTED:KEY]'}},'redacted':['/params/x','/params/y']"));
    stop(&d);
}

static void used_placeholder_numbers_are_not_used_again(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d, "{'type':'stderr','text':'[REDACTED:rule-3] [REDACTED:rule-x]'}",
                "{'type':'stderr','text':'[REDACTED:rule-3] [REDACTED:rule-x]'}");
    assert_line(
        &d, MESSAGE("'msg':{'method':'a','params':['card 12','[REDACTED:rule-5]']}"),
        MESSAGE("'msg':{'method':'a','params':['[REDACTED:rule-6]','[REDACTED:rule-5]']},"
                "'redacted':['/params/0']"));
    stop(&d);
}

static void a_message_whose_secret_cannot_be_removed_becomes_a_gap(void **state)
{
    struct redaction_run d;
    struct err e = ERR_NONE;

    (void)state;
    start(&d);
    secret_rules_release(&d.secrets);
    redactor_release(&d.redactor);
    secret_rules_init(&d.secrets);
    assert_true(secret_rules_add_value(&d.secrets, STR("KEY"), STR("true,true"), &e));
    assert_true(secret_rules_seal(&d.secrets, &e));
    redactor_init(&d.redactor, &d.secrets, &d.redacted_copy.sink);
    assert_line(&d, MESSAGE("'msg':{'method':'a','params':[true,true]},'us':5"),
                "{'type':'gap','from':'client','messages':1,'bytes':35,"
                "'why':'its secrets could not be redacted','us':5}");
    stop(&d);
}

/* A placeholder and the text around it may form a value again: then the whole text goes. */
static void a_secret_completed_by_a_placeholder_is_removed_completely(void **state)
{
    struct redaction_run d;
    struct err e = ERR_NONE;

    (void)state;
    start(&d);
    secret_rules_release(&d.secrets);
    redactor_release(&d.redactor);
    secret_rules_init(&d.secrets);
    assert_true(secret_rules_add_value(&d.secrets, STR("KEY"), STR("[REDACTED:KEY]"), &e));
    assert_true(secret_rules_seal(&d.secrets, &e));
    redactor_init(&d.redactor, &d.secrets, &d.redacted_copy.sink);
    assert_line(&d, "{'type':'stderr','text':'a [REDACTED:KEY] b'}",
                "{'type':'stderr','text':'[REDACTED]'}");
    stop(&d);
}

static void a_path_is_listed_once(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d, MESSAGE("'msg':{'method':'a','params':{'hunter2':'hunter2'}}"),
                MESSAGE("'msg':{'method':'a','params':{'[REDACTED:KEY]':'[REDACTED:KEY]'}},"
                        "'redacted':['/params/[REDACTED:KEY]']"));
    stop(&d);
}

static void log_lines_use_no_placeholder_numbers(void **state)
{
    struct redaction_run d;
    struct buf output;

    (void)state;
    start(&d);
    buf_init(&output, 1 << 10);
    redactor_redact_text(&d.redactor, STR("card 99 hunter2 [REDACTED:rule-7]"), &output);
    assert_str(buf_str(&output), STR("[REDACTED] [REDACTED:KEY] [REDACTED:rule-7]"));
    assert_line(&d, "{'type':'stderr','text':'card 99`n'}",
                "{'type':'stderr','text':'[REDACTED:rule-1]`n'}");
    buf_release(&output);
    stop(&d);
}

static void raw_bytes_and_stderr_are_searched(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d, "{'type':'raw','from':'server','text':'x hunter2 %68unter2'}",
                "{'type':'raw','from':'server','text':'x [REDACTED:KEY] [REDACTED:KEY]'}");
    assert_line(&d, "{'type':'raw','from':'server','text':'x %25252525252568unter2 y'}",
                "{'type':'raw','from':'server','text':'[REDACTED]'}");
    assert_line(&d, "{'type':'stderr','text':'card 99 hunter2`n'}",
                "{'type':'stderr','text':'[REDACTED:rule-1] [REDACTED:KEY]`n'}");
    stop(&d);
}

static void a_private_key_may_span_records(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d, "{'type':'stderr','text':'x -----BEGIN PRIVATE KEY-----`nMIIE`n'}",
                "{'type':'stderr','text':'x [REDACTED:rule-1]'}");
    assert_line(&d, "{'type':'stderr','text':'vQIBADANBgkqhkiG9w0`n'}",
                "{'type':'stderr','text':'[REDACTED:rule-1]`n'}");
    assert_line(&d, "{'type':'raw','from':'server','text':'another stream'}",
                "{'type':'raw','from':'server','text':'another stream'}");
    assert_line(&d, "{'type':'stderr','text':'AASC`n-----END PRIVATE KEY-----`nhunter2`n'}",
                "{'type':'stderr','text':'[REDACTED:rule-1]`n[REDACTED:KEY]`n'}");
    assert_line(&d, "{'type':'stderr','text':'plain`n'}", "{'type':'stderr','text':'plain`n'}");
    stop(&d);
}

#define HEADER(members) "{'type':'header','version':'1.0'," members "}"
#define AT_ "'recorded_at':'2025-02-04T10:00:00.000Z'"
#define TJ "'thoughtjack_version':'0.3.0'"

static void the_command_keeps_its_words(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(
        &d,
        HEADER("'name':'n hunter2'," AT_ ",'upstream':'srv --token abc --api-key=x y'," TJ
               ",'command':['srv','--token','abc','--api-key=x','y']"),
        HEADER("'name':'n [REDACTED:KEY]'," AT_
               ",'upstream':'srv --token [REDACTED:rule-1] --api-key=[REDACTED:rule-1] y'," TJ
               ",'command':['srv','--token','[REDACTED:rule-1]','--api-key=[REDACTED:rule-1]','"
               "y']"));
    assert_line(&d, HEADER(AT_ ",'upstream':'srv hunter2'," TJ ",'command':['srv','hunter2']"),
                HEADER(AT_ ",'upstream':'srv [REDACTED:KEY]'," TJ
                           ",'command':['srv','[REDACTED:KEY]']"));
    assert_line(
        &d, HEADER(AT_ ",'upstream':'s'," TJ ",'command':['s','--token','[REDACTED:rule-9]']"),
        HEADER(AT_ ",'upstream':'s'," TJ ",'command':['s','--token','[REDACTED:rule-9]']"));
    assert_line(
        &d, HEADER(AT_ ",'upstream':'srv --token'," TJ ",'command':['srv','--token','-v']"),
        HEADER(AT_ ",'upstream':'srv --token'," TJ ",'command':['srv','--token','-v']"));
    stop(&d);
}

/* As the shell parts them: words with ' and ` for " and \, a command of two words. */
static void assert_word(struct redaction_run *d, const char *before, const char *word,
                        const char *want)
{
    char in[512], out[512];

    snprintf(in, sizeof in, HEADER(AT_ ",'upstream':'x'," TJ ",'command':['%s','%s']"), before,
             word);
    snprintf(out, sizeof out, HEADER(AT_ ",'upstream':'x'," TJ ",'command':['%s','%s']"),
             before, want);
    assert_line(d, in, out);
}

static void words_after_a_secret_option_are_secret(void **state)
{
#define GONE "[REDACTED:rule-1]"
    static const char *const rows[][3] = {
        { "--password", "abc", GONE },
        { "--token", "-abc9", GONE },
        { "--key", "abc123def", GONE },
        { "-p", "abc", "abc" },
        { "npx", "https://h/a1b2c3d4e5f6/mcp", "https://h/[REDACTED]/mcp" },
        { "--auth", "abc123def", GONE },
        { "--header", "Authorization: x", "Authorization: " GONE },
        { "-H", "X-Api-Key: x", "X-Api-Key: " GONE },
        { "srv", "https://h/mcp?x=1&api_key=abc&y=2",
          "https://h/mcp?x=1&api_key=" GONE "&y=2" },
        { "srv", "{`'token`':`'a`',`'x`':1,`'secret`':`'b`'}",
          "{`'token`':`'" GONE "`',`'x`':1,`'secret`':`'" GONE "`'}" },
        { "srv", "hunter2_TOKEN=abc", "[REDACTED:KEY]_TOKEN=" GONE },
        { "srv", "--token=hunter2", "--token=[REDACTED:KEY]" },
        { "--token", "hunter2", "[REDACTED:KEY]" },
        { "--token", "a hunter2", GONE },
        { "--token", "--verbose", "--verbose" },
        { "srv", "https://h/mcp?x=1", "https://h/mcp?x=1" },
    };
    struct redaction_run d;

    (void)state;
    start(&d);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_word(&d, rows[i][0], rows[i][1], rows[i][2]);
    assert_line(
        &d, HEADER(AT_ ",'upstream':'x'," TJ ",'command':['/bin/sshpass','-p','abc']"),
        HEADER(AT_ ",'upstream':'x'," TJ ",'command':['/bin/sshpass','-p','" GONE "']"));
    assert_word(&d, "srv", "https://u:p4ss@h/", "https://u:[REDACTED:rule-2]@h/");
    stop(&d);
#undef GONE
}

static void the_host_of_a_url_is_kept(void **state)
{
    static const char *const rows[][2] = {
        { "https://h.example/key/mcp?x=1#f", "https://h.example/[REDACTED]" },
        { "https://u:p@h.example:8/", "https://h.example:8/" },
        { "https://u:p@h.example/api/v1/mcp", "https://h.example/api/v1/mcp" },
        { "https://h.example/mcp?x=1", "https://h.example/[REDACTED]" },
        { "http://h?key=1", "http://h/[REDACTED]" },
        { "HTTPS://h.example/KEY", "HTTPS://h.example/[REDACTED]" },
        { "Https://u:p@h.example/", "Https://h.example/" },
        { "wss://h/key", "wss://h/[REDACTED]" },
        { "http://h/[REDACTED]", "http://h/[REDACTED]" },
        { "stdio://sh -c x/y", "stdio://sh -c x/y" },
        { "stdio://sh x/hunter2/y", "stdio://sh x/[REDACTED:KEY]/y" },
        { "http://h-hunter2/x", "http://h-[REDACTED:KEY]/[REDACTED]" },
        { "http://h:1/", "http://h:1/" },
        { "http://h", "http://h" },
        { "node http/x", "node http/x" },
        { "node http://h/x", "node http://h/x" },
        { "://h/x", "://h/x" },
        { "7up://h/x", "7up://h/x" },
    };
    struct redaction_run d;

    (void)state;
    start(&d);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char in[256], want[256];
        snprintf(in, sizeof in, HEADER(AT_ ",'upstream':'%s'," TJ), rows[i][0]);
        snprintf(want, sizeof want, HEADER(AT_ ",'upstream':'%s'," TJ), rows[i][1]);
        assert_line(&d, in, want);
    }
    d.redactor.keep_url = true;
    assert_line(&d, HEADER(AT_ ",'upstream':'http://h/x?y'," TJ),
                HEADER(AT_ ",'upstream':'http://h/x?y'," TJ));
    stop(&d);
}

static void the_path_of_the_server_is_redacted_in_requests(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d, HEADER(AT_ ",'upstream':'http://h/key/mcp?k=v'," TJ),
                HEADER(AT_ ",'upstream':'http://h/[REDACTED]'," TJ));
    assert_line(&d,
                "{'type':'http','ev':'request','path':'/key/mcp','query':'k=v','exchange':1}",
                "{'type':'http','ev':'request','path':'/[REDACTED]/"
                "mcp','query':'[REDACTED]','exchange':1}");
    assert_line(
        &d, "{'type':'http','ev':'request','path':'/.well-known/o/key/mcp','exchange':1}",
        "{'type':'http','ev':'request','path':'/.well-known/o/[REDACTED]/mcp','exchange':1}");
    assert_line(&d, "{'type':'http','ev':'request','path':'/token','exchange':1}",
                "{'type':'http','ev':'request','path':'/token','exchange':1}");
    assert_line(&d,
                "{'type':'http','ev':'response','status':401,'headers':[['www-authenticate',"
                "'Bearer x=`'http://h/key/mcp`'']],'exchange':1}",
                "{'type':'http','ev':'response','status':401,'headers':[['www-authenticate',"
                "'Bearer x=`'http://h/[REDACTED]/mcp`'']],'exchange':1}");
    assert_line(&d, "{'type':'sse','stream':1,'event':'endpoint','data':'/key/messages'}",
                "{'type':'sse','event':'endpoint','data':'/[REDACTED]/messages','stream':1}");
    assert_line(&d, HEADER(AT_ ",'upstream':'http://h/mcp'," TJ),
                HEADER(AT_ ",'upstream':'http://h/mcp'," TJ));
    assert_line(&d,
                "{'type':'http','ev':'request','path':'/key/mcp','query':'k=v','exchange':1}",
                "{'type':'http','ev':'request','path':'/key/mcp','query':'k=v','exchange':1}");
    stop(&d);
}

static void all_other_input_is_searched(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(
        &d,
        "{'type':'sse','stream':1,'id':'hunter2','event':'e','data':'hunter2','comment':'"
        "hunter2'}",
        "{'type':'sse','id':'[REDACTED:KEY]','event':'e','data':'[REDACTED:KEY]',"
        "'comment':'[REDACTED:KEY]','stream':1}");
    assert_line(
        &d,
        "{'type':'http','ev':'request','path':'/hunter2','query':'k=%68unter2',"
        "'headers':[['mcp-name','hunter2']],'auth':true,'exchange':1}",
        "{'type':'http','ev':'request','path':'/[REDACTED:KEY]','query':'k=[REDACTED:KEY]',"
        "'headers':[['mcp-name','[REDACTED:KEY]']],'auth':true,'exchange':1}");
    assert_line(&d,
                "{'type':'footer','total_messages':1,'duration_ms':1,'client_messages':1,"
                "'server_messages':0,'server_info':{'name':'hunter2'}}",
                "{'type':'footer','total_messages':1,'duration_ms':1,'client_messages':1,"
                "'server_messages':0,'server_info':{'name':'[REDACTED:KEY]'}}");
    stop(&d);
}

/* Words that are always the same few may be anything in a file from elsewhere. */
static void every_text_of_a_line_is_searched(void **state)
{
    static const char *const lines[][2] = {
        { "{'type':'footer','total_messages':0,'duration_ms':0,'client_messages':0,"
          "'server_messages':0,'protocol_version':'%s'}",
          "footer" },
        { "{'type':'http','ev':'request','method':'%s','path':'/','exchange':1}", "method" },
        { "{'type':'http','ev':'request','method':'GET','path':'/','host':'%s','exchange':1}",
          "host" },
        { "{'type':'http','ev':'request','method':'GET','path':'/','body':'%s','exchange':1}",
          "body" },
        { "{'type':'http','ev':'request','method':'GET','path':'/','state':'%s','exchange':1}",
          "state" },
        { "{'type':'http','ev':'response','status':200,'media':'%s','exchange':1}", "media" },
        { "{'type':'http','ev':'end','by':'%s','clean':true,'exchange':1}", "by" },
        { "{'type':'proc','ev':'failed','why':'cannot start %s'}", "why" },
        { MESSAGE("'msg':{'method':'a'},'batch':{'of':'%s'}"), "batch" },
    };
    struct redaction_run d;

    (void)state;
    start(&d);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct terse_scanned s = { 0 };
        struct record r = { .has = 0 };
        struct err e = ERR_NONE;
        char line[512];
        size_t at;

        snprintf(line, sizeof line, lines[i][0], "hunter2");
        buf_clear(&d.redacted_copy.text);
        if (!recording_line_read(terse_scan(&s, line), &r, &d.arena, &at, &e))
            fail_msg("%s: %s", lines[i][1], e.msg);
        assert_true(d.redactor.sink.put(&d.redactor.sink, &r, &e));
        if (strstr(buf_z(&d.redacted_copy.text), "hunter2") ||
            !strstr(buf_z(&d.redacted_copy.text), "[REDACTED:KEY]"))
            fail_msg("%s: %s", lines[i][1], buf_z(&d.redacted_copy.text));
        terse_scanned_release(&s);
    }
    stop(&d);
}

/* The words in between belong to no key. */
static void a_private_key_ends_with_its_string(void **state)
{
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d,
                MESSAGE("'msg':{'result':{'a':'-----BEGIN PRIVATE KEY-----`nMIIE','b':'kept',"
                        "'c':'-----END PRIVATE KEY-----'}}"),
                MESSAGE("'msg':{'result':{'a':'[REDACTED:rule-1]','b':'kept',"
                        "'c':'-----END PRIVATE KEY-----'}},'redacted':['/result/a']"));
    stop(&d);
}

static void feed_stderr(struct redaction_run *d, struct str text)
{
    struct record r = { .kind = RECORD_STDERR, .bytes = { .bytes = text } };
    struct err e = ERR_NONE;

    assert_true(d->redactor.sink.put(&d->redactor.sink, &r, &e));
}

/* However a live server's words are cut, none of the value gets through. */
static void a_value_on_stderr_may_be_split_anywhere(void **state)
{
    struct str output = STR("first line\nand hunter2, and %68unter2\nlast");
    struct record end = { .kind = RECORD_PROC, .proc = { .event = STR("exit") } };
    struct err e = ERR_NONE;

    (void)state;
    for (size_t a = 0; a <= output.len; a++)
        for (size_t b = a; b <= output.len; b++) {
            struct redaction_run d;
            start(&d);
            d.redactor.stderr_in_pieces = true;
            feed_stderr(&d, str_n(output.at, a));
            feed_stderr(&d, str_n(output.at + a, b - a));
            feed_stderr(&d, str_skip(output, b));
            assert_true(d.redactor.sink.put(&d.redactor.sink, &end, &e));
            assert_null(strstr(buf_z(&d.redacted_copy.text), "unter"));
            assert_non_null(
                strstr(buf_z(&d.redacted_copy.text), "[REDACTED:KEY], and [REDACTED:KEY]"));
            assert_non_null(strstr(buf_z(&d.redacted_copy.text), "last"));
            stop(&d);
        }
}

static void an_endless_stderr_line_is_not_held(void **state)
{
    static char piece[100003];
    struct redaction_run d;
    struct err e = ERR_NONE;
    size_t hits = 0;

    (void)state;
    start(&d);
    d.redactor.stderr_in_pieces = true;
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = "hunter2 "[i % 8];
    for (size_t i = 0; i < 80; i++) /* 8 MB, and no newline */
        feed_stderr(&d, str_n(piece, sizeof piece / 8 * 8));
    assert_true(d.redactor.held_stderr.len <= 2 << 20);
    assert_true(redactor_finish(&d.redactor, &e));
    assert_null(strstr(buf_z(&d.redacted_copy.text), "unter"));
    for (const char *at = buf_z(&d.redacted_copy.text); (at = strstr(at, "[REDACTED:KEY]"));
         at++)
        hits++;
    assert_true(hits == 80 * (sizeof piece / 8) ||
                strstr(buf_z(&d.redacted_copy.text), "[REDACTED]"));
    stop(&d);
}

/* Its end may be megabytes away, and so may the end of a match of a pattern. */
static void with_patterns_an_endless_stderr_line_is_dropped(void **state)
{
    static char piece[100000];
    struct redaction_run d;
    struct err e = ERR_NONE;

    (void)state;
    start(&d);
    secret_rules_release(&d.secrets);
    redactor_release(&d.redactor);
    secret_rules_init(&d.secrets);
    assert_true(secret_rules_add_pattern(&d.secrets, STR("from[^.]+until"), &e));
    assert_true(secret_rules_seal(&d.secrets, &e));
    redactor_init(&d.redactor, &d.secrets, &d.redacted_copy.sink);
    d.redactor.stderr_in_pieces = true;
    memset(piece, 'q', sizeof piece);
    feed_stderr(&d, STR("before\nfrom"));
    for (size_t i = 0; i < 30; i++)
        feed_stderr(&d, str_n(piece, sizeof piece));
    feed_stderr(&d, STR("until"));
    feed_stderr(&d, STR(" and more\nbehind from x until y"));
    assert_true(redactor_finish(&d.redactor, &e));
    assert_string_equal(buf_z(&d.redacted_copy.text),
                        "{\"type\":\"stderr\",\"text\":\"before\\n\"}\n"
                        "{\"type\":\"stderr\",\"text\":\"[REDACTED]\"}\n"
                        "{\"type\":\"stderr\",\"text\":\"\\n\"}\n"
                        "{\"type\":\"stderr\",\"text\":\"behind [REDACTED:rule-1] y\"}\n");
    stop(&d);
}

/* Each line of a value of short lines may come alone, and with LF or CRLF. */
static void a_value_of_several_lines_may_be_split_anywhere(void **state)
{
    struct str output = STR("first\nx ab1\r\ncd2\r\nef3 y\nlast\n");
    struct err e = ERR_NONE;

    (void)state;
    for (size_t a = 0; a <= output.len; a++)
        for (size_t b = a; b <= output.len; b++) {
            struct redaction_run d;
            start(&d);
            secret_rules_release(&d.secrets);
            redactor_release(&d.redactor);
            secret_rules_init(&d.secrets);
            assert_true(
                secret_rules_add_value(&d.secrets, STR("KEY"), STR("ab1\ncd2\nef3\n"), &e));
            assert_true(secret_rules_seal(&d.secrets, &e));
            redactor_init(&d.redactor, &d.secrets, &d.redacted_copy.sink);
            d.redactor.stderr_in_pieces = true;
            feed_stderr(&d, str_n(output.at, a));
            feed_stderr(&d, str_n(output.at + a, b - a));
            feed_stderr(&d, str_skip(output, b));
            assert_true(redactor_finish(&d.redactor, &e));
            assert_null(strstr(buf_z(&d.redacted_copy.text), "ab1"));
            assert_null(strstr(buf_z(&d.redacted_copy.text), "ef3"));
            assert_non_null(strstr(buf_z(&d.redacted_copy.text), "x [REDACTED:KEY] y"));
            assert_non_null(strstr(buf_z(&d.redacted_copy.text), "last"));
            stop(&d);
        }
}

struct hit_log {
    struct redactor_observer watch;
    struct buf text;
};

static void note(struct redactor_observer *self, const struct redactor_hit *hit)
{
    struct hit_log *w = (struct hit_log *)self;

    buf_printf(&w->text, "%llu %s %.*s %s\n", (unsigned long long)hit->record_index,
               hit->member, STR_ARG(hit->pointer), hit->rule_name);
}

static void the_observer_gets_the_path_and_not_the_secret(void **state)
{
    struct hit_log w = { .watch = { note } };
    struct redaction_run d;

    (void)state;
    start(&d);
    buf_init(&w.text, 1 << 12);
    d.redactor.observer = &w.watch;
    assert_line(&d, "{'type':'stderr','text':'plain'}", "{'type':'stderr','text':'plain'}");
    assert_line(
        &d, MESSAGE("'msg':{'method':'a','params':{'x':'hunter2'}}"),
        MESSAGE(
            "'msg':{'method':'a','params':{'x':'[REDACTED:KEY]'}},'redacted':['/params/x']"));
    assert_line(&d, "{'type':'stderr','text':'card 5 AKIAIOSFODNN7EXAMPLE'}",
                "{'type':'stderr','text':'[REDACTED:rule-1] [REDACTED:rule-2]'}");
    assert_string_equal(buf_z(&w.text), "1 msg /params/x KEY\n"
                                        "2 text  pattern 1\n"
                                        "2 text  aws-access-key\n");
    buf_release(&w.text);
    stop(&d);
}

static void texts_of_mcpreel_are_redacted(void **state)
{
    struct redaction_run d;
    struct buf b;

    (void)state;
    start(&d);
    buf_init(&b, 256);
    redactor_redact_text(&d.redactor, STR("cannot start 'srv hunter2'\n"), &b);
    redactor_redact_text(&d.redactor, STR("nothing here"), &b);
    assert_string_equal(buf_z(&b), "cannot start 'srv [REDACTED:KEY]'\nnothing here");
    buf_release(&b);
    stop(&d);
}

static void a_seen_secret_is_removed_everywhere_from_then_on(void **state)
{
    struct seen_secrets_refs g = { .values = NULL };
    struct buf output;
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d, MESSAGE("'msg':{'method':'a','params':['0f9e-8d7c','app-12/cDe']}"),
                MESSAGE("'msg':{'method':'a','params':['0f9e-8d7c','app-12/cDe']}"));
    seen_secrets_add_session(&d.redactor.seen, &g, 4, STR("0f9e-8d7c"));
    seen_secrets_add(&d.redactor.seen, &g, STR("X-Key"), STR("app-12/cDe"));
    assert_line(
        &d,
        MESSAGE(
            "'msg':{'id':'0f9e-8d7c:1','method':'a','params':{'app-12`/cDe':'`u0030f9e-8d7c',"
            "'b':'MGY5ZS04ZDdj'}}"),
        MESSAGE("'msg':{'id':'[REDACTED:session-4]:1','method':'a','params':"
                "{'[REDACTED:X-Key]':'[REDACTED:session-4]','b':'[REDACTED:session-4]'}},"
                "'redacted':['/id','/params/[REDACTED:X-Key]','/params/b']"));
    assert_line(&d, "{'type':'sse','n':1,'id':'0f9e-8d7c_1','data':'','stream':1}",
                "{'type':'sse','n':1,'id':'[REDACTED:session-4]_1','data':'','stream':1}");
    buf_init(&output, 1000);
    redactor_redact_text(&d.redactor, STR("no 0f9e-8d7c"), &output);
    assert_string_equal(buf_z(&output), "no [REDACTED:session-4]");
    buf_release(&output);
    seen_secrets_unref(&d.redactor.seen, &g);
    stop(&d);
}

/* A credential in an id is left alone, as it only looks like one; not if it was sent. */
static void a_seen_secret_has_precedence_over_a_credential_format(void **state)
{
    struct seen_secrets_refs g = { .values = NULL };
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(&d, MESSAGE("'msg':{'id':'AKIAIOSFODNN7EXAMPLE','method':'a'}"),
                MESSAGE("'msg':{'id':'AKIAIOSFODNN7EXAMPLE','method':'a'}"));
    seen_secrets_add(&d.redactor.seen, &g, STR("X-Key"), STR("AKIAIOSFODNN7EXAMPLE"));
    assert_line(&d, MESSAGE("'msg':{'id':'AKIAIOSFODNN7EXAMPLE','method':'a'}"),
                MESSAGE("'msg':{'id':'[REDACTED:X-Key]','method':'a'},'redacted':['/id']"));
    seen_secrets_unref(&d.redactor.seen, &g);
    stop(&d);
}

#define REQUESTED(members)                                                                     \
    "{'type':'http','ev':'request','method':'POST','path':" members ",'exchange':1}"

static void keys_in_urls_of_requests_are_redacted(void **state)
{
    struct buf output;
    struct redaction_run d;

    (void)state;
    start(&d);
    assert_line(
        &d, REQUESTED("'/s/9d1f6c2a1111/mcp','query':'token=x&page=2'"),
        REQUESTED("'/s/[REDACTED:rule-1]/mcp','query':'token=[REDACTED:rule-1]&page=2'"));
    assert_line(
        &d, REQUESTED("'/s/[REDACTED:rule-1]/mcp','query':'token=[REDACTED:rule-1]&page=2'"),
        REQUESTED("'/s/[REDACTED:rule-1]/mcp','query':'token=[REDACTED:rule-1]&page=2'"));
    buf_init(&output, 1000);
    redactor_redact_path(&d.redactor, STR("/s/9d1f6c2a1111/hunter2"), &output);
    assert_string_equal(buf_z(&output), "/s/[REDACTED:rule-1]/[REDACTED:KEY]");
    d.redactor.keep_url = true;
    assert_line(&d, REQUESTED("'/s/9d1f6c2a1111/mcp','query':'token=x&page=2'"),
                REQUESTED("'/s/9d1f6c2a1111/mcp','query':'token=x&page=2'"));
    buf_release(&output);
    stop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_lists_its_redacted_paths),
        cmocka_unit_test(unknown_members_are_searched),
        cmocka_unit_test(already_redacted_paths_stay_listed),
        cmocka_unit_test(used_placeholder_numbers_are_not_used_again),
        cmocka_unit_test(a_message_whose_secret_cannot_be_removed_becomes_a_gap),
        cmocka_unit_test(a_secret_completed_by_a_placeholder_is_removed_completely),
        cmocka_unit_test(a_path_is_listed_once),
        cmocka_unit_test(log_lines_use_no_placeholder_numbers),
        cmocka_unit_test(raw_bytes_and_stderr_are_searched),
        cmocka_unit_test(a_private_key_may_span_records),
        cmocka_unit_test(the_command_keeps_its_words),
        cmocka_unit_test(words_after_a_secret_option_are_secret),
        cmocka_unit_test(the_host_of_a_url_is_kept),
        cmocka_unit_test(the_path_of_the_server_is_redacted_in_requests),
        cmocka_unit_test(all_other_input_is_searched),
        cmocka_unit_test(every_text_of_a_line_is_searched),
        cmocka_unit_test(a_private_key_ends_with_its_string),
        cmocka_unit_test(a_value_on_stderr_may_be_split_anywhere),
        cmocka_unit_test(an_endless_stderr_line_is_not_held),
        cmocka_unit_test(with_patterns_an_endless_stderr_line_is_dropped),
        cmocka_unit_test(a_value_of_several_lines_may_be_split_anywhere),
        cmocka_unit_test(the_observer_gets_the_path_and_not_the_secret),
        cmocka_unit_test(texts_of_mcpreel_are_redacted),
        cmocka_unit_test(a_seen_secret_is_removed_everywhere_from_then_on),
        cmocka_unit_test(a_seen_secret_has_precedence_over_a_credential_format),
        cmocka_unit_test(keys_in_urls_of_requests_are_redacted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
