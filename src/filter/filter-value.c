#include "filter/filter-value.h"

#include <math.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "json/number.h"

enum { PATTERN_MAX = 1 << 20 };

#define DAY_US ((int64_t)86400 * 1000 * 1000)

/* Appends a glob as a regular expression; `wild`: `*` matches any text. */
static void add_glob(struct buf *to, struct str glob, bool wild)
{
    for (size_t i = 0; i < glob.len; i++) {
        unsigned char c = (unsigned char)glob.at[i];
        if (c == '*' && wild)
            buf_add(to, STR(".*"));
        else if (c < 0x20 || c == 0x7F)
            buf_printf(to, "\\x%02x", c);
        else if (c < 0x80 && !ascii_is_alnum((char)c) && c != '_')
            buf_printf(to, "\\%c", c);
        else
            buf_add_ch(to, (char)c);
    }
}

static bool set_glob(struct filter_value *v, struct filter_token t, bool whole, struct err *e)
{
    struct buf pattern;
    bool ok;

    buf_init(&pattern, PATTERN_MAX);
    buf_add(&pattern, whole ? STR("(?s)\\A") : STR("(?s)"));
    add_glob(&pattern, t.text, t.kind == FILTER_TOKEN_WORD);
    buf_add(&pattern, whole ? STR("\\z") : STR(""));
    v->kind = FILTER_VALUE_REGEX;
    ok = buf_ok(&pattern, e) &&
         regex_new(&v->regex, buf_str(&pattern), whole ? REGEX_EXACT : REGEX_ANY_CASE, e);
    buf_release(&pattern);
    return ok;
}

static bool set_text(struct filter_value *v, struct filter_token t, enum filter_op op,
                     struct err *e)
{
    if (t.kind == FILTER_TOKEN_REGEX || op == FILTER_OP_REGEX) {
        v->kind = FILTER_VALUE_REGEX;
        return regex_new(&v->regex, t.text, REGEX_ANY_CASE, e);
    }
    if (t.kind == FILTER_TOKEN_WORD && str_find(t.text, '*') < t.text.len)
        return set_glob(v, t, true, e);
    v->kind = FILTER_VALUE_TEXT;
    v->text = t.text;
    v->quoted = t.kind == FILTER_TOKEN_STRING;
    return true;
}

static bool set_bits(struct filter_value *v, const struct filter_key *key, struct str text,
                     struct err *e)
{
    const struct filter_word *word = filter_key_word(key, text);
    const char *near = filter_key_nearest_word(key, text);

    if (word) {
        v->kind = FILTER_VALUE_BITS;
        v->bits = word->bits;
        return true;
    }
    err_set(e, ERR_USAGE, "'%s' has no value '%.*s'", key->name, STR_ARG(text));
    return near && err_hint(e, "did you mean '%s:%s'?", key->name, near);
}

/* Parses a time of day: "21:00" or "21:00:05.5". */
static bool parse_time_of_day(struct str text, int64_t *out)
{
    struct arena a = { 0 };
    struct str minutes = text;
    bool ok;

    str_cut(&minutes, ':');
    minutes = arena_printf(&a, "1970-01-01T%.*s%sZ", STR_ARG(text),
                           str_find(minutes, ':') < minutes.len ? "" : ":00");
    ok = clock_parse(minutes, out) && *out >= 0 && *out < DAY_US;
    arena_release(&a);
    return ok;
}

static bool parse_time(struct str text, enum filter_scale *scale, int64_t *out)
{
    *scale = FILTER_SCALE_OFFSET;
    if (units_parse_duration(text, out))
        return true;
    *scale = FILTER_SCALE_DATE;
    if (clock_parse(text, out))
        return true;
    *scale = FILTER_SCALE_TIME_OF_DAY;
    return parse_time_of_day(text, out);
}

static bool parse_amount(const struct filter_key *key, struct str text,
                         enum filter_scale *scale, int64_t *out)
{
    uint64_t bytes;

    *scale = FILTER_SCALE_OFFSET;
    switch (key->type) {
    case FILTER_TYPE_NUMBER:
        return str_parse_i64(text, out);
    case FILTER_TYPE_DURATION:
        return units_parse_duration(text, out);
    case FILTER_TYPE_TIME:
        return parse_time(text, scale, out);
    default:
        if (!units_parse_bytes(text, &bytes) || bytes > INT64_MAX)
            return false;
        *out = (int64_t)bytes;
        return true;
    }
}

