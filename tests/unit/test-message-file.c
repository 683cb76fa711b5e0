#include "format/message-file.h"

#include <errno.h>
#include <unistd.h>

#include "base/compress.h"
#include "fault-sys.h"
#include "temp-dir.h"
#include "test.h"

#define LINE(seq, dir, msg)                                                                    \
    "{\"type\":\"message\",\"seq\":" #seq ",\"ts\":\"2025-02-04T10:00:00Z\",\"dir\":\"" dir    \
    "\",\"msg\":" msg "}\n"
#define HEAD                                                                                   \
    "{\"type\":\"header\",\"version\":\"1.0\",\"recorded_at\":\"2025-02-04T10:00:00Z\","       \
    "\"upstream\":\"x\",\"thoughtjack_version\":\"0.3.0\"}\n"
#define ONE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}"
#define TWO "{ \"id\" : 1, \"result\":{\"x\":1.50}}"
#define RECORDING HEAD LINE(1, "c2s", ONE) LINE(2, "s2c", TWO)

static void ignore_line(void *to, struct str line)
{
    (void)to;
    (void)line;
}

static const struct log quiet = { .level = LOG_ERROR, .write = ignore_line };

/* Keeps every message, and remembers where. */
struct message_log {
    struct sink sink;
    struct message_store *store;
    struct message_ref places[8];
    size_t count;
};

static bool keep(struct sink *self, const struct record *r, struct err *e)
{
    struct message_log *k = (struct message_log *)self;

    return r->kind != RECORD_MESSAGE ||
           k->store->add_message(k->store, json_raw(r->message.msg), &k->places[k->count++], e);
}

