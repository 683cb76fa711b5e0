/* format/jsonrpc.c - the format of bare JSON-RPC messages, one per line.
 *
 * Lines have no direction, so it is inferred (format/transcript.h). A message may have its time
 * as `timestamp_ms` or `timestamp`, in milliseconds. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/ndjson.h"
#include "format/transcript.h"

enum { HEAD_LEAST = 64 }; /* bytes in which all formats can be told apart */

struct jsonrpc {
    struct ndjson lines;
    struct transcript transcript;
};

static void *jsonrpc_open(void)
{
    struct jsonrpc *s = mem_new(struct jsonrpc);

    ndjson_init(&s->lines);
    transcript_init(&s->transcript, FORMAT_RULES_NONE);
    return s;
}

static void jsonrpc_close(void *state)
{
    struct jsonrpc *s = state;

    ndjson_release(&s->lines);
    transcript_release(&s->transcript);
    free(s);
}

static void jsonrpc_set_rules(void *state, enum format_rules rules)
{
    struct jsonrpc *s = state;

    transcript_release(&s->transcript);
    transcript_init(&s->transcript, rules);
}

static void jsonrpc_resync(void *state)
{
    struct jsonrpc *s = state;

    ndjson_resync(&s->lines);
}

/* Whether a message has members that other programs add (format/mcporter.c). */
static bool has_metadata(struct json_val message)
{
    return json_exists(json_get(message, STR("_meta")));
}

static bool is_complete(struct str value)
{
    struct json_fault fault;
    struct json j;
    size_t used;
    bool is;

    json_init(&j);
    is = json_scan_first(&j, value, &used, &fault);
    json_release(&j);
    return is;
}

/* Whether it may be a message that mcporter recorded. */
static bool has_doubt(struct str head)
{
    return format_rank(&mcporter_format, head) == PROBE_SURE ||
           (head.len < HEAD_LEAST && !is_complete(head));
}

/* A batch is recognised, too, so that it can be rejected as such. */
static enum probe_rank jsonrpc_probe(struct str head)
{
    head = str_trim(head);
    if (str_starts(head, STR("[")))
        return transcript_probe(str_trim(str_skip(head, 1))) ? PROBE_WEAK : PROBE_NONE;
    if (!transcript_probe(head))
        return PROBE_NONE;
    return has_doubt(head) ? PROBE_WEAK : PROBE_SURE;
}

/* A batch is no damage, but not supported by this format. */
static enum next_result reject_batch(const struct window *w, size_t at, struct err *e)
{
    format_error(w, at, e, "a batch: a line must be one JSON-RPC message");
    err_hint(e, "write its messages on lines of their own: jq -c 'if type == \"array\" then "
                ".[] else . end'");
    return NEXT_ERROR;
}

static bool is_foreign(const struct window *w, struct json_val line, struct err *e)
{
    return (!transcript_is_message(line) || has_metadata(line)) &&
           format_is_foreign(w, &jsonrpc_format, line, e);
}

static enum next_result jsonrpc_next(void *state, const struct window *w, struct consumed *t,
                                     struct record *r, struct err *e)
{
    struct jsonrpc *s = state;
    enum next_result next = ndjson_next(&s->lines, w, t, e);
    struct json_val line = json_root(&s->lines.json);
    struct transcript_place place = { .window = w, .at = json_offset(line) };

    if (next != NEXT_RECORD)
        return next;
    t->fatal = json_type(line) == JSON_ARRAY && json_count(line);
    if (t->fatal)
        return reject_batch(w, place.at, e);
    if (json_type(line) != JSON_OBJECT)
        return format_error(w, place.at, e, "a line must be one JSON-RPC message, an object");
    t->fatal = is_foreign(w, line, e);
    if (t->fatal)
        return NEXT_ERROR;
    *r = (struct record){ 0 };
    if (!transcript_check_members(&s->transcript, &place, line, e) ||
        !transcript_read(&s->transcript, &place, line, NULL, false, r, e))
        return NEXT_ERROR;
    ndjson_set_message(&s->lines, line, t);
    return NEXT_RECORD;
}

static void jsonrpc_put(void *state, struct buf *to, const struct record *r)
{
    struct json_val message;
    struct json j;

    (void)state;
    json_init(&j);
    message = transcript_message(r, &j);
    if (json_exists(message)) {
        buf_add(to, json_raw(message));
        buf_add_ch(to, '\n');
    }
    json_release(&j);
}

const struct format jsonrpc_format = {
    .name = "jsonrpc",
    .about = "bare JSON-RPC messages, one per line",
    .ext = { ".jsonrpc" },
    .keeps = FEATURE_BYTES | FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED | FEATURE_ORDER,
    .line_based = true,
    .probe = jsonrpc_probe,
    .open = jsonrpc_open,
    .next = jsonrpc_next,
    .close = jsonrpc_close,
    .set_rules = jsonrpc_set_rules,
    .resync = jsonrpc_resync,
    .put = jsonrpc_put,
};