static bool reject_amount(const struct filter_key *key, struct str text, struct err *e)
{
    static const char *const wanted[] = {
        [FILTER_TYPE_NUMBER] = "a whole number",
        [FILTER_TYPE_DURATION] = "a time such as 500ms, 2s or 1m30s",
        [FILTER_TYPE_BYTES] = "a size such as 4096, 64KB or 1MB",
        [FILTER_TYPE_TIME] = "a moment such as 1m30s, 21:00:05 or 2026-11-15T21:00:05Z",
    };

    return err_set(e, ERR_USAGE, "'%.*s' is not %s", STR_ARG(text), wanted[key->type]);
}

/* Returns the position of ".." ("1..5", "..5", "1.."), or the length of the text. */
static size_t find_dots(struct str text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.at[i] == '.' && text.at[i + 1] == '.')
            return i;
    return text.len;
}

static bool set_span(struct filter_value *v, const struct filter_key *key, struct str text,
                     size_t dots, struct err *e)
{
    struct str from = str_n(text.at, dots), to = str_skip(text, dots + 2);
    enum filter_scale one = FILTER_SCALE_OFFSET, other = FILTER_SCALE_OFFSET;

    v->from = INT64_MIN;
    v->to = INT64_MAX;
    if (!from.len && !to.len)
        return err_set(e, ERR_USAGE, "'..' needs a value before or after it");
    if (from.len && !parse_amount(key, from, &one, &v->from))
        return reject_amount(key, from, e);
    if (to.len && !parse_amount(key, to, &other, &v->to))
        return reject_amount(key, to, e);
    if (from.len && to.len && one != other)
        return err_set(e, ERR_USAGE, "'%.*s' has a time since the start and a time of day",
                       STR_ARG(text));
    if (v->from > v->to)
        return err_set(e, ERR_USAGE, "'%.*s' ends before it begins", STR_ARG(text));
    v->scale = from.len ? one : other;
    return true;
}

static bool set_range(struct filter_value *v, const struct filter_key *key, enum filter_op op,
                      struct str text, struct err *e)
{
    size_t dots = find_dots(text);
    int64_t n;

    v->kind = FILTER_VALUE_RANGE;
    if (dots < text.len && op <= FILTER_OP_IS_NOT)
        return set_span(v, key, text, dots, e);
    if (!parse_amount(key, text, &v->scale, &n))
        return reject_amount(key, text, e);
    v->from = op == FILTER_OP_LESS || op == FILTER_OP_LESS_EQUAL ? INT64_MIN : n;
    v->to = op == FILTER_OP_GREATER || op == FILTER_OP_GREATER_EQUAL ? INT64_MAX : n;
    v->low_exclusive = op == FILTER_OP_GREATER;
    v->high_exclusive = op == FILTER_OP_LESS;
    return true;
}

/* Returns a JSON number in its normal form; empty: the text is not a number. */
static struct str normal_number(struct str text, struct arena *a)
{
    struct json_fault fault;
    struct str out = STR_NONE;
    struct json j;
    struct buf b;

    json_init(&j);
    if (json_scan(&j, text, &fault) && json_type(json_root(&j)) == JSON_NUMBER) {
        buf_init(&b, 2 * text.len + 32);
        json_number_normalize(json_raw(json_root(&j)), &b);
        out = arena_str(a, buf_str(&b));
        buf_release(&b);
    }
    json_release(&j);
    return out;
}

static double parse_real(struct str number)
{
    struct buf b;
    double d;

    buf_init(&b, number.len + 1);
    buf_add(&b, number);
    d = strtod(buf_z(&b), NULL);
    buf_release(&b);
    return d;
}

static bool set_real(struct filter_value *v, enum filter_op op, struct str text,
                     struct arena *a, struct err *e)
{
    if (!normal_number(text, a).len)
        return err_set(e, ERR_USAGE, "'%.*s' is not a number", STR_ARG(text));
    v->kind = FILTER_VALUE_REAL;
    v->low = op == FILTER_OP_LESS || op == FILTER_OP_LESS_EQUAL ? -HUGE_VAL : parse_real(text);
    v->high =
        op == FILTER_OP_GREATER || op == FILTER_OP_GREATER_EQUAL ? HUGE_VAL : parse_real(text);
    v->low_exclusive = op == FILTER_OP_GREATER;
    v->high_exclusive = op == FILTER_OP_LESS;
    return true;
}

