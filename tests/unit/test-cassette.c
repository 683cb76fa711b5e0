#include "base/ascii.h"
#include "format/format.h"
#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* The result of reading: every record as a line of a recording, warnings in brackets, and
 * the end. */
struct seen {
    struct notes notes;
    struct buf lines, end;
    uint64_t left_out;
    bool failed;
};

static void put_note(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    struct seen *s = (struct seen *)self;

    buf_printf(&s->end, "[%llu:%llu %s]", (unsigned long long)line, (unsigned long long)byte,
               text);
}

static void seen_release(struct seen *s)
{
    buf_release(&s->lines);
    buf_release(&s->end);
}

static const struct format_options defaults;

/* Reads `text`, shown in pieces of `step` bytes, and writes it in another format. */
static void convert_recording(struct seen *s, const struct format *from,
                              const struct format *to, struct str text, size_t step)
{
    void *reading = from->open(), *writing = to->begin(&defaults);
    size_t at = 0, shown = 0;
    struct err e = ERR_NONE;
    uint64_t line = 1;
    enum next_result next;

    *s = (struct seen){ .notes = { put_note } };
    buf_init(&s->lines, LIMIT_LINE);
    buf_init(&s->end, 1 << 16);
    do {
        struct window w = { str_n(text.at + at, shown - at), shown == text.len, line, "f",
                            &s->notes };
        struct consumed t = { 0 };
        struct record r;

        next = from->next(reading, &w, &t, &r, &e);
        at += t.bytes;
        line += t.lines;
        if (next == NEXT_RECORD) {
            s->left_out += r.unread_values;
            to->put(writing, &s->lines, &r);
        } else if (next == NEXT_MORE) {
            shown += step < text.len - shown ? step : text.len - shown;
        }
    } while (next != NEXT_END && next != NEXT_ERROR);
    to->end(writing, &s->lines);
    s->failed = next == NEXT_ERROR;
    buf_printf(&s->end, "%s", s->failed ? e.msg : "end");
    from->close(reading);
}

static void to_recording(struct seen *s, struct str text, size_t step)
{
    convert_recording(s, &cassette_format, &recording_format, text, step);
}

static void check_end(const char *text, const char *want)
{
    static const size_t steps[] = { 1, 7, 1 << 20 };

    for (size_t i = 0; i < 3; i++) {
        struct arena a = { 0 };
        struct seen s;

        to_recording(&s, terse_json(&a, text), steps[i]);
        assert_str(buf_str(&s.end), str_z(want));
        seen_release(&s);
        arena_release(&a);
    }
}

/* As mcp-recorder 0.5.0 saves it: each type, with and without each part. */
static const char sample[] = "{\n"
                             "  'version': '1.0',\n"
                             "  'metadata': {\n"
                             "    'recorded_at': '2026-02-17T20:25:23.855390+00:00',\n"
                             "    'server_url': 'http://127.0.0.1:8000/[REDACTED]',\n"
                             "    'transport_type': 'http',\n"
                             "    'protocol_version': '2025-11-25',\n"
                             "    'server_info': {\n"
                             "      'name': 'Test Calculator',\n"
                             "      'version': '2.14.5'\n"
                             "    }\n"
                             "  },\n"
                             "  'interactions': [\n"
                             "    {\n"
                             "      'type': 'jsonrpc_request',\n"
                             "      'request': {\n"
                             "        'jsonrpc': '2.0',\n"
                             "        'id': 0,\n"
                             "        'method': 'initialize',\n"
                             "        'params': {}\n"
                             "      },\n"
                             "      'response': {\n"
                             "        'jsonrpc': '2.0',\n"
                             "        'id': 0,\n"
                             "        'result': {\n"
                             "          'tools': [\n"
                             "            'é`n',\n"
                             "            7.0,\n"
                             "            null\n"
                             "          ]\n"
                             "        }\n"
                             "      },\n"
                             "      'response_is_sse': true,\n"
                             "      'response_status': 200,\n"
                             "      'latency_ms': 7,\n"
                             "      'http_method': null,\n"
                             "      'http_path': null\n"
                             "    },\n"
                             "    {\n"
                             "      'type': 'notification',\n"
                             "      'request': {\n"
                             "        'method': 'notifications/initialized'\n"
                             "      },\n"
                             "      'response': null,\n"
                             "      'response_is_sse': false,\n"
                             "      'response_status': 202,\n"
                             "      'latency_ms': 1,\n"
                             "      'http_method': null,\n"
                             "      'http_path': null\n"
                             "    },\n"
                             "    {\n"
                             "      'type': 'jsonrpc_request',\n"
                             "      'request': null,\n"
                             "      'response': {\n"
                             "        'id': null,\n"
                             "        'error': {}\n"
                             "      },\n"
                             "      'response_is_sse': false,\n"
                             "      'response_status': 400,\n"
                             "      'latency_ms': 0,\n"
                             "      'http_method': null,\n"
                             "      'http_path': null\n"
                             "    },\n"
                             "    {\n"
                             "      'type': 'lifecycle',\n"
                             "      'request': null,\n"
                             "      'response': null,\n"
                             "      'response_is_sse': true,\n"
                             "      'response_status': 200,\n"
                             "      'latency_ms': 3,\n"
                             "      'http_method': 'GET',\n"
                             "      'http_path': '/mcp'\n"
                             "    }\n"
                             "  ]\n"
                             "}\n";

