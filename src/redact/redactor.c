#include "redact/redactor.h"

#include <stddef.h>

#include "redact/placeholder.h"
#include "redact/secret-args.h"
#include "trace/limits.h"
#include "json/path.h"

enum { PEM_MAX = 64 << 10 }; /* bytes of a private key that spans records */
enum {
    POINTERS_MAX = 1024
}; /* with more changes, one pointer to the whole message is listed */
enum { HELD_STDERR_MAX = 1 << 20, HELD_TAIL = 256 << 10 };

static bool redactor_put(struct sink *self, const struct record *r, struct err *e);

void redactor_init(struct redactor *r, const struct secret_rules *s, struct sink *to)
{
    *r = (struct redactor){ .sink = { redactor_put }, .next = to, .secrets = s };
    seen_secrets_init(&r->seen);
    secret_search_init(&r->search, s);
    r->search.seen = &r->seen;
    placeholder_init(&r->placeholders, s);
    r->placeholders.seen = &r->seen;
    redact_json_init(&r->json, &r->search, &r->placeholders);
    json_init(&r->doc);
    buf_init(&r->scratch, LIMIT_LINE);
    buf_init(&r->redacted, LIMIT_LINE);
    buf_init(&r->held_stderr, LIMIT_LINE);
}

void redactor_release(struct redactor *r)
{
    secret_search_release(&r->search);
    placeholder_release(&r->placeholders);
    seen_secrets_release(&r->seen);
    redact_json_release(&r->json);
    json_release(&r->doc);
    buf_release(&r->scratch);
    buf_release(&r->redacted);
    buf_release(&r->held_stderr);
    arena_release(&r->arena);
    url_secrets_release(&r->server_url);
}

void redactor_ignore_seen(struct redactor *r)
{
    r->search.seen = NULL;
}

void redactor_hide_rule_names(struct redactor *r, bool hide)
{
    r->placeholders.no_names = hide;
}

const uint64_t *redactor_unsearched(const struct redactor *r)
{
    return r->json.unsearched;
}

static const char *rule_name(const struct redactor *r, int64_t rule)
{
    if (rule >= (int64_t)r->secrets->count)
        return "a value that was sent";
    return rule == PLACEHOLDER_NO_RULE ? "unlisted secrets" : r->secrets->rules[rule].name.at;
}

/* The member that is searched, for the observer. */
struct redact_site {
    const struct record *record;
    const char *member;
};

static void report_hit(struct redactor *r, const struct redact_site *p, struct str pointer,
                       int64_t rule)
{
    struct redactor_hit hit = { .record = p->record,
                                .member = p->member,
                                .pointer = pointer,
                                .rule_name = rule_name(r, rule),
                                .record_index = r->record_count };

    if (r->observer)
        r->observer->hit(r->observer, &hit);
}

/* Writes the text without the hits of `search` to `redacted`. */
static void rewrite_text(struct redactor *r, struct str text, const struct redact_site *p)
{
    const struct secret_search *f = &r->search;
    struct buf *to = &r->redacted;
    size_t copied = 0;

    buf_clear(to);
    placeholder_reserve(&r->placeholders, f->max_placeholder);
    for (size_t i = 0; i < f->count; i++) {
        const struct secret_hit *hit = &f->hits[i];
        buf_add(to, str_n(text.at + copied, hit->span.at - copied));
        placeholder_write(&r->placeholders, to, hit->rule);
        copied = hit->span.end;
        report_hit(r, p, STR_NONE, hit->rule);
    }
    buf_add(to, str_skip(text, copied));
}

/* Returns whether the text has a secret. */
static bool find_in_text(struct redactor *r, struct str text)
{
    struct secret_search *f = &r->search;

    if (!secret_search_find(f, text))
        return false;
    if (f->may_match_pattern) {
        secret_search_match_patterns(f, text, false, 0);
        secret_search_merge(f);
    }
    return f->count || f->overflow;
}

static bool must_drop_whole(const struct secret_search *f)
{
    bool whole = f->overflow;

    for (size_t i = 0; i < f->count && !whole; i++)
        whole = f->hits[i].drop_whole;
    return whole;
}

