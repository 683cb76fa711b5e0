#include "ops/open-ops.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

void open_ops_init(struct open_ops *l, struct operation_sink *to)
{
    *l = (struct open_ops){ .next_sink = to };
}

static void free_op(struct open_op *op)
{
    operation_release(&op->op);
    free(op->task);
    free(op->why);
    free(op);
}

void open_ops_release(struct open_ops *l)
{
    while (l->lowest) {
        struct open_op *next = l->lowest->higher;
        free_op(l->lowest);
        l->lowest = next;
    }
}

/* Files may hold any time; useful ones are in this range. */
static int64_t clamp_us(int64_t us)
{
    return us < 0 ? 0 : us > INT64_MAX / 4 ? INT64_MAX / 4 : us;
}

/* Sets the time from `us`, else from the date since the first date of the recording. */
static void set_clock(struct open_ops *l, const struct record *r)
{
    if (r->has & HAS_WALL && !l->start_known) {
        l->start_known = true;
        l->start_wall_us = r->wall_us - (r->has & HAS_US ? clamp_us(r->us) : 0);
    }
    l->now_known = r->has & (HAS_US | HAS_WALL);
    if (l->now_known)
        l->now_us = clamp_us(r->has & HAS_US ? r->us : r->wall_us - l->start_wall_us);
}

void open_ops_set_record(struct open_ops *l, const struct record *r)
{
    l->record = r;
    if (r->kind == RECORD_HEADER)
        l->start_known = false;
    if (r->kind == RECORD_GAP)
        l->gaps++;
    if (r->kind == RECORD_MESSAGE) {
        l->messages++;
        l->seq = r->has & HAS_SEQ ? r->message.seq : l->messages;
    } else {
        l->seq = 0;
    }
    set_clock(l, r);
}

static void emit_event(struct open_ops *l, const struct open_op *op,
                       const struct operation_message *m)
{
    struct operation_event ev = { &op->op, m, m ? l->record : NULL };

    if (!l->failed)
        l->failed = !l->next_sink->put(l->next_sink, &ev, &l->err);
}

static void lru_append(struct open_ops *l, struct open_op *op)
{
    op->lru_prev = l->lru_last;
    op->lru_next = NULL;
    *(l->lru_last ? &l->lru_last->lru_next : &l->lru_first) = op;
    l->lru_last = op;
}

static void lru_remove(struct open_ops *l, struct open_op *op)
{
    *(op->lru_prev ? &op->lru_prev->lru_next : &l->lru_first) = op->lru_next;
    *(op->lru_next ? &op->lru_next->lru_prev : &l->lru_last) = op->lru_prev;
}

/* Using a child uses its parents. */
static void lru_touch(struct open_ops *l, struct open_op *op)
{
    for (; op; op = op->parent) {
        lru_remove(l, op);
        lru_append(l, op);
    }
}

static void link_to_parent(struct open_op *op, const struct op_link *link)
{
    op->op.link = link->kind;
    op->op.parent = link->number;
    op->op.root = link->number ? link->root : op->op.number;
    op->op.flags |= link->inferred ? OP_INFERRED : 0;
    if (!link->open)
        return;
    op->parent = link->open;
    op->next_sibling = op->parent->children;
    if (op->next_sibling)
        op->next_sibling->prev_sibling = op;
    op->parent->children = op;
    op->parent->op.children[link->kind]++;
}

static void unlink_family(struct open_op *op)
{
    if (op->parent)
        *(op->prev_sibling ? &op->prev_sibling->next_sibling : &op->parent->children) =
            op->next_sibling;
    if (op->next_sibling)
        op->next_sibling->prev_sibling = op->prev_sibling;
    for (struct open_op *child = op->children, *next; child; child = next) {
        next = child->next_sibling;
        child->parent = child->prev_sibling = child->next_sibling = NULL;
    }
}

struct str open_ops_clip(struct str text)
{
    size_t n = OPERATION_TEXT_MAX;

    if (text.len <= n)
        return text;
    while (n > OPERATION_TEXT_MAX - 4 && ((unsigned char)text.at[n] & 0xC0) == 0x80)
        n--;
    return str_n(text.at, n);
}

static struct str clip_text(struct str text, unsigned *flags)
{
    struct str kept = open_ops_clip(text);

