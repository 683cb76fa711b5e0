#include "trace/redactor.h"

#include <stddef.h>

#include "trace/limits.h"
#include "trace/marks.h"
#include "trace/secret-flag.h"
#include "trace/target.h"

enum { OPEN_MOST = 64 << 10 }; /* bytes of a private key that comes in lines */
enum { POINTERS_MOST = 1024 }; /* more changed places are told as "all of it" */
enum { HELD_MOST = 1 << 20, HELD_TAIL = 256 << 10 };

static bool redactor_put(struct sink *self, const struct record *r, struct err *e);

void redactor_init(struct redactor *r, const struct secrets *s, struct sink *to)
{
    *r = (struct redactor){ .sink = { redactor_put }, .to = to, .secrets = s };
    learnt_init(&r->learnt);
    secrets_search_init(&r->search, s);
    r->search.learnt = &r->learnt;
    marks_init(&r->marks, s);
    r->marks.learnt = &r->learnt;
    redact_json_init(&r->json, &r->search, &r->marks);
    json_init(&r->doc);
    buf_init(&r->text, LIMIT_LINE);
    buf_init(&r->clean, LIMIT_LINE);
    buf_init(&r->held, LIMIT_LINE);
}

void redactor_release(struct redactor *r)
{
    secrets_search_release(&r->search);
    marks_release(&r->marks);
    learnt_release(&r->learnt);
    redact_json_release(&r->json);
    json_release(&r->doc);
    buf_release(&r->text);
    buf_release(&r->clean);
    buf_release(&r->held);
    arena_release(&r->arena);
    own_path_release(&r->own_path);
}

static const char *rule_name(const struct redactor *r, int64_t rule)
{
    if (rule >= (int64_t)r->secrets->count)
        return "a value that was sent";
    return rule == MARKS_ANY ? "more than can be told" : r->secrets->rules[rule].name.at;
}

/* What is being looked at, for who wants to know. */
struct place {
    const struct record *record;
    const char *member;
};

static void tell(struct redactor *r, const struct place *p, struct str pointer, int64_t rule)
{
    struct redactor_hit hit = { .record = p->record,
                                .member = p->member,
                                .pointer = pointer,
                                .what = rule_name(r, rule),
                                .index = r->count };

    if (r->watch)
        r->watch->hit(r->watch, &hit);
}

/* The text in `clean`, without what was found of it in `search`. */
static void rewrite_text(struct redactor *r, struct str text, const struct place *p)
{
    const struct secrets_search *f = &r->search;
    struct buf *to = &r->clean;
    size_t copied = 0;

    buf_clear(to);
    marks_skip(&r->marks, f->marked);
    for (size_t i = 0; i < f->count; i++) {
        const struct secrets_hit *hit = &f->hits[i];
        buf_add(to, str_n(text.at + copied, hit->span.at - copied));
        marks_add(&r->marks, to, hit->rule);
        copied = hit->span.end;
        tell(r, p, STR_NONE, hit->rule);
    }
    buf_add(to, str_skip(text, copied));
}

/* True if there is anything to take out. */
static bool find_in_text(struct redactor *r, struct str text)
{
    struct secrets_search *f = &r->search;

    if (!secrets_find(f, text))
        return false;
    if (f->suspect) {
        secrets_match(f, text, false, 0);
        secrets_settle(f);
    }
    return f->count || f->overflow;
}

static bool goes_whole(const struct secrets_search *f)
{
    bool whole = f->overflow;

    for (size_t i = 0; i < f->count && !whole; i++)
        whole = f->hits[i].whole;
    return whole;
}

static void all_of_it(struct redactor *r, const struct place *p)
{
    buf_clear(&r->clean);
    marks_add(&r->marks, &r->clean, MARKS_ANY);
    tell(r, p, STR_NONE, MARKS_ANY);
}

/* Puts the text without its secrets into `clean`; false if it has none. What could not be
 * freed of them goes as a whole. */
