/* format/oatf.c - a description of a server in OATF 0.1 (Open Agent Threat Format), only
 * written.
 *
 * Definitions and results are written as they are. OATF has no sequences: a tool has a response
 * for each set of arguments, and one for all others. Where equal requests had different
 * responses, another phase begins: its trigger is the number of tool calls before it.
 *
 * Responses are templates: "\{{" stands for "{{". In definitions only an opening "{{" without a
 * closing "}}" is escaped: readers reject that. */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "format/attack-notes.h"
#include "trace/limits.h"
#include "json/canonical.h"
#include "json/write.h"

enum { PHASES_MAX = 100 };

#define MARKER_TEXT "\n\n" ATTACK_MARKER "\n"

/* The arguments that a response is for. */
struct predicate {
    struct str json; /* an object of JSON; equal ones have the same text */
    size_t count;    /* of its members */
};

struct oatf {
    struct attack_model model;
    struct attack_notes notes;
    const struct format_options *options;
    struct yaml_out o;
    struct arena arena;           /* until the end */
    struct predicate *predicates; /* of the tool calls with a response, by number - 1 */
    size_t starts[PHASES_MAX];    /* the numbers of the first calls of the phases */
    size_t phases;
};

static void *oatf_begin(const struct format_options *options)
{
    struct oatf *t = mem_new(struct oatf);

    t->options = options;
    attack_model_init(&t->model);
    return t;
}

static void oatf_put(void *state, struct buf *to, const struct record *r)
{
    struct oatf *t = state;

    attack_model_put(&t->model, r);
    to->full = to->full || t->model.failed;
}

static void oatf_put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    struct oatf *t = state;

    (void)to;
    attack_model_put_operation(&t->model, o);
}

/* Writes "\{{" for "{{". Three braces without an end would be an opening "{{" behind the
 * escaped one: a blank separates them. */
static void escape_template(struct buf *to, struct str text)
{
    size_t end = text.len; /* of the last "}}" */

    if (!str_contains(text, STR("{{"))) {
        buf_add(to, text);
        return;
    }
    while (end && !str_ends(str_n(text.at, end), STR("}}")))
        end--;
    for (size_t i = 0; i < text.len; i++) {
        struct str rest = str_skip(text, i);

        if (!str_starts(rest, STR("{{"))) {
            buf_add_ch(to, text.at[i]);
            continue;
        }
        buf_add(to, STR("\\{{"));
        i++;
        if (str_starts(rest, STR("{{{")) && !str_starts(rest, STR("{{{{")) && i >= end)
            buf_add_ch(to, ' ');
    }
}

/* Whether a text has an opening "{{" without a closing "}}". */
static bool is_open_template(struct str text)
{
    while (text.len && !str_starts(text, STR("{{")))
        text = str_skip(text, 1);
    while (str_contains(text, STR("{{"))) {
        while (text.len && !str_starts(text, STR("}}")))
            text = str_skip(text, 1);
        if (!text.len)
            return true;
        text = str_skip(text, 2);
    }
    return false;
}

static void escape_open_template(struct buf *to, struct str text)
{
    if (is_open_template(text))
        escape_template(to, text);
    else
        buf_add(to, text);
}

static bool is_name(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.at[i]) && text.at[i] != '_' && text.at[i] != '-')
            return false;
    return text.len;
}

/* Whether a value would be a condition, not a value to compare with. */
static bool is_condition(struct json_val v)
{
    static const struct str operators[] = {
        STR_INIT("contains"), STR_INIT("starts_with"), STR_INIT("ends_with"), STR_INIT("regex"),
        STR_INIT("any_of"),   STR_INIT("gt"),          STR_INIT("lt"),        STR_INIT("gte"),
        STR_INIT("lte"),      STR_INIT("exists"),
    };

    if (json_type(v) != JSON_OBJECT)
        return false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (json_exists(json_get(v, operators[i])))
            return true;
    return false;
}

