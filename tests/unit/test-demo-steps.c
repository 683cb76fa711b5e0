#include "cmd/demo-steps.h"

#include "demo-run.h"

struct bench {
    struct demo_run walk;
    struct buf text;
    struct demo_steps steps;
};

static void setup(struct bench *b)
{
    demo_run_all(&b->walk, DEMO_ID_NUMBERS);
    buf_init(&b->text, 1 << 20);
    b->steps = (struct demo_steps){
        .to = &b->text,
        .self = "mcpreel",
        .program = "/usr/bin/mcpreel",
        .file = "mcpreel-demo.jsonl",
        .home = "/home/me",
    };
}

static void done(struct bench *b)
{
    demo_run_release(&b->walk);
    buf_release(&b->text);
}

#define SAME_REPORT "{\"calls\":[],\"summary\":{\"passed\":8,\"volatile\":1,\"failed\":0}}"
#define CHANGED_REPORT                                                                         \
    "{\"calls\":[{\"method\":\"initialize\",\"verdict\":\"passed\"},"                          \
    "{\"method\":\"tools/call\",\"subject\":\"divide\",\"verdict\":\"failed\",\"findings\":[{" \
    "\"path\":\"$.result.content[0].text\",\"recorded\":\"cannot divide 1 by zero\","          \
    "\"live\":\"division by zero\"}]}],\"summary\":{\"passed\":8,\"failed\":1}}"

static void add_verified(struct bench *b, struct str same, struct str changed)
{
    struct json_fault fault;
    struct json reports[2];

    json_init(&reports[0]);
    json_init(&reports[1]);
    assert_true(json_scan(&reports[0], same, &fault));
    assert_true(json_scan(&reports[1], changed, &fault));
    demo_steps_add_verified(&b->steps, json_root(&reports[0]), json_root(&reports[1]));
    json_release(&reports[0]);
    json_release(&reports[1]);
}

static void add_all(struct bench *b)
{
    demo_steps_add_recorded(&b->steps, &b->walk.client.client);
    demo_steps_add_replayed(&b->steps, &b->walk.client.client, 5000);
    add_verified(b, STR(SAME_REPORT), STR(CHANGED_REPORT));
    demo_steps_add_next(&b->steps);
}

static void the_complete_output_is_as_expected(void **state)
{
    static const char want[] =
        "mcpreel records the traffic between MCP clients and servers, and replays it.\n"
        "\n"
        "1 Record: mcpreel runs between a client and a server\n"
        "  mcpreel record -o mcpreel-demo.jsonl -- mcpreel demo server\n"
        "  initialize                      mcpreel-demo " MCPREEL_VERSION ", MCP 2025-11-25\n"
        "  tools/list                      weather, count, divide, haiku\n"
        "  tools/call      weather Lisbon  "
        "{\"city\":\"Lisbon\",\"celsius\":20,\"sky\":\"windy\"}\n"
        "  tools/call      count to 3      progress 1/3 one, 2/3 two, 3/3 three\n"
        "                                  log, info: got to three without an error\n"
        "                                  counted to three\n"
        "  tools/call      divide 1 by 0   tool error: cannot divide 1 by zero\n"
        "  tools/call      teleport        error -32602 unknown tool 'teleport'\n"
        "  tools/call      haiku on tape   sampling request: Write a haiku about tape.\n"
        "                                  Bytes pass, none is lost / the tape remembers\n"
        "                                  each word / play it once again\n"
        "  resources/read  demo://manual   The mcpreel demo server\n"
        "  prompts/get     postcard        Write a postcard from Lisbon, weather and all.\n"
        "\n"
        "2 Replay: mcpreel responds from the recording, without the server\n"
        "  mcpreel replay mcpreel-demo.jsonl\n"
        "  The client received the same: 9 responses, 3 progress notifications,\n"
        "  1 log message and 1 server request, in 5.0 ms\n"
        "\n"
        "3 Verify: mcpreel sends the recorded requests to a server, and compares\n"
        "  mcpreel verify mcpreel-demo.jsonl -- mcpreel demo server\n"
        "  9 passed\n"
        "  mcpreel verify mcpreel-demo.jsonl -- mcpreel demo server --changed\n"
        "  8 passed, 1 failed: tools/call divide\n"
        "    $.result.content[0].text\n"
        "      - \"cannot divide 1 by zero\"  recorded\n"
        "      + \"division by zero\"  live\n"
        "\n"
        "4 Next: inspect the recording, send a request, use it with any MCP client\n"
        "  mcpreel inspect mcpreel-demo.jsonl\n"
        "  echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}' |\n"
        "  mcpreel replay mcpreel-demo.jsonl\n"
        "  To record your own server, start it through mcpreel in your client:\n"
        "  { \"mcpServers\": { \"mine\": { \"command\": \"/usr/bin/mcpreel\",\n"
        "      \"args\": [\"record\", \"--force\", \"-o\", \"/home/me/mine.jsonl\", \"--\",\n"
        "               \"YOUR-SERVER\", \"ITS-ARGUMENTS\"] } } }\n";
    struct bench b;

    (void)state;
    setup(&b);
    add_all(&b);
    assert_str(buf_str(&b.text), STR(want));
    done(&b);
}

