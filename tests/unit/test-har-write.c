#include "format/har-write.h"

#include "memory-file.h"
#include "terse.h"
#include "test.h"

/* The document that terse lines give. */
struct written {
    struct memory_writer writer;
    struct json json;
};

static struct json_val write_entries(struct written *d, const char *story)
{
    struct json_fault fault;

    memory_writer_init(&d->writer, &har_format);
    terse_feed(&d->writer.sink, story);
    memory_writer_finish(&d->writer);
    json_init(&d->json);
    assert_true(json_scan(&d->json, buf_str(&d->writer.text), &fault));
    return json_get(json_get(json_root(&d->json), STR("log")), STR("entries"));
}

static void release(struct written *d)
{
    json_release(&d->json);
    memory_writer_release(&d->writer);
}

static struct json_val request(struct json_val entries, size_t i)
{
    return json_get(json_item(entries, i), STR("request"));
}

static struct json_val response(struct json_val entries, size_t i)
{
    return json_get(json_item(entries, i), STR("response"));
}

static void assert_member(struct json_val object, struct str name, struct str want)
{
    assert_str(json_raw(json_get(object, name)), want);
}

static void messages_without_http_get_exchanges(void **state)
{
    struct written d;
    struct json_val entries = write_entries(&d, "s2c {'method':'notifications/message'}\n"
                                                "c2s {'id':1,'method':'ping'}\n"
                                                "c2s {'method':'notifications/initialized'}\n"
                                                "s2c {'id':1,'result':{}}\n"
                                                "c2s {'id':2,'method':'ping'}\n");

    (void)state;
    assert_int_equal(json_count(entries), 4);
    assert_member(request(entries, 0), STR("method"), STR("\"GET\""));
    assert_member(json_get(response(entries, 0), STR("content")), STR("text"),
                  STR("\"data: {\\\"method\\\":\\\"notifications/message\\\"}\\n\\n\""));
    assert_member(response(entries, 1), STR("status"), STR("202"));
    assert_member(json_get(request(entries, 2), STR("postData")), STR("text"),
                  STR("\"{\\\"id\\\":1,\\\"method\\\":\\\"ping\\\"}\""));
    assert_member(json_get(response(entries, 2), STR("content")), STR("text"),
                  STR("\"{\\\"id\\\":1,\\\"result\\\":{}}\""));
    assert_member(response(entries, 3), STR("status"), STR("0"));
    assert_member(request(entries, 3), STR("url"), STR("\"http://server.invalid/mcp\""));
    release(&d);
}

static void an_exchange_is_an_entry(void **state)
{
    struct written d;
    struct json_val entries = write_entries(
        &d, "| {'type':'header','version':'1.0','recorded_at':"
            "'2026-11-15T21:00:00.000Z','upstream':'https://u.example/a?k=v',"
            "'thoughtjack_version':'0.3.0','us':0}\n"
            "| {'type':'http','ev':'request','method':'POST','path':'/b','headers':"
            "[['Accept','*/*'],['Cookie',9]],'us':10,'exchange':1}\n"
            "@20 x=1 c2s {'id':1,'method':'ping'}\n"
            "x=1 stream=1 http 200\n"
            "@5000 x=1 stream=1 s2c {'id':1,'result':{}}\n"
            "x=1 http end server\n");

    (void)state;
    assert_int_equal(json_count(entries), 1);
    assert_member(json_item(entries, 0), STR("startedDateTime"),
                  STR("\"2026-11-15T21:00:00.000010Z\""));
    assert_member(json_item(entries, 0), STR("time"), STR("4.990"));
    assert_member(request(entries, 0), STR("url"), STR("\"https://u.example/b\""));
    assert_member(request(entries, 0), STR("headers"),
                  STR("[{\"name\":\"Accept\",\"value\":\"*/*\"}]"));
    assert_member(json_get(response(entries, 0), STR("content")), STR("mimeType"),
                  STR("\"text/event-stream\""));
    release(&d);
}

/* Memory must not depend on the length of a recording. */
static void an_entry_is_written_when_its_exchange_ends(void **state)
{
    struct memory_writer w;
    size_t before;

    (void)state;
    memory_writer_init(&w, &har_format);
    terse_feed(&w.sink, "c2s {'id':1,'method':'ping'}\n");
    before = w.text.len;
    terse_feed(&w.sink, "s2c {'id':1,'result':{}}\n");
    assert_true(w.text.len > before);
    memory_writer_finish(&w);
    memory_writer_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_without_http_get_exchanges),
        cmocka_unit_test(an_exchange_is_an_entry),
        cmocka_unit_test(an_entry_is_written_when_its_exchange_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