/* Appends the arguments that OATF can compare, in one form for all spellings. */
static size_t write_predicate(struct buf *to, struct json_val arguments, struct arena *a)
{
    struct json_iter it = json_each(arguments);
    struct json_out o = json_out_to(to);
    size_t count = 0;

    json_out_object(&o);
    while (json_type(arguments) == JSON_OBJECT && json_next(&it)) {
        struct str name = json_text(it.key, a);
        struct buf value;

        if (!is_name(name) || is_condition(it.value) || json_occurrences(arguments, name) > 1)
            continue;
        buf_init(&value, to->max);
        json_canonical_write(&value, it.value, 0);
        if (!str_contains(buf_str(&value), STR("{{"))) {
            json_out_key_raw(&o, name, buf_str(&value));
            count++;
        }
        buf_release(&value);
    }
    json_out_end_object(&o);
    return count;
}

static void set_predicate(struct oatf *t, const struct attack_call *call)
{
    struct predicate *p = &t->predicates[call->number - 1];
    struct json arguments, sorted;
    struct json_fault fault;
    struct buf text, form;

    json_init(&arguments);
    json_init(&sorted);
    buf_init(&text, LIMIT_LINE);
    buf_init(&form, LIMIT_LINE);
    if (json_scan(&arguments, call->arguments.len ? call->arguments : STR("{}"), &fault))
        p->count = write_predicate(&text, json_root(&arguments), &t->arena);
    if (!text.full && json_scan(&sorted, buf_str(&text), &fault))
        json_canonical_write(&form, json_root(&sorted), 0);
    t->model.failed = t->model.failed || form.full || !form.len;
    p->json = arena_str(&t->arena, buf_str(&form));
    json_release(&arguments);
    json_release(&sorted);
    buf_release(&text);
    buf_release(&form);
}

static bool is_equal(const struct attack_call *a, const struct attack_call *b)
{
    return a->is_error == b->is_error && str_eq(a->response, b->response);
}

/* Name and arguments of a call, as one text. */
static struct str request_key(struct oatf *t, const struct attack_call *call)
{
    struct str json = t->predicates[call->number - 1].json;
    size_t len = call->key.len + 1 + json.len;
    char *at = arena_alloc(&t->arena, len), *end = at;

    str_copy_to(&end, call->key);
    *end++ = '\0';
    str_copy_to(&end, json);
    return str_n(at, len);
}

/* Divides the calls up to a number so that equal requests of a phase have equal responses. */
static void divide(struct oatf *t, size_t up_to)
{
    struct map seen; /* request -> its call */

    map_init(&seen);
    t->starts[t->phases++] = 1;
    for (struct attack_call *c = t->model.first; c; c = c->next) {
        struct attack_call *before;
        struct str key;

        if (!c->number || c->number > up_to)
            continue;
        key = request_key(t, c);
        before = map_get(&seen, key);
        if (before && !is_equal(before, c)) {
            if (t->phases == PHASES_MAX) {
                t->notes.count[ATTACK_REPEATED]++;
                continue;
            }
            t->starts[t->phases++] = c->number;
            map_release(&seen);
            map_init(&seen);
        }
        if (!before || t->starts[t->phases - 1] == c->number)
            map_put(&seen, key, c);
    }
    map_release(&seen);
}

/* Returns whether a call is in a phase: those from `from` to before `end`. */
static bool is_within(const struct attack_call *c, size_t from, size_t end)
{
    return c->number >= from && c->number < end;
}

static bool is_text_item(struct json_val item)
{
    return json_is(json_get(item, STR("type")), STR("text")) &&
           json_type(json_get(item, STR("text"))) == JSON_STRING;
}

static void put_text_item(struct oatf *t, struct str text, struct str marker)
{
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("type"), STR("text"));
    yaml_out_key_str(&t->o, STR("text"), attack_notes_join(&t->arena, text, marker));
    yaml_out_close(&t->o);
}