static void assert_kept(struct message_file *f, struct message_ref at, const char *want)
{
    struct err e = ERR_NONE;
    struct buf got;

    buf_init(&got, 1 << 20);
    if (!f->store.fetch(&f->store, at, &got, &e))
        fail_msg("%s", e.msg);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

/* Both messages come back, whatever the file looks like. */
static void check(struct str content, bool copies, const char *one, const char *two)
{
    struct message_log k = { .sink = { keep } };
    struct err e = ERR_NONE;
    struct message_file f;

    temp_dir_put("file", content);
    if (!message_file_open(&f, &sys_real, "file", ".", &quiet, &e))
        fail_msg("%s", e.msg);
    k.store = &f.store;
    if (!message_file_read_all(&f, &k.sink, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(k.count, 2);
    assert_kept(&f, k.places[1], two);
    assert_kept(&f, k.places[0], one);
    assert_kept(&f, k.places[1], two);
    assert_int_equal(f.copy_size > 0, copies);
    message_file_close(&f);
}

static void messages_are_read_from_a_plain_file(void **state)
{
    (void)state;
    check(STR(RECORDING), false, ONE, TWO);
    check(STR("\xef\xbb\xbf" RECORDING), false, ONE, TWO);
    check(STR(ONE "\n" TWO "\n"), false, ONE, TWO);
}

static void messages_of_a_compressed_file_are_copied(void **state)
{
    static const enum compress_kind kinds[] = { COMPRESS_GZIP, COMPRESS_ZSTD };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct compressor *p = compressor_new(kinds[i]);
        struct buf packed;

        buf_init(&packed, 1 << 20);
        compressor_add(p, STR(RECORDING), false, &packed);
        compressor_end(p, &packed);
        compressor_free(p);
        check(buf_str(&packed), true, ONE, TWO);
        check(str_n(packed.at, packed.len - 2), true, ONE, TWO); /* even if it is cut off */
        buf_release(&packed);
    }
}

static void indented_messages_are_copied_on_one_line(void **state)
{
    (void)state;
    check(STR("{\"type\":\"message\",\"seq\":1,\"ts\":\"2025-02-04T10:00:00Z\",\n\"dir\":"
              "\"c2s\",\"msg\":{\n  \"id\": 1,\n  \"method\": \"a\"\n}}\n" LINE(2, "s2c", TWO)),
          true, "{   \"id\": 1,   \"method\": \"a\" }", TWO);
}

static void a_truncated_file_is_reported(void **state)
{
    struct message_log k = { .sink = { keep } };
    struct err e = ERR_NONE;
    struct message_file f;
    struct buf got;

    (void)state;
    temp_dir_put("file", STR(RECORDING));
    buf_init(&got, 1 << 20);
    assert_true(message_file_open(&f, &sys_real, "file", ".", &quiet, &e));
    k.store = &f.store;
    assert_true(message_file_read_all(&f, &k.sink, &e));
    assert_int_equal(truncate("file", 10), 0);
    assert_false(f.store.fetch(&f.store, k.places[0], &got, &e));
    assert_string_equal(e.msg, "cannot read 'file': it has become shorter");
    message_file_close(&f);
    buf_release(&got);
}

static void a_full_disk_is_reported_for_the_copy(void **state)
{
    struct message_log k = { .sink = { keep } };
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct message_file f;
    struct compressor *p = compressor_new(COMPRESS_GZIP);
    struct buf packed;

    (void)state;
    buf_init(&packed, 1 << 20);
    compressor_add(p, STR(RECORDING), false, &packed);
    compressor_end(p, &packed);
    compressor_free(p);
    temp_dir_put("file", buf_str(&packed));
    fault_init(&sys);
    fault_fail(&sys, FAULT_WRITE, 1, FAULT_FOREVER, ENOSPC);
    assert_true(message_file_open(&f, &sys.sys, "file", ".", &quiet, &e));
    k.store = &f.store;
    assert_false(message_file_read_all(&f, &k.sink, &e));
    assert_int_equal(e.kind, ERR_IO);
    message_file_close(&f);
    assert_true(message_file_open(&f, &sys_real, "file", "nowhere", &quiet, &e));
    k.store = &f.store;
    k.count = 0;
    assert_false(message_file_read_all(&f, &k.sink, &e));
    assert_non_null(strstr(e.msg, "cannot make a temporary file in 'nowhere'"));
    message_file_close(&f);
    buf_release(&packed);
}

static void text_that_is_not_a_message_is_copied_unchanged(void **state)
{
    struct message_log k = { .sink = { keep } };
    struct message_ref first, second;
    struct err e = ERR_NONE;
    struct message_file f;

    (void)state;
    temp_dir_put("file", STR(RECORDING));
    assert_true(message_file_open(&f, &sys_real, "file", ".", &quiet, &e));
    k.store = &f.store;
    assert_true(f.store.add_bytes(&f.store, STR("a\nb"), &first, &e));
    assert_true(message_file_read_all(&f, &k.sink, &e));
    assert_true(f.store.add_bytes(&f.store, STR("\n"), &second, &e));
    assert_kept(&f, second, "\n");
    assert_kept(&f, first, "a\nb");
    assert_kept(&f, k.places[0], ONE);
    message_file_close(&f);
}

static void open_with_origins(struct message_file *f, struct message_log *k, struct str content)
{
    struct err e = ERR_NONE;

    temp_dir_put("file", content);
    if (!message_file_open(f, &sys_real, "file", ".", &quiet, &e))
        fail_msg("%s", e.msg);
    f->keep_origins = f->keep_lines = true;
    *k = (struct message_log){ .sink = { keep }, .store = &f->store };
    if (!message_file_read_all(f, &k->sink, &e))
        fail_msg("%s", e.msg);
}

static uint32_t line_at(struct str text, uint64_t at)
{
    uint32_t line = 1;

    for (uint64_t i = 0; i < at; i++)
        line += text.at[i] == '\n';
    return line;
}

/* The text has the message, and the record around it, at the places found. */
static void check_origin(struct message_file *f, const struct message_log *k, size_t nth,
                         struct str text, const char *message, const char *record)
{
    struct message_origin o;
    struct err e = ERR_NONE;

    assert_true(nth < k->count);
    if (!message_file_find_origin(f, k->places[nth], &o, &e))
        fail_msg("%s", e.msg);
    assert_true(o.at + o.len <= text.len && o.record_at + o.record_len <= text.len);
    assert_str(str_n(text.at + o.at, o.len), str_z(message));
    assert_str(str_n(text.at + o.record_at, o.record_len), str_z(record));
    assert_int_equal(k->places[nth].line, line_at(text, o.at));
}

static void the_origin_of_a_message_is_found_in_its_line(void **state)
{
    static const struct str texts[] = { STR_INIT(RECORDING),
                                        STR_INIT("\xef\xbb\xbf" RECORDING) };
    struct message_file f;
    struct message_log k;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        open_with_origins(&f, &k, texts[i]);
        check_origin(&f, &k, 0, texts[i], ONE, LINE(1, "c2s", ONE));
        check_origin(&f, &k, 1, texts[i], TWO, LINE(2, "s2c", TWO));
        message_file_close(&f);
    }
}

static void the_origin_is_found_in_a_line_longer_than_a_block(void **state)
{
    struct message_file f;
    struct message_log k;
    struct buf text, line;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&line, 1 << 20);
    buf_printf(&line,
               "{\"before\":\"%09000d\",\"type\":\"message\",\"seq\":1,\"ts\":"
               "\"2025-02-04T10:00:00Z\",\"dir\":\"c2s\",\"msg\":" ONE
               ",\"after\":\"%09000d\"}",
               0, 0);
    buf_printf(&text, HEAD "%s", buf_z(&line)); /* and no newline at the end */
    open_with_origins(&f, &k, buf_str(&text));
    check_origin(&f, &k, 0, buf_str(&text), ONE, buf_z(&line));
    message_file_close(&f);
    buf_release(&text);
    buf_release(&line);
}