static bool free_text(struct redactor *r, struct str text, const struct place *p)
{
    bool open;

    if (!text.len || !find_in_text(r, text))
        return false;
    open = r->search.open;
    if (goes_whole(&r->search)) {
        all_of_it(r, p);
        return true;
    }
    rewrite_text(r, text, p);
    if (r->clean.full ||
        (secrets_find(&r->search, buf_str(&r->clean)) && secrets_has_value(&r->search)))
        all_of_it(r, p);
    r->search.open = open;
    return true;
}

/* The text, or one in the arena without what was in it. */
static struct str clean_text(struct redactor *r, struct str text, const struct place *p)
{
    return free_text(r, text, p) ? arena_str(&r->arena, buf_str(&r->clean)) : text;
}

/* The same for JSON that is kept as text; what cannot be mended is "null". */
static struct str clean_json(struct redactor *r, struct str text, const struct place *p)
{
    struct json_fault fault;
    enum redact_json_outcome outcome;

    if (!text.len || !secrets_find(&r->search, text))
        return text;
    outcome = json_scan(&r->doc, text, &fault)
                  ? redact_json(&r->json, json_root(&r->doc), false)
                  : REDACT_JSON_UNFIT;
    if (outcome == REDACT_JSON_CLEAN)
        return text;
    if (outcome == REDACT_JSON_UNFIT) {
        tell(r, p, STR_NONE, MARKS_ANY);
        return STR("null");
    }
    for (size_t i = 0; i < r->json.count; i++)
        tell(r, p, STR_NONE, r->json.leaves[i].rule);
    return arena_str(&r->arena, buf_str(&r->json.text));
}

/* Places that were told. */
struct pointers {
    struct str *at;
    size_t count;
};

static bool is_known(const struct pointers *known, struct str pointer)
{
    for (size_t i = 0; i < known->count; i++)
        if (str_eq(known->at[i], pointer))
            return true;
    return false;
}

/* With room for as many as `more`. */
static struct pointers read_pointers(struct redactor *r, struct str list, size_t more)
{
    struct json_fault fault;
    struct pointers p = { .count = 0 };
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

/* The list of places that were changed, added to the one that was there; none twice, though
 * a member's name and its value are one place. */
static struct str list_pointers(struct redactor *r, const struct place *p, struct str old)
{
    const struct redact_json *j = &r->json;
    size_t count = j->count > POINTERS_MOST ? 1 : j->count;
    struct pointers known = read_pointers(r, old, count);
    struct buf pointer;
    struct json_out o = json_out_to(&r->text);

    buf_clear(&r->text);
    buf_init(&pointer, LIMIT_LINE);
    json_out_array(&o);
    if (old.len > sizeof "[]" - 1)
        json_out_raw(&o, str_n(old.at + 1, old.len - 2));
    for (size_t i = 0; i < count; i++) {
        buf_clear(&pointer);
        if (j->count == count)
            redact_json_pointer(j, &j->leaves[i], &pointer);
        tell(r, p, buf_str(&pointer), j->leaves[i].rule);
        if (is_known(&known, buf_str(&pointer)))
            continue;
        known.at[known.count++] = arena_str(&r->arena, buf_str(&pointer));
        json_out_str(&o, buf_str(&pointer));
    }
    json_out_end_array(&o);
    buf_release(&pointer);
    return arena_str(&r->arena, buf_str(&r->text));
}

static void to_gap(struct record *r, struct str why)
{
    struct record_gap gap = { .from_to = r->message.dir,
                              .messages = 1,
                              .bytes = json_raw(r->message.msg).len,
                              .why = why };

    r->kind = RECORD_GAP;
    r->has = (r->has & (HAS_US | HAS_CONN | HAS_SESSION | HAS_EXCHANGE | HAS_STREAM)) |
             HAS_FROM | HAS_TOTALS;
    r->gap = gap;
    r->extra = STR_NONE;
}

/* What is written is not part of the recording, and nobody watches it. */
struct aside {
    struct redactor_watch *watch;
    uint32_t marked;
};

static struct aside step_aside(struct redactor *r)
{
    struct aside a = { r->watch, r->search.marked };