/* An item of the content; readers would execute its member `generate`. */
static void put_content_item(struct oatf *t, struct json_val item, struct str marker)
{
    static const struct str skipped[] = { STR_INIT("generate"), { 0 } };
    static const struct str marked[] = { STR_INIT("generate"), STR_INIT("text"), { 0 } };

    yaml_out_item(&t->o);
    if (json_type(item) != JSON_OBJECT || !json_count(item)) {
        yaml_out_json(&t->o, item);
        return;
    }
    yaml_out_open(&t->o);
    yaml_out_members(&t->o, item, marker.len ? marked : skipped);
    if (marker.len)
        yaml_out_key_str(&t->o, STR("text"),
                         attack_notes_join(&t->arena,
                                           json_text(json_get(item, STR("text")), &t->arena),
                                           marker));
    yaml_out_close(&t->o);
}

static void put_content(struct oatf *t, struct json_val content, struct str marker)
{
    struct json_iter it = json_each(content);
    size_t last_text = SIZE_MAX, i = 0;

    for (; json_next(&it); i++)
        if (is_text_item(it.value))
            last_text = i;
    yaml_out_key(&t->o, STR("content"));
    if (!i && !marker.len) {
        yaml_out_plain(&t->o, STR("[]"));
        return;
    }
    yaml_out_open(&t->o);
    it = json_each(content);
    for (i = 0; json_next(&it); i++)
        put_content_item(t, it.value, i == last_text ? marker : STR_NONE);
    if (last_text == SIZE_MAX && marker.len)
        put_text_item(t, STR_NONE, marker);
    yaml_out_close(&t->o);
}

/* A result with the message of an error. */
static void put_error(struct oatf *t, const struct attack_call *call, struct str message,
                      struct str marker)
{
    yaml_out_key(&t->o, call->kind == SURFACE_TOOL       ? STR("content")
                        : call->kind == SURFACE_RESOURCE ? STR("contents")
                                                         : STR("messages"));
    yaml_out_open(&t->o);
    if (call->kind == SURFACE_TOOL) {
        put_text_item(t, message, marker);
    } else {
        yaml_out_item(&t->o);
        yaml_out_open(&t->o);
        if (call->kind == SURFACE_RESOURCE) {
            yaml_out_key_str(&t->o, STR("uri"), call->key);
            yaml_out_key_str(&t->o, STR("text"), message);
        } else {
            yaml_out_key_plain(&t->o, STR("role"), STR("user"));
            yaml_out_key(&t->o, STR("content"));
            yaml_out_open(&t->o);
            yaml_out_key_plain(&t->o, STR("type"), STR("text"));
            yaml_out_key_str(&t->o, STR("text"), message);
            yaml_out_close(&t->o);
        }
        yaml_out_close(&t->o);
    }
    yaml_out_close(&t->o);
    if (call->kind == SURFACE_TOOL)
        yaml_out_key_plain(&t->o, STR("isError"), STR("true"));
}

/* The members of a response: those of the result. An error becomes its message. */
static void put_result(struct oatf *t, const struct attack_call *call, struct str marker)
{
    static const struct str skipped[] = {
        STR_INIT("when"), STR_INIT("synthesize"), STR_INIT("content"), { 0 }
    };
    struct json_fault fault;
    struct json_val result;
    struct json response;

    json_init(&response);
    if (!json_scan(&response, call->response, &fault))
        BUG("a recorded response is no JSON");
    result = json_root(&response);
    if (call->is_error) {
        put_error(t, call, json_text(json_get(result, STR("message")), &t->arena), marker);
    } else {
        if (call->kind == SURFACE_TOOL)
            put_content(t, json_get(result, STR("content")), marker);
        yaml_out_members(&t->o, result, skipped);
    }
    json_release(&response);
}

static void put_when(struct oatf *t, const struct predicate *p)
{
    struct json_fault fault;
    struct json arguments;
    struct json_iter it;

    json_init(&arguments);
    if (!json_scan(&arguments, p->json, &fault))
        BUG("arguments are no JSON");
    it = json_each(json_root(&arguments));
    yaml_out_key(&t->o, STR("when"));
    yaml_out_open(&t->o);
    while (json_next(&it)) {
        struct str name = json_text(it.key, &t->arena);

        yaml_out_key(&t->o, arena_printf(&t->arena, "arguments.%.*s", STR_ARG(name)));
        yaml_out_json(&t->o, it.value);
    }
    yaml_out_close(&t->o);
    json_release(&arguments);
}

