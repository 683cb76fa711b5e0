#include "format/span-draft.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/meta.h"

enum { EVENT_NAME_MAX = 128 };

void span_drafts_init(struct span_drafts *d)
{
    *d = (struct span_drafts){ 0 };
    map_init(&d->by_number);
}

static void free_text(struct span_drafts *d, struct str text)
{
    d->kept -= text.len;
    free((char *)(uintptr_t)text.at);
}

static void free_draft(struct span_drafts *d, struct span_draft *draft)
{
    const struct str texts[] = { draft->state, draft->arguments, draft->result, draft->error,
                                 draft->model };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free_text(d, texts[i]);
    for (size_t i = 0; i < draft->event_count; i++)
        free_text(d, draft->events[i].name);
    d->kept -= draft->event_cap * sizeof *draft->events;
    free(draft->events);
    free(draft);
}

void span_drafts_release(struct span_drafts *d)
{
    struct map_entry *entry = NULL;

    while ((entry = map_next(&d->by_number, entry)))
        free_draft(d, entry->value);
    map_release(&d->by_number);
    arena_release(&d->scratch);
}

struct span_draft *span_drafts_add(struct span_drafts *d, uint64_t number)
{
    struct span_draft *draft = mem_new(struct span_draft);

    *draft = (struct span_draft){
        .number = number, .tokens_in = -1, .tokens_out = -1, .tokens = -1
    };
    map_put(&d->by_number, map_number_key(&number), draft);
    return draft;
}

struct span_draft *span_drafts_find(const struct span_drafts *d, uint64_t number)
{
    return map_get(&d->by_number, map_number_key(&number));
}

void span_drafts_remove(struct span_drafts *d, struct span_draft *draft)
{
    map_remove(&d->by_number, map_number_key(&draft->number));
    free_draft(d, draft);
}

/* Returns a copy of a text; an empty text, and sets `left_out`, if there is no room for it. */
static struct str keep_text(struct span_drafts *d, bool *left_out, struct str text)
{
    char *copy;

    if (!text.len)
        return STR_NONE;
    if (text.len > SPAN_DRAFT_TEXT_MAX || d->kept + text.len > SPAN_DRAFT_KEEP_MAX) {
        *left_out = true;
        return STR_NONE;
    }
    copy = mem_alloc(text.len);
    memcpy(copy, text.at, text.len);
    d->kept += text.len;
    return str_n(copy, text.len);
}

static struct str keep_truncated(struct span_drafts *d, struct span_draft *draft,
                                 struct str text)
{
    return keep_text(d, &draft->left_out,
                     arena_truncated(&d->scratch, text, SPAN_DRAFT_ERROR_MAX));
}

static void take_context(struct span_drafts *d, struct span_draft *draft,
                         struct json_val params)
{
    struct str parent = json_text(mcp_meta(params, STR("traceparent")), &d->scratch),
               state = json_text(mcp_meta(params, STR("tracestate")), &d->scratch);

    draft->has_context = mcp_trace_context_parse(&draft->context, parent);
    if (draft->has_context && mcp_trace_context_is_state(state))
        draft->state = keep_text(d, &draft->left_out, state);
}

void span_draft_take_request(struct span_drafts *d, struct span_draft *draft,
                             const struct operation_event *ev, bool texts)
{
    struct json_val params = json_get(ev->record->message.msg, STR("params")),
                    arguments = json_get(params, STR("arguments"));

    arena_clear(&d->scratch);
    take_context(d, draft, params);
    if (!texts)
        return;
    if (json_type(arguments) == JSON_OBJECT)
        draft->arguments = keep_text(d, &draft->left_out, json_raw(arguments));
    else if (!json_exists(arguments) && str_eq(ev->op->method, STR("tools/call")))
        draft->arguments = keep_text(d, &draft->left_out, STR("{}"));
}

/* The texts of the content of a tool's result, one in a line. */
static struct str content_text(struct span_drafts *d, struct json_val result)
{
    struct json_iter it = json_each(json_get(result, STR("content")));
    struct str text = STR_NONE;

