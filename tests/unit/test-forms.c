#include "trace/forms.h"

#include "base/base64.h"
#include "base/buf.h"
#include "dies.h"
#include "test.h"

struct list {
    struct buf text; /* one form to a line */
    size_t count;
};

static void note(void *to, enum form form, struct str text)
{
    struct list *l = to;

    buf_add_ch(&l->text, "pbh"[form]);
    buf_add_ch(&l->text, ' ');
    buf_add(&l->text, text);
    buf_add_ch(&l->text, '\n');
    l->count++;
}

static void assert_forms(struct str value, const char *want)
{
    struct list l = { .count = 0 };

    buf_init(&l.text, 1 << 16);
    forms_each(value, note, &l);
    assert_string_equal(buf_z(&l.text), want);
    buf_release(&l.text);
}

static void a_value_has_its_forms(void **state)
{
    (void)state;
    assert_forms(STR("secret"), "p secret\nb c2VjcmV0\nb NlY3Jld\nb zZWNyZX\nh 736563726574\n");
}

static void both_alphabets_of_base64_are_there_if_they_differ(void **state)
{
    (void)state;
    assert_forms(STR("\xfb\xff\xfe\xfb\xff\xfe"), "p \xfb\xff\xfe\xfb\xff\xfe\n"
                                                  "b +//++//+\nb -__--__-\n"
                                                  "b v//vv//\nb v__vv__\n"
                                                  "b 7//77//\nb 7__77__\n"
                                                  "h fbfffefbfffe\n");
}

static void a_space_may_be_a_plus(void **state)
{
    (void)state;
    assert_forms(STR("a b c d"), "p a b c d\np a+b+c+d\nb YSBiIGMgZ\nb EgYiBjIG\nb hIGIgYyBk\n"
                                 "h 61206220632064\n");
}

static void what_looks_escaped_is_undone_too(void **state)
{
    struct list l = { .count = 0 };

    (void)state;
    buf_init(&l.text, 1 << 16);
    forms_each(STR("pass%2541word"), note, &l);
    assert_non_null(strstr(buf_z(&l.text), "p pass%2541word\np pass%41word\np passAword\n"));
    buf_release(&l.text);
}

static void long_lines_of_a_value_count_alone(void **state)
{
    struct list l = { .count = 0 };

    (void)state;
    buf_init(&l.text, 1 << 16);
    forms_each(STR("-----BEGIN-----\nMIIEvQIBADANBgkq\nshort\n"), note, &l);
    assert_non_null(strstr(buf_z(&l.text), "\np MIIEvQIBADANBgkq\n"));
    assert_null(strstr(buf_z(&l.text), "\np short\n"));
    buf_release(&l.text);
}

struct holds {
    struct str in;
    bool any;
};

static void look(void *to, enum form form, struct str text)
{
    struct holds *h = to;

    h->any |= form == FORM_BASE64 && memmem(h->in.at, h->in.len, text.at, text.len);
}

/* Whatever stands before and behind it. */
static void base64_is_recognised_at_every_alignment(void **state)
{
    (void)state;
    for (size_t before = 0; before < 7; before++)
        for (size_t behind = 0; behind < 7; behind++)
            for (size_t len = FORMS_SHORTEST; len < 12; len++) {
                struct str value = str_n("q7\x01zX-\xf0kk!m", len);
                struct holds h = { .any = false };
                struct buf plain, encoded;

                buf_init(&plain, 64);
                buf_init(&encoded, 64);
                buf_add(&plain, str_n("\xff\x00\xaa~~~~", before));
                buf_add(&plain, value);
                buf_add(&plain, str_n("\xff\x00\xaa~~~~", behind));
                base64_encode(&encoded, buf_str(&plain));
                h.in = buf_str(&encoded);
                forms_each(value, look, &h);
                assert_true(h.any);
                buf_release(&plain);
                buf_release(&encoded);
            }
}

static void give_short(void)
{
    forms_each(STR("short"), note, NULL);
}

static void a_value_that_is_too_short_is_a_mistake_of_ours(void **state)
{
    (void)state;
    assert_dies(give_short, "FORMS_SHORTEST");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_has_its_forms),
        cmocka_unit_test(both_alphabets_of_base64_are_there_if_they_differ),
        cmocka_unit_test(a_space_may_be_a_plus),
        cmocka_unit_test(what_looks_escaped_is_undone_too),
        cmocka_unit_test(long_lines_of_a_value_count_alone),
        cmocka_unit_test(base64_is_recognised_at_every_alignment),
        cmocka_unit_test(a_value_that_is_too_short_is_a_mistake_of_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