static void replace_whole(struct redactor *r, const struct redact_site *p)
{
    buf_clear(&r->redacted);
    placeholder_write(&r->placeholders, &r->redacted, PLACEHOLDER_NO_RULE);
    report_hit(r, p, STR_NONE, PLACEHOLDER_NO_RULE);
}

/* Writes the text without its secrets to `redacted`. Returns false if it has none. Replaces the
 * whole text if a secret cannot be removed. */
static bool redact_text(struct redactor *r, struct str text, const struct redact_site *p)
{
    bool open;

    if (!text.len || !find_in_text(r, text))
        return false;
    open = r->search.pem_unterminated;
    if (must_drop_whole(&r->search)) {
        replace_whole(r, p);
        return true;
    }
    rewrite_text(r, text, p);
    if (r->redacted.full || (secret_search_find(&r->search, buf_str(&r->redacted)) &&
                             secret_search_has_value(&r->search)))
        replace_whole(r, p);
    r->search.pem_unterminated = open;
    return true;
}

/* Returns the text, or a redacted copy in the arena. */
static struct str clean_text(struct redactor *r, struct str text, const struct redact_site *p)
{
    return redact_text(r, text, p) ? arena_str(&r->arena, buf_str(&r->redacted)) : text;
}

/* The same for JSON that is kept as text; "null" if a secret cannot be removed. */
static struct str clean_json(struct redactor *r, struct str text, const struct redact_site *p)
{
    struct json_fault fault;
    enum redact_json_outcome outcome;

    if (!text.len || !secret_search_find(&r->search, text))
        return text;
    outcome = json_scan(&r->doc, text, &fault)
                  ? redact_json(&r->json, json_root(&r->doc), false)
                  : REDACT_JSON_FAILED;
    if (outcome == REDACT_JSON_CLEAN)
        return text;
    if (outcome == REDACT_JSON_FAILED) {
        report_hit(r, p, STR_NONE, PLACEHOLDER_NO_RULE);
        return STR("null");
    }
    for (size_t i = 0; i < r->json.count; i++)
        report_hit(r, p, STR_NONE, r->json.leaves[i].rule);
    return arena_str(&r->arena, buf_str(&r->json.text));
}

/* Pointers that are listed already. */
struct known_pointers {
    struct str *at;
    size_t count;
};

static bool has_pointer(const struct known_pointers *known, struct str pointer)
{
    for (size_t i = 0; i < known->count; i++)
        if (str_eq(known->at[i], pointer))
            return true;
    return false;
}

/* Parses a list of pointers; leaves room for `more`. */
static struct known_pointers read_pointers(struct redactor *r, struct str list, size_t more)
{
    struct json_fault fault;
    struct known_pointers p = { .count = 0 };
    bool any = list.len && json_scan(&r->doc, list, &fault);
    struct json_iter it;

    if (any)
        for (it = json_each(json_root(&r->doc)); json_next(&it);)
            more++;
    p.at = arena_alloc(&r->arena, (more + 1) * sizeof *p.at);
    if (any)
        for (it = json_each(json_root(&r->doc)); json_next(&it);)
            p.at[p.count++] = json_text(it.value, &r->arena);
    return p;
}

/* Returns the old list of pointers with those of the changed leaves, without duplicates: the
 * name of a member and its value have the same pointer. */
static struct str list_pointers(struct redactor *r, const struct redact_site *p, struct str old)
{
    const struct redact_json *j = &r->json;
    size_t count = j->count > POINTERS_MAX ? 1 : j->count;
    struct known_pointers known = read_pointers(r, old, count);
    struct buf pointer;
    struct json_out o = json_out_to(&r->scratch);

    buf_clear(&r->scratch);
    buf_init(&pointer, LIMIT_LINE);
    json_out_array(&o);
    if (old.len > sizeof "[]" - 1)
        json_out_raw(&o, str_n(old.at + 1, old.len - 2));
    for (size_t i = 0; i < count; i++) {
        buf_clear(&pointer);
        if (j->count == count)
            redact_json_pointer(j, &j->leaves[i], &pointer);
        report_hit(r, p, buf_str(&pointer), j->leaves[i].rule);
        if (has_pointer(&known, buf_str(&pointer)))
            continue;
        known.at[known.count++] = arena_str(&r->arena, buf_str(&pointer));
        json_out_str(&o, buf_str(&pointer));
    }
    json_out_end_array(&o);
    buf_release(&pointer);
    return arena_str(&r->arena, buf_str(&r->scratch));
}

