#include "transport/outlet.h"

enum { ONE_WRITE = 64 << 10 };

void outlet_init(struct outlet *o)
{
    buf_init(&o->line, ONE_WRITE + 1);
}

void outlet_release(struct outlet *o)
{
    buf_release(&o->line);
}

void outlet_send(struct outlet *o, struct stream *into, struct str message)
{
    buf_clear(&o->line);
    if (message.len <= ONE_WRITE)
        buf_add(&o->line, message);
    else
        stream_write(into, message);
    buf_add_ch(&o->line, '\n');
    stream_write(into, buf_str(&o->line));
}