#define TS "'ts':'1970-01-01T00:00:00.000Z'"

/* The same as a recording. */
static const char recorded[] =
    "{'type':'header','version':'1.0','recorded_at':'2026-02-17T20:25:23.855390Z',"
    "'upstream':'http://127.0.0.1:8000/[REDACTED]','thoughtjack_version':'0.3.0',"
    "'transport':'http','source':{'format':'cassette','protocol_version':'2025-11-25',"
    "'server_info':{'name':'Test Calculator','version':'2.14.5'}}}\n"
    "{'type':'message','seq':1," TS ",'dir':'c2s','msg':{'jsonrpc':'2.0','id':0,"
    "'method':'initialize','params':{}},'exchange':1}\n"
    "{'type':'http','ev':'response','status':200,'media':'sse','exchange':1}\n"
    "{'type':'message','seq':2," TS ",'dir':'s2c','msg':{'jsonrpc':'2.0','id':0,"
    "'result':{'tools':['é`n',7.0,null]}},'latency_ms':7,'exchange':1}\n"
    "{'type':'message','seq':3," TS ",'dir':'c2s',"
    "'msg':{'method':'notifications/initialized'},'exchange':2}\n"
    "{'type':'http','ev':'response','status':202,'took_ms':1,'exchange':2}\n"
    "{'type':'http','ev':'request','kind':'jsonrpc_request','exchange':3}\n"
    "{'type':'http','ev':'response','status':400,'media':'json','exchange':3}\n"
    "{'type':'message','seq':4," TS ",'dir':'s2c','msg':{'id':null,'error':{}},"
    "'latency_ms':0,'exchange':3}\n"
    "{'type':'http','ev':'request','method':'GET','path':'/mcp','exchange':4}\n"
    "{'type':'http','ev':'response','status':200,'took_ms':3,'media':'sse','exchange':4}\n";

static void each_interaction_is_an_exchange(void **state)
{
    static const size_t steps[] = { 1, 100, 1 << 20 };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct seen s;

        to_recording(&s, terse_json(&a, sample), steps[i]);
        assert_str(buf_str(&s.lines), terse_json(&a, recorded));
        assert_str(buf_str(&s.end), STR("end"));
        seen_release(&s);
    }
    arena_release(&a);
}

static void check_round_trip(struct str cassette)
{
    struct seen native, back;

    to_recording(&native, cassette, 1 << 20);
    convert_recording(&back, &recording_format, &cassette_format, buf_str(&native.lines),
                      1 << 20);
    assert_str(buf_str(&back.end), STR("end"));
    assert_str(buf_str(&back.lines), cassette);
    seen_release(&native);
    seen_release(&back);
}

static void a_cassette_of_mcp_recorder_is_rewritten_byte_for_byte(void **state)
{
    struct arena a = { 0 };

    (void)state;
    check_round_trip(terse_json(&a, sample));
    arena_release(&a);
}

/* The output of mcp-recorder after loading an edited file: types that contradict the rest,
 * in every combination. */
static void an_edited_cassette_is_rewritten_byte_for_byte(void **state)
{
    static const char *const types[] = { "jsonrpc_request", "notification", "lifecycle" };
    static const char *const objects[] = { "null", "{}", "{\n        'id': 1\n      }" };
    static const char *const texts[] = { "null", "''", "'GET'", "'POST'" };
    static const char *const dates[] = { "yesterday", "", "2026-02-17T20:25:23Z",
                                         "1970-01-01T00:00:00+00:00" };

    (void)state;
    for (size_t n = 0; n < 3 * 3 * 3 * 4 * 4; n++) {
        struct arena a = { 0 };
        struct str text = arena_printf(
            &a,
            "{\n  'version': '1.7',\n  'metadata': {\n    'recorded_at': '%s',\n"
            "    'server_url': '',\n    'transport_type': %s,\n    'protocol_version': %s,\n"
            "    'server_info': null\n  },\n  'interactions': [\n    {\n"
            "      'type': '%s',\n      'request': %s,\n      'response': %s,\n"
            "      'response_is_sse': false,\n      'response_status': 200,\n"
            "      'latency_ms': 5,\n      'http_method': %s,\n      'http_path': %s\n"
            "    }\n  ]\n}\n",
            dates[n % 4], n % 2 ? "null" : "'stdio'", texts[n / 9 % 4], types[n % 3],
            objects[n / 3 % 3], objects[n / 9 % 3], texts[n / 27 % 4], texts[n / 108 % 4]);

        check_round_trip(terse_json(&a, text.at));
        arena_release(&a);
    }
}