static void replace_with_gap(struct record *r, struct str why)
{
    struct record_gap gap = {
        .dir = r->message.dir, .messages = 1, .bytes = json_raw(r->message.msg).len, .why = why
    };

    r->kind = RECORD_GAP;
    r->has = (r->has & (HAS_US | HAS_CONN | HAS_SESSION | HAS_EXCHANGE | HAS_STREAM)) |
             HAS_FROM | HAS_TOTALS;
    r->gap = gap;
    r->unknown_members = STR_NONE;
}

/* State to restore after redacting text that is not part of the recording. */
struct paused_observer {
    struct redactor_observer *observer;
    uint32_t max_placeholder;
};

static struct paused_observer pause_observer(struct redactor *r)
{
    struct paused_observer a = { r->observer, r->search.max_placeholder };

    r->observer = NULL;
    r->placeholders.frozen = true;
    return a;
}

static void resume_observer(struct redactor *r, const struct paused_observer *a)
{
    r->placeholders.frozen = false;
    r->search.max_placeholder = a->max_placeholder;
    r->observer = a->observer;
}

/* Counts a client message that is kept although it has a secret. */
static void count_kept_request(struct redactor *r, const struct record_message *m)
{
    struct paused_observer a = pause_observer(r);

    r->requests_kept += redact_json(&r->json, m->msg, true) != REDACT_JSON_CLEAN;
    resume_observer(r, &a);
}

static void clean_message(struct redactor *r, struct record *rec, const struct redact_site *p)
{
    struct record_message *m = &rec->message;
    struct str *const beside[] = { &m->event, &m->batch, &m->redacted };

    if (r->keep_requests && m->dir == TO_SERVER) {
        count_kept_request(r, m);
        return;
    }
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (beside[i]->len) /* rare */
            *beside[i] = clean_json(r, *beside[i], p);
    switch (redact_json(&r->json, m->msg, true)) {
    case REDACT_JSON_CLEAN:
        return;
    case REDACT_JSON_DONE:
        m->redacted = list_pointers(r, p, m->redacted);
        m->msg = json_root(&r->json.result);
        return;
    case REDACT_JSON_FAILED:
        report_hit(r, p, STR_NONE, PLACEHOLDER_NO_RULE);
        replace_with_gap(rec, STR("its secrets could not be redacted"));
        return;
    }
}

static int64_t private_key_rule(const struct redactor *r)
{
    for (size_t i = 0; i < r->secrets->credential_rows; i++)
        if (credential_rows[i].kind == CREDENTIAL_PEM)
            return r->secrets->credentials[i];
    return PLACEHOLDER_NO_RULE;
}

/* Replaces the part of the text that continues a private key. Returns the rest. */
static struct str end_private_key(struct redactor *r, struct str text, struct redactor_pem *o,
                                  const struct redact_site *p, struct buf *to)
{
    struct str most = str_n(text.at, text.len < o->bytes_left ? text.len : o->bytes_left);
    bool open;
    size_t end = credential_pem_end(most, &open);

    o->bytes_left = open ? o->bytes_left - most.len : 0;
    if (end) {
        placeholder_write(&r->placeholders, to, private_key_rule(r));
        if (open && text.len == end && text.at[end - 1] == '\n')
            buf_add_ch(to, '\n');
        report_hit(r, p, STR_NONE, private_key_rule(r));
    }
    return str_skip(text, end);
}

/* Redacts text that may continue in the next record. */
static struct str clean_bytes(struct redactor *r, struct str bytes, struct redactor_pem *o,
                              const struct redact_site *p)
{
    struct str rest = bytes;

    buf_clear(&r->scratch);
    if (o->bytes_left)
        rest = end_private_key(r, bytes, o, p, &r->scratch);
    if (redact_text(r, rest, p)) {
        buf_add(&r->scratch, buf_str(&r->redacted));
        o->bytes_left = r->search.pem_unterminated ? PEM_MAX : 0;
    } else if (rest.len < bytes.len) {
        buf_add(&r->scratch, rest);
    } else {
        return bytes;
    }
    return r->scratch.full ? STR("[REDACTED]") : arena_str(&r->arena, buf_str(&r->scratch));
}

