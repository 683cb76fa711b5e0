#include "redact/accepted-response.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/message.h"
#include "mcp/params-hash.h"
#include "trace/limits.h"
#include "json/path.h"
#include "json/write.h"

/* With more pointers, one to the whole message is listed. */
enum { POINTERS_MAX = 1024 };

static const struct str mark = STR_INIT("[REDACTED");

void accepted_response_init(struct accepted_response *a)
{
    *a = (struct accepted_response){ 0 };
    buf_init(&a->text, LIMIT_LINE);
    buf_init(&a->redacted, LIMIT_LINE);
    buf_init(&a->pointer, LIMIT_LINE);
}

void accepted_response_release(struct accepted_response *a)
{
    buf_release(&a->text);
    buf_release(&a->redacted);
    buf_release(&a->pointer);
    arena_release(&a->arena);
    free(a->edits);
    free(a->unmarked.at);
    free(a->kept.at);
    free(a->live.at);
    free(a->stale.at);
}

static void add_pointer(struct accepted_pointers *p, struct str pointer)
{
    p->at = mem_reserve(p->at, &p->cap, p->count + 1, sizeof *p->at);
    p->at[p->count++] = pointer;
}

static bool has_pointer(const struct accepted_pointers *p, struct str pointer)
{
    for (size_t i = 0; i < p->count; i++)
        if (str_eq(p->at[i], pointer))
            return true;
    return false;
}

/* Whether `pointer` leads to the value at `to`, or to one inside it. */
static bool leads_into(struct str pointer, struct str to)
{
    return str_starts(pointer, to) && (pointer.len == to.len || pointer.at[to.len] == '/');
}

static bool has_pointer_into(const struct accepted_pointers *p, struct str to)
{
    for (size_t i = 0; i < p->count; i++)
        if (leads_into(p->at[i], to))
            return true;
    return false;
}

static bool is_inside_any(const struct accepted_pointers *p, struct str pointer)
{
    for (size_t i = 0; i < p->count; i++)
        if (leads_into(pointer, p->at[i]))
            return true;
    return false;
}

static void read_pointers(struct accepted_response *a, struct str list,
                          struct accepted_pointers *to)
{
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    to->count = 0;
    json_init(&j);
    if (list.len && json_scan(&j, list, &fault))
        for (it = json_each(json_root(&j)); json_next(&it);)
            if (json_type(it.value) == JSON_STRING)
                add_pointer(to, arena_str(&a->arena, json_text(it.value, &a->arena)));
    json_release(&j);
}

static void add_edit(struct accepted_response *a, struct json_val live, struct str raw)
{
    size_t at = json_offset(live);

    a->edits = mem_reserve(a->edits, &a->edit_cap, a->edit_count + 1, sizeof *a->edits);
    a->edits[a->edit_count++] =
        (struct accepted_edit){ at, at + json_raw(live).len, arena_str(&a->arena, raw) };
}

static bool has_edit(const struct accepted_response *a, struct json_val live)
{
    for (size_t i = 0; i < a->edit_count; i++)
        if (a->edits[i].at == json_offset(live))
            return true;
    return false;
}

/* Lists the current value as redacted. */
static void keep_pointer(struct accepted_response *a)
{
    if (a->kept.count <= POINTERS_MAX && !has_pointer(&a->kept, buf_str(&a->pointer)))
        add_pointer(&a->kept, arena_str(&a->arena, buf_str(&a->pointer)));
}

static size_t count_placeholders(struct str text)
{
    struct str before;
    size_t count = 0;

    while (params_cut_placeholder(&text, &before).len)
        count++;
    return count;
}

static bool is_numbered(struct str placeholder)
{
    return str_eq(placeholder, STR("[REDACTED]")) ||
           str_starts(placeholder, STR("[REDACTED:rule-"));
}

/* Whether the redactor took as much out of the live string as was taken out of the recorded
 * one. Numbers of rules differ between runs, names do not. */
static bool is_as_redacted(const struct accepted_response *a, struct str recorded,
                           struct str live)
{
    struct str rest = recorded, before, placeholder;

