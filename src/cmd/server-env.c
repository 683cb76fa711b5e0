#include "cmd/server-env.h"

#include "trace/secret-flag.h"
#include "trace/secrets.h"

static struct str name_of(const char *pair)
{
    struct str text = str_z(pair);

    return str_n(text.at, str_find(text, '='));
}

/* Whether one of the pairs from `from` on has that name, too. */
static bool is_given(const struct option_list *pairs, size_t from, struct str name)
{
    for (size_t i = from; i < pairs->count; i++)
        if (str_eq(name_of(pairs->at[i]), name))
            return true;
    return false;
}

static void sort_out(struct server_env *s, const struct option_list *pairs)
{
    size_t count = 0;

    s->plain = arena_alloc(&s->arena, (pairs->count + 1) * sizeof *s->plain);
    for (size_t i = 0; i < pairs->count; i++) {
        struct str pair = str_z(pairs->at[i]), name = name_of(pairs->at[i]);
        struct str value = str_skip(pair, name.len + 1);
        struct unravel_span span;

        if (secret_flag_part(pair, 0, &span) || secrets_is_made_up(value))
            fields_add(&s->secrets, name, value);
        else
            s->plain[count++] = (char *)(uintptr_t)pairs->at[i];
    }
    s->plain[count] = NULL;
}

static void merge(struct server_env *s, char *const *ours, const struct option_list *pairs)
{
    size_t count = 0, room = pairs->count + 1;

    while (ours[count])
        count++;
    s->all = arena_alloc(&s->arena, (count + room) * sizeof *s->all);
    count = 0;
    for (; *ours; ours++)
        if (!is_given(pairs, 0, name_of(*ours)))
            s->all[count++] = *ours;
    for (size_t i = 0; i < pairs->count; i++)
        if (!is_given(pairs, i + 1, name_of(pairs->at[i])))
            s->all[count++] = (char *)(uintptr_t)pairs->at[i];
    s->all[count] = NULL;
}

bool server_env_read(struct server_env *s, const struct app *app,
                     const struct option_list *pairs, struct err *e)
{
    *s = (struct server_env){ .all = NULL };
    for (size_t i = 0; i < pairs->count; i++) {
        struct str name = name_of(pairs->at[i]);

        if (name.len && name.len < strlen(pairs->at[i]))
            continue;
        err_set(e, ERR_USAGE, "'--target-env' needs a name and a value");
        return err_hint(e, "write it as --target-env NAME=VALUE");
    }
    sort_out(s, pairs);
    if (pairs->count)
        merge(s, app->env, pairs);
    return true;
}

void server_env_release(struct server_env *s)
{
    fields_release(&s->secrets);
    arena_release(&s->arena);
}