static bool put_held(struct redactor *r, size_t len, struct err *e)
{
    struct record rec = r->held_record;
    struct redact_site p = { &rec, "text" };
    bool ok;

    if (!len)
        return true;
    rec.bytes.bytes = clean_bytes(r, str_n(r->held_stderr.at, len), &r->stderr_pem, &p);
    ok = r->next->put(r->next, &rec, e);
    buf_drop_front(&r->held_stderr, len);
    return ok;
}

/* Returns the start of the last line. */
static size_t line_start(struct str text)
{
    const char *newline = text.len ? memrchr(text.at, '\n', text.len) : NULL;

    return newline ? (size_t)(newline - text.at) + 1 : 0;
}

/* Returns the end of the lines that can be passed on. If values have several lines, as many are
 * held back, so that no value is split. */
static size_t flushable_lines(struct redactor *r, struct str text)
{
    size_t cut = line_start(text);

    for (size_t i = 0; cut && i < r->secrets->max_line_breaks; i++)
        cut = line_start(str_n(text.at, cut - 1));
    if (!cut || !r->secrets->max_line_breaks)
        return cut;
    find_in_text(r, text);
    for (size_t i = r->search.count; i-- > 0;)
        if (r->search.hits[i].span.at < cut && r->search.hits[i].span.end > cut)
            cut = line_start(str_n(text.at, r->search.hits[i].span.at));
    return cut;
}

/* Returns how much of the held text can be passed on: whole lines; of a line that is too long,
 * as much as splits no secret. */
static size_t flushable_bytes(struct redactor *r)
{
    struct str text = buf_str(&r->held_stderr);
    size_t cut = flushable_lines(r, text);

    if (cut || text.len <= HELD_STDERR_MAX)
        return cut;
    cut = text.len - HELD_TAIL;
    find_in_text(r, text);
    for (size_t i = 0; i < r->search.count; i++)
        if (r->search.hits[i].span.at < cut && r->search.hits[i].span.end > cut)
            cut = r->search.hits[i].span.end;
    return cut;
}

/* Drops a line that is too long to hold. A pattern may match any number of bytes, so it cannot
 * be redacted in pieces. */
static bool skip_line(struct redactor *r, struct err *e)
{
    struct record rec = r->held_record;
    struct redact_site p = { &rec, "text" };

    replace_whole(r, &p);
    buf_clear(&r->held_stderr);
    r->skipping_line = true;
    rec.bytes.bytes = buf_str(&r->redacted);
    return r->next->put(r->next, &rec, e);
}

/* Holds standard error until its line ends: a secret may span two records. */
static bool hold_stderr(struct redactor *r, const struct record *rec, struct err *e)
{
    struct str piece = rec->bytes.bytes;
    size_t line = str_find(piece, '\n');

    r->held_record = *rec;
    if (r->skipping_line) {
        piece = str_skip(piece, line);
        r->skipping_line = !piece.len;
    }
    buf_add(&r->held_stderr, piece);
    if (!rec->bytes.bytes.len && !r->held_stderr.len)
        return r->next->put(r->next, rec, e);
    if (line == rec->bytes.bytes.len && r->held_stderr.len <= HELD_STDERR_MAX)
        return true; /* no line ends here */
    if (r->secrets->patterns && !memchr(r->held_stderr.at, '\n', r->held_stderr.len) &&
        r->held_stderr.len > HELD_STDERR_MAX)
        return skip_line(r, e);
    return put_held(r, flushable_bytes(r), e);
}

bool redactor_finish(struct redactor *r, struct err *e)
{
    return put_held(r, r->held_stderr.len, e);
}

/* Keeps scheme and host, and the path if it has only common parts. */
static struct str clean_url(struct redactor *r, struct str url, const struct redact_site *p)
{
    size_t host = str_find(url, '/') + 2, end = host;
    struct str rest;
    const char *at;
    bool kept;

