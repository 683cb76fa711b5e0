/* tests/fuzz/fuzz-redactor.c - redacts any line with a secret in some encoding.
 *
 * The first byte chooses the encoding of the value, the second its position in the rest. In a
 * message or any other line: the output does not have the value, in any encoding that the
 * search knows; unchanged text is equal, byte for byte; JSON is still JSON. */
#include <stdint.h>
#include <stdlib.h>

#include "base/base64.h"
#include "redact/redactor.h"
#include "trace/limits.h"
#include "trace/parse-messages.h"

#define VALUE "v4lue/+\"\\ %41&x"

struct redaction_run {
    struct sink sink;
    struct secret_search again;
    struct redactor redactor;
};

static void check_text(struct redaction_run *d, struct str text)
{
    if (secret_search_find(&d->again, text) && secret_search_has_value(&d->again))
        abort();
    if (text.len && memmem(text.at, text.len, VALUE, sizeof VALUE - 1))
        abort();
}

/* Nodes keep their places, and only strings that were listed have changed. */
static bool check_record(struct sink *self, const struct record *r, struct err *e)
{
    struct redaction_run *d = (struct redaction_run *)self;

    (void)e;
    if (r->kind == RECORD_MESSAGE) {
        struct json j;
        struct json_fault fault;
        json_init(&j);
        if (!json_scan(&j, json_raw(r->message.msg), &fault))
            abort();
        json_release(&j);
        check_text(d, json_raw(r->message.msg));
        check_text(d, r->message.redacted);
    } else if (r->kind == RECORD_RAW || r->kind == RECORD_STDERR) {
        check_text(d, r->bytes.bytes);
    }
    return true;
}

/* Made once: the rules take longer than their use. */
static const struct secret_rules *rules(void)
{
    static struct secret_rules s;
    struct err e = ERR_NONE;

    if (s.count)
        return &s;
    secret_rules_init(&s);
    if (!secret_rules_add_value(&s, STR("KEY"), STR(VALUE), &e))
        abort();
    secret_rules_add_credentials(&s);
    if (!secret_rules_add_pattern(&s, STR("c[0-9]+d"), &e) ||
        !secret_rules_add_pattern(&s, STR("^only this$"), &e) || !secret_rules_seal(&s, &e))
        abort();
    return &s;
}

static void start(struct redaction_run *d)
{
    *d = (struct redaction_run){ .sink = { check_record } };
    secret_search_init(&d->again, rules());
    redactor_init(&d->redactor, rules(), &d->sink);
}

static void stop(struct redaction_run *d)
{
    redactor_release(&d->redactor);
    secret_search_release(&d->again);
}

static void add_escaped(struct buf *to, struct str text, uint8_t how)
{
    for (; text.len; text = str_skip(text, 1), how = (uint8_t)(how * 5 + 1)) {
        unsigned char c = (unsigned char)text.at[0];
        switch (how >> 4 & 3) {
        case 0:
            buf_printf(to, "\\u%04X", c);
            break;
        case 1:
            buf_printf(to, "%%%02x", c);
            break;
        case 2:
            buf_printf(to, "&#%u;", c);
            break;
        default:
            buf_printf(to, c == '"' || c == '\\' ? "\\%c" : "%c", c);
        }
    }
}

/* Several times: a text that is too long to be searched must be redacted nevertheless. */
static void add_nested(struct buf *to, uint8_t how)
{
    struct buf texts[2];
    size_t which = 0;

    buf_init(&texts[0], LIMIT_LINE);
    buf_init(&texts[1], LIMIT_LINE);
    buf_add(&texts[0], STR(VALUE));
    for (unsigned i = 0; i < how >> 5 && texts[which].len < 10000; i++) {
        buf_clear(&texts[1 - which]);
        add_escaped(&texts[1 - which], buf_str(&texts[which]), how);
        which = 1 - which;
    }
    buf_add(to, buf_str(&texts[which]));
    buf_release(&texts[0]);
    buf_release(&texts[1]);
}

static void add_base64_twice(struct buf *to)
{
    struct buf once;

    buf_init(&once, 256);
    base64_encode(&once, STR("a" VALUE "b"));
    base64_encode(to, buf_str(&once));
    buf_release(&once);
}

static void add_value(struct buf *to, uint8_t how)
{
    switch (how & 7) {
    case 0:
        break;
    case 1:
        base64_encode(to, STR("a" VALUE "b"));
        break;
    case 2:
        for (const unsigned char *c = (const unsigned char *)VALUE; *c; c++)
            buf_printf(to, "%02X", *c);
        break;
    case 3:
        buf_add(to, STR(VALUE));
        break;
    case 4:
        add_base64_twice(to);
        break;
    case 5:
        add_nested(to, how);
        break;
    default:
        add_escaped(to, STR(VALUE), how);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = size > 2 ? str_n((const char *)data + 2, size - 2) : STR_NONE;
    struct message_parser intake;
    struct err e = ERR_NONE;
    struct buf line;
    struct redaction_run d;
    size_t at;

    if (!rest.len || memchr(rest.at, '\n', rest.len))
        return 0;
    at = data[1] * rest.len / 256;
    start(&d);
    message_parser_init(&intake);
    buf_init(&line, LIMIT_LINE);
    buf_add(&line, str_n(rest.at, at));
    add_value(&line, data[0]);
    buf_add(&line, str_skip(rest, at));
    if (!message_parser_line(&intake, TO_CLIENT, buf_str(&line), &d.redactor.sink, &e))
        abort();
    d.redactor.stderr_in_pieces = true;
    for (size_t i = 0; i < line.len; i += 3) {
        struct record r = { .kind = RECORD_STDERR };
        r.bytes.bytes = str_n(line.at + i, line.len - i < 3 ? line.len - i : 3);
        if (!d.redactor.sink.put(&d.redactor.sink, &r, &e))
            abort();
    }
    if (!redactor_finish(&d.redactor, &e))
        abort();
    buf_release(&line);
    message_parser_release(&intake);
    stop(&d);
    return 0;
}
