#include "report/diff-json.h"

#include <stdio.h>

struct str diff_json_status(enum call_diff_status status)
{
    static const struct str words[CALL_DIFF_STATUSES] = {
        [CALL_DIFF_SAME] = STR_INIT("same"),
        [CALL_DIFF_CHANGED] = STR_INIT("changed"),
        [CALL_DIFF_ADDED] = STR_INIT("added"),
        [CALL_DIFF_REMOVED] = STR_INIT("removed"),
    };

    return words[status];
}

static void write_side(struct json_out *o, struct str key, const struct call_diff_side *side)
{
    json_out_key(o, key);
    if (!side->seq) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_int(o, STR("seq"), side->seq);
    json_out_key(o, STR("latency_ms"));
    if (side->latency_ms >= 0)
        json_out_int(o, side->latency_ms);
    else
        json_out_null(o);
    json_out_end_object(o);
}

/* A value that one side does not have is left out. */
static void write_value(struct json_out *o, const char *name, struct str json)
{
    char bytes[32];

    if (!json.len)
        return;
    if (json.len <= DIFF_JSON_VALUE) {
        json_out_key_raw(o, str_z(name), json);
        return;
    }
    snprintf(bytes, sizeof bytes, "%s_bytes", name);
    json_out_key_int(o, str_z(bytes), (int64_t)json.len);
}

static void write_difference(struct json_out *o, const struct finding *f)
{
    json_out_object(o);
    json_out_key_str(o, STR("rule"), f->rule);
    json_out_key_str_or_null(o, STR("path"), f->path);
    write_value(o, "before", f->recorded);
    write_value(o, "after", f->live);
    json_out_end_object(o);
}

void diff_json_write_entry(struct json_out *o, const struct call_diff_entry *entry)
{
    if (entry->status == CALL_DIFF_SAME && !entry->moved && !entry->latency_changed)
        return;
    json_out_object(o);
    json_out_key_str(o, STR("status"), diff_json_status(entry->status));
    json_out_key_bool(o, STR("moved"), entry->moved);
    json_out_key_bool(o, STR("latency_changed"), entry->latency_changed);
    json_out_key_bool(o, STR("breaking"), entry->breaking);
    json_out_key_str(o, STR("method"), entry->method);
    json_out_key_str_or_null(o, STR("subject"), entry->subject);
    write_side(o, STR("before"), &entry->before);
    write_side(o, STR("after"), &entry->after);
    json_out_key(o, STR("differences"));
    json_out_array(o);
    for (size_t i = 0; i < entry->finding_count; i++)
        write_difference(o, &entry->findings[i]);
    json_out_end_array(o);
    json_out_key_int(o, STR("more_differences"), (int64_t)entry->more);
    json_out_key_int(o, STR("volatile"), (int64_t)entry->volatile_count);
    json_out_key_int(o, STR("ignored"), (int64_t)entry->ignored_count);
    json_out_end_object(o);
}

void diff_json_write_totals(struct json_out *o, const struct call_diff_totals *totals)
{
    json_out_object(o);
    for (size_t i = 0; i < CALL_DIFF_STATUSES; i++)
        json_out_key_int(o, diff_json_status((enum call_diff_status)i),
                         (int64_t)totals->count[i]);
    json_out_key_int(o, STR("breaking"), (int64_t)totals->breaking);
    json_out_key_int(o, STR("moved"), (int64_t)totals->moved);
    json_out_key_int(o, STR("slower"), (int64_t)totals->slower);
    json_out_key_int(o, STR("faster"), (int64_t)totals->faster);
    json_out_key_bool(o, STR("exact"), !totals->greedy);
    json_out_end_object(o);
}
