#include "json/diff.h"
#include "json/equal.h"
#include "json/splice.h"
#include "json/write.h"

/* The scanner once more, without SSE2, under other names: the two must agree. */
#define JSON_NO_SIMD
#define json_scan portable_scan
#define json_scan_first portable_scan_first
bool portable_scan(struct json *j, struct str text, struct json_fault *fault);
bool portable_scan_first(struct json *j, struct str text, size_t *used,
                         struct json_fault *fault);
#include "json/scan.c"
#undef json_scan
#undef json_scan_first

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Texts up to here also get the checks that are more than linear. */
enum { SMALL = 2000 };

static bool scan_both(struct json *j, struct str text, struct json_fault *fault)
{
    struct json_fault other_fault = { .kind = JSON_FAULT_NONE };
    struct json other;
    bool ok = json_scan(j, text, fault);

    json_init(&other);
    BUG_IF(portable_scan(&other, text, &other_fault) != ok);
    BUG_IF(other.count != j->count);
    BUG_IF(ok && memcmp(other.nodes, j->nodes, j->count * sizeof *j->nodes));
    BUG_IF(!ok && (fault->kind != other_fault.kind || fault->at != other_fault.at));
    json_release(&other);
    return ok;
}

static bool scans(struct json *j, struct str text)
{
    struct json_fault fault;

    return scan_both(j, text, &fault);
}

/* The text up to a fault can be completed to JSON, with its next byte it cannot. */
static void check_fault(struct str text, const struct json_fault *fault)
{
    struct json_fault cut;
    struct json j;

    json_init(&j);
    BUG_IF(fault->kind == JSON_FAULT_NONE || !fault->what || fault->at > text.len);
    BUG_IF((fault->kind == JSON_FAULT_TRUNCATED) != (fault->at == text.len));
    if (fault->kind != JSON_FAULT_TRUNCATED) {
        BUG_IF(!scan_both(&j, str_n(text.at, fault->at), &cut) &&
               cut.kind != JSON_FAULT_TRUNCATED);
        BUG_IF(scan_both(&j, str_n(text.at, fault->at + 1), &cut));
        BUG_IF(cut.kind != fault->kind || cut.at != fault->at);
    }
    json_release(&j);
}

/* Children stand inside their parent, one after the other, and each is a JSON text
 * of its own. Returns how many values and keys there are. */
static size_t check_spans(struct json_val v, bool rescan)
{
    struct json_iter it = json_each(v);
    struct json_fault fault;
    size_t at = json_offset(v), end = at + json_raw(v).len, nodes = 1, children = 0;
    struct json alone;

    for (; json_next(&it); children++) {
        if (json_exists(it.key)) {
            BUG_IF(json_offset(it.key) <= at || json_type(it.key) != JSON_STRING);
            at = json_offset(it.key) + json_raw(it.key).len;
            nodes++;
        }
        BUG_IF(json_offset(it.value) <= at && json_exists(it.key));
        BUG_IF(json_offset(it.value) < at || json_type(it.value) == JSON_ABSENT);
        at = json_offset(it.value) + json_raw(it.value).len;
        BUG_IF(at >= end);
        nodes += check_spans(it.value, rescan);
    }
    BUG_IF(children != json_count(v));
    if (rescan) {
        json_init(&alone);
        BUG_IF(!json_scan(&alone, json_raw(v), &fault) || alone.count != nodes);
        json_release(&alone);
    }
    return nodes;
}

/* The same value in another spelling: decoded and encoded again, without blanks. */
static void respell(struct json_val v, struct json_out *o, struct arena *a)
{
    struct json_iter it = json_each(v);
    bool object = json_type(v) == JSON_OBJECT;

    if (json_type(v) == JSON_STRING) {
        json_out_str(o, json_text(v, a));
        return;
    }
    if (!object && json_type(v) != JSON_ARRAY) {
        json_out_raw(o, json_raw(v));
        return;
    }
    object ? json_out_object(o) : json_out_array(o);
    while (json_next(&it)) {
        if (object)
            json_out_key(o, json_text(it.key, a));
        respell(it.value, o, a);
    }
    object ? json_out_end_object(o) : json_out_end_array(o);
}

static bool no_difference(void *arg, const struct json_difference *d)
{
    (void)arg;
    (void)d;
    BUG("a difference between two spellings");
}

static void check_meaning(struct json_val v, struct arena *a)
{
    static const struct json_rules by_value = { .numbers_by_value = true };
    struct json_out o;
    struct json copy;
    struct buf b;

    json_init(&copy);
    buf_init(&b, 8 * json_raw(v).len + 64);
    o = json_out_to(&b);
    respell(v, &o, a);
    BUG_IF(b.full || !scans(&copy, buf_str(&b)));
    BUG_IF(!json_equal(v, json_root(&copy), NULL));
    BUG_IF(!json_equal(v, json_root(&copy), &by_value));
    BUG_IF(json_hash(v, NULL) != json_hash(json_root(&copy), NULL));
    BUG_IF(json_hash(v, &by_value) != json_hash(json_root(&copy), &by_value));
    BUG_IF(!json_diff(v, json_root(&copy), NULL, no_difference, NULL));
    json_release(&copy);
    buf_release(&b);
}

/* Sets a member and replaces another; the rest stays as it was. */
static void check_splice(struct json_val v)
{
    struct json_iter it = json_each(v);
    struct json_splice s;
    struct json copy;
    struct buf b;
    bool some = json_next(&it);

    json_init(&copy);
    buf_init(&b, json_raw(v).len + 64);
    json_splice_init(&s, v);
    json_splice_set(&s, v, STR("new\n"), STR("[1]"));
    if (some && !json_is(it.key, STR("new\n")))
        json_splice_replace(&s, it.value, STR("2"));
    json_splice_apply(&s, &b);
    BUG_IF(b.full || !scans(&copy, buf_str(&b)));
    if (json_type(v) == JSON_OBJECT) {
        struct str raw = json_raw(json_get(json_root(&copy), STR("new\n")));
        BUG_IF(!str_eq(raw, STR("[1]")));
    }
    if (some) {
        it = json_each(json_root(&copy));
        BUG_IF(!json_next(&it) || json_raw(it.value).len > 3);
    }
    json_release(&copy);
    buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    struct json_fault fault;
    struct arena a = { .blocks = NULL };
    struct json j;
    size_t used;

    json_init(&j);
    if (scan_both(&j, text, &fault)) {
        BUG_IF(check_spans(json_root(&j), size <= SMALL) != j.count);
        check_meaning(json_root(&j), &a);
        check_splice(json_root(&j));
    } else {
        check_fault(text, &fault);
    }
    if (json_scan_first(&j, text, &used, &fault))
        BUG_IF(!scans(&j, str_n(text.at, used)));
    json_release(&j);
    arena_release(&a);
    return 0;
}
