#include "runtime/listen-config.h"

#include "base/arena.h"
#include "base/file.h"
#include "mcphttp/url-rewrite.h"
#include "json/write.h"

static bool check_scope(const struct listen_config *args, const struct listen_address *at,
                        struct err *e)
{
    if (at->scope == LISTEN_LOOPBACK || args->allow_remote)
        return true;
    err_set(e, ERR_USAGE, "'%s' can be reached from other machines", args->listen);
    return err_hint(e, "listen on 127.0.0.1, or add --allow-remote to allow that");
}

static bool check_lists(const struct listen_config *args, struct err *e)
{
    for (size_t i = 0; i < args->allow_host.count; i++)
        if (!http_access_is_valid_host(str_z(args->allow_host.at[i]))) {
            err_set(e, ERR_USAGE, "'--allow-host': '%s' is not a host name",
                    args->allow_host.at[i]);
            return err_hint(e, "write it as --allow-host mcp.example.org");
        }
    for (size_t i = 0; i < args->allow_origin.count; i++)
        if (!http_access_is_valid_origin(str_z(args->allow_origin.at[i]))) {
            err_set(e, ERR_USAGE, "'--allow-origin': '%s' is not an origin",
                    args->allow_origin.at[i]);
            return err_hint(e, "write it as --allow-origin https://app.example.org, without a "
                               "path");
        }
    return true;
}

/* Checked before mcpreel opens a file that could get this number. */
static bool check_descriptor(const struct listen_config *args, struct err *e)
{
    int fd = (int)args->ready_fd;

    if (!fd || file_can_write_fd(fd, e))
        return true;
    err_wrap(e, "'--ready-fd'");
    return err_hint(e, "in a shell: mcpreel … --ready-fd 3 3>address");
}

bool listen_config_resolve(const struct listen_config *args, int usual,
                           struct listen_address *at, bool *asked, struct err *e)
{
    *at = (struct listen_address){ .scope = LISTEN_LOOPBACK,
                                   .port = args->port ? (int)args->port : usual };
    *asked = args->listen || args->port || usual;
    if (args->listen && args->port)
        return err_set(e, ERR_USAGE, "'--listen' cannot be combined with '--port'");
    if (*asked && (!check_lists(args, e) || !check_descriptor(args, e)))
        return false;
    return !args->listen ||
           (listen_address_parse(at, str_z(args->listen), e) && check_scope(args, at, e));
}

struct http_access listen_config_access(const struct listen_config *args,
                                        const struct listen_address *at)
{
    return (struct http_access){
        .allow_remote = at->scope != LISTEN_LOOPBACK,
        .hosts = args->allow_host.at,
        .host_count = args->allow_host.count,
        .origins = args->allow_origin.at,
        .origin_count = args->allow_origin.count,
    };
}

bool listen_config_is_public(const struct listen_config *args, const struct listen_address *at)
{
    return at->scope != LISTEN_LOOPBACK || args->allow_host.count;
}

void listen_config_log_refused(const struct log *log, bool *logged, uint64_t connection,
                               const struct http_exchange_failure *why)
{
    log_printf(log, LOG_DEBUG, "connection %llu rejected: %s", (unsigned long long)connection,
               why->text);
    if (why->kind != HTTP_EXCHANGE_OVERLOAD || *logged)
        return;
    *logged = true;
    log_printf(log, LOG_WARN,
               "the limit of open files is reached: new clients get HTTP 503 (raise it with "
               "'ulimit -n')");
}

/* Names the host or origin that the user may want to allow. Header values are untrusted, so
 * only a valid host or origin is shown. Empty: neither is the reason. */
static struct str describe_request(const struct headers *asked, enum http_access_reason why,
                                   struct arena *a)
{
    struct url_authority host;
    struct err e = ERR_NONE;
    struct url origin;

    if (why == HTTP_ACCESS_HOST &&
        url_parse_authority(&host, headers_value(asked, STR("host"))))
        return arena_printf(a, " for host '%.*s'", STR_ARG(host.host));
    if (why == HTTP_ACCESS_ORIGIN &&
        url_parse(&origin, headers_value(asked, STR("origin")), &e))
        return arena_printf(a, " from origin '%.*s'", STR_ARG(url_rewrite_origin(&origin, a)));
    return STR_NONE;
}

void listen_config_log_rejected(const struct log *log, unsigned *logged,
                                const struct headers *asked,
                                const struct http_access_decision *why)
{
    unsigned reason = 1u << why->reason;
    enum log_level level = *logged & reason ? LOG_DEBUG : LOG_WARN;
    struct arena a = { 0 };
    struct str whom = asked ? describe_request(asked, why->reason, &a) : STR_NONE;

    *logged |= reason;
    log_printf(log, level, "rejected an HTTP request%.*s: %s", STR_ARG(whom), why->text);
    arena_release(&a);
}

static bool write_ready_fd(const struct app *app, const struct listen_config *args,
                           struct str line, struct err *e)
{
    struct file f = { .sys = app->sys, .path = "--ready-fd", .fd = (int)args->ready_fd };
    size_t done;

    if (!file_write(&f, line, &done, e))
        return err_wrap(e, "cannot write the address to descriptor %d", (int)args->ready_fd);
    return file_close(&f, e);
}

static struct str stdout_line(const struct app *app, struct arena *a, struct str url)
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

/* Replaces a wildcard address by loopback, which can be connected to. */
static struct str reachable_host(struct str host)
{
    if (str_eq(host, STR("0.0.0.0")))
        return STR("127.0.0.1");
    return str_eq(host, STR("::")) ? STR("::1") : host;
}

bool listen_config_announce(const struct app *app, const struct listen_config *args,
                            const struct url_authority *at, struct str path, struct err *e)
{
    struct arena a = { 0 };
    struct str host = reachable_host(at->host);
    bool v6 = str_find(host, ':') < host.len;
    struct str line = arena_printf(&a, v6 ? "http://[%.*s]:%d%.*s\n" : "http://%.*s:%d%.*s\n",
                                   STR_ARG(host), at->port, STR_ARG(path));
    bool ok = (!args->ready_fd || write_ready_fd(app, args, line, e)) &&
              app_write(app, stdout_line(app, &a, str_trim(line)), e);

    arena_release(&a);
    return ok;
}
