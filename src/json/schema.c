#include "json/schema.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "json/equal.h"
#include "json/number.h"
#include "json/object-cache.h"
#include "json/schema-rules.h"
#include "json/schema-types.h"

/* Work is counted in rules, members and elements that were looked at. */
enum { WORK_BASE = 4 << 20, WORK_PER_VALUE = 256 };
enum { BYTES_PER_WORK = 32 };
enum { MAX_NESTING = 2048 }; /* of schemas; a value nests up to JSON_MAX_DEPTH */
enum { MAX_REFS = 8 };       /* followed to find the types of a schema */
enum { SMALL_OBJECT = 16 };  /* members that are searched without an index */
enum { MESSAGE_MAX = 1 << 10, QUOTE_MAX = 80, QUOTES_MAX = 8 };

/* In `unchecked`, beside the bits of keywords. */
#define TOO_COMPLEX ((uint64_t)1 << 63)

static const struct json_rules by_value = { .numbers_by_value = true };

/* Three-valued: an undecided part leaves the whole undecided unless the rest decides it. */
enum fit { FITS, UNDECIDED, FAILS };

struct outcome {
    enum fit fit;
    uint64_t unchecked; /* keywords that left it undecided */
};

struct json_schema {
    struct json_val root;
    struct json_schema_rules rules;
    struct json_object_cache objects;
};

/* One call of json_schema_check(). */
struct checker {
    struct json_schema *schema;
    bool (*found)(void *arg, const struct json_schema_violation *v);
    void *arg;
    struct json_step *steps; /* to the value that is being checked */
    size_t depth, cap;
    unsigned nesting;
    uint64_t work; /* that is left */
    bool too_complex;
    bool stopped; /* set when `found` has returned false */
    bool violated;
    struct json_object_cache objects;
    struct arena names; /* decoded */
    struct buf message;
};

/* A subschema applied to a value. */
struct frame {
    struct checker *c;
    const struct json_schema_node *node;
    struct json_val value;
    bool report; /* the value must fit: a violation is reported. Else it may be one of several
                    alternatives. */
};

static const struct outcome fits = { FITS, 0 };
static const struct outcome fails = { FAILS, 0 };
static const struct outcome ended = { UNDECIDED, 0 };

static struct outcome undecided(enum json_keyword k)
{
    return (struct outcome){ UNDECIDED, (uint64_t)1 << k };
}

/* Both must fit. */
static void join(struct outcome *all, struct outcome one)
{
    all->unchecked |= one.unchecked;
    if (one.fit > all->fit)
        all->fit = one.fit;
}

static bool has_ended(const struct checker *c)
{
    return c->too_complex || c->stopped;
}

/* After the limit everything is undecided, and nothing is reported. */
static void spend(struct checker *c, uint64_t work)
{
    if (c->work < work)
        c->too_complex = true;
    c->work -= c->too_complex ? c->work : work;
}

static void spend_bytes(struct checker *c, size_t bytes)
{
    spend(c, 1 + bytes / BYTES_PER_WORK);
}

/* Objects */

static struct json_val find_member(struct checker *c, struct json_val object, struct str name)
{
    bool of_schema = object.doc == c->schema->root.doc;

    spend_bytes(c, name.len);
    return json_object_cache_find(of_schema ? &c->schema->objects : &c->objects, object, name);
}

/* A loop over the members of an object, each name once. */
struct members {
    struct json_iter it;
    struct str name;
};

static struct members each_member(struct json_val object)
{
    return (struct members){ .it = json_each(object) };
}

static struct str name_of(struct checker *c, struct json_val key)
{
    if (json_has_escapes(key))
        spend_bytes(c, json_raw(key).len);
    return json_text(key, &c->names);
}

static bool next_member(struct checker *c, struct members *m)
{
    while (json_next(&m->it)) {
        m->name = name_of(c, m->it.key);
        if (find_member(c, m->it.in, m->name).node == m->it.value.node)
            return true;
    }
    return false;
}

static size_t count_members(struct checker *c, struct json_val object)
{
    struct members m = each_member(object);
    size_t count = 0;

    while (next_member(c, &m))
        count++;
    return count;
}

/* Locations */

static void push_step(struct checker *c, struct json_step step)
{
    c->steps = mem_reserve(c->steps, &c->cap, c->depth + 1, sizeof *c->steps);
    c->steps[c->depth++] = step;
}

static struct outcome evaluate(struct checker *c, struct json_val schema, struct json_val value,
                               bool report, enum json_keyword by);

static struct outcome evaluate_member(const struct frame *f, struct str name,
                                      struct json_val schema, struct json_val value,
                                      enum json_keyword by)
{
    struct outcome o;

    push_step(f->c, (struct json_step){ .name = name });
    o = evaluate(f->c, schema, value, f->report, by);
    f->c->depth--;
    return o;
}

static struct outcome evaluate_item(const struct frame *f, size_t index, struct json_val schema,
                                    struct json_val value, enum json_keyword by)
{
    struct outcome o;

    push_step(f->c, (struct json_step){ .is_index = true, .index = index });
    o = evaluate(f->c, schema, value, f->report, by);
    f->c->depth--;
    return o;
}

