#include "trace/join.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/part.h"

/* Larger ones are no numbers of ours, and many programs cannot hold them. */
#define SEQ_MAX ((uint64_t)1 << 53)

struct join_seq {
    uint64_t old, now;
};

static bool join_put(struct sink *self, const struct record *r, struct err *e);

void join_init(struct join *j, size_t lanes, struct sink *to)
{
    BUG_IF(!lanes);
    *j = (struct join){ .sink = { join_put }, .to = to, .lane_count = lanes };
    j->lanes = mem_alloc(lanes * sizeof *j->lanes);
    facts_init(&j->facts);
    pairing_init(&j->pairs);
    json_init(&j->json);
    join_from(j, 0, ~0u);
}

void join_release(struct join *j)
{
    for (size_t i = 0; i < j->lane_count; i++)
        free(j->lanes[i].recent);
    free(j->lanes);
    facts_release(&j->facts);
    pairing_release(&j->pairs);
    json_release(&j->json);
    arena_release(&j->scratch);
    arena_release(&j->kept);
}

void join_from(struct join *j, size_t lane, unsigned parts)
{
    BUG_IF(lane >= j->lane_count);
    j->lane = &j->lanes[lane];
    j->lane->parts = parts;
}

/* Whether there is more than one recording, so that each has to give way. */
static bool is_joined(const struct join *j)
{
    return j->lane_count > 1 || j->recordings > 1;
}

static struct join_lane *numbers_of(const struct join *j)
{
    return j->lane->numbers ? j->lane->numbers : j->lane;
}

/* Lanes take turns, so that no number needs to be remembered: of two lanes one has the
 * odd numbers and the other the even. Numbers start at 1. */
static uint64_t apart(struct join *j, enum join_number kind, uint64_t n)
{
    struct join_lane *l = numbers_of(j);
    uint64_t max = (uint64_t)INT64_MAX / j->lane_count - 1;

    n = n ? n : 1;
    n = n < max - l->base[kind] ? n + l->base[kind] : max;
    if (n > l->top[kind])
        l->top[kind] = n;
    return is_joined(j) ? (n - 1) * j->lane_count + (uint64_t)(l - j->lanes) + 1 : n;
}

static void set_apart(struct join *j, struct record *r, enum record_has has,
                      enum join_number kind, uint64_t *field)
{
    uint64_t n;

    if (!(r->has & has))
        return;
    n = apart(j, kind, *field);
    if (is_joined(j))
        *field = n;
}

/* The place in a batch is a JSON object; of what is no such thing nothing is known. */
static void set_batch_apart(struct join *j, struct record *r)
{
    struct json_fault fault;
    struct json_val place;
    int64_t id, index, count;
    uint64_t n;

    if (!r->message.batch.at || !json_scan(&j->json, r->message.batch, &fault))
        return;
    place = json_root(&j->json);
    if (!json_int(json_get(place, STR("id")), &id) || id < 0 ||
        !json_int(json_get(place, STR("index")), &index) ||
        !json_int(json_get(place, STR("count")), &count))
        return;
    n = apart(j, JOIN_BATCH, (uint64_t)id);
    if (is_joined(j))
        r->message.batch =
            arena_printf(&j->scratch, "{\"id\":%llu,\"index\":%lld,\"count\":%lld}",
                         (unsigned long long)n, (long long)index, (long long)count);
}

/* So is the place where an answer goes on with another stream. */
static void set_resumed_apart(struct join *j, struct record *r)
{
    struct json_fault fault;
    struct json_val place;
    int64_t stream, after;

    if (!is_joined(j) || !r->http.resumes.at || !json_scan(&j->json, r->http.resumes, &fault))
        return;
    place = json_root(&j->json);
    if (!json_int(json_get(place, STR("stream")), &stream) || stream < 0 ||
        !json_int(json_get(place, STR("after")), &after))
        return;
    r->http.resumes = arena_printf(&j->scratch, "{\"stream\":%llu,\"after\":%lld}",
                                   (unsigned long long)apart(j, JOIN_STREAM, (uint64_t)stream),
                                   (long long)after);
}

static void set_numbers_apart(struct join *j, struct record *r)
{
    /* Ids of messages that name no connection would meet in the one without a name. */
    if (r->kind == RECORD_MESSAGE && !(r->has & HAS_CONN) && is_joined(j)) {
        r->has |= HAS_CONN;
        r->conn = 1;
    }
    set_apart(j, r, HAS_CONN, JOIN_CONN, &r->conn);
    set_apart(j, r, HAS_SESSION, JOIN_SESSION, &r->session);
    set_apart(j, r, HAS_EXCHANGE, JOIN_EXCHANGE, &r->exchange);
    set_apart(j, r, HAS_STREAM, JOIN_STREAM, &r->stream);
    if (r->kind == RECORD_MESSAGE)
        set_batch_apart(j, r);
    else if (r->kind == RECORD_HTTP_RESPONSE)
        set_resumed_apart(j, r);
}

