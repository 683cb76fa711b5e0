#include "wire/request-read.h"

#include "base/ascii.h"

static const struct head_limits limits = {
    .first_line = REQUEST_HEAD_LINE_MAX,
    .bytes = REQUEST_HEAD_BYTES_MAX,
    .lines = REQUEST_HEAD_HEADERS_MAX + 1,
};

void request_head_init(struct request_head *r)
{
    *r = (struct request_head){ .minor = 1 };
    head_init(&r->head, &limits);
}

void request_head_release(struct request_head *r)
{
    head_release(&r->head);
    headers_release(&r->headers);
}

/* Resets all members, but keeps the memory. */
static void reset_request(struct request_head *r)
{
    struct head head = r->head;
    struct headers fields = r->headers;

    head_clear(&head);
    headers_clear(&fields);
    *r = (struct request_head){ .head = head, .headers = fields, .minor = 1 };
}

void request_head_clear(struct request_head *r)
{
    r->has_previous = r->method.len && !r->reason && r->head.text.cap <= HEAD_KEEP;
    r->empty_line = false;
    if (!r->has_previous)
        reset_request(r);
}

bool request_head_has_begun(const struct request_head *r)
{
    return !r->has_previous && r->head.text.len > 0;
}

/* The functions below return the reason to reject, or REJECT_NONE. */

/* Returns the length of the target. Browsers leave more bytes unescaped than RFC 3986 allows,
 * but never a '#', which would begin a fragment. */
static size_t target_length(struct str s)
{
    static const bool good[256] = { ['!' ... '"'] = true, ['$' ... '~'] = true };
    size_t n = 0;

    while (n < s.len && good[(unsigned char)s.at[n]])
        n++;
    return n;
}

static enum reject_reason parse_url_target(struct request_head *r, struct url *u)
{
    struct err e = ERR_NONE;

    if (!url_parse(u, r->target, &e) || u->authority.userinfo.at)
        return REJECT_TARGET;
    r->form = REQUEST_HEAD_URL;
    r->path = u->path.len ? u->path : STR("/");
    r->query = u->query;
    return REJECT_NONE;
}

static enum reject_reason parse_target(struct request_head *r, struct url *u)
{
    size_t mark;

    if (str_eq(r->method, STR("CONNECT")))
        return REJECT_CONNECT;
    if (str_eq(r->target, STR("*")) && str_eq(r->method, STR("OPTIONS"))) {
        r->form = REQUEST_HEAD_ASTERISK;
        r->path = r->target;
        return REJECT_NONE;
    }
    if (r->target.at[0] != '/')
        return parse_url_target(r, u);
    mark = str_find(r->target, '?');
    r->form = REQUEST_HEAD_PATH;
    r->path = str_n(r->target.at, mark);
    if (mark < r->target.len)
        r->query = str_n(r->target.at + mark + 1, r->target.len - mark - 1);
    return REJECT_NONE;
}

static enum reject_reason check_version(struct str s)
{
    if (s.len != 8 || !str_starts(s, STR("HTTP/")) || !ascii_is_digit(s.at[5]) ||
        s.at[6] != '.' || !ascii_is_digit(s.at[7]))
        return REJECT_VERSION_SYNTAX;
    return s.at[5] != '1' || s.at[7] > '1' ? REJECT_VERSION_UNSUPPORTED : REJECT_NONE;
}

/* Returns why a line is rejected that is not 'METHOD TARGET HTTP/1.x' with exactly two blanks:
 * with more blanks, parsers disagree where the target ends. */
static enum reject_reason line_reject_reason(struct str line)
{
    size_t first = str_find(line, ' ');
    struct str rest = str_skip(line, first + 1);
    size_t second = str_find(rest, ' ');
    struct str version = str_skip(rest, second + 1);
    enum reject_reason why = check_version(version);

    if (!version.len || str_find(version, ' ') < version.len || !first || !second)
        return REJECT_REQUEST_LINE;
    if (!headers_is_token(str_n(line.at, first)))
        return REJECT_METHOD;
    if (why)
        return why;
    return str_starts(line, STR("CONNECT ")) ? REJECT_CONNECT : REJECT_TARGET;
}

static enum reject_reason parse_line(struct request_head *r, struct str line, struct url *u)
{
    static const struct str version = STR_INIT(" HTTP/1."); /* and one digit */
    size_t method = headers_token_length(line);
    struct str rest = str_skip(line, method + 1);
    size_t target = target_length(rest);
    struct str end = str_skip(rest, target);

    if (!method || line.at[method] != ' ' || !target || end.len != version.len + 1 ||
        !str_starts(end, version) || (end.at[version.len] & ~1) != '0')
        return line_reject_reason(line);
    r->method = str_n(line.at, method);
    r->target = str_n(rest.at, target);
    r->minor = end.at[version.len] - '0';
    return parse_target(r, u);
}

static enum reject_reason check_host(struct request_head *r, const struct url *u)
{
    const struct header *host = headers_next(&r->headers, STR("host"), NULL);
    int standard = u->https ? 443 : 80;

    if (!host)
        return REJECT_HOST_MISSING;
    if (headers_next(&r->headers, STR("host"), host))
        return REJECT_HOST_DUPLICATE;
    if (!url_parse_authority(&r->host, host->value) || r->host.userinfo.at)
        return REJECT_HOST_INVALID;
    if (r->form == REQUEST_HEAD_URL &&
        (!url_same_host(&r->host, &u->authority) ||
         (r->host.port < 0 ? standard : r->host.port) != url_port(u)))
        return REJECT_HOST_DIFFERS;
    return REJECT_NONE;
}

