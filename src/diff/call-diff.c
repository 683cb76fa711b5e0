#include "diff/call-diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/payload-compare.h"
#include "json/equal.h"

enum { PATH_MAX_BYTES = 4096 };

/* State of a comparison; messages by side. */
struct call_comparison {
    const struct call_diff *d;
    struct call_diff_totals *totals;
    struct index_message requests[2], responses[2];
    struct finding findings[CALL_DIFF_FINDINGS_MAX];
    struct call_diff_entry entry;
    struct arena arena; /* texts of the entry */
};

enum { BEFORE, AFTER };

static const struct call_list *side_list(const struct call_comparison *c, int side)
{
    return side == BEFORE ? c->d->before : c->d->after;
}

static uint32_t response_step(const struct index *s, uint32_t call)
{
    uint32_t step = index_first_step(s, call);

    while (step && s->steps[step].kind != STEP_RESPONSE)
        step = index_next_step(s, call, step);
    return step;
}

static void add_finding(struct call_comparison *c, const struct finding *f)
{
    if (c->entry.finding_count == CALL_DIFF_FINDINGS_MAX) {
        c->entry.more++;
        return;
    }
    c->findings[c->entry.finding_count++] = *f;
}

static struct str path_text(struct call_comparison *c, struct json_location at)
{
    struct buf text;
    struct str path;

    buf_init(&text, PATH_MAX_BYTES);
    json_location_write(at, &text);
    path = arena_str(&c->arena, buf_str(&text));
    buf_release(&text);
    return path;
}

static void add_difference(struct call_comparison *c, const struct payload_difference *d)
{
    static const struct {
        const char *rule, *message;
    } kinds[] = {
        [PAYLOAD_CHANGED] = { "content-changed", "the value differs" },
        [PAYLOAD_TYPE_CHANGED] = { "type-changed", "the value has another type" },
        [PAYLOAD_ADDED] = { "content-added", "the value was added" },
        [PAYLOAD_REMOVED] = { "content-removed", "the value was removed" },
        [PAYLOAD_REORDERED] = { "order-changed", "the list has another order" },
        [PAYLOAD_LENGTH_CHANGED] = { "length-changed", "the array has another length" },
    };
    struct finding f = { .rule = str_z(kinds[d->kind].rule),
                         .severity = FINDING_ERROR,
                         .message = str_z(kinds[d->kind].message),
                         .seq = c->entry.before.seq };

    if (c->entry.finding_count < CALL_DIFF_FINDINGS_MAX) {
        f.path = path_text(c, d->location);
        f.recorded = arena_str(&c->arena, json_raw(d->recorded));
        f.live = arena_str(&c->arena, json_raw(d->live));
    }
    add_finding(c, &f);
}

/* A placeholder on the recorded side is no difference already. */
static bool is_redacted(const struct payload_difference *d)
{
    return json_exists(d->recorded) && params_is_redacted(d->live) &&
           params_may_be_equal(d->recorded, d->live);
}

static bool on_difference(void *arg, const struct payload_difference *d)
{
    struct call_comparison *c = arg;

    if (d->class == PAYLOAD_IGNORED)
        c->entry.ignored_count++;
    else if (d->class == PAYLOAD_VOLATILE)
        c->entry.volatile_count++;
    else if (!is_redacted(d))
        add_difference(c, d);
    return true;
}

static void compare_messages(struct call_comparison *c, struct json_val before,
                             struct json_val after)
{
    (void)payload_compare(before, after, c->entry.method, c->d->rules, on_difference, c);
}

/* Requests. */

static bool read_request(struct call_comparison *c, int side, uint32_t call,
                         struct json_val *root, struct err *e)
{
    return index_read_call(side_list(c, side)->index, call, &c->requests[side], root, e);
}

static bool compare_requests(struct call_comparison *c, const uint32_t calls[2], struct err *e)
{
    struct json_val roots[2];

    for (int side = BEFORE; side <= AFTER; side++)
        if (!read_request(c, side, calls[side], &roots[side], e))
            return false;
    compare_messages(c, roots[BEFORE], roots[AFTER]);
    return true;
}