    r->watch = NULL;
    r->marks.frozen = true;
    return a;
}

static void step_back(struct redactor *r, const struct aside *a)
{
    r->marks.frozen = false;
    r->search.marked = a->marked;
    r->watch = a->watch;
}

/* Counts a client's message that is kept although it has something to redact. */
static void count_kept(struct redactor *r, const struct record_message *m)
{
    struct aside a = step_aside(r);

    r->requests_kept += redact_json(&r->json, m->msg, true) != REDACT_JSON_CLEAN;
    step_back(r, &a);
}

static void clean_message(struct redactor *r, struct record *rec, const struct place *p)
{
    struct record_message *m = &rec->message;
    struct str *const beside[] = { &m->event, &m->batch, &m->redacted };

    if (r->keep_requests && m->dir == TO_SERVER) {
        count_kept(r, m);
        return;
    }
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (beside[i]->len) /* seldom */
            *beside[i] = clean_json(r, *beside[i], p);
    switch (redact_json(&r->json, m->msg, true)) {
    case REDACT_JSON_CLEAN:
        return;
    case REDACT_JSON_DONE:
        m->redacted = list_pointers(r, p, m->redacted);
        m->msg = json_root(&r->json.result);
        return;
    case REDACT_JSON_UNFIT:
        tell(r, p, STR_NONE, MARKS_ANY);
        to_gap(rec, STR("secrets could not be taken out of it"));
        return;
    }
}

static int64_t private_key_rule(const struct redactor *r)
{
    for (size_t i = 0; i < r->secrets->credential_rows; i++)
        if (credential_rows[i].kind == CREDENTIAL_PEM)
            return r->secrets->credentials[i];
    return MARKS_ANY;
}

/* The part of the text that belongs to a private key begun earlier; what follows it. */
static struct str end_private_key(struct redactor *r, struct str text, struct redactor_open *o,
                                  const struct place *p, struct buf *to)
{
    struct str most = str_n(text.at, text.len < o->left ? text.len : o->left);
    bool open;
    size_t end = credential_rest(most, &open);

    o->left = open ? o->left - most.len : 0;
    if (end) {
        marks_add(&r->marks, to, private_key_rule(r));
        if (open && text.len == end && text.at[end - 1] == '\n')
            buf_add_ch(to, '\n');
        tell(r, p, STR_NONE, private_key_rule(r));
    }
    return str_skip(text, end);
}

/* Text of which more may follow in another record. */
static struct str clean_bytes(struct redactor *r, struct str bytes, struct redactor_open *o,
                              const struct place *p)
{
    struct str rest = bytes;

    buf_clear(&r->text);
    if (o->left)
        rest = end_private_key(r, bytes, o, p, &r->text);
    if (free_text(r, rest, p)) {
        buf_add(&r->text, buf_str(&r->clean));
        o->left = r->search.open ? OPEN_MOST : 0;
    } else if (rest.len < bytes.len) {
        buf_add(&r->text, rest);
    } else {
        return bytes;
    }
    return r->text.full ? STR("[REDACTED]") : arena_str(&r->arena, buf_str(&r->text));
}

static bool put_held(struct redactor *r, size_t len, struct err *e)
{
    struct record rec = r->held_as;
    struct place p = { &rec, "text" };
    bool ok;

    if (!len)
        return true;
    rec.bytes.bytes = clean_bytes(r, str_n(r->held.at, len), &r->err, &p);
    ok = r->to->put(r->to, &rec, e);
    buf_drop_front(&r->held, len);
    return ok;
}

/* Where the line starts that holds the last byte of the text. */
static size_t line_start(struct str text)
{
    const char *newline = text.len ? memrchr(text.at, '\n', text.len) : NULL;

    return newline ? (size_t)(newline - text.at) + 1 : 0;
}

/* What follows the last whole line. If values have several, so many lines are held back that
 * none is parted. */
static size_t end_of_lines(struct redactor *r, struct str text)
{
    size_t cut = line_start(text);

    for (size_t i = 0; cut && i < r->secrets->breaks; i++)
        cut = line_start(str_n(text.at, cut - 1));
    if (!cut || !r->secrets->breaks)
        return cut;
    find_in_text(r, text);
    for (size_t i = r->search.count; i-- > 0;)
        if (r->search.hits[i].span.at < cut && r->search.hits[i].span.end > cut)
            cut = line_start(str_n(text.at, r->search.hits[i].span.at));
    return cut;
}

/* How much of the held text can go: whole lines; of a line without end so much that no
 * secret is cut. */
static size_t free_to_go(struct redactor *r)
{
    struct str text = buf_str(&r->held);
    size_t cut = end_of_lines(r, text);

    if (cut || text.len <= HELD_MOST)
        return cut;
    cut = text.len - HELD_TAIL;
    find_in_text(r, text);
    for (size_t i = 0; i < r->search.count; i++)
        if (r->search.hits[i].span.at < cut && r->search.hits[i].span.end > cut)
            cut = r->search.hits[i].span.end;
    return cut;
}

/* A pattern may match any number of bytes, so a line of which the end was not waited for
 * cannot be freed of it: the line is not kept. */
static bool skip_line(struct redactor *r, struct err *e)
{
    struct record rec = r->held_as;
    struct place p = { &rec, "text" };

    all_of_it(r, &p);
    buf_clear(&r->held);
    r->skipping = true;
    rec.bytes.bytes = buf_str(&r->clean);
    return r->to->put(r->to, &rec, e);
}

/* A secret may begin in one piece of standard error and end in the next. */
static bool hold_stderr(struct redactor *r, const struct record *rec, struct err *e)
{
    struct str piece = rec->bytes.bytes;
    size_t line = str_find(piece, '\n');

    r->held_as = *rec;
    if (r->skipping) {
        piece = str_skip(piece, line);
        r->skipping = !piece.len;
    }
    buf_add(&r->held, piece);
    if (!rec->bytes.bytes.len && !r->held.len)
        return r->to->put(r->to, rec, e);
    if (line == rec->bytes.bytes.len && r->held.len <= HELD_MOST)
        return true; /* nothing ends here */
    if (r->secrets->patterns && !memchr(r->held.at, '\n', r->held.len) &&
        r->held.len > HELD_MOST)
        return skip_line(r, e);
    return put_held(r, free_to_go(r), e);
}

bool redactor_finish(struct redactor *r, struct err *e)
{
    return put_held(r, r->held.len, e);
}

/* Scheme and host, and a path of ordinary words: people put keys into everything else. */
static struct str clean_url(struct redactor *r, struct str url, const struct place *p)
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
           (!r->whole_path && own_path_is_plain(rest) && !str_has(rest, STR("[REDACTED")));
    if (!at && kept)
        return url;
    buf_clear(&r->text);
    buf_add(&r->text, str_n(url.at, host));
    if (at)
        host = (size_t)(at - url.at) + 1;
    buf_add(&r->text, str_n(url.at + host, end - host));
    if (kept)
        buf_add(&r->text, rest);
    else
        buf_add(&r->text, STR("/[REDACTED]"));
    tell(r, p, STR_NONE, MARKS_ANY);
    return arena_str(&r->arena, buf_str(&r->text));
}