/* Accepts a single header 'chunked' only; the rest finds the reason to reject. */
static enum reject_reason check_coding(const struct request_head *r, const struct header *at)
{
    static const struct str name = STR_INIT("transfer-encoding"), word = STR_INIT("chunked");
    struct str item = STR_NONE;
    size_t chunked = 0;

    if (headers_equal_nocase(at->value, word) && !headers_next(&r->headers, name, at))
        return REJECT_NONE;
    for (; at; at = headers_next(&r->headers, name, at)) {
        struct str rest = at->value;

        item = STR_NONE;
        while (headers_next_item(&rest, &item))
            chunked += headers_equal_nocase(item, word);
    }
    if (chunked > 1)
        return REJECT_CODING_DUPLICATE;
    return headers_equal_nocase(item, word) ? REJECT_CODING_UNKNOWN : REJECT_CODING_NOT_LAST;
}

/* HTTP allows tabs around any value, but some parsers do not around framing headers. Checking
 * the first header of a name is enough: duplicates are rejected anyway. */
static bool has_tab(const struct header *f)
{
    const char *c = f ? f->name.at + f->name.len : "\r";

    while (*c != '\r' && *c != '\t')
        c++;
    return *c == '\t';
}

static enum reject_reason parse_framing(struct request_head *r)
{
    const struct header *length = headers_next(&r->headers, STR("content-length"), NULL);
    const struct header *coding = headers_next(&r->headers, STR("transfer-encoding"), NULL);

    if (has_tab(length) || has_tab(coding))
        return REJECT_FRAMING_TAB;
    if (coding) {
        if (length)
            return REJECT_LENGTH_AND_CODING;
        if (r->minor == 0)
            return REJECT_CODING_HTTP10;
        r->body.kind = BODY_CHUNKED;
        return check_coding(r, coding);
    }
    if (!length)
        return REJECT_NONE;
    if (headers_next(&r->headers, STR("content-length"), length))
        return REJECT_LENGTH_DUPLICATE;
    r->body.kind = BODY_LENGTH;
    r->length = length->value;
    return body_parse_length(length->value, &r->body.length) ? REJECT_NONE
                                                             : REJECT_LENGTH_INVALID;
}

static void parse_connection_options(struct request_head *r)
{
    r->keep_alive = headers_keep_alive(&r->headers, r->minor);
    r->expects_continue = r->minor == 1 && r->body.kind != BODY_NONE &&
                          headers_list_has(&r->headers, STR("expect"), STR("100-continue"));
}

static enum reject_reason parse_head(struct request_head *r)
{
    struct str lines = str_n(r->head.text.at, r->head.text.len - 2);
    struct str first = str_cut(&lines, '\n');
    struct url u = { .https = false };
    enum reject_reason why;

    first.len--; /* its CR */
    why = parse_line(r, first, &u);
    why = why ? why : headers_parse(&r->headers, lines);
    why = why ? why : check_host(r, &u);
    why = why ? why : parse_framing(r);
    if (!why)
        parse_connection_options(r);
    return why;
}

/* Returns whether the input begins with the previous head, apart from the value of
 * Content-Length, which begins at `digits`: nothing else in the head depends on it. */
static bool is_same_head(struct request_head *r, struct str in, size_t digits)
{
    struct str was = buf_str(&r->head.text);
    size_t after = digits + r->length.len;

    if (in.len < was.len || memcmp(in.at, was.at, digits) != 0)
        return false;
    if (memcmp(in.at + digits, was.at + digits, was.len - digits) == 0)
        return true;
    return memcmp(in.at + after, was.at + after, was.len - after) == 0 &&
           body_parse_length(str_n(in.at + digits, r->length.len), &r->body.length);
}

static bool reuse_previous(struct request_head *r, struct str *in)
{
    struct buf *text = &r->head.text;
    size_t digits = r->length.at ? (size_t)(r->length.at - text->at) : text->len;

    if (!is_same_head(r, *in, digits))
        return false;
    memcpy(text->at + digits, in->at + digits, r->length.len);
    *in = str_skip(*in, text->len);
    r->has_previous = false;
    r->same_as_previous = true;
    return true;
}

enum request_head_next request_head_feed(struct request_head *r, struct str *in)
{
    enum head_next next = HEAD_MORE;

    if (r->reason)
        return REQUEST_HEAD_REJECTED;
    if (r->has_previous && !reuse_previous(r, in))
        reset_request(r);
    if (r->method.len)
        return REQUEST_HEAD_COMPLETE;
    while (in->len && next == HEAD_MORE) {
        next = head_feed(&r->head, in);
        if (next == HEAD_COMPLETE && r->head.lines == 0 && !r->empty_line) {
            r->empty_line = true;
            head_clear(&r->head);
            next = HEAD_MORE;
        }
    }
    if (next == HEAD_MORE)
        return REQUEST_HEAD_MORE;
    r->reason = next == HEAD_REJECTED ? r->head.reason
                : r->head.lines == 0  ? REJECT_REQUEST_LINE
                                      : parse_head(r);
    return r->reason ? REQUEST_HEAD_REJECTED : REQUEST_HEAD_COMPLETE;
}
