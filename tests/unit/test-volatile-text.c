#include "mcp/volatile-text.h"

#include "test.h"

/* The masked text with V, T and P for the masks. */
static struct str masked(const char *text, struct buf *b)
{
    buf_clear(b);
    mcp_mask_volatile_text(str_z(text), b);
    assert_true(b->len <= strlen(text));
    for (size_t i = 0; i < b->len; i++)
        if ((unsigned char)b->at[i] >= 0xfd)
            b->at[i] = "PTV"[(unsigned char)b->at[i] - 0xfd];
    return buf_str(b);
}

struct mask_row {
    const char *text, *want;
};

static void check_rows(const struct mask_row *rows, size_t count)
{
    struct buf b;

    buf_init(&b, 1 << 12);
    for (size_t i = 0; i < count; i++)
        assert_str(masked(rows[i].text, &b), str_z(rows[i].want));
    buf_release(&b);
}

static void times_are_masked_with_seconds_fraction_and_zone(void **state)
{
    static const struct mask_row rows[] = {
        { "2026-01-02T03:04:05Z", "V" },
        { "2026-01-02T03:04", "V" },
        { "at 2026-01-02 03:04:05.123456, done", "at V, done" },
        { "2026-01-02T03:04:05,5+02:00.", "V." },
        { "2026-01-02T03:04:05-0500 x", "V x" },
        { "[2026-01-02T03:04:05+02]", "[V]" },
        { "2026-01-02T03:04:05 failed", "V failed" },
        { "2026-01-02", "2026-01-02" },
        { "2026-01-02 and 03:04", "2026-01-02 and 03:04" },
        { "created at 2:21:54 AM", "created at V" },
        { "created at 12:21:54.25!", "created at V!" },
        { "ratio 1:2:3, 12:34 and 2:21:5", "ratio 1:2:3, 12:34 and 2:21:5" },
        { "v2026-01-02T03:04:05Z", "v2026-01-02T03:04:05Z" },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

static void random_ids_and_hashes_are_masked_between_other_characters(void **state)
{
    static const struct mask_row rows[] = {
        { "job 4f3c2a1b9d8e7f60 done", "job V done" },
        { "job-550e8400-e29b-41d4-a716-446655440000.json", "job-V.json" },
        { "sha256:4f3c2a1b9d8e7f604f3c2a1b9d8e7f60", "sha256:V" },
        { "req_01ARZ3NDEKTSV4RRFFQ69G5FAV", "req_V" },
        { "/jobs/4f3c2a1b9d8e7f60/log", "/jobs/V/log" },
        { "since 1700000000.25 s", "since V s" },
        { "1700000000000", "V" },
        { "550e8400-e29b-41d4-a716-446655440000x", "550e8400-e29b-41d4-a716-446655440000x" },
        { "4f3c2a1b", "4f3c2a1b" },
        { "deadbeefdeadbeef", "deadbeefdeadbeef" }, /* a word: it has no digit */
        { "x4f3c2a1b9d8e7f60", "x4f3c2a1b9d8e7f60" },
        { "12 files, 345 lines", "12 files, 345 lines" },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

static void temporary_paths_are_masked_up_to_the_first_name(void **state)
{
    static const struct mask_row rows[] = {
        { "/tmp/run-17/out.txt", "T/out.txt" },
        { "wrote /var/tmp/a.b:3", "wrote T:3" },
        { "file:///tmp/x y", "file://T y" },
        { "dir=/tmp/x", "dir=T" },
        { "\"/private/tmp/x\"", "\"T\"" },
        { "/var/folders/ab/c_d0/T/tmp.x/y", "T/y" },
        { "/private/var/folders/ab/c_d0/T/tmp.x", "T" },
        { "/var/folders/ab/c_d0", "/var/folders/ab/c_d0" },
        { "/tmp", "/tmp" },
        { "/tmp/", "/tmp/" },
        { "/home/me/tmp/x", "/home/me/tmp/x" },
        { "/tmpfs/x", "/tmpfs/x" },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

static void ports_of_loopback_urls_are_masked(void **state)
{
    static const struct mask_row rows[] = {
        { "http://127.0.0.1:4711/mcp", "http://127.0.0.1:P/mcp" },
        { "see https://localhost:80", "see https://localhost:P" },
        { "ws://[::1]:9/", "ws://[::1]:P/" },
        { "http://localhost/", "http://localhost/" },
        { "http://localhost:x", "http://localhost:x" },
        { "http://localhost:123456", "http://localhost:123456" },
        { "http://example.com:8080", "http://example.com:8080" },
        { "localhost:8080", "localhost:8080" },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

static void other_text_stays(void **state)
{
    static const struct mask_row rows[] = {
        { "", "" },
        { "3 issues found", "3 issues found" },
        { "gr\xc3\xbc\xc3\x9f dich: a/b //c ::", "gr\xc3\xbc\xc3\x9f dich: a/b //c ::" },
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_masked_with_seconds_fraction_and_zone),
        cmocka_unit_test(random_ids_and_hashes_are_masked_between_other_characters),
        cmocka_unit_test(temporary_paths_are_masked_up_to_the_first_name),
        cmocka_unit_test(ports_of_loopback_urls_are_masked),
        cmocka_unit_test(other_text_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