static bool is_comparison(enum filter_op op)
{
    return op >= FILTER_OP_GREATER && op <= FILTER_OP_LESS_EQUAL;
}

static bool set_json(struct filter_value *v, enum filter_op op, struct filter_token t,
                     struct arena *a, struct err *e)
{
    size_t dots = t.kind == FILTER_TOKEN_WORD ? find_dots(t.text) : t.text.len;
    struct str from = str_n(t.text.at, dots), to = str_skip(t.text, dots + 2);

    if (is_comparison(op))
        return set_real(v, op, t.text, a, e);
    if (op != FILTER_OP_REGEX && dots < t.text.len && normal_number(from, a).len &&
        normal_number(to, a).len) {
        v->kind = FILTER_VALUE_REAL;
        v->low = parse_real(from);
        v->high = parse_real(to);
        return true;
    }
    if (!set_text(v, t, op, e))
        return false;
    if (v->kind == FILTER_VALUE_TEXT && t.kind == FILTER_TOKEN_WORD)
        v->number = normal_number(t.text, a);
    return true;
}

bool filter_value_init(struct filter_value *v, const struct filter_key *key, enum filter_op op,
                       struct filter_token token, struct arena *a, struct err *e)
{
    bool pattern = token.kind == FILTER_TOKEN_REGEX || op == FILTER_OP_REGEX;

    *v = (struct filter_value){ .kind = FILTER_VALUE_TEXT };
    if (!key && !pattern)
        return set_glob(v, token, false, e);
    if (!key)
        return set_text(v, token, op, e);
    if (key->type == FILTER_TYPE_PATH)
        return set_json(v, op, token, a, e);
    if (key->type != FILTER_TYPE_TEXT && pattern)
        return err_set(e, ERR_USAGE, "'%s' takes no pattern", key->name);
    switch (key->type) {
    case FILTER_TYPE_TEXT:
    case FILTER_TYPE_WORDS:
    case FILTER_TYPE_CONTENT:
        if (is_comparison(op))
            return err_set(e, ERR_USAGE, "'%s' cannot be compared with '<' or '>'", key->name);
        return key->type == FILTER_TYPE_TEXT ? set_text(v, token, op, e)
                                             : set_bits(v, key, token.text, e);
    default:
        return set_range(v, key, op, token.text, e);
    }
}

void filter_value_release(struct filter_value *v)
{
    regex_free(v->regex);
}

bool filter_value_matches_text(const struct filter_value *v, struct str text)
{
    if (v->kind == FILTER_VALUE_REGEX)
        return regex_search(v->regex, text);
    return v->kind == FILTER_VALUE_TEXT && str_eq(v->text, text);
}

bool filter_value_matches_number(const struct filter_value *v, int64_t n)
{
    if (v->scale == FILTER_SCALE_TIME_OF_DAY)
        n = (n % DAY_US + DAY_US) % DAY_US;
    return (v->low_exclusive ? n > v->from : n >= v->from) &&
           (v->high_exclusive ? n < v->to : n <= v->to);
}

static bool same_number(struct str normal, struct str number)
{
    struct buf b;
    bool same;

    buf_init(&b, 2 * number.len + 32);
    json_number_normalize(number, &b);
    same = str_eq(normal, buf_str(&b));
    buf_release(&b);
    return same;
}

bool filter_value_matches_json(const struct filter_value *v, struct json_val json)
{
    struct arena a = { 0 };
    bool fits = false;
    double d;

    switch (json_type(json)) {
    case JSON_ABSENT:
        return false;
    case JSON_STRING:
        fits = filter_value_matches_text(v, json_text(json, &a));
        break;
    case JSON_NUMBER:
        if (v->kind == FILTER_VALUE_REAL) {
            d = parse_real(json_raw(json));
            fits = (v->low_exclusive ? d > v->low : d >= v->low) &&
                   (v->high_exclusive ? d < v->high : d <= v->high);
        } else {
            fits = v->number.len ? same_number(v->number, json_raw(json))
                                 : !v->quoted && filter_value_matches_text(v, json_raw(json));
        }
        break;
    default:
        fits = !v->quoted && filter_value_matches_text(v, json_raw(json));
    }
    arena_release(&a);
    return fits;
}