/* Values go first: half of one must not be left where the address is cut. If one was part of
 * scheme and host, there is no saying what the rest is. */
static struct str clean_address(struct redactor *r, struct str url, const struct place *p)
{
    struct str clean = clean_text(r, url, p);

    if (own_path_is_url(clean))
        return clean_url(r, clean, p);
    return marks_is(clean) ? clean : STR("[REDACTED]");
}

/* Without what the server's address has of it. */
static struct str clean_path(struct redactor *r, const struct own_path *path, struct str text,
                             const struct place *p)
{
    buf_clear(&r->text);
    if (!own_path_hide(path, text, &r->text))
        return text;
    tell(r, p, STR_NONE, MARKS_ANY);
    return r->text.full ? STR_NONE : arena_str(&r->arena, buf_str(&r->text));
}

/* One word of a command, and what it is by its own names and the word before it. What was
 * taken out already goes under its own mark. */
static struct str clean_word(struct redactor *r, struct str before, struct str word,
                             const struct place *p)
{
    struct str clean = clean_text(r, word, p);
    struct unravel_span s = { 0, 0 };
    size_t copied = 0;
    bool found, changed = false;

    if (!r->secrets->credentials)
        return clean;
    buf_clear(&r->text);
    found = secret_flag_next(before, clean, &s) || secret_flag_part(clean, 0, &s);
    for (; found; found = secret_flag_part(clean, s.end, &s)) {
        if (marks_is(str_n(clean.at + s.at, s.end - s.at)))
            continue;
        buf_add(&r->text, str_n(clean.at + copied, s.at - copied));
        marks_add(&r->marks, &r->text, r->secrets->argument);
        tell(r, p, STR_NONE, r->secrets->argument);
        copied = s.end;
        changed = true;
    }
    if (!changed)
        return clean;
    buf_add(&r->text, str_skip(clean, copied));
    return arena_str(&r->arena, buf_str(&r->text));
}

