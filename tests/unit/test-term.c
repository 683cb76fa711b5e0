#include "base/term.h"

#include "test.h"

static void an_escape_sequence_is_made_visible(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    term_escape(&b, STR("a\x1b[2Jb\xff\u202e"), TERM_ONE_LINE);
    assert_str(buf_str(&b), STR("a\\x1b[2Jb\\xff<U+202E>"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_escape_sequence_is_made_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