static void a_cassette_without_interactions_is_valid(void **state)
{
    struct arena a = { 0 };

    (void)state;
    check_round_trip(terse_json(&a,
                                "{\n  'version': '1.0',\n  'metadata': {\n"
                                "    'recorded_at': '2026-02-17T20:25:23+00:00',\n"
                                "    'server_url': '',\n    'transport_type': null,\n"
                                "    'protocol_version': null,\n    'server_info': null\n  },\n"
                                "  'interactions': []\n}\n"));
    arena_release(&a);
    check_end("{}", "end");
    check_end(" {'surprise':[{}]} \r\n\t", "end");
}

static void an_unknown_date_stays_unknown(void **state)
{
    struct seen native, back;

    (void)state;
    to_recording(&native, STR("{}"), 1 << 20);
    convert_recording(&back, &recording_format, &cassette_format, buf_str(&native.lines),
                      1 << 20);
    assert_true(str_starts(buf_str(&back.lines), STR("{\n  \"version\": \"1.0\",\n"
                                                     "  \"metadata\": {\n"
                                                     "    \"recorded_at\": \"\",\n")));
    seen_release(&native);
    seen_release(&back);
}

static void damage_is_one_error_with_its_position(void **state)
{
    (void)state;
    check_end("{'interactions':[\n", "f:2:1: the cassette is cut off");
    check_end("{'interactions':[]}\n{}",
              "f:2:1: not valid JSON: expected nothing after the value");
    check_end("{'interactions':[{]}", "f:1:19: not valid JSON: expected a name in quotes");
    check_end("[]", "f:1:1: a cassette must be an object");
    check_end("{'interactions':[{'type':'lifecycle'},\n {'type':'x'}]}",
              "f:2:10: 'type' must be \"jsonrpc_request\", \"notification\" or \"lifecycle\"");
    check_end("{'version':'2.0','interactions':[5]}",
              "f:1:12: this is a cassette of version '2.0'; this program reads version 1");
}

/* The message of a cassette with numbers that Python alone knows. */
static void check_numbers(const char *text, const char *place, const char *want, uint64_t lost)
{
    struct arena a = { 0 };
    struct seen s;

    to_recording(&s, terse_json(&a, text), 1 << 20);
    assert_str(buf_str(&s.end),
               arena_printf(&a, "[%s NaN and Infinity are not JSON; read as null]end", place));
    assert_non_null(strstr(buf_z(&s.lines), arena_z(&a, terse_json(&a, want))));
    assert_int_equal(s.left_out, lost);
    seen_release(&s);
    arena_release(&a);
}

static void python_nan_and_infinity_are_null(void **state)
{
    (void)state;
    check_numbers("{'interactions':[{'type':'notification','request':{'x':NaN}}]}", "1:56",
                  "{'x':null}", 1);
    check_numbers("{'interactions':[{'type':'notification','request':\n"
                  "{'NaN`'NaN':[-Infinity,Infinity,'NaN'],'n':NaN}}]}",
                  "2:14", "{'NaN`'NaN':[null,null,'NaN'],'n':null}", 3);
    check_end("{'interactions':[],\n'x':[Infinity],'y':-NaN}",
              "[2:6 NaN and Infinity are not JSON; read as null]"
              "f:2:21: not valid JSON: expected a digit");
    check_end("{'interactions':[{'type':'lifecycle','latency_ms':\n Infinity}]}",
              "[2:2 NaN and Infinity are not JSON; read as null]"
              "f:2:2: 'latency_ms' must be a whole number");
}

