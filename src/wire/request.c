#include "wire/request.h"

#include "base/ascii.h"

static const struct head_limits limits = {
    .first_line = REQUEST_LINE_MAX,
    .bytes = REQUEST_HEAD_MAX,
    .lines = REQUEST_FIELDS_MAX + 1,
};

void request_init(struct request *r)
{
    *r = (struct request){ .minor = 1 };
    head_init(&r->head, &limits);
}

void request_release(struct request *r)
{
    head_release(&r->head);
    fields_release(&r->fields);
}

/* As new, but for its memory. */
static void forget(struct request *r)
{
    struct head head = r->head;
    struct fields fields = r->fields;

    head_clear(&head);
    fields_clear(&fields);
    *r = (struct request){ .head = head, .fields = fields, .minor = 1 };
}

void request_clear(struct request *r)
{
    r->kept = r->method.len && !r->why && r->head.text.cap <= HEAD_KEEP;
    r->empty_line = false;
    if (!r->kept)
        forget(r);
}

bool request_begun(const struct request *r)
{
    return !r->kept && r->head.text.len > 0;
}

/* The steps below return the reason to refuse, if there is one. */

/* Bytes that a target may hold: browsers leave more of them alone than RFC 3986 does,
 * but never a '#', which would be a fragment. */
static size_t target_length(struct str s)
{
    static const bool good[256] = { ['!' ... '"'] = true, ['$' ... '~'] = true };
    size_t n = 0;

    while (n < s.len && good[(unsigned char)s.at[n]])
        n++;
    return n;
}

static enum refusal parse_url_target(struct request *r, struct url *u)
{
    struct err e = ERR_NONE;

    if (!url_parse(u, r->target, &e) || u->authority.userinfo.at)
        return REFUSAL_TARGET;
    r->form = REQUEST_URL;
    r->path = u->path.len ? u->path : STR("/");
    r->query = u->query;
    return REFUSAL_NONE;
}

static enum refusal parse_target(struct request *r, struct url *u)
{
    size_t mark;

    if (str_eq(r->method, STR("CONNECT")))
        return REFUSAL_CONNECT;
    if (str_eq(r->target, STR("*")) && str_eq(r->method, STR("OPTIONS"))) {
        r->form = REQUEST_ASTERISK;
        r->path = r->target;
        return REFUSAL_NONE;
    }
    if (r->target.at[0] != '/')
        return parse_url_target(r, u);
    mark = str_find(r->target, '?');
    r->form = REQUEST_PATH;
    r->path = str_n(r->target.at, mark);
    if (mark < r->target.len)
        r->query = str_n(r->target.at + mark + 1, r->target.len - mark - 1);
    return REFUSAL_NONE;
}

static enum refusal fault_of_version(struct str s)
{
    if (s.len != 8 || !str_starts(s, STR("HTTP/")) || !ascii_is_digit(s.at[5]) ||
        s.at[6] != '.' || !ascii_is_digit(s.at[7]))
        return REFUSAL_VERSION;
    return s.at[5] != '1' || s.at[7] > '1' ? REFUSAL_VERSION_OTHER : REFUSAL_NONE;
}

/* Why a line is refused that is not a method, a target and a version we know, with a blank
 * between them. Exactly two blanks: with more, one reader's target is another one's version. */
static enum refusal fault_of_line(struct str line)
{
    size_t first = str_find(line, ' ');
    struct str rest = str_skip(line, first + 1);
    size_t second = str_find(rest, ' ');
    struct str version = str_skip(rest, second + 1);
    enum refusal why = fault_of_version(version);

    if (!version.len || str_find(version, ' ') < version.len || !first || !second)
        return REFUSAL_REQUEST_LINE;
    if (!fields_is_token(str_n(line.at, first)))
        return REFUSAL_METHOD;
    if (why)
        return why;
    return str_starts(line, STR("CONNECT ")) ? REFUSAL_CONNECT : REFUSAL_TARGET;
}

static enum refusal parse_line(struct request *r, struct str line, struct url *u)
{
    static const struct str version = STR_INIT(" HTTP/1."); /* and one digit */
    size_t method = fields_token_length(line);
    struct str rest = str_skip(line, method + 1);
    size_t target = target_length(rest);
    struct str end = str_skip(rest, target);

    if (!method || line.at[method] != ' ' || !target || end.len != version.len + 1 ||
        !str_starts(end, version) || (end.at[version.len] & ~1) != '0')
        return fault_of_line(line);
    r->method = str_n(line.at, method);
    r->target = str_n(rest.at, target);
    r->minor = end.at[version.len] - '0';
    return parse_target(r, u);
}

static enum refusal check_host(struct request *r, const struct url *u)
{
    const struct field *host = fields_next(&r->fields, STR("host"), NULL);
    int standard = u->https ? 443 : 80;

    if (!host)
        return REFUSAL_HOST_NONE;
    if (fields_next(&r->fields, STR("host"), host))
        return REFUSAL_HOST_TWICE;
    if (!url_authority(&r->host, host->value) || r->host.userinfo.at)
        return REFUSAL_HOST_INVALID;
    if (r->form == REQUEST_URL && (!url_same_host(&r->host, &u->authority) ||
                                   (r->host.port < 0 ? standard : r->host.port) != url_port(u)))
        return REFUSAL_HOST_DIFFERS;
    return REFUSAL_NONE;
}

