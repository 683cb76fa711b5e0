#include "trace/combine.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/features.h"

/* mcpreel never writes larger numbers, and many programs cannot hold them. */
#define SEQ_MAX ((uint64_t)1 << 53)

struct combine_seq {
    uint64_t old_seq, new_seq;
};

static bool combine_put(struct sink *self, const struct record *r, struct err *e);

void combine_init(struct combine *j, size_t inputs, struct sink *to)
{
    BUG_IF(!inputs);
    *j = (struct combine){ .sink = { combine_put }, .next_sink = to, .input_count = inputs };
    j->inputs = mem_alloc(inputs * sizeof *j->inputs);
    recording_info_init(&j->info);
    pairing_init(&j->pairs);
    json_init(&j->json);
    combine_select_input(j, 0, ~0u);
}

void combine_release(struct combine *j)
{
    for (size_t i = 0; i < j->input_count; i++)
        free(j->inputs[i].recent_seqs);
    free(j->inputs);
    recording_info_release(&j->info);
    pairing_release(&j->pairs);
    json_release(&j->json);
    arena_release(&j->scratch);
    arena_release(&j->footer_texts);
}

void combine_select_input(struct combine *j, size_t input, unsigned features)
{
    BUG_IF(input >= j->input_count);
    j->input = &j->inputs[input];
    j->input->features = features;
}

/* Whether there is more than one recording, so that numbers must change. */
static bool is_combined(const struct combine *j)
{
    return j->input_count > 1 || j->recordings > 1;
}

static struct combine_input *number_owner_of(const struct combine *j)
{
    return j->input->number_owner ? j->input->number_owner : j->input;
}

/* Maps a number of the current input to one that no other input has, without a table: input i
 * of n gets the numbers i + 1, i + 1 + n, i + 1 + 2 * n, ... */
static uint64_t distinct_number(struct combine *j, enum combine_number kind, uint64_t n)
{
    struct combine_input *l = number_owner_of(j);
    uint64_t max = (uint64_t)INT64_MAX / j->input_count - 1;

    n = n ? n : 1;
    n = n < max - l->base[kind] ? n + l->base[kind] : max;
    if (n > l->top[kind])
        l->top[kind] = n;
    return is_combined(j) ? (n - 1) * j->input_count + (uint64_t)(l - j->inputs) + 1 : n;
}

static void renumber_field(struct combine *j, struct record *r, enum record_has has,
                           enum combine_number kind, uint64_t *field)
{
    uint64_t n;

    if (!(r->has & has))
        return;
    n = distinct_number(j, kind, *field);
    if (is_combined(j))
        *field = n;
}

/* `batch` is JSON: {"id":..,"index":..,"count":..}. Anything else stays as it is. */
static void renumber_batch(struct combine *j, struct record *r)
{
    struct json_fault fault;
    struct json_val value;
    int64_t id, index, count;
    uint64_t n;

    if (!r->message.batch.at || !json_scan(&j->json, r->message.batch, &fault))
        return;
    value = json_root(&j->json);
    if (!json_int(json_get(value, STR("id")), &id) || id < 0 ||
        !json_int(json_get(value, STR("index")), &index) ||
        !json_int(json_get(value, STR("count")), &count))
        return;
    n = distinct_number(j, COMBINE_BATCH, (uint64_t)id);
    if (is_combined(j))
        r->message.batch =
            arena_printf(&j->scratch, "{\"id\":%llu,\"index\":%lld,\"count\":%lld}",
                         (unsigned long long)n, (long long)index, (long long)count);
}

/* `resumes` is JSON: {"stream":..,"after":..}. */
static void renumber_resumed(struct combine *j, struct record *r)
{
    struct json_fault fault;
    struct json_val value;
    int64_t stream, after;

    if (!is_combined(j) || !r->http.resumes.at || !json_scan(&j->json, r->http.resumes, &fault))
        return;
    value = json_root(&j->json);
    if (!json_int(json_get(value, STR("stream")), &stream) || stream < 0 ||
        !json_int(json_get(value, STR("after")), &after))
        return;
    r->http.resumes =
        arena_printf(&j->scratch, "{\"stream\":%llu,\"after\":%lld}",
                     (unsigned long long)distinct_number(j, COMBINE_STREAM, (uint64_t)stream),
                     (long long)after);
}

static void renumber_record(struct combine *j, struct record *r)
{
    /* Else the ids of all inputs without connections would share one scope. */
    if (r->kind == RECORD_MESSAGE && !(r->has & HAS_CONN) && is_combined(j)) {
        r->has |= HAS_CONN;
        r->conn = 1;
    }
    renumber_field(j, r, HAS_CONN, COMBINE_CONN, &r->conn);
    renumber_field(j, r, HAS_SESSION, COMBINE_SESSION, &r->session);
    renumber_field(j, r, HAS_EXCHANGE, COMBINE_EXCHANGE, &r->exchange);
    renumber_field(j, r, HAS_STREAM, COMBINE_STREAM, &r->stream);
    if (r->kind == RECORD_MESSAGE)
        renumber_batch(j, r);
    else if (r->kind == RECORD_HTTP_RESPONSE)
        renumber_resumed(j, r);
}

