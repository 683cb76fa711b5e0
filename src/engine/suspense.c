#include "engine/suspense.h"

#include <stdlib.h>

#include "base/mem.h"

/* Questions that were asked one after the other for one request. */
struct suspense_row {
    struct suspense_row *next;
    uint64_t name;
    struct scope_reach place;
    uint32_t oldest;  /* strand that it may have been asked for */
    uint32_t anchor;  /* strand of what was sent before it */
    uint32_t before;  /* strands from this one on began after the first question */
    size_t open;      /* questions that were not answered */
    uint64_t replied; /* the turn of the latest answer */
    uint32_t *steps;  /* in recorded order */
    size_t count, cap;
};

bool suspense_may_ask(const struct script_method *method)
{
    const struct mcp_method *known = method->known;

    return !known || known->class == MCP_CLASS_CALL || known->class == MCP_CLASS_READ ||
           str_eq(known->name, STR("tasks/result"));
}

static void add(struct suspense_row *row, uint32_t step)
{
    row->steps = mem_reserve(row->steps, &row->cap, row->count + 1, sizeof *row->steps);
    row->steps[row->count++] = step;
}

static void drop(struct suspense *u, struct suspense_row *row)
{
    struct suspense_row **at = &u->first;

    while (*at != row)
        at = &(*at)->next;
    *at = row->next;
    u->count--;
    free(row->steps);
    free(row);
}

static bool is_at(const struct suspense_row *row, struct scope_reach place)
{
    return row->place.kind == place.kind && row->place.number == place.number;
}

/* Of the rows in a place that only wait to be gone on with, the one that waits longest and
 * may have been asked for a strand. */
static struct suspense_row *longest_waiting(const struct suspense *u, struct scope_reach place,
                                            uint32_t op)
{
    struct suspense_row *found = NULL;

    for (struct suspense_row *row = u->first; row; row = row->next)
        if (is_at(row, place) && !row->open && op < row->before &&
            (!found || row->replied < found->replied))
            found = row;
    return found;
}

/* At the end of a strand: a place where it does no harm, found in no time. */
static void give_up_oldest(struct suspense *u, struct script *s)
{
    struct suspense_row *row = u->first;

    for (size_t i = 0; i < row->count; i++)
        script_link_step(s, row->anchor, row->steps[i]);
    drop(u, row);
}

static struct suspense_row *new_row(struct suspense *u, struct script *s,
                                    struct scope_reach place, uint32_t anchor)
{
    struct suspense_row **end = &u->first, *row = mem_new(struct suspense_row);

    if (u->count == SUSPENSE_MAX)
        give_up_oldest(u, s);
    while (*end)
        end = &(*end)->next;
    *end = row;
    u->count++;
    row->name = ++u->last_name;
    row->place = place;
    row->anchor = anchor;
    row->before = (uint32_t)s->op_count;
    return row;
}

uint64_t suspense_ask(struct suspense *u, struct script *s, struct scope_reach place,
                      uint32_t step, uint32_t oldest, uint32_t anchor)
{
    struct suspense_row *row = longest_waiting(u, place, oldest);

    if (!row) {
        row = new_row(u, s, place, anchor);
        row->oldest = oldest;
    }
    row->open++;
    add(row, step);
    return row->name;
}

void suspense_reply(struct suspense *u, uint64_t name, uint32_t step)
{
    struct suspense_row *row = u->first;

    while (row && row->name != name)
        row = row->next;
    if (!row)
        return;
    row->open -= row->open > 0;
    row->replied = ++u->turn;
    add(row, step);
}

/* Whether a step was sent when all questions of its strand had been answered. */
static void count_question(struct script_step *step, uint32_t *open)
{
    *open -= step->kind == STEP_REPLY && *open;
    step->waits = !*open;
    *open += step->kind == STEP_ASK;
}

/* The row's steps and the strand's become one, in the order in which they were recorded. */
static void weave(struct script *s, uint32_t op, const struct suspense_row *row)
{
    uint32_t old = script_first_step(s, op), head = 0, tail = 0, open = 0;
    size_t i = 0;

    while (old || i < row->count) {
        uint32_t step = old;

        if (i < row->count && (!old || row->steps[i] < old))
            step = row->steps[i++];
        else
            old = script_next_step(s, op, old);
        *(tail ? &s->steps[tail].next : &head) = step;
        tail = step;
        count_question(&s->steps[step], &open);
    }
    s->steps[tail].next = head;
    s->ops[op].last = tail;
    s->ops[op].questions = (uint8_t)(open < UINT8_MAX ? open : UINT8_MAX);
}

void suspense_answer(struct suspense *u, struct script *s, struct scope_reach place,
                     uint32_t op)
{
    struct suspense_row *row;

    if (!u->first || !suspense_may_ask(script_method(s, op)))
        return;
    row = longest_waiting(u, place, op);
    if (!row)
        return;
    weave(s, op, row);
    drop(u, row);
}

void suspense_finish(struct suspense *u, struct script *s)
{
    while (u->first) {
        weave(s, u->first->oldest, u->first);
        drop(u, u->first);
    }
}