/* A response for some arguments; NULL: for all others. */
static void put_response(struct oatf *t, const struct attack_call *call,
                         const struct predicate *when, struct str marker)
{
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    if (when)
        put_when(t, when);
    t->o.change = escape_template;
    put_result(t, call, marker);
    t->o.change = escape_open_template;
    yaml_out_close(&t->o);
}

/* A call with the arguments that its response is for. */
struct choice {
    const struct attack_call *call;
    const struct predicate *when;
};

/* More conditions first: the first response that matches is given. */
static int compare_choices(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    if (x->when->count != y->when->count)
        return x->when->count > y->when->count ? -1 : 1;
    return x->call->number < y->call->number ? -1 : x->call->number > y->call->number;
}

/* Collects the calls of a phase, each set of arguments once. Returns how many. */
static size_t collect_choices(struct oatf *t, const struct attack_item *item, size_t from,
                              size_t end, struct choice *choices)
{
    struct map seen;
    size_t count = 0;

    map_init(&seen);
    for (struct attack_call *c = item->calls; c; c = c->next_same) {
        const struct predicate *when;

        if (!c->number || !is_within(c, from, end))
            continue;
        when = &t->predicates[c->number - 1];
        if (map_get(&seen, when->json))
            continue;
        map_put(&seen, when->json, c);
        choices[count++] = (struct choice){ c, when };
    }
    map_release(&seen);
    return count;
}

/* Returns the first call with a response from a number on, or else the last one. */
static const struct attack_call *call_from(const struct attack_item *item, size_t from)
{
    const struct attack_call *c = attack_model_answered(item->calls);

    while (c && c->number < from && attack_model_answered(c->next_same))
        c = attack_model_answered(c->next_same);
    return c;
}

static void put_tool_responses(struct oatf *t, const struct attack_item *item, size_t from,
                               size_t end)
{
    struct choice *choices = arena_alloc(&t->arena, (item->answered + 1) * sizeof *choices);
    size_t count = collect_choices(t, item, from, end, choices);
    const struct attack_call *other = call_from(item, from);
    bool are_equal = true;

    for (size_t i = 0; i < count; i++) {
        are_equal = are_equal && is_equal(choices[i].call, choices[0].call);
        other = choices[i].call;
    }
    qsort(choices, count, sizeof *choices, compare_choices);
    if (count && !choices[count - 1].when->count)
        other = choices[--count].call;
    for (size_t i = 0; i < count && !are_equal; i++)
        put_response(t, choices[i].call, choices[i].when, STR_NONE);
    put_response(t, other, NULL, STR_NONE);
}

/* Resources and prompts have their first response. */
static void put_first_response(struct oatf *t, const struct attack_item *item)
{
    const struct attack_call *first = attack_model_answered(item->calls);

    put_response(t, first, NULL, STR_NONE);
    for (const struct attack_call *c = first; c; c = attack_model_answered(c->next_same))
        t->notes.count[ATTACK_REPEATED] += !is_equal(c, first);
}

/* The number of the last tool call before the attack. */
static size_t last_benign_call(const struct oatf *t)
{
    return t->options->style == FORMAT_STYLE_PHASED ? (size_t)t->options->phase_after
                                                    : SIZE_MAX - 1;
}

/* Counts the recorded errors that become results, in all phases. */
static void note_errors(struct oatf *t, enum surface_kind k, const struct attack_item *item)
{
    const struct attack_call *c = attack_model_answered(item->calls);
    size_t last = last_benign_call(t);

    for (; c; c = k == SURFACE_TOOL ? attack_model_answered(c->next_same) : NULL)
        t->notes.count[ATTACK_RPC_ERROR] += c->is_error && c->number <= last;
}

/* The part of a recording that a phase gives; an attack has the marker. */
struct part {
    size_t from, end;
    bool is_attack;
};

