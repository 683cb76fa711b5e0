#include "op-lines.h"

#include <stdlib.h>

#include "base/mem.h"
#include "ops/op-builder.h"
#include "terse.h"
#include "test.h"

struct op_line {
    uint64_t messages; /* that were reported */
    uint64_t root;
    struct operation_message first, latest;
    bool ended;
    char *text;
};

#define must(cond)                                                                             \
    do {                                                                                       \
        if (!(cond))                                                                           \
            fail_msg("operation %llu: not so: %s", (unsigned long long)op->number, #cond);     \
    } while (0)

static void write_link(struct buf *to, const struct operation *op)
{
    buf_add_int(to, (int64_t)op->number);
    if (op->parent)
        buf_printf(to, "<%llu:%s%s", (unsigned long long)op->parent,
                   operation_link_name(op->link), op->flags & OP_INFERRED ? "?" : "");
    if (op->kind != OPERATION_REQUEST)
        buf_printf(to, " %s", operation_kind_name(op->kind));
    buf_printf(to, " %s", op->dir == TO_SERVER ? "c2s" : "s2c");
}

static void write_word(struct buf *to, const char *name, struct str word)
{
    if (word.len)
        buf_printf(to, " %s%.*s", name, STR_ARG(word));
}

static void write_outcome(struct buf *to, const struct operation *op)
{
    if (op->outcome != OUTCOME_NONE)
        buf_printf(to, " %s", operation_outcome_name(op->outcome));
    if (op->flags & OP_HAS_CODE)
        buf_printf(to, " code=%lld", (long long)op->code);
    if (op->status)
        buf_printf(to, " status=%llu", (unsigned long long)op->status);
    if (op->why.len)
        buf_printf(to, " why='%.*s'", STR_ARG(op->why));
    if (op->response == RESPONSE_INPUT_REQUIRED || op->response == RESPONSE_TASK ||
        op->outcome == OUTCOME_LATE)
        buf_printf(to, " response=%s", operation_response_name(op->response));
    write_word(to, "task=", op->task);
    if (op->items)
        buf_printf(to, " items=%llu", (unsigned long long)op->items);
    if (op->progress.seq)
        buf_printf(to, " progress=%.*s/%.*s@%llu", STR_ARG(op->progress.progress),
                   STR_ARG(op->progress.total), (unsigned long long)op->progress.seq);
}

static void write_flags(struct buf *to, const struct operation *op)
{
    for (unsigned bit = 0; bit < OP_FLAG_COUNT; bit++) {
        unsigned flag = 1u << bit & ~(unsigned)(OP_INFERRED | OP_HAS_CODE | OP_STATELESS);
        if (op->flags & flag)
            buf_printf(to, " %s", operation_flag_name((enum operation_flag)flag));
    }
    for (int link = 0; link < LINK_COUNT; link++)
        if (op->children[link])
            buf_printf(to, " %s*%u", operation_link_name((enum operation_link)link),
                       op->children[link]);
}

static void write_times(struct buf *to, const struct operation *op)
{
    if (op->response_us >= 0 && op->response_us != op->total_us)
        buf_printf(to, " own=%lld", (long long)op->response_us);
    if (op->total_us >= 0)
        buf_printf(to, " total=%lld", (long long)op->total_us);
    if (op->server_us > 0 && op->wait_us > 0)
        buf_printf(to, " server=%lld", (long long)op->server_us);
    if (op->wait_us > 0)
        buf_printf(to, " wait=%lld", (long long)op->wait_us);
}

static void write_messages(struct buf *to, const struct operation *op)
{
    buf_add(to, STR(" |"));
    for (size_t i = 0; i < op->messages.kept; i++) {
        const struct operation_message *m = operation_message_at(op, i);

        if (i == OPERATION_KEEP_FIRST && op->messages.count > op->messages.kept)
            buf_printf(to, " ...%llu",
                       (unsigned long long)(op->messages.count - op->messages.kept));
        buf_printf(to, " %llu:%s%s", (unsigned long long)m->seq,
                   operation_role_name((enum operation_role)m->role), m->inferred ? "?" : "");
    }
}

static char *text_of(const struct operation *op)
{
    struct buf text;

    buf_init(&text, 1 << 16);
    write_link(&text, op);
    write_word(&text, "", op->method);
    write_word(&text, "", op->subject);
    write_word(&text, "id=", op->id);
    write_outcome(&text, op);
    write_flags(&text, op);
    write_times(&text, op);
    write_messages(&text, op);
    buf_z(&text);
    return text.at;
}

static struct op_line *row_of(struct op_lines *t, const struct operation *op)
{
    while (t->count < op->number) {
        t->ops = mem_reserve(t->ops, &t->cap, t->count + 1, sizeof *t->ops);
        t->ops[t->count++] = (struct op_line){ .ended = false };
    }
    return &t->ops[op->number - 1];
}

static bool is_same_message(const struct operation_message *a,
                            const struct operation_message *b)
{
    return a->seq == b->seq && a->role == b->role && a->dir == b->dir &&
           a->inferred == b->inferred;
}

/* A batch has no message of its own: its members are reported before it. */
static uint64_t root_of(const struct op_lines *t, uint64_t number)
{
    uint64_t root = t->ops[number - 1].root;

    return root ? root : number;
}

static void check_parent(const struct op_lines *t, const struct operation *op)
{
    must(op->parent < op->number);
    must((op->parent == 0) == (op->link == LINK_NONE));
    if (op->parent)
        must(op->root == root_of(t, op->parent));
    else
        must(op->root == op->number);
}

static void check_message(struct op_line *row, const struct operation_event *ev)
{
    const struct operation *op = ev->op;

    must(ev->record);
    must(op->messages.count == row->messages + 1);
    must(is_same_message(ev->message, operation_message_at(op, op->messages.kept - 1)));
    if (!row->messages++)
        row->first = *ev->message;
    row->latest = *ev->message;
}

static void check_end(const struct op_line *row, const struct operation *op)
{
    uint64_t roles = 0;

    for (int i = 0; i < ROLE_COUNT; i++)
        roles += op->roles[i];
    must(roles == op->messages.count);
    must(row->messages == op->messages.count);
    must(op->messages.count == 0 || is_same_message(&row->first, operation_message_at(op, 0)));
    must(op->messages.count == 0 ||
         is_same_message(&row->latest, operation_message_at(op, op->messages.kept - 1)));
    must(op->total_us < 0 || op->server_us + op->wait_us == op->total_us);
    must((op->total_us < 0) == (op->server_us < 0) && (op->total_us < 0) == (op->wait_us < 0));
    must(!(op->flags & OP_EVICTED) || op->outcome == OUTCOME_PENDING);
}

static bool op_lines_put(struct operation_sink *self, const struct operation_event *ev,
                         struct err *e)
{
    struct op_lines *t = (struct op_lines *)self;
    const struct operation *op = ev->op;
    struct op_line *row = row_of(t, op);

    if (++t->events == t->fails_at)
        return err_set(e, ERR_IO, "no room");
    must(!t->fails_at || t->events < t->fails_at);
    must(!row->ended);
    if (!row->root)
        row->root = op->root;
    must(row->root == op->root);
    check_parent(t, op);
    if (ev->message) {
        check_message(row, ev);
        return true;
    }
    check_end(row, op);
    row->ended = true;
    row->text = text_of(op);
    t->ended++;
    return true;
}

void op_lines_init(struct op_lines *t)
{
    *t = (struct op_lines){ .sink = { op_lines_put } };
}

void op_lines_release(struct op_lines *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->ops[i].text);
    free(t->ops);
}

