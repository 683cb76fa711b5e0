#include "trace/sequel.h"

#include "json/members.h"

void sequel_init(struct sequel *s, struct bonds *bonds, struct ledger *ledger)
{
    *s = (struct sequel){ .bonds = bonds, .ledger = ledger };
    buf_init(&s->names, JSON_MAX_TEXT);
}

void sequel_release(struct sequel *s)
{
    buf_release(&s->names);
}

static bool is_about_tasks(struct str method)
{
    return str_starts(method, STR("tasks/"));
}

static bool is_list(struct str method)
{
    return str_ends(method, STR("/list"));
}

/* The names of all members, in an order that does not depend on the text. */
static struct str names_of(struct sequel *s, struct json_val object)
{
    struct json_members members;
    struct json_list list;

    json_members_init(&members);
    list = json_members_add(&members, object, NULL, 0);
    buf_clear(&s->names);
    for (size_t i = 0; i < list.count; i++) {
        struct str name = members.at[list.first + i].name;

        buf_add(&s->names, str_n((const char *)&name.len, sizeof name.len));
        buf_add(&s->names, name);
    }
    json_members_release(&members);
    return buf_str(&s->names);
}

static bool brings_input(const struct letter *l)
{
    return l->dir == TO_SERVER && !is_about_tasks(l->m.method) &&
           (json_type(json_get(l->m.params, STR("requestState"))) == JSON_STRING ||
            json_type(json_get(l->m.params, STR("inputResponses"))) == JSON_OBJECT);
}

/* An equal state proves it. Without one, the same method and subject and exactly the
 * wanted names speak for it, if they fit one operation and no other. */
static bool find_retried(struct sequel *s, const struct letter *l, struct ledger_link *link)
{
    struct json_val state = json_get(l->m.params, STR("requestState"));
    struct bond bond = {
        .kind = BOND_STATE,
        .dir = l->dir,
        .place = &l->place,
        .parts = { ledger_clip(l->m.method), ledger_clip(l->subject), STR_NONE },
    };

    if (json_type(state) == JSON_STRING) {
        bond.parts[2] = json_text(state, l->scratch);
        return bond_find(s->bonds, &bond, link) && !link->inferred;
    }
    bond.kind = BOND_INPUT;
    bond.parts[2] = names_of(s, json_get(l->m.params, STR("inputResponses")));
    if (!bond_find(s->bonds, &bond, link) || link->inferred)
        return false;
    link->inferred = true;
    return true;
}

static bool find_by(struct sequel *s, const struct letter *l, enum bond_kind kind,
                    struct str about, struct json_val value, struct ledger_link *link)
{
    struct bond bond = {
        .kind = kind,
        .dir = l->dir,
        .place = &l->place,
        .parts = { about, json_text(value, l->scratch), STR_NONE },
    };

    return json_type(value) == JSON_STRING && bond_find(s->bonds, &bond, link);
}

bool sequel_find(struct sequel *s, const struct letter *l, struct ledger_link *link)
{
    enum operation_link kind = LINK_NONE;

    if (is_about_tasks(l->m.method) &&
        find_by(s, l, BOND_TASK, STR_NONE, json_get(l->m.params, STR("taskId")), link))
        kind = LINK_TASK;
    else if (brings_input(l) && find_retried(s, l, link))
        kind = LINK_RETRY;
    else if (is_list(l->m.method) && find_by(s, l, BOND_CURSOR, ledger_clip(l->m.method),
                                             json_get(l->m.params, STR("cursor")), link))
        kind = LINK_PAGE;
    if (kind == LINK_NONE)
        *link = (struct ledger_link){ .number = 0 };
    else
        link->kind = kind;
    return kind != LINK_NONE;
}

void sequel_begin(struct sequel *s, struct ledger_op *op, const struct letter *l)
{
    struct ledger_op *head = op->parent;
    enum operation_link link = op->op.link;
    bool goes_on = link == LINK_RETRY || link == LINK_TASK || link == LINK_PAGE;

    if (brings_input(l))
        op->op.flags |= OP_RETRY;
    if (is_about_tasks(l->m.method) && l->subject.len) {
        op->op.flags |= OP_TASK;
        ledger_set_task(s->ledger, op, l->subject);
    }
    if (!goes_on)
        return;
    if (!head) {
        op->op.flags |= OP_AFTER_END;
        return;
    }
    if (link == LINK_TASK) {
        if (str_eq(l->m.method, STR("tasks/update")))
            ledger_go_on(s->ledger, head);
        return;
    }
    bond_untie(s->bonds, s->ledger, head, link == LINK_RETRY ? BOND_INPUT : BOND_CURSOR);
    head->op.flags &= ~(unsigned)OP_MORE;
    head->op.outcome = OUTCOME_PENDING;
    ledger_go_on(s->ledger, head);
}

