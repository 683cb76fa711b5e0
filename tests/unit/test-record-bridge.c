#include "runtime/record-bridge.h"

#include <stdio.h>

#include "base/file.h"
#include "fake-server.h"
#include "program.h"
#include "temp-dir.h"
#include "test.h"

#define PING "{\"id\":1,\"method\":\"ping\"}"
#define PONG "{\"id\":1,\"result\":{}}"

static void assert_has(struct str text, const char *part)
{
    if (!text.len || !memmem(text.at, text.len, part, strlen(part)))
        fail_msg("no \"%s\" in %.*s", part, STR_ARG(text));
}

/* The program with a client that sends this and closes, and a server with a script. */
static int play(const struct fake_server_step *script, const char *client_input,
                const char *expected_output, struct buf *file)
{
    struct err e = ERR_NONE;
    struct program p;
    struct fake_server peer;
    char url[64];
    int code;

    fake_server_start(&peer, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", peer.port);
    program_run(&p, NULL, PROGRAM_WORDS("record", "-o", "file", "--upstream-http", url),
                str_z(client_input));
    fake_server_join(&peer);
    assert_str(buf_str(&p.out), str_z(expected_output));
    code = p.code;
    program_release(&p);
    buf_init(file, 1 << 20);
    if (!file_read_all(file, &sys_real, "file", &e))
        fail_msg("%s", e.msg);
    return code;
}

static void a_session_is_recorded_until_the_client_closes(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp HTTP/1.1\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         "Content-Length: 20\r\n\r\n" PONG),
        FAKE(DONE),
    };
    struct buf file;

    (void)state;
    assert_int_equal(play(script, PING "\nnoise\n",
                          "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{"
                          "\"code\":-32700,\"message\":\"not valid JSON\"}}\n" PONG "\n",
                          &file),
                     0);
    assert_has(buf_str(&file), "\"dir\":\"c2s\",\"msg\":" PING);
    assert_has(buf_str(&file), "\"dir\":\"s2c\",\"msg\":" PONG);
    assert_has(buf_str(&file), "\"why\":\"not JSON\",\"text\":\"noise\"");
    assert_has(buf_str(&file), "\"ev\":\"end\",\"by\":\"server\",\"clean\":true");
    assert_has(buf_str(&file), "\"transport\":\"http\"");
    assert_has(buf_str(&file), "\"exit_code\":0");
    buf_release(&file);
}

static void a_server_without_response_exits_with_4(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT),
                                                      FAKE_TEXT(SEES, "POST /mcp"), FAKE(RESET),
                                                      FAKE(DONE) };
    struct buf file;

    (void)state;
    assert_int_equal(
        play(script, PING "\n",
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,"
             "\"message\":\"the server closed the connection without a response\"}}\n",
             &file),
        4);
    assert_has(buf_str(&file), "\"status\":502,\"by\":\"mcpreel\"");
    assert_has(buf_str(&file), "\"ev\":\"end\",\"by\":\"error\",\"clean\":true,\"why\":\"the "
                               "server closed the connection without a response\"");
    assert_has(buf_str(&file), "\"exit_code\":4");
    buf_release(&file);
}

static void a_client_that_sends_nothing_needs_no_server(void **state)
{
    static const struct fake_server_step script[] = { FAKE(LONE), FAKE(DONE) };
    struct buf file;

    (void)state;
    assert_int_equal(play(script, "", "", &file), 0);
    buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_session_is_recorded_until_the_client_closes),
        IN_TEMP_DIR(a_server_without_response_exits_with_4),
        IN_TEMP_DIR(a_client_that_sends_nothing_needs_no_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
