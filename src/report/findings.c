#include "report/findings.h"

#include "base/units.h"

struct finding_text {
    const char *id;
    const char *one, *many; /* texts after the count; `many` NULL: the count is not written */
};

static const struct finding_text finding_texts[STATS_FINDING_COUNT] = {
    [STATS_NO_HEADER] = { "no-header", "the file does not start with a header", NULL },
    [STATS_EXTRA_HEADER] = { "extra-header", "more header: the file has several recordings",
                             "more headers: the file has several recordings" },
    [STATS_NO_FOOTER] = { "no-footer", "no footer: the recorder did not end properly", NULL },
    [STATS_AFTER_FOOTER] = { "after-footer", "line after the footer",
                             "lines after the footer" },
    [STATS_FOOTER_DIFFERS] = { "footer-differs", "the totals of the footer are wrong", NULL },
    [STATS_DAMAGED_END] = { "damaged-end",
                            "byte at the end is damaged; everything before it is used",
                            "bytes at the end are damaged; everything before them is used" },
    [STATS_GAP] = { "gap", "gap", "gaps" },
    [STATS_UNKNOWN_LINE] = { "unknown-line", "line of an unknown type",
                             "lines of unknown types" },
    [STATS_NOT_JSONRPC] = { "not-jsonrpc", "message that is not JSON-RPC",
                            "messages that are not JSON-RPC" },
    [STATS_SERVER_NON_MESSAGE] = { "server-non-message",
                                   "line from the server that is not a message",
                                   "lines from the server that are not messages" },
    [STATS_CLIENT_NON_MESSAGE] = { "client-non-message",
                                   "line from the client that is not a message",
                                   "lines from the client that are not messages" },
    [STATS_UNMATCHED_RESPONSE] = { "unsolicited-response", "response without a request",
                                   "responses without a request" },
    [STATS_DUPLICATE_RESPONSE] = { "duplicate-response",
                                   "response to a request that had one before",
                                   "responses to requests that had one before" },
    [STATS_LATE_RESPONSE] = { "late-response", "response to a request that was cancelled",
                              "responses to requests that were cancelled" },
    [STATS_UNANSWERED] = { "unanswered", "request without a response",
                           "requests without a response" },
    [STATS_ORPHAN] = { "orphan-notification",
                       "notification about a request, token or subscription that is not "
                       "recorded",
                       "notifications about requests, tokens or subscriptions that are not "
                       "recorded" },
    [STATS_EVICTED] = { "too-many-open",
                        "operation not followed to its end: too many were open at the same "
                        "time",
                        "operations not followed to their end: too many were open at the same "
                        "time" },
    [STATS_ID_IN_USE] = { "id-in-use", "request with the id of another pending request",
                          "requests with the id of another pending request" },
    [STATS_DUPLICATE_KEY] = { "duplicate-key",
                              "message with a duplicate member in its envelope",
                              "messages with a duplicate member in their envelope" },
    [STATS_SEQ_ORDER] = { "seq-order", "message whose seq does not increase",
                          "messages whose seq does not increase" },
    [STATS_TIME_ORDER] = { "time-order", "line whose time decreases",
                           "lines whose time decreases" },
    [STATS_INCOMPLETE_BATCH] = { "short-batch", "batch with missing messages",
                                 "batches with missing messages" },
    [STATS_UNLISTED_TOOL] = { "unlisted-tool", "call of a tool that is in no tools/list",
                              "calls of tools that are in no tools/list" },
    [STATS_TOOL_CHANGED] = { "tool-changed", "tool definition that changed",
                             "tool definitions that changed" },
    [STATS_SERVER_EXIT] = { "server-exit", "server process that ended with an error",
                            "server processes that ended with an error" },
    [STATS_HTTP_FAILURE] = { "http-fault", "HTTP exchange that failed",
                             "HTTP exchanges that failed" },
    [STATS_LONE_SURROGATE] = { "lone-surrogate",
                               "message with half a surrogate pair: jq 1.6 rejects it",
                               "messages with half a surrogate pair: jq 1.6 rejects them" },
    [STATS_TOO_DEEP] = { "too-deep", "message nested too deeply for jq 1.6",
                         "messages nested too deeply for jq 1.6" },
};

