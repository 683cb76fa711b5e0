#include "runtime/verify-recording.h"

#include "temp-dir.h"
#include "test.h"

static const char session[] =
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z','upstream':'u',"
    "'thoughtjack_version':'0.3.0'}\n"
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s','msg':{'jsonrpc':"
    "'2.0','id':0,'method':'initialize','params':{}}}\n"
    "{'type':'message','seq':2,'ts':'2026-01-01T00:00:02.000Z','dir':'s2c','msg':{'jsonrpc':"
    "'2.0','id':0,'result':{}}}\n"
    "{'type':'message','seq':3,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s','msg':{'jsonrpc':"
    "'2.0','method':'notifications/initialized'}}\n"
    "{'type':'message','seq':4,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s','msg':{'jsonrpc':"
    "'2.0','id':1,'method':'ping'}}\n";

static char *env[] = { NULL };

static void write_nothing(void *arg, struct str text)
{
    (void)arg;
    (void)text;
}

static void a_recording_is_loaded_in_the_clients_order(void **state)
{
    const struct log log = { .write = write_nothing };
    const struct app app = { .sys = &sys_real, .env = env, .log = &log };
    struct verify_recording r;
    struct err e = ERR_NONE;

    (void)state;
    temp_dir_put_terse("a.jsonl", session);
    assert_true(verify_recording_open(&r, &app, "a.jsonl", &e));
    assert_true(verify_recording_load(&r, NULL, &e));
    assert_int_equal(verify_recording_count(&r, ORDER_REQUEST), 2);
    assert_int_equal(verify_recording_count(&r, ORDER_NOTIFICATION), 1);
    assert_int_equal(r.index.session_count, 1);
    verify_recording_close(&r);
}

static void a_file_that_is_not_there_can_be_closed(void **state)
{
    const struct log log = { .write = write_nothing };
    const struct app app = { .sys = &sys_real, .env = env, .log = &log };
    struct verify_recording r;
    struct err e = ERR_NONE;

    (void)state;
    assert_false(verify_recording_open(&r, &app, "none.jsonl", &e));
    assert_string_equal(e.msg, "cannot read 'none.jsonl': No such file or directory");
    verify_recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_recording_is_loaded_in_the_clients_order),
        IN_TEMP_DIR(a_file_that_is_not_there_can_be_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
