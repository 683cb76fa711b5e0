#include "runtime/recording-update.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "mcp/message.h"
#include "trace/limits.h"

enum { SCAN_PIECE = 64 << 10 };

static bool store_redacted(struct sink *self, const struct record *r, struct err *e);
static bool compose(struct message_composer *self, struct str redacted, struct str *message,
                    struct str *new_redacted);

bool recording_update_init(struct recording_update *u, struct message_file *messages,
                           const char *path, struct redaction *redaction, struct err *e)
{
    const struct format *format = reader_format(messages->reader);

    *u = (struct recording_update){ .messages = messages,
                                    .redaction = redaction,
                                    .path = path,
                                    .redacted_sink = { store_redacted },
                                    .composer = { compose } };
    accepted_response_init(&u->accepted);
    json_init(&u->recorded_json);
    json_init(&u->live_json);
    buf_init(&u->live, LIMIT_LINE);
    buf_init(&u->recorded, LIMIT_LINE);
    buf_init(&u->list, LIMIT_LINE);
    buf_init(&u->old_text, 2 * LIMIT_LINE);
    buf_init(&u->new_text, LIMIT_LINE);
    if (!format->put || format->messages_in_strings) {
        err_set(e, ERR_USAGE, "cannot update '%s': %s '%s' %s", path,
                format->put ? "messages of the format" : "the format", format->name,
                format->put ? "are texts inside strings" : "is only read");
        return err_hint(e, "convert it first: mcpreel convert %s -o OUT.jsonl", path);
    }
    messages->keep_origins = true;
    return file_rewrite_check(path, reader_file(messages->reader), &u->version, e);
}

void recording_update_release(struct recording_update *u)
{
    accepted_response_release(&u->accepted);
    json_release(&u->recorded_json);
    json_release(&u->live_json);
    buf_release(&u->live);
    buf_release(&u->recorded);
    buf_release(&u->list);
    buf_release(&u->old_text);
    buf_release(&u->new_text);
    free(u->changes);
}

/* Returns the largest N of the placeholders [REDACTED:rule-N] in a text. */
static uint32_t max_rule_number(struct str text)
{
    static const struct str start = STR_INIT("[REDACTED:rule-");
    uint32_t max = 0;
    const char *at;

    while (text.len && (at = memmem(text.at, text.len, start.at, start.len))) {
        uint64_t number;
        size_t digits = 0;

        text = str_skip(text, (size_t)(at - text.at) + start.len);
        while (digits < text.len && ascii_is_digit(text.at[digits]))
            digits++;
        if (digits < text.len && text.at[digits] == ']' &&
            str_parse_u64(str_n(text.at, digits), &number) && number < UINT32_MAX &&
            number > max)
            max = (uint32_t)number;
    }
    return max;
}

/* Reserves the numbers of rules that the file has: a number must not mean two rules. */
static bool reserve_rule_numbers(struct recording_update *u, struct err *e)
{
    enum { LONGEST = 64 }; /* more than the longest placeholder with a number */
    struct err incomplete = ERR_NONE;
    uint32_t max = 0, number;
    struct input input;
    struct buf text;
    size_t got;
    bool ok;

    if (!input_open(&input, u->messages->sys, u->path, e))
        return false;
    buf_init(&text, SCAN_PIECE + LONGEST);
    do {
        ok = input_read(&input, buf_reserve(&text, SCAN_PIECE), SCAN_PIECE, &got, &incomplete);
        buf_commit(&text, got);
        number = max_rule_number(buf_str(&text));
        max = number > max ? number : max;
        if (text.len > LONGEST)
            buf_drop_front(&text, text.len - LONGEST);
    } while (ok && got);
    buf_release(&text);
    ok = ok || input.truncated;
    input_close(&input);
    if (!ok)
        *e = incomplete;
    placeholder_reserve(&u->redaction->redactor.placeholders, max);
    u->rules_reserved = ok;
    return ok;
}

static bool store_redacted(struct sink *self, const struct record *r, struct err *e)
{
    struct recording_update *u =
        (struct recording_update *)((char *)self -
                                    offsetof(struct recording_update, redacted_sink));
    struct message_store *store = &u->messages->store;
    struct recording_change *c;

    if (r->kind != RECORD_MESSAGE)
        return err_set(e, ERR_INPUT, "secrets could not be removed from a live response");
    u->changes = mem_reserve(u->changes, &u->cap, u->count + 1, sizeof *u->changes);
    c = &u->changes[u->count];
    *c = (struct recording_change){ .number = u->count };
    if (!store->add_bytes(store, json_raw(r->message.msg), &c->live, e) ||
        (r->message.redacted.len &&
         !store->add_bytes(store, r->message.redacted, &c->live_redacted, e)))
        return false;
    u->count++;
    return true;
}

static bool is_response(struct json_val message)
{
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(message, &a);

    arena_release(&a);
    return mcp_is_response(&m);
}

bool recording_update_add(struct recording_update *u, struct message_ref recorded,
                          struct str live, struct err *e)
{
    struct record r = { .kind = RECORD_MESSAGE, .message.dir = TO_CLIENT };
    struct json_fault fault;
    struct sink *redactor;

