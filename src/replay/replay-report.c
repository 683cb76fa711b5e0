#include "replay/replay-report.h"

#include <stdlib.h>

#include "base/mem.h"
#include "json/write.h"

enum { REQUESTS_LISTED = 1000, NAME_KEPT = 1000, RULE_MAX = 1 << 20 };

void replay_report_init(struct replay_report *r, const struct index *idx,
                        const struct match_options *match)
{
    *r = (struct replay_report){ .index = idx, .match = match };
    r->rule_requests = mem_alloc(match_reason_rule_count(match) * sizeof *r->rule_requests);
    used_set_init(&r->used, idx->call_count);
    used_set_init(&r->skipped, idx->call_count);
    used_set_init(&r->token_calls, idx->call_count);
}

void replay_report_release(struct replay_report *r)
{
    used_set_release(&r->used);
    used_set_release(&r->skipped);
    used_set_release(&r->token_calls);
    free(r->rule_requests);
    arena_release(&r->arena);
}

static void mark_call(struct used_set *strands, uint64_t *count, uint32_t call)
{
    *count += !used_set_has(strands, call);
    used_set_mark(strands, call, true);
}

static void mark_skipped(struct replay_report *r, uint32_t call)
{
    mark_call(&r->skipped, &r->skipped_count, call);
}

/* Marks all unused calls before the one found. Each call is looked at once per client. */
static void note_skipped(struct replay_report *r, const struct match *m,
                         const struct used_set *used)
{
    const struct recorded_call *ops = r->index->calls;

    mark_skipped(r, m->skipped_first);
    for (uint32_t call = m->skipped_after + 1; call < m->call; call++)
        if (ops[call].session == ops[m->call].session && ops[call].flags & CALL_MATCHABLE &&
            !used_set_has(used, call))
            mark_skipped(r, call);
}

void replay_report_add_match(struct replay_report *r, const struct match *m,
                             const struct used_set *used)
{
    r->requests++;
    r->matched += m->outcome == MATCH_FOUND;
    r->repeated += m->outcome == MATCH_REPEAT;
    r->from_other_session += m->from_other_session;
    r->params_differ += m->params_differ;
    r->redacted += (r->index->calls[m->call].flags & CALL_REDACTED) != 0;
    used_set_mark(&r->used, m->call, true);
    r->ambiguous += m->ambiguous_with != 0;
    if (m->skipped_first)
        note_skipped(r, m, used);
}

void replay_report_add_reason(struct replay_report *r, uint32_t call,
                              const struct match_reason *why)
{
    struct replay_report_reason *kept = &r->reasons[r->reason_count];
    bool ignored = false;

    for (size_t i = 0; i < why->rule_count; i++) {
        r->rule_requests[why->rules[i]]++;
        ignored = ignored || match_reason_kind(r->match, why->rules[i]) == MATCH_RULE_IGNORE;
    }
    r->values_ignored += ignored;
    if (!why->rule_count || r->reason_count == REPLAY_REPORT_MAX)
        return;
    *kept = (struct replay_report_reason){ .call = call,
                                           .path_count = why->path_count,
                                           .rule_count = why->rule_count };
    memcpy(kept->rules, why->rules, why->rule_count * sizeof *why->rules);
    for (size_t i = 0; i < why->path_count; i++)
        kept->paths[i] = arena_str(&r->arena, why->paths[i].path);
    r->reason_count++;
}

uint64_t replay_report_rule_requests(const struct replay_report *r, enum match_rule_kind kind)
{
    uint64_t sum = 0;

    if (kind == MATCH_RULE_IGNORE)
        return r->values_ignored;
    for (size_t i = 0; i < match_reason_rule_count(r->match); i++)
        if (match_reason_kind(r->match, i) == kind)
            sum += r->rule_requests[i];
    return sum;
}

void replay_report_write_rules(const struct replay_report *r, enum match_rule_kind kind,
                               struct buf *to)
{
    size_t written = 0;

    for (size_t i = 0; i < match_reason_rule_count(r->match); i++) {
        if (!r->rule_requests[i] || match_reason_kind(r->match, i) != kind)
            continue;
        buf_add(to, written++ ? STR(", ") : STR_NONE);
        match_reason_write(r->match, i, to);
        buf_printf(to, " (%llu)", (unsigned long long)r->rule_requests[i]);
    }
}

void replay_report_add_token(struct replay_report *r, uint32_t call)
{
    mark_call(&r->token_calls, &r->token_count, call);
}

void replay_report_add_refusal(struct replay_report *r)
{
    r->version_refused++;
}

void replay_report_add_server_request(struct replay_report *r, uint32_t call, struct str method,
                                      enum server_request_outcome what)
{
    r->server_requests[what]++;
    if (what == SERVER_REQUEST_SENT || r->note_count == REPLAY_REPORT_MAX)
        return;
    r->notes[r->note_count++] = (struct replay_report_note){
        .method = arena_truncated(&r->arena, method, NAME_KEPT), .outcome = what, .call = call
    };
}

