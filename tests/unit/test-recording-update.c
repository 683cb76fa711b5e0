#include "runtime/recording-update.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "fault-sys.h"
#include "format/python-json.h"
#include "mcp/message.h"
#include "temp-dir.h"
#include "terse.h"
#include "test.h"

#define KEY "hunter2hunter2"
#define TOKEN "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

/* An open recording, its responses, and the update of it. */
struct update_run {
    struct log log;
    struct redaction redaction;
    struct message_file file;
    struct recording_update update;
    struct sink sink;
    struct arena texts;
    struct recorded_response {
        struct message_ref where;
        struct str text;
    } * responses;
    size_t count, cap;
};

static void ignore_line(void *to, struct str line)
{
    (void)to;
    (void)line;
}

static bool keep_response(struct sink *self, const struct record *r, struct err *e)
{
    struct update_run *s =
        (struct update_run *)((char *)self - offsetof(struct update_run, sink));
    struct message_store *store = &s->file.store;
    struct mcp_message m;
    struct message_ref where;

    if (r->kind != RECORD_MESSAGE)
        return true;
    m = mcp_classify(r->message.msg, &s->texts);
    if (!store->add_message(store, json_raw(r->message.msg), &where, e))
        return false;
    if (!mcp_is_response(&m))
        return true;
    s->responses = mem_reserve(s->responses, &s->cap, s->count + 1, sizeof *s->responses);
    s->responses[s->count++] =
        (struct recorded_response){ where, arena_str(&s->texts, json_raw(r->message.msg)) };
    return true;
}

static void init_redaction(struct update_run *s, bool secrets)
{
    struct err e = ERR_NONE;

    s->log = (struct log){ .level = LOG_ERROR, .write = ignore_line };
    secret_rules_init(&s->redaction.secrets);
    if (secrets) {
        assert_true(secret_rules_add_value(&s->redaction.secrets, STR("KEY"), STR(KEY), &e));
        secret_rules_add_credentials(&s->redaction.secrets);
    }
    assert_true(secret_rules_seal(&s->redaction.secrets, &e));
    redaction_init(&s->redaction, &s->log);
}

/* Returns false, with an error, if the file cannot be read or updated. */
static bool open_run(struct update_run *s, const struct sys *sys, const char *path,
                     bool secrets, struct err *e)
{
    *s = (struct update_run){ .sink = { keep_response } };
    init_redaction(s, secrets);
    if (!message_file_open(&s->file, sys, path, ".", &s->log, e)) {
        message_file_close(&s->file);
        redaction_release(&s->redaction);
        return false;
    }
    return recording_update_init(&s->update, &s->file, path, &s->redaction, e) &&
           message_file_read_all(&s->file, &s->sink, e);
}

static void close_run(struct update_run *s)
{
    recording_update_release(&s->update);
    message_file_close(&s->file);
    redaction_release(&s->redaction);
    arena_release(&s->texts);
    free(s->responses);
}

static void must_open(struct update_run *s, const char *path, bool secrets)
{
    struct err e = ERR_NONE;

    if (!open_run(s, &sys_real, path, secrets, &e))
        fail_msg("%s: %s", path, e.msg);
}

static void must_add(struct update_run *s, size_t nth, struct str live)
{
    struct err e = ERR_NONE;

    assert_true(nth < s->count);
    if (!recording_update_add(&s->update, s->responses[nth].where, live, &e))
        fail_msg("%s", e.msg);
}

