#include "format/unread-format.h"

#include "format/format.h"
#include "test.h"

static const struct {
    const char *head, *program;
} files[] = {
    { "{\"resourceSpans\":[{\"resource\":", "OpenTelemetry (OTLP/JSON)" },
    { "{\"session_id\":\"a\",\"server_label\":\"fs\",\"seq\":1,\"ts\":\"x\",\"direction\":"
      "\"c2s\","
      "\"transport\":\"stdio\",\"raw\":{}}\n",
      "mcpsnoop" },
    { "{\"cassetteVersion\":1,\"recorder\":\"x\"}\n{\"type\":\"frame\",\"t\":0}\n",
      "mcp-cassette of ivermin1123" },
    { "{\n  \"format_version\": 2,\n  \"recorded_at\": \"x\",\n  \"messages\": [\n",
      "mcp-cassette of cheneeheng" },
    { "{\"format_version\":\"1.0.0\",\"metadata\":{\"version\":\"1\"},\"session\":{",
      "agent-vcr" },
    { "{\"timestamp\":\"x\",\"transport_type\":\"stdio\",\"stdio_transport\":{}}\n", "MCPSpy" },
    { "{\"timestamp\":\"x\",\"type\":\"REQUEST\",\"direction\":\"OUT\",\"payload\":{}}\n",
      "GitHub's gh-aw-mcpg (rpc-messages.jsonl)" },
    { "{\"ts\":1,\"dir\":\"client->server\",\"msg\":{}}\n", "mcp-rec" },
    { "meta:\n  version: 1\nmessages:\n  - t: 0\n", "mcp-vcr" },
    { "{\"hello\":1}", NULL },
    { "{\"timestamp\":\"x\"}", NULL },
    { "hello", NULL },
    { "", NULL },
};

static void files_of_other_programs_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *program = unread_format_program(str_z(files[i].head));

        if (files[i].program)
            assert_string_equal(program ? program : "", files[i].program);
        else
            assert_null(program);
    }
}

/* A format that reads a file comes first. */
static void no_format_reads_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_null(format_by_content(str_z(files[i].head), STR("x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_other_programs_are_named),
        cmocka_unit_test(no_format_reads_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
