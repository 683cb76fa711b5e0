#include "ops/op-continue.h"

#include "json/member-index.h"

void op_continue_init(struct op_continue *s, struct op_keys *keys, struct open_ops *open_ops)
{
    *s = (struct op_continue){ .keys = keys, .open_ops = open_ops };
    buf_init(&s->names, JSON_MAX_TEXT);
}

void op_continue_release(struct op_continue *s)
{
    buf_release(&s->names);
}

static bool is_task_method(struct str method)
{
    return str_starts(method, STR("tasks/"));
}

static bool is_list(struct str method)
{
    return str_ends(method, STR("/list"));
}

/* The names of all members, sorted. */
static struct str member_names(struct op_continue *s, struct json_val object)
{
    struct json_member_index members;
    struct json_member_list list;

    json_member_index_init(&members);
    list = json_member_index_add(&members, object, NULL, 0);
    buf_clear(&s->names);
    for (size_t i = 0; i < list.count; i++) {
        struct str name = members.at[list.first + i].name;

        buf_add(&s->names, str_n((const char *)&name.len, sizeof name.len));
        buf_add(&s->names, name);
    }
    json_member_index_release(&members);
    return buf_str(&s->names);
}

static bool has_input(const struct op_message *msg)
{
    return msg->dir == TO_SERVER && !is_task_method(msg->m.method) &&
           (json_type(json_get(msg->m.params, STR("requestState"))) == JSON_STRING ||
            json_type(json_get(msg->m.params, STR("inputResponses"))) == JSON_OBJECT);
}

/* Finds the operation that a retry continues: by its requestState, else by method, subject and
 * exactly the required inputs, if only one operation has them; that link is inferred. */
static bool find_retried(struct op_continue *s, const struct op_message *msg,
                         struct op_link *link)
{
    struct json_val state = json_get(msg->m.params, STR("requestState"));
    struct op_key key = {
        .kind = OP_KEY_STATE,
        .dir = msg->dir,
        .scopes = &msg->scopes,
        .parts = { open_ops_clip(msg->m.method), open_ops_clip(msg->subject), STR_NONE },
    };

    if (json_type(state) == JSON_STRING) {
        key.parts[2] = json_text(state, msg->scratch);
        return op_keys_find(s->keys, &key, link) && !link->inferred;
    }
    key.kind = OP_KEY_INPUT;
    key.parts[2] = member_names(s, json_get(msg->m.params, STR("inputResponses")));
    if (!op_keys_find(s->keys, &key, link) || link->inferred)
        return false;
    link->inferred = true;
    return true;
}

static bool find_by_key(struct op_continue *s, const struct op_message *msg,
                        enum op_key_kind kind, struct str about, struct json_val value,
                        struct op_link *link)
{
    struct op_key key = {
        .kind = kind,
        .dir = msg->dir,
        .scopes = &msg->scopes,
        .parts = { about, json_text(value, msg->scratch), STR_NONE },
    };

    return json_type(value) == JSON_STRING && op_keys_find(s->keys, &key, link);
}

bool op_continue_find(struct op_continue *s, const struct op_message *msg, struct op_link *link)
{
    enum operation_link kind = LINK_NONE;

    if (is_task_method(msg->m.method) &&
        find_by_key(s, msg, OP_KEY_TASK, STR_NONE, json_get(msg->m.params, STR("taskId")),
                    link))
        kind = LINK_TASK;
    else if (has_input(msg) && find_retried(s, msg, link))
        kind = LINK_RETRY;
    else if (is_list(msg->m.method) &&
             find_by_key(s, msg, OP_KEY_CURSOR, open_ops_clip(msg->m.method),
                         json_get(msg->m.params, STR("cursor")), link))
        kind = LINK_PAGE;
    if (kind == LINK_NONE)
        *link = (struct op_link){ .number = 0 };
    else
        link->kind = kind;
    return kind != LINK_NONE;
}

void op_continue_begin(struct op_continue *s, struct open_op *op, const struct op_message *msg)
{
    struct open_op *head = op->parent;
    enum operation_link link = op->op.link;
    bool continues = link == LINK_RETRY || link == LINK_TASK || link == LINK_PAGE;

    if (has_input(msg))
        op->op.flags |= OP_RETRY;
    if (is_task_method(msg->m.method) && msg->subject.len) {
        op->op.flags |= OP_TASK;
        open_ops_set_task(s->open_ops, op, msg->subject);
    }
    if (!continues)
        return;
    if (!head) {
        op->op.flags |= OP_AFTER_END;
        return;
    }
    if (link == LINK_TASK) {
        if (str_eq(msg->m.method, STR("tasks/update")))
            open_ops_end_wait(s->open_ops, head);
        return;
    }
    op_keys_remove(s->keys, s->open_ops, head,
                   link == LINK_RETRY ? OP_KEY_INPUT : OP_KEY_CURSOR);
    head->op.flags &= ~(unsigned)OP_MORE_PAGES;
    head->op.outcome = OUTCOME_PENDING;
    open_ops_end_wait(s->open_ops, head);
}

