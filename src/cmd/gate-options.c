#include "cmd/gate-options.h"

#include "cmd/option-value.h"

bool gate_options_parse_count(void *limit, const char *text, struct err *e)
{
    uint64_t n;

    if (!str_parse_u64(str_z(text), &n) || n > INT64_MAX)
        return err_set(e, ERR_USAGE, "'%s' is not a number such as 0 or 5", text);
    *(struct gate_limit *)limit = (struct gate_limit){ true, (int64_t)n };
    return true;
}

bool gate_options_parse_duration(void *limit, const char *text, struct err *e)
{
    static const struct option duration = { .name = "", .type = OPTION_DURATION };
    int64_t us;

    if (!option_value_set(&duration, &us, text, NULL, e))
        return false;
    *(struct gate_limit *)limit = (struct gate_limit){ true, us };
    return true;
}

bool gate_options_parse_size(void *limit, const char *text, struct err *e)
{
    static const struct option size = { .name = "", .type = OPTION_SIZE };
    uint64_t bytes;

    if (!option_value_set(&size, &bytes, text, NULL, e))
        return false;
    if (bytes > INT64_MAX)
        bytes = INT64_MAX;
    *(struct gate_limit *)limit = (struct gate_limit){ true, (int64_t)bytes };
    return true;
}

bool gate_options_read(struct gate_options *o, const struct gate_args *args, struct err *e)
{
    struct gate_conditions *c = &o->conditions;

    *o = (struct gate_options){ .conditions = { .errors = args->errors,
                                                .server_us = args->server_us,
                                                .result_bytes = args->result_bytes,
                                                .surface_bytes = args->surface_bytes,
                                                .age_us = args->age_us } };
    if (!gate_patterns_read(&c->expected, &args->expect_tools, e))
        return err_wrap(e, "option '--expect-tool'");
    if (!gate_patterns_read(&c->forbidden, &args->forbid_tools, e))
        return err_wrap(e, "option '--forbid-tool'");
    if (!assertion_list_read(&o->assertions, &args->assertions, e))
        return err_wrap(e, "option '--assert'");
    return true;
}

void gate_options_release(struct gate_options *o)
{
    gate_patterns_release(&o->conditions.expected);
    gate_patterns_release(&o->conditions.forbidden);
    assertion_list_release(&o->assertions);
}

bool gate_options_reject(const struct option *rows, const struct operands *in, const char *with,
                         struct err *e)
{
    for (const struct option *o = rows; o->name; o++)
        if (o->group && strcmp(o->group, GATE_GROUP) == 0 && option_is_given(in, o->name))
            return err_set(e, ERR_USAGE, "'--%s' cannot be combined with '%s'", o->name, with);
    return true;
}
