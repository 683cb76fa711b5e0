#include "check/definition-check.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/units.h"
#include "diff/text-hazards.h"
#include "mcp/params-hash.h"
#include "mcp/surface.h"
#include "ops/op-stats.h"
#include "trace/limits.h"

enum { MESSAGE_MAX = 8 * DEFINITION_CHECK_TEXT };

/* A definition that calls are judged by. */
struct checked_tool {
    struct str text;
    struct json document;               /* of `text` */
    struct json_schema *input, *output; /* NULL: none */
};

/* The violations of one rule by one tool. */
struct definition_row {
    struct str kind, name; /* empty in the shared row */
    uint64_t count;
    uint64_t seq, line; /* of the first one */
    struct str path;    /* in its message; empty: not in one place */
    struct str example; /* what is wrong there */
};

static const char *const rule_ids[DEFINITION_RULES] = {
    [DEFINITION_HIDDEN_CHARACTERS] = "hidden-characters",
    [DEFINITION_INPUT_SCHEMA] = "input-schema",
    [DEFINITION_OUTPUT_SCHEMA] = "output-schema",
};

const char *definition_check_id(enum definition_rule rule)
{
    return rule_ids[rule];
}

enum definition_rule definition_check_find(struct str id)
{
    enum definition_rule rule = 0;

    while (rule < DEFINITION_RULES && !str_eq(str_z(rule_ids[rule]), id))
        rule++;
    return rule;
}

/* A violation, before it is kept. */
struct violation {
    enum definition_rule rule;
    struct str kind, name;
    uint64_t count;
    const struct record *record;
    struct str path, example;
};

static void add_violation(struct definition_check *c, const struct violation *v)
{
    const struct str name[] = { v->kind, v->name };
    struct capped_table *rows = &c->rows[v->rule];
    struct definition_row *row;
    bool is_new;

    row = capped_table_row(rows, name, 2, &is_new);
    if (is_new) {
        row->kind = v->kind;
        row->name = arena_truncated(&rows->arena, v->name, DEFINITION_CHECK_TEXT);
    }
    if (!row->count) {
        row->seq = v->record->has & HAS_SEQ ? v->record->message.seq : 0;
        row->line = v->record->message.line;
        row->path = arena_truncated(&rows->arena, v->path, DEFINITION_CHECK_TEXT);
        row->example = arena_truncated(&rows->arena, v->example, DEFINITION_CHECK_TEXT);
    }
    row->count += v->count;
}

/* Definitions. */

/* "3 invisible, 1 tag" */
static struct str describe_hidden(struct definition_check *c, const struct text_hazards *h,
                                  uint64_t *total)
{
    struct str text = STR_NONE;

    for (enum text_hazard_class k = 0; k < HAZARD_CLASSES; k++) {
        struct str class = text_hazards_class(k);

        if (!h->hidden[k])
            continue;
        text = arena_printf(&c->scratch, "%.*s%s%llu %.*s", STR_ARG(text), text.len ? ", " : "",
                            (unsigned long long)h->hidden[k], STR_ARG(class));
        *total += h->hidden[k];
    }
    return text;
}

static void check_hidden(struct definition_check *c, const struct record *r, struct str kind,
                         struct str name, struct json_val text)
{
    struct violation v = {
        .rule = DEFINITION_HIDDEN_CHARACTERS, .kind = kind, .name = name, .record = r
    };
    struct text_hazards hazards;

    if (recent_keys_find(&c->seen, json_raw(text)))
        return;
    recent_keys_add(&c->seen, json_raw(text), 0, 0);
    text_hazards_read(&hazards, text, &c->scratch);
    v.example = describe_hidden(c, &hazards, &v.count);
    if (v.count)
        add_violation(c, &v);
}

static struct json_schema *new_schema(const struct checked_tool *t, struct str member)
{
    struct json_val schema = json_get(json_root(&t->document), member);

    return json_exists(schema) ? json_schema_new(schema) : NULL;
}

static struct checked_tool *new_tool(struct definition_check *c, struct str text)
{
    struct checked_tool *t;
    struct json_fault fault;