/* Only HTTP redelivers messages. */
static void remember_seq(struct combine_input *l, const struct record *r, uint64_t now)
{
    uint64_t old = r->message.seq;

    if (!(r->has & HAS_SEQ) || !(r->has & (HAS_EXCHANGE | HAS_STREAM)))
        return;
    if (!l->recent_seqs)
        l->recent_seqs = mem_alloc(COMBINE_RECENT_SEQS * sizeof *l->recent_seqs);
    l->recent_seqs[old % COMBINE_RECENT_SEQS] = (struct combine_seq){ old, now };
}

static void update_redelivers(struct combine *j, struct record *r)
{
    const struct combine_input *owner = number_owner_of(j);
    uint64_t old = r->message.redelivers;
    const struct combine_seq *first = NULL;

    if (!(r->has & HAS_REDELIVERS) || !j->renumbered)
        return;
    if (owner->recent_seqs && owner->recent_seqs[old % COMBINE_RECENT_SEQS].old_seq == old)
        first = &owner->recent_seqs[old % COMBINE_RECENT_SEQS];
    if (first && first->new_seq)
        r->message.redelivers = first->new_seq;
    else
        r->has &= ~(unsigned)HAS_REDELIVERS;
}

/* Rising numbers stay as they are: users refer to messages by them. */
static void assign_seq(struct combine *j, struct record *r)
{
    uint64_t seq = r->message.seq;

    if (j->input_count > 1 || (r->has & HAS_SEQ && (seq <= j->seq || seq > SEQ_MAX)))
        seq = j->seq + 1;
    else if (!(r->has & HAS_SEQ))
        return;
    update_redelivers(j, r);
    remember_seq(number_owner_of(j), r, seq);
    j->renumbered |= !(r->has & HAS_SEQ) || seq != r->message.seq;
    j->seq = r->message.seq = seq;
    r->has |= HAS_SEQ;
}

static void update_info(struct combine *j, const struct record *r)
{
    const struct pairing_request *request = NULL;
    struct mcp_message m = mcp_classify(r->message.msg, &j->scratch);

    j->messages[r->message.dir]++;
    j->errors += recording_info_is_error(&m);
    if (!j->add_header_footer)
        return;
    if (m.kind == MCP_REQUEST)
        pairing_add_request(&j->pairs, r, &m, 0);
    else if (mcp_is_response(&m))
        request = pairing_match_response(&j->pairs, r, &m);
    recording_info_update(&j->info, r->message.dir, &m, request ? request->method : STR_NONE);
}

/* Changes `us` from the start of its input to the start of all inputs. */
static void set_time(struct combine *j, struct record *r)
{
    const struct timestamp *t = &j->input->time;
    int64_t before = j->us_known ? j->last_us : 0;

    if (t->now_known && (!j->latest.now_known || t->now_us > j->latest.now_us))
        j->latest = *t;
    if ((t->start_known || t->now_known) && !j->start_known) {
        j->start_known = true;
        j->start_us = t->start_known ? t->start_us : t->now_us;
    }
    if (!(r->has & HAS_US) || r->kind == RECORD_HEADER)
        return;
    if (is_combined(j)) {
        if (t->start_known && j->start_known)
            r->us = timestamp_add(r->us, timestamp_add(t->start_us, -j->start_us));
        if (r->us < before)
            r->us = before;
    }
    if (!j->us_known || r->us > j->last_us)
        j->last_us = r->us;
    j->us_known = true;
}

static bool forward_record(struct combine *j, const struct record *r, struct err *e)
{
    j->records++;
    return j->next_sink->put(j->next_sink, r, e);
}

static bool write_default_header(struct combine *j, struct err *e)
{
    struct record r = { .kind = RECORD_HEADER };

    if (j->input->time.now_known) {
        r.has = HAS_WALL;
        r.wall_us = j->start_known ? j->start_us : j->input->time.now_us;
    }
    return forward_record(j, &r, e);
}

/* Ends the current recording of an input. Records before the first header are no recording if
 * the input has a header. */
static void end_recording(struct combine *j, struct combine_input *l, bool last)
{
    if (l->seen_record && !l->seen_footer && l->features & FEATURE_END &&
        (l->seen_header || last))
        j->missing_footer = true;
    l->seen_header = !last;
    l->seen_record = l->seen_footer = false;
}

static struct combine_input *find_series(struct combine *j, const struct record *r)
{
    for (size_t i = 0; i < j->input_count && r->has & HAS_PART; i++)
        if (j->inputs[i].is_first_part && j->inputs[i].series_date_us == r->wall_us)
            return &j->inputs[i];
    return NULL;
}

/* A part of a rotated recording continues the numbers of the first part seen; any other
 * recording gets numbers of its own. */
static void begin_recording(struct combine *j, struct combine_input *l, const struct record *r)
{
    struct combine_input *first = find_series(j, r);

    j->has_parts |= (r->has & HAS_PART) != 0;
    if (first == l)
        return;
    memcpy(l->base, l->top, sizeof l->base);
    l->number_owner = first;
    l->is_first_part = !first && r->has & HAS_PART;
    l->series_date_us = r->wall_us;
}