static void a_number_out_of_range_is_left_out_with_a_warning(void **state)
{
    struct arena a = { 0 };
    struct seen s;

    (void)state;
    to_recording(&s,
                 terse_json(&a,
                            "{'interactions':[{'type':'lifecycle','latency_ms':-5},\n"
                            "{'type':'lifecycle','response_status':99999999999999999999}]}"),
                 1 << 20);
    assert_str(buf_str(&s.end), STR("[1:51 a number out of range; left out]"
                                    "[2:39 a number out of range; left out]end"));
    assert_str(str_skip(buf_str(&s.lines), str_find(buf_str(&s.lines), '\n') + 1),
               terse_json(&a, "{'type':'http','ev':'response','status':200,'exchange':1}\n"));
    seen_release(&s);
    arena_release(&a);
}

/* All of it or nothing: a cassette is written at once, so a part of one is no cassette. */
static void every_truncation_is_one_error(void **state)
{
    struct arena a = { 0 };
    struct str whole = terse_json(&a, sample);

    (void)state;
    for (size_t cut = 0; cut < whole.len - 1; cut++) {
        struct seen s;

        to_recording(&s, str_n(whole.at, cut), 1 << 20);
        assert_true(s.failed);
        assert_int_equal(s.lines.len, 0);
        assert_true(str_starts(buf_str(&s.end), STR("f:")));
        assert_true(str_ends(buf_str(&s.end), STR(": the cassette is cut off")));
        seen_release(&s);
    }
    arena_release(&a);
}

/* A byte that got into the text: an error, or it does not matter. */
static void check_damaged(struct str text, bool must_fail)
{
    struct arena a = { 0 };
    struct seen s;

    to_recording(&s, text, 1 << 20);
    if (must_fail)
        assert_true(s.failed);
    assert_int_equal(s.lines.len ? 1 : 0, s.failed ? 0 : 1);
    if (!s.failed)
        assert_str(buf_str(&s.lines), terse_json(&a, recorded));
    seen_release(&s);
    arena_release(&a);
}

static void an_inserted_byte_adds_no_record(void **state)
{
    static const char stray[] = { '\0', '\xff', '\n' };
    struct arena a = { 0 };
    struct str whole = terse_json(&a, sample);
    char *text = arena_alloc(&a, whole.len + 1);

    (void)state;
    for (size_t at = 0; at < whole.len; at++)
        for (size_t i = 0; i < sizeof stray; i++) {
            memcpy(text, whole.at, at);
            text[at] = stray[i];
            memcpy(text + at + 1, whole.at + at, whole.len - at);
            check_damaged(str_n(text, whole.len + 1), stray[i] != '\n');
            /* In place of a digit a newline makes another number, which cannot be detected. */
            if (stray[i] == '\n' && ascii_is_digit(whole.at[at]))
                continue;
            memcpy(text + at + 1, whole.at + at + 1, whole.len - at - 1);
            check_damaged(str_n(text, whole.len), stray[i] != '\n');
        }
    arena_release(&a);
}

/* The features that are kept of any recording: requests, responses, latencies. */
static void a_recording_becomes_a_cassette_and_loses_only_declared_features(void **state)
{
    static const char text[] =
        "{'type':'header','version':'1.0','recorded_at':'2026-02-17T20:25:23.000Z',"
        "'upstream':'python s.py','thoughtjack_version':'0.3.0','transport':'stdio','us':1}\n"
        "{'type':'message','seq':1," TS
        ",'dir':'c2s','msg':{'id':1,'method':'`u0061'},'us':1}\n"
        "{'type':'message','seq':2," TS ",'dir':'c2s','msg':{'method':'n'},'us':2}\n"
        "{'type':'stderr','text':'x','us':3}\n"
        "{'type':'message','seq':3," TS ",'dir':'s2c','msg':{'method':'p'},'us':4}\n"
        "{'type':'message','seq':4," TS ",'dir':'c2s','msg':{'id':2,'method':'b'},'us':5}\n"
        "{'type':'message','seq':5," TS ",'dir':'s2c','msg':{'id':1,'result':1e2},"
        "'latency_ms':4,'us':6}\n";
    static const char want[] =
        "{'type':'header','version':'1.0','recorded_at':'2026-02-17T20:25:23.000Z',"
        "'upstream':'stdio://python s.py','thoughtjack_version':'0.3.0','transport':'stdio',"
        "'source':{'format':'cassette'}}\n"
        "{'type':'message','seq':1," TS ",'dir':'c2s','msg':{'method':'n'},'exchange':1}\n"
        "{'type':'http','ev':'response','status':202,'took_ms':0,'exchange':1}\n"
        "{'type':'message','seq':2," TS ",'dir':'c2s','msg':{'id':1,'method':'a'},"
        "'exchange':2}\n"
        "{'type':'http','ev':'response','status':200,'media':'json','exchange':2}\n"
        "{'type':'message','seq':3," TS ",'dir':'s2c','msg':{'id':1,'result':1e2},"
        "'latency_ms':4,'exchange':2}\n";
    struct arena a = { 0 };
    struct seen cassette, back;

    (void)state;
    convert_recording(&cassette, &recording_format, &cassette_format, terse_json(&a, text),
                      1 << 20);
    to_recording(&back, buf_str(&cassette.lines), 1 << 20);
    assert_str(buf_str(&back.lines), terse_json(&a, want));
    assert_int_equal(cassette_format.keeps, FEATURE_LATENCY | FEATURE_DIRECTION | FEATURE_URL);
    seen_release(&cassette);
    seen_release(&back);
    arena_release(&a);
}