static struct str clean_password(struct redactor *r, struct str word, const struct place *p)
{
    struct str clean = clean_text(r, word, p);

    if (!r->secrets->credentials || marks_is(clean))
        return clean;
    buf_clear(&r->text);
    marks_add(&r->marks, &r->text, r->secrets->argument);
    tell(r, p, STR_NONE, r->secrets->argument);
    return arena_str(&r->arena, buf_str(&r->text));
}

/* A server may be a way to another, of which the address is a word of the command. */
static struct str clean_link(struct redactor *r, struct str word, const struct place *p)
{
    struct own_path path = { .parts = NULL };

    own_path_learn(&path, word, secrets_is_made_up);
    word = clean_path(r, &path, word, p);
    own_path_release(&path);
    return word;
}

/* The command as an array of words, and the words in a row as `upstream` has them. */
struct command {
    struct buf json, line, old_line;
};

static void add_word(struct buf *line, struct str word)
{
    if (line->len)
        buf_add_ch(line, ' ');
    buf_add(line, word);
}

static bool clean_words(struct redactor *r, struct str json, const struct place *p,
                        struct command *c)
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
        clean = secret_flag_password(program, before, word) ? clean_password(r, word, p)
                                                            : clean_word(r, before, word, p);
        if (!r->keep_url)
            clean = clean_link(r, clean, p);
        before = word;
        changed |= clean.at != word.at;
        json_out_str(&o, clean);
        add_word(&c->line, clean);
        add_word(&c->old_line, word);
    }
    json_out_end_array(&o);
    return changed;
}

static void clean_command(struct redactor *r, struct record_header *h, struct place *p)
{
    struct command c;

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

/* Members that are looked at as they are, by the kinds that have them: all texts of a record,
 * those that only ever hold a few words included. A file may have anything there. */
struct field {
    unsigned kinds;
    size_t at;
    const char *name;
    bool json;
};

#define KIND(k) (1u << RECORD_##k)
#define HTTP (KIND(HTTP_REQUEST) | KIND(HTTP_RESPONSE) | KIND(HTTP_END))
#define AT(member) offsetof(struct record, member)

static const struct field fields[] = {
    { KIND(HEADER), AT(header.version), "version", false },
    { KIND(HEADER), AT(header.name), "name", false },
    { KIND(HEADER), AT(header.tags), "tags", true },
    { KIND(HEADER), AT(header.upstream), "upstream", false },
    { KIND(HEADER), AT(header.made_for), "thoughtjack_version", false },
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
    { KIND(UNKNOWN), AT(unknown), "type", false },
};

static void clean_fields(struct redactor *r, struct record *rec, struct place *p)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct str *text = (struct str *)(void *)((char *)rec + fields[i].at);
        if (!(fields[i].kinds & 1u << rec->kind))
            continue;
        p->member = fields[i].name;
        *text = fields[i].json ? clean_json(r, *text, p) : clean_text(r, *text, p);
    }
}

