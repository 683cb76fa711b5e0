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

static void say_nothing(void *to, struct str line)
{
    (void)to;
    (void)line;
}

static const struct log quiet = { .level = LOG_ERROR, .write = say_nothing };

/* Keeps every message, and remembers where. */
struct keeper {
    struct sink sink;
    struct message_store *store;
    struct message_ref places[8];
    size_t count;
};

static bool keep(struct sink *self, const struct record *r, struct err *e)
{
    struct keeper *k = (struct keeper *)self;

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
    struct keeper k = { .sink = { keep } };
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

static void messages_are_read_from_the_file_itself(void **state)
{
    (void)state;
    check(STR(RECORDING), false, ONE, TWO);
    check(STR("\xef\xbb\xbf" RECORDING), false, ONE, TWO);
    check(STR(ONE "\n" TWO "\n"), false, ONE, TWO);
}

static void those_of_a_packed_file_are_copied(void **state)
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

static void those_laid_out_for_people_are_copied_on_one_line(void **state)
{
    (void)state;
    check(STR("{\"type\":\"message\",\"seq\":1,\"ts\":\"2025-02-04T10:00:00Z\",\n\"dir\":"
              "\"c2s\",\"msg\":{\n  \"id\": 1,\n  \"method\": \"a\"\n}}\n" LINE(2, "s2c", TWO)),
          true, "{   \"id\": 1,   \"method\": \"a\" }", TWO);
}

static void a_file_that_has_shrunk_is_told(void **state)
{
    struct keeper k = { .sink = { keep } };
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

static void a_disk_without_room_for_the_copy_is_told(void **state)
{
    struct keeper k = { .sink = { keep } };
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

static void what_is_no_message_is_copied_as_it_is(void **state)
{
    struct keeper k = { .sink = { keep } };
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

static void what_was_kept_is_found(void **state)
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

static void one_text_takes_the_place_of_another_and_never_its_name(void **state)
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

static void what_is_long_is_not_kept(void **state)
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
        IN_TEMP_DIR(messages_are_read_from_the_file_itself),
        IN_TEMP_DIR(those_of_a_packed_file_are_copied),
        IN_TEMP_DIR(those_laid_out_for_people_are_copied_on_one_line),
        IN_TEMP_DIR(what_is_no_message_is_copied_as_it_is),
        IN_TEMP_DIR(a_file_that_has_shrunk_is_told),
        IN_TEMP_DIR(a_disk_without_room_for_the_copy_is_told),
        cmocka_unit_test(what_was_kept_is_found),
        cmocka_unit_test(one_text_takes_the_place_of_another_and_never_its_name),
        cmocka_unit_test(what_is_long_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
