#include "cmd/option-value.h"

#include <inttypes.h>
#include <strings.h>

#include "base/buf.h"
#include "base/suggest.h"
#include "base/units.h"

static bool set_flag(void *field, const char *text, struct err *e)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = { { "1", true },  { "true", true },   { "yes", true }, { "on", true },
                  { "0", false }, { "false", false }, { "no", false }, { "off", false } };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(words[i].word, text) == 0) {
            *(bool *)field = words[i].value;
            return true;
        }
    return err_set(e, ERR_USAGE, "'%s' is neither true nor false", text);
}

static bool set_count(void *field, const char *text, struct err *e)
{
    int64_t n;

    if (!str_parse_i64(str_z(text), &n) || n < 0 || n > 9)
        return err_set(e, ERR_USAGE, "'%s' is not a number from 0 to 9", text);
    *(int *)field = (int)n;
    return true;
}

static bool set_int(const struct option *o, void *field, const char *text, struct err *e)
{
    bool any = !o->min && !o->max;
    int64_t n;

    if (!str_parse_i64(str_z(text), &n))
        return err_set(e, ERR_USAGE, "'%s' is not a whole number", text);
    if (!any && (n < o->min || n > o->max))
        return err_set(e, ERR_USAGE, "'%s' is not from %" PRId64 " to %" PRId64, text, o->min,
                       o->max);
    *(int64_t *)field = n;
    return true;
}

static bool set_size(void *field, const char *text, struct err *e)
{
    if (!units_parse_bytes(str_z(text), field))
        return err_set(e, ERR_USAGE, "'%s' is not a size such as 4096, 64MB or 1GiB", text);
    return true;
}

static bool set_duration(void *field, const char *text, struct err *e)
{
    if (!units_parse_duration(str_z(text), field))
        return err_set(e, ERR_USAGE, "'%s' is not a time such as 500ms, 1s or 5min", text);
    return true;
}

static bool reject_choice(const struct option_choice *choices, const char *text, struct err *e)
{
    struct suggest near = suggest_for(str_z(text));
    struct buf list;

    buf_init(&list, sizeof e->msg);
    for (const struct option_choice *c = choices; c->name; c++) {
        suggest_try(&near, c->name);
        if (!c->is_alias)
            buf_printf(&list, "%s%s", list.len ? ", " : "", c->name);
    }
    err_set(e, ERR_USAGE, "'%s' is not one of %s", text, buf_z(&list));
    buf_release(&list);
    if (near.best)
        err_hint(e, "did you mean '%s'?", near.best);
    return false;
}

bool option_value_choose(const struct option_choice *choices, const char *text, int *value,
                         struct err *e)
{
    for (const struct option_choice *c = choices; c->name; c++)
        if (strcmp(c->name, text) == 0) {
            *value = c->value;
            return true;
        }
    return reject_choice(choices, text, e);
}

static void list_add(struct str_list *list, const char *text, struct arena *arena)
{
    const char **grown = arena_alloc(arena, (list->count + 1) * sizeof *grown);

    if (list->count)
        memcpy(grown, list->at, list->count * sizeof *grown);
    grown[list->count++] = text;
    list->at = grown;
}

static bool set_list(const struct option *o, void *field, const char *text, struct arena *arena)
{
    struct str rest = str_z(text);
    bool more = true;

    if (!o->split) {
        list_add(field, text, arena);
        return true;
    }
    while (more) {
        struct str item;

        more = rest.len && memchr(rest.at, ',', rest.len);
        item = str_trim(str_cut(&rest, ','));
        if (item.len || o->keep_empty)
            list_add(field, arena_z(arena, item), arena);
    }
    return true;
}

bool option_value_set(const struct option *o, void *field, const char *text,
                      struct arena *arena, struct err *e)
{
    switch (o->type) {
    case OPTION_END:
        break;
    case OPTION_FLAG:
        return set_flag(field, text, e);
    case OPTION_COUNT:
        return set_count(field, text, e);
    case OPTION_PATH:
        if (!*text)
            return err_set(e, ERR_USAGE, "the name of a file cannot be empty");
        *(const char **)field = text;
        return true;
    case OPTION_STRING:
        *(const char **)field = text;
        return true;
    case OPTION_CHOICE:
        return option_value_choose(o->choices, text, field, e);
    case OPTION_INT:
        return set_int(o, field, text, e);
    case OPTION_SIZE:
        return set_size(field, text, e);
    case OPTION_DURATION:
        return set_duration(field, text, e);
    case OPTION_LIST:
        return set_list(o, field, text, arena);
    case OPTION_CUSTOM:
        return o->parse(field, text, e);
    }
    BUG("an option row without a type");
}

void option_value_clear(const struct option *o, void *field)
{
    if (o->type == OPTION_LIST)
        *(struct str_list *)field = (struct str_list){ 0 };
}

void option_value_preset(const struct option *o, void *field, struct arena *arena)
{
    struct err e = ERR_NONE;

    if (o->type == OPTION_CHOICE)
        *(int *)field = -1;
    if (o->preset && !option_value_set(o, field, o->preset, arena, &e))
        BUG("an option rejects its own preset");
}
