#include "check/assertion.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

enum { MESSAGE_MAX = 64 << 10 };

enum assertion_op {
    ASSERT_EQUAL,
    ASSERT_NOT_EQUAL,
    ASSERT_LESS_EQUAL,
    ASSERT_GREATER_EQUAL,
    ASSERT_LESS,
    ASSERT_GREATER,
};

struct assertion {
    struct str text;
    struct filter *filter;
    enum assertion_op op;
    uint64_t number;
};

/* The operations that matched so far. */
struct assertion_count {
    uint64_t matches;
    uint64_t seq, line; /* of the first one */
};

/* Parsing. */

static bool reject(struct err *e, struct str text, const char *why)
{
    err_set(e, ERR_USAGE, "'%.*s': %s", STR_ARG(text), why);
    return err_hint(e, "write it like this: 'count(tool:search is:error) == 0'");
}

static bool parse_op(struct str *rest, enum assertion_op *op)
{
    static const struct {
        struct str text;
        enum assertion_op op;
    } ops[] = { { STR_INIT("=="), ASSERT_EQUAL },      { STR_INIT("!="), ASSERT_NOT_EQUAL },
                { STR_INIT("<="), ASSERT_LESS_EQUAL }, { STR_INIT(">="), ASSERT_GREATER_EQUAL },
                { STR_INIT("<"), ASSERT_LESS },        { STR_INIT(">"), ASSERT_GREATER },
                { STR_INIT("="), ASSERT_EQUAL } };

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (str_starts(*rest, ops[i].text)) {
            *op = ops[i].op;
            *rest = str_skip(*rest, ops[i].text.len);
            return true;
        }
    return false;
}

/* The comparison has no parenthesis, so the last one ends the filter. */
static bool parse_assertion(struct assertion *a, struct str text, struct err *e)
{
    const struct str call = STR("count(");
    struct str rest = str_trim(text);
    struct filter_fault fault;
    size_t end = rest.len;

    a->text = rest;
    if (!str_starts(rest, call))
        return reject(e, text, "an assertion starts with 'count('");
    while (end && rest.at[end - 1] != ')')
        end--;
    if (end <= call.len)
        return reject(e, text, "')' is missing");
    if (!filter_new(&a->filter, str_n(rest.at + call.len, end - 1 - call.len), &fault, e))
        return false;
    rest = str_trim(str_skip(rest, end));
    if (!parse_op(&rest, &a->op))
        return reject(e, text, "expected ==, !=, <, <=, > or >= after ')'");
    if (!str_parse_u64(str_trim(rest), &a->number))
        return reject(e, text, "expected a whole number at the end");
    return true;
}

bool assertion_list_read(struct assertion_list *l, const struct str_list *texts, struct err *e)
{
    bool ok = true;

    *l = (struct assertion_list){ .count = texts->count };
    l->at = mem_alloc(texts->count * sizeof *l->at);
    for (size_t i = 0; ok && i < texts->count; i++)
        ok = parse_assertion(&l->at[i], str_z(texts->at[i]), e);
    return ok;
}

void assertion_list_release(struct assertion_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        filter_free(l->at[i].filter);
    free(l->at);
    *l = (struct assertion_list){ .count = 0 };
}

/* Counting. */

static struct filter_operation *states_of(struct assertion_check *c, const struct operation *op)
{
    const struct filter_operation none = FILTER_OPERATION_INIT;
    struct filter_operation *states = map_get(&c->open, map_number_key(&op->number));

    if (states)
        return states;
    states = mem_alloc(c->list->count * sizeof *states);
    for (size_t i = 0; i < c->list->count; i++)
        states[i] = none;
    map_put(&c->open, map_number_key(&op->number), states);
    return states;
}