/* Sets the subject of an entry, from the request of a side. */
static bool set_subject(struct call_comparison *c, int side, uint32_t call, struct err *e)
{
    const struct index *index = side_list(c, side)->index;
    struct json_val root, subject;

    if (!read_request(c, side, call, &root, e))
        return false;
    subject =
        mcp_method_subject(index_method(index, call)->known, json_get(root, STR("params")));
    c->entry.subject = arena_str(&c->arena, json_text(subject, &c->arena));
    return true;
}

/* Responses. */

static void add_missing_response(struct call_comparison *c, bool removed)
{
    struct finding f = { .rule = removed ? STR("response-removed") : STR("response-added"),
                         .severity = FINDING_ERROR,
                         .message = removed ? STR("the call has no response any more")
                                            : STR("the call had no response before"),
                         .seq = c->entry.before.seq };

    add_finding(c, &f);
}

static bool parse_response(struct index_message *m, struct json_val *root, struct err *e)
{
    struct json_fault fault;

    if (!json_scan(&m->json, buf_str(&m->text), &fault))
        return err_set(e, ERR_INPUT, "the recording has changed while it was read");
    *root = json_root(&m->json);
    return true;
}

/* Breaking changes. */

static bool is_error(struct json_val response)
{
    struct json_val failed = json_get(json_get(response, STR("result")), STR("isError"));

    return json_exists(json_get(response, STR("error"))) || json_type(failed) == JSON_TRUE;
}

static struct json_val content_of(struct json_val response)
{
    return json_get(json_get(response, STR("result")), STR("content"));
}

static bool has_content_type(struct json_val content, struct json_val type)
{
    struct json_iter it = json_each(content);

    while (json_next(&it))
        if (json_equal(json_get(it.value, STR("type")), type, NULL))
            return true;
    return false;
}

/* Whether all types of a content are in another; their order and number do not matter. */
static bool has_content_types_of(struct json_val content, struct json_val other)
{
    struct json_iter it = json_each(other);

    while (json_next(&it))
        if (!has_content_type(content, json_get(it.value, STR("type"))))
            return false;
    return true;
}

static bool changes_content_types(const struct call_comparison *c,
                                  const struct json_val responses[2])
{
    struct json_val before = content_of(responses[BEFORE]),
                    after = content_of(responses[AFTER]);

    return str_eq(c->entry.method, STR("tools/call")) && json_type(before) == JSON_ARRAY &&
           json_type(after) == JSON_ARRAY &&
           !(has_content_types_of(after, before) && has_content_types_of(before, after));
}

/* Whether a difference was found at a path or below: it is not ignored. Beyond the maximum of
 * findings it may be one of those that are not kept. */
static bool differs_at(const struct call_comparison *c, struct str path)
{
    for (size_t i = 0; i < c->entry.finding_count; i++)
        if (str_starts(c->findings[i].path, path))
            return true;
    return c->entry.more;
}

static void add_break(struct call_comparison *c, struct str rule, struct str message)
{
    if (c->entry.finding_count == CALL_DIFF_FINDINGS_MAX) {
        c->entry.finding_count--;
        c->entry.more++;
    }
    memmove(c->findings + 1, c->findings, c->entry.finding_count * sizeof *c->findings);
    c->entry.finding_count++;
    c->findings[0] = (struct finding){
        .rule = rule, .severity = FINDING_ERROR, .message = message, .seq = c->entry.before.seq
    };
    c->entry.breaking = true;
    c->totals->breaking++;
}

/* Other arguments may well have another kind of response: `same_params` is false then. */
static void judge_responses(struct call_comparison *c, const struct json_val responses[2],
                            bool same_params)
{
    if (!same_params || is_error(responses[BEFORE]))
        return;
    if (is_error(responses[AFTER])) {
        if (differs_at(c, STR("$.error")) || differs_at(c, STR("$.result.isError")))
            add_break(c, STR("call-failed"),
                      STR("breaking: the call had a result before, and fails now"));
    } else if (changes_content_types(c, responses) && differs_at(c, STR("$.result.content"))) {
        add_break(c, STR("content-types-changed"),
                  STR("breaking: the content of the result has other types"));
    }
}

