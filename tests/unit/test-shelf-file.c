#include "format/shelf-file.h"

#include <errno.h>
#include <unistd.h>

#include "base/pack.h"
#include "fault-sys.h"
#include "scratch.h"
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

static const struct log quiet = { .level = LOG_ERROR, .put = say_nothing };

/* Keeps every message, and remembers where. */
struct keeper {
    struct sink sink;
    struct shelf *shelf;
    struct shelf_place places[8];
    size_t count;
};

static bool keep(struct sink *self, const struct record *r, struct err *e)
{
    struct keeper *k = (struct keeper *)self;

    return r->kind != RECORD_MESSAGE ||
           k->shelf->keep(k->shelf, json_raw(r->message.msg), &k->places[k->count++], e);
}

static void assert_kept(struct shelf_file *f, struct shelf_place at, const char *want)
{
    struct err e = ERR_NONE;
    struct buf got;

    buf_init(&got, 1 << 20);
    if (!f->shelf.fetch(&f->shelf, at, &got, &e))
        fail_msg("%s", e.msg);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

/* Both messages come back, whatever the file looks like. */
static void check(struct str content, bool copies, const char *one, const char *two)
{
    struct keeper k = { .sink = { keep } };
    struct err e = ERR_NONE;
    struct shelf_file f;

    scratch_put("file", content);
    if (!shelf_file_open(&f, &sys_real, "file", ".", &quiet, &e))
        fail_msg("%s", e.msg);
    k.shelf = &f.shelf;
    if (!shelf_file_pour(&f, &k.sink, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(k.count, 2);
    assert_kept(&f, k.places[1], two);
    assert_kept(&f, k.places[0], one);
    assert_kept(&f, k.places[1], two);
    assert_int_equal(f.copied > 0, copies);
    shelf_file_close(&f);
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
    static const enum pack_kind kinds[] = { PACK_GZIP, PACK_ZSTD };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct packer *p = packer_new(kinds[i]);
        struct buf packed;

        buf_init(&packed, 1 << 20);
        packer_add(p, STR(RECORDING), false, &packed);
        packer_end(p, &packed);
        packer_free(p);
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
    struct shelf_file f;
    struct buf got;

    (void)state;
    scratch_put("file", STR(RECORDING));
    buf_init(&got, 1 << 20);
    assert_true(shelf_file_open(&f, &sys_real, "file", ".", &quiet, &e));
    k.shelf = &f.shelf;
    assert_true(shelf_file_pour(&f, &k.sink, &e));
    assert_int_equal(truncate("file", 10), 0);
    assert_false(f.shelf.fetch(&f.shelf, k.places[0], &got, &e));
    assert_string_equal(e.msg, "cannot read 'file': it has become shorter");
    shelf_file_close(&f);
    buf_release(&got);
}

static void a_disk_without_room_for_the_copy_is_told(void **state)
{
    struct keeper k = { .sink = { keep } };
    struct err e = ERR_NONE;
    struct fault_sys sys;
    struct shelf_file f;
    struct packer *p = packer_new(PACK_GZIP);
    struct buf packed;

    (void)state;
    buf_init(&packed, 1 << 20);
    packer_add(p, STR(RECORDING), false, &packed);
    packer_end(p, &packed);
    packer_free(p);
    scratch_put("file", buf_str(&packed));
    fault_init(&sys);
    fault_fail(&sys, FAULT_WRITE, 1, FAULT_FOREVER, ENOSPC);
    assert_true(shelf_file_open(&f, &sys.sys, "file", ".", &quiet, &e));
    k.shelf = &f.shelf;
    assert_false(shelf_file_pour(&f, &k.sink, &e));
    assert_int_equal(e.kind, ERR_IO);
    shelf_file_close(&f);
    assert_true(shelf_file_open(&f, &sys_real, "file", "nowhere", &quiet, &e));
    k.shelf = &f.shelf;
    k.count = 0;
    assert_false(shelf_file_pour(&f, &k.sink, &e));
    assert_non_null(strstr(e.msg, "cannot make a temporary file in 'nowhere'"));
    shelf_file_close(&f);
    buf_release(&packed);
}

static void what_is_no_message_is_copied_as_it_is(void **state)
{
    struct keeper k = { .sink = { keep } };
    struct shelf_place first, second;
    struct err e = ERR_NONE;
    struct shelf_file f;

    (void)state;
    scratch_put("file", STR(RECORDING));
    assert_true(shelf_file_open(&f, &sys_real, "file", ".", &quiet, &e));
    k.shelf = &f.shelf;
    assert_true(f.shelf.store(&f.shelf, STR("a\nb"), &first, &e));
    assert_true(shelf_file_pour(&f, &k.sink, &e));
    assert_true(f.shelf.store(&f.shelf, STR("\n"), &second, &e));
    assert_kept(&f, second, "\n");
    assert_kept(&f, first, "a\nb");
    assert_kept(&f, k.places[0], ONE);
    shelf_file_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(messages_are_read_from_the_file_itself),
        IN_A_DIRECTORY(those_of_a_packed_file_are_copied),
        IN_A_DIRECTORY(those_laid_out_for_people_are_copied_on_one_line),
        IN_A_DIRECTORY(what_is_no_message_is_copied_as_it_is),
        IN_A_DIRECTORY(a_file_that_has_shrunk_is_told),
        IN_A_DIRECTORY(a_disk_without_room_for_the_copy_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
