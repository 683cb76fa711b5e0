#include "redact/redaction.h"

#include <stdio.h>

#include "redact/url-secrets.h"

enum { LINE_MAX_BYTES = 64 << 10 };

/* Appends a text that was cut, up to its first quote: it may end in the middle of a value. */
static void add_cut_text(struct buf *to, struct str text)
{
    buf_add(to, str_n(text.at, str_find(text, '\'')));
    buf_add(to, STR("[REDACTED]"));
}

static void log_redacted(void *to, struct str line)
{
    struct redaction *r = to;
    struct buf clean, part;

    buf_init(&clean, LINE_MAX_BYTES);
    buf_init(&part, LINE_MAX_BYTES);
    if (str_ends(line, STR("…\n"))) {
        add_cut_text(&part, line);
        buf_add_ch(&part, '\n');
        line = buf_str(&part);
    }
    redactor_redact_text(&r->redactor, line, &clean);
    r->unredacted_log->write(r->unredacted_log->arg, buf_str(&clean));
    buf_release(&part);
    buf_release(&clean);
}

void redaction_init(struct redaction *r, const struct log *log)
{
    redactor_init(&r->redactor, &r->secrets, NULL);
    r->unredacted_log = log;
    r->log = *log;
    r->log.write = log_redacted;
    r->log.arg = r;
}

void redaction_release(struct redaction *r)
{
    redactor_release(&r->redactor);
    secret_rules_release(&r->secrets);
}

struct sink *redaction_sink(struct redaction *r, struct sink *to)
{
    r->redactor.next = to;
    return &r->redactor.sink;
}

struct seen_secrets *redaction_seen_secrets(struct redaction *r)
{
    return &r->redactor.seen;
}

char *redaction_redact_word(struct redaction *r, const char *word, struct arena *a)
{
    struct buf b;
    char *copy;

    buf_init(&b, LINE_MAX_BYTES);
    redactor_redact_text(&r->redactor, str_z(word), &b);
    copy = arena_z(a, buf_str(&b));
    buf_release(&b);
    return copy;
}

bool redaction_may_show_path(struct redaction *r, struct str path)
{
    struct buf b;
    bool same;

    buf_init(&b, LINE_MAX_BYTES);
    redactor_redact_text(&r->redactor, path, &b);
    same = str_eq(buf_str(&b), path);
    buf_release(&b);
    return same && (r->redactor.keep_url || url_secrets_is_plain_path(path));
}

static void redact_in_place(struct redactor *r, char *text, size_t size)
{
    struct str said = str_z(text);
    struct buf b, part;

    buf_init(&b, LINE_MAX_BYTES);
    buf_init(&part, size + sizeof "[REDACTED]");
    if (said.len == size - 1) {
        add_cut_text(&part, said);
        said = buf_str(&part);
    }
    redactor_redact_text(r, said, &b);
    snprintf(text, size, "%s", buf_z(&b));
    buf_release(&part);
    buf_release(&b);
}

void redaction_redact_err(struct redaction *r, struct err *e)
{
    redact_in_place(&r->redactor, e->msg, sizeof e->msg);
    redact_in_place(&r->redactor, e->hint, sizeof e->hint);
}
