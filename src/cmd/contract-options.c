#include "cmd/contract-options.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/shell-split.h"
#include "diff/lock-file.h"

enum { DATE = 10, HEAD = 4096, COMMAND_MAX = 1 << 20 };

const struct option_choice contract_options_fail_on[] = {
    { .name = "breaking", .value = CONTRACT_BREAKING },
    { .name = "security", .value = CONTRACT_SECURITY },
    { .name = "risky", .value = CONTRACT_RISKY },
    { .name = "routing", .value = CONTRACT_ROUTING },
    { .name = "safe", .value = CONTRACT_SAFE },
    { .name = "cosmetic", .value = CONTRACT_COSMETIC },
    { .name = "breaking-used", .value = FAIL_ON_BREAKING_USED },
    { .name = "never", .value = FAIL_ON_NEVER },
    { 0 },
};

const struct option_choice contract_options_profiles[] = {
    { .name = "wire", .value = CONTRACT_PROFILE_WIRE },
    { .name = "contract", .value = CONTRACT_PROFILE_CONTRACT },
    { .name = "surface", .value = CONTRACT_PROFILE_SURFACE },
    { 0 },
};

/* A recording may be large; a lock file begins with its version. */
static bool begins_like_lock(const struct app *app, const char *path)
{
    struct file f = FILE_CLOSED;
    struct err ignored = ERR_NONE;
    char head[HEAD];
    size_t got = 0;
    bool is = file_open(&f, app->sys, path, &ignored) &&
              file_read(&f, head, sizeof head, &got, &ignored) &&
              str_contains(str_n(head, got), STR("\"mcpreelLock\""));

    file_close(&f, &ignored);
    return is;
}

bool contract_options_is_lock(const struct app *app, const char *path)
{
    struct err ignored = ERR_NONE;
    struct buf text;
    bool is;

    buf_init(&text, LOCK_FILE_MAX);
    is = begins_like_lock(app, path) && file_read_all(&text, app->sys, path, &ignored) &&
         lock_file_is_lock(buf_str(&text));
    buf_release(&text);
    return is;
}

bool contract_options_read_lock(const struct app *app, const char *path, struct surface *to,
                                struct err *e)
{
    struct buf text;
    bool ok;

    buf_init(&text, LOCK_FILE_MAX);
    ok = file_read_all(&text, app->sys, path, e) &&
         (lock_file_read(to, buf_str(&text), e) || err_wrap(e, "cannot use '%s'", path));
    buf_release(&text);
    return ok;
}

static void warn_repeated(const struct app *app, const struct surface *s,
                          enum surface_kind kind, struct str source)
{
    const struct surface_list *l = &s->lists[kind];
    const struct surface_item *first = NULL;
    size_t names = 0;

    for (size_t i = 0; i < l->count; i++) {
        names += l->items[i].repeats > 0;
        if (!first && l->items[i].repeats)
            first = &l->items[i];
    }
    if (!first)
        return;
    log_printf(app->log, LOG_WARN,
               "%.*s: the %.*s '%.*s' has %zu different definitions; clients may use any of "
               "them",
               STR_ARG(source), STR_ARG(surface_kind_name(kind)), STR_ARG(first->key),
               first->repeats + 1);
    if (names > 1)
        log_printf(app->log, LOG_WARN, "%.*s: so have %zu more in %.*s", STR_ARG(source),
                   names - 1, STR_ARG(surface_list_method(kind)));
}

void contract_options_warn(const struct app *app, const struct surface *s, struct str source)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        size_t nameless = s->lists[k].nameless;

        warn_repeated(app, s, k, source);
        if (nameless)
            log_printf(app->log, LOG_WARN, "%.*s: %zu definition%s of %.*s %s no name",
                       STR_ARG(source), nameless, nameless == 1 ? "" : "s",
                       STR_ARG(surface_list_method(k)), nameless == 1 ? "has" : "have");
    }
}

bool contract_options_check_lists(const struct surface *before, const struct surface *after,
                                  struct str after_name, bool is_live, struct err *e)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++) {
        struct str method = surface_list_method(k);

        if (after->lists[k].known || !before->lists[k].count)
            continue;
        if (!is_live && k != SURFACE_TOOL)
            continue; /* many clients read the tools only */
        if (is_live) {
            err_set(e, ERR_PEER, "'%.*s' offers the list of %.*s, but rejects the request",
                    STR_ARG(after_name), STR_ARG(method));
            return err_hint(e, "repair the server; '--fail-on never' compares the rest");
        }
        err_set(e, ERR_INPUT,
                "'%.*s' has no result of %.*s: what is missing in it is not known",
                STR_ARG(after_name), STR_ARG(method));
        return err_hint(e, "use a session in which the client reads that list; '--fail-on "
                           "never' compares the rest");
    }
    return true;
}

void contract_options_allow(const struct app *app, struct contract_changes *changes,
                            const struct compare_rules *rules)
{
    char text[CLOCK_TEXT_SIZE];
    struct str now = clock_format(text, clock_wall_us());
    size_t ended = contract_allow(changes, rules, str_n(now.at, DATE));

    if (ended)
        log_printf(app->log, LOG_WARN,
                   "%zu entr%s of 'allow' ha%s ended and allow%s nothing any more", ended,
                   ended == 1 ? "y" : "ies", ended == 1 ? "s" : "ve", ended == 1 ? "s" : "");
}

static void add_word(struct buf *to, struct str word)
{
    buf_add_ch(to, ' ');
    shell_quote(to, word);
}

/* Appends the server as it was given; without its secrets it can only be shown. */
static void add_server(struct buf *to, const struct contract_options_accept *o)
{
    struct buf words, line;

    buf_init(&words, COMMAND_MAX);
    buf_init(&line, COMMAND_MAX);
    for (char *const *word = o->target->argv; word && *word; word++) {
        add_word(&words, str_z(*word));
        buf_printf(&line, "%s%s", line.len ? " " : "", *word);
    }
    if (!o->target->argv)
        add_word(to, o->source);
    else if (str_eq(buf_str(&line), o->source))
        buf_add(to, buf_str(&words));
    else
        buf_printf(to, " %.*s", STR_ARG(o->source));
    buf_release(&words);
    buf_release(&line);
}

/* A lock file is not locked, but copied. */
struct str contract_options_accept(const struct contract_options_accept *o, struct arena *a)
{
    struct str command;
    struct buf text;

    buf_init(&text, COMMAND_MAX);
    if (o->file && contract_options_is_lock(o->app, o->file)) {
        buf_add(&text, STR("cp"));
        add_word(&text, str_z(o->file));
        add_word(&text, str_z(o->lock));
    } else {
        buf_add(&text, STR("mcpreel lock"));
        if (o->protocol_version)
            buf_printf(&text, " --protocol-version %s", o->protocol_version);
        if (o->session)
            buf_printf(&text, " --session %lld", (long long)o->session);
        add_word(&text, str_z(o->lock));
        buf_add(&text, o->file ? STR_NONE : o->target->argv ? STR(" --") : STR(" --url"));
        if (o->file)
            add_word(&text, str_z(o->file));
        else
            add_server(&text, o);
    }
    command = arena_str(a, buf_str(&text));
    buf_release(&text);
    return command;
}