    while (end < url.len && !strchr("/?#", url.at[end]))
        end++;
    at = memrchr(url.at + host, '@', end - host);
    rest = str_skip(url, end);
    kept = rest.len < 2 || str_eq(rest, STR("/[REDACTED]")) ||
           (!r->redact_whole_path && url_secrets_is_plain_path(rest) &&
            !str_contains(rest, STR("[REDACTED")));
    if (!at && kept)
        return url;
    buf_clear(&r->scratch);
    buf_add(&r->scratch, str_n(url.at, host));
    if (at)
        host = (size_t)(at - url.at) + 1;
    buf_add(&r->scratch, str_n(url.at + host, end - host));
    if (kept)
        buf_add(&r->scratch, rest);
    else
        buf_add(&r->scratch, STR("/[REDACTED]"));
    report_hit(r, p, STR_NONE, PLACEHOLDER_NO_RULE);
    return arena_str(&r->arena, buf_str(&r->scratch));
}

/* Removes values before the URL is cut, so that no half of one is left. If a value was part of
 * scheme or host, the rest cannot be parsed and is dropped. */
static struct str clean_server_url(struct redactor *r, struct str url,
                                   const struct redact_site *p)
{
    struct str clean = clean_text(r, url, p);

    if (url_secrets_is_url(clean))
        return clean_url(r, clean, p);
    return placeholder_matches(clean) ? clean : STR("[REDACTED]");
}

/* Removes the parts of the server's URL. */
static struct str clean_url_parts(struct redactor *r, const struct url_secrets *path,
                                  struct str text, const struct redact_site *p)
{
    buf_clear(&r->scratch);
    if (!url_secrets_redact(path, text, &r->scratch))
        return text;
    report_hit(r, p, STR_NONE, PLACEHOLDER_NO_RULE);
    return r->scratch.full ? STR_NONE : arena_str(&r->arena, buf_str(&r->scratch));
}

/* Redacts one word of a command, also by the names in it and by the word before. A placeholder
 * stays as it is. */
static struct str clean_word(struct redactor *r, struct str before, struct str word,
                             const struct redact_site *p)
{
    struct str clean = clean_text(r, word, p);
    struct unescape_span s = { 0, 0 };
    size_t copied = 0;
    bool found, changed = false;

    if (!r->secrets->credentials)
        return clean;
    buf_clear(&r->scratch);
    found = secret_args_find_after(before, clean, &s) || secret_args_find_in_word(clean, 0, &s);
    for (; found; found = secret_args_find_in_word(clean, s.end, &s)) {
        if (placeholder_matches(str_n(clean.at + s.at, s.end - s.at)))
            continue;
        buf_add(&r->scratch, str_n(clean.at + copied, s.at - copied));
        placeholder_write(&r->placeholders, &r->scratch, r->secrets->named_rule);
        report_hit(r, p, STR_NONE, r->secrets->named_rule);
        copied = s.end;
        changed = true;
    }
    if (!changed)
        return clean;
    buf_add(&r->scratch, str_skip(clean, copied));
    return arena_str(&r->arena, buf_str(&r->scratch));
}

static struct str clean_password(struct redactor *r, struct str word,
                                 const struct redact_site *p)
{
    struct str clean = clean_text(r, word, p);

    if (!r->secrets->credentials || placeholder_matches(clean))
        return clean;
    buf_clear(&r->scratch);
    placeholder_write(&r->placeholders, &r->scratch, r->secrets->named_rule);
    report_hit(r, p, STR_NONE, r->secrets->named_rule);
    return arena_str(&r->arena, buf_str(&r->scratch));
}

/* Redacts a URL in the command: the server may be a proxy for a remote one. */
static struct str clean_url_word(struct redactor *r, struct str word,
                                 const struct redact_site *p)
{
    struct url_secrets path = { .parts = NULL };

    url_secrets_add_url(&path, word, secret_rules_looks_random);
    word = clean_url_parts(r, &path, word, p);
    url_secrets_release(&path);
    return word;
}

/* The command as a JSON array, and joined by blanks as in `upstream`. */
struct command_texts {
    struct buf json, line, old_line;
};

static void add_word(struct buf *line, struct str word)
{
    if (line->len)
        buf_add_ch(line, ' ');
    buf_add(line, word);
}

