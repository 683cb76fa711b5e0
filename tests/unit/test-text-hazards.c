#include "diff/text-hazards.h"

#include "terse.h"
#include "test.h"

struct rig {
    struct terse_scanned text;
    struct text_hazards found;
    struct arena arena;
};

static void find_hazards(struct rig *r, const char *text)
{
    r->arena = (struct arena){ 0 };
    text_hazards_read(&r->found, terse_scan(&r->text, text), &r->arena);
}

static void end(struct rig *r)
{
    terse_scanned_release(&r->text);
    arena_release(&r->arena);
}

static void hidden_characters_are_counted_by_class(void **state)
{
    struct rig r;

    (void)state;
    find_hazards(&r,
                 "{'a':'x`u200b`ufeff','`u202e':['`u2066','`udb40`udc41'],'b':'❤️ é'}");
    assert_int_equal(r.found.hidden[HAZARD_INVISIBLE], 2);
    assert_int_equal(r.found.hidden[HAZARD_BIDIRECTIONAL], 2);
    assert_int_equal(r.found.hidden[HAZARD_TAG], 1);
    assert_str(text_hazards_class(HAZARD_TAG), STR("tag"));
    end(&r);
}

static void urls_are_found_in_titles_and_descriptions(void **state)
{
    struct rig r;

    (void)state;
    find_hazards(&r, "{'description':'See (http://b.example/x?y=1), https://a.example. Or "
                     "https://a.example!','icons':[{'src':'https://c.example'}],"
                     "'x':{'title':'https://d.example https://'}}");
    assert_int_equal(r.found.url_count, 3);
    assert_str(r.found.urls[0], STR("http://b.example/x?y=1"));
    assert_str(r.found.urls[1], STR("https://a.example"));
    assert_str(r.found.urls[2], STR("https://d.example"));
    end(&r);
}

static void a_url_has_any_case_and_also_ftp_or_no_scheme(void **state)
{
    struct rig r;

    (void)state;
    find_hazards(&r, "{'description':'HTTPS://Evil.example/x hTTp://b.example FTP://f.example "
                     "ftps://g.example (WWW.c.example), see awww.d.example, a@www.e.example, "
                     "www., and https://www.h.example'}");
    assert_int_equal(r.found.url_count, 6);
    assert_str(r.found.urls[0], STR("FTP://f.example"));
    assert_str(r.found.urls[1], STR("HTTPS://Evil.example/x"));
    assert_str(r.found.urls[2], STR("WWW.c.example"));
    assert_str(r.found.urls[3], STR("ftps://g.example"));
    assert_str(r.found.urls[4], STR("hTTp://b.example"));
    assert_str(r.found.urls[5], STR("https://www.h.example"));
    end(&r);
}

static void an_absent_value_has_none(void **state)
{
    struct text_hazards h;
    struct arena a = { 0 };

    (void)state;
    text_hazards_read(&h, JSON_VAL_NONE, &a);
    assert_int_equal(h.url_count, 0);
    assert_int_equal(h.hidden[HAZARD_INVISIBLE], 0);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_characters_are_counted_by_class),
        cmocka_unit_test(urls_are_found_in_titles_and_descriptions),
        cmocka_unit_test(a_url_has_any_case_and_also_ftp_or_no_scheme),
        cmocka_unit_test(an_absent_value_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