/* Text that cannot be read again is not written. */
static void a_too_large_cassette_is_an_error(void **state)
{
    void *writing = cassette_format.begin(&defaults);
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct buf text, to;
    struct json j;
    size_t n = 0;

    (void)state;
    buf_init(&text, LIMIT_LINE);
    buf_init(&to, LIMIT_LINE);
    buf_add(&text, STR("{\"method\":\""));
    while (text.len < 20 << 20)
        buf_add(&text, STR("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    buf_add(&text, STR("\"}"));
    json_init(&j);
    assert_true(json_scan(&j, buf_str(&text), &fault));
    do {
        struct record r = { .kind = RECORD_MESSAGE };

        r.message.msg = json_root(&j);
        buf_clear(&to);
        cassette_format.put(writing, &to, &r);
    } while (buf_ok(&to, &e) && ++n < 10);
    assert_int_equal(n, 4);
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_clear(&to);
    cassette_format.end(writing, &to);
    assert_true(to.full);
    json_release(&j);
    buf_release(&text);
    buf_release(&to);
}

static void the_probe_recognizes_cassettes(void **state)
{
    static const struct terse_head heads[] = {
        { "{'interactions':[]}", true },
        { "{'interactions':5}", true },
        { " \n{ 'more' : {'a':[1,2]} , 'interactions' : [ { 'type'", true },
        { "{'version':'1.0','metadata':{}}", true },
        { "{'version':'1.0','metadata':{'recorded_at':'20", true },
        { "{'version':'1.0','metadata'", true },
        { "{'version':1,'interactions':[]}", true },
        { "{'`u0069nteractions':[", true },
        { "{}", false },
        { "{'version':'1.0'}", false },
        { "{'metadata':{}}", false },
        { "{'version':'1.0','metadata':{},'session':{'interactions':[]}}", false },
        { "{'type':'header','interactions':[]}", false },
        { "{'jsonrpc':'2.0','id':1,'result':{},'interactions':[]}", false },
        { "{'t':'','dir':'in','raw':{},'interactions':[]}", false },
        { "[{'interactions':[]}]", false },
        { "'interactions'", false },
        { "interactions: []", false },
        { "{interactions", false },
        { "", false },
        { "{", false },
        { "{5:1,'interactions':[]}", false },
    };

    (void)state;
    terse_check_probe(cassette_format.probe, heads, sizeof heads / sizeof *heads);
}

static void exactly_one_format_recognizes_a_sample(void **state)
{
    struct arena a = { 0 };

    (void)state;
    for (const struct format *const *f = format_table; *f; f++) {
        if (!(*f)->probe)
            continue;
        assert_int_equal((*f)->probe(terse_json(&a, sample)) != PROBE_NONE,
                         *f == &cassette_format);
        assert_int_equal((*f)->probe(terse_json(&a, recorded)) != PROBE_NONE,
                         *f == &recording_format);
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_interaction_is_an_exchange),
        cmocka_unit_test(a_cassette_of_mcp_recorder_is_rewritten_byte_for_byte),
        cmocka_unit_test(an_edited_cassette_is_rewritten_byte_for_byte),
        cmocka_unit_test(a_cassette_without_interactions_is_valid),
        cmocka_unit_test(an_unknown_date_stays_unknown),
        cmocka_unit_test(damage_is_one_error_with_its_position),
        cmocka_unit_test(python_nan_and_infinity_are_null),
        cmocka_unit_test(a_number_out_of_range_is_left_out_with_a_warning),
        cmocka_unit_test(every_truncation_is_one_error),
        cmocka_unit_test(an_inserted_byte_adds_no_record),
        cmocka_unit_test(a_recording_becomes_a_cassette_and_loses_only_declared_features),
        cmocka_unit_test(a_too_large_cassette_is_an_error),
        cmocka_unit_test(the_probe_recognizes_cassettes),
        cmocka_unit_test(exactly_one_format_recognizes_a_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