/* Evaluates without a report. */
static struct outcome test(const struct frame *f, struct json_val schema, enum json_keyword by)
{
    return evaluate(f->c, schema, f->value, false, by);
}

/* Applies a schema on a condition. */
static struct outcome if_fits(struct outcome condition, const struct frame *f,
                              struct json_val schema, enum json_keyword by)
{
    struct outcome o;

    if (condition.fit == FAILS || !json_exists(schema))
        return fits;
    if (condition.fit == FITS)
        return evaluate(f->c, schema, f->value, f->report, by);
    o = test(f, schema, by);
    return o.fit == FITS ? fits : condition;
}

/* Messages */

static void add_quote(struct buf *to, struct json_val v)
{
    struct str text = json_raw(v);
    struct arena a = { .blocks = NULL };

    buf_add(to, arena_truncated(&a, text, QUOTE_MAX));
    arena_release(&a);
}

static void add_count(struct buf *to, const char *limit, int64_t count, const char *what)
{
    buf_printf(to, "must have %s %lld %s%s", limit, (long long)count, what,
               count == 1 ? "" : "s");
}

/* Returns where to compose the message of a violation, or NULL if it is not reported. */
static struct buf *begin_message(const struct frame *f)
{
    if (!f->report || has_ended(f->c))
        return NULL;
    buf_clear(&f->c->message);
    return &f->c->message;
}

static void report_violation(struct checker *c, struct json_val value, enum json_keyword k,
                             struct json_val rule)
{
    const struct json_schema_violation v = {
        .location = { c->steps, c->depth },
        .value = value,
        .keyword = k == KEYWORD_NONE ? STR_NONE : json_keyword_name(k),
        .rule = rule,
        .message = buf_str(&c->message),
    };

    c->violated = true;
    c->stopped = !c->found || !c->found(c->arg, &v);
}

/* Reports the message that was composed. */
static struct outcome end_message(const struct frame *f, const struct json_schema_rule *rule)
{
    report_violation(f->c, f->value, rule->keyword, rule->value);
    return fails;
}

static struct outcome fail_with(const struct frame *f, const struct json_schema_rule *rule,
                                const char *message)
{
    struct buf *b = begin_message(f);

    if (!b)
        return fails;
    buf_add(b, str_z(message));
    return end_message(f, rule);
}

/* Types */

static struct outcome check_type(const struct frame *f, const struct json_schema_rule *rule)
{
    unsigned mask;
    struct buf *b;

    if (!json_schema_types_parse(rule->value, &mask))
        return undecided(KEYWORD_TYPE);
    if (mask & json_schema_types_of(f->value))
        return fits;
    b = begin_message(f);
    if (!b)
        return fails;
    json_schema_types_write(mask, b);
    return end_message(f, rule);
}

/* Any value */

static bool are_equal(struct checker *c, struct json_val a, struct json_val b)
{
    if (json_type(a) != json_type(b)) {
        spend(c, 1);
        return false;
    }
    spend_bytes(c, json_raw(a).len < json_raw(b).len ? json_raw(a).len : json_raw(b).len);
    return json_equal(a, b, &by_value);
}

static struct outcome check_const(const struct frame *f, const struct json_schema_rule *rule)
{
    struct buf *b;

    if (are_equal(f->c, f->value, rule->value))
        return fits;
    b = begin_message(f);
    if (!b)
        return fails;
    buf_add(b, STR("must be "));
    add_quote(b, rule->value);
    return end_message(f, rule);
}

static struct outcome check_enum(const struct frame *f, const struct json_schema_rule *rule)
{
    struct json_iter it = json_each(rule->value);
    struct buf *b;

    if (json_type(rule->value) != JSON_ARRAY)
        return undecided(KEYWORD_ENUM);
    while (json_next(&it))
        if (are_equal(f->c, f->value, it.value))
            return fits;
    b = begin_message(f);
    if (!b)
        return fails;
    buf_add(b, STR("is not one of "));
    it = json_each(rule->value);
    for (int i = 0; json_next(&it); i++) {
        buf_add(b, i ? STR(", ") : STR(""));
        if (i == QUOTES_MAX) {
            buf_add(b, STR("…"));
            break;
        }
        add_quote(b, it.value);
    }
    return end_message(f, rule);
}

static struct outcome check_ref(const struct frame *f, const struct json_schema_rule *rule)
{
    if (!json_exists(rule->target))
        return undecided(KEYWORD_REF);
    return evaluate(f->c, rule->target, f->value, f->report, KEYWORD_REF);
}

static struct outcome check_nothing(const struct frame *f, const struct json_schema_rule *rule)
{
    (void)f;
    return undecided(rule->keyword);
}

/* Numbers */

static struct outcome check_limit(const struct frame *f, const struct json_schema_rule *rule)
{
    static const char *const phrases[] = { "at least", "at most", "greater than", "less than" };
    int which = (int)rule->keyword - (int)KEYWORD_MINIMUM, order;
    struct buf *b;