    if (!has_pointer(&a->live, buf_str(&a->pointer)) ||
        count_placeholders(live) < count_placeholders(recorded))
        return false;
    while ((placeholder = params_cut_placeholder(&rest, &before)).len)
        if (!is_numbered(placeholder) && !str_contains(live, placeholder))
            return false;
    return true;
}

/* Decides about a value that is redacted in the recorded response. */
static void merge_redacted(struct accepted_response *a, struct json_val recorded,
                           struct json_val live)
{
    struct str text = json_text(recorded, &a->arena), rest = text, before;
    struct str placeholder = params_cut_placeholder(&rest, &before);
    struct buf raw;

    if (json_type(live) != JSON_STRING && json_type(live) != JSON_NUMBER)
        return;
    if (!placeholder.len || params_may_be_equal(recorded, live)) {
        add_edit(a, live, json_raw(recorded));
    } else if (json_type(live) == JSON_STRING &&
               is_as_redacted(a, text, json_text(live, &a->arena))) {
        return;
    } else {
        a->hidden++;
        buf_init(&raw, LIMIT_LINE);
        json_write_str(&raw, placeholder);
        add_edit(a, live, buf_str(&raw));
        buf_release(&raw);
    }
    keep_pointer(a);
}

static bool is_redacted(const struct accepted_response *a, struct json_val recorded)
{
    struct str text = json_unquoted(recorded), before;

    return params_cut_placeholder(&text, &before).len ||
           has_pointer(&a->unmarked, buf_str(&a->pointer));
}

static bool may_have_redacted(const struct accepted_response *a, struct json_val recorded)
{
    return str_contains(json_raw(recorded), mark) ||
           has_pointer_into(&a->unmarked, buf_str(&a->pointer));
}

static void merge(struct accepted_response *a, struct json_val recorded, struct json_val live);

/* Merges all live members of a name. Returns false if there is none. */
static bool merge_members_named(struct accepted_response *a, struct str name,
                                struct json_val recorded, struct json_val live)
{
    struct json_iter it = json_each(live);
    bool found = false;

    while (json_next(&it))
        if (json_is(it.key, name)) {
            merge(a, recorded, it.value);
            found = true;
        }
    return found;
}

static void note_stale(struct accepted_response *a, size_t parent, struct json_val name)
{
    struct buf pointer;

    buf_init(&pointer, LIMIT_LINE);
    buf_add(&pointer, str_n(a->pointer.at, parent));
    json_pointer_add_name(&pointer, json_text(name, &a->arena));
    add_pointer(&a->stale, arena_str(&a->arena, buf_str(&pointer)));
    buf_release(&pointer);
}

/* A recorded member whose name is redacted: the first live member that may be the same gets the
 * recorded name. `parent` is the length of the pointer to the object. */
static void merge_redacted_name(struct accepted_response *a, const struct json_iter *recorded,
                                struct json_val live, size_t parent)
{
    struct json_iter it = json_each(live);

    while (json_next(&it)) {
        if (json_exists(json_get(recorded->in, json_text(it.key, &a->arena))) ||
            has_edit(a, it.key) || !params_may_be_equal(recorded->key, it.key))
            continue;
        add_edit(a, it.key, json_raw(recorded->key));
        keep_pointer(a);
        note_stale(a, parent, it.key);
        merge(a, recorded->value, it.value);
        return;
    }
}

static void merge_objects(struct accepted_response *a, struct json_val recorded,
                          struct json_val live)
{
    struct json_iter it = json_each(recorded);
    size_t parent = a->pointer.len;

    while (json_next(&it)) {
        struct str name = json_text(it.key, &a->arena);
        bool redacted_name = params_is_redacted(it.key);

        json_pointer_add_name(&a->pointer, name);
        if ((redacted_name || may_have_redacted(a, it.value)) &&
            !merge_members_named(a, name, it.value, live) && redacted_name)
            merge_redacted_name(a, &it, live, parent);
        a->pointer.len = parent;
    }
}