static void the_origin_is_found_in_a_compressed_file(void **state)
{
    struct compressor *p = compressor_new(COMPRESS_ZSTD);
    struct message_file f;
    struct message_log k;
    struct buf packed;

    (void)state;
    buf_init(&packed, 1 << 20);
    compressor_add(p, STR(RECORDING), false, &packed);
    compressor_end(p, &packed);
    compressor_free(p);
    open_with_origins(&f, &k, buf_str(&packed));
    check_origin(&f, &k, 0, STR(RECORDING), ONE, LINE(1, "c2s", ONE));
    check_origin(&f, &k, 1, STR(RECORDING), TWO, LINE(2, "s2c", TWO));
    assert_kept(&f, k.places[0], ONE);
    assert_kept(&f, k.places[1], TWO);
    message_file_close(&f);
    buf_release(&packed);
}

#define PRETTY_MESSAGE "{\n  \"id\": 1,\r\n  \"method\": \"a\"\n}"
#define PRETTY_LINE                                                                            \
    "{\"type\":\"message\",\"seq\":1,\"ts\":\"2025-02-04T10:00:00Z\",\n\"dir\":\"c2s\","       \
    "\"msg\":" PRETTY_MESSAGE "}\n"

static void the_origin_is_found_over_several_lines(void **state)
{
    static const struct str text = STR_INIT(HEAD PRETTY_LINE LINE(2, "s2c", TWO));
    struct message_file f;
    struct message_log k;

    (void)state;
    open_with_origins(&f, &k, text);
    check_origin(&f, &k, 0, text, PRETTY_MESSAGE, PRETTY_LINE);
    check_origin(&f, &k, 1, text, TWO, LINE(2, "s2c", TWO));
    message_file_close(&f);
}

static void the_origin_is_found_for_each_element_of_a_batch(void **state)
{
    static const struct str text = STR_INIT(
        "{\"t\":\"2025-02-04T10:00:00Z\",\"dir\":\"in\",\"raw\":[" ONE "," TWO "]}\n"
        "{\"t\":\"2025-02-04T10:00:00Z\",\"dir\":\"in\",\"raw\":[\n" ONE ",\n" TWO "]}\n");
    static const char *const want[] = { ONE, TWO, ONE, TWO };
    struct message_file f;
    struct message_log k;

    (void)state;
    open_with_origins(&f, &k, text);
    assert_int_equal(k.count, 4);
    for (size_t i = 0; i < k.count; i++) {
        struct message_origin o;
        struct err e = ERR_NONE;

        assert_true(message_file_find_origin(&f, k.places[i], &o, &e));
        assert_str(str_n(text.at + o.at, o.len), str_z(want[i]));
        assert_int_equal(k.places[i].line, line_at(text, o.at));
    }
    message_file_close(&f);
}

