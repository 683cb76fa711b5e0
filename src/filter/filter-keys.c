#include "filter/filter-keys.h"

#include "base/suggest.h"

static const struct filter_word dirs[] = {
    { "c2s", FILTER_DIR_C2S, "from the client to the server" },
    { "s2c", FILTER_DIR_S2C, "from the server to the client" },
    { "in", FILTER_DIR_C2S, NULL },
    { "out", FILTER_DIR_S2C, NULL },
    { 0 },
};

static const struct filter_word kinds[] = {
    { "req", FILTER_KIND_REQ, "requests" },
    { "res", FILTER_KIND_RES, "responses" },
    { "notif", FILTER_KIND_NOTIF, "notifications" },
    { "op", FILTER_KIND_OP, "operations" },
    { "malformed", FILTER_KIND_MALFORMED, "lines that are not JSON-RPC" },
    { "stderr", FILTER_KIND_STDERR, "lines of the server's standard error" },
    { "http", FILTER_KIND_HTTP, "HTTP exchanges" },
    { "request", FILTER_KIND_REQ, NULL },
    { "response", FILTER_KIND_RES, NULL },
    { "notification", FILTER_KIND_NOTIF, NULL },
    { 0 },
};

static const struct filter_word traits[] = {
    { "error",
      FILTER_IS_RPC_ERROR | FILTER_IS_TOOL_ERROR | FILTER_IS_HTTP_ERROR | FILTER_IS_MALFORMED |
          FILTER_IS_SERVER_EXITED,
      "failed: an error below, malformed or server-exited" },
    { "ok", FILTER_IS_OK, "got a result without an error" },
    { "rpc-error", FILTER_IS_RPC_ERROR, "got a JSON-RPC error" },
    { "tool-error", FILTER_IS_TOOL_ERROR, "got a result that has isError: true" },
    { "http-error", FILTER_IS_HTTP_ERROR,
      "got an HTTP status of 300 or more, without a response" },
    { "malformed", FILTER_IS_MALFORMED, "is or contains a line that is not JSON-RPC" },
    { "pending", FILTER_IS_PENDING, "not complete when the recording ended" },
    { "running", FILTER_IS_PENDING, NULL },
    { "server-exited", FILTER_IS_SERVER_EXITED,
      "the server's process ended before the response" },
    { "cancelled", FILTER_IS_CANCELLED, "cancelled by the side that sent the request" },
    { "late", FILTER_IS_LATE, "got its response after the cancellation" },
    { "slow", FILTER_IS_SLOW, "the server worked for one second or longer" },
    { "orphan", FILTER_IS_ORPHAN,
      "refers to a request, token or subscription that is not recorded" },
    { "duplicate", FILTER_IS_DUPLICATE, "its request had a response before" },
    { "retry", FILTER_IS_RETRY,
      "the repeated request, with the input that the server required" },
    { "mrtr", FILTER_IS_MRTR, "had more than one round: the server required input" },
    { "task", FILTER_IS_TASK, "is a task, or refers to one" },
    { "progress", FILTER_IS_PROGRESS, "has progress notifications" },
    { "redacted", FILTER_IS_REDACTED, "has redacted values" },
    { "drift", FILTER_IS_DRIFT, "a list with a tool whose definition has changed" },
    { "marked", FILTER_IS_MARKED, "marked by the user; matches nothing in a recording" },
    { "binary", FILTER_IS_BINARY, "has base64 data" },
    { "inferred", FILTER_IS_INFERRED, "its link to another operation is inferred" },
    { 0 },
};

static const struct filter_word contents[] = {
    { "structured", FILTER_CONTENT_STRUCTURED, "structuredContent" },
    { "image", FILTER_CONTENT_IMAGE, "an image" },
    { "audio", FILTER_CONTENT_AUDIO, "audio" },
    { "resource", FILTER_CONTENT_RESOURCE, "a resource" },
    { "link", FILTER_CONTENT_LINK, "a link to a resource" },
    { "annotations", FILTER_CONTENT_ANNOTATIONS, "annotations" },
    { "traceparent", FILTER_CONTENT_TRACEPARENT, "the id of a distributed trace" },
    { 0 },
};

#define FIELD(name) .offset = offsetof(struct filter_view, name)