static bool put_header(struct combine *j, struct record *r, struct err *e)
{
    if (j->records)
        return true;
    if (j->input_count > 1)
        r->header.source = STR_NONE; /* no longer the contents of one file */
    if (is_combined(j) && j->start_known) {
        r->wall_us = j->start_us;
        r->us = 0;
    }
    if (is_combined(j))
        r->has &= ~(unsigned)HAS_PART;
    return forward_record(j, r, e);
}

static struct str copy_text(struct combine *j, struct str text)
{
    return text.at ? arena_str(&j->footer_texts, text) : text;
}

static void keep_footer(struct combine *j, const struct record *r)
{
    const struct record before = j->footer;
    struct record_footer *f = &j->footer.footer;
    struct arena old = j->footer_texts;

    j->footer_texts = (struct arena){ 0 };
    j->footer = *r;
    f->protocol = copy_text(j, f->protocol.at ? f->protocol : before.footer.protocol);
    f->server_info =
        copy_text(j, f->server_info.at ? f->server_info : before.footer.server_info);
    f->client_info =
        copy_text(j, f->client_info.at ? f->client_info : before.footer.client_info);
    j->footer.unknown_members = copy_text(j, r->unknown_members);
    j->footer.has |= before.has & HAS_ERRORS;
    if (!(r->has & HAS_EXIT_CODE) && before.has & HAS_EXIT_CODE) {
        j->footer.has |= HAS_EXIT_CODE;
        f->exit_code = before.footer.exit_code;
    }
    j->seen_footer = j->input->seen_footer = true;
    arena_release(&old);
}

static bool combine_put(struct sink *self, const struct record *given, struct err *e)
{
    struct combine *j = (struct combine *)self;
    struct combine_input *l = j->input;
    struct record r = *given;

    arena_clear(&j->scratch);
    if (r.kind == RECORD_HEADER) {
        end_recording(j, l, false);
        begin_recording(j, l, &r);
    }
    j->recordings += !l->seen_record;
    l->seen_record = true;
    timestamp_update(&l->time, &r);
    set_time(j, &r);
    if (r.kind == RECORD_HEADER)
        return put_header(j, &r, e);
    if (r.kind == RECORD_FOOTER) {
        keep_footer(j, &r);
        return true;
    }
    if (!j->records && j->add_header_footer && !write_default_header(j, e))
        return false;
    renumber_record(j, &r);
    if (r.kind == RECORD_MESSAGE) {
        assign_seq(j, &r);
        update_info(j, &r);
    }
    return forward_record(j, &r, e);
}

/* From the start to the last record that has a time, on either clock. */
static int64_t total_duration_us(const struct combine *j)
{
    int64_t us = j->us_known ? j->last_us : 0, dated = 0;

    if (j->start_known && j->latest.now_known)
        dated = timestamp_add(j->latest.now_us, -j->start_us);
    return dated > us ? dated : us;
}

static void set_footer_info(struct record_footer *f, const struct recording_info *info)
{
    if (info->protocol.len)
        f->protocol = buf_str(&info->protocol);
    if (info->server_info.len)
        f->server_info = buf_str(&info->server_info);
    if (info->client_info.len)
        f->client_info = buf_str(&info->client_info);
}

/* Sets the time of the footer. The footer of a single recording keeps its own; if it has only a
 * date, `us` is computed from the start. */
static void set_end(const struct combine *j, struct record *r)
{
    if (j->seen_footer && !is_combined(j)) {
        if ((r->has & (HAS_WALL | HAS_US)) != HAS_WALL || !j->start_known)
            return;
        r->has |= HAS_US;
        r->us = timestamp_add(r->wall_us, -j->start_us);
        return;
    }
    r->has &= ~(unsigned)(HAS_US | HAS_WALL);
    if (j->us_known) {
        r->has |= HAS_US;
        r->us = total_duration_us(j);
    }
    if (j->latest.now_known) {
        r->has |= HAS_WALL;
        r->wall_us = j->latest.now_us;
    }
    r->footer.duration_ms = (uint64_t)total_duration_us(j) / 1000;
}

bool combine_finish(struct combine *j, struct err *e)
{
    struct record r = j->footer;

    for (size_t i = 0; i < j->input_count; i++)
        end_recording(j, &j->inputs[i], true);
    if (!j->add_header_footer && (j->missing_footer || !j->records))
        return true;
    if (!j->records && !write_default_header(j, e))
        return false;
    r.kind = RECORD_FOOTER;
    set_end(j, &r);
    if (!j->seen_footer) {
        r.has |= HAS_ERRORS;
        set_footer_info(&r.footer, &j->info);
    }
    r.has |= HAS_TOTALS;
    if (j->has_parts && is_combined(j)) /* footers of parts have no error count */
        r.has |= HAS_ERRORS;
    r.footer.messages = combine_message_count(j);
    r.footer.client_messages = j->messages[TO_SERVER];
    r.footer.server_messages = j->messages[TO_CLIENT];
    r.footer.errors = j->errors;
    return forward_record(j, &r, e);
}
