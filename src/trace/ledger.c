#include "trace/ledger.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

void ledger_init(struct ledger *l, struct operation_sink *to)
{
    *l = (struct ledger){ .to = to };
}

static void free_op(struct ledger_op *op)
{
    operation_release(&op->op);
    free(op->task);
    free(op->why);
    free(op);
}

void ledger_release(struct ledger *l)
{
    while (l->lowest) {
        struct ledger_op *next = l->lowest->higher;
        free_op(l->lowest);
        l->lowest = next;
    }
}

/* A file may claim any time; none that is of use is beyond these. */
static int64_t sane(int64_t us)
{
    return us < 0 ? 0 : us > INT64_MAX / 4 ? INT64_MAX / 4 : us;
}

/* Lines without the fine clock are placed on it by their date; the first date tells when
 * the recording started. */
static void set_clock(struct ledger *l, const struct record *r)
{
    if (r->has & HAS_WALL && !l->dated) {
        l->dated = true;
        l->start_wall_us = r->wall_us - (r->has & HAS_US ? sane(r->us) : 0);
    }
    l->timed = r->has & (HAS_US | HAS_WALL);
    if (l->timed)
        l->now = sane(r->has & HAS_US ? r->us : r->wall_us - l->start_wall_us);
}

void ledger_turn(struct ledger *l, const struct record *r)
{
    l->record = r;
    if (r->kind == RECORD_HEADER)
        l->dated = false;
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

static void tell(struct ledger *l, const struct ledger_op *op,
                 const struct operation_message *m)
{
    struct operation_event ev = { &op->op, m, m ? l->record : NULL };

    if (!l->failed)
        l->failed = !l->to->put(l->to, &ev, &l->err);
}

static void make_freshest(struct ledger *l, struct ledger_op *op)
{
    op->staler = l->freshest;
    op->fresher = NULL;
    *(l->freshest ? &l->freshest->fresher : &l->stalest) = op;
    l->freshest = op;
}

static void take_out(struct ledger *l, struct ledger_op *op)
{
    *(op->staler ? &op->staler->fresher : &l->stalest) = op->fresher;
    *(op->fresher ? &op->fresher->staler : &l->freshest) = op->staler;
}

/* What is heard of a child is heard of its parents. */
static void touch(struct ledger *l, struct ledger_op *op)
{
    for (; op; op = op->parent) {
        take_out(l, op);
        make_freshest(l, op);
    }
}

static void join_family(struct ledger_op *op, const struct ledger_link *link)
{
    op->op.link = link->kind;
    op->op.parent = link->number;
    op->op.root = link->number ? link->root : op->op.number;
    op->op.flags |= link->inferred ? OP_INFERRED : 0;
    if (!link->open)
        return;
    op->parent = link->open;
    op->right = op->parent->children;
    if (op->right)
        op->right->left = op;
    op->parent->children = op;
    op->parent->op.children[link->kind]++;
}

static void leave_family(struct ledger_op *op)
{
    if (op->parent)
        *(op->left ? &op->left->right : &op->parent->children) = op->right;
    if (op->right)
        op->right->left = op->left;
    for (struct ledger_op *child = op->children, *next; child; child = next) {
        next = child->right;
        child->parent = child->left = child->right = NULL;
    }
}

struct str ledger_clip(struct str text)
{
    size_t n = OPERATION_TEXT;

    if (text.len <= n)
        return text;
    while (n > OPERATION_TEXT - 4 && ((unsigned char)text.at[n] & 0xC0) == 0x80)
        n--;
    return str_n(text.at, n);
}

static struct str clip(struct str text, unsigned *flags)
{
    struct str kept = ledger_clip(text);

    *flags |= kept.len < text.len ? OP_CLIPPED : 0;
    return kept;
}

static struct str keep(char **to, struct str text)
{
    struct str kept = str_n(*to, text.len);

    if (text.len)
        memcpy(*to, text.at, text.len);
    *to += text.len;
    return kept;
}

static void set_place(struct ledger_op *op, const struct record *r)
{
    op->op.has = r->has & (HAS_CONN | HAS_SESSION | HAS_EXCHANGE | HAS_STREAM);
    op->op.conn = r->conn;
    op->op.session = r->session;
    op->op.exchange = r->exchange;
    op->op.stream = r->stream;
}

struct ledger_op *ledger_begin(struct ledger *l, const struct ledger_start *start)
{
    unsigned flags = 0;
    struct str id = clip(start->id, &flags), method = clip(start->method, &flags),
               subject = clip(start->subject, &flags);
    size_t size = sizeof(struct ledger_op) + id.len + method.len + subject.len;
    struct ledger_op *op = mem_alloc(size);
    char *text = op->text;

    op->op = (struct operation){
        .number = ++l->begun,
        .kind = start->kind,
        .dir = start->dir,
        .flags = flags,
        .first_us = -1,
        .last_us = -1,
        .own_us = -1,
        .total_us = -1,
        .server_us = -1,
        .wait_us = -1,
    };
    op->op.id = keep(&text, id);
    op->op.method = keep(&text, method);
    op->op.subject = keep(&text, subject);
    op->gaps = l->gaps;
    set_place(op, l->record);
    join_family(op, &start->link);
    op->lower = l->highest;
    *(l->highest ? &l->highest->higher : &l->lowest) = op;
    l->highest = op;
    make_freshest(l, op);
    l->count++;
    ledger_hold(l, op, size);
    return op;
}

void ledger_hold(struct ledger *l, struct ledger_op *op, size_t bytes)
{
    op->held += bytes;
    l->held += bytes;
}

void ledger_let_go(struct ledger *l, struct ledger_op *op, size_t bytes)
{
    op->held -= bytes;
    l->held -= bytes;
}

void ledger_hear(struct ledger *l, struct ledger_op *op)
{
    if (!l->timed)
        return;
    if (l->now < op->op.last_us)
        op->op.flags |= OP_CLOCK_BACK;
    for (; op; op = op->parent) {
        if (op->op.first_us < 0)
            op->op.first_us = l->now;
        if (l->now > op->op.last_us)
            op->op.last_us = l->now;
    }
}

void ledger_add(struct ledger *l, struct ledger_op *op, enum operation_role role,
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
        op->op.bytes += json_raw(r->message.msg).len;
        op->op.flags |= r->message.redacted.len ? OP_REDACTED : 0;
    } else {
        op->op.bytes += r->bytes.bytes.len;
    }
    op->op.roles[m.role]++;
    ledger_hear(l, op);
    operation_add_message(&op->op, &m);
    ledger_hold(l, op, (op->op.messages.cap - cap) * sizeof m);
    touch(l, op);
    tell(l, op, &m);
}

