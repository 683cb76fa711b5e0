/* tests/formats/test-hostile.c - recordings with one wrong value, replayed over HTTP.
 *
 * hostile/ holds recordings that have lines of every type. In each of them every member of
 * every type of line, also inside the objects of a line, is replaced by each of the values
 * below and removed, where it first stands and where it stands next. The recording is rejected
 * then, or all requests get responses (http-replay-rig.h).
 *
 *     test-hostile DIRECTORY */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http-replay-rig.h"
#include "test.h"
#include "json/splice.h"

enum { TEXT_MAX = 1 << 24, DEPTH_MAX = 3, DEEP = 300, PLACES_MAX = 2 };

#define X16(x) x x x x x x x x x x x x x x x x

static const char *const values[] = {
    "null", "true", "false",
    /* Numbers: negative, around limits, huge, fractional, spelled otherwise. */
    "0", "-0", "-1", "1", "2", "7", "99", "100", "101", "199", "204", "205", "304", "401",
    "599", "600", "999", "65536", "65736", "2147483648", "4294967295", "4294967296",
    "4294967496", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
    "99999999999999999999", "1.5", "2e2", "1e400",
    /* Strings: empty, control characters, not ASCII, lone surrogates, words of the format. */
    "\"\"", "\" \"", "\"0\"", "\"a\\r\\nb: c\"", "\"\\u0000\"", "\"\\u001b[2J\\u009b\\u202e\"",
    "\"\xc3\xa9\"", "\"\\ud800\"", "\"" X16(X16("long ")) "\"", "\"2025-02-04T10:00:00.000Z\"",
    "\"s2c\"", "\"server\"", "\"mcpreel\"", "\"sse\"", "\"json\"", "\"endpoint\"", "\"GET\"",
    "\"initialize\"", "\"2026-07-28\"", "\"//x/../%00?#\"", "\"/a/b/0/-/~2\"",
    /* Arrays and objects. */
    "[]", "[\"\"]", "[[\"content-type\",\"a\\u0000\"],[\"\",\"\"],[\"Allow\",\"\\r\\n\"]]",
    "[[1,2,3]]", "{}", "{\"\":\"\"}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    "{\"stream\":1,\"after\":99999999,\"id\":0,\"index\":5,\"count\":0,\"n\":0,\"retry\":1}",
    NULL, /* an array in an array, DEEP times */
};

enum { VALUES = sizeof values / sizeof *values };
_Static_assert(VALUES >= 60, "that many were promised");

struct hostile {
    struct str before, line, after; /* of the recording */
    struct buf text;
    struct buf deep;
    struct map seen; /* type of line and path of a member to how often it was replaced */
    struct arena arena;
    size_t tried, refused;
};

static void check_one(struct hostile *h, struct str changed)
{
    static const struct replay_options how = {
        .match = { .mode = MATCH_BY_REQUEST },
        .on_miss = ON_MISS_WARN,
        .exhausted_given = true,
    };
    struct http_replay_rig r;

    buf_clear(&h->text);
    buf_add(&h->text, h->before);
    buf_add(&h->text, changed);
    buf_add_ch(&h->text, '\n');
    buf_add(&h->text, h->after);
    h->tried++;
    if (!http_replay_rig_run(&r, buf_str(&h->text), &how)) {
        h->refused++;
        assert_int_equal(r.error.kind, ERR_INPUT);
    }
    http_replay_rig_release(&r);
}

static void replace(struct hostile *h, struct json_val root, struct json_val at,
                    struct str value)
{
    struct json_splice edit;
    struct buf line;

    buf_init(&line, TEXT_MAX);
    json_splice_init(&edit, root);
    json_splice_replace(&edit, at, value);
    json_splice_apply(&edit, &line);
    check_one(h, buf_str(&line));
    buf_release(&line);
}

/* Without the member: its name becomes one that is not known. */
static void rename_member(struct hostile *h, struct json_val root, struct json_val key)
{
    struct buf line;
    size_t at = json_offset(key), len = json_raw(key).len;
    struct str text = json_raw(root);

    buf_init(&line, TEXT_MAX);
    buf_add(&line, str_n(text.at, at));
    buf_add(&line, STR("\"not known\""));
    buf_add(&line, str_skip(text, at + len));
    check_one(h, buf_str(&line));
    buf_release(&line);
}

static bool is_due(struct hostile *h, struct str path)
{
    size_t times = (size_t)(uintptr_t)map_get(&h->seen, path);

    map_put(&h->seen, path, (void *)(uintptr_t)(times + 1));
    return times < PLACES_MAX;
}

static void replace_all(struct hostile *h, struct json_val root, struct json_val of,
                        struct str path, int depth)
{
    struct json_iter it = json_each(of);

    while (json_next(&it)) {
        struct str key = json_text(it.key, &h->arena);
        struct str at = arena_printf(&h->arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(key));

        if (depth < DEPTH_MAX && json_type(it.value) >= JSON_ARRAY)
            replace_all(h, root, it.value, at, depth + 1);
        if (!is_due(h, at))
            continue;
        for (size_t i = 0; i < VALUES; i++)
            replace(h, root, it.value, values[i] ? str_z(values[i]) : buf_str(&h->deep));
        if (json_type(of) == JSON_OBJECT)
            rename_member(h, root, it.key);
    }
}

static struct str type_of(struct hostile *h, struct json_val line)
{
    return arena_printf(&h->arena, "%.*s %.*s",
                        STR_ARG(json_text(json_get(line, STR("type")), &h->arena)),
                        STR_ARG(json_text(json_get(line, STR("ev")), &h->arena)));
}

static void change_lines(struct hostile *h, struct str text)
{
    struct str rest = text;

    map_init(&h->seen);
    while (rest.len) {
        struct json_fault fault;
        struct json j;

        h->before = str_n(text.at, text.len - rest.len);
        h->line = str_cut(&rest, '\n');
        h->after = rest;
        json_init(&j);
        assert_true(json_scan(&j, h->line, &fault));
        replace_all(h, json_root(&j), json_root(&j), type_of(h, json_root(&j)), 1);
        json_release(&j);
    }
    map_release(&h->seen);
    arena_clear(&h->arena);
}

static void read_file(struct buf *to, const char *directory, const char *name)
{
    struct arena a = { 0 };
    FILE *f = fopen(arena_printf(&a, "%s/%s", directory, name).at, "rb");
    char piece[4096];

    assert_non_null(f);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_add(to, str_n(piece, n));
    fclose(f);
    arena_release(&a);
}

static void a_wrong_value_is_rejected_or_replayed(void **state)
{
    const char *directory = *state;
    DIR *dir = opendir(directory);
    struct hostile h = { .tried = 0 };
    const struct dirent *entry;
    size_t files = 0;

    assert_non_null(dir);
    buf_init(&h.text, TEXT_MAX);
    buf_init(&h.deep, TEXT_MAX);
    for (int i = 0; i < DEEP; i++)
        buf_add_ch(&h.deep, '[');
    for (int i = 0; i < DEEP; i++)
        buf_add_ch(&h.deep, ']');
    while ((entry = readdir(dir))) {
        struct buf text;

        if (entry->d_name[0] == '.')
            continue;
        buf_init(&text, TEXT_MAX);
        read_file(&text, directory, entry->d_name);
        change_lines(&h, buf_str(&text));
        buf_release(&text);
        files++;
    }
    closedir(dir);
    arena_release(&h.arena);
    buf_release(&h.text);
    buf_release(&h.deep);
    assert_true(files >= 4);
    printf("%zu recordings, %zu refused\n", h.tried, h.refused);
    assert_in_range(h.refused, h.tried / 5, h.tried * 4 / 5); /* both happen */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_wrong_value_is_rejected_or_replayed, argv[argc - 1]),
    };

    BUG_IF(argc != 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