/* One line that says 'chunked' and nothing else; the rest is about what to call it. */
static enum refusal check_coding(const struct request *r, const struct field *at)
{
    static const struct str name = STR_INIT("transfer-encoding"), word = STR_INIT("chunked");
    struct str item = STR_NONE;
    size_t chunked = 0;

    if (fields_same(at->value, word) && !fields_next(&r->fields, name, at))
        return REFUSAL_NONE;
    for (; at; at = fields_next(&r->fields, name, at)) {
        struct str rest = at->value;

        item = STR_NONE;
        while (fields_item(&rest, &item))
            chunked += fields_same(item, word);
    }
    if (chunked > 1)
        return REFUSAL_CODING_TWICE;
    return fields_same(item, word) ? REFUSAL_CODING_UNKNOWN : REFUSAL_CODING_LAST;
}

/* HTTP lets tabs stand around any value, but not every reader does around these.
 * Of several the first will do: they are refused anyway. */
static bool has_tab(const struct field *f)
{
    const char *c = f ? f->name.at + f->name.len : "\r";

    while (*c != '\r' && *c != '\t')
        c++;
    return *c == '\t';
}

static enum refusal decide_body(struct request *r)
{
    const struct field *length = fields_next(&r->fields, STR("content-length"), NULL);
    const struct field *coding = fields_next(&r->fields, STR("transfer-encoding"), NULL);

    if (has_tab(length) || has_tab(coding))
        return REFUSAL_FRAMING_TAB;
    if (coding) {
        if (length)
            return REFUSAL_LENGTH_AND_CODING;
        if (r->minor == 0)
            return REFUSAL_CODING_OLD;
        r->body.kind = BODY_CHUNKED;
        return check_coding(r, coding);
    }
    if (!length)
        return REFUSAL_NONE;
    if (fields_next(&r->fields, STR("content-length"), length))
        return REFUSAL_LENGTH_TWICE;
    r->body.kind = BODY_LENGTH;
    r->length = length->value;
    return body_length(length->value, &r->body.length) ? REFUSAL_NONE : REFUSAL_LENGTH_INVALID;
}

static void note_wishes(struct request *r)
{
    r->keep_alive = fields_keep_alive(&r->fields, r->minor);
    r->expects_continue = r->minor == 1 && r->body.kind != BODY_NONE &&
                          fields_list(&r->fields, STR("expect"), STR("100-continue"));
}

static enum refusal parse(struct request *r)
{
    struct str lines = str_n(r->head.text.at, r->head.text.len - 2);
    struct str first = str_cut(&lines, '\n');
    struct url u = { .https = false };
    enum refusal why;

    first.len--; /* its CR */
    why = parse_line(r, first, &u);
    why = why ? why : fields_parse(&r->fields, lines);
    why = why ? why : check_host(r, &u);
    why = why ? why : decide_body(r);
    if (!why)
        note_wishes(r);
    return why;
}

/* Whether what comes is the head that is kept, but for its length, whose digits begin at
 * `digits`: nothing else depends on them. */
static bool is_again(struct request *r, struct str in, size_t digits)
{
    struct str was = buf_str(&r->head.text);
    size_t after = digits + r->length.len;

    if (in.len < was.len || memcmp(in.at, was.at, digits) != 0)
        return false;
    if (memcmp(in.at + digits, was.at + digits, was.len - digits) == 0)
        return true;
    return memcmp(in.at + after, was.at + after, was.len - after) == 0 &&
           body_length(str_n(in.at + digits, r->length.len), &r->body.length);
}

static bool take_again(struct request *r, struct str *in)
{
    struct buf *text = &r->head.text;
    size_t digits = r->length.at ? (size_t)(r->length.at - text->at) : text->len;

    if (!is_again(r, *in, digits))
        return false;
    memcpy(text->at + digits, in->at + digits, r->length.len);
    *in = str_skip(*in, text->len);
    r->kept = false;
    r->again = true;
    return true;
}

enum request_next request_feed(struct request *r, struct str *in)
{
    enum head_next next = HEAD_MORE;

    if (r->why)
        return REQUEST_REFUSED;
    if (r->kept && !take_again(r, in))
        forget(r);
    if (r->method.len)
        return REQUEST_WHOLE;
    while (in->len && next == HEAD_MORE) {
        next = head_feed(&r->head, in);
        if (next == HEAD_WHOLE && r->head.lines == 0 && !r->empty_line) {
            r->empty_line = true;
            head_clear(&r->head);
            next = HEAD_MORE;
        }
    }
    if (next == HEAD_MORE)
        return REQUEST_MORE;
    r->why = next == HEAD_REFUSED ? r->head.why
             : r->head.lines == 0 ? REFUSAL_REQUEST_LINE
                                  : parse(r);
    return r->why ? REQUEST_REFUSED : REQUEST_WHOLE;
}