    if (json_type(f->value) != JSON_NUMBER || json_type(rule->value) == JSON_FALSE)
        return fits;
    spend_bytes(f->c, json_raw(f->value).len);
    /* The boolean form is that of draft-04. */
    if (json_type(rule->value) != JSON_NUMBER ||
        !json_number_compare(json_raw(f->value), json_raw(rule->value), &order))
        return undecided(rule->keyword);
    if (rule->keyword == KEYWORD_MAXIMUM || rule->keyword == KEYWORD_EXCLUSIVE_MAXIMUM)
        order = -order;
    if (order > 0 || (order == 0 && rule->keyword <= KEYWORD_MAXIMUM))
        return fits;
    b = begin_message(f);
    if (!b)
        return fails;
    buf_printf(b, "must be %s ", phrases[which]);
    add_quote(b, rule->value);
    return end_message(f, rule);
}

static struct outcome check_multiple_of(const struct frame *f,
                                        const struct json_schema_rule *rule)
{
    bool multiple;
    struct buf *b;

    if (json_type(f->value) != JSON_NUMBER)
        return fits;
    spend_bytes(f->c, json_raw(f->value).len);
    if (json_type(rule->value) != JSON_NUMBER ||
        !json_number_multiple(json_raw(f->value), json_raw(rule->value), &multiple))
        return undecided(KEYWORD_MULTIPLE_OF);
    if (multiple)
        return fits;
    b = begin_message(f);
    if (!b)
        return fails;
    buf_add(b, STR("must be a multiple of "));
    add_quote(b, rule->value);
    return end_message(f, rule);
}

/* Strings */

static size_t count_code_points(struct str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    return count;
}

static size_t string_length(struct checker *c, struct json_val string)
{
    struct arena a = { .blocks = NULL };
    size_t count = count_code_points(json_text(string, &a));

    spend_bytes(c, json_raw(string).len);
    arena_release(&a);
    return count;
}

static struct outcome match_pattern(struct checker *c, struct json_val pattern, struct str text,
                                    enum json_keyword k)
{
    const struct regex *r = json_schema_rules_pattern(&c->schema->rules, pattern);

    spend_bytes(c, text.len);
    /* A lone surrogate is a character of ECMAScript, but not of RE2. */
    if (!r || !utf8_valid(text))
        return undecided(k);
    return regex_search(r, text) ? fits : fails;
}

static struct outcome check_pattern(const struct frame *f, const struct json_schema_rule *rule)
{
    struct arena a = { .blocks = NULL };
    struct outcome o;
    struct buf *b;

    if (json_type(f->value) != JSON_STRING)
        return fits;
    o = match_pattern(f->c, rule->value, json_text(f->value, &a), KEYWORD_PATTERN);
    arena_release(&a);
    b = o.fit == FAILS ? begin_message(f) : NULL;
    if (!b)
        return o;
    buf_add(b, STR("must match the pattern "));
    add_quote(b, rule->value);
    return end_message(f, rule);
}

static struct outcome check_format(const struct frame *f, const struct json_schema_rule *rule)
{
    return json_type(f->value) == JSON_STRING || json_type(f->value) == JSON_NUMBER
               ? undecided(rule->keyword)
               : fits;
}

/* minLength, maxItems and the like. */
static struct outcome check_size(const struct frame *f, const struct json_schema_rule *rule,
                                 enum json_keyword least, size_t size, const char *what)
{
    struct buf *b;
    int64_t limit;

    if (!json_int(rule->value, &limit))
        return undecided(rule->keyword);
    if (rule->keyword == least ? (int64_t)size >= limit : (int64_t)size <= limit)
        return fits;
    b = begin_message(f);
    if (!b)
        return fails;
    add_count(b, rule->keyword == least ? "at least" : "at most", limit, what);
    return end_message(f, rule);
}

static struct outcome check_length(const struct frame *f, const struct json_schema_rule *rule)
{
    if (json_type(f->value) != JSON_STRING)
        return fits;
    return check_size(f, rule, KEYWORD_MIN_LENGTH, string_length(f->c, f->value), "character");
}

/* Arrays */

static struct outcome check_item_count(const struct frame *f,
                                       const struct json_schema_rule *rule)
{
    if (json_type(f->value) != JSON_ARRAY)
        return fits;
    return check_size(f, rule, KEYWORD_MIN_ITEMS, json_count(f->value), "element");
}

struct hashed_item {
    uint64_t hash;
    size_t index;
    struct json_val value;
};

static int compare_items(const void *left, const void *right)
{
    const struct hashed_item *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Finds an element that equals an earlier one. */
static bool find_equal_items(struct checker *c, const struct hashed_item *items, size_t count,
                             size_t pair[2])
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k-- && items[k].hash == items[i].hash && !has_ended(c);)
            if (are_equal(c, items[k].value, items[i].value)) {
                pair[0] = items[k].index;
                pair[1] = items[i].index;
                return true;
            }
    return false;
}

static bool has_equal_items(struct checker *c, struct json_val array, size_t pair[2])
{
    struct hashed_item *items = mem_alloc(json_count(array) * sizeof *items);
    struct json_iter it = json_each(array);
    size_t count = 0;
    bool found;

    for (; json_next(&it); count++)
        items[count] = (struct hashed_item){ json_hash(it.value, &by_value), count, it.value };
    qsort(items, count, sizeof *items, compare_items);
    found = find_equal_items(c, items, count, pair);
    free(items);
    return found;
}

