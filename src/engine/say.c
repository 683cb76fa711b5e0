#include "engine/say.h"

#include "trace/limits.h"
#include "json/write.h"

void say_init(struct say *s, struct action_sink *out)
{
    *s = (struct say){ .out = out };
    buf_init(&s->text, LIMIT_LINE * 3);
}

void say_release(struct say *s)
{
    buf_release(&s->text);
}

void say_message(struct say *s, struct str message)
{
    struct action a = { .kind = ACTION_SEND, .text = message, .way = s->way };

    s->out->put(s->out, &a);
}

void say_begin(struct say *s)
{
    struct action a = { .kind = ACTION_BEGIN, .way = s->way };

    if (s->way.exchange)
        s->out->put(s->out, &a);
}

void say_drop(struct say *s)
{
    struct action a = { .kind = ACTION_DROP, .way = s->way };

    if (s->way.exchange)
        s->out->put(s->out, &a);
}

static struct json_out begin(struct say *s)
{
    struct json_out o = json_out_to(&s->text);

    buf_clear(&s->text);
    json_out_object(&o);
    json_out_key_str(&o, STR("jsonrpc"), STR("2.0"));
    return o;
}

static void end(struct say *s, struct json_out *o)
{
    json_out_end_object(o);
    BUG_IF(s->text.full);
    say_message(s, buf_str(&s->text));
}

static void end_answer(struct say *s, struct json_out *o)
{
    s->way.last = true;
    end(s, o);
    s->way.last = false;
}

static void add_call(struct json_out *o, struct str method, struct str params)
{
    json_out_key_str(o, STR("method"), method);
    if (params.len)
        json_out_key_raw(o, STR("params"), params);
}

void say_request(struct say *s, struct str id, struct str method, struct str params)
{
    struct json_out o = begin(s);

    json_out_key_raw(&o, STR("id"), id);
    add_call(&o, method, params);
    end(s, &o);
}

void say_notification(struct say *s, struct str method, struct str params)
{
    struct json_out o = begin(s);

    add_call(&o, method, params);
    end(s, &o);
}

void say_result(struct say *s, struct str id, struct str result)
{
    struct json_out o = begin(s);

    json_out_key_raw(&o, STR("id"), id);
    json_out_key_raw(&o, STR("result"), result);
    end_answer(s, &o);
}

void say_error(struct say *s, struct str id, int64_t code, struct str message, struct str data)
{
    struct json_out o = begin(s);

    json_out_key_raw(&o, STR("id"), id.len ? id : STR("null"));
    json_out_key(&o, STR("error"));
    json_out_object(&o);
    json_out_key_int(&o, STR("code"), code);
    json_out_key_str(&o, STR("message"), message);
    if (data.len)
        json_out_key_raw(&o, STR("data"), data);
    json_out_end_object(&o);
    end_answer(s, &o);
}

void say_vreport(struct say *s, enum log_level level, const char *fmt, va_list ap)
{
    struct action a = { .kind = ACTION_REPORT, .level = level };

    buf_clear(&s->text);
    buf_vprintf(&s->text, fmt, ap);
    a.text = buf_str(&s->text);
    s->out->put(s->out, &a);
}

void say_report(struct say *s, enum log_level level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_vreport(s, level, fmt, ap);
    va_end(ap);
}

void say_timer(struct say *s, uint64_t timer, int64_t delay_us)
{
    struct action a = { .kind = ACTION_SET_TIMER, .timer = timer, .delay_us = delay_us };

    s->out->put(s->out, &a);
}

void say_start_upstream(struct say *s)
{
    struct action a = { .kind = ACTION_START_UPSTREAM };

    s->out->put(s->out, &a);
}

void say_upstream(struct say *s, struct str message)
{
    struct action a = { .kind = ACTION_SEND_UPSTREAM, .text = message };

    s->out->put(s->out, &a);
}

void say_finish(struct say *s, int exit_code)
{
    struct action a = { .kind = ACTION_FINISH, .exit_code = exit_code };

    s->out->put(s->out, &a);
}