static void clean_header(struct redactor *r, struct record_header *h, struct place *p)
{
    if (h->command.len)
        clean_command(r, h, p);
    p->member = "upstream";
    if (!r->keep_url && own_path_is_url(h->upstream)) {
        own_path_release(&r->own_path);
        own_path_learn(&r->own_path, h->upstream, NULL);
        h->upstream = clean_address(r, h->upstream, p);
    }
}

/* By its name or its looks: an address of the client's own. */
static int64_t looks_rule(const struct redactor *r)
{
    return r->secrets->credentials ? (int64_t)r->secrets->argument : MARKS_ANY;
}

static struct str clean_target(struct redactor *r, struct str text,
                               bool (*next)(struct str, size_t, struct target_part *),
                               const struct place *p)
{
    struct target_part part;
    size_t copied = 0;

    buf_clear(&r->text);
    while (!r->keep_url && next(text, copied, &part)) {
        buf_add(&r->text, str_n(text.at + copied, part.span.at - copied));
        marks_add(&r->marks, &r->text, looks_rule(r));
        tell(r, p, STR_NONE, looks_rule(r));
        copied = part.span.end;
    }
    if (!copied)
        return text;
    buf_add(&r->text, str_skip(text, copied));
    return r->text.full ? STR("[REDACTED]") : arena_str(&r->arena, buf_str(&r->text));
}

/* What a request and its answer have of addresses, the server's and others. */
static void clean_http(struct redactor *r, struct record_http *h, struct place *p)
{
    p->member = "path";
    h->path = clean_target(r, clean_path(r, &r->own_path, h->path, p), target_path, p);
    p->member = "headers";
    h->headers = clean_path(r, &r->own_path, h->headers, p);
    p->member = "query";
    if (r->own_path.query && h->query.len && !marks_is(h->query)) {
        h->query = STR("[REDACTED]");
        tell(r, p, STR_NONE, MARKS_ANY);
    }
    h->query = clean_target(r, h->query, target_query, p);
}

static bool is_http(enum record_kind kind)
{
    return kind == RECORD_HTTP_REQUEST || kind == RECORD_HTTP_RESPONSE;
}

static void clean_record(struct redactor *r, struct record *rec)
{
    struct place p = { rec, "members" };

    if (rec->extra.len)
        rec->extra = clean_json(r, rec->extra, &p);
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
        rec->sse.data = clean_path(r, &r->own_path, rec->sse.data, &p);
    p.member = "text";
    if (rec->kind == RECORD_STDERR)
        rec->bytes.bytes = clean_bytes(r, rec->bytes.bytes, &r->err, &p);
    else if (rec->kind == RECORD_RAW)
        rec->bytes.bytes = clean_bytes(r, rec->bytes.bytes, &r->raw[rec->bytes.from_to], &p);
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
    if (r->live && rec.kind == RECORD_STDERR)
        return hold_stderr(r, &rec, e);
    if (r->held.len && ends_stderr(rec.kind))
        ok = redactor_finish(r, e);
    clean_record(r, &rec);
    r->count++;
    return r->to->put(r->to, &rec, e) && ok;
}

void redactor_text(struct redactor *r, struct str text, struct buf *to)
{
    struct place p = { NULL, "log" };
    struct aside a = step_aside(r);

    if (free_text(r, text, &p))
        text = buf_str(&r->clean);
    if (!own_path_hide(&r->own_path, text, to))
        buf_add(to, text);
    step_back(r, &a);
}

void redactor_path(struct redactor *r, struct str path, struct buf *to)
{
    struct place p = { NULL, "log" };
    struct aside a = step_aside(r);

    arena_clear(&r->arena);
    path = clean_path(r, &r->own_path, clean_text(r, path, &p), &p);
    buf_add(to, clean_target(r, path, target_path, &p));
    step_back(r, &a);
}