/* The operation whose outcome a response decides: its own or its head. */
static struct open_op *head_of(struct open_op *op)
{
    return op->parent && (op->op.link == LINK_RETRY || op->op.link == LINK_PAGE) ? op->parent
                                                                                 : op;
}

static void set_error(struct operation *op, struct json_val error)
{
    op->outcome = OUTCOME_RPC_ERROR;
    op->flags &= ~(unsigned)OP_HAS_CODE;
    if (json_int(json_get(error, STR("code")), &op->code))
        op->flags |= OP_HAS_CODE;
}

static enum operation_outcome outcome_of(struct json_val result)
{
    return json_type(json_get(result, STR("isError"))) == JSON_TRUE ? OUTCOME_TOOL_ERROR
                                                                    : OUTCOME_OK;
}

/* The task handle: in 2026-07-28 the result itself, before that its member "task". */
static struct json_val task_handle_in(const struct open_op *op, struct json_val result)
{
    struct json_val task = json_get(result, STR("task"));

    if (is_task_method(op->op.method))
        return JSON_VAL_NONE;
    if (json_is(json_get(result, STR("resultType")), STR("task")))
        task = result;
    return json_type(json_get(task, STR("taskId"))) == JSON_STRING &&
                   json_type(json_get(task, STR("status"))) == JSON_STRING
               ? task
               : JSON_VAL_NONE;
}

static bool wants_input(const struct open_op *op, struct json_val result)
{
    return op->op.dir == TO_SERVER &&
           json_is(json_get(result, STR("resultType")), STR("input_required"));
}

static void wait_for_input(struct op_continue *s, struct open_op *head,
                           const struct op_message *msg)
{
    struct json_val state = json_get(msg->m.result, STR("requestState"));
    struct json_val inputs = json_get(msg->m.result, STR("inputRequests"));
    struct op_key key = {
        .kind = OP_KEY_STATE,
        .dir = head->op.dir,
        .scopes = &head->scopes,
        .parts = { head->op.method, head->op.subject, json_text(state, msg->scratch) },
    };

    if (json_type(state) != JSON_STRING) {
        key.kind = OP_KEY_INPUT;
        key.parts[2] = member_names(s, inputs);
    }
    if (json_type(state) == JSON_STRING || json_count(inputs))
        op_keys_add(s->keys, s->open_ops, &key, head);
    head->op.flags |= OP_INPUT_REQUIRED;
    open_ops_begin_wait(s->open_ops, head);
}

void op_continue_task_status(struct op_continue *s, struct open_op *head, struct json_val task)
{
    struct json_val status = json_get(task, STR("status"));
    struct json_val result = json_get(task, STR("result")),
                    error = json_get(task, STR("error"));

    if (json_is(status, STR("completed"))) {
        head->task_completed = true;
        head->op.outcome = outcome_of(result);
        head->op.result_bytes = json_raw(result).len;
        head->outcome_decided = json_exists(result);
    } else if (json_is(status, STR("failed"))) {
        set_error(&head->op, error);
        head->outcome_decided = json_exists(error);
    } else if (json_is(status, STR("cancelled"))) {
        head->op.flags |= OP_CANCELLED;
        head->op.outcome = OUTCOME_CANCELLED;
        head->outcome_decided = true;
    } else if (head->op.dir == TO_SERVER) {
        if (json_exists(json_get(task, STR("inputRequests")))) {
            head->op.flags |= OP_INPUT_REQUIRED;
            open_ops_begin_wait(s->open_ops, head);
        } else {
            open_ops_end_wait(s->open_ops, head);
        }
    }
}

static void become_task(struct op_continue *s, struct open_op *head,
                        const struct op_message *msg, struct json_val handle)
{
    struct str id = json_text(json_get(handle, STR("taskId")), msg->scratch);
    struct op_key key = { .kind = OP_KEY_TASK,
                          .dir = head->op.dir,
                          .scopes = &head->scopes,
                          .parts = { STR_NONE, id, STR_NONE } };

    op_keys_add(s->keys, s->open_ops, &key, head);
    open_ops_set_task(s->open_ops, head, id);
    head->op.flags |= OP_TASK;
    op_continue_task_status(s, head, handle);
}

/* "tools" of "tools/list". */
static size_t count_items(struct str method, struct json_val result)
{
    struct str what = str_n(method.at, method.len - STR("/list").len);

    if (str_eq(what, STR("resources/templates")))
        what = STR("resourceTemplates");
    return json_count(json_get(result, what));
}

