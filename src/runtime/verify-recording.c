#include "runtime/verify-recording.h"

bool verify_recording_open(struct verify_recording *r, const struct app *app, const char *path,
                           struct err *e)
{
    const char *tmp = app_env(app, "TMPDIR");

    *r = (struct verify_recording){ .order = { .items = NULL } };
    return message_file_open(&r->file, app->sys, path, tmp ? tmp : "/tmp", app->log, e);
}

void verify_recording_close(struct verify_recording *r)
{
    index_release(&r->index);
    index_order_release(&r->order);
    message_file_close(&r->file);
}

bool verify_recording_load(struct verify_recording *r, struct sink *first, struct err *e)
{
    static const struct params_rules rules = { .include_meta = false };

    index_order_init(&r->order);
    index_init(&r->index, &r->file.store, &rules, NULL);
    r->index.order = &r->order;
    r->file.keep_lines = true;
    if (!message_file_read_all(&r->file, first ? first : &r->index.sink, e))
        return false;
    index_finish(&r->index);
    return true;
}

uint64_t verify_recording_count(const struct verify_recording *r, enum index_order_kind kind)
{
    uint64_t count = 0;

    for (uint32_t i = 1; i < r->order.count; i++)
        count += r->order.items[i].kind == kind;
    return count;
}