void replay_report_add_miss(struct replay_report *r, const struct mcp_message *live,
                            const struct miss_report *why)
{
    struct replay_report_miss *m = &r->misses[r->miss_count];

    r->requests++;
    r->unmatched++;
    if (r->miss_count == REPLAY_REPORT_MAX)
        return;
    m->method = arena_truncated(&r->arena, live->method, NAME_KEPT);
    m->subject = arena_truncated(&r->arena, why->subject, NAME_KEPT);
    m->reason = why->reason;
    m->text = arena_str(&r->arena, buf_str(&why->log_line));
    m->nearest = why->nearest;
    r->miss_count++;
}

uint32_t replay_report_next_unused(const struct replay_report *r, uint32_t call)
{
    while (++call < r->index->call_count)
        if (r->index->calls[call].flags & CALL_MATCHABLE && !used_set_has(&r->used, call))
            return call;
    return 0;
}

uint64_t replay_report_unused_count(const struct replay_report *r)
{
    uint64_t count = 0;

    for (uint32_t call = 0; (call = replay_report_next_unused(r, call));)
        count++;
    return count;
}

struct str replay_report_read_subject(const struct replay_report *r, uint32_t call,
                                      struct index_message *t)
{
    struct err e = ERR_NONE;
    struct json_val root;

    if (!index_read_call(r->index, call, t, &root, &e))
        return STR_NONE;
    return json_text(
        mcp_subject(index_method(r->index, call)->name, json_get(root, STR("params"))),
        &t->arena);
}

void replay_report_write_name(const struct replay_report *r, uint32_t call, struct buf *to)
{
    struct index_message t;
    struct str subject;

    index_message_init(&t);
    subject = replay_report_read_subject(r, call, &t);
    buf_printf(to, "#%lu %.*s", (unsigned long)r->index->calls[call].seq,
               STR_ARG(index_method(r->index, call)->name));
    if (subject.len)
        buf_printf(to, " %.*s", STR_ARG(subject));
    index_message_release(&t);
}

static void write_request(struct json_out *o, const struct replay_report *r, uint32_t call)
{
    struct index_message t;
    struct str subject;

    index_message_init(&t);
    subject = replay_report_read_subject(r, call, &t);
    json_out_object(o);
    json_out_key_int(o, STR("seq"), r->index->calls[call].seq);
    json_out_key_str(o, STR("method"), index_method(r->index, call)->name);
    if (subject.len)
        json_out_key_str(o, STR("subject"), subject);
    json_out_end_object(o);
    index_message_release(&t);
}

static void write_miss(struct json_out *o, const struct replay_report *r,
                       const struct replay_report_miss *m)
{
    json_out_object(o);
    json_out_key_str(o, STR("method"), m->method);
    if (m->subject.len)
        json_out_key_str(o, STR("subject"), m->subject);
    json_out_key_str(o, STR("reason"), str_z(m->reason));
    json_out_key_str(o, STR("text"), m->text);
    if (m->nearest) {
        json_out_key(o, STR("nearest"));
        write_request(o, r, m->nearest);
    }
    json_out_end_object(o);
}

static void write_counts(struct json_out *o, const struct replay_report *r)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        { "requests", r->requests },
        { "matched", r->matched },
        { "repeated", r->repeated },
        { "from_other_session", r->from_other_session },
        { "differing_params", r->params_differ },
        { "redacted_params", r->redacted },
        { "ignored_params", r->values_ignored },
        { "ambiguous", r->ambiguous },
        { "skipped", r->skipped_count },
        { "unsupported_protocol_version", r->version_refused },
        { "unmatched", r->unmatched },
        { "forwarded", r->forwarded },
        { "unused", replay_report_unused_count(r) },
        { "server_requests", r->server_requests[SERVER_REQUEST_SENT] },
        { "server_requests_differing", r->server_requests[SERVER_REQUEST_DIFFERS] },
        { "server_requests_unsupported", r->server_requests[SERVER_REQUEST_UNSUPPORTED] },
        { "server_requests_unanswered", r->server_requests[SERVER_REQUEST_NO_RESPONSE] },
        { "token_text_left", r->token_count },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_out_key_int(o, str_z(rows[i].name), (int64_t)rows[i].count);
}

/* Writes the members of a rule into the current object. */
static void write_rule(struct json_out *o, const struct match_options *match, size_t rule)
{
    struct buf value;

    buf_init(&value, RULE_MAX);
    json_out_key_str(o, STR("rule"), str_z(match_reason_describe(match, rule, &value)));
    if (value.len)
        json_out_key_str(o, STR("value"), buf_str(&value));
    buf_release(&value);
}