    if (c->definitions.count >= DEFINITION_CHECK_TOOLS ||
        text.len > DEFINITION_CHECK_BYTES - c->bytes)
        return NULL;
    t = arena_new(&c->texts, struct checked_tool);
    t->text = arena_str(&c->texts, text);
    json_init(&t->document);
    if (!json_scan(&t->document, t->text, &fault))
        BUG("the text of a JSON value is no JSON");
    t->input = new_schema(t, STR("inputSchema"));
    t->output = new_schema(t, STR("outputSchema"));
    c->bytes += text.len;
    return t;
}

/* Returns the definition, added if it is new; NULL if there is no room. */
static struct checked_tool *find_tool(struct definition_check *c, struct json_val definition)
{
    struct str text = json_raw(definition);
    uint64_t hash = hash_bytes(text, 0);
    struct checked_tool *t = map_get(&c->definitions, map_number_key(&hash));

    if (t)
        return str_eq(t->text, text) ? t : NULL;
    t = new_tool(c, text);
    if (t)
        map_put(&c->definitions, map_number_key(&hash), t);
    return t;
}

/* The name of a tool in its session: the HTTP session, else the process, else all together. */
static struct str tool_key(struct definition_check *c, const struct operation *op,
                           struct str tool)
{
    bool has_session = op->has & HAS_SESSION;
    uint64_t conn = op->has & HAS_CONN && !(op->has & HAS_EXCHANGE) ? op->conn : 0;

    return arena_printf(&c->scratch, "%d %llu %.*s", has_session,
                        (unsigned long long)(has_session ? op->session : conn), STR_ARG(tool));
}

static void read_tool(struct definition_check *c, const struct operation *op, struct str name,
                      struct json_val definition)
{
    recent_keys_add(&c->latest, tool_key(c, op, name),
                    (uint64_t)(uintptr_t)find_tool(c, definition), 0);
}

static void read_list(struct definition_check *c, const struct operation_event *ev,
                      enum surface_kind kind, struct json_val list)
{
    struct json_iter it = json_each(list);
    static const struct str names[SURFACE_LISTS] = {
        [SURFACE_TOOL] = STR_INIT("name"),
        [SURFACE_RESOURCE] = STR_INIT("uri"),
        [SURFACE_TEMPLATE] = STR_INIT("uriTemplate"),
        [SURFACE_PROMPT] = STR_INIT("name"),
    };

    while (json_next(&it)) {
        struct str name = json_text(json_get(it.value, names[kind]), &c->scratch);

        check_hidden(c, ev->record, surface_kind_name(kind), name, it.value);
        if (kind == SURFACE_TOOL)
            read_tool(c, ev->op, name, it.value);
    }
}

static void read_advertised(struct definition_check *c, const struct operation_event *ev,
                            struct json_val result)
{
    struct json_val instructions = json_get(result, STR("instructions"));

    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (str_eq(ev->op->method, surface_list_method(k)))
            read_list(c, ev, k, json_get(result, surface_list_member(k)));
    if ((str_eq(ev->op->method, STR("initialize")) ||
         str_eq(ev->op->method, STR("server/discover"))) &&
        json_exists(instructions))
        check_hidden(c, ev->record, surface_kind_name(SURFACE_SERVER), STR("instructions"),
                     instructions);
}

/* Calls. */

struct value_check {
    struct buf path, message;
    bool violated, redacted;
};

static bool on_violation(void *arg, const struct json_schema_violation *v)
{
    struct value_check *run = arg;
    struct buf location;

    if (params_is_redacted(v->value)) {
        run->redacted = true;
        return true;
    }
    buf_init(&location, DEFINITION_CHECK_TEXT);
    json_location_write(v->location, &location);
    buf_add(&run->path, str_skip(buf_str(&location), 1)); /* without its "$" */
    buf_add(&run->message, v->message);
    buf_release(&location);
    run->violated = true;
    return false;
}

static void count_unjudged(struct definition_check *c, enum definition_rule rule)
{
    *(rule == DEFINITION_INPUT_SCHEMA ? &c->unjudged.calls : &c->unjudged.results) += 1;
}