static void add_message(struct assertion_check *c, const struct operation_event *ev)
{
    struct filter_operation *states = states_of(c, ev->op);
    int64_t us = op_builder_now_us(&c->builder);
    int64_t gap_us = c->previous_us >= 0 && us >= c->previous_us ? us - c->previous_us : -1;

    for (size_t i = 0; i < c->list->count; i++)
        filter_operation_add(&states[i], c->list->at[i].filter, &c->context, ev, gap_us);
}

static void count_match(struct assertion_count *n, const struct operation *op)
{
    if (n->matches++)
        return;
    n->seq = op->messages.kept ? operation_message_at(op, 0)->seq : 0;
    n->line = op->line;
}

static void end_operation(struct assertion_check *c, const struct operation *op)
{
    struct filter_operation *states = states_of(c, op);

    for (size_t i = 0; i < c->list->count; i++)
        if (filter_operation_matches(&states[i], c->list->at[i].filter, &c->context, op,
                                     &c->builder))
            count_match(&c->counts[i], op);
    map_remove(&c->open, map_number_key(&op->number));
    free(states);
}

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct assertion_check *c =
        (struct assertion_check *)((char *)self - offsetof(struct assertion_check, events));

    (void)e;
    if (ev->message)
        add_message(c, ev);
    else
        end_operation(c, ev->op);
    return true;
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct assertion_check *c = (struct assertion_check *)self;
    int64_t us;

    filter_context_note(&c->context, r);
    if (!c->builder.sink.put(&c->builder.sink, r, e))
        return false;
    us = op_builder_now_us(&c->builder);
    if (r->kind == RECORD_MESSAGE && us >= 0)
        c->previous_us = us;
    return true;
}

void assertion_check_init(struct assertion_check *c, const struct assertion_list *list,
                          const char *path)
{
    *c = (struct assertion_check){
        .sink = { put_record }, .events = { put_event }, .list = list, .previous_us = -1
    };
    c->counts = mem_alloc(list->count * sizeof *c->counts);
    op_builder_init(&c->builder, &c->events);
    filter_context_init(&c->context, path);
    map_init(&c->open);
}

void assertion_check_release(struct assertion_check *c)
{
    for (struct map_entry *e = NULL; (e = map_next(&c->open, e));)
        free(e->value);
    map_release(&c->open);
    filter_context_release(&c->context);
    op_builder_release(&c->builder);
    free(c->counts);
}

/* Findings. */

static bool is_true(const struct assertion *a, uint64_t n)
{
    switch (a->op) {
    case ASSERT_EQUAL:
        return n == a->number;
    case ASSERT_NOT_EQUAL:
        return n != a->number;
    case ASSERT_LESS_EQUAL:
        return n <= a->number;
    case ASSERT_GREATER_EQUAL:
        return n >= a->number;
    case ASSERT_LESS:
        return n < a->number;
    default:
        return n > a->number;
    }
}

static void add_finding(struct finding_list *to, const struct assertion *a,
                        const struct assertion_count *n)
{
    struct buf text;

    buf_init(&text, MESSAGE_MAX);
    buf_add(&text, a->text);
    buf_printf(&text, " is false: the count is %llu", (unsigned long long)n->matches);
    if (n->seq)
        buf_printf(&text, " (%sseq %llu)", n->matches > 1 ? "first: " : "",
                   (unsigned long long)n->seq);
    finding_list_add(to, &(struct finding){ .rule = STR("assert"),
                                            .severity = FINDING_ERROR,
                                            .message = buf_str(&text),
                                            .count = 1,
                                            .seq = n->seq,
                                            .line = n->line,
                                            .subject = a->text });
    buf_release(&text);
}

void assertion_check_finish(struct assertion_check *c, struct finding_list *to)
{
    struct err e = ERR_NONE;

    if (!op_builder_finish(&c->builder, &e))
        BUG("the sink rejected a record");
    for (size_t i = 0; i < c->list->count; i++)
        if (!is_true(&c->list->at[i], c->counts[i].matches))
            add_finding(to, &c->list->at[i], &c->counts[i]);
}