static void write_rules(struct json_out *o, const struct replay_report *r)
{
    json_out_key(o, STR("match_rules"));
    json_out_array(o);
    for (size_t i = 0; i < match_reason_rule_count(r->match); i++) {
        if (!match_reason_is_listed(r->match, i))
            continue;
        json_out_object(o);
        write_rule(o, r->match, i);
        json_out_key_int(o, STR("requests"), (int64_t)r->rule_requests[i]);
        json_out_end_object(o);
    }
    json_out_end_array(o);
}

static void write_reason(struct json_out *o, const struct replay_report *r,
                         const struct replay_report_reason *why)
{
    json_out_object(o);
    json_out_key(o, STR("request"));
    write_request(o, r, why->call);
    json_out_key(o, STR("rules"));
    json_out_array(o);
    for (size_t i = 0; i < why->rule_count; i++) {
        json_out_object(o);
        write_rule(o, r->match, why->rules[i]);
        json_out_end_object(o);
    }
    json_out_end_array(o);
    json_out_key(o, STR("paths"));
    json_out_array(o);
    for (size_t i = 0; i < why->path_count; i++)
        json_out_str(o, why->paths[i]);
    json_out_end_array(o);
    json_out_end_object(o);
}

static void write_note(struct json_out *o, const struct replay_report *r,
                       const struct replay_report_note *m)
{
    static const char *const words[SERVER_REQUEST_OUTCOMES] = {
        [SERVER_REQUEST_DIFFERS] = "differs",
        [SERVER_REQUEST_UNSUPPORTED] = "unsupported",
        [SERVER_REQUEST_NO_RESPONSE] = "unanswered"
    };

    json_out_object(o);
    json_out_key_str(o, STR("method"), m->method);
    json_out_key_str(o, STR("outcome"), str_z(words[m->outcome]));
    if (!(r->index->calls[m->call].flags & CALL_PREAMBLE)) {
        json_out_key(o, STR("request"));
        write_request(o, r, m->call);
    }
    json_out_end_object(o);
}

static uint32_t next_marked(const struct replay_report *r, const struct used_set *strands,
                            uint32_t call)
{
    while (++call < r->index->call_count)
        if (used_set_has(strands, call))
            return call;
    return 0;
}

static uint32_t next_skipped(const struct replay_report *r, uint32_t call)
{
    return next_marked(r, &r->skipped, call);
}

uint32_t replay_report_next_token(const struct replay_report *r, uint32_t call)
{
    return r->token_count ? next_marked(r, &r->token_calls, call) : 0;
}

/* Writes the first calls that `next` finds, as an array. */
static void write_requests(struct json_out *o, const struct replay_report *r, const char *name,
                           uint32_t (*next)(const struct replay_report *r, uint32_t call))
{
    size_t listed = 0;

    json_out_key(o, str_z(name));
    json_out_array(o);
    for (uint32_t call = 0; listed++ < REQUESTS_LISTED && (call = next(r, call));)
        write_request(o, r, call);
    json_out_end_array(o);
}

static void write_recording(struct json_out *o, const struct replay_report *r)
{
    const struct replay_report_recording *how = &r->recording;

    if (!how->mode)
        return;
    json_out_key(o, STR("recording"));
    json_out_object(o);
    json_out_key_str(o, STR("mode"), str_z(how->mode));
    json_out_key_int(o, STR("replayed"), (int64_t)(r->matched + r->repeated));
    json_out_key_int(o, STR("appended"), (int64_t)how->appended);
    json_out_key_int(o, STR("rewritten"), (int64_t)how->rewritten);
    json_out_key(o, STR("written"));
    if (how->written)
        json_out_str(o, str_z(how->written));
    else
        json_out_null(o);
    json_out_end_object(o);
}

void replay_report_write(const struct replay_report *r, struct buf *to, int exit_code)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("replay"));
    json_out_key_int(&o, STR("exit_code"), exit_code);
    write_counts(&o, r);
    json_out_key(&o, STR("unmatched_requests"));
    json_out_array(&o);
    for (size_t i = 0; i < r->miss_count; i++)
        write_miss(&o, r, &r->misses[i]);
    json_out_end_array(&o);
    write_rules(&o, r);
    json_out_key(&o, STR("rule_matches"));
    json_out_array(&o);
    for (size_t i = 0; i < r->reason_count; i++)
        write_reason(&o, r, &r->reasons[i]);
    json_out_end_array(&o);
    write_requests(&o, r, "skipped_requests", next_skipped);
    json_out_key(&o, STR("server_request_notes"));
    json_out_array(&o);
    for (size_t i = 0; i < r->note_count; i++)
        write_note(&o, r, &r->notes[i]);
    json_out_end_array(&o);
    write_requests(&o, r, "token_text_left_requests", replay_report_next_token);
    write_requests(&o, r, "unused_requests", replay_report_next_unused);
    write_recording(&o, r);
    json_out_end_object(&o);
}