static bool fetch_response(struct call_comparison *c, int side, uint32_t step, struct err *e)
{
    return index_fetch_step(side_list(c, side)->index, step, &c->responses[side].text, e);
}

/* One of the responses is missing: `steps` has 0 for it. */
static bool compare_with_nothing(struct call_comparison *c, const uint32_t steps[2],
                                 bool same_params, struct err *e)
{
    struct json_val before;

    if (!steps[BEFORE] || !same_params) {
        add_missing_response(c, steps[BEFORE] != 0);
        return true;
    }
    if (!fetch_response(c, BEFORE, steps[BEFORE], e) ||
        !parse_response(&c->responses[BEFORE], &before, e))
        return false;
    if (is_error(before))
        add_missing_response(c, true);
    else
        add_break(c, STR("response-removed"),
                  STR("breaking: the call had a result before, and has no response now"));
    return true;
}

/* Whether only a failure of the call counts: the result is compared elsewhere. */
static bool is_skipped_list(const struct call_comparison *c)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (c->d->skip_lists[k] && str_eq(c->entry.method, surface_list_method(k)))
            return true;
    return false;
}

/* Most responses of two runs of one server are equal byte for byte. */
static bool compare_responses(struct call_comparison *c, const uint32_t calls[2],
                              bool same_params, struct err *e)
{
    struct json_val roots[2];
    uint32_t steps[2];

    for (int side = BEFORE; side <= AFTER; side++)
        steps[side] = response_step(side_list(c, side)->index, calls[side]);
    if (!steps[BEFORE] != !steps[AFTER])
        return compare_with_nothing(c, steps, same_params, e);
    if (!steps[BEFORE])
        return true;
    for (int side = BEFORE; side <= AFTER; side++)
        if (!fetch_response(c, side, steps[side], e))
            return false;
    if (str_eq(buf_str(&c->responses[BEFORE].text), buf_str(&c->responses[AFTER].text)))
        return true;
    for (int side = BEFORE; side <= AFTER; side++)
        if (!parse_response(&c->responses[side], &roots[side], e))
            return false;
    if (is_skipped_list(c) && is_error(roots[BEFORE]) == is_error(roots[AFTER]))
        return true;
    compare_messages(c, roots[BEFORE], roots[AFTER]);
    judge_responses(c, roots, same_params);
    return true;
}

static struct call_diff_side describe_side(const struct index *s, uint32_t call)
{
    uint32_t step = response_step(s, call);
    struct call_diff_side side = { .seq = s->calls[call].seq,
                                   .line = index_lines(s, call).request,
                                   .latency_ms = -1 };

    if (!step || (!s->steps[step].ms && !s->calls[call].ms))
        return side; /* a file without times has 0 everywhere */
    side.latency_ms = (int64_t)s->steps[step].ms - (int64_t)s->calls[call].ms;
    if (side.latency_ms < 0)
        side.latency_ms = 0; /* the clock went back */
    return side;
}

static void compare_latencies(struct call_comparison *c)
{
    int64_t a = c->entry.before.latency_ms, b = c->entry.after.latency_ms;
    int64_t low = a < b ? a : b, high = a < b ? b : a;

    if (low < 0 || high - low < c->d->latency_ms || high == low)
        return;
    if ((uint64_t)(high - low) * 100 < (uint64_t)low * c->d->latency_percent)
        return;
    c->entry.latency_changed = true;
    *(b > a ? &c->totals->slower : &c->totals->faster) += 1;
}

/* Entries. */

static void begin_entry(struct call_comparison *c, int side, uint32_t call)
{
    const struct index *index = side_list(c, side)->index;

    arena_clear(&c->arena);
    c->entry = (struct call_diff_entry){ .method = index_method(index, call)->name,
                                         .findings = c->findings,
                                         .before = { .latency_ms = -1 },
                                         .after = { .latency_ms = -1 } };
    *(side == BEFORE ? &c->entry.before : &c->entry.after) = describe_side(index, call);
}

static bool end_entry(struct call_comparison *c, enum call_diff_status status, struct err *e)
{
    c->entry.status = status;
    c->totals->moved += c->entry.moved;
    if (status != CALL_DIFF_SAME || !c->entry.moved)
        c->totals->count[status]++;
    return c->d->found(c->d->arg, &c->entry, e);
}