static bool clean_words(struct redactor *r, struct str json, const struct redact_site *p,
                        struct command_texts *c)
{
    struct json_out o = json_out_to(&c->json);
    struct json_fault fault;
    struct json_iter it;
    struct str before = STR_NONE, program = STR_NONE;
    bool changed = false;

    if (!json_scan(&r->doc, json, &fault))
        return false;
    json_out_array(&o);
    for (it = json_each(json_root(&r->doc)); json_next(&it);) {
        struct str word = json_text(it.value, &r->arena), clean;
        program = before.at ? program : word;
        clean = secret_args_is_password(program, before, word) ? clean_password(r, word, p)
                                                               : clean_word(r, before, word, p);
        if (!r->keep_url)
            clean = clean_url_word(r, clean, p);
        before = word;
        changed |= clean.at != word.at;
        json_out_str(&o, clean);
        add_word(&c->line, clean);
        add_word(&c->old_line, word);
    }
    json_out_end_array(&o);
    return changed;
}

static void clean_command(struct redactor *r, struct record_header *h, struct redact_site *p)
{
    struct command_texts c;

    buf_init(&c.json, LIMIT_LINE);
    buf_init(&c.line, LIMIT_LINE);
    buf_init(&c.old_line, LIMIT_LINE);
    p->member = "command";
    if (clean_words(r, h->command, p, &c)) {
        if (str_eq(h->upstream, buf_str(&c.old_line)))
            h->upstream = arena_str(&r->arena, buf_str(&c.line));
        h->command = arena_str(&r->arena, buf_str(&c.json));
    }
    buf_release(&c.json);
    buf_release(&c.line);
    buf_release(&c.old_line);
}

/* All texts of a record by kind. Members with few valid values are included: a file may have
 * any text there. */
struct record_field {
    unsigned kinds;
    size_t at;
    const char *name;
    bool json;
};

#define KIND(k) (1u << RECORD_##k)
#define HTTP (KIND(HTTP_REQUEST) | KIND(HTTP_RESPONSE) | KIND(HTTP_END))
#define AT(member) offsetof(struct record, member)

static const struct record_field fields[] = {
    { KIND(HEADER), AT(header.version), "version", false },
    { KIND(HEADER), AT(header.name), "name", false },
    { KIND(HEADER), AT(header.tags), "tags", true },
    { KIND(HEADER), AT(header.upstream), "upstream", false },
    { KIND(HEADER), AT(header.thoughtjack_version), "thoughtjack_version", false },
    { KIND(HEADER), AT(header.producer), "producer", true },
    { KIND(HEADER), AT(header.transport), "transport", false },
    { KIND(HEADER), AT(header.source), "source", true },
    { KIND(RAW) | KIND(STDERR), AT(bytes.why), "why", false },
    { KIND(PROC), AT(proc.event), "ev", false },
    { KIND(PROC), AT(proc.why), "why", false },
    { HTTP, AT(http.method), "method", false },
    { HTTP, AT(http.path), "path", false },
    { HTTP, AT(http.query), "query", false },
    { HTTP, AT(http.state), "state", false },
    { HTTP, AT(http.host), "host", false },
    { HTTP, AT(http.origin), "origin", false },
    { HTTP, AT(http.body), "body", false },
    { HTTP, AT(http.kind), "kind", false },
    { HTTP, AT(http.media), "media", false },
    { HTTP, AT(http.by), "by", false },
    { HTTP, AT(http.why), "why", false },
    { HTTP, AT(http.headers), "headers", true },
    { HTTP, AT(http.resumes), "resumes", true },
    { KIND(SSE), AT(sse.id), "id", false },
    { KIND(SSE), AT(sse.event), "event", false },
    { KIND(SSE), AT(sse.data), "data", false },
    { KIND(SSE), AT(sse.comment), "comment", false },
    { KIND(GAP), AT(gap.why), "why", false },
    { KIND(FOOTER), AT(footer.protocol), "protocol_version", false },
    { KIND(FOOTER), AT(footer.server_info), "server_info", true },
    { KIND(FOOTER), AT(footer.client_info), "client_info", true },
    { KIND(UNKNOWN), AT(unknown_type), "type", false },
};