static void handle_page(struct op_continue *s, struct open_op *op, struct open_op *head,
                        const struct op_message *msg)
{
    struct json_val cursor = json_get(msg->m.result, STR("nextCursor"));
    size_t items = count_items(op->op.method, msg->m.result);
    struct op_key key = {
        .kind = OP_KEY_CURSOR,
        .dir = head->op.dir,
        .scopes = &head->scopes,
        .parts = { head->op.method, json_text(cursor, msg->scratch), STR_NONE },
    };

    op->op.items = items;
    if (head != op)
        head->op.items += items;
    if (!json_unquoted(cursor).len)
        return;
    op_keys_add(s->keys, s->open_ops, &key, head);
    op->op.flags |= OP_MORE_PAGES;
    head->op.flags |= OP_MORE_PAGES;
    op->continues = true;
    open_ops_begin_wait(s->open_ops, head);
}

/* Updates the outcome of a task from the response to a request about it. */
static void update_task_outcome(struct op_continue *s, struct open_op *head,
                                const struct open_op *op, const struct op_message *msg)
{
    bool result = msg->m.kind == MCP_RESULT;

    if (!str_eq(op->op.method, STR("tasks/result"))) {
        op_continue_task_status(s, head, msg->m.result);
    } else if (result) {
        head->op.outcome = outcome_of(msg->m.result);
        head->op.result_bytes = json_raw(msg->m.result).len;
        head->outcome_decided = true;
    } else if (!head->task_completed) { /* else only fetching the result failed */
        set_error(&head->op, msg->m.error);
        head->outcome_decided = true;
    }
}

/* Handles a result after which the operation may continue. */
static void handle_result(struct op_continue *s, struct open_op *op,
                          const struct op_message *msg)
{
    struct open_op *head = head_of(op);
    struct json_val handle = task_handle_in(op, msg->m.result);

    if (wants_input(op, msg->m.result)) {
        op->op.response = RESPONSE_INPUT_REQUIRED;
        op->op.flags |= OP_INPUT_REQUIRED;
        op->continues = true;
        head->op.outcome = OUTCOME_PENDING;
        wait_for_input(s, head, msg);
    } else if (json_exists(handle)) {
        op->op.response = RESPONSE_TASK;
        op->op.flags |= OP_TASK;
        head->op.outcome = OUTCOME_PENDING;
        become_task(s, head, msg, handle);
        op->continues = head != op || !head->outcome_decided;
    } else if (is_list(op->op.method)) {
        handle_page(s, op, head, msg);
    }
}

/* Counts a result that requires no input and is no handle of a task. */
static void add_result_bytes(struct open_op *op, struct json_val result)
{
    struct open_op *head = head_of(op);

    if (op->op.response != RESPONSE_RESULT)
        return;
    op->op.result_bytes += json_raw(result).len;
    if (head != op)
        head->op.result_bytes += json_raw(result).len;
}

void op_continue_set_outcome(struct operation *op, const struct mcp_message *response)
{
    if (response->kind == MCP_ERROR) {
        op->response = RESPONSE_ERROR;
        set_error(op, response->error);
    } else {
        op->response = RESPONSE_RESULT;
        op->outcome = outcome_of(response->result);
    }
}

bool op_continue_response(struct op_continue *s, struct open_op *op,
                          const struct op_message *msg)
{
    op_continue_set_outcome(&op->op, &msg->m);
    if (op->op.flags & OP_CANCELLED) {
        op->op.outcome = OUTCOME_LATE;
    } else if (msg->m.kind == MCP_RESULT) {
        handle_result(s, op, msg);
        add_result_bytes(op, msg->m.result);
    }
    if (op->op.link == LINK_TASK && op->parent)
        update_task_outcome(s, op->parent, op, msg);
    return op->continues && head_of(op) == op;
}

void op_continue_cancel(struct op_continue *s, struct open_op *op)
{
    for (struct open_op *o = op;; o = head_of(o)) {
        o->op.flags |= OP_CANCELLED;
        o->op.outcome = OUTCOME_CANCELLED;
        open_ops_end_wait(s->open_ops, o);
        if (head_of(o) == o)
            break;
    }
}

struct open_op *op_continue_end(struct open_op *op)
{
    struct open_op *head = op->parent;
    enum operation_link link = op->op.link;

    if (!head || (link != LINK_RETRY && link != LINK_PAGE && link != LINK_TASK))
        return NULL;
    if (head->outcome_decided)
        return head;
    if (link == LINK_TASK || op->continues || op->op.outcome == OUTCOME_PENDING)
        return NULL;
    head->op.outcome = op->op.outcome;
    head->op.code = op->op.code;
    head->op.status = op->op.status;
    head->op.exit_code = op->op.exit_code;
    head->op.signal = op->op.signal;
    head->op.has |= op->op.has & (HAS_EXIT_CODE | HAS_SIGNAL);
    head->op.flags = (head->op.flags & ~(unsigned)OP_HAS_CODE) | (op->op.flags & OP_HAS_CODE);
    return head;
}
