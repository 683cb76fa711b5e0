#include "runtime/otlp-config.h"

#include "runtime/ca-file.h"
#include "transport/curl-load.h"
#include "wire/url.h"

enum { TIMEOUT_MS = 10000, TIMEOUT_MAX_MS = 3600 * 1000 };

#define PREFIX "OTEL_EXPORTER_OTLP_"
#define TRACES_PATH "v1/traces"

/* Returns the value of a variable, for traces first, and sets `*name` to its full name. */
static const char *variable(const struct app *app, struct arena *a, const char *what,
                            const char **name)
{
    const char *value;

    *name = arena_printf(a, PREFIX "TRACES_%s", what).at;
    value = app_env(app, *name);
    if (value)
        return value;
    *name = arena_printf(a, PREFIX "%s", what).at;
    return app_env(app, *name);
}

bool otlp_config_is_in_env(const struct app *app)
{
    return app_env(app, PREFIX "TRACES_ENDPOINT") || app_env(app, PREFIX "ENDPOINT");
}

/* Appends the path for traces to the path of a URL, in front of its query. */
static const char *with_path(struct otlp_config *c, const char *text)
{
    struct str before = str_n(text, strcspn(text, "?#"));

    return arena_printf(&c->arena, "%.*s%s" TRACES_PATH "%s", STR_ARG(before),
                        str_ends(before, STR("/")) ? "" : "/", text + before.len)
        .at;
}

static const char *without_user(struct otlp_config *c, const char *text, struct str userinfo)
{
    const char *after;

    if (!userinfo.at)
        return text;
    after = userinfo.at + userinfo.len + 1;
    return arena_printf(&c->arena, "%.*s%s", (int)(userinfo.at - text), text, after).at;
}

static bool read_url(struct otlp_config *c, const struct app *app, const char *given,
                     struct err *e)
{
    const char *name = "--otlp", *text = given;
    bool is_base = false;
    struct url url;

    if (!text) {
        name = PREFIX "TRACES_ENDPOINT";
        text = app_env(app, name);
    }
    if (!text) {
        name = PREFIX "ENDPOINT";
        text = app_env(app, name);
        is_base = true;
    }
    if (!text)
        return err_set(e, ERR_USAGE, "no collector to send to");
    if (!url_parse(&url, str_z(text), e))
        return err_wrap(e, "%s", name);
    if (given)
        is_base = !url.path.len || str_eq(url.path, STR("/"));
    c->url = is_base         ? with_path(c, text)
             : !url.path.len ? arena_printf(&c->arena, "%s/", text).at
                             : text;
    if (!url_parse(&url, str_z(c->url), e))
        return err_wrap(e, "%s", name);
    c->display_url = without_user(c, c->url, url.authority.userinfo);
    return true;
}

static struct str decode(struct otlp_config *c, struct str text)
{
    char *to = arena_z(&c->arena, text);
    size_t len = 0;

    while (text.len) {
        bool encoded = str_parse_percent(text, &to[len]);

        if (!encoded)
            to[len] = text.at[0];
        len++;
        text = str_skip(text, encoded ? 3 : 1);
    }
    return str_n(to, len);
}

static bool read_headers(struct otlp_config *c, const struct app *app, struct err *e)
{
    const char *variable_name;
    struct str rest = str_z(variable(app, &c->arena, "HEADERS", &variable_name));

    while (rest.len) {
        struct str item = str_cut(&rest, ','), name = str_trim(str_cut(&item, '='));

        item = decode(c, str_trim(item));
        if (!name.len && !item.len)
            continue;
        if (!headers_is_token(name) || !headers_is_value(item))
            return err_set(e, ERR_USAGE, "%s: not a list of NAME=VALUE with valid headers",
                           variable_name);
        headers_add(&c->headers, name, item);
    }
    return true;
}

static bool read_compression(struct otlp_config *c, const struct app *app, struct err *e)
{
    const char *name, *value = variable(app, &c->arena, "COMPRESSION", &name);

    c->gzip = !value || strcmp(value, "gzip") == 0;
    if (c->gzip || strcmp(value, "none") == 0)
        return true;
    return err_set(e, ERR_USAGE, "%s: '%s' is not one of gzip, none", name, value);
}

static bool read_timeout(struct otlp_config *c, const struct app *app, struct err *e)
{
    const char *name, *value = variable(app, &c->arena, "TIMEOUT", &name);
    uint64_t ms = TIMEOUT_MS;

    if (value && (!str_parse_u64(str_z(value), &ms) || !ms || ms > TIMEOUT_MAX_MS))
        return err_set(e, ERR_USAGE, "%s: '%s' is not a number of milliseconds from 1 to %d",
                       name, value, TIMEOUT_MAX_MS);
    c->timeout_ms = (unsigned)ms;
    return true;
}

/* Collectors take http/protobuf and http/json at the same address, and grpc at another. */
static bool check_protocol(struct otlp_config *c, const struct app *app, const char *url,
                           struct err *e)
{
    const char *name, *value = variable(app, &c->arena, "PROTOCOL", &name);

    if (url || !value || strcmp(value, "grpc") != 0)
        return true;
    err_set(e, ERR_USAGE, "%s: mcpreel sends http/json, not grpc", name);
    return err_hint(e, "give the collector's HTTP address: --otlp http://localhost:4318");
}

bool otlp_config_read(struct otlp_config *c, const struct app *app, const char *url,
                      struct err *e)
{
    const char *name;

    *c = (struct otlp_config){ 0 };
    if (!read_url(c, app, url, e) || !read_headers(c, app, e) || !read_compression(c, app, e) ||
        !read_timeout(c, app, e) || !check_protocol(c, app, url, e))
        return false;
    c->cacert = variable(app, &c->arena, "CERTIFICATE", &name);
    if (!c->cacert && !str_starts(str_z(c->url), STR("https:")))
        return true;
    return ca_file_choose(&c->cacert, app, c->cacert, curl_load_is_linked, e);
}

void otlp_config_release(struct otlp_config *c)
{
    headers_release(&c->headers);
    arena_release(&c->arena);
}