    buf_clear(&u->live);
    buf_add(&u->live, live);
    if (!buf_ok(&u->live, e) || (!u->rules_reserved && !reserve_rule_numbers(u, e)))
        return false;
    message_store_flatten(u->live.at, u->live.len);
    if (!json_scan(&u->live_json, buf_str(&u->live), &fault) ||
        !is_response(json_root(&u->live_json)))
        return err_set(e, ERR_INPUT, "a live message is not a response");
    r.message.msg = json_root(&u->live_json);
    redactor = redaction_sink(u->redaction, &u->redacted_sink);
    if (!redactor->put(redactor, &r, e))
        return false;
    u->changes[u->count - 1].recorded = recorded;
    return true;
}

static int by_origin(const void *a, const void *b)
{
    const struct recording_change *x = a, *y = b;

    if (x->origin.at != y->origin.at)
        return x->origin.at < y->origin.at ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts the changes by their place in the file; of two at the same place the later one stays.
 */
static bool sort_changes(struct recording_update *u, struct err *e)
{
    size_t kept = 0;

    for (size_t i = 0; i < u->count; i++)
        if (!message_file_find_origin(u->messages, u->changes[i].recorded,
                                      &u->changes[i].origin, e))
            return err_wrap(e, "cannot update '%s'", u->path);
    qsort(u->changes, u->count, sizeof *u->changes, by_origin);
    for (size_t i = 0; i < u->count; i++) {
        if (kept && u->changes[kept - 1].origin.at == u->changes[i].origin.at)
            kept--;
        u->changes[kept++] = u->changes[i];
    }
    u->count = kept;
    return true;
}

static bool fetch(struct recording_update *u, struct message_ref where, struct buf *to,
                  struct err *e)
{
    struct message_store *store = &u->messages->store;

    buf_clear(to);
    return !where.len || store->fetch(store, where, to, e);
}

/* Reads the texts of the current change. */
static bool read_change(struct recording_update *u, struct err *e)
{
    const struct recording_change *c = u->current;
    struct json_fault fault;

    if (!fetch(u, c->recorded, &u->recorded, e) || !fetch(u, c->live, &u->live, e) ||
        !fetch(u, c->live_redacted, &u->list, e))
        return false;
    return (json_scan(&u->recorded_json, buf_str(&u->recorded), &fault) &&
            json_scan(&u->live_json, buf_str(&u->live), &fault) &&
            is_response(json_root(&u->recorded_json)) &&
            is_response(json_root(&u->live_json))) ||
           err_set(e, ERR_INPUT, "cannot update '%s': a recorded message is not a response",
                   u->path);
}

static bool compose(struct message_composer *self, struct str redacted, struct str *message,
                    struct str *new_redacted)
{
    struct recording_update *u =
        (struct recording_update *)((char *)self - offsetof(struct recording_update, composer));
    struct redacted_response old = { json_root(&u->recorded_json), redacted };
    struct redacted_response new = { json_root(&u->live_json), buf_str(&u->list) };

    if (!accepted_response_compose(&u->accepted, &old, &new))
        return false;
    u->changed = true;
    u->new_text.full |= u->accepted.text.full;
    *message = buf_str(&u->accepted.text);
    *new_redacted = buf_str(&u->accepted.redacted);
    return true;
}

/* Writes the new text of a message where the format has nothing else about it. */
static void write_message(struct recording_update *u, const struct format *format)
{
    struct str message, redacted;

    if (!compose(&u->composer, STR_NONE, &message, &redacted))
        buf_add(&u->new_text, buf_str(&u->old_text));
    else if (format->write_message)
        format->write_message(&u->new_text, message);
    else
        buf_add(&u->new_text, message);
}

static bool report_too_large(const struct recording_update *u, struct err *e)
{
    return err_set(e, ERR_USAGE,
                   "cannot update '%s': a line or document would have more than %zu MB",
                   u->path, LIMIT_LINE >> 20);
}

static bool write_change(struct recording_update *u, struct file_rewrite *w, struct err *e)
{
    const struct format *format = reader_format(u->messages->reader);
    const struct message_origin *o = &u->current->origin;
    bool line = format->rewrite_line;

    buf_clear(&u->old_text);
    buf_clear(&u->new_text);
    if (!read_change(u, e) || !file_rewrite_copy_to(w, line ? o->record_at : o->at, e) ||
        !file_rewrite_take(w, line ? o->record_len : o->len, &u->old_text, e))
        return false;
    if (!line)
        write_message(u, format);
    else if (!format->rewrite_line(&u->new_text, buf_str(&u->old_text), &u->composer))
        return err_set(e, ERR_INPUT, "cannot update '%s': a line cannot be read again",
                       u->path);
    if (u->new_text.full)
        return report_too_large(u, e);
    return file_rewrite_put(w, buf_str(&u->new_text), e);
}

static bool write_changes(struct recording_update *u, struct file_rewrite *w, struct err *e)
{
    for (size_t i = 0; i < u->count; i++) {
        u->current = &u->changes[i];
        if (!write_change(u, w, e))
            return false;
    }
    return true;
}

bool recording_update_write(struct recording_update *u, struct err *e)
{
    struct file_rewrite w;

    if (!u->count)
        return true;
    if (!sort_changes(u, e) ||
        !file_rewrite_open(&w, u->messages->sys, u->path, &u->version, e))
        return false;
    if (!write_changes(u, &w, e)) {
        file_rewrite_abort(&w);
        return false;
    }
    if (!u->changed) {
        file_rewrite_abort(&w);
        return true;
    }
    /* A document is read as one piece. */
    if (!reader_format(u->messages->reader)->line_based)
        w.max_text = LIMIT_LINE;
    return file_rewrite_finish(&w, e);
}

uint64_t recording_update_hidden(const struct recording_update *u)
{
    return u->accepted.hidden;
}
