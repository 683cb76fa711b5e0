#include "base/log.h"

#include "base/buf.h"
#include "test.h"

static void keep(void *to, struct str line)
{
    buf_add(to, line);
}

static void a_line_is_escaped_and_prefixed(void **state)
{
    struct buf b;
    struct log l = { .level = LOG_INFO, .put = keep, .to = &b };

    (void)state;
    buf_init(&b, 1000);
    log_say(&l, LOG_INFO, "got %s", "\x1b");
    log_say(&l, LOG_DEBUG, "too much");
    assert_str(buf_str(&b), STR("mcpreel: got \\x1b\n"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_escaped_and_prefixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