/* Only on HTTP anything is delivered again. */
static void remember_seq(struct join_lane *l, const struct record *r, uint64_t now)
{
    uint64_t old = r->message.seq;

    if (!(r->has & HAS_SEQ) || !(r->has & (HAS_EXCHANGE | HAS_STREAM)))
        return;
    if (!l->recent)
        l->recent = mem_alloc(JOIN_RECENT * sizeof *l->recent);
    l->recent[old % JOIN_RECENT] = (struct join_seq){ old, now };
}

static void refer_anew(struct join *j, struct record *r)
{
    const struct join_lane *lane = numbers_of(j);
    uint64_t old = r->message.redelivers;
    const struct join_seq *first = NULL;

    if (!(r->has & HAS_REDELIVERS) || !j->renumbered)
        return;
    if (lane->recent && lane->recent[old % JOIN_RECENT].old == old)
        first = &lane->recent[old % JOIN_RECENT];
    if (first && first->now)
        r->message.redelivers = first->now;
    else
        r->has &= ~(unsigned)HAS_REDELIVERS;
}

/* Numbers that rise stay as they are: people may know a message by its own. */
static void number(struct join *j, struct record *r)
{
    uint64_t seq = r->message.seq;

    if (j->lane_count > 1 || (r->has & HAS_SEQ && (seq <= j->seq || seq > SEQ_MAX)))
        seq = j->seq + 1;
    else if (!(r->has & HAS_SEQ))
        return;
    refer_anew(j, r);
    remember_seq(numbers_of(j), r, seq);
    j->renumbered |= !(r->has & HAS_SEQ) || seq != r->message.seq;
    j->seq = r->message.seq = seq;
    r->has |= HAS_SEQ;
}

static void learn(struct join *j, const struct record *r)
{
    const struct pairing_request *asked = NULL;
    struct mcp_message m = mcp_classify(r->message.msg, &j->scratch);

    j->messages[r->message.dir]++;
    j->errors += facts_is_error(&m);
    if (!j->whole)
        return;
    if (m.kind == MCP_REQUEST)
        pairing_ask(&j->pairs, r, &m, 0);
    else if (mcp_is_response(&m))
        asked = pairing_answer(&j->pairs, r, &m);
    facts_see(&j->facts, r->message.dir, &m, asked ? asked->method : STR_NONE);
}

/* `us` of the lane's own start becomes that since the start of all. */
static void set_time(struct join *j, struct record *r)
{
    const struct moment *t = &j->lane->time;
    int64_t before = j->timed ? j->last_us : 0;

    if (t->known && (!j->latest.known || t->now_us > j->latest.now_us))
        j->latest = *t;
    if (t->started && !j->dated) {
        j->dated = true;
        j->start_us = t->start_us;
    }
    if (!(r->has & HAS_US) || r->kind == RECORD_HEADER)
        return;
    if (is_joined(j)) {
        if (t->started && j->dated)
            r->us = moment_add(r->us, moment_add(t->start_us, -j->start_us));
        if (r->us < before)
            r->us = before;
    }
    if (!j->timed || r->us > j->last_us)
        j->last_us = r->us;
    j->timed = true;
}

static bool pass(struct join *j, const struct record *r, struct err *e)
{
    j->records++;
    return j->to->put(j->to, r, e);
}

static bool make_up_header(struct join *j, struct err *e)
{
    struct record r = { .kind = RECORD_HEADER };

    if (j->lane->time.known) {
        r.has = HAS_WALL;
        r.wall_us = j->dated ? j->start_us : j->lane->time.now_us;
    }
    return pass(j, &r, e);
}

/* A recording of the lane is over. What stands before the first header is none, if
 * there is a header. */
static void end_recording(struct join *j, struct join_lane *l, bool last)
{
    if (l->begun && !l->footed && l->parts & PART_END && (l->headed || last))
        j->torn = true;
    l->headed = !last;
    l->begun = l->footed = false;
}

static struct join_lane *find_series(struct join *j, const struct record *r)
{
    for (size_t i = 0; i < j->lane_count && r->has & HAS_PART; i++)
        if (j->lanes[i].series && j->lanes[i].series_us == r->wall_us)
            return &j->lanes[i];
    return NULL;
}

/* A part goes on with the numbers of the first one that was seen of its recording; any
 * other recording has numbers of its own. */
static void begin_recording(struct join *j, struct join_lane *l, const struct record *r)
{
    struct join_lane *first = find_series(j, r);

    j->parts |= (r->has & HAS_PART) != 0;
    if (first == l)
        return;
    memcpy(l->base, l->top, sizeof l->base);
    l->numbers = first;
    l->series = !first && r->has & HAS_PART;
    l->series_us = r->wall_us;
}

