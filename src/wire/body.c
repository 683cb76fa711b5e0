#include "wire/body.h"

bool body_is_empty(struct body_framing framing)
{
    return framing.kind == BODY_NONE || (framing.kind == BODY_LENGTH && !framing.length);
}

bool body_parse_length(struct str text, uint64_t *length)
{
    return str_parse_u64(text, length) && *length <= INT64_MAX;
}

void body_init(struct body *b, struct body_framing framing)
{
    b->kind = framing.kind;
    b->remaining = framing.kind == BODY_LENGTH ? framing.length : 0;
    if (framing.kind == BODY_CHUNKED)
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
    case CHUNKED_REJECTED:
        return BODY_REJECTED;
    }
    BUG("unknown result of the parser");
}

enum body_next body_next(struct body *b, struct str *in, struct str *data)
{
    if (b->kind == BODY_CHUNKED)
        return next_chunked(b, in, data);
    if (b->remaining == 0)
        return BODY_END;
    if (in->len == 0)
        return BODY_MORE;
    *data = *in;
    if (data->len > b->remaining)
        data->len = (size_t)b->remaining;
    b->remaining -= data->len;
    *in = str_skip(*in, data->len);
    return BODY_DATA;
}