static struct outcome check_unique_items(const struct frame *f,
                                         const struct json_schema_rule *rule)
{
    size_t pair[2];
    struct buf *b;

    if (json_type(f->value) != JSON_ARRAY || json_type(rule->value) == JSON_FALSE ||
        json_count(f->value) < 2)
        return fits;
    if (json_type(rule->value) != JSON_TRUE)
        return undecided(KEYWORD_UNIQUE_ITEMS);
    spend_bytes(f->c, json_raw(f->value).len);
    spend(f->c, json_count(f->value));
    if (has_ended(f->c) || !has_equal_items(f->c, f->value, pair))
        return fits;
    b = begin_message(f);
    if (!b)
        return fails;
    buf_printf(b, "has equal elements [%zu] and [%zu]", pair[0], pair[1]);
    return end_message(f, rule);
}

/* The first elements, each with a schema of its own. */
static struct outcome check_prefix(const struct frame *f, const struct json_schema_rule *rule)
{
    struct json_iter schema = json_each(rule->value), it = json_each(f->value);
    struct outcome all = fits;

    for (size_t i = 0; json_next(&schema) && json_next(&it); i++)
        join(&all, evaluate_item(f, i, schema.value, it.value, rule->keyword));
    return all;
}

static struct outcome check_rest(const struct frame *f, const struct json_schema_rule *rule,
                                 size_t from)
{
    struct json_iter it = json_each(f->value);
    struct outcome all = fits;

    for (size_t i = 0; json_next(&it) && !has_ended(f->c); i++)
        if (i >= from)
            join(&all, evaluate_item(f, i, rule->value, it.value, rule->keyword));
    return all;
}

static struct outcome check_prefix_items(const struct frame *f,
                                         const struct json_schema_rule *rule)
{
    if (json_type(f->value) != JSON_ARRAY)
        return fits;
    return json_type(rule->value) == JSON_ARRAY ? check_prefix(f, rule)
                                                : undecided(KEYWORD_PREFIX_ITEMS);
}

static struct outcome check_items(const struct frame *f, const struct json_schema_rule *rule)
{
    const struct json_schema_rule *prefix = json_schema_rule(f->node, KEYWORD_PREFIX_ITEMS),
                                  *rest = json_schema_rule(f->node, KEYWORD_ADDITIONAL_ITEMS);
    struct outcome all;

    if (json_type(f->value) != JSON_ARRAY)
        return fits;
    if (json_type(rule->value) != JSON_ARRAY)
        return check_rest(f, rule, prefix ? json_count(prefix->value) : 0);
    all = check_prefix(f, rule);
    if (rest)
        join(&all, check_rest(f, rest, json_count(rule->value)));
    return all;
}

/* Parses minContains or maxContains; without the keyword `*limit` stays. */
static bool parse_contains_limit(const struct frame *f, enum json_keyword k, int64_t *limit)
{
    const struct json_schema_rule *rule = json_schema_rule(f->node, k);

    return !rule || json_int(rule->value, limit);
}

/* Counts the elements that fit; `*undecided_count` those that may. */
static int64_t count_fitting(const struct frame *f, const struct json_schema_rule *rule,
                             int64_t *undecided_count, uint64_t *unchecked)
{
    struct json_iter it = json_each(f->value);
    int64_t count = 0;

    while (json_next(&it)) {
        struct outcome o = evaluate(f->c, rule->value, it.value, false, rule->keyword);
        count += o.fit == FITS;
        *undecided_count += o.fit == UNDECIDED;
        *unchecked |= o.fit == UNDECIDED ? o.unchecked : 0;
    }
    return count;
}

static struct outcome check_contains(const struct frame *f, const struct json_schema_rule *rule)
{
    int64_t least = 1, most = INT64_MAX, count, maybe = 0;
    uint64_t unchecked = 0;
    struct buf *b;

    if (json_type(f->value) != JSON_ARRAY)
        return fits;
    if (!parse_contains_limit(f, KEYWORD_MIN_CONTAINS, &least))
        return undecided(KEYWORD_MIN_CONTAINS);
    if (!parse_contains_limit(f, KEYWORD_MAX_CONTAINS, &most))
        return undecided(KEYWORD_MAX_CONTAINS);
    count = count_fitting(f, rule, &maybe, &unchecked);
    if (count >= least && count + maybe <= most)
        return fits;
    if (count <= most && count + maybe >= least)
        return (struct outcome){ UNDECIDED, unchecked };
    b = begin_message(f);
    if (!b)
        return fails;
    add_count(b, count > most ? "at most" : "at least", count > most ? most : least, "element");
    buf_add(b, STR(" matching the schema of contains"));
    return end_message(f, rule);
}

/* Objects */

static struct outcome check_member_count(const struct frame *f,
                                         const struct json_schema_rule *rule)
{
    if (json_type(f->value) != JSON_OBJECT)
        return fits;
    return check_size(f, rule, KEYWORD_MIN_PROPERTIES, count_members(f->c, f->value), "member");
}

