#include "diff/recorded-surface.h"

#include "loaded-index.h"

#define INITIALIZE(capabilities)                                                               \
    "c2s {'id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}\n"           \
    "s2c {'id':0,'result':{'protocolVersion':'2025-11-25','capabilities':" capabilities "}}\n"
#define LIST(id, params, result)                                                               \
    "c2s {'id':" id ",'method':'tools/list','params':" params "}\n"                            \
    "s2c {'id':" id ",'result':" result "}\n"

struct rig {
    struct loaded_index index;
    struct surface surface;
    struct err error;
};

static bool read_it(struct rig *r, const char *recording, uint32_t session)
{
    r->error = (struct err)ERR_NONE;
    loaded_index_init(&r->index, MATCH_BY_REQUEST, recording);
    surface_init(&r->surface);
    return recorded_surface_read(&r->surface, &r->index.index, session, &r->error);
}

static void end(struct rig *r)
{
    surface_release(&r->surface);
    loaded_index_release(&r->index);
}

static void pages_of_a_session_are_joined(void **state)
{
    struct rig r;

    (void)state;
    assert_true(read_it(&r,
                        INITIALIZE("{'tools':{}}")
                            LIST("1", "{}", "{'tools':[{'name':'a'}],'nextCursor':'2'}")
                                LIST("2", "{'cursor':'2'}", "{'tools':[{'name':'b'}]}"),
                        0));
    assert_int_equal(r.surface.lists[SURFACE_TOOL].count, 2);
    assert_false(r.surface.lists[SURFACE_TOOL].has_more);
    assert_true(r.surface.lists[SURFACE_PROMPT].known); /* not offered */
    end(&r);
}

static void sessions_of_one_surface_are_one(void **state)
{
    struct rig r;

    (void)state;
    assert_true(read_it(&r,
                        INITIALIZE("{'tools':{}}") LIST("1", "{}", "{'tools':[{'name':'a'}]}")
                            INITIALIZE("{'tools':{}}")
                                LIST("2", "{}", "{'tools':[{'name':'a'}]}"),
                        0));
    assert_int_equal(r.surface.lists[SURFACE_TOOL].count, 1);
    end(&r);
}

#define TWO_SURFACES                                                                           \
    INITIALIZE("{'tools':{}}")                                                                 \
    LIST("1", "{}", "{'tools':[{'name':'a'}]}")                                                \
    INITIALIZE("{'tools':{}}") LIST("2", "{}", "{'tools':[{'name':'a'},{'name':'b'}]}")

static void different_surfaces_are_an_error(void **state)
{
    struct rig r;

    (void)state;
    assert_false(read_it(&r, TWO_SURFACES, 0));
    assert_int_equal(r.error.kind, ERR_INPUT);
    assert_string_equal(r.error.msg,
                        "session 2 has another surface than those before it: tool 'b'");
    end(&r);
}

static void one_session_can_be_chosen(void **state)
{
    struct rig r;

    (void)state;
    assert_true(read_it(&r, TWO_SURFACES, 2));
    assert_int_equal(r.surface.lists[SURFACE_TOOL].count, 2);
    end(&r);
    assert_false(read_it(&r, TWO_SURFACES, 3));
    assert_string_equal(r.error.msg, "there is no session 3: the recording has 2");
    end(&r);
}

static void a_recording_without_lists_has_an_empty_surface(void **state)
{
    struct rig r;

    (void)state;
    assert_true(read_it(&r, "c2s {'id':1,'method':'ping'}\ns2c {'id':1,'result':{}}\n", 0));
    assert_true(surface_is_empty(&r.surface));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_a_session_are_joined),
        cmocka_unit_test(sessions_of_one_surface_are_one),
        cmocka_unit_test(different_surfaces_are_an_error),
        cmocka_unit_test(one_session_can_be_chosen),
        cmocka_unit_test(a_recording_without_lists_has_an_empty_surface),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
