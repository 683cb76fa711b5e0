#include "format/encoder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "ops/op-builder.h"

struct operation_encoder {
    struct operation_sink events; /* receives those of `builder` */
    struct op_builder builder;
    const struct format *format;
    void *state;    /* of the format */
    struct buf *to; /* during a call */
};

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct operation_encoder *o = (struct operation_encoder *)self;
    struct format_operation event = { .event = ev };

    (void)e;
    event.start_known = op_builder_start_wall_us(&o->builder, &event.start_wall_us);
    o->format->put_operation(o->state, o->to, &event);
    return true;
}

void encoder_begin(struct encoder *c, const struct format *format,
                   const struct format_options *options)
{
    static const struct format_options defaults;

    *c = (struct encoder){ .format = format };
    if (format->begin)
        c->state = format->begin(options ? options : &defaults);
    if (!format->put_operation)
        return;
    c->operations = mem_new(struct operation_encoder);
    *c->operations = (struct operation_encoder){ .events = { put_event },
                                                 .format = format,
                                                 .state = c->state };
    op_builder_init(&c->operations->builder, &c->operations->events);
}

void encoder_put_operations(struct encoder *c, struct buf *to, const struct record *r)
{
    struct operation_encoder *o = c->operations;
    struct err e = ERR_NONE;

    o->to = to;
    if (!o->builder.sink.put(&o->builder.sink, r, &e))
        BUG("the sink rejected a record");
}

static void end_operations(struct operation_encoder *o, struct buf *to)
{
    struct err e = ERR_NONE;

    o->to = to;
    if (!op_builder_finish(&o->builder, &e))
        BUG("the sink rejected a record");
    op_builder_release(&o->builder);
    free(o);
}

bool encoder_flush(struct encoder *c, struct buf *to)
{
    if (c->operations)
        end_operations(c->operations, to);
    c->operations = NULL;
    return c->format->flush && c->format->flush(c->state, to);
}

void encoder_end(struct encoder *c, struct buf *to)
{
    if (!c->format)
        return;
    while (encoder_flush(c, to))
        ;
    if (c->format->end)
        c->format->end(c->state, to);
    *c = (struct encoder){ .format = NULL };
}

bool encoder_is_empty(const struct encoder *c)
{
    return c->format->is_empty && c->format->is_empty(c->state);
}