/* Ids of version 1 of the JSON output; docs/json-output.md has both. */
static const struct {
    const char *id;
    enum stats_finding_kind what;
} former_ids[] = {
    { "server-noise", STATS_SERVER_NON_MESSAGE },
    { "client-noise", STATS_CLIENT_NON_MESSAGE },
    { "unasked-answer", STATS_UNMATCHED_RESPONSE },
    { "duplicate-answer", STATS_DUPLICATE_RESPONSE },
    { "late-answer", STATS_LATE_RESPONSE },
};

const char *findings_id(enum stats_finding_kind what)
{
    return finding_texts[what].id;
}

enum stats_finding_kind findings_find(struct str id)
{
    enum stats_finding_kind what = 0;

    while (what < STATS_FINDING_COUNT && !str_eq(str_z(finding_texts[what].id), id))
        what++;
    for (size_t i = 0; i < sizeof former_ids / sizeof *former_ids; i++)
        if (str_eq(str_z(former_ids[i].id), id))
            return former_ids[i].what;
    return what;
}

static void add_gap_totals(struct buf *to, const struct stats *s)
{
    buf_add(to, STR(": "));
    units_write_count(to, s->gap_messages, "message", "messages");
    buf_add(to, STR(" ("));
    units_write_bytes(to, s->gap_bytes);
    buf_add(to, STR(") not recorded"));
}

/* Appends a sentence. */
static void add_sentence(struct buf *to, const struct stats *s, enum stats_finding_kind what)
{
    const struct stats_finding *f = &s->findings[what];

    if (finding_texts[what].many)
        units_write_count(to, f->count, finding_texts[what].one, finding_texts[what].many);
    else
        buf_add(to, str_z(finding_texts[what].one));
    if (what == STATS_GAP)
        add_gap_totals(to, s);
    if (f->example.len)
        buf_printf(to, "%s: ",
                   f->count < 2               ? ""
                   : what == STATS_UNANSWERED ? "; one of them"
                                              : "; the first");
    buf_add(to, f->example);
    if (f->seq)
        buf_printf(to, " (%sseq %llu)", f->count > 1 ? "first: " : "",
                   (unsigned long long)f->seq);
}

void findings_collect(struct finding_list *to, const struct stats *s,
                      const bool ignored[STATS_FINDING_COUNT])
{
    struct buf text;

    buf_init(&text, 16 * STATS_TEXT);
    for (enum stats_finding_kind what = 0; what < STATS_FINDING_COUNT; what++) {
        if (!s->findings[what].count || (ignored && ignored[what]))
            continue;
        buf_clear(&text);
        add_sentence(&text, s, what);
        finding_list_add(to, &(struct finding){ .rule = str_z(finding_texts[what].id),
                                                .severity = FINDING_ERROR,
                                                .message = buf_str(&text),
                                                .count = s->findings[what].count,
                                                .seq = s->findings[what].seq,
                                                .line = s->findings[what].line });
    }
    buf_release(&text);
}

static void write_json(struct json_out *o, const struct finding *f)
{
    json_out_object(o);
    json_out_key_str(o, STR("rule"), f->rule);
    json_out_key_int(o, STR("count"), (int64_t)f->count);
    if (f->seq)
        json_out_key_int(o, STR("seq"), (int64_t)f->seq);
    if (f->line)
        json_out_key_int(o, STR("line"), (int64_t)f->line);
    if (f->subject.len)
        json_out_key_str(o, STR("subject"), f->subject);
    if (f->path.len)
        json_out_key_str(o, STR("path"), f->path);
    json_out_key_str(o, STR("message"), f->message);
    json_out_end_object(o);
}

void findings_write_json(struct json_out *o, const struct finding_list *l)
{
    json_out_key(o, STR("findings"));
    json_out_array(o);
    for (size_t i = 0; i < l->count; i++)
        write_json(o, &l->at[i]);
    json_out_end_array(o);
}