/* A value without a violation is not known to be valid. */
static void add_unjudged(struct definition_check *c, enum definition_rule rule,
                         const struct value_check *run, const struct json_schema_result *result)
{
    if (result->verdict == JSON_SCHEMA_VALID)
        return;
    count_unjudged(c, rule);
    c->unjudged.schema.unchecked |= result->unchecked;
    c->unjudged.redacted = c->unjudged.redacted || run->redacted;
}

static void check_value(struct definition_check *c, const struct operation_event *ev,
                        enum definition_rule rule, struct json_schema *schema,
                        struct json_val value, struct str at)
{
    struct violation v = { .rule = rule,
                           .kind = surface_kind_name(SURFACE_TOOL),
                           .name = ev->op->subject,
                           .count = 1,
                           .record = ev->record };
    struct value_check run = { .violated = false };
    struct json_schema_result result;

    buf_init(&run.path, DEFINITION_CHECK_TEXT);
    buf_init(&run.message, DEFINITION_CHECK_TEXT);
    buf_add(&run.path, at);
    result = json_schema_check(schema, value, on_violation, &run);
    v.path = buf_str(&run.path);
    v.example = buf_str(&run.message);
    if (run.violated)
        add_violation(c, &v);
    else
        add_unjudged(c, rule, &run, &result);
    buf_release(&run.path);
    buf_release(&run.message);
}

/* Returns the definition that a call is judged by; NULL: none, or it was not kept. */
static const struct checked_tool *tool_of(struct definition_check *c,
                                          const struct operation *op)
{
    const struct recent_keys_entry *e;

    if (op->dir != TO_SERVER || !str_eq(op->method, STR("tools/call")))
        return NULL;
    e = recent_keys_find(&c->latest, tool_key(c, op, op->subject));
    if (e && !e->value)
        c->unjudged.not_kept = true;
    return e ? (const struct checked_tool *)(uintptr_t)e->value : NULL;
}

static void check_arguments(struct definition_check *c, const struct operation_event *ev)
{
    const struct checked_tool *t = tool_of(c, ev->op);
    struct json_val arguments =
        json_get(json_get(ev->record->message.msg, STR("params")), STR("arguments"));

    if (!t || !t->input || !op_stats_is_call(ev->op))
        return;
    if (!json_exists(arguments))
        arguments = json_root(&c->empty);
    check_value(c, ev, DEFINITION_INPUT_SCHEMA, t->input, arguments, STR("$.params.arguments"));
}

static void check_result(struct definition_check *c, const struct operation_event *ev,
                         struct json_val result)
{
    const struct checked_tool *t = tool_of(c, ev->op);

    if (!t || !t->output || ev->op->response != RESPONSE_RESULT ||
        json_type(json_get(result, STR("isError"))) == JSON_TRUE)
        return;
    check_value(c, ev, DEFINITION_OUTPUT_SCHEMA, t->output,
                json_get(result, STR("structuredContent")), STR("$.result.structuredContent"));
}

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct definition_check *c = (struct definition_check *)self;
    struct json_val result;

    (void)e;
    if (!ev->message || ev->record->kind != RECORD_MESSAGE || ev->record->has & HAS_REDELIVERS)
        return true;
    arena_clear(&c->scratch);
    if (ev->message->role == ROLE_REQUEST)
        check_arguments(c, ev);
    if (ev->message->role != ROLE_RESPONSE || ev->op->kind != OPERATION_REQUEST)
        return true;
    result = json_get(ev->record->message.msg, STR("result"));
    read_advertised(c, ev, result);
    check_result(c, ev, result);
    return true;
}

void definition_check_init(struct definition_check *c)
{
    struct json_fault fault;

    *c = (struct definition_check){ .events = { put_event } };
    map_init(&c->definitions);
    recent_keys_init(&c->latest, LIMIT_RECENT_KEYS);
    recent_keys_init(&c->seen, LIMIT_RECENT_KEYS);
    for (enum definition_rule rule = 0; rule < DEFINITION_RULES; rule++)
        capped_table_init(&c->rows[rule], sizeof(struct definition_row), DEFINITION_CHECK_ROWS);
    json_init(&c->empty);
    if (!json_scan(&c->empty, STR("{}"), &fault))
        BUG("an empty object is no JSON");
}

