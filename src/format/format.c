#include "format/format.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/compress.h"

const struct format *const format_table[] = {
    &recording_format,
    &mcp_replay_trace_format,
    &jsonrpc_format,
    &inspector_format,
    &streamable_http_format,
    &http_sse_format,
    &cassette_format,
    &har_format,
    &mcporter_format,
    &csv_format,
    &flat_format,
    &markdown_format,
    &thoughtjack_format,
    &oatf_format,
    &assay_trace_format,
    &mplp_format,
    &mplp_jsonl_format,
    &otlp_format,
    &jaeger_format,
    NULL,
};

static bool has_name(const struct format *f, struct str name)
{
    bool has = str_eq(str_z(f->name), name);

    for (const char *const *alias = f->alias; *alias; alias++)
        has |= str_eq(str_z(*alias), name);
    return has;
}

const struct format *format_by_name(struct str name)
{
    for (const struct format *const *f = format_table; *f; f++)
        if (has_name(*f, name))
            return *f;
    return NULL;
}

/* The length of the format's longest extension that the name has. */
static size_t extension_len(const struct format *f, struct str name)
{
    size_t longest = 0;

    for (const char *const *ext = f->ext; *ext; ext++)
        if (str_ends(name, str_z(*ext)) && strlen(*ext) > longest)
            longest = strlen(*ext);
    return longest;
}

const struct format *format_by_path(struct str path)
{
    const struct format *best = NULL;
    size_t longest = 0;

    compress_by_suffix(path, &path);
    for (const struct format *const *f = format_table; *f; f++) {
        size_t match = extension_len(*f, path);
        if (match > longest && (*f)->put) {
            longest = match;
            best = *f;
        }
    }
    return best;
}

bool format_is_recording_name(struct str path)
{
    const struct format *f = format_by_path(path);

    return f && f->next;
}

bool format_is_common_name(struct str path)
{
    return str_ends(path, STR(".json")) || str_ends(path, STR(".yaml")) ||
           str_ends(path, STR(".yml"));
}

bool format_takes_option(const struct format *f, const char *option)
{
    for (const char *const *o = f->options; *o; o++)
        if (strcmp(*o, option) == 0)
            return true;
    return false;
}

enum probe_rank format_rank(const struct format *f, struct str head)
{
    return f->probe ? f->probe(head) : PROBE_NONE;
}

const struct format *format_by_content(struct str head, struct str path)
{
    enum probe_rank highest = PROBE_NONE;
    const struct format *best = NULL;
    size_t longest = 0;

    compress_by_suffix(path, &path);
    for (const struct format *const *f = format_table; *f; f++) {
        enum probe_rank r = format_rank(*f, head);
        size_t extension = extension_len(*f, path);
        if (r > highest || (r == highest && r && extension > longest)) {
            highest = r;
            longest = extension;
            best = *f;
        }
    }
    return best;
}

/* Line and byte of an offset in the window, both from 1. */
static void find_line_and_byte(const struct window *w, size_t at, uint64_t *line,
                               uint64_t *byte)
{
    struct str before = str_n(w->bytes.at, at < w->bytes.len ? at : w->bytes.len);

    *line = w->line;
    for (size_t n; (n = str_find(before, '\n')) < before.len; ++*line)
        before = str_skip(before, n + 1);
    *byte = before.len + 1;
}

enum next_result format_error(const struct window *w, size_t at, struct err *e, const char *fmt,
                              ...)
{
    char text[sizeof e->msg];
    uint64_t line, byte;
    va_list ap;

    find_line_and_byte(w, at, &line, &byte);
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(e, ERR_INPUT, "%s:%llu:%llu: %s", w->path, (unsigned long long)line,
            (unsigned long long)byte, text);
    return NEXT_ERROR;
}

bool format_is_foreign(const struct window *w, const struct format *own, struct json_val v,
                       struct err *e)
{
    for (const struct format *const *f = format_table; *f; f++)
        if (*f != own && format_rank(*f, json_raw(v)) == PROBE_SURE) {
            format_error(w, json_offset(v), e,
                         "data of format '%s' starts here, in a file of format '%s'",
                         (*f)->name, own->name);
            err_hint(e, "write each format to its own file");
            return true;
        }
    return false;
}

void format_note(const struct window *w, size_t at, const char *fmt, ...)
{
    char text[256];
    uint64_t line, byte;
    va_list ap;

    find_line_and_byte(w, at, &line, &byte);
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    w->notes->put(w->notes, line, byte, text);
}

enum { LIST_MAX = 4096, HINT_ENDS_MAX = 48 };

bool format_is_for(const struct format *f, enum format_use use)
{
    return (f->put || use == FORMAT_READ) && (f->next || use == FORMAT_CONVERT);
}

const char *format_names_for(struct buf *text, enum format_use use)
{
    buf_init(text, LIST_MAX);
    for (const struct format *const *f = format_table; *f; f++)
        if (format_is_for(*f, use))
            buf_printf(text, "%s%s", text->len ? ", " : "", (*f)->name);
    return buf_z(text);
}

bool format_hint_writable(struct err *e, const char *option, enum format_use use)
{
    struct buf ends;

    buf_init(&ends, LIST_MAX);
    for (const struct format *const *f = format_table; *f && ends.len < HINT_ENDS_MAX; f++)
        if (format_is_for(*f, use))
            buf_printf(&ends, "%s, ", (*f)->ext[0]);
    err_hint(e,
             "choose it by the end of the name (%s…),\nor with %s FORMAT; 'mcpreel formats' "
             "lists them",
             buf_z(&ends), option);
    buf_release(&ends);
    return false;
}