static void clean_fields(struct redactor *r, struct record *rec, struct redact_site *p)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct str *text = (struct str *)(void *)((char *)rec + fields[i].at);
        if (!(fields[i].kinds & 1u << rec->kind))
            continue;
        p->member = fields[i].name;
        *text = fields[i].json ? clean_json(r, *text, p) : clean_text(r, *text, p);
    }
}

static void clean_header(struct redactor *r, struct record_header *h, struct redact_site *p)
{
    if (h->command.len)
        clean_command(r, h, p);
    p->member = "upstream";
    if (!r->keep_url && url_secrets_is_url(h->upstream)) {
        url_secrets_release(&r->server_url);
        url_secrets_add_url(&r->server_url, h->upstream, NULL);
        h->upstream = clean_server_url(r, h->upstream, p);
    }
}

/* Returns the rule for secrets in URLs of clients. */
static int64_t url_secret_rule(const struct redactor *r)
{
    return r->secrets->credentials ? (int64_t)r->secrets->named_rule : PLACEHOLDER_NO_RULE;
}

static struct str clean_url_secrets(struct redactor *r, struct str text,
                                    bool (*next)(struct str, size_t, struct url_secrets_hit *),
                                    const struct redact_site *p)
{
    struct url_secrets_hit part;
    size_t copied = 0;

    buf_clear(&r->scratch);
    while (!r->keep_url && next(text, copied, &part)) {
        buf_add(&r->scratch, str_n(text.at + copied, part.span.at - copied));
        placeholder_write(&r->placeholders, &r->scratch, url_secret_rule(r));
        report_hit(r, p, STR_NONE, url_secret_rule(r));
        copied = part.span.end;
    }
    if (!copied)
        return text;
    buf_add(&r->scratch, str_skip(text, copied));
    return r->scratch.full ? STR("[REDACTED]") : arena_str(&r->arena, buf_str(&r->scratch));
}

/* Redacts the URLs of an HTTP request or response. */
static void clean_http(struct redactor *r, struct record_http *h, struct redact_site *p)
{
    p->member = "path";
    h->path = clean_url_secrets(r, clean_url_parts(r, &r->server_url, h->path, p),
                                url_secrets_find_in_path, p);
    p->member = "headers";
    h->headers = clean_url_parts(r, &r->server_url, h->headers, p);
    p->member = "query";
    if (r->server_url.has_query && h->query.len && !placeholder_matches(h->query)) {
        h->query = STR("[REDACTED]");
        report_hit(r, p, STR_NONE, PLACEHOLDER_NO_RULE);
    }
    h->query = clean_url_secrets(r, h->query, url_secrets_find_in_query, p);
}

static bool is_http(enum record_kind kind)
{
    return kind == RECORD_HTTP_REQUEST || kind == RECORD_HTTP_RESPONSE;
}

static void clean_record(struct redactor *r, struct record *rec)
{
    struct redact_site p = { rec, "members" };

    if (rec->unknown_members.len)
        rec->unknown_members = clean_json(r, rec->unknown_members, &p);
    p.member = "msg";
    if (rec->kind == RECORD_MESSAGE) {
        clean_message(r, rec, &p);
        return;
    }
    if (rec->kind == RECORD_HEADER)
        clean_header(r, &rec->header, &p);
    clean_fields(r, rec, &p);
    if (is_http(rec->kind))
        clean_http(r, &rec->http, &p);
    p.member = "data";
    if (rec->kind == RECORD_SSE)
        rec->sse.data = clean_url_parts(r, &r->server_url, rec->sse.data, &p);
    p.member = "text";
    if (rec->kind == RECORD_STDERR)
        rec->bytes.bytes = clean_bytes(r, rec->bytes.bytes, &r->stderr_pem, &p);
    else if (rec->kind == RECORD_RAW)
        rec->bytes.bytes = clean_bytes(r, rec->bytes.bytes, &r->raw_pem[rec->bytes.dir], &p);
}

static bool ends_stderr(enum record_kind kind)
{
    return kind == RECORD_PROC || kind == RECORD_FOOTER;
}

