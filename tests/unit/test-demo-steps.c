#include "cmd/demo-steps.h"

#include "demo-run.h"

struct bench {
    struct demo_run walk;
    struct buf text;
    struct demo_steps story;
};

static void setup(struct bench *b)
{
    demo_run_all(&b->walk, DEMO_ID_NUMBERS);
    buf_init(&b->text, 1 << 20);
    b->story = (struct demo_steps){
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

static void the_whole_story_is_told_in_these_words(void **state)
{
    static const char want[] =
        "mcpreel records the traffic between MCP clients and servers, and replays it.\n"
        "\n"
        "1 Record: mcpreel runs between a client and a server\n"
        "  mcpreel record -o mcpreel-demo.jsonl -- mcpreel demo server\n"
        "\n"
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
        "2 Replay: mcpreel answers from the recording, without the server\n"
        "  mcpreel replay mcpreel-demo.jsonl\n"
        "\n"
        "  The client received the same: 9 responses, 3 progress notifications,\n"
        "  1 log message and 1 server request, in 5.0 ms. Only the ids of its requests\n"
        "  differ from the recording: \"again-1\", \"again-2\", … for 1, 2, …\n"
        "\n"
        "3 Next: inspect the recording, send a request, use it with any MCP client\n"
        "  mcpreel inspect mcpreel-demo.jsonl\n"
        "  jq -c 'select(.dir) | [.seq, .dir, .msg.method]' mcpreel-demo.jsonl\n"
        "  echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}' |\n"
        "  mcpreel replay mcpreel-demo.jsonl\n"
        "\n"
        "  To record your own server, start it through mcpreel in your client's\n"
        "  configuration. To mock it, use \"replay\" and the file instead:\n"
        "  { \"mcpServers\": { \"mine\": {\n"
        "      \"command\": \"/usr/bin/mcpreel\",\n"
        "      \"args\": [\"record\", \"--force\", \"-o\", \"/home/me/mine.jsonl\", \"--\",\n"
        "               \"YOUR-SERVER\", \"ITS-ARGUMENTS\"] } } }\n";
    struct bench b;

    (void)state;
    setup(&b);
    demo_steps_add_recorded(&b.story, &b.walk.client.client);
    demo_steps_add_replayed(&b.story, &b.walk.client.client, 5000);
    demo_steps_add_next(&b.story);
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

static void it_fits_on_a_screen_in_colour_and_says_the_same(void **state)
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
        b.story.color = color;
        demo_steps_add_recorded(&b.story, &b.walk.client.client);
        demo_steps_add_replayed(&b.story, &b.walk.client.client, 5000);
        demo_steps_add_next(&b.story);
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

static void a_path_a_shell_would_misread_is_quoted(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    b.story.self = "./my mcpreel";
    b.story.file = "it's $HOME\x1b.jsonl";
    b.story.program = "/opt/\"x\"\\mcpreel\n";
    demo_steps_add_next(&b.story);
    assert_true(
        engine_run_has(&b.text, "  './my mcpreel' inspect 'it'\\''s $HOME\\x1b.jsonl'\n"));
    assert_true(engine_run_has(&b.text, "\"/opt/\\\"x\\\"\\\\mcpreel\\n\",\n"));
    assert_null(memchr(b.text.at, '\x1b', b.text.len));
    done(&b);
}

static void an_empty_word_is_a_word(void **state)
{
    struct bench b;

    (void)state;
    setup(&b);
    b.story.file = "";
    demo_steps_add_next(&b.story);
    assert_true(engine_run_has(&b.text, "mcpreel inspect ''\n"));
    done(&b);
}

static struct demo_message odd = {
    .kind = DEMO_UNEXPECTED,
    .summary = STR_INIT("\x1b[2Jgotcha"),
    .json = STR_INIT("{\"a\":\"\x1b[2J\"}"),
};

static void a_difference_is_shown_with_both_sides(void **state)
{
    struct demo_difference where;
    struct bench b;

    (void)state;
    setup(&b);
    where = (struct demo_difference){ &b.walk.client.client.calls[4],
                                      b.walk.client.client.calls[4].received, &odd };
    demo_steps_add_difference(&b.story, &where);
    assert_str(buf_str(&b.text),
               STR("2 Replay: mcpreel answers from the recording, without the server\n"
                   "  mcpreel replay mcpreel-demo.jsonl\n"
                   "\n"
                   "  The replay differs from the recording. The first difference is after "
                   "tools/call divide 1 by 0:\n"
                   "  recorded  tool error: {\"content\":[{\"type\":\"text\",\"text\":"
                   "\"cannot divide 1 by zero\"}],\"isError\":true}\n"
                   "  replayed  unexpected: {\"a\":\"\\x1b[2J\"}\n"));
    done(&b);
}

static void a_side_that_heard_nothing_says_so(void **state)
{
    struct demo_difference where;
    struct bench b;

    (void)state;
    setup(&b);
    where = (struct demo_difference){ &b.walk.client.client.calls[1], NULL, &odd };
    demo_steps_add_difference(&b.story, &where);
    assert_true(engine_run_has(&b.text, "after tools/list:\n  recorded  nothing more\n"));
    done(&b);
}

static void what_a_server_says_cannot_play_with_the_terminal(void **state)
{
    struct demo_call *x;
    struct bench b;

    (void)state;
    setup(&b);
    x = &b.walk.client.client.calls[8];
    *x->tail = &odd;
    demo_steps_add_recorded(&b.story, &b.walk.client.client);
    assert_true(engine_run_has(&b.text, "unexpected: \\x1b[2Jgotcha\n"));
    assert_null(memchr(b.text.at, '\x1b', b.text.len));
    done(&b);
}

static void for_programs_it_is_one_line_of_json(void **state)
{
    struct demo_difference where;
    struct terse_scanned s = { 0 };
    struct json_fault fault;
    struct json_val root, heard;
    struct bench b;

    (void)state;
    setup(&b);
    json_init(&s.json);
    demo_steps_add_json(&b.story, &b.walk.client.client, NULL);
    assert_true(json_scan(&s.json, buf_str(&b.text), &fault));
    root = json_root(&s.json);
    assert_true(json_is(json_get(root, STR("command")), STR("demo")));
    assert_true(json_is(json_get(root, STR("recording")), STR("mcpreel-demo.jsonl")));
    assert_int_equal(json_type(json_get(root, STR("same"))), JSON_TRUE);
    assert_int_equal(json_count(json_get(root, STR("requests"))), DEMO_STEPS);
    heard = json_get(json_item(json_get(root, STR("requests")), 3), STR("received"));
    assert_int_equal(json_count(heard), 5);
    assert_str(json_raw(json_item(heard, 1)),
               STR("{\"kind\":\"progress\",\"text\":\"2/3 two\"}"));

    buf_clear(&b.text);
    where = (struct demo_difference){ &b.walk.client.client.calls[1], NULL, &odd };
    demo_steps_add_json(&b.story, &b.walk.client.client, &where);
    assert_true(engine_run_has(
        &b.text, "\"same\":false,\"differs_after\":\"tools/list\",\"recorded\":null,"
                 "\"replayed\":{\"kind\":\"unexpected\",\"text\":\"\\u001b[2Jgotcha\"}}\n"));
    terse_scanned_release(&s);
    done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_story_is_told_in_these_words),
        cmocka_unit_test(it_fits_on_a_screen_in_colour_and_says_the_same),
        cmocka_unit_test(a_path_a_shell_would_misread_is_quoted),
        cmocka_unit_test(an_empty_word_is_a_word),
        cmocka_unit_test(a_difference_is_shown_with_both_sides),
        cmocka_unit_test(a_side_that_heard_nothing_says_so),
        cmocka_unit_test(what_a_server_says_cannot_play_with_the_terminal),
        cmocka_unit_test(for_programs_it_is_one_line_of_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
