#include "cmd/listening.h"

#include "base/arena.h"
#include "base/file.h"
#include "engine/address.h"
#include "json/write.h"

static bool check_scope(const struct listening_args *args, const struct listen *at,
                        struct err *e)
{
    if (at->scope == LISTEN_LOOPBACK || args->allow_remote)
        return true;
    err_set(e, ERR_USAGE, "'%s' can be reached by other machines, too", args->listen);
    return err_hint(e, "listen on 127.0.0.1, or add --allow-remote if that is what you want");
}

static bool check_lists(const struct listening_args *args, struct err *e)
{
    for (size_t i = 0; i < args->allow_host.count; i++)
        if (!http_gate_is_host(str_z(args->allow_host.at[i]))) {
            err_set(e, ERR_USAGE, "'--allow-host': '%s' is no name of a host",
                    args->allow_host.at[i]);
            return err_hint(e, "write it as --allow-host mcp.example.org");
        }
    for (size_t i = 0; i < args->allow_origin.count; i++)
        if (!http_gate_is_origin(str_z(args->allow_origin.at[i]))) {
            err_set(e, ERR_USAGE, "'--allow-origin': '%s' is no origin of pages",
                    args->allow_origin.at[i]);
            return err_hint(e, "write it as --allow-origin https://app.example.org, without a "
                               "path");
        }
    return true;
}

/* Looked at before we open anything that could have that number. */
static bool check_descriptor(const struct listening_args *args, struct err *e)
{
    int fd = (int)args->ready_fd;

    if (!fd || file_may_tell(fd, e))
        return true;
    err_wrap(e, "'--ready-fd'");
    return err_hint(e, "in a shell: mcpreel … --ready-fd 3 3>address");
}

bool listening_choose(const struct listening_args *args, int usual, struct listen *at,
                      bool *asked, struct err *e)
{
    *at = (struct listen){ .scope = LISTEN_LOOPBACK,
                           .port = args->port ? (int)args->port : usual };
    *asked = args->listen || args->port || usual;
    if (args->listen && args->port)
        return err_set(e, ERR_USAGE, "two addresses: '--listen' and '--port'");
    if (*asked && (!check_lists(args, e) || !check_descriptor(args, e)))
        return false;
    return !args->listen ||
           (listen_parse(at, str_z(args->listen), e) && check_scope(args, at, e));
}

struct http_gate listening_gate(const struct listening_args *args, const struct listen *at)
{
    return (struct http_gate){
        .remote = at->scope != LISTEN_LOOPBACK,
        .hosts = args->allow_host.at,
        .host_count = args->allow_host.count,
        .origins = args->allow_origin.at,
        .origin_count = args->allow_origin.count,
    };
}

bool listening_is_open(const struct listening_args *args, const struct listen *at)
{
    return at->scope != LISTEN_LOOPBACK || args->allow_host.count;
}

void listening_refused(const struct log *log, bool *crowd, uint64_t connection,
                       const struct exchange_fault *why)
{
    log_say(log, LOG_DEBUG, "connection %llu was refused: %s", (unsigned long long)connection,
            why->text);
    if (why->kind != EXCHANGE_CROWD || *crowd)
        return;
    *crowd = true;
    log_say(log, LOG_WARN,
            "there are more clients than file descriptors for them; those who "
            "come now are answered 503 (see 'ulimit -n')");
}

/* The name it came for, or the origin of its page: what the user may want to allow. Values of
 * header lines are the client's, and may hold anything; so no more of them is told than what
 * can be read as that. Empty: that says nothing here. */
static struct str whom_of(const struct fields *asked, enum http_gate_reason why,
                          struct arena *a)
{
    struct url_authority host;
    struct err e = ERR_NONE;
    struct url origin;

    if (why == HTTP_GATE_HOST && url_authority(&host, fields_value(asked, STR("host"))))
        return arena_printf(a, " a request for host '%.*s'", STR_ARG(host.host));
    if (why == HTTP_GATE_ORIGIN && url_parse(&origin, fields_value(asked, STR("origin")), &e))
        return arena_printf(a, " a page of '%.*s'", STR_ARG(address_origin(&origin, a)));
    return STR_NONE;
}

void listening_kept_out(const struct log *log, unsigned *told, const struct fields *asked,
                        const struct http_gate_verdict *why)
{
    unsigned reason = 1u << why->reason;
    enum log_level level = *told & reason ? LOG_DEBUG : LOG_WARN;
    struct arena a = { 0 };
    struct str whom = asked ? whom_of(asked, why->reason, &a) : STR_NONE;

    *told |= reason;
    log_say(log, level, "kept out%.*s: %s", STR_ARG(whom), why->text);
    arena_release(&a);
}

static bool tell_descriptor(const struct app *app, const struct listening_args *args,
                            struct str line, struct err *e)
{
    struct file f = { .sys = app->sys, .path = "--ready-fd", .fd = (int)args->ready_fd };
    size_t done;

    if (!file_write(&f, line, &done, e))
        return err_wrap(e, "cannot tell descriptor %d that clients can connect",
                        (int)args->ready_fd);
    return file_close(&f, e);
}

static struct str line_for_people(const struct app *app, struct arena *a, struct str url)
{
    struct buf text;
    struct json_out o = json_out_to(&text);
    struct str line;

    if (!app->json)
        return arena_printf(a, "%.*s\n", STR_ARG(url));
    buf_init(&text, 1 << 16);
    json_out_object(&o);
    json_out_key_str(&o, STR("event"), STR("listening"));
    json_out_key_str(&o, STR("url"), url);
    json_out_end_object(&o);
    buf_add_ch(&text, '\n');
    line = arena_str(a, buf_str(&text));
    buf_release(&text);
    return line;
}

/* Nobody is called so: who listens everywhere is told of where it can be reached from here. */
static struct str host_to_tell(struct str host)
{
    if (str_eq(host, STR("0.0.0.0")))
        return STR("127.0.0.1");
    return str_eq(host, STR("::")) ? STR("::1") : host;
}

bool listening_tell(const struct app *app, const struct listening_args *args,
                    const struct url_authority *at, struct str path, struct err *e)
{
    struct arena a = { 0 };
    struct str host = host_to_tell(at->host);
    bool v6 = str_find(host, ':') < host.len;
    struct str line = arena_printf(&a, v6 ? "http://[%.*s]:%d%.*s\n" : "http://%.*s:%d%.*s\n",
                                   STR_ARG(host), at->port, STR_ARG(path));
    bool ok = (!args->ready_fd || tell_descriptor(app, args, line, e)) &&
              app_write(app, line_for_people(app, &a, str_trim(line)), e);

    arena_release(&a);
    return ok;
}
