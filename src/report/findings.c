#include "report/findings.h"

#include "base/units.h"

struct finding_text {
    const char *id;
    const char *one, *many; /* texts after the count; `many` NULL: the count is not written */
};

static const struct finding_text finding_texts[STATS_FINDING_COUNT] = {
    [STATS_NO_HEADER] = { "no-header", "the file does not start with a header", NULL },
    [STATS_EXTRA_HEADER] = { "extra-header", "more header: there are several recordings in it",
                             "more headers: there are several recordings in it" },
    [STATS_NO_FOOTER] = { "no-footer", "there is no footer: the recorder did not end well",
                          NULL },
    [STATS_AFTER_FOOTER] = { "after-footer", "line after the footer",
                             "lines after the footer" },
    [STATS_FOOTER_DIFFERS] = { "footer-differs", "the footer counts otherwise", NULL },
    [STATS_DAMAGED_END] = { "damaged-end", "byte at the end is damaged; all before it counts",
                            "bytes at the end are damaged; all before them counts" },
    [STATS_GAP] = { "gap", "gap", "gaps" },
    [STATS_UNKNOWN_LINE] = { "unknown-line", "line of an unknown type",
                             "lines of unknown types" },
    [STATS_NOT_JSONRPC] = { "not-jsonrpc", "message that is no JSON-RPC",
                            "messages that are no JSON-RPC" },
    [STATS_SERVER_NON_MESSAGE] = { "server-noise", "line from the server that is no message",
                                   "lines from the server that are no messages" },
    [STATS_CLIENT_NON_MESSAGE] = { "client-noise", "line from the client that is no message",
                                   "lines from the client that are no messages" },
    [STATS_UNMATCHED_RESPONSE] = { "unasked-answer", "answer that nobody asked for",
                                   "answers that nobody asked for" },
    [STATS_DUPLICATE_RESPONSE] = { "duplicate-answer",
                                   "answer to a request that was answered before",
                                   "answers to requests that were answered before" },
    [STATS_LATE_RESPONSE] = { "late-answer", "answer to a request that had been given up",
                              "answers to requests that had been given up" },
    [STATS_UNANSWERED] = { "unanswered", "request without an answer",
                           "requests without an answer" },
    [STATS_ORPHAN] = { "orphan-notification",
                       "notification about a request, token or subscription nobody saw",
                       "notifications about requests, tokens or subscriptions nobody saw" },
    [STATS_EVICTED] = { "too-many-open",
                        "operation not followed to its end: too many were open at a time",
                        "operations not followed to their end: too many were open at a time" },
    [STATS_ID_IN_USE] = { "id-in-use", "request with the id of another that still waited",
                          "requests with the id of another that still waited" },
    [STATS_DUPLICATE_KEY] = { "duplicate-key", "message with a member twice in its envelope",
                              "messages with a member twice in their envelope" },
    [STATS_SEQ_ORDER] = { "seq-order", "message whose seq does not rise",
                          "messages whose seq does not rise" },
    [STATS_TIME_ORDER] = { "time-order", "line whose time steps back",
                           "lines whose time steps back" },
    [STATS_INCOMPLETE_BATCH] = { "short-batch", "batch of which messages are missing",
                                 "batches of which messages are missing" },
    [STATS_UNLISTED_TOOL] = { "unlisted-tool", "call of a tool that no tools/list named",
                              "calls of tools that no tools/list named" },
    [STATS_TOOL_CHANGED] = { "tool-changed", "definition of a tool that changed",
                             "definitions of tools that changed" },
    [STATS_SERVER_EXIT] = { "server-exit", "server process that ended badly",
                            "server processes that ended badly" },
    [STATS_HTTP_FAILURE] = { "http-fault", "HTTP exchange that came to nothing",
                             "HTTP exchanges that came to nothing" },
    [STATS_LONE_SURROGATE] = { "lone-surrogate",
                               "message with half a surrogate pair: jq 1.6 does not take it",
                               "messages with half a surrogate pair: jq 1.6 does not take "
                               "them" },
    [STATS_TOO_DEEP] = { "too-deep", "message nested so deep that jq 1.6 does not take it",
                         "messages nested so deep that jq 1.6 does not take them" },
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
    return what;
}

static void add_gap_totals(struct buf *to, const struct stats *s)
{
    buf_add(to, STR(": "));
    units_write_count(to, s->gap_messages, "message", "messages");
    buf_add(to, STR(" ("));
    units_write_bytes(to, s->gap_bytes);
    buf_add(to, STR(") not kept"));
}

void findings_write_text(struct buf *to, const struct stats *s, enum stats_finding_kind what)
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

void findings_write_json(struct json_out *o, const struct stats *s,
                         enum stats_finding_kind what)
{
    const struct stats_finding *f = &s->findings[what];
    struct buf text;

    buf_init(&text, 16 * STATS_TEXT);
    findings_write_text(&text, s, what);
    json_out_object(o);
    json_out_key_str(o, STR("id"), str_z(finding_texts[what].id));
    json_out_key_int(o, STR("count"), (int64_t)f->count);
    if (f->seq)
        json_out_key_int(o, STR("seq"), (int64_t)f->seq);
    json_out_key_str(o, STR("text"), buf_str(&text));
    json_out_end_object(o);
    buf_release(&text);
}
