#include "trace/filter-key.h"

#include "base/nearest.h"

static const struct filter_word dirs[] = {
    { "c2s", DIR_C2S, "from the client to the server" },
    { "s2c", DIR_S2C, "from the server to the client" },
    { "in", DIR_C2S, NULL },
    { "out", DIR_S2C, NULL },
    { 0 },
};

static const struct filter_word kinds[] = {
    { "req", KIND_REQ, "requests" },
    { "res", KIND_RES, "answers" },
    { "notif", KIND_NOTIF, "notifications" },
    { "op", KIND_OP, "operations" },
    { "malformed", KIND_MALFORMED, "what is not JSON-RPC" },
    { "stderr", KIND_STDERR, "what the server wrote to standard error" },
    { "http", KIND_HTTP, "HTTP exchanges" },
    { "request", KIND_REQ, NULL },
    { "response", KIND_RES, NULL },
    { "notification", KIND_NOTIF, NULL },
    { 0 },
};

static const struct filter_word traits[] = {
    { "error", IS_RPC_ERROR | IS_TOOL_ERROR | IS_HTTP_ERROR | IS_MALFORMED | IS_SERVER_EXITED,
      "went wrong in any way" },
    { "ok", IS_OK, "answered, and nothing went wrong" },
    { "rpc-error", IS_RPC_ERROR, "answered with a JSON-RPC error" },
    { "tool-error", IS_TOOL_ERROR, "answered with a result that says isError" },
    { "http-error", IS_HTTP_ERROR, "answered with nothing but an HTTP status" },
    { "malformed", IS_MALFORMED, "something came that is not JSON-RPC" },
    { "pending", IS_PENDING, "not over when the recording was" },
    { "running", IS_PENDING, NULL },
    { "server-exited", IS_SERVER_EXITED, "the server's process ended before the response" },
    { "cancelled", IS_CANCELLED, "whoever asked gave up" },
    { "late", IS_LATE, "answered after it was cancelled" },
    { "slow", IS_SLOW, "the server took a second or longer" },
    { "orphan", IS_ORPHAN, "refers to something nobody saw" },
    { "duplicate", IS_DUPLICATE, "answers what was answered before" },
    { "retry", IS_RETRY, "the same again, with the input the server wanted" },
    { "mrtr", IS_MRTR, "took more than one round: the server wanted input" },
    { "task", IS_TASK, "is or is about a task" },
    { "progress", IS_PROGRESS, "made progress known" },
    { "redacted", IS_REDACTED, "has parts that were not recorded as they were sent" },
    { "drift", IS_DRIFT, "a list with a tool that was defined otherwise before" },
    { "marked", IS_MARKED, "marked by hand, which nothing in a recording is" },
    { "binary", IS_BINARY, "carries base64 data" },
    { "inferred", IS_INFERRED, "only the circumstances say what it belongs to" },
    { 0 },
};

static const struct filter_word contents[] = {
    { "structured", CONTENT_STRUCTURED, "structuredContent" },
    { "image", CONTENT_IMAGE, "an image" },
    { "audio", CONTENT_AUDIO, "audio" },
    { "resource", CONTENT_RESOURCE, "a resource" },
    { "link", CONTENT_LINK, "a link to a resource" },
    { "annotations", CONTENT_ANNOTATIONS, "annotations" },
    { "traceparent", CONTENT_TRACEPARENT, "the id of a distributed trace" },
    { 0 },
};

#define FIELD(name) .at = offsetof(struct filter_view, name)

