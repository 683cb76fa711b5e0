#include "yaml/yaml-json.h"

#include "json/write.h"

/* The depth of recursion is that of the tree: YAML_TREE_DEPTH_MAX at most. */
static bool write_value(struct buf *to, const struct yaml_tree *t, const struct yaml_value *v,
                        struct err *e);

static bool write_list(struct buf *to, const struct yaml_tree *t, const struct yaml_value *v,
                       struct err *e)
{
    buf_add_ch(to, '[');
    for (size_t i = 0; i < v->count; i++) {
        if (i)
            buf_add_ch(to, ',');
        if (!write_value(to, t, v->items[i], e))
            return false;
    }
    buf_add_ch(to, ']');
    return true;
}

static bool write_map(struct buf *to, const struct yaml_tree *t, const struct yaml_value *v,
                      struct err *e)
{
    buf_add_ch(to, '{');
    for (size_t i = 0; i < v->count; i++) {
        if (i)
            buf_add_ch(to, ',');
        json_write_str(to, v->members[i].key->text);
        buf_add_ch(to, ':');
        if (!write_value(to, t, v->members[i].value, e))
            return false;
    }
    buf_add_ch(to, '}');
    return true;
}

static bool write_value(struct buf *to, const struct yaml_tree *t, const struct yaml_value *v,
                        struct err *e)
{
    const char *why;

    if (v->type == YAML_TYPE_LIST)
        return write_list(to, t, v, e);
    if (v->type == YAML_TYPE_MAP)
        return write_map(to, t, v, e);
    why = yaml_scalar_write_json(to, v->type, v->text);
    return !why || yaml_tree_error(t, v, ERR_INPUT, e, "'%.*s': %s", STR_ARG(v->text), why);
}

bool yaml_json_write(struct buf *to, const struct yaml_tree *t, const struct yaml_value *v,
                     struct err *e)
{
    return write_value(to, t, v, e) &&
           (buf_ok(to, e) || err_wrap(e, "%s:%u:%u", t->name, v->line, v->column));
}