/* One line of it without the sequences that colour it; false: none is left. */
static bool next_line(struct str *rest, struct buf *plain)
{
    struct str line;

    if (!rest->len)
        return false;
    line = str_cut(rest, '\n');
    buf_clear(plain);
    while (line.len) {
        if (line.at[0] == '\x1b')
            str_cut(&line, 'm');
        else {
            buf_add(plain, str_n(line.at, 1));
            line = str_skip(line, 1);
        }
    }
    return true;
}

static size_t columns(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    return n;
}

static void the_colored_output_has_24_lines_and_the_same_text(void **state)
{
    struct buf plain, coloured, without;
    struct str rest;
    size_t lines = 0;
    struct bench b;

    (void)state;
    setup(&b);
    buf_init(&plain, 4096);
    buf_init(&coloured, 1 << 20);
    buf_init(&without, 1 << 20);
    for (int color = 0; color < 2; color++) {
        buf_clear(&b.text);
        b.steps.color = color;
        add_all(&b);
        buf_add(color ? &coloured : &without, buf_str(&b.text));
    }
    assert_null(memchr(without.at, '\x1b', without.len));
    assert_non_null(memchr(coloured.at, '\x1b', coloured.len));
    buf_clear(&b.text);
    for (rest = buf_str(&coloured); next_line(&rest, &plain); lines++) {
        assert_true(columns(buf_str(&plain)) <= 80);
        buf_add(&b.text, buf_str(&plain));
        buf_add_ch(&b.text, '\n');
    }
    assert_true(lines <= 40);
    assert_str(buf_str(&b.text), buf_str(&without));
    buf_release(&plain);
    buf_release(&coloured);
    buf_release(&without);
    done(&b);
}

static void a_path_with_special_characters_is_quoted(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    b.steps.self = "./my mcpreel";
    b.steps.file = "it's $HOME\x1b.jsonl";
    b.steps.program = "/opt/\"x\"\\mcpreel\n";
    demo_steps_add_next(&b.steps);
    assert_true(
        engine_run_has(&b.text, "  './my mcpreel' inspect 'it'\\''s $HOME\\x1b.jsonl'\n"));
    assert_true(engine_run_has(&b.text, "\"/opt/\\\"x\\\"\\\\mcpreel\\n\",\n"));
    assert_null(memchr(b.text.at, '\x1b', b.text.len));
    done(&b);
}

static void an_empty_word_is_quoted(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    b.steps.file = "";
    demo_steps_add_next(&b.steps);
    assert_true(engine_run_has(&b.text, "mcpreel inspect ''\n"));
    done(&b);
}

static struct demo_message odd = {
    .kind = DEMO_UNEXPECTED,
    .summary = STR_INIT("\x1b[2Jgotcha"),
    .json = STR_INIT("{\"a\":\"\x1b[2J\"}"),
};

static void a_difference_is_shown_with_both_values(void **state)
{
    struct demo_difference where;
    struct bench b;

    (void)state;
    setup(&b);
    where = (struct demo_difference){ &b.walk.client.client.calls[4],
                                      b.walk.client.client.calls[4].received, &odd };
    demo_steps_add_difference(&b.steps, &where);
    assert_str(buf_str(&b.text),
               STR("2 Replay: mcpreel responds from the recording, without the server\n"
                   "  mcpreel replay mcpreel-demo.jsonl\n"
                   "  The replay differs from the recording. The first difference is after "
                   "tools/call divide 1 by 0:\n"
                   "  recorded  tool error: {\"content\":[{\"type\":\"text\",\"text\":"
                   "\"cannot divide 1 by zero\"}],\"isError\":true}\n"
                   "  replayed  unexpected: {\"a\":\"\\x1b[2J\"}\n"));
    done(&b);
}