const struct filter_key filter_keys[] = {
    { "method", .type = FILTER_TEXT, FIELD(method), .about = "the method",
      .example = "method:tools/*" },
    { "tool", .type = FILTER_TEXT, FIELD(tool), .about = "the tool that is called",
      .example = "tool:read_*" },
    { "prompt", .type = FILTER_TEXT, FIELD(prompt), .about = "the prompt that is got",
      .example = "prompt:review" },
    { "uri", .type = FILTER_TEXT, FIELD(uri), .about = "the resource",
      .example = "uri:file:///etc/*" },
    { "task", .type = FILTER_TEXT, FIELD(task), .about = "the id of the task",
      .example = "task:786*" },
    { "id", .type = FILTER_TEXT, FIELD(id),
      .about = "the id of the request; in quotes only one that is a string",
      .example = "id:7" },
    { "server", .type = FILTER_TEXT, FIELD(server), .about = "the name the server gave itself",
      .example = "server:github" },
    { "trace", .type = FILTER_TEXT, FIELD(trace), .about = "the name of the recording",
      .example = "trace:nightly*" },
    { "session", .type = FILTER_TEXT, FIELD(session), .about = "the number of the session",
      .example = "session:2" },
    { "dir", .type = FILTER_WORDS, FIELD(dir), .words = dirs, .about = "which way it went",
      .example = "dir:s2c" },
    { "kind", .type = FILTER_WORDS, FIELD(kind), .words = kinds, .about = "what it is",
      .example = "kind:notif" },
    { "is", .type = FILTER_WORDS, FIELD(is), .words = traits, .about = "how it went",
      .example = "is:tool-error" },
    { "code", .type = FILTER_NUMBER, FIELD(code), .has = FILTER_CODE,
      .about = "the JSON-RPC error code", .example = "code:-32602,-32601" },
    { "status", "status-code", .type = FILTER_NUMBER, FIELD(status), .has = FILTER_STATUS,
      .about = "the HTTP status", .example = "status:>=400" },
    { "dur", .type = FILTER_DURATION, FIELD(dur), .has = FILTER_DUR,
      .about = "how long it took", .example = "dur:1s..5s" },
    { "server-dur", .type = FILTER_DURATION, FIELD(server_dur), .has = FILTER_SERVER_DUR,
      .about = "how long the server held it", .example = "server-dur:>500ms" },
    { "wait", .type = FILTER_DURATION, FIELD(wait), .has = FILTER_WAIT,
      .about = "how long it waited for the client", .example = "wait:>10s" },
    { "gap", .type = FILTER_DURATION, FIELD(gap), .has = FILTER_GAP,
      .about = "how long nothing happened before it", .example = "gap:>1m" },
    { "size", "larger-than", .type = FILTER_BYTES, FIELD(size), .has = FILTER_SIZE,
      .about = "bytes of all its messages", .example = "size:>1MB" },
    { "req-size", .type = FILTER_BYTES, FIELD(req_size), .has = FILTER_REQ_SIZE,
      .about = "bytes of the request", .example = "req-size:>=4KB" },
    { "res-size", .type = FILTER_BYTES, FIELD(res_size), .has = FILTER_RES_SIZE,
      .about = "bytes of the answer", .example = "res-size:>1MB" },
    { "t", .type = FILTER_MOMENT, FIELD(t), .has = FILTER_T,
      .about = "when: since the start, or by the clock (UTC)", .example = "t:1m..1m30s" },
    { "arg", .type = FILTER_PATH, .root = ROOT_ARGUMENTS, .about = "a value in the arguments",
      .example = "arg.path~^/etc/" },
    { "result", .type = FILTER_PATH, .root = ROOT_RESULT, .about = "a value in the result",
      .example = "result.content[0].type:image" },
    { "meta", .type = FILTER_PATH, .root = ROOT_META, .about = "a value in _meta",
      .example = "meta.progressToken" },
    { "$", .type = FILTER_PATH, .root = ROOT_MESSAGE,
      .about = "a value anywhere in the message", .example = "$.params.level:error" },
    { "has", .type = FILTER_CONTENT, .words = contents, .about = "what it carries",
      .example = "has:image" },
    { 0 },
};

static const char greater[] = "larger-than";

const struct filter_key *filter_key_find(struct str name)
{
    for (const struct filter_key *k = filter_keys; k->name; k++)
        if (str_eq(str_z(k->name), name) || (k->also && str_eq(str_z(k->also), name)))
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
    struct nearest near = nearest_to(name);

    for (const struct filter_key *k = filter_keys; k->name; k++) {
        nearest_try(&near, k->name);
        if (k->also)
            nearest_try(&near, k->also);
    }
    return near.best;
}

const char *filter_key_nearest_word(const struct filter_key *key, struct str name)
{
    struct nearest near = nearest_to(name);

    for (const struct filter_word *w = key->words; w->name; w++)
        nearest_try(&near, w->name);
    return near.best;
}