static void put_responses(struct oatf *t, enum surface_kind k, const struct attack_item *item,
                          const struct part *part)
{
    if (!item->answered)
        return;
    yaml_out_key(&t->o, STR("responses"));
    yaml_out_open(&t->o);
    if (k != SURFACE_TOOL)
        put_first_response(t, item);
    else if (part->is_attack)
        put_response(t, call_from(item, part->from), NULL, STR(MARKER_TEXT));
    else
        put_tool_responses(t, item, part->from, part->end);
    yaml_out_close(&t->o);
}

static void put_item(struct oatf *t, enum surface_kind k, const struct attack_item *item,
                     const struct part *part)
{
    static const struct str skipped[] = { STR_INIT("responses"), STR_INIT("content"), { 0 } };

    t->notes.count[k == SURFACE_TOOL ? ATTACK_INFERRED_TOOL : ATTACK_INFERRED_OTHER] +=
        item->is_inferred;
    note_errors(t, k, item);
    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    yaml_out_members(&t->o, item->def, skipped);
    if (k == SURFACE_TOOL &&
        json_type(json_get(item->def, STR("inputSchema"))) != JSON_OBJECT) {
        t->notes.count[ATTACK_NO_SCHEMA]++;
        yaml_out_key(&t->o, STR("inputSchema"));
        yaml_out_open(&t->o);
        yaml_out_key_plain(&t->o, STR("type"), STR("object"));
        yaml_out_close(&t->o);
    }
    put_responses(t, k, item, part);
    yaml_out_close(&t->o);
}

static void put_items(struct oatf *t, enum surface_kind k, struct str key,
                      const struct part *part)
{
    const struct attack_items *items = &t->model.items[k];

    if (!items->count)
        return;
    yaml_out_key(&t->o, key);
    yaml_out_open(&t->o);
    for (size_t i = 0; i < items->count; i++)
        put_item(t, k, &items->at[i], part);
    yaml_out_close(&t->o);
}

static void put_state(struct oatf *t, const struct part *part)
{
    const struct surface *s = &t->model.surface;

    yaml_out_key(&t->o, STR("state"));
    yaml_out_open(&t->o);
    t->o.change = escape_open_template;
    if (s->protocol_version.len)
        yaml_out_key_str(&t->o, STR("protocol_version"), s->protocol_version);
    if (json_type(s->server_info) == JSON_OBJECT) {
        yaml_out_key(&t->o, STR("server_info"));
        yaml_out_json(&t->o, s->server_info);
    }
    if (s->instructions.len)
        yaml_out_key_str(&t->o, STR("instructions"), s->instructions);
    yaml_out_key(&t->o, STR("capabilities"));
    if (json_type(s->capabilities) == JSON_OBJECT)
        yaml_out_json(&t->o, s->capabilities);
    else
        yaml_out_plain(&t->o, STR("{tools: {listChanged: true}}"));
    put_items(t, SURFACE_TOOL, STR("tools"), part);
    put_items(t, SURFACE_RESOURCE, STR("resources"), part);
    put_items(t, SURFACE_TEMPLATE, STR("resource_templates"), part);
    put_items(t, SURFACE_PROMPT, STR("prompts"), part);
    t->o.change = NULL;
    yaml_out_close(&t->o);
}

static void put_trigger(struct oatf *t, size_t calls)
{
    yaml_out_key(&t->o, STR("trigger"));
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("event"), STR("tools/call"));
    yaml_out_key_int(&t->o, STR("count"), (int64_t)calls);
    yaml_out_close(&t->o);
}

/* The notes are those of the first phase: the others have the same items, and note_errors()
 * counts all calls. */
static void put_phase(struct oatf *t, size_t number, const struct part *part, bool is_last)
{
    const struct attack_notes notes = t->notes;

    yaml_out_item(&t->o);
    yaml_out_open(&t->o);
    yaml_out_key(&t->o, STR("name"));
    yaml_out_plain(&t->o, part->is_attack ? STR("attack")
                                          : arena_printf(&t->arena, "benign-%zu", number));
    if (part->is_attack) {
        yaml_out_key(&t->o, STR("on_enter"));
        yaml_out_open(&t->o);
        yaml_out_item(&t->o);
        yaml_out_plain(&t->o, STR("{send: {method: notifications/tools/list_changed}}"));
        yaml_out_close(&t->o);
    }
    put_state(t, part);
    if (!is_last)
        put_trigger(t, part->end - part->from);
    yaml_out_close(&t->o);
    if (number > 1)
        t->notes = notes;
}