static struct outcome fail_missing(const struct frame *f, const struct json_schema_rule *rule,
                                   struct str name, struct str because)
{
    struct buf *b = begin_message(f);

    if (!b)
        return fails;
    buf_add(b, STR("is missing"));
    if (because.len)
        buf_printf(b, ": it is required beside '%.*s'", STR_ARG(because));
    push_step(f->c, (struct json_step){ .name = name });
    report_violation(f->c, JSON_VAL_NONE, rule->keyword, rule->value);
    f->c->depth--;
    return fails;
}

/* `names` is an array; `because` the member that requires them, or empty. */
static struct outcome require_members(const struct frame *f,
                                      const struct json_schema_rule *rule,
                                      struct json_val names, struct str because)
{
    struct json_iter it = json_each(names);
    struct outcome all = fits;

    while (json_next(&it) && !has_ended(f->c)) {
        struct str name = name_of(f->c, it.value);
        if (json_type(it.value) != JSON_STRING)
            join(&all, undecided(rule->keyword));
        else if (!json_exists(find_member(f->c, f->value, name)))
            join(&all, fail_missing(f, rule, name, because));
    }
    return all;
}

static struct outcome check_required(const struct frame *f, const struct json_schema_rule *rule)
{
    if (json_type(f->value) != JSON_OBJECT)
        return fits;
    if (json_type(rule->value) != JSON_ARRAY)
        return undecided(KEYWORD_REQUIRED);
    return require_members(f, rule, rule->value, STR_NONE);
}

/* dependentRequired, dependentSchemas, and dependencies, which has both forms. */
static struct outcome check_dependent(const struct frame *f,
                                      const struct json_schema_rule *rule)
{
    struct members m = each_member(rule->value);
    struct outcome all = fits;

    if (json_type(f->value) != JSON_OBJECT)
        return fits;
    if (json_type(rule->value) != JSON_OBJECT)
        return undecided(rule->keyword);
    while (next_member(f->c, &m) && !has_ended(f->c)) {
        bool is_array = json_type(m.it.value) == JSON_ARRAY;
        if (!json_exists(find_member(f->c, f->value, m.name)))
            continue;
        if (is_array && rule->keyword != KEYWORD_DEPENDENT_SCHEMAS)
            join(&all, require_members(f, rule, m.it.value, m.name));
        else if (!is_array && rule->keyword != KEYWORD_DEPENDENT_REQUIRED)
            join(&all, evaluate(f->c, m.it.value, f->value, f->report, rule->keyword));
        else
            join(&all, undecided(rule->keyword));
    }
    return all;
}

static struct outcome check_property_names(const struct frame *f,
                                           const struct json_schema_rule *rule)
{
    struct members m = each_member(f->value);
    struct outcome all = fits;

    if (json_type(f->value) != JSON_OBJECT)
        return fits;
    while (next_member(f->c, &m) && !has_ended(f->c)) {
        struct outcome o = evaluate(f->c, rule->value, m.it.key, false, rule->keyword);
        struct frame member = { f->c, f->node, m.it.value, f->report };
        join(&all, o);
        if (o.fit != FAILS)
            continue;
        push_step(f->c, (struct json_step){ .name = m.name });
        fail_with(&member, rule, "has a name that does not match the schema of propertyNames");
        f->c->depth--;
    }
    return all;
}

static struct outcome check_properties(const struct frame *f,
                                       const struct json_schema_rule *rule)
{
    struct members m = each_member(rule->value);
    struct outcome all = fits;

    if (json_type(f->value) != JSON_OBJECT)
        return fits;
    if (json_type(rule->value) != JSON_OBJECT)
        return undecided(KEYWORD_PROPERTIES);
    while (next_member(f->c, &m) && !has_ended(f->c)) {
        struct json_val value = find_member(f->c, f->value, m.name);
        if (json_exists(value))
            join(&all, evaluate_member(f, m.name, m.it.value, value, rule->keyword));
    }
    return all;
}

/* Applies a schema to a member if a pattern matches its name. */
static struct outcome check_matched(const struct frame *f, struct str name,
                                    struct json_val value, struct outcome matched,
                                    struct json_val schema, enum json_keyword by)
{
    struct frame member = { f->c, f->node, value, f->report };
    struct outcome o;

    push_step(f->c, (struct json_step){ .name = name });
    o = if_fits(matched, &member, schema, by);
    f->c->depth--;
    return o;
}

static struct outcome check_pattern_properties(const struct frame *f,
                                               const struct json_schema_rule *rule)
{
    struct members m = each_member(f->value);
    struct outcome all = fits;

    if (json_type(f->value) != JSON_OBJECT)
        return fits;
    if (json_type(rule->value) != JSON_OBJECT)
        return undecided(KEYWORD_PATTERN_PROPERTIES);
    while (next_member(f->c, &m) && !has_ended(f->c)) {
        struct json_iter it = json_each(rule->value);
        while (json_next(&it))
            join(&all, check_matched(f, m.name, m.it.value,
                                     match_pattern(f->c, it.key, m.name, rule->keyword),
                                     it.value, rule->keyword));
    }
    return all;
}