    *flags |= kept.len < text.len ? OP_TRUNCATED : 0;
    return kept;
}

static struct str copy_text(char **to, struct str text)
{
    struct str kept = str_n(*to, text.len);

    if (text.len)
        memcpy(*to, text.at, text.len);
    *to += text.len;
    return kept;
}

static void copy_record_numbers(struct open_op *op, const struct record *r)
{
    op->op.has = r->has & (HAS_CONN | HAS_SESSION | HAS_EXCHANGE | HAS_STREAM);
    op->op.conn = r->conn;
    op->op.session = r->session;
    op->op.exchange = r->exchange;
    op->op.stream = r->stream;
}

struct open_op *open_ops_begin(struct open_ops *l, const struct op_start *start)
{
    unsigned flags = 0;
    struct str id = clip_text(start->id, &flags), method = clip_text(start->method, &flags),
               subject = clip_text(start->subject, &flags);
    size_t size = sizeof(struct open_op) + id.len + method.len + subject.len;
    struct open_op *op = mem_alloc(size);
    char *text = op->text;

    op->op = (struct operation){
        .number = ++l->begun,
        .kind = start->kind,
        .dir = start->dir,
        .flags = flags,
        .first_us = -1,
        .last_us = -1,
        .response_us = -1,
        .total_us = -1,
        .server_us = -1,
        .wait_us = -1,
    };
    op->op.id = copy_text(&text, id);
    op->op.method = copy_text(&text, method);
    op->op.subject = copy_text(&text, subject);
    op->gaps_at_start = l->gaps;
    copy_record_numbers(op, l->record);
    link_to_parent(op, &start->link);
    op->lower = l->highest;
    *(l->highest ? &l->highest->higher : &l->lowest) = op;
    l->highest = op;
    lru_append(l, op);
    l->count++;
    open_ops_add_bytes(l, op, size);
    return op;
}

void open_ops_add_bytes(struct open_ops *l, struct open_op *op, size_t bytes)
{
    op->bytes += bytes;
    l->bytes += bytes;
}

void open_ops_release_bytes(struct open_ops *l, struct open_op *op, size_t bytes)
{
    op->bytes -= bytes;
    l->bytes -= bytes;
}

void open_ops_update_time(struct open_ops *l, struct open_op *op)
{
    if (!l->now_known)
        return;
    if (l->now_us < op->op.last_us)
        op->op.flags |= OP_CLOCK_BACK;
    for (; op; op = op->parent) {
        if (op->op.first_us < 0)
            op->op.first_us = l->now_us;
        if (l->now_us > op->op.last_us)
            op->op.last_us = l->now_us;
    }
}

static bool continues_parent(const struct open_op *op)
{
    return op->parent &&
           (op->op.link == LINK_RETRY || op->op.link == LINK_TASK || op->op.link == LINK_PAGE);
}

static void add_message_bytes(struct open_op *op, uint64_t bytes)
{
    op->op.bytes += bytes;
    op->op.family_bytes += bytes;
    for (; continues_parent(op); op = op->parent)
        op->parent->op.family_bytes += bytes;
}

void open_ops_add_message(struct open_ops *l, struct open_op *op, enum operation_role role,
                          enum record_dir dir, bool inferred)
{
    const struct record *r = l->record;
    struct operation_message m = {
        .seq = l->seq, .role = (uint8_t)role, .dir = (uint8_t)dir, .inferred = inferred
    };
    size_t cap = op->op.messages.cap;

    if (r->has & HAS_REDELIVERS)
        op->op.flags |= OP_REDELIVERED;
    if (r->kind == RECORD_MESSAGE) {
        if (!op->op.messages.count)
            op->op.line = r->message.line;
        add_message_bytes(op, json_raw(r->message.msg).len);
        op->op.flags |= r->message.redacted.len ? OP_REDACTED : 0;
    } else {
        add_message_bytes(op, r->bytes.bytes.len);
    }
    op->op.roles[m.role]++;
    open_ops_update_time(l, op);
    operation_add_message(&op->op, &m);
    open_ops_add_bytes(l, op, (op->op.messages.cap - cap) * sizeof m);
    lru_touch(l, op);
    emit_event(l, op, &m);
}

/* Adds a reason to wait for the client. A child that waits is one reason for its parent,
 * however many reasons the child has. */