/* The operation whose outcome an answer decides: its own, or that of the head. */
static struct ledger_op *head_of(struct ledger_op *op)
{
    return op->parent && (op->op.link == LINK_RETRY || op->op.link == LINK_PAGE) ? op->parent
                                                                                 : op;
}

static void set_error(struct operation *op, struct json_val error)
{
    op->outcome = OUTCOME_RPC_ERROR;
    op->flags &= ~(unsigned)OP_CODE;
    if (json_int(json_get(error, STR("code")), &op->code))
        op->flags |= OP_CODE;
}

static enum operation_outcome outcome_of(struct json_val result)
{
    return json_type(json_get(result, STR("isError"))) == JSON_TRUE ? OUTCOME_TOOL_ERROR
                                                                    : OUTCOME_OK;
}

/* The handle of a task: since 2026-07-28 the result itself, before that a member of it. */
static struct json_val handle_in(const struct ledger_op *op, struct json_val result)
{
    struct json_val task = json_get(result, STR("task"));

    if (is_about_tasks(op->op.method))
        return JSON_VAL_NONE;
    if (json_is(json_get(result, STR("resultType")), STR("task")))
        task = result;
    return json_type(json_get(task, STR("taskId"))) == JSON_STRING &&
                   json_type(json_get(task, STR("status"))) == JSON_STRING
               ? task
               : JSON_VAL_NONE;
}

static bool wants_input(const struct ledger_op *op, struct json_val result)
{
    return op->op.dir == TO_SERVER &&
           json_is(json_get(result, STR("resultType")), STR("input_required"));
}

static void wait_for_input(struct sequel *s, struct ledger_op *head, const struct letter *l)
{
    struct json_val state = json_get(l->m.result, STR("requestState"));
    struct json_val inputs = json_get(l->m.result, STR("inputRequests"));
    struct bond bond = {
        .kind = BOND_STATE,
        .dir = head->op.dir,
        .place = &head->place,
        .parts = { head->op.method, head->op.subject, json_text(state, l->scratch) },
    };

    if (json_type(state) != JSON_STRING) {
        bond.kind = BOND_INPUT;
        bond.parts[2] = names_of(s, inputs);
    }
    if (json_type(state) == JSON_STRING || json_count(inputs))
        bond_tie(s->bonds, s->ledger, &bond, head);
    head->op.flags |= OP_INPUT;
    ledger_wait(s->ledger, head);
}

void sequel_status(struct sequel *s, struct ledger_op *head, struct json_val task)
{
    struct json_val status = json_get(task, STR("status"));
    struct json_val result = json_get(task, STR("result")),
                    error = json_get(task, STR("error"));

    if (json_is(status, STR("completed"))) {
        head->completed = true;
        head->op.outcome = outcome_of(result);
        head->decided = json_exists(result);
    } else if (json_is(status, STR("failed"))) {
        set_error(&head->op, error);
        head->decided = json_exists(error);
    } else if (json_is(status, STR("cancelled"))) {
        head->op.flags |= OP_CANCELLED;
        head->op.outcome = OUTCOME_CANCELLED;
        head->decided = true;
    } else if (head->op.dir == TO_SERVER) {
        if (json_exists(json_get(task, STR("inputRequests")))) {
            head->op.flags |= OP_INPUT;
            ledger_wait(s->ledger, head);
        } else {
            ledger_go_on(s->ledger, head);
        }
    }
}

static void become_task(struct sequel *s, struct ledger_op *head, const struct letter *l,
                        struct json_val handle)
{
    struct str id = json_text(json_get(handle, STR("taskId")), l->scratch);
    struct bond bond = { .kind = BOND_TASK,
                         .dir = head->op.dir,
                         .place = &head->place,
                         .parts = { STR_NONE, id, STR_NONE } };

    bond_tie(s->bonds, s->ledger, &bond, head);
    ledger_set_task(s->ledger, head, id);
    head->op.flags |= OP_TASK;
    sequel_status(s, head, handle);
}

/* "tools" of "tools/list". */
static size_t items_in(struct str method, struct json_val result)
{
    struct str what = str_n(method.at, method.len - STR("/list").len);

    if (str_eq(what, STR("resources/templates")))
        what = STR("resourceTemplates");
    return json_count(json_get(result, what));
}

