#include "transport/outlet.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

enum { USUAL = 64 << 10 };

/* Over a pipe that keeps writes apart: what one write took is what one read gives. */
struct bench {
    struct loop *loop;
    struct stream *into;
    struct outlet outlet;
    int peer;
};

static const struct stream_events nothing = { 0 };

static void begin(struct bench *b, int flags)
{
    struct err e = ERR_NONE;
    int ends[2];

    b->loop = loop_new();
    assert_int_equal(pipe2(ends, O_CLOEXEC | flags), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, USUAL * 4) >= USUAL * 4);
    b->peer = ends[0];
    if (!stream_open(&b->into, b->loop, ends[1], &nothing, NULL, &e))
        fail_msg("%s", e.msg);
    outlet_init(&b->outlet);
}

static void end(struct bench *b)
{
    outlet_release(&b->outlet);
    stream_close(b->into);
    loop_free(b->loop);
    close(b->peer);
}

static void assert_read(struct bench *b, size_t len)
{
    char *got = malloc(USUAL * 4);

    assert_int_equal(read(b->peer, got, USUAL * 4), len);
    assert_int_equal(got[len - 1], '\n');
    free(got);
}

static void a_message_goes_with_its_newline_in_one_write(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, O_DIRECT);
    outlet_send(&b.outlet, b.into, STR("{}"));
    outlet_send(&b.outlet, b.into, STR(""));
    assert_read(&b, 3);
    assert_read(&b, 1);
    end(&b);
}

static void whatever_its_size_it_has_its_newline(void **state)
{
    char *big = malloc(USUAL + 1);
    struct bench b;

    (void)state;
    memset(big, 'x', USUAL + 1);
    begin(&b, 0);
    for (size_t len = USUAL - 1; len <= USUAL + 1; len++) {
        outlet_send(&b.outlet, b.into, str_n(big, len));
        assert_read(&b, len + 1);
    }
    end(&b);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_goes_with_its_newline_in_one_write),
        cmocka_unit_test(whatever_its_size_it_has_its_newline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