static void merge_arrays(struct accepted_response *a, struct json_val recorded,
                         struct json_val live)
{
    struct json_iter old = json_each(recorded), new = json_each(live);
    size_t parent = a->pointer.len;

    for (size_t i = 0; json_next(&old) && json_next(&new); i++) {
        json_pointer_add_index(&a->pointer, i);
        merge(a, old.value, new.value);
        a->pointer.len = parent;
    }
}

/* Collects the edits of a live value that keep redacted parts of the recorded one. Recurses as
 * deep as the values are nested, which the scanner limits. */
static void merge(struct accepted_response *a, struct json_val recorded, struct json_val live)
{
    enum json_type type = json_type(recorded);

    if (type == JSON_OBJECT && json_type(live) == JSON_OBJECT)
        merge_objects(a, recorded, live);
    else if (type == JSON_ARRAY && json_type(live) == JSON_ARRAY)
        merge_arrays(a, recorded, live);
    else if ((type == JSON_STRING || type == JSON_NUMBER) && is_redacted(a, recorded))
        merge_redacted(a, recorded, live);
}

static int by_offset(const void *a, const void *b)
{
    const struct accepted_edit *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Appends the live payload with all edits. A recorded object may have a name twice, and edit
 * the same live value twice. */
static void write_payload(struct accepted_response *a, struct json_val payload, struct buf *to)
{
    struct str text = payload.doc->text;
    size_t copied = json_offset(payload), end = copied + json_raw(payload).len;

    if (a->edit_count)
        qsort(a->edits, a->edit_count, sizeof *a->edits, by_offset);
    for (size_t i = 0; i < a->edit_count; i++) {
        const struct accepted_edit *edit = &a->edits[i];

        if (edit->at < copied)
            continue;
        buf_add(to, str_n(text.at + copied, edit->at - copied));
        buf_add(to, edit->raw);
        copied = edit->end;
    }
    buf_add(to, str_n(text.at + copied, end - copied));
}

static bool is_payload(struct json_val name)
{
    return json_is(name, STR("result")) || json_is(name, STR("error"));
}

static struct str payload_name(const struct mcp_message *m)
{
    return m->kind == MCP_RESULT ? STR("result") : STR("error");
}

static struct json_val payload_of(const struct mcp_message *m)
{
    return m->kind == MCP_RESULT ? m->result : m->error;
}

/* Writes the recorded message with a payload of the other kind where the first one was. */
static void write_other_kind(struct buf *to, struct json_val recorded, struct str name,
                             struct str payload)
{
    struct json_iter it = json_each(recorded);
    struct json_out o = json_out_to(to);
    bool written = false;

    json_out_object(&o);
    while (json_next(&it)) {
        if (!is_payload(it.key)) {
            json_out_raw(&o, json_raw(it.key));
            buf_add_ch(to, ':');
            buf_add(to, json_raw(it.value));
        } else if (!written) {
            json_out_key_raw(&o, name, payload);
            written = true;
        }
    }
    json_out_end_object(&o);
}

static void write_same_kind(struct buf *to, struct json_val recorded, struct json_val old,
                            struct str payload)
{
    struct str text = json_raw(recorded);
    size_t at = json_offset(old) - json_offset(recorded);

    buf_add(to, str_n(text.at, at));
    buf_add(to, payload);
    buf_add(to, str_skip(text, at + json_raw(old).len));
}

/* Pointers of recorded values that stay: those outside of the payload. */
static void keep_outer_pointers(struct accepted_response *a, struct accepted_pointers *recorded)
{
    for (size_t i = 0; i < recorded->count; i++)
        if (recorded->at[i].len && !leads_into(recorded->at[i], STR("/result")) &&
            !leads_into(recorded->at[i], STR("/error")))
            add_pointer(&a->kept, recorded->at[i]);
}

/* Pointers of values that the redactor replaced in the live payload; of other members nothing
 * is written. Those of values under a replaced name are dropped with it. */
static void keep_live_pointers(struct accepted_response *a, struct str payload)
{
    for (size_t i = 0; i < a->live.count && a->kept.count <= POINTERS_MAX; i++) {
        struct str pointer = a->live.at[i];

        if ((!pointer.len || leads_into(pointer, payload)) &&
            !is_inside_any(&a->stale, pointer) && !has_pointer(&a->kept, pointer))
            add_pointer(&a->kept, pointer);
    }
}

static void write_pointers(struct accepted_response *a)
{
    struct json_out o = json_out_to(&a->redacted);

    if (!a->kept.count)
        return;
    json_out_array(&o);
    if (a->kept.count > POINTERS_MAX)
        json_out_str(&o, STR(""));
    for (size_t i = 0; i < a->kept.count && a->kept.count <= POINTERS_MAX; i++)
        json_out_str(&o, a->kept.at[i]);
    json_out_end_array(&o);
}

/* Finds the value of a pointer; absent if there is none. */
static struct json_val resolve(struct json_val v, struct str pointer, struct arena *a)
{
    struct buf word;

    buf_init(&word, LIMIT_LINE);
    while (pointer.len && json_exists(v)) {
        struct json_iter it = json_each(v);
        struct json_val next = JSON_VAL_NONE;
        size_t i = 0;

        while (json_next(&it)) {
            buf_clear(&word);
            if (json_type(v) == JSON_OBJECT)
                json_pointer_add_name(&word, json_text(it.key, a));
            else
                json_pointer_add_index(&word, i++);
            if (leads_into(pointer, buf_str(&word))) {
                next = it.value;
                break;
            }
        }
        pointer = str_skip(pointer, word.len);
        v = next;
    }
    buf_release(&word);
    return v;
}

/* Pointers that tell more than the text does. */
static void find_unmarked(struct accepted_response *a, struct json_val message,
                          const struct accepted_pointers *recorded)
{
    for (size_t i = 0; i < recorded->count; i++) {
        struct json_val v = resolve(message, recorded->at[i], &a->arena);

        if ((json_type(v) == JSON_STRING || json_type(v) == JSON_NUMBER) &&
            !params_is_redacted(v))
            add_pointer(&a->unmarked, recorded->at[i]);
    }
}

static void start(struct accepted_response *a, const struct redacted_response *recorded,
                  const struct redacted_response *live)
{
    struct accepted_pointers old = { 0 };

    buf_clear(&a->text);
    buf_clear(&a->redacted);
    buf_clear(&a->pointer);
    arena_clear(&a->arena);
    a->edit_count = a->unmarked.count = a->kept.count = a->stale.count = 0;
    read_pointers(a, recorded->redacted, &old);
    read_pointers(a, live->redacted, &a->live);
    find_unmarked(a, recorded->message, &old);
    keep_outer_pointers(a, &old);
    free(old.at);
}

bool accepted_response_compose(struct accepted_response *a,
                               const struct redacted_response *recorded,
                               const struct redacted_response *live)
{
    struct mcp_message old, new;
    struct buf payload;
    bool changed;

    start(a, recorded, live);
    old = mcp_classify(recorded->message, &a->arena);
    new = mcp_classify(live->message, &a->arena);
    BUG_IF(!mcp_is_response(&old) || !mcp_is_response(&new));
    json_pointer_add_name(&a->pointer, payload_name(&new));
    /* A payload that is equal needs no merge, not even one with a name twice. */
    if (old.kind == new.kind && !str_eq(json_raw(payload_of(&old)), json_raw(payload_of(&new))))
        merge(a, payload_of(&old), payload_of(&new));
    buf_init(&payload, LIMIT_LINE);
    write_payload(a, payload_of(&new), &payload);
    changed = old.kind != new.kind || !str_eq(buf_str(&payload), json_raw(payload_of(&old)));
    if (old.kind == new.kind)
        write_same_kind(&a->text, recorded->message, payload_of(&old), buf_str(&payload));
    else
        write_other_kind(&a->text, recorded->message, payload_name(&new), buf_str(&payload));
    a->text.full |= payload.full;
    buf_release(&payload);
    a->pointer.len = 0;
    json_pointer_add_name(&a->pointer, payload_name(&new));
    keep_live_pointers(a, buf_str(&a->pointer));
    write_pointers(a);
    return changed;
}