/* Returns whether a member is an additional one: neither named nor matched by a pattern. */
static struct outcome is_additional(const struct frame *f, struct str name)
{
    const struct json_schema_rule *named = json_schema_rule(f->node, KEYWORD_PROPERTIES),
                                  *matched =
                                      json_schema_rule(f->node, KEYWORD_PATTERN_PROPERTIES);
    struct json_iter it = json_each(matched ? matched->value : JSON_VAL_NONE);
    struct outcome additional = fits;

    if (named && json_exists(find_member(f->c, named->value, name)))
        return fails;
    while (json_next(&it)) {
        struct outcome o = match_pattern(f->c, it.key, name, KEYWORD_PATTERN_PROPERTIES);
        if (o.fit == FITS)
            return fails;
        if (o.fit == UNDECIDED)
            join(&additional, o);
    }
    return additional;
}

static struct outcome check_additional_properties(const struct frame *f,
                                                  const struct json_schema_rule *rule)
{
    struct members m = each_member(f->value);
    struct outcome all = fits;

    if (json_type(f->value) != JSON_OBJECT || json_type(rule->value) == JSON_TRUE)
        return fits;
    while (next_member(f->c, &m) && !has_ended(f->c))
        join(&all, check_matched(f, m.name, m.it.value, is_additional(f, m.name), rule->value,
                                 rule->keyword));
    return all;
}

static struct outcome check_unevaluated(const struct frame *f,
                                        const struct json_schema_rule *rule)
{
    enum json_type type = rule->keyword == KEYWORD_UNEVALUATED_ITEMS ? JSON_ARRAY : JSON_OBJECT;

    return json_type(f->value) == type && json_count(f->value) &&
                   json_type(rule->value) != JSON_TRUE
               ? undecided(rule->keyword)
               : fits;
}

/* Combinations */

static struct outcome check_all_of(const struct frame *f, const struct json_schema_rule *rule)
{
    struct json_iter it = json_each(rule->value);
    struct outcome all = fits;

    if (json_type(rule->value) != JSON_ARRAY)
        return undecided(KEYWORD_ALL_OF);
    while (json_next(&it) && !has_ended(f->c))
        join(&all, evaluate(f->c, it.value, f->value, f->report, rule->keyword));
    return all;
}

/* Sets `*mask` to the types that a schema or the schema it refers to accepts; false if it has
 * no `type`. */
static bool types_of_schema(struct checker *c, struct json_val schema, unsigned *mask)
{
    for (int i = 0; i < MAX_REFS && json_type(schema) == JSON_OBJECT; i++) {
        const struct json_schema_node *node = json_schema_rules_of(&c->schema->rules, schema);
        const struct json_schema_rule *type = json_schema_rule(node, KEYWORD_TYPE);
        if (type)
            return json_schema_types_parse(type->value, mask);
        type = json_schema_rule(node, KEYWORD_REF);
        schema = type ? type->target : JSON_VAL_NONE;
    }
    return false;
}

/* Returns whether a member of the value differs from the constant that the schema has for it:
 * {"kind":{"const":"a"}} marks an alternative. */
static bool differs_in_constant(const struct frame *f, struct json_val schema)
{
    struct json_val ref = json_get(schema, STR("$ref"));
    struct json_iter it;

    if (json_exists(ref)) {
        const struct json_schema_rule *rule =
            json_schema_rule(json_schema_rules_of(&f->c->schema->rules, schema), KEYWORD_REF);
        schema = rule ? rule->target : JSON_VAL_NONE;
    }
    it = json_each(json_get(schema, STR("properties")));
    while (json_next(&it)) {
        struct json_val want = json_get(it.value, STR("const"));
        struct json_val value = json_exists(want)
                                    ? find_member(f->c, f->value, name_of(f->c, it.key))
                                    : JSON_VAL_NONE;
        spend(f->c, 1);
        if (json_exists(value) && !are_equal(f->c, value, want))
            return true;
    }
    return false;
}

/* Why a value fits none of the alternatives: if only one has its type, and its constants, the
 * violations of that one. */
static struct outcome explain(const struct frame *f, const struct json_schema_rule *rule)
{
    struct json_iter it = json_each(rule->value);
    struct json_val likely = JSON_VAL_NONE;
    unsigned mask, wanted = 0;
    size_t likely_count = 0;
    bool typed = json_count(rule->value) > 0;
    struct buf *b;

    while (json_next(&it)) {
        bool has_type = types_of_schema(f->c, it.value, &mask);
        typed = typed && has_type;
        wanted |= has_type ? mask : 0;
        if ((has_type && !(mask & json_schema_types_of(f->value))) ||
            json_type(it.value) == JSON_FALSE || differs_in_constant(f, it.value))
            continue;
        likely = it.value;
        likely_count++;
    }
    if (likely_count == 1)
        return evaluate(f->c, likely, f->value, true, rule->keyword);
    b = begin_message(f);
    if (!b)
        return fails;
    if (typed && wanted && !(wanted & json_schema_types_of(f->value)))
        json_schema_types_write(wanted, b);
    else
        buf_printf(b, "matches none of the %zu schemas of %.*s", json_count(rule->value),
                   STR_ARG(json_keyword_name(rule->keyword)));
    return end_message(f, rule);
}