static void an_empty_side_of_a_difference_is_shown_as_such(void **state)
{
    struct demo_difference where;
    struct bench b;

    (void)state;
    setup(&b);
    where = (struct demo_difference){ &b.walk.client.client.calls[1], NULL, &odd };
    demo_steps_add_difference(&b.steps, &where);
    assert_true(engine_run_has(&b.text, "after tools/list:\n  recorded  nothing more\n"));
    done(&b);
}

static void text_of_the_server_is_escaped(void **state)
{
    struct demo_call *x;
    struct bench b;

    (void)state;
    setup(&b);
    x = &b.walk.client.client.calls[8];
    *x->tail = &odd;
    demo_steps_add_recorded(&b.steps, &b.walk.client.client);
    assert_true(engine_run_has(&b.text, "unexpected: \\x1b[2Jgotcha\n"));
    assert_null(memchr(b.text.at, '\x1b', b.text.len));
    done(&b);
}

static void a_report_cannot_control_the_terminal(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    add_verified(&b, STR(SAME_REPORT),
                 STR("{\"calls\":[{\"method\":\"\\u001b[2J\",\"verdict\":\"failed\","
                     "\"findings\":[{\"path\":\"\\u001b[2J\",\"live\":\"\xc2\x9b\"}]}],"
                     "\"summary\":{\"failed\":1}}"));
    assert_true(engine_run_has(&b.text, "  0 passed, 1 failed: \\x1b[2J \n    \\x1b[2J\n"));
    assert_null(memchr(b.text.at, '\x1b', b.text.len));
    assert_null(memchr(b.text.at, '\x9b', b.text.len));
    done(&b);
}

static void the_json_output_is_one_line(void **state)
{
    struct demo_difference where;
    const struct str reports[] = { STR(SAME_REPORT), STR(CHANGED_REPORT) };
    struct terse_scanned s = { 0 };
    struct json_fault fault;
    struct json_val root, received_list;
    struct bench b;

    (void)state;
    setup(&b);
    json_init(&s.json);
    demo_steps_add_json(&b.steps, &b.walk.client.client, NULL, reports);
    assert_true(json_scan(&s.json, buf_str(&b.text), &fault));
    root = json_root(&s.json);
    assert_true(json_is(json_get(root, STR("command")), STR("demo")));
    assert_true(json_is(json_get(root, STR("recording")), STR("mcpreel-demo.jsonl")));
    assert_int_equal(json_type(json_get(root, STR("same"))), JSON_TRUE);
    assert_int_equal(json_count(json_get(root, STR("requests"))), DEMO_STEPS);
    assert_str(json_raw(json_item(json_get(root, STR("verify")), 1)), STR(CHANGED_REPORT));
    received_list = json_get(json_item(json_get(root, STR("requests")), 3), STR("received"));
    assert_int_equal(json_count(received_list), 5);
    assert_str(json_raw(json_item(received_list, 1)),
               STR("{\"kind\":\"progress\",\"text\":\"2/3 two\"}"));

    buf_clear(&b.text);
    where = (struct demo_difference){ &b.walk.client.client.calls[1], NULL, &odd };
    demo_steps_add_json(&b.steps, &b.walk.client.client, &where, NULL);
    assert_true(engine_run_has(
        &b.text, "\"same\":false,\"differs_after\":\"tools/list\",\"recorded\":null,"
                 "\"replayed\":{\"kind\":\"unexpected\",\"text\":\"\\u001b[2Jgotcha\"}}\n"));
    terse_scanned_release(&s);
    done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_complete_output_is_as_expected),
        cmocka_unit_test(the_colored_output_has_24_lines_and_the_same_text),
        cmocka_unit_test(a_path_with_special_characters_is_quoted),
        cmocka_unit_test(an_empty_word_is_quoted),
        cmocka_unit_test(a_difference_is_shown_with_both_values),
        cmocka_unit_test(an_empty_side_of_a_difference_is_shown_as_such),
        cmocka_unit_test(text_of_the_server_is_escaped),
        cmocka_unit_test(a_report_cannot_control_the_terminal),
        cmocka_unit_test(the_json_output_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
