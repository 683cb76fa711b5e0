#include "cmd/server-env.h"

#include "redact/secret-args.h"
#include "redact/secret-rules.h"

static struct str name_of(const char *pair)
{
    struct str text = str_z(pair);

    return str_n(text.at, str_find(text, '='));
}

/* Returns whether a pair from index `from` on has the same name. */
static bool is_given(const struct str_list *pairs, size_t from, struct str name)
{
    for (size_t i = from; i < pairs->count; i++)
        if (str_eq(name_of(pairs->at[i]), name))
            return true;
    return false;
}

static void split_secrets(struct server_env *s, const struct str_list *pairs)
{
    size_t count = 0;

    s->non_secret = arena_alloc(&s->arena, (pairs->count + 1) * sizeof *s->non_secret);
    for (size_t i = 0; i < pairs->count; i++) {
        struct str pair = str_z(pairs->at[i]), name = name_of(pairs->at[i]);
        struct str value = str_skip(pair, name.len + 1);
        struct unescape_span span;

        if (secret_args_find_in_word(pair, 0, &span) || secret_rules_looks_random(value))
            headers_add(&s->secrets, name, value);
        else
            s->non_secret[count++] = (char *)(uintptr_t)pairs->at[i];
    }
    s->non_secret[count] = NULL;
}

static void merge_env(struct server_env *s, char *const *ours, const struct str_list *pairs)
{
    size_t count = 0, room = pairs->count + 1;

    while (ours[count])
        count++;
    s->env = arena_alloc(&s->arena, (count + room) * sizeof *s->env);
    count = 0;
    for (; *ours; ours++)
        if (!is_given(pairs, 0, name_of(*ours)))
            s->env[count++] = *ours;
    for (size_t i = 0; i < pairs->count; i++)
        if (!is_given(pairs, i + 1, name_of(pairs->at[i])))
            s->env[count++] = (char *)(uintptr_t)pairs->at[i];
    s->env[count] = NULL;
}

bool server_env_read(struct server_env *s, const struct app *app, const struct str_list *pairs,
                     struct err *e)
{
    *s = (struct server_env){ .env = NULL };
    for (size_t i = 0; i < pairs->count; i++) {
        struct str name = name_of(pairs->at[i]);

        if (name.len && name.len < strlen(pairs->at[i]))
            continue;
        err_set(e, ERR_USAGE, "'--target-env' needs a name and a value");
        return err_hint(e, "write it as --target-env NAME=VALUE");
    }
    split_secrets(s, pairs);
    if (pairs->count)
        merge_env(s, app->env, pairs);
    return true;
}

void server_env_release(struct server_env *s)
{
    headers_release(&s->secrets);
    arena_release(&s->arena);
}

char *const *server_env_words(const struct server_env *s, char *const *argv, const char *url,
                              struct arena *a)
{
    char *const at_url[] = { (char *)(uintptr_t)url, NULL };
    char *const *const lists[] = { argv ? argv : at_url, s->non_secret };
    size_t count = 0, max = 1;
    char **words;

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; lists[i][k]; k++)
            max++;
    words = arena_alloc(a, max * sizeof *words);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; lists[i][k]; k++)
            words[count++] = lists[i][k];
    return words;
}