void op_lines_write(const struct op_lines *t, struct buf *to)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->ops[i].ended)
            buf_printf(to, "%s\n", t->ops[i].text);
}

struct str op_lines_get(const struct op_lines *t, uint64_t number)
{
    assert_true(number >= 1 && number <= t->count);
    return str_z(t->ops[number - 1].text);
}

void op_lines_assert_ended(const struct op_lines *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (!t->ops[i].ended)
            fail_msg("operation %zu has not ended", i + 1);
}

static bool is_comment(struct str line)
{
    return !line.len || line.at[0] == '#';
}

/* The traffic is poured in one piece, so that its lines are numbered. */
static struct str cut_traffic(struct str *text, struct buf *to, size_t *line)
{
    while (text->len) {
        struct str next = str_cut(text, '\n');

        ++*line;
        if (str_eq(next, STR("operations")))
            break;
        if (is_comment(next))
            continue;
        buf_add(to, next);
        buf_add_ch(to, '\n');
    }
    return buf_str(to);
}

static bool compare(struct str want, struct str got, size_t line, struct buf *why)
{
    do {
        struct str next = str_cut(&want, '\n'), line_got;

        line++;
        if (is_comment(next) && (want.len || !got.len))
            continue;
        line_got = str_cut(&got, '\n');
        if (!str_eq(is_comment(next) ? STR_NONE : next, line_got)) {
            buf_printf(why, "%zu:\n  got  %.*s\n  want %.*s", line, STR_ARG(line_got),
                       STR_ARG(next));
            return false;
        }
    } while (want.len || got.len);
    return true;
}

void op_lines_of_traffic(struct str traffic, struct buf *to)
{
    struct err e = ERR_NONE;
    struct op_builder g;
    struct op_lines t;

    op_lines_init(&t);
    op_builder_init(&g, &t.sink);
    terse_feed_plain(&g.sink, traffic);
    if (!op_builder_finish(&g, &e))
        fail_msg("%s", e.msg);
    op_lines_assert_ended(&t);
    assert_int_equal(op_builder_count(&g), t.ended);
    op_lines_write(&t, to);
    op_builder_release(&g);
    op_lines_release(&t);
}

bool op_lines_run_case(struct str text, struct buf *why)
{
    struct buf traffic, got;
    size_t line = 0;
    bool ok;

    buf_init(&traffic, (size_t)1 << 26);
    buf_init(&got, (size_t)1 << 26);
    op_lines_of_traffic(cut_traffic(&text, &traffic, &line), &got);
    ok = compare(text, buf_str(&got), line, why);
    buf_release(&traffic);
    buf_release(&got);
    return ok;
}
