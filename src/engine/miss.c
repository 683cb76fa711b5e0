#include "engine/miss.h"

#include "json/write.h"
#include "trace/limits.h"

static void add_request(struct buf *to, struct str method, struct str subject)
{
    buf_add(to, method);
    if (subject.len)
        buf_printf(to, " '%.*s'", STR_ARG(subject));
}

void miss_explain(struct miss *why, const struct script *script, struct str method,
                  struct json_val params, bool exhausted)
{
    struct arena a = { 0 };
    struct str subject = json_text(mcp_subject(method, params), &a);
    struct json_out o = json_out_to(&why->data);

    (void)script;
    buf_init(&why->message, LIMIT_MESSAGE);
    buf_init(&why->data, LIMIT_MESSAGE);
    buf_init(&why->report, LIMIT_MESSAGE);
    buf_printf(&why->message, "no recorded answer for ");
    add_request(&why->message, method, subject);
    json_out_object(&o);
    json_out_key_str(&o, STR("reason"), exhausted ? STR("exhausted") : STR("never recorded"));
    json_out_end_object(&o);
    buf_add(&why->report, buf_str(&why->message));
    arena_release(&a);
}

void miss_release(struct miss *why)
{
    buf_release(&why->message);
    buf_release(&why->data);
    buf_release(&why->report);
}