static void add_wait_reason(struct open_ops *l, struct open_op *op)
{
    for (; op && op->wait_reasons++ == 0; op = op->parent)
        op->wait_since_us = l->now_us;
}

static void add_wait_time(struct open_op *op, int64_t until)
{
    op->waited_us += until > op->wait_since_us ? until - op->wait_since_us : 0;
}

static void remove_wait_reason(struct open_ops *l, struct open_op *op)
{
    for (; op && --op->wait_reasons == 0; op = op->parent)
        add_wait_time(op, l->now_us);
}

void open_ops_begin_wait(struct open_ops *l, struct open_op *op)
{
    if (op->is_waiting)
        return;
    op->is_waiting = true;
    add_wait_reason(l, op);
}

void open_ops_end_wait(struct open_ops *l, struct open_op *op)
{
    if (!op->is_waiting)
        return;
    op->is_waiting = false;
    remove_wait_reason(l, op);
}

/* Replaces a text; `own` owns the memory. */
static void replace_text(struct open_ops *l, struct open_op *op, struct str *at, char **own,
                         struct str text)
{
    struct str kept = clip_text(text, &op->op.flags);

    open_ops_release_bytes(l, op, at->len);
    free(*own);
    *own = mem_alloc(kept.len);
    if (kept.len)
        memcpy(*own, kept.at, kept.len);
    *at = str_n(*own, kept.len);
    open_ops_add_bytes(l, op, kept.len);
}

void open_ops_set_task(struct open_ops *l, struct open_op *op, struct str task)
{
    replace_text(l, op, &op->op.task, &op->task, task);
}

void open_ops_set_why(struct open_ops *l, struct open_op *op, struct str why)
{
    replace_text(l, op, &op->op.why, &op->why, why);
}

static struct str copy_number(char to[OPEN_OPS_NUMBER_TEXT], struct json_val number)
{
    struct str text = json_raw(number);

    if (json_type(number) != JSON_NUMBER || text.len > OPEN_OPS_NUMBER_TEXT)
        return STR_NONE;
    memcpy(to, text.at, text.len);
    return str_n(to, text.len);
}

void open_ops_set_progress(struct open_ops *l, struct open_op *op, struct json_val progress,
                           struct json_val total)
{
    op->op.progress.seq = l->seq;
    op->op.progress.progress = copy_number(op->progress, progress);
    op->op.progress.total = copy_number(op->total, total);
}

/* Computes total, server and wait time. Operations without an end, and those that are no
 * request or batch, have none. A latency given in the file may be more precise than its dates.
 */
static void compute_times(struct open_op *op)
{
    struct operation *o = &op->op;

    if (op->wait_reasons)
        add_wait_time(op, o->last_us);
    if ((o->kind != OPERATION_REQUEST && o->kind != OPERATION_BATCH) ||
        o->outcome == OUTCOME_PENDING || o->outcome == OUTCOME_NONE)
        return;
    if (o->response != RESPONSE_NONE && o->response_us < 0)
        return;
    o->total_us = o->first_us >= 0 ? o->last_us - o->first_us : o->response_us;
    if (o->total_us < o->response_us)
        o->total_us = o->response_us;
    if (o->total_us < 0)
        return;
    o->wait_us =
        o->dir == TO_CLIENT || op->waited_us > o->total_us ? o->total_us : op->waited_us;
    o->server_us = o->total_us - o->wait_us;
}

void open_ops_end(struct open_ops *l, struct open_op *op)
{
    if (op->gaps_at_start != l->gaps)
        op->op.flags |= OP_GAP;
    compute_times(op);
    if (op->wait_reasons)
        remove_wait_reason(l, op->parent);
    emit_event(l, op, NULL);
    unlink_family(op);
    lru_remove(l, op);
    *(op->lower ? &op->lower->higher : &l->lowest) = op->higher;
    *(op->higher ? &op->higher->lower : &l->highest) = op->lower;
    l->count--;
    l->bytes -= op->bytes;
    free_op(op);
}

struct open_op *open_ops_find_excess(const struct open_ops *l)
{
    return l->count > LIMIT_OPEN_OPERATIONS || l->bytes > LIMIT_OPEN_OPERATION_BYTES
               ? l->lru_first
               : NULL;
}
