#include "format/json-document.h"

/* A message may have the full depth, and is nested in its entry and the document. */
enum { ENVELOPE = 8 };

void json_document_init(struct json_document *d)
{
    *d = (struct json_document){ .scanned = false };
    json_init(&d->json);
    d->json.extra_depth = ENVELOPE;
    buf_init(&d->one_line, JSON_MAX_TEXT);
}

void json_document_release(struct json_document *d)
{
    json_release(&d->json);
    buf_release(&d->one_line);
}

static void replace_line_breaks(char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] == '\n' || at[i] == '\r')
            at[i] = ' ';
}

struct str json_document_one_line(struct str text, struct arena *a)
{
    char *copy;

    if (str_find(text, '\n') == text.len && str_find(text, '\r') == text.len)
        return text;
    copy = arena_z(a, text);
    replace_line_breaks(copy, text.len);
    return str_n(copy, text.len);
}

/* The scanned nodes stay valid: they hold offsets. */
static void flatten(struct json_document *d, struct str text)
{
    buf_add(&d->one_line, text);
    BUG_IF(d->one_line.full);
    replace_line_breaks(d->one_line.at, d->one_line.len);
    d->json.text = buf_str(&d->one_line);
}

enum next_result json_document_scan(struct json_document *d, const struct window *w,
                                    struct consumed *t, struct err *e)
{
    struct json_fault fault;

    if (d->scanned)
        return NEXT_RECORD;
    if (!w->last) {
        t->want = SIZE_MAX;
        return NEXT_MORE;
    }
    if (!json_scan(&d->json, w->bytes, &fault))
        return fault.kind == JSON_FAULT_TRUNCATED
                   ? format_error(w, fault.at, e, "the document is cut off")
                   : format_error(w, fault.at, e, "not valid JSON: %s", fault.what);
    flatten(d, w->bytes);
    d->scanned = true;
    return NEXT_RECORD;
}

struct str json_document_source(const struct window *w, struct json_val v)
{
    return str_n(w->bytes.at + json_offset(v), json_raw(v).len);
}

void json_document_head_init(struct json_document_head *h, struct str head)
{
    *h = (struct json_document_head){ .rest = str_trim(head) };
    json_init(&h->json);
    if (str_starts(h->rest, STR("{")))
        h->rest = str_skip(h->rest, 1);
    else
        h->rest = STR_NONE;
}

/* Skips the value of the latest name, and the comma behind it. */
static bool skip_value(struct json_document_head *h)
{
    struct json_fault fault;
    struct json j;
    size_t used;
    bool ok;

    json_init(&j);
    ok = json_scan_first(&j, h->value, &used, &fault);
    json_release(&j);
    h->rest = ok ? str_trim(str_skip(h->value, used)) : STR_NONE;
    if (!str_starts(h->rest, STR(",")))
        return false;
    h->rest = str_skip(h->rest, 1);
    return true;
}

bool json_document_head_next(struct json_document_head *h)
{
    struct json_fault fault;
    size_t used;

    if (h->value.len && !skip_value(h))
        return false;
    if (!json_scan_first(&h->json, h->rest, &used, &fault) ||
        json_type(json_root(&h->json)) != JSON_STRING)
        return false;
    h->name = json_root(&h->json);
    h->value = str_trim(str_skip(h->rest, used));
    h->rest = STR_NONE;
    h->value = str_starts(h->value, STR(":")) ? str_trim(str_skip(h->value, 1)) : STR_NONE;
    return true;
}

void json_document_head_release(struct json_document_head *h)
{
    json_release(&h->json);
}