    while (text.len < SPAN_DRAFT_ERROR_MAX && json_next(&it)) {
        struct str part = json_text(json_get(it.value, STR("text")), &d->scratch);

        part = part.len > SPAN_DRAFT_ERROR_MAX
                   ? arena_truncated(&d->scratch, part, SPAN_DRAFT_ERROR_MAX)
                   : part;
        if (part.len)
            text = text.len
                       ? arena_printf(&d->scratch, "%.*s\n%.*s", STR_ARG(text), STR_ARG(part))
                       : part;
    }
    return text;
}

static int64_t count_of(struct json_val usage, const char *const names[])
{
    int64_t n;

    for (; *names; names++)
        if (json_int(json_get(usage, str_z(*names)), &n) && n >= 0)
            return n;
    return -1;
}

/* The protocol does not define the tokens of a sampling result; those that the client adds have
 * the names that model APIs use. */
static void take_model(struct span_drafts *d, struct span_draft *draft, struct json_val result)
{
    static const char *const in[] = { "inputTokens", "input_tokens", "promptTokens",
                                      "prompt_tokens", NULL },
                             *const out[] = { "outputTokens", "output_tokens",
                                              "completionTokens", "completion_tokens", NULL },
                             *const all[] = { "totalTokens", "total_tokens", NULL };
    struct json_val usage = json_get(result, STR("usage"));

    if (json_type(usage) != JSON_OBJECT)
        usage = mcp_meta(result, STR("usage"));
    draft->model =
        keep_truncated(d, draft, json_text(json_get(result, STR("model")), &d->scratch));
    draft->tokens_in = count_of(usage, in);
    draft->tokens_out = count_of(usage, out);
    draft->tokens = count_of(usage, all);
    if (draft->tokens < 0 && draft->tokens_in >= 0 && draft->tokens_out >= 0 &&
        draft->tokens_in <= INT64_MAX - draft->tokens_out)
        draft->tokens = draft->tokens_in + draft->tokens_out;
}

void span_draft_take_response(struct span_drafts *d, struct span_draft *draft,
                              const struct operation_event *ev, bool texts, bool results)
{
    struct json_val msg = ev->record->message.msg, error = json_get(msg, STR("error")),
                    result = json_get(msg, STR("result"));

    arena_clear(&d->scratch);
    if (ev->op->response == RESPONSE_ERROR) {
        draft->has_code = json_int(json_get(error, STR("code")), &draft->code);
        draft->error =
            keep_truncated(d, draft, json_text(json_get(error, STR("message")), &d->scratch));
        return;
    }
    draft->is_tool_error = json_type(json_get(result, STR("isError"))) == JSON_TRUE;
    if (draft->is_tool_error && texts)
        draft->error = keep_truncated(d, draft, content_text(d, result));
    if (str_eq(ev->op->method, STR("sampling/createMessage")))
        take_model(d, draft, result);
    if (results)
        draft->result = keep_text(d, &draft->left_out, json_raw(result));
}

void span_draft_add_event(struct span_drafts *d, struct span_draft *draft, int64_t us,
                          struct str name)
{
    size_t cap = draft->event_cap;
    bool left_out = false;
    struct str kept;

    arena_clear(&d->scratch);
    if (draft->event_count < SPAN_DRAFT_EVENTS_MAX)
        kept = keep_text(d, &left_out, arena_truncated(&d->scratch, name, EVENT_NAME_MAX));
    if (draft->event_count == SPAN_DRAFT_EVENTS_MAX || left_out) {
        draft->events_dropped++;
        return;
    }
    draft->events = mem_reserve(draft->events, &draft->event_cap, draft->event_count + 1,
                                sizeof *draft->events);
    d->kept += (draft->event_cap - cap) * sizeof *draft->events;
    draft->events[draft->event_count++] = (struct span_event){ us, kept };
}