/* NaN is read as null, which is longer. */
static void the_origin_is_found_in_a_cassette(void **state)
{
    static const struct str text = STR_INIT(
        "{\n\"interactions\":[{\n\"type\":\"jsonrpc_request\",\"x\":[NaN,NaN,Infinity],"
        "\"response\":{ \"id\": 1, \"result\": {\"a\":NaN, \"b\":-Infinity}},\n\"request\":" ONE
        "}]}");
    struct message_file f;
    struct message_log k;

    (void)state;
    open_with_origins(&f, &k, text);
    check_origin(&f, &k, 0, text, ONE, ONE);
    check_origin(&f, &k, 1, text, "{ \"id\": 1, \"result\": {\"a\":NaN, \"b\":-Infinity}}",
                 "{ \"id\": 1, \"result\": {\"a\":NaN, \"b\":-Infinity}}");
    message_file_close(&f);
}

static void a_cached_text_is_found(void **state)
{
    struct message_file_cache r;
    struct str text;

    (void)state;
    message_file_cache_init(&r);
    assert_false(message_file_cache_find(&r, 0, 0, &text));
    assert_false(message_file_cache_find(&r, 7, 3, &text));
    message_file_cache_add(&r, 7, STR("abc"));
    assert_true(message_file_cache_find(&r, 7, 3, &text));
    assert_str(text, STR("abc"));
    assert_false(message_file_cache_find(&r, 7, 2, &text));
    assert_false(message_file_cache_find(&r, 8, 3, &text));
    message_file_cache_add(&r, 7, STR("xy"));
    assert_true(message_file_cache_find(&r, 7, 2, &text));
    assert_str(text, STR("xy"));
    message_file_cache_release(&r);
}

static void a_replaced_cache_entry_is_not_found(void **state)
{
    struct message_file_cache r;
    struct str text;
    size_t known = 0;

    (void)state;
    message_file_cache_init(&r);
    for (uint64_t at = 0; at < 10 * MESSAGE_FILE_CACHE_SLOTS; at++)
        message_file_cache_add(&r, at * 2, str_n((const char *)&at, sizeof at));
    for (uint64_t at = 0; at < 10 * MESSAGE_FILE_CACHE_SLOTS; at++) {
        if (!message_file_cache_find(&r, at * 2, sizeof at, &text))
            continue;
        known++;
        assert_memory_equal(text.at, &at, sizeof at);
    }
    assert_true(known > MESSAGE_FILE_CACHE_SLOTS / 2 && known <= MESSAGE_FILE_CACHE_SLOTS);
    message_file_cache_release(&r);
}

static void a_long_text_is_not_cached(void **state)
{
    static char many[MESSAGE_FILE_CACHE_TEXT + 1];
    struct message_file_cache r;
    struct str text;

    (void)state;
    message_file_cache_init(&r);
    message_file_cache_add(&r, 1, str_n(many, sizeof many));
    assert_false(message_file_cache_find(&r, 1, sizeof many, &text));
    message_file_cache_add(&r, 1, str_n(many, sizeof many - 1));
    assert_true(message_file_cache_find(&r, 1, sizeof many - 1, &text));
    message_file_cache_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(messages_are_read_from_a_plain_file),
        IN_TEMP_DIR(messages_of_a_compressed_file_are_copied),
        IN_TEMP_DIR(indented_messages_are_copied_on_one_line),
        IN_TEMP_DIR(text_that_is_not_a_message_is_copied_unchanged),
        IN_TEMP_DIR(a_truncated_file_is_reported),
        IN_TEMP_DIR(a_full_disk_is_reported_for_the_copy),
        IN_TEMP_DIR(the_origin_of_a_message_is_found_in_its_line),
        IN_TEMP_DIR(the_origin_is_found_in_a_line_longer_than_a_block),
        IN_TEMP_DIR(the_origin_is_found_in_a_compressed_file),
        IN_TEMP_DIR(the_origin_is_found_over_several_lines),
        IN_TEMP_DIR(the_origin_is_found_for_each_element_of_a_batch),
        IN_TEMP_DIR(the_origin_is_found_in_a_cassette),
        cmocka_unit_test(a_cached_text_is_found),
        cmocka_unit_test(a_replaced_cache_entry_is_not_found),
        cmocka_unit_test(a_long_text_is_not_cached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