static struct outcome fail_alternatives(const struct frame *f,
                                        const struct json_schema_rule *rule)
{
    return begin_message(f) ? explain(f, rule) : fails;
}

static struct outcome check_any_of(const struct frame *f, const struct json_schema_rule *rule)
{
    struct json_iter it = json_each(rule->value);
    struct outcome best = fails;

    if (json_type(rule->value) != JSON_ARRAY)
        return undecided(KEYWORD_ANY_OF);
    while (json_next(&it)) {
        struct outcome o = test(f, it.value, rule->keyword);
        if (o.fit == FITS)
            return fits;
        if (o.fit == UNDECIDED) {
            best.fit = UNDECIDED;
            best.unchecked |= o.unchecked;
        }
    }
    return best.fit == FAILS ? fail_alternatives(f, rule) : best;
}

static struct outcome check_one_of(const struct frame *f, const struct json_schema_rule *rule)
{
    struct json_iter it = json_each(rule->value);
    struct outcome maybe = fits;
    size_t count = 0;
    struct buf *b;

    if (json_type(rule->value) != JSON_ARRAY)
        return undecided(KEYWORD_ONE_OF);
    while (json_next(&it)) {
        struct outcome o = test(f, it.value, rule->keyword);
        count += o.fit == FITS;
        if (o.fit == UNDECIDED)
            join(&maybe, o);
    }
    if (count < 2 && maybe.fit == UNDECIDED)
        return maybe;
    if (count == 1)
        return fits;
    if (!count)
        return fail_alternatives(f, rule);
    b = begin_message(f);
    if (!b)
        return fails;
    buf_printf(b, "matches %zu schemas of oneOf, not exactly one", count);
    return end_message(f, rule);
}

static struct outcome check_not(const struct frame *f, const struct json_schema_rule *rule)
{
    struct outcome o = test(f, rule->value, rule->keyword);

    if (o.fit == FITS)
        return fail_with(f, rule, "must not match the schema of not");
    return o.fit == FAILS ? fits : o;
}

static struct outcome check_if(const struct frame *f, const struct json_schema_rule *rule)
{
    const struct json_schema_rule *then = json_schema_rule(f->node, KEYWORD_THEN),
                                  *otherwise = json_schema_rule(f->node, KEYWORD_ELSE);
    struct outcome condition = test(f, rule->value, rule->keyword), all;

    all = if_fits(condition, f, then ? then->value : JSON_VAL_NONE, KEYWORD_THEN);
    if (condition.fit != UNDECIDED)
        condition.fit = condition.fit == FITS ? FAILS : FITS;
    join(&all,
         if_fits(condition, f, otherwise ? otherwise->value : JSON_VAL_NONE, KEYWORD_ELSE));
    return all;
}

static struct outcome (*const checks[KEYWORD_COUNT])(const struct frame *f,
                                                     const struct json_schema_rule *rule) = {
    [KEYWORD_TYPE] = check_type,
    [KEYWORD_CONST] = check_const,
    [KEYWORD_ENUM] = check_enum,
    [KEYWORD_REF] = check_ref,
    [KEYWORD_DYNAMIC_REF] = check_nothing,
    [KEYWORD_RECURSIVE_REF] = check_nothing,
    [KEYWORD_MINIMUM] = check_limit,
    [KEYWORD_MAXIMUM] = check_limit,
    [KEYWORD_EXCLUSIVE_MINIMUM] = check_limit,
    [KEYWORD_EXCLUSIVE_MAXIMUM] = check_limit,
    [KEYWORD_MULTIPLE_OF] = check_multiple_of,
    [KEYWORD_MIN_LENGTH] = check_length,
    [KEYWORD_MAX_LENGTH] = check_length,
    [KEYWORD_PATTERN] = check_pattern,
    [KEYWORD_FORMAT] = check_format,
    [KEYWORD_MIN_ITEMS] = check_item_count,
    [KEYWORD_MAX_ITEMS] = check_item_count,
    [KEYWORD_UNIQUE_ITEMS] = check_unique_items,
    [KEYWORD_PREFIX_ITEMS] = check_prefix_items,
    [KEYWORD_ITEMS] = check_items,
    [KEYWORD_CONTAINS] = check_contains,
    [KEYWORD_UNEVALUATED_ITEMS] = check_unevaluated,
    [KEYWORD_MIN_PROPERTIES] = check_member_count,
    [KEYWORD_MAX_PROPERTIES] = check_member_count,
    [KEYWORD_REQUIRED] = check_required,
    [KEYWORD_DEPENDENT_REQUIRED] = check_dependent,
    [KEYWORD_DEPENDENT_SCHEMAS] = check_dependent,
    [KEYWORD_DEPENDENCIES] = check_dependent,
    [KEYWORD_PROPERTY_NAMES] = check_property_names,
    [KEYWORD_PROPERTIES] = check_properties,
    [KEYWORD_PATTERN_PROPERTIES] = check_pattern_properties,
    [KEYWORD_ADDITIONAL_PROPERTIES] = check_additional_properties,
    [KEYWORD_UNEVALUATED_PROPERTIES] = check_unevaluated,
    [KEYWORD_ALL_OF] = check_all_of,
    [KEYWORD_ANY_OF] = check_any_of,
    [KEYWORD_ONE_OF] = check_one_of,
    [KEYWORD_NOT] = check_not,
    [KEYWORD_IF] = check_if,
    /* The others are read by the keyword that they stand beside. */
};