static void must_write(struct update_run *s)
{
    struct err e = ERR_NONE;

    if (!recording_update_write(&s->update, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(temp_dir_count("."), 1);
}

/* Replaces the nth response of "file". `live` has ' for " and ` for \. */
static void update_file(size_t nth, const char *live)
{
    struct arena a = { 0 };
    struct update_run s;

    must_open(&s, "file", true);
    must_add(&s, nth, terse_json(&a, live));
    must_write(&s);
    close_run(&s);
    arena_release(&a);
}

static void compress_file(enum compress_kind kind)
{
    struct compressor *p = compressor_new(kind);
    struct buf text, packed;

    buf_init(&text, 1 << 20);
    buf_init(&packed, 1 << 20);
    temp_dir_get(&text, "file");
    compressor_add(p, buf_str(&text), false, &packed);
    compressor_end(p, &packed);
    compressor_free(p);
    temp_dir_put("file", buf_str(&packed));
    buf_release(&text);
    buf_release(&packed);
}

static void assert_file_text(enum compress_kind kind, const char *want)
{
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct input input;
    struct buf got;
    size_t n;

    buf_init(&got, 1 << 20);
    assert_true(input_open(&input, &sys_real, "file", &e));
    assert_int_equal(input.kind, kind);
    do {
        assert_true(input_read(&input, buf_reserve(&got, 4096), 4096, &n, &e));
        buf_commit(&got, n);
    } while (n);
    assert_str(buf_str(&got), terse_json(&a, want));
    input_close(&input);
    buf_release(&got);
    arena_release(&a);
}

/* The same for a plain file and for compressed ones. */
static void check(const char *recording, size_t nth, const char *live, const char *want)
{
    for (enum compress_kind kind = COMPRESS_NONE; kind <= COMPRESS_ZSTD; kind++) {
        temp_dir_put_terse("file", recording);
        if (kind != COMPRESS_NONE)
            compress_file(kind);
        update_file(nth, live);
        assert_file_text(kind, want);
    }
}

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2025-02-04T10:00:00Z','upstream':'x',"    \
    "'thoughtjack_version':'0.3.0'}\n"
#define LINE(seq, dir, msg, more)                                                              \
    "{'type':'message','seq':" #seq ",'ts':'2025-02-04T10:00:00Z','us':" #seq ",'dir':'" dir   \
    "','msg':" msg more "}\n"
#define CALL(id) "{'jsonrpc':'2.0','id':" #id ",'method':'tools/call'}"
#define FOOTER                                                                                 \
    "{'type':'footer','ended_at':'2025-02-04T10:00:01Z','total_messages':4,'client_messages':" \
    "2,'server_messages':2,'duration_ms':1}\n"

static void a_line_of_a_recording_changes_only_in_its_message(void **state)
{
    (void)state;
    check(HEADER LINE(1, "c2s", CALL(1), "")
              LINE(2, "s2c", "{'jsonrpc':'2.0', 'id':1,'result':{'a':1}}",
                   ",'latency_ms':3,'x-y' : [ 1 ]") LINE(3, "c2s", CALL(2), "")
                  LINE(4, "s2c", "{'id':2,'result':{}}", "") FOOTER,
          0, "{'jsonrpc':'2.0','id':'m1','result':{'a':2,'b':'`u00e9'}}",
          HEADER LINE(1, "c2s", CALL(1), "")
              LINE(2, "s2c", "{'jsonrpc':'2.0', 'id':1,'result':{'a':2,'b':'`u00e9'}}",
                   ",'latency_ms':3,'x-y' : [ 1 ]") LINE(3, "c2s", CALL(2), "")
                  LINE(4, "s2c", "{'id':2,'result':{}}", "") FOOTER);
}

static void a_result_becomes_an_error(void **state)
{
    (void)state;
    check(HEADER LINE(1, "s2c", "{'jsonrpc':'2.0','id':1,'result':{'a':1},'z':0}", ""), 0,
          "{'id':9,'error':{'code':-32601,'message':'gone'}}",
          HEADER LINE(1, "s2c",
                      "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'gone'},'z':0}",
                      ""));
    check("{'jsonrpc':'2.0','id':1,'method':'a'}\n{'id':1,'error':{'code':1},'timestamp':7}", 0,
          "{'id':9,'result':[]}",
          "{'jsonrpc':'2.0','id':1,'method':'a'}\n{'id':1,'result':[],'timestamp':7}");
}

static void secrets_are_removed_and_listed(void **state)
{
    (void)state;
    check(HEADER LINE(1, "s2c", "{'id':1,'result':{'a':1}}", ",'q':1"), 0,
          "{'id':9,'result':{'a':'the " KEY "','t':'" TOKEN "'}}",
          HEADER LINE(1, "s2c",
                      "{'id':1,'result':{'a':'the [REDACTED:KEY]','t':'[REDACTED:rule-1]'}}",
                      ",'q':1,'redacted':['/result/a','/result/t']"));
    check(HEADER LINE(1, "s2c", "{'id':1,'result':{'a':1}}", ",'redacted':['/result/b'],'q':1"),
          0, "{'id':9,'result':{'a':'" KEY "'}}",
          HEADER LINE(1, "s2c", "{'id':1,'result':{'a':'[REDACTED:KEY]'}}",
                      ",'redacted':['/result/a'],'q':1"));
    check(HEADER LINE(1, "s2c", "{'id':1,'result':{'a':'[REDACTED]'}}",
                      ",'redacted':['/result/a']"),
          0, "{'id':9,'result':{'b':2}}",
          HEADER LINE(1, "s2c", "{'id':1,'result':{'b':2}}", ",'redacted':[]"));
    check("{'t':'2025-02-04T10:00:00Z','dir':'out','raw':{'id':1,'result':1}}\n", 0,
          "{'id':9,'result':{'a':'" KEY "'}}",
          "{'t':'2025-02-04T10:00:00Z','dir':'out','raw':{'id':1,'result':{'a':'[REDACTED:KEY]'"
          "}}}\n");
}

static void placeholders_stay(void **state)
{
    (void)state;
    check(HEADER LINE(1, "s2c", "{'id':1,'result':{'a':'by [REDACTED:NAME]','b':1,'c':'***'}}",
                      ",'redacted':['/result/a','/result/c']"),
          0, "{'id':9,'result':{'a':'by alice','b':2,'c':'secret'}}",
          HEADER LINE(1, "s2c", "{'id':1,'result':{'a':'by [REDACTED:NAME]','b':2,'c':'***'}}",
                      ",'redacted':['/result/a','/result/c']"));
}

/* A number must not stand for two rules. */
static void numbers_of_rules_in_the_file_are_not_used_again(void **state)
{
    (void)state;
    check("{'jsonrpc':'2.0','id':1,'method':'a','params':{'t':'x [REDACTED:rule-41] "
          "[REDACTED:rule-7]'}}\n"
          "{'id':1,'result':{}}\n",
          0, "{'id':9,'result':{'t':'" TOKEN "'}}",
          "{'jsonrpc':'2.0','id':1,'method':'a','params':{'t':'x [REDACTED:rule-41] "
          "[REDACTED:rule-7]'}}\n"
          "{'id':1,'result':{'t':'[REDACTED:rule-42]'}}\n");
}

static void a_batch_of_a_trace_changes_in_one_element(void **state)
{
    (void)state;
    check("{'t':'2025-02-04T10:00:00Z','dir':'out','raw':[{'id':1,'result':1}, "
          "{'id':2,'result':2},7]}\n"
          "{'t':'2025-02-04T10:00:01Z','dir':'out','raw':{'id':3,'result':3},'own':1}\n",
          1, "{'id':9,'result':'x'}",
          "{'t':'2025-02-04T10:00:00Z','dir':'out','raw':[{'id':1,'result':1}, "
          "{'id':2,'result':'x'},7]}\n"
          "{'t':'2025-02-04T10:00:01Z','dir':'out','raw':{'id':3,'result':3},'own':1}\n");
}

static void a_value_over_several_lines_changes_in_its_message(void **state)
{
    (void)state;
    check("{'jsonrpc':'2.0','id':1,\n 'method':'a'}\n{\n  'id': 1,\n  'result': {\n  "
          "}\n}\n\n{'id':2,'method':'b'}\n",
          0, "{'id':9,\n'result':{'a':\n1}}",
          "{'jsonrpc':'2.0','id':1,\n 'method':'a'}\n{   'id': 1,   'result': {'a': 1} "
          "}\n\n{'id':2,'method':'b'}\n");
    check(
        HEADER "{'type':'message','seq':1,\n'ts':'2025-02-04T10:00:00Z','dir':'s2c',\n'msg':{\n"
               "'id':1,'result':1}\n}\n" FOOTER,
        0, "{'id':9,'result':'" KEY "'}",
        HEADER "{'type':'message','seq':1,\n'ts':'2025-02-04T10:00:00Z','dir':'s2c',\n"
               "'msg':{ 'id':1,'result':'[REDACTED:KEY]'},'redacted':['/result']\n}\n" FOOTER);
}

static void a_byte_order_mark_stays(void **state)
{
    (void)state;
    check("\xef\xbb\xbf" LINE(1, "s2c", "{'id':1,'result':1}", ""), 0, "{'id':9,'result':2}",
          "\xef\xbb\xbf" LINE(1, "s2c", "{'id':1,'result':2}", ""));
}

#define CASSETTE(response)                                                                     \
    "{\n  'version': '1.0',\n  'metadata': {},\n  'interactions': [\n    {\n"                  \
    "      'type': 'jsonrpc_request',\n      'request': {\n        'id': 1\n      },\n"        \
    "      'response': " response ",\n      'own':NaN, 'latency_ms': 5\n    }\n  ]\n}\n"

static void a_cassette_keeps_the_layout_of_mcp_recorder(void **state)
{
    (void)state;
    check(CASSETTE(
              "{\n        'id': 1,\n        'result': {\n          'a': 1\n        }\n      }"),
          0, "{'id':9,'result':{'a':[],'b':['`u00e9',{}]}}",
          CASSETTE(
              "{\n        'id': 1,\n        'result': {\n          'a': [],\n          'b': [\n"
              "            'é',\n            {}\n          ]\n        }\n      }"));
    check(CASSETTE("{'id':1,'result':{'x':NaN}}"), 0, "{'id':9,'error':{'code':1}}",
          CASSETTE("{\n        'id': 1,\n        'error': {\n          'code': 1\n        }\n  "
                   "    }"));
}

static void several_responses_change_at_once(void **state)
{
    struct update_run s;
    struct buf before, after;

    (void)state;
    buf_init(&before, 1 << 20);
    buf_init(&after, 1 << 20);
    buf_add(&before, STR("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n"));
    buf_add(&after, buf_str(&before));
    for (int i = 0; i < 50; i++) {
        buf_printf(&before, "{\"id\":%d,\"result\":{\"n\":%d}}\n", i, i);
        buf_printf(&after,
                   i % 3 ? "{\"id\":%d,\"result\":{\"n\":%d}}\n"
                         : "{\"id\":%d,\"result\":{\"later\":%d}}\n",
                   i, i);
    }
    temp_dir_put("file", buf_str(&before));
    must_open(&s, "file", true);
    for (int i = 48; i >= 0; i -= 3) { /* in any order, and the first twice */
        struct str live = arena_printf(&s.texts, "{\"id\":0,\"result\":{\"later\":%d}}", i);

        must_add(&s, (size_t)i, STR("{\"id\":0,\"result\":{}}"));
        must_add(&s, (size_t)i, live);
    }
    must_write(&s);
    close_run(&s);
    assert_content("file", buf_str(&after));
    buf_release(&before);
    buf_release(&after);
}

static void without_a_change_the_file_is_not_touched(void **state)
{
    struct stat before, after;
    struct update_run s;

    (void)state;
    temp_dir_put_terse("file", "{'jsonrpc':'2.0','id':1,'method':'a'}\n{'id':1,'result':1}\n");
    assert_int_equal(stat("file", &before), 0);
    must_open(&s, "file", true);
    must_write(&s); /* nothing was added */
    must_add(&s, 0, STR("{\"id\":7,\"result\":1}"));
    must_write(&s);
    close_run(&s);
    assert_int_equal(stat("file", &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

static const char recording[] = "{'jsonrpc':'2.0','id':1,'method':'a'}\n{'id':1,'result':1}\n";

static void a_message_that_is_no_response_is_an_error(void **state)
{
    static const char *const texts[] = { "{\"id\":1,\"method\":\"a\"}", "[]", "{", "" };
    struct update_run s;

    (void)state;
    temp_dir_put_terse("file", recording);
    must_open(&s, "file", true);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err e = ERR_NONE;

        assert_false(
            recording_update_add(&s.update, s.responses[0].where, str_z(texts[i]), &e));
        assert_int_equal(e.kind, ERR_INPUT);
    }
    must_write(&s);
    close_run(&s);
}

static void a_file_that_was_changed_stays(void **state)
{
    struct err e = ERR_NONE;
    struct update_run s;

    (void)state;
    temp_dir_put_terse("file", recording);
    must_open(&s, "file", true);
    must_add(&s, 0, STR("{\"id\":7,\"result\":2}"));
    temp_dir_put(
        "file",
        STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"b\"}\n{\"id\":1,\"result\":{}}\n"));
    assert_false(recording_update_write(&s.update, &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_content(
        "file",
        STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"b\"}\n{\"id\":1,\"result\":{}}\n"));
    assert_int_equal(temp_dir_count("."), 1);
    close_run(&s);
}

static void a_failure_leaves_the_old_file(void **state)
{
    static const enum fault_call calls[] = { FAULT_WRITE, FAULT_FDATASYNC, FAULT_RENAME };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct err e = ERR_NONE;
        struct fault_sys sys;
        struct update_run s;

        temp_dir_put_terse("file", recording);
        fault_init(&sys);
        if (!open_run(&s, &sys.sys, "file", true, &e))
            fail_msg("%s", e.msg);
        must_add(&s, 0, STR("{\"id\":7,\"result\":2}"));
        fault_fail(&sys, calls[i], atomic_load(&sys.calls[calls[i]]) + 1, FAULT_FOREVER,
                   ENOSPC);
        assert_false(recording_update_write(&s.update, &e));
        assert_int_equal(e.kind, ERR_IO);
        assert_file_text(COMPRESS_NONE, recording);
        assert_int_equal(temp_dir_count("."), 1);
        close_run(&s);
    }
}

static void a_file_that_cannot_be_updated_is_rejected_at_the_start(void **state)
{
    struct err e = ERR_NONE;
    struct update_run s;

    (void)state;
    temp_dir_put_terse("file", recording);
    assert_int_equal(symlink("file", "link"), 0);
    assert_false(open_run(&s, &sys_real, "link", true, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    close_run(&s);
}

/* A response whose result or error is another one, of the same kind. */
static struct str changed_response(struct update_run *s, struct str text)
{
    struct json_fault fault;
    struct mcp_message m;
    struct json j;

    json_init(&j);
    assert_true(json_scan(&j, text, &fault));
    m = mcp_classify(json_root(&j), &s->texts);
    json_release(&j);
    return m.kind == MCP_RESULT ? STR("{\"id\":0,\"result\":{\"changed\":[true]}}")
                                : STR("{\"id\":0,\"error\":{\"code\":4711}}");
}

/* The text that is compared after an update and back. */
enum compared {
    COMPARED_BYTES,
    COMPARED_TOKENS, /* no blanks: messages over several lines become one line */
    COMPARED_VALUES, /* all in the layout of mcp-recorder, which has its own escapes */
};

static void normalize(struct buf *b, enum compared how)
{
    struct buf laid_out;
    size_t kept = 0;

    if (how == COMPARED_VALUES) {
        buf_init(&laid_out, 1 << 20);
        python_json_write(&laid_out, buf_str(b), 0);
        buf_release(b);
        *b = laid_out;
    }
    for (size_t i = 0; i < b->len; i++)
        if (how != COMPARED_TOKENS || !b->at[i] || !strchr(" \r\n", b->at[i]))
            b->at[kept++] = b->at[i];
    b->len = kept;
}

/* Updates every response of a file with its own text, then with another one, then back. Without
 * rules of redaction: some of the files have secrets. */
static bool check_property(const char *name, struct str text, enum compared how)
{
    struct err e = ERR_NONE;
    struct buf now, before;
    struct update_run s;
    size_t changes = 0;

    temp_dir_put("file", text);
    if (!open_run(&s, &sys_real, "file", false, &e)) {
        if (s.file.reader)
            close_run(&s);
        return false; /* not a recording, or one with an error on purpose */
    }
    for (size_t i = 0; i < s.count; i++)
        must_add(&s, i, s.responses[i].text);
    must_write(&s);
    assert_false(s.update.changed);
    assert_content("file", text);
    for (size_t i = 0; i < s.count; i++)
        if (!str_contains(s.responses[i].text, STR("[REDACTED"))) {
            must_add(&s, i, changed_response(&s, s.responses[i].text));
            changes++;
        }
    must_write(&s);
    buf_init(&now, 1 << 20);
    buf_init(&before, 1 << 20);
    buf_add(&before, text);
    temp_dir_get(&now, "file");
    if (changes && str_eq(buf_str(&now), text))
        fail_msg("%s did not change", name);
    if (changes) {
        struct update_run back;

        must_open(&back, "file", false);
        assert_int_equal(back.count, s.count);
        for (size_t i = 0; i < s.count; i++)
            must_add(&back, i, s.responses[i].text);
        must_write(&back);
        close_run(&back);
    }
    buf_clear(&now);
    temp_dir_get(&now, "file");
    normalize(&now, how);
    normalize(&before, how);
    if (!str_eq(buf_str(&now), buf_str(&before)))
        fail_msg("%s: got\n%.*s\nwant\n%.*s", name, STR_ARG(buf_str(&now)),
                 STR_ARG(buf_str(&before)));
    buf_release(&now);
    buf_release(&before);
    close_run(&s);
    return changes;
}

static char project[4096]; /* the directory the test was started in */

/* Calls `check` with the path of every file of a folder of the project. */
static size_t for_each_file(const char *folder, size_t (*check_file)(const char *path))
{
    struct dirent *entry;
    size_t count = 0;
    char path[8192];
    DIR *dir;

    snprintf(path, sizeof path, "%s/%s", project, folder);
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        snprintf(path, sizeof path, "%s/%s/%s", project, folder, entry->d_name);
        if (entry->d_name[0] != '.')
            count += check_file(path);
    }
    closedir(dir);
    return count;
}

static size_t check_sample(const char *path)
{
    enum compared how = strstr(path, "pretty") ? COMPARED_TOKENS : COMPARED_BYTES;
    struct buf text;
    size_t changed;

    if (strstr(path, "/cassette/by-hand") || strstr(path, "/cassette/edited"))
        how = COMPARED_VALUES;
    buf_init(&text, 1 << 20);
    temp_dir_get(&text, path);
    changed = check_property(path, buf_str(&text), how);
    buf_release(&text);
    return changed;
}

static void updating_back_restores_every_sample(void **state)
{
    (void)state;
    assert_int_equal(for_each_file("tests/formats/recording", check_sample), 4);
    assert_int_equal(for_each_file("tests/formats/trace", check_sample), 2);
    assert_int_equal(for_each_file("tests/formats/jsonrpc", check_sample), 4);
    assert_int_equal(for_each_file("tests/formats/cassette", check_sample), 5);
    assert_int_equal(for_each_file("tests/formats/hostile", check_sample), 4);
}

/* The files of a golden case: "file NAME", then lines after "| ". */
static size_t check_case(const char *path)
{
    struct buf text, file;
    struct str rest, line;
    size_t changed = 0;

    buf_init(&text, 1 << 20);
    buf_init(&file, 1 << 20);
    temp_dir_get(&text, path);
    for (rest = buf_str(&text); rest.len;) {
        line = str_cut(&rest, '\n');
        if (str_starts(line, STR("| ")) || str_starts(line, STR("|- "))) {
            bool newline = line.at[1] == ' ';

            buf_add(&file, str_skip(line, newline ? 2 : 3));
            if (newline)
                buf_add_ch(&file, '\n');
            continue;
        }
        if (file.len)
            changed += check_property(path, buf_str(&file), COMPARED_TOKENS);
        buf_clear(&file);
    }
    buf_release(&text);
    buf_release(&file);
    return changed;
}

static void messages_inside_strings_are_rejected_at_once(void **state)
{
    struct err e = ERR_NONE;
    struct update_run s;

    (void)state;
    temp_dir_put(
        "a.har",
        STR("{\"log\":{\"version\":\"1.2\",\"entries\":[{\"request\":{\"method\":\"POST\","
            "\"url\":"
            "\"http://h/mcp\",\"postData\":{\"mimeType\":\"application/json\",\"text\":"
            "\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"method\\\":\\\"ping\\\"}\"}},"
            "\"response\":{\"status\":200,\"content\":{\"mimeType\":\"application/"
            "json\",\"text\":"
            "\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{}}\"}}}]}}"));
    assert_false(open_run(&s, &sys_real, "a.har", false, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.msg, "inside strings"));
    close_run(&s);
}

static void updating_back_restores_the_files_of_golden_cases(void **state)
{
    (void)state;
    assert_true(for_each_file("tests/golden", check_case) >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_line_of_a_recording_changes_only_in_its_message),
        IN_TEMP_DIR(a_result_becomes_an_error),
        IN_TEMP_DIR(secrets_are_removed_and_listed),
        IN_TEMP_DIR(placeholders_stay),
        IN_TEMP_DIR(numbers_of_rules_in_the_file_are_not_used_again),
        IN_TEMP_DIR(a_batch_of_a_trace_changes_in_one_element),
        IN_TEMP_DIR(a_value_over_several_lines_changes_in_its_message),
        IN_TEMP_DIR(a_byte_order_mark_stays),
        IN_TEMP_DIR(a_cassette_keeps_the_layout_of_mcp_recorder),
        IN_TEMP_DIR(several_responses_change_at_once),
        IN_TEMP_DIR(without_a_change_the_file_is_not_touched),
        IN_TEMP_DIR(a_message_that_is_no_response_is_an_error),
        IN_TEMP_DIR(a_file_that_was_changed_stays),
        IN_TEMP_DIR(a_failure_leaves_the_old_file),
        IN_TEMP_DIR(a_file_that_cannot_be_updated_is_rejected_at_the_start),
        IN_TEMP_DIR(updating_back_restores_every_sample),
        IN_TEMP_DIR(messages_inside_strings_are_rejected_at_once),
        IN_TEMP_DIR(updating_back_restores_the_files_of_golden_cases),
    };

    if (!getcwd(project, sizeof project))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
