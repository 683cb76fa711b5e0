#include "wire/body.h"

bool body_is_none(struct body_plan plan)
{
    return plan.kind == BODY_NONE || (plan.kind == BODY_LENGTH && !plan.length);
}

bool body_length(struct str text, uint64_t *length)
{
    return str_u64(text, length) && *length <= INT64_MAX;
}

void body_init(struct body *b, struct body_plan plan)
{
    b->kind = plan.kind;
    b->left = plan.kind == BODY_LENGTH ? plan.length : 0;
    if (plan.kind == BODY_CHUNKED)
        chunked_init(&b->chunked);
}

void body_release(struct body *b)
{
    if (b->kind == BODY_CHUNKED)
        chunked_release(&b->chunked);
}

static enum body_next next_chunked(struct body *b, struct str *in, struct str *data)
{
    switch (chunked_next(&b->chunked, in, data)) {
    case CHUNKED_MORE:
        return BODY_MORE;
    case CHUNKED_DATA:
        return BODY_DATA;
    case CHUNKED_END:
        return BODY_END;
    case CHUNKED_REFUSED:
        return BODY_REFUSED;
    }
    BUG("no such answer");
}

enum body_next body_next(struct body *b, struct str *in, struct str *data)
{
    if (b->kind == BODY_CHUNKED)
        return next_chunked(b, in, data);
    if (b->left == 0)
        return BODY_END;
    if (in->len == 0)
        return BODY_MORE;
    *data = *in;
    if (data->len > b->left)
        data->len = (size_t)b->left;
    b->left -= data->len;
    *in = str_skip(*in, data->len);
    return BODY_DATA;
}
