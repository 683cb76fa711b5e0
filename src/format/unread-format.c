#include "format/unread-format.h"

#include "format/json-document.h"

enum { MEMBERS_MAX = 4, ROWS_MAX = 32 };

/* A file is that of the first row whose members its first object has. */
static const struct unread_row {
    const char *program;
    const char *members[MEMBERS_MAX + 1]; /* NULL-ended */
} rows[] = {
    { "OpenTelemetry (OTLP/JSON)", { "resourceSpans" } },
    { "OpenTelemetry (OTLP/JSON)", { "resourceLogs" } },
    { "mcpsnoop", { "session_id", "seq", "direction", "transport" } },
    { "mcpsnoop", { "session_id", "server_label" } },
    { "mcp-cassette of ivermin1123", { "cassetteVersion" } },
    { "mcp-cassette of cheneeheng", { "format_version", "messages" } },
    { "mcp-cassette of cheneeheng", { "format_version", "recorded_at" } },
    { "agent-vcr", { "format_version", "session" } },
    { "agent-vcr", { "format_version", "metadata" } },
    { "MCPSpy", { "timestamp", "transport_type" } },
    { "GitHub's gh-aw-mcpg (rpc-messages.jsonl)",
      { "timestamp", "type", "direction", "payload" } },
    { "mcp-debug", { "timestamp", "direction", "message_type" } },
    { "mcp-debug", { "start_time", "server_info", "messages" } },
    { "mcp-trace-validator", { "seq", "direction", "transport", "kind" } },
    { "mcp-observatory", { "targetId", "recordedAt", "entries" } },
    { "Assay (trace V2)", { "type", "episode_id" } },
    { "mcp-recorder of toddegray", { "seq", "t", "dir", "msg" } },
    { "mcp-rec", { "ts", "dir", "msg" } },
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

_Static_assert(sizeof rows / sizeof rows[0] <= ROWS_MAX, "one entry of `found` for each row");

struct unread_members {
    unsigned found[ROWS_MAX]; /* a bit for each member of a row */
};

static void note_member(struct unread_members *m, struct json_val name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        for (size_t k = 0; rows[i].members[k]; k++)
            if (json_is(name, str_z(rows[i].members[k])))
                m->found[i] |= 1u << k;
}

static unsigned all_members(const struct unread_row *row)
{
    unsigned all = 0;

    for (size_t k = 0; row->members[k]; k++)
        all |= 1u << k;
    return all;
}

/* MCP-VCR writes YAML. */
static bool is_mcp_vcr(struct str head)
{
    return str_starts(head, STR("meta:\n")) && str_contains(head, STR("\nmessages:"));
}

const char *unread_format_program(struct str head)
{
    struct unread_members m = { { 0 } };
    struct json_document_head members;

    head = str_trim(head);
    if (is_mcp_vcr(head))
        return "mcp-vcr";
    if (str_starts(head, STR("[")))
        head = str_skip(head, 1);
    json_document_head_init(&members, head);
    while (json_document_head_next(&members))
        note_member(&m, members.name);
    json_document_head_release(&members);
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (m.found[i] == all_members(&rows[i]))
            return rows[i].program;
    return NULL;
}