const struct filter_key filter_keys[] = {
    { "method", .type = FILTER_TYPE_TEXT, FIELD(method), .help = "the method",
      .example = "method:tools/*" },
    { "tool", .type = FILTER_TYPE_TEXT, FIELD(tool), .help = "the called tool",
      .example = "tool:read_*" },
    { "prompt", .type = FILTER_TYPE_TEXT, FIELD(prompt), .help = "the requested prompt",
      .example = "prompt:review" },
    { "uri", .type = FILTER_TYPE_TEXT, FIELD(uri), .help = "the URI of the resource",
      .example = "uri:file:///etc/*" },
    { "task", .type = FILTER_TYPE_TEXT, FIELD(task), .help = "the id of the task",
      .example = "task:786*" },
    { "id", .type = FILTER_TYPE_TEXT, FIELD(id),
      .help = "the id of the request; in quotes only a string", .example = "id:7" },
    { "server", .type = FILTER_TYPE_TEXT, FIELD(server),
      .help = "the name of the server in serverInfo", .example = "server:github" },
    { "trace", .type = FILTER_TYPE_TEXT, FIELD(trace), .help = "the name of the recording",
      .example = "trace:nightly*" },
    { "session", .type = FILTER_TYPE_TEXT, FIELD(session), .help = "the number of the session",
      .example = "session:2" },
    { "dir", .type = FILTER_TYPE_WORDS, FIELD(dir), .words = dirs, .help = "the direction",
      .example = "dir:s2c" },
    { "kind", .type = FILTER_TYPE_WORDS, FIELD(kind), .words = kinds,
      .help = "the kind of message or record", .example = "kind:notif" },
    { "is", .type = FILTER_TYPE_WORDS, FIELD(is), .words = traits,
      .help = "the outcome and other properties", .example = "is:tool-error" },
    { "code", .type = FILTER_TYPE_NUMBER, FIELD(code), .has_bit = FILTER_HAS_CODE,
      .help = "the JSON-RPC error code", .example = "code:-32602,-32601" },
    { "status", "status-code", .type = FILTER_TYPE_NUMBER, FIELD(status),
      .has_bit = FILTER_HAS_STATUS, .help = "the HTTP status", .example = "status:>=400" },
    { "dur", .type = FILTER_TYPE_DURATION, FIELD(dur), .has_bit = FILTER_HAS_DUR,
      .help = "the duration", .example = "dur:1s..5s" },
    { "server-dur", .type = FILTER_TYPE_DURATION, FIELD(server_dur),
      .has_bit = FILTER_HAS_SERVER_DUR, .help = "the time in which the server worked",
      .example = "server-dur:>500ms" },
    { "wait", .type = FILTER_TYPE_DURATION, FIELD(wait), .has_bit = FILTER_HAS_WAIT,
      .help = "the time in which the server waited for the client", .example = "wait:>10s" },
    { "gap", .type = FILTER_TYPE_DURATION, FIELD(gap), .has_bit = FILTER_HAS_GAP,
      .help = "the time since the message before it", .example = "gap:>1m" },
    { "size", "larger-than", .type = FILTER_TYPE_BYTES, FIELD(size), .has_bit = FILTER_HAS_SIZE,
      .help = "bytes of all its messages", .example = "size:>1MB" },
    { "req-size", .type = FILTER_TYPE_BYTES, FIELD(req_size), .has_bit = FILTER_HAS_REQ_SIZE,
      .help = "bytes of the request", .example = "req-size:>=4KB" },
    { "res-size", .type = FILTER_TYPE_BYTES, FIELD(res_size), .has_bit = FILTER_HAS_RES_SIZE,
      .help = "bytes of the response", .example = "res-size:>1MB" },
    { "t", .type = FILTER_TYPE_TIME, FIELD(t), .has_bit = FILTER_HAS_T,
      .help = "the time: since the start, or date or time of day (UTC)",
      .example = "t:1m..1m30s" },
    { "arg", .type = FILTER_TYPE_PATH, .root = FILTER_ROOT_ARGUMENTS,
      .help = "a value in the arguments", .example = "arg.path~^/etc/" },
    { "result", .type = FILTER_TYPE_PATH, .root = FILTER_ROOT_RESULT,
      .help = "a value in the result", .example = "result.content[0].type:image" },
    { "meta", .type = FILTER_TYPE_PATH, .root = FILTER_ROOT_META, .help = "a value in _meta",
      .example = "meta.progressToken" },
    { "$", .type = FILTER_TYPE_PATH, .root = FILTER_ROOT_MESSAGE,
      .help = "a value anywhere in the message", .example = "$.params.level:error" },
    { "has", .type = FILTER_TYPE_CONTENT, .words = contents, .help = "the kind of content",
      .example = "has:image" },
    { 0 },
};

static const char greater[] = "larger-than";

const struct filter_key *filter_key_find(struct str name)
{
    for (const struct filter_key *k = filter_keys; k->name; k++)
        if (str_eq(str_z(k->name), name) || (k->alias && str_eq(str_z(k->alias), name)))
            return k;
    return NULL;
}

bool filter_key_means_greater(struct str name)
{
    return str_eq(name, str_z(greater));
}

const struct filter_word *filter_key_word(const struct filter_key *key, struct str name)
{
    for (const struct filter_word *w = key->words; w->name; w++)
        if (str_eq(str_z(w->name), name))
            return w;
    return NULL;
}

const char *filter_key_nearest(struct str name)
{
    struct suggest near = suggest_for(name);

    for (const struct filter_key *k = filter_keys; k->name; k++) {
        suggest_try(&near, k->name);
        if (k->alias)
            suggest_try(&near, k->alias);
    }
    return near.best;
}

const char *filter_key_nearest_word(const struct filter_key *key, struct str name)
{
    struct suggest near = suggest_for(name);

    for (const struct filter_word *w = key->words; w->name; w++)
        suggest_try(&near, w->name);
    return near.best;
}