/* One more reason, or one less, to wait for the client. That a child waits is one reason
 * for its parent, however many the child has. */
static void more_waits(struct ledger *l, struct ledger_op *op)
{
    for (; op && op->waits++ == 0; op = op->parent)
        op->since = l->now;
}

static void add_wait(struct ledger_op *op, int64_t until)
{
    op->waited += until > op->since ? until - op->since : 0;
}

static void fewer_waits(struct ledger *l, struct ledger_op *op)
{
    for (; op && --op->waits == 0; op = op->parent)
        add_wait(op, l->now);
}

void ledger_wait(struct ledger *l, struct ledger_op *op)
{
    if (op->holds)
        return;
    op->holds = true;
    more_waits(l, op);
}

void ledger_go_on(struct ledger *l, struct ledger_op *op)
{
    if (!op->holds)
        return;
    op->holds = false;
    fewer_waits(l, op);
}

/* In place of what was there; `own` is where it is kept. */
static void replace(struct ledger *l, struct ledger_op *op, struct str *at, char **own,
                    struct str text)
{
    struct str kept = clip(text, &op->op.flags);

    ledger_let_go(l, op, at->len);
    free(*own);
    *own = mem_alloc(kept.len);
    if (kept.len)
        memcpy(*own, kept.at, kept.len);
    *at = str_n(*own, kept.len);
    ledger_hold(l, op, kept.len);
}

void ledger_set_task(struct ledger *l, struct ledger_op *op, struct str task)
{
    replace(l, op, &op->op.task, &op->task, task);
}

void ledger_set_why(struct ledger *l, struct ledger_op *op, struct str why)
{
    replace(l, op, &op->op.why, &op->why, why);
}

static struct str keep_number(char to[LEDGER_NUMBER_TEXT], struct json_val number)
{
    struct str text = json_raw(number);

    if (json_type(number) != JSON_NUMBER || text.len > LEDGER_NUMBER_TEXT)
        return STR_NONE;
    memcpy(to, text.at, text.len);
    return str_n(to, text.len);
}

void ledger_set_progress(struct ledger *l, struct ledger_op *op, struct json_val progress,
                         struct json_val total)
{
    op->op.progress.seq = l->seq;
    op->op.progress.progress = keep_number(op->progress, progress);
    op->op.progress.total = keep_number(op->total, total);
}

/* An end that nobody saw has no time, and what asks for nothing takes none. What the file
 * itself says of an answer may be finer than its dates. */
static void sum_up(struct ledger_op *op)
{
    struct operation *o = &op->op;

    if (op->waits)
        add_wait(op, o->last_us);
    if ((o->kind != OPERATION_REQUEST && o->kind != OPERATION_BATCH) ||
        o->outcome == OUTCOME_PENDING || o->outcome == OUTCOME_NONE)
        return;
    if (o->answer != ANSWER_NONE && o->own_us < 0)
        return;
    o->total_us = o->first_us >= 0 ? o->last_us - o->first_us : o->own_us;
    if (o->total_us < o->own_us)
        o->total_us = o->own_us;
    if (o->total_us < 0)
        return;
    o->wait_us = o->dir == TO_CLIENT || op->waited > o->total_us ? o->total_us : op->waited;
    o->server_us = o->total_us - o->wait_us;
}

void ledger_end(struct ledger *l, struct ledger_op *op)
{
    if (op->gaps != l->gaps)
        op->op.flags |= OP_GAP;
    sum_up(op);
    if (op->waits)
        fewer_waits(l, op->parent);
    tell(l, op, NULL);
    leave_family(op);
    take_out(l, op);
    *(op->lower ? &op->lower->higher : &l->lowest) = op->higher;
    *(op->higher ? &op->higher->lower : &l->highest) = op->lower;
    l->count--;
    l->held -= op->held;
    free_op(op);
}

struct ledger_op *ledger_excess(const struct ledger *l)
{
    return l->count > LIMIT_OPEN_OPERATIONS || l->held > LIMIT_OPEN_OPERATION_BYTES ? l->stalest
                                                                                    : NULL;
}
