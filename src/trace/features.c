#include "trace/features.h"

#include "mcp/message.h"

/* `many` is NULL for features that are not counted. */
static const struct {
    const char *name, *about;
    const char *before, *one, *many;
} feature_texts[FEATURE_COUNT] = {
    { "bytes", "the exact bytes of messages", "the exact bytes of ", "message", "messages" },
    { "time", "times of messages", "the times of ", "message", "messages" },
    { "latency", "latencies of responses", "the latencies of ", "response", "responses" },
    { "server-messages", "server notifications, server requests and responses to them", "",
      "server notification, server request or response to one",
      "server notifications, server requests and responses to them" },
    { "unpaired", "unpaired requests and responses", "", "unpaired request or response",
      "unpaired requests and responses" },
    { "batch", "JSON-RPC batches of messages", "the batches of ", "message", "messages" },
    { "raw", "lines that are not JSON", "", "line that is not JSON",
      "lines that are not JSON" },
    { "stderr", "lines of standard error", "", "line of standard error",
      "lines of standard error" },
    { "process", "starts and ends of the server", "", "start or end of the server",
      "starts and ends of the server" },
    { "http", "HTTP data of messages", "", "record with HTTP data", "records with HTTP data" },
    { "gap", "gaps of the recorder", "", "gap of the recorder", "gaps of the recorder" },
    { "name", "the recording's name", "the recording's name", NULL, NULL },
    { "tags", "the recording's tags", "the recording's tags", NULL, NULL },
    { "command", "the server's command and arguments", "the server's command and arguments",
      NULL, NULL },
    { "redacted", "lists of redacted values", "the list of redacted values in ", "message",
      "messages" },
    { "direction", "which side sent a message", "which side sent ", "message", "messages" },
    { "end", "how the recording ended", "how the recording ended", NULL, NULL },
    { "order", "the order of messages of overlapping calls", "the order of messages of ",
      "overlapping call", "overlapping calls" },
    { "microseconds", "times to the microsecond", "the microseconds of ", "message",
      "messages" },
    { "connection", "which connection a message belongs to", "the connection of ", "message",
      "messages" },
    { "other-json", "JSON that is not a message", "", "line of JSON that is not a message",
      "lines of JSON that are not messages" },
    { "unknown-members", "members that are unknown to the format", "unknown members of ",
      "line", "lines" },
    { "url", "the server's URL", "the server's URL", NULL, NULL },
};

static size_t bit_index(enum feature p)
{
    size_t i = (size_t)__builtin_ctz(p);

    BUG_IF(i >= FEATURE_COUNT || (unsigned)p != 1u << i);
    return i;
}

const char *feature_name(enum feature p)
{
    return feature_texts[bit_index(p)].name;
}

const char *feature_description(enum feature p)
{
    return feature_texts[bit_index(p)].about;
}

void feature_add_count(struct buf *to, enum feature p, uint64_t count)
{
    size_t i = bit_index(p);

    buf_add(to, str_z(feature_texts[i].before));
    if (feature_texts[i].many)
        buf_printf(to, "%llu %s", (unsigned long long)count,
                   count == 1 ? feature_texts[i].one : feature_texts[i].many);
}

/* Server requests and notifications, and the client's responses. */
static bool is_server_initiated(const struct record_message *m)
{
    struct arena a = { 0 };
    struct mcp_message rpc = mcp_classify(m->msg, &a);
    bool response = mcp_is_response(&rpc);

    arena_release(&a);
    return (m->dir == TO_CLIENT) != response;
}

static unsigned features_of_message(const struct record *r)
{
    const struct record_message *m = &r->message;
    unsigned parts = 0;

    if (r->has & (HAS_WALL | HAS_US))
        parts |= FEATURE_TIME;
    if (r->has & HAS_US)
        parts |= FEATURE_MICROSECONDS;
    if (r->has & HAS_CONN)
        parts |= FEATURE_CONN;
    if (is_server_initiated(m))
        parts |= FEATURE_SERVER_MESSAGES;
    if (r->has & HAS_LATENCY)
        parts |= FEATURE_LATENCY;
    if (m->batch.at)
        parts |= FEATURE_BATCH;
    if (m->redacted.at)
        parts |= FEATURE_REDACTED;
    if (m->event.at || r->has & (HAS_SESSION | HAS_EXCHANGE | HAS_STREAM | HAS_REDELIVERS))
        parts |= FEATURE_HTTP;
    return parts;
}

bool features_is_other_json(struct str line)
{
    struct json_fault fault;
    struct arena a = { 0 };
    bool is = false;
    struct json j;

    json_init(&j);
    if (str_trim(line).len == line.len && str_find(line, '\n') == line.len &&
        json_scan(&j, line, &fault)) {
        enum mcp_kind kind = mcp_classify(json_root(&j), &a).kind;

        is = kind == MCP_OTHER || kind == MCP_BATCH;
    }
    json_release(&j);
    arena_release(&a);
    return is;
}

bool features_is_url(struct str upstream)
{
    return str_starts(upstream, STR("http://")) || str_starts(upstream, STR("https://"));
}

static unsigned features_of_header(const struct record_header *h)
{
    return (h->name.at ? FEATURE_NAME : 0u) | (h->tags.at ? FEATURE_TAGS : 0u) |
           (h->command.at ? FEATURE_COMMAND : 0u) |
           (features_is_url(h->upstream) ? FEATURE_URL : 0u);
}

static unsigned features_of_kind(const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        return features_of_header(&r->header);
    case RECORD_MESSAGE:
        return features_of_message(r);
    case RECORD_RAW:
        if (r->bytes.by.at)
            return FEATURE_HTTP;
        return features_is_other_json(r->bytes.bytes) ? FEATURE_OTHER_JSON : FEATURE_RAW;
    case RECORD_STDERR:
        return FEATURE_STDERR;
    case RECORD_PROC:
        return FEATURE_PROCESS;
    case RECORD_HTTP_REQUEST:
    case RECORD_HTTP_RESPONSE:
    case RECORD_HTTP_END:
    case RECORD_SSE:
        return FEATURE_HTTP;
    case RECORD_GAP:
        return FEATURE_GAP;
    case RECORD_FOOTER:
        return FEATURE_END;
    case RECORD_UNKNOWN:
        return 0;
    }
    BUG("unknown kind of record");
}

unsigned features_of(const struct record *r)
{
    return features_of_kind(r) | (r->unknown_members.at ? FEATURE_UNKNOWN_MEMBERS : 0u);
}