void definition_check_release(struct definition_check *c)
{
    for (struct map_entry *e = NULL; (e = map_next(&c->definitions, e));) {
        struct checked_tool *t = e->value;

        json_schema_free(t->input);
        json_schema_free(t->output);
        json_release(&t->document);
    }
    map_release(&c->definitions);
    recent_keys_release(&c->latest);
    recent_keys_release(&c->seen);
    for (enum definition_rule rule = 0; rule < DEFINITION_RULES; rule++)
        capped_table_release(&c->rows[rule]);
    json_release(&c->empty);
    arena_release(&c->texts);
    arena_release(&c->scratch);
}

/* Calls and results that were not judged. */

void definition_check_write_reason(struct buf *to, const struct definition_unjudged *u)
{
    size_t start = to->len;

    json_schema_write_unchecked(&u->schema, to);
    if (u->redacted)
        buf_printf(to, "%sredacted values", to->len > start ? "; " : "");
    if (u->not_kept)
        buf_printf(to, "%stoo many or too large definitions", to->len > start ? "; " : "");
}

void definition_check_write_unjudged(struct buf *to, const struct definition_unjudged *u)
{
    if (!u->calls && !u->results && !u->not_kept)
        return;
    if (u->calls)
        units_write_count(to, u->calls, "call", "calls");
    if (u->calls && u->results)
        buf_add(to, STR(" and "));
    if (u->results)
        units_write_count(to, u->results, "result", "results");
    if (!u->calls && !u->results)
        buf_add(to, STR("calls"));
    buf_add(to, STR(" not judged completely by their schema ("));
    definition_check_write_reason(to, u);
    buf_add_ch(to, ')');
}

/* Findings. */

static void write_message(struct buf *to, enum definition_rule rule,
                          const struct definition_row *row)
{
    if (row->kind.len)
        buf_printf(to, "%.*s '%.*s': ", STR_ARG(row->kind), STR_ARG(row->name));
    else
        buf_add(to, STR("others: "));
    if (rule == DEFINITION_HIDDEN_CHARACTERS) {
        units_write_count(to, row->count, "hidden character", "hidden characters");
        buf_printf(to, " (%.*s)", STR_ARG(row->example));
    } else if (rule == DEFINITION_INPUT_SCHEMA) {
        units_write_count(to, row->count, "call", "calls");
        buf_add(to, STR(" with arguments that the inputSchema rejects"));
    } else {
        units_write_count(to, row->count, "result", "results");
        buf_add(to, STR(" that the outputSchema rejects"));
    }
    if (row->path.len)
        buf_printf(to, "%s: %.*s %.*s", row->count > 1 ? "; the first" : "", STR_ARG(row->path),
                   STR_ARG(row->example));
    if (row->seq)
        buf_printf(to, " (seq %llu)", (unsigned long long)row->seq);
}

static void add_row(struct finding_list *to, enum definition_rule rule,
                    const struct definition_row *row)
{
    struct buf text;

    buf_init(&text, MESSAGE_MAX);
    write_message(&text, rule, row);
    finding_list_add(to, &(struct finding){ .rule = str_z(rule_ids[rule]),
                                            .severity = FINDING_ERROR,
                                            .message = buf_str(&text),
                                            .count = row->count,
                                            .seq = row->seq,
                                            .line = row->line,
                                            .subject = row->name,
                                            .path = row->path });
    buf_release(&text);
}

void definition_check_finish(const struct definition_check *c,
                             const bool ignored[DEFINITION_RULES], struct finding_list *to)
{
    for (enum definition_rule rule = 0; rule < DEFINITION_RULES; rule++) {
        const struct capped_table *rows = &c->rows[rule];

        if (ignored[rule])
            continue;
        for (size_t i = 0; i < rows->count; i++)
            add_row(to, rule, rows->rows[i]);
        if (rows->overflow)
            add_row(to, rule, rows->overflow);
    }
}