static struct outcome evaluate_rules(const struct frame *f)
{
    struct outcome all = fits;

    spend(f->c, 1 + f->node->count);
    for (size_t i = 0; i < f->node->count; i++) {
        const struct json_schema_rule *rule = &f->node->rules[i];
        if (has_ended(f->c))
            return ended;
        if (checks[rule->keyword])
            join(&all, checks[rule->keyword](f, rule));
        if (all.fit == FAILS && !f->report)
            return fails;
    }
    return all;
}

/* A schema that is no object: `true`, `false`, or none at all. */
static struct outcome evaluate_plain(struct checker *c, struct json_val schema,
                                     struct json_val value, bool report, enum json_keyword by)
{
    const struct json_schema_rule rule = { by, schema, JSON_VAL_NONE };
    const struct frame f = { c, NULL, value, report };

    if (json_type(schema) == JSON_TRUE)
        return fits;
    if (json_type(schema) == JSON_FALSE)
        return fail_with(&f, &rule, "is not allowed");
    return undecided(KEYWORD_NONE);
}

static struct outcome evaluate(struct checker *c, struct json_val schema, struct json_val value,
                               bool report, enum json_keyword by)
{
    struct json_schema_rules *rules = &c->schema->rules;
    struct frame f = { c, NULL, value, report };
    struct outcome o;

    if (json_type(schema) != JSON_OBJECT)
        return evaluate_plain(c, schema, value, report, by);
    if (c->nesting == MAX_NESTING)
        c->too_complex = true;
    spend(c, rules->work);
    rules->work = 0;
    if (has_ended(c))
        return ended;
    f.node = json_schema_rules_of(rules, schema);
    c->nesting++;
    o = evaluate_rules(&f);
    c->nesting--;
    return o;
}

struct json_schema *json_schema_new(struct json_val schema)
{
    struct json_schema *s = mem_new(struct json_schema);

    s->root = schema;
    json_schema_rules_init(&s->rules, schema);
    json_object_cache_init(&s->objects);
    return s;
}

void json_schema_free(struct json_schema *s)
{
    if (!s)
        return;
    json_schema_rules_release(&s->rules);
    json_object_cache_release(&s->objects);
    free(s);
}

static struct outcome check_root(struct checker *c, struct json_val value)
{
    const struct json_schema_rule rule = { KEYWORD_NONE, c->schema->root, JSON_VAL_NONE };
    const struct frame f = { c, NULL, value, true };

    if (!json_exists(c->schema->root))
        return fits;
    if (!json_exists(value))
        return fail_with(&f, &rule, "is missing");
    return evaluate(c, c->schema->root, value, true, KEYWORD_NONE);
}

struct json_schema_result
json_schema_check(struct json_schema *s, struct json_val value,
                  bool (*found)(void *arg, const struct json_schema_violation *v), void *arg)
{
    struct json_schema_result result = { JSON_SCHEMA_VALID, 0 };
    struct checker c = { .schema = s, .found = found, .arg = arg, .work = WORK_BASE };
    struct outcome o;

    if (json_exists(value))
        c.work += (uint64_t)WORK_PER_VALUE * value.doc->nodes[value.node].size;
    json_object_cache_init(&c.objects);
    buf_init(&c.message, MESSAGE_MAX);
    o = check_root(&c, value);
    result.unchecked = c.too_complex ? TOO_COMPLEX : o.unchecked;
    if (c.violated || (o.fit == FAILS && !c.too_complex))
        result.verdict = JSON_SCHEMA_INVALID;
    else if (c.too_complex)
        result.verdict = JSON_SCHEMA_TOO_COMPLEX;
    else if (o.fit == UNDECIDED)
        result.verdict = JSON_SCHEMA_PARTIAL;
    json_object_cache_release(&c.objects);
    arena_release(&c.names);
    buf_release(&c.message);
    free(c.steps);
    return result;
}

void json_schema_write_unchecked(const struct json_schema_result *result, struct buf *to)
{
    bool first = true;

    if (result->unchecked & TOO_COMPLEX) {
        buf_add(to, STR("schema too complex"));
        return;
    }
    for (enum json_keyword k = 0; k < KEYWORD_COUNT; k++) {
        if (!(result->unchecked >> k & 1))
            continue;
        buf_add(to, first ? STR("not checked: ") : STR(", "));
        buf_add(to, json_keyword_name(k));
        first = false;
    }
}

void json_schema_write_rule(const struct json_schema *s, const struct json_schema_violation *v,
                            struct buf *to)
{
    json_location_write_inside(s->root, v->rule, to);
}