static void turn_page(struct sequel *s, struct ledger_op *op, struct ledger_op *head,
                      const struct letter *l)
{
    struct json_val cursor = json_get(l->m.result, STR("nextCursor"));
    size_t items = items_in(op->op.method, l->m.result);
    struct bond bond = {
        .kind = BOND_CURSOR,
        .dir = head->op.dir,
        .place = &head->place,
        .parts = { head->op.method, json_text(cursor, l->scratch), STR_NONE },
    };

    op->op.items = items;
    if (head != op)
        head->op.items += items;
    if (!json_inner(cursor).len)
        return;
    bond_tie(s->bonds, s->ledger, &bond, head);
    op->op.flags |= OP_MORE;
    head->op.flags |= OP_MORE;
    op->goes_on = true;
    ledger_wait(s->ledger, head);
}

/* The answer to a request about a task, as far as it concerns the task. */
static void answer_about_task(struct sequel *s, struct ledger_op *head,
                              const struct ledger_op *op, const struct letter *l)
{
    bool result = l->m.kind == MCP_RESULT;

    if (!str_eq(op->op.method, STR("tasks/result"))) {
        sequel_status(s, head, l->m.result);
    } else if (result) {
        head->op.outcome = outcome_of(l->m.result);
        head->decided = true;
    } else if (!head->completed) { /* else it could not be fetched, which is another matter */
        set_error(&head->op, l->m.error);
        head->decided = true;
    }
}

/* A result that is not the last word. */
static void go_on(struct sequel *s, struct ledger_op *op, const struct letter *l)
{
    struct ledger_op *head = head_of(op);
    struct json_val handle = handle_in(op, l->m.result);

    if (wants_input(op, l->m.result)) {
        op->op.answer = ANSWER_INPUT;
        op->op.flags |= OP_INPUT;
        op->goes_on = true;
        head->op.outcome = OUTCOME_PENDING;
        wait_for_input(s, head, l);
    } else if (json_exists(handle)) {
        op->op.answer = ANSWER_TASK;
        op->op.flags |= OP_TASK;
        head->op.outcome = OUTCOME_PENDING;
        become_task(s, head, l, handle);
        op->goes_on = head != op || !head->decided;
    } else if (is_list(op->op.method)) {
        turn_page(s, op, head, l);
    }
}

void sequel_judge(struct operation *op, const struct mcp_message *answer)
{
    if (answer->kind == MCP_ERROR) {
        op->answer = ANSWER_ERROR;
        set_error(op, answer->error);
    } else {
        op->answer = ANSWER_RESULT;
        op->outcome = outcome_of(answer->result);
    }
}

bool sequel_answer(struct sequel *s, struct ledger_op *op, const struct letter *l)
{
    sequel_judge(&op->op, &l->m);
    if (op->op.flags & OP_CANCELLED)
        op->op.outcome = OUTCOME_LATE;
    else if (l->m.kind == MCP_RESULT)
        go_on(s, op, l);
    if (op->op.link == LINK_TASK && op->parent)
        answer_about_task(s, op->parent, op, l);
    return op->goes_on && head_of(op) == op;
}

void sequel_cancel(struct sequel *s, struct ledger_op *op)
{
    for (struct ledger_op *o = op;; o = head_of(o)) {
        o->op.flags |= OP_CANCELLED;
        o->op.outcome = OUTCOME_CANCELLED;
        ledger_go_on(s->ledger, o);
        if (head_of(o) == o)
            break;
    }
}

struct ledger_op *sequel_end(struct ledger_op *op)
{
    struct ledger_op *head = op->parent;
    enum operation_link link = op->op.link;

    if (!head || (link != LINK_RETRY && link != LINK_PAGE && link != LINK_TASK))
        return NULL;
    if (head->decided)
        return head;
    if (link == LINK_TASK || op->goes_on || op->op.outcome == OUTCOME_PENDING)
        return NULL;
    head->op.outcome = op->op.outcome;
    head->op.code = op->op.code;
    head->op.status = op->op.status;
    head->op.exit_code = op->op.exit_code;
    head->op.signal = op->op.signal;
    head->op.has |= op->op.has & (HAS_EXIT_CODE | HAS_SIGNAL);
    head->op.flags = (head->op.flags & ~(unsigned)OP_CODE) | (op->op.flags & OP_CODE);
    return head;
}
