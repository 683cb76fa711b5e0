#include "record/oauth-rewrite.h"

#include "base/buf.h"
#include "wire/headers.h"
#include "wire/query.h"
#include "wire/www-authenticate.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define US "127.0.0.1:5000"
#define SERVER "http://localhost:1"

static bool within(struct str part, struct str text)
{
    return !part.at || (part.at >= text.at && part.at + part.len <= text.at + text.len);
}

static void check_challenge(struct str text)
{
    struct www_authenticate c = www_authenticate_begin(text);
    struct www_authenticate_param p;

    while (www_authenticate_next(&c, &p)) {
        BUG_IF(!within(p.name, text) || !within(p.value, text) || !within(p.scheme, text));
        BUG_IF(!headers_is_token(p.name));
        BUG_IF(p.value.at < p.name.at + p.name.len);
    }
}

/* All pairs of a form together are the form, and encoded text decodes to the same. */
static void check_form(struct str text)
{
    struct str rest = text;
    struct query_param p;
    struct buf whole, plain, again;
    size_t pairs = 0;

    buf_init(&whole, 1 << 20);
    while (query_next(&rest, &p)) {
        if (pairs++)
            buf_add_ch(&whole, '&');
        buf_add(&whole, p.text);
    }
    BUG_IF(!str_eq(buf_str(&whole), text));
    buf_init(&plain, 1 << 20);
    buf_init(&again, 4 << 20);
    query_decode(&plain, text);
    buf_add_percent(&again, buf_str(&plain));
    BUG_IF(!query_equals(buf_str(&again), buf_str(&plain)) ||
           !query_equals(text, buf_str(&plain)));
    buf_release(&whole);
    buf_release(&plain);
    buf_release(&again);
}

/* A rewritten document is not changed by a second pass. */
static void check_metadata(struct oauth *o, enum oauth_document kind, struct str text)
{
    struct buf once, twice;
    struct json json;
    struct json_fault fault;

    buf_init(&once, OAUTH_DOCUMENT_MAX);
    buf_init(&twice, OAUTH_DOCUMENT_MAX);
    oauth_rewrite_metadata(o, kind, STR(US), text, &once);
    if (once.len) {
        json_init(&json);
        BUG_IF(!json_scan(&json, buf_str(&once), &fault));
        json_release(&json);
        oauth_rewrite_metadata(o, kind, STR(US), buf_str(&once), &twice);
        BUG_IF(twice.len);
    }
    buf_release(&once);
    buf_release(&twice);
}

static void check_headers(struct oauth *o, struct str text)
{
    struct buf out;
    bool named;

    buf_init(&out, 16 << 10);
    oauth_rewrite_challenge(o, STR(US), text, &out, &named);
    BUG_IF(out.len && !named);
    BUG_IF(headers_is_value(text) && !headers_is_value(buf_str(&out)));
    buf_clear(&out);
    oauth_rewrite_location(o, STR(US), text, &out);
    BUG_IF(headers_is_value(text) && !headers_is_value(buf_str(&out)));
    buf_clear(&out);
    oauth_rewrite_form(o, STR(US), text, &out);
    BUG_IF(headers_is_value(text) && !headers_is_value(buf_str(&out)));
    oauth_document_kind(o, text);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    struct oauth o;

    if (!size)
        return 0;
    oauth_init(&o, STR(SERVER "/mcp"));
    if (data[0] & 1)
        oauth_note_endpoint_path(&o, STR("/"));
    check_challenge(text);
    check_form(text);
    check_metadata(&o, OAUTH_RESOURCE_METADATA, text);
    check_metadata(&o, OAUTH_SERVER_METADATA, text);
    check_headers(&o, text);
    oauth_release(&o);
    return 0;
}