static void put_phases(struct oatf *t, size_t up_to)
{
    const bool has_attack = t->options->style == FORMAT_STYLE_PHASED;
    struct part part = { .is_attack = false };

    yaml_out_key(&t->o, STR("phases"));
    yaml_out_open(&t->o);
    for (size_t i = 0; i < t->phases; i++) {
        const bool is_last = i + 1 == t->phases;

        part.from = t->starts[i];
        part.end = is_last ? up_to + 1 : t->starts[i + 1];
        put_phase(t, i + 1, &part, is_last && !has_attack);
    }
    part = (struct part){ .from = up_to + 1, .is_attack = true };
    if (has_attack)
        put_phase(t, t->phases + 1, &part, true);
    yaml_out_close(&t->o);
}

static void put_execution(struct oatf *t)
{
    const bool has_attack = t->options->style == FORMAT_STYLE_PHASED;
    const size_t up_to = last_benign_call(t);
    const struct part all = { 1, SIZE_MAX, false };

    divide(t, up_to);
    yaml_out_key(&t->o, STR("execution"));
    yaml_out_open(&t->o);
    yaml_out_key_plain(&t->o, STR("mode"), STR("mcp_server"));
    if (t->phases > 1 || has_attack)
        put_phases(t, up_to);
    else
        put_state(t, &all);
    yaml_out_close(&t->o);
}

static void put_attack(struct oatf *t)
{
    char time[CLOCK_TEXT_SIZE];

    yaml_out_key(&t->o, STR("attack"));
    yaml_out_open(&t->o);
    yaml_out_key_str(&t->o, STR("name"), attack_notes_name(t->options, &t->arena));
    yaml_out_key_int(&t->o, STR("version"), 1);
    yaml_out_key_plain(&t->o, STR("status"), STR("draft"));
    if (t->model.start_known)
        yaml_out_key_str(&t->o, STR("created"), clock_format(time, t->model.start_wall_us));
    put_execution(t);
    yaml_out_close(&t->o);
}

static void write_document(struct oatf *t, struct buf *to)
{
    attack_model_finish(&t->model);
    t->predicates =
        arena_alloc(&t->arena, (t->model.answered_tool_calls + 1) * sizeof *t->predicates);
    for (struct attack_call *c = t->model.first; c; c = c->next)
        if (c->number)
            set_predicate(t, c);
    t->o = yaml_out_to(to);
    attack_notes_write_head(&t->o, &t->model, t->options);
    yaml_out_space(&t->o);
    yaml_out_open(&t->o);
    yaml_out_key_str(&t->o, STR("oatf"), STR("0.1"));
    yaml_out_key_str(&t->o, STR("$schema"), STR("https://oatf.io/schemas/v0.1.json"));
    put_attack(t);
    yaml_out_close(&t->o);
    to->full = to->full || t->model.failed;
    if (to->full || !t->options->log)
        return;
    attack_notes_check_phase(&t->model, t->options);
    attack_notes_log(&t->notes, t->options->log);
}

/* A full buffer means that the file is not written. */
static void oatf_end(void *state, struct buf *to)
{
    struct oatf *t = state;

    if (!to->full)
        write_document(t, to);
    attack_model_release(&t->model);
    arena_release(&t->arena);
    free(t);
}

const struct format oatf_format = {
    .name = "oatf",
    .about = "OATF 0.1: a server that gives the recorded responses",
    .ext = { ".oatf.yaml" },
    .options = { "style", "phase-after" },
    .begin = oatf_begin,
    .put = oatf_put,
    .put_operation = oatf_put_operation,
    .end = oatf_end,
};