static bool put_header(struct join *j, struct record *r, struct err *e)
{
    if (j->records)
        return true;
    if (j->lane_count > 1)
        r->header.source = STR_NONE; /* it is not that file any more */
    if (is_joined(j) && j->dated) {
        r->wall_us = j->start_us;
        r->us = 0;
    }
    if (is_joined(j))
        r->has &= ~(unsigned)HAS_PART;
    return pass(j, r, e);
}

static struct str keep(struct join *j, struct str text)
{
    return text.at ? arena_str(&j->kept, text) : text;
}

static void keep_footer(struct join *j, const struct record *r)
{
    const struct record before = j->footer;
    struct record_footer *f = &j->footer.footer;
    struct arena old = j->kept;

    j->kept = (struct arena){ 0 };
    j->footer = *r;
    f->protocol = keep(j, f->protocol.at ? f->protocol : before.footer.protocol);
    f->server_info = keep(j, f->server_info.at ? f->server_info : before.footer.server_info);
    f->client_info = keep(j, f->client_info.at ? f->client_info : before.footer.client_info);
    j->footer.extra = keep(j, r->extra);
    j->footer.has |= before.has & HAS_ERRORS;
    if (!(r->has & HAS_EXIT_CODE) && before.has & HAS_EXIT_CODE) {
        j->footer.has |= HAS_EXIT_CODE;
        f->exit_code = before.footer.exit_code;
    }
    j->footed = j->lane->footed = true;
    arena_release(&old);
}

static bool join_put(struct sink *self, const struct record *given, struct err *e)
{
    struct join *j = (struct join *)self;
    struct join_lane *l = j->lane;
    struct record r = *given;

    arena_clear(&j->scratch);
    if (r.kind == RECORD_HEADER) {
        end_recording(j, l, false);
        begin_recording(j, l, &r);
    }
    j->recordings += !l->begun;
    l->begun = true;
    moment_see(&l->time, &r);
    set_time(j, &r);
    if (r.kind == RECORD_HEADER)
        return put_header(j, &r, e);
    if (r.kind == RECORD_FOOTER) {
        keep_footer(j, &r);
        return true;
    }
    if (!j->records && j->whole && !make_up_header(j, e))
        return false;
    set_numbers_apart(j, &r);
    if (r.kind == RECORD_MESSAGE) {
        number(j, &r);
        learn(j, &r);
    }
    return pass(j, &r, e);
}

/* How long all of it took: until the last that has a time, on either clock. */
static int64_t length_us(const struct join *j)
{
    int64_t us = j->timed ? j->last_us : 0, dated = 0;

    if (j->dated && j->latest.known)
        dated = moment_add(j->latest.now_us, -j->start_us);
    return dated > us ? dated : us;
}

static void use_facts(struct record_footer *f, const struct facts *facts)
{
    if (facts->protocol.len)
        f->protocol = buf_str(&facts->protocol);
    if (facts->server_info.len)
        f->server_info = buf_str(&facts->server_info);
    if (facts->client_info.len)
        f->client_info = buf_str(&facts->client_info);
}

/* A footer of its own recording still says when that ended: on the clock of the file, or,
 * where it has a date and others have none, since the start. */
static void set_end(const struct join *j, struct record *r)
{
    if (j->footed && !is_joined(j)) {
        if ((r->has & (HAS_WALL | HAS_US)) != HAS_WALL || !j->dated)
            return;
        r->has |= HAS_US;
        r->us = moment_add(r->wall_us, -j->start_us);
        return;
    }
    r->has &= ~(unsigned)(HAS_US | HAS_WALL);
    if (j->timed) {
        r->has |= HAS_US;
        r->us = length_us(j);
    }
    if (j->latest.known) {
        r->has |= HAS_WALL;
        r->wall_us = j->latest.now_us;
    }
    r->footer.duration_ms = (uint64_t)length_us(j) / 1000;
}

bool join_finish(struct join *j, struct err *e)
{
    struct record r = j->footer;

    for (size_t i = 0; i < j->lane_count; i++)
        end_recording(j, &j->lanes[i], true);
    if (!j->whole && (j->torn || !j->records))
        return true;
    if (!j->records && !make_up_header(j, e))
        return false;
    r.kind = RECORD_FOOTER;
    set_end(j, &r);
    if (!j->footed) {
        r.has |= HAS_ERRORS;
        use_facts(&r.footer, &j->facts);
    }
    r.has |= HAS_TOTALS;
    if (j->parts && is_joined(j)) /* the footer of a part does not say it */
        r.has |= HAS_ERRORS;
    r.footer.messages = join_messages(j);
    r.footer.client_messages = j->messages[TO_SERVER];
    r.footer.server_messages = j->messages[TO_CLIENT];
    r.footer.errors = j->errors;
    return pass(j, &r, e);
}
