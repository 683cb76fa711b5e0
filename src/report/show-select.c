#include "report/show-select.h"

#include "base/buf.h"
#include "base/file.h"
#include "filter/filter-parse.h"

enum { EXCERPT = 60 }; /* bytes of a query that are shown around an error */

static bool is_file(const struct sys *sys, const char *path)
{
    struct err ignored = ERR_NONE;
    struct file f = FILE_CLOSED;

    if (file_is_stdio(path) || !file_open(&f, sys, path, &ignored))
        return false;
    file_close(&f, &ignored);
    return true;
}

bool show_select_parse(struct show_select *p, const struct sys *sys, const char *operand,
                       struct arena *a, struct err *e)
{
    const char *colon = strrchr(operand, ':'), *path;
    struct str number = str_z(colon ? colon + 1 : "");
    bool message = str_starts(number, STR("#")), picked;

    *p = (struct show_select){ .path = operand };
    if (!colon || colon == operand || is_file(sys, operand))
        return true;
    path = arena_z(a, str_n(operand, (size_t)(colon - operand)));
    picked = str_parse_u64(str_skip(number, message), &p->number) && p->number;
    if (picked) {
        p->path = path;
        p->is_message = message;
        return true;
    }
    p->number = 0;
    if (!is_file(sys, path))
        return true;
    err_set(e, ERR_USAGE, "'%s' is not the number of an operation or message of '%s'",
            colon + 1, path);
    return err_hint(e, "numbers start at 1: %s:1 or %s:#1", path, path);
}

/* Puts the part of the query around the error into the hint, with a line of ^ below it. */
static void add_error_excerpt(struct err *e, struct str query, const struct filter_fault *fault)
{
    size_t from = fault->at > EXCERPT / 2 ? fault->at - EXCERPT / 2 : 0;
    size_t marks = fault->len ? fault->len : 1;
    char said[sizeof e->hint];
    struct buf line;

    while (from && ((unsigned char)query.at[from] & 0xC0) == 0x80)
        from--;
    query = str_n(query.at + from, query.len - from < EXCERPT ? query.len - from : EXCERPT);
    memcpy(said, e->hint, sizeof said);
    buf_init(&line, EXCERPT + 1);
    for (size_t i = from; i < fault->at; i++)
        if (((unsigned char)query.at[i - from] & 0xC0) != 0x80)
            buf_add_ch(&line, ' ');
    for (size_t i = 0; i < marks && fault->at - from + i < EXCERPT; i++)
        buf_add_ch(&line, '^');
    err_hint(e, "%.*s\n%s%s%s", STR_ARG(query), buf_z(&line), *said ? "\n" : "", said);
    buf_release(&line);
}

bool show_select_filter(struct filter **out, char *const *words, size_t count,
                        const char *const *more, size_t more_count, struct err *e)
{
    struct filter_fault fault;
    struct buf query;
    bool ok;

    buf_init(&query, 2 * FILTER_QUERY_MAX);
    for (size_t i = 0; i < more_count; i++)
        buf_printf(&query, "%s%s%s%s", query.len ? " " : "", more_count + count > 1 ? "(" : "",
                   more[i], more_count + count > 1 ? ")" : "");
    for (size_t i = 0; i < count; i++)
        buf_printf(&query, "%s%s", query.len ? " " : "", words[i]);
    ok = buf_ok(&query, e);
    if (ok && !filter_new(out, buf_str(&query), &fault, e)) {
        add_error_excerpt(e, buf_str(&query), &fault);
        ok = false;
    }
    buf_release(&query);
    return ok;
}
