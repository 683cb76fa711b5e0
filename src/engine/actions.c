#include "engine/actions.h"

#include "trace/limits.h"
#include "json/write.h"

void actions_init(struct actions *s, struct action_sink *out)
{
    *s = (struct actions){ .out = out };
    buf_init(&s->text, LIMIT_LINE * 3);
}

void actions_release(struct actions *s)
{
    buf_release(&s->text);
}

void actions_send(struct actions *s, struct str message)
{
    struct action a = { .kind = ACTION_SEND, .text = message, .route = s->route };

    actions_put(s, &a);
}

void actions_call_started(struct actions *s)
{
    struct action a = { .kind = ACTION_CALL_STARTED, .route = s->route };

    if (s->route.exchange)
        actions_put(s, &a);
}

void actions_call_cancelled(struct actions *s)
{
    struct action a = { .kind = ACTION_CANCELLED, .route = s->route };

    if (s->route.exchange)
        actions_put(s, &a);
}

static struct json_out begin_message(struct actions *s)
{
    struct json_out o = json_out_to(&s->text);

    buf_clear(&s->text);
    json_out_object(&o);
    json_out_key_str(&o, STR("jsonrpc"), STR("2.0"));
    return o;
}

static void end_message(struct actions *s, struct json_out *o)
{
    json_out_end_object(o);
    BUG_IF(s->text.full);
    actions_send(s, buf_str(&s->text));
}

static void end_response(struct actions *s, struct json_out *o)
{
    s->route.is_final = true;
    end_message(s, o);
    s->route.is_final = false;
}

static void add_method(struct json_out *o, struct str method, struct str params)
{
    json_out_key_str(o, STR("method"), method);
    if (params.len)
        json_out_key_raw(o, STR("params"), params);
}

void actions_send_request(struct actions *s, struct str id, struct str method,
                          struct str params)
{
    struct json_out o = begin_message(s);

    json_out_key_raw(&o, STR("id"), id);
    add_method(&o, method, params);
    end_message(s, &o);
}

void actions_send_notification(struct actions *s, struct str method, struct str params)
{
    struct json_out o = begin_message(s);

    add_method(&o, method, params);
    end_message(s, &o);
}

void actions_send_result(struct actions *s, struct str id, struct str result)
{
    struct json_out o = begin_message(s);

    json_out_key_raw(&o, STR("id"), id);
    json_out_key_raw(&o, STR("result"), result);
    end_response(s, &o);
}

void actions_send_error(struct actions *s, struct str id, int64_t code, struct str message,
                        struct str data)
{
    struct json_out o = begin_message(s);

    json_out_key_raw(&o, STR("id"), id.len ? id : STR("null"));
    json_out_key(&o, STR("error"));
    json_out_object(&o);
    json_out_key_int(&o, STR("code"), code);
    json_out_key_str(&o, STR("message"), message);
    if (data.len)
        json_out_key_raw(&o, STR("data"), data);
    json_out_end_object(&o);
    end_response(s, &o);
}

void actions_vreport(struct actions *s, enum log_level level, const char *fmt, va_list ap)
{
    struct action a = { .kind = ACTION_REPORT, .level = level };

    buf_clear(&s->text);
    buf_vprintf(&s->text, fmt, ap);
    a.text = buf_str(&s->text);
    actions_put(s, &a);
}

void actions_report(struct actions *s, enum log_level level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    actions_vreport(s, level, fmt, ap);
    va_end(ap);
}

void actions_set_timer(struct actions *s, uint64_t timer, int64_t delay_us)
{
    struct action a = { .kind = ACTION_SET_TIMER, .timer = timer, .delay_us = delay_us };

    actions_put(s, &a);
}

void actions_start_upstream(struct actions *s)
{
    struct action a = { .kind = ACTION_START_UPSTREAM };

    actions_put(s, &a);
}

void actions_send_upstream(struct actions *s, struct str message)
{
    struct action a = { .kind = ACTION_SEND_UPSTREAM, .text = message };

    actions_put(s, &a);
}

void actions_finish(struct actions *s, int exit_code)
{
    struct action a = { .kind = ACTION_FINISH, .exit_code = exit_code };

    actions_put(s, &a);
}