static bool add_single(struct call_comparison *c, int side, uint32_t call, struct err *e)
{
    begin_entry(c, side, call);
    return set_subject(c, side, call, e) &&
           end_entry(c, side == BEFORE ? CALL_DIFF_REMOVED : CALL_DIFF_ADDED, e);
}

static bool is_shown(const struct call_diff_entry *entry)
{
    return entry->finding_count || entry->moved || entry->latency_changed;
}

static bool add_pair(struct call_comparison *c, const uint32_t calls[2], enum align_how how,
                     struct err *e)
{
    begin_entry(c, BEFORE, calls[BEFORE]);
    c->entry.after = describe_side(c->d->after->index, calls[AFTER]);
    c->entry.moved = how == ALIGN_MOVED;
    compare_latencies(c);
    if ((how == ALIGN_SAME_KIND && !is_skipped_list(c) && !compare_requests(c, calls, e)) ||
        !compare_responses(c, calls, how != ALIGN_SAME_KIND, e))
        return false;
    if ((c->d->all_subjects || is_shown(&c->entry)) &&
        !set_subject(c, BEFORE, calls[BEFORE], e))
        return false;
    return end_entry(c, c->entry.finding_count ? CALL_DIFF_CHANGED : CALL_DIFF_SAME, e);
}

/* Adds the calls of `after` without a match, up to an item. */
static bool add_added(struct call_comparison *c, const struct align_match *matches,
                      size_t *from, size_t end, struct err *e)
{
    for (; *from < end; (*from)++)
        if (matches[*from].how == ALIGN_NONE &&
            !add_single(c, AFTER, c->d->after->calls[*from], e))
            return false;
    return true;
}

static bool add_entries(struct call_comparison *c, const struct align_match *before,
                        const struct align_match *after, struct err *e)
{
    size_t next = 0; /* in `after` */

    for (size_t i = 0; i < c->d->before->count; i++) {
        const struct align_match *m = &before[i];
        uint32_t calls[2] = { c->d->before->calls[i] };

        if (m->how == ALIGN_IN_ORDER && !add_added(c, after, &next, m->other, e))
            return false;
        if (m->how == ALIGN_NONE) {
            if (!add_single(c, BEFORE, calls[BEFORE], e))
                return false;
            continue;
        }
        calls[AFTER] = c->d->after->calls[m->other];
        if (!add_pair(c, calls, m->how, e))
            return false;
    }
    return add_added(c, after, &next, c->d->after->count, e);
}

bool call_diff_is_different(const struct call_diff_totals *t)
{
    return t->count[CALL_DIFF_CHANGED] || t->count[CALL_DIFF_ADDED] ||
           t->count[CALL_DIFF_REMOVED] || t->moved;
}

static bool align_and_add(struct call_comparison *c, struct err *e)
{
    struct align_match *before = mem_alloc((c->d->before->count + 1) * sizeof *before);
    struct align_match *after = mem_alloc((c->d->after->count + 1) * sizeof *after);
    struct align_list a = { c->d->before->items, c->d->before->count, before };
    struct align_list b = { c->d->after->items, c->d->after->count, after };
    bool ok;

    c->totals->greedy = !align_lists(&a, &b);
    ok = add_entries(c, before, after, e);
    free(before);
    free(after);
    return ok;
}

bool call_diff_run(const struct call_diff *d, struct call_diff_totals *totals, struct err *e)
{
    struct call_comparison *c = mem_new(struct call_comparison);
    bool ok;

    *totals = (struct call_diff_totals){ .moved = 0 };
    c->d = d;
    c->totals = totals;
    for (int side = BEFORE; side <= AFTER; side++) {
        index_message_init(&c->requests[side]);
        index_message_init(&c->responses[side]);
    }
    ok = align_and_add(c, e);
    for (int side = BEFORE; side <= AFTER; side++) {
        index_message_release(&c->requests[side]);
        index_message_release(&c->responses[side]);
    }
    arena_release(&c->arena);
    free(c);
    return ok;
}