static bool redactor_put(struct sink *self, const struct record *given, struct err *e)
{
    struct redactor *r = (struct redactor *)self;
    struct record rec = *given;
    bool ok = true;

    arena_clear(&r->arena);
    if (r->stderr_in_pieces && rec.kind == RECORD_STDERR)
        return hold_stderr(r, &rec, e);
    if (r->held_stderr.len && ends_stderr(rec.kind))
        ok = redactor_finish(r, e);
    clean_record(r, &rec);
    r->record_count++;
    return r->next->put(r->next, &rec, e) && ok;
}

void redactor_redact_text(struct redactor *r, struct str text, struct buf *to)
{
    struct redact_site p = { NULL, "log" };
    struct paused_observer a = pause_observer(r);

    if (redact_text(r, text, &p))
        text = buf_str(&r->redacted);
    if (!url_secrets_redact(&r->server_url, text, to))
        buf_add(to, text);
    resume_observer(r, &a);
}

/* Returns the last name of a path; sets `*is_element` if indexes follow it. */
static struct str last_name(struct str path, bool *is_element, struct arena *a)
{
    struct err ignored = ERR_NONE;
    struct json_path steps;
    size_t count;

    *is_element = false;
    if (!path.len || !json_path_compile(&steps, path, a, &ignored))
        return STR_NONE;
    for (count = steps.count; count && steps.parts[count - 1].kind == JSON_PATH_INDEX; count--)
        *is_element = true;
    return count ? steps.parts[count - 1].name : STR_NONE;
}

/* Composes a message around a value: what is secret depends on the name of its member. Returns
 * how many levels are around it. */
static size_t wrap_value(struct redactor *r, struct str path, struct str value)
{
    struct json_out o = json_out_to(&r->scratch);
    bool is_element;
    struct str name = last_name(path, &is_element, &r->arena);

    buf_clear(&r->scratch);
    buf_add(&r->scratch, STR("{\"result\":{"));
    json_out_key(&o, name);
    if (is_element)
        json_out_array(&o);
    json_out_raw(&o, value);
    if (is_element)
        json_out_end_array(&o);
    buf_add(&r->scratch, STR("}}"));
    return is_element ? 3 : 2;
}

static struct str unwrap_value(struct json_val v, size_t levels)
{
    while (levels--) {
        struct json_iter it = json_each(v);

        BUG_IF(!json_next(&it));
        v = it.value;
    }
    return json_raw(v);
}

/* Returns the value that wrap_value() wrapped, without its secrets. */
static struct str clean_wrapped(struct redactor *r, size_t levels)
{
    enum redact_json_outcome outcome = REDACT_JSON_FAILED;
    struct json_fault fault;

    if (!r->scratch.full && json_scan(&r->doc, buf_str(&r->scratch), &fault))
        outcome = redact_json(&r->json, json_root(&r->doc), true);
    if (outcome == REDACT_JSON_FAILED)
        return STR("\"[REDACTED]\"");
    return unwrap_value(json_root(outcome == REDACT_JSON_CLEAN ? &r->doc : &r->json.result),
                        levels);
}

void redactor_redact_value(struct redactor *r, struct str path, struct str value,
                           struct buf *to)
{
    struct paused_observer a = pause_observer(r);

    arena_clear(&r->arena);
    buf_add(to, clean_wrapped(r, wrap_value(r, path, value)));
    resume_observer(r, &a);
}

void redactor_redact_path(struct redactor *r, struct str path, struct buf *to)
{
    struct redact_site p = { NULL, "log" };
    struct paused_observer a = pause_observer(r);

    arena_clear(&r->arena);
    path = clean_url_parts(r, &r->server_url, clean_text(r, path, &p), &p);
    buf_add(to, clean_url_secrets(r, path, url_secrets_find_in_path, &p));
    resume_observer(r, &a);
}

void redactor_redact_server(struct redactor *r, struct str command, struct str url_or_line,
                            struct buf *to)
{
    struct record rec = { .kind = RECORD_HEADER,
                          .header = { .command = command, .upstream = url_or_line } };
    struct paused_observer a = pause_observer(r);

    arena_clear(&r->arena);
    clean_record(r, &rec);
    buf_add(to, rec.header.upstream);
    resume_observer(r, &a);
}
