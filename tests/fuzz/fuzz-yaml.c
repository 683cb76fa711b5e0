#include "yaml/yaml-json.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JSON_TEXT_MAX = 64 << 20 };

static uint64_t count(const struct yaml_value *v, unsigned depth)
{
    uint64_t n = 1;

    BUG_IF(depth > YAML_TREE_DEPTH_MAX || !v->line || !v->column);
    for (size_t i = 0; i < v->count; i++) {
        bool list = v->type == YAML_TYPE_LIST;

        BUG_IF(!list && v->type != YAML_TYPE_MAP);
        n += !list + count(list ? v->items[i] : v->members[i].value, depth + 1);
        BUG_IF(!list && yaml_tree_get(v, v->members[i].key->text) != v->members[i].value);
    }
    return n;
}

static bool keep(void *arg, struct yaml_value *string, struct err *e)
{
    (void)arg;
    (void)e;
    BUG_IF(string->is_key);
    return true;
}

/* A text that is accepted has no more values than allowed, and its JSON is valid. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct yaml_tree t;
    struct buf text;
    struct json j;

    json_init(&j);
    buf_init(&text, JSON_TEXT_MAX);
    if (!yaml_tree_parse(&t, str_n((const char *)data, size), "f", &e)) {
        BUG_IF(e.kind != ERR_INPUT && e.kind != ERR_LIMIT);
    } else if (t.root) {
        BUG_IF(count(t.root, 1) > YAML_TREE_VALUES_MAX);
        BUG_IF(!yaml_tree_each_string(&t, keep, NULL, &e));
        if (yaml_json_write(&text, &t, t.root, &e))
            BUG_IF(!json_scan(&j, buf_str(&text), &fault));
        else
            BUG_IF(e.kind != ERR_INPUT && e.kind != ERR_LIMIT);
    }
    yaml_tree_release(&t);
    buf_release(&text);
    json_release(&j);
    return 0;
}
