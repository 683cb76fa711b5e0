#include "scenario/scenario-file.h"

#include "base/suggest.h"
#include "scenario/env-expand.h"
#include "wire/headers.h"
#include "wire/url.h"
#include "yaml/yaml-json.h"

enum { NAME_MAX_BYTES = 200, JSON_MAX = 16 << 20 };

/* Errors. */

static bool reject(const struct scenario_file *f, const struct yaml_value *at, struct err *e,
                   const char *what, const char *must_be)
{
    bool number =
        at->type == YAML_TYPE_INT || at->type == YAML_TYPE_FLOAT || at->type == YAML_TYPE_BOOL;

    yaml_tree_error(&f->tree, at, ERR_INPUT, e, "'%s' must be %s, not %s", what, must_be,
                    yaml_tree_type_name(at));
    if (number && str_eq(str_z(must_be), STR("text")))
        err_hint(e, "write it in quotes: \"%.*s\"", STR_ARG(at->text));
    return false;
}

/* Rejects a key that `known` does not have. */
static bool reject_key(const struct scenario_file *f, const struct yaml_value *key,
                       const char *const *known, const char *where, struct err *e)
{
    struct suggest near = suggest_for(key->text);
    struct buf names;

    buf_init(&names, sizeof e->hint);
    for (; *known; known++) {
        suggest_try(&near, *known);
        buf_printf(&names, "%s%s", names.len ? ", " : "", *known);
    }
    yaml_tree_error(&f->tree, key, ERR_INPUT, e, "%s has no key '%.*s'", where,
                    STR_ARG(key->text));
    if (near.best)
        err_hint(e, "did you mean '%s'?", near.best);
    else
        err_hint(e, "its keys: %s", buf_z(&names));
    buf_release(&names);
    return false;
}

static bool is_one_of(struct str word, const char *const *words)
{
    for (; *words; words++)
        if (str_eq(word, str_z(*words)))
            return true;
    return false;
}

/* Checks that a value is a map with no other keys than `known`. */
static bool check_map(const struct scenario_file *f, const struct yaml_value *v,
                      const char *const *known, const char *where, struct err *e)
{
    if (v->type != YAML_TYPE_MAP)
        return reject(f, v, e, where, "a map");
    for (size_t i = 0; i < v->count; i++)
        if (!is_one_of(v->members[i].key->text, known))
            return reject_key(f, v->members[i].key, known, where, e);
    return true;
}

/* Values. */

/* Reads a text without NUL bytes. */
static bool read_text(const struct scenario_file *f, const struct yaml_value *v,
                      const char *what, struct str *out, struct err *e)
{
    if (v->type != YAML_TYPE_STRING)
        return reject(f, v, e, what, "text");
    if (memchr(v->text.at ? v->text.at : "", 0, v->text.len))
        return yaml_tree_error(&f->tree, v, ERR_INPUT, e, "'%s' contains a NUL", what);
    *out = v->text;
    return true;
}

static bool read_z(struct scenario_file *f, const struct yaml_value *v, const char *what,
                   const char **out, struct err *e)
{
    struct str text;

    if (!read_text(f, v, what, &text, e))
        return false;
    *out = arena_z(&f->tree.arena, text);
    return true;
}

static bool read_bool(const struct scenario_file *f, const struct yaml_value *v,
                      const char *what, bool *out, struct err *e)
{
    if (v->type != YAML_TYPE_BOOL)
        return reject(f, v, e, what, "true or false");
    *out = yaml_scalar_is_true(v->text);
    return true;
}

static bool read_texts(struct scenario_file *f, const struct yaml_value *v, const char *what,
                       struct str_list *out, struct err *e)
{
    if (v->type != YAML_TYPE_LIST)
        return reject(f, v, e, what, "a list");
    out->at = arena_alloc(&f->tree.arena, (v->count + 1) * sizeof *out->at);
    for (size_t i = 0; i < v->count; i++)
        if (!read_z(f, v->items[i], what, &out->at[out->count++], e))
            return false;
    return true;
}

static bool read_json(struct scenario_file *f, const struct yaml_value *v, struct str *out,
                      struct err *e)
{
    struct buf b;
    bool ok;

    buf_init(&b, JSON_MAX);
    ok = yaml_json_write(&b, &f->tree, v, e);
    if (ok)
        *out = arena_str(&f->tree.arena, buf_str(&b));
    buf_release(&b);
    return ok;
}

/* Reads a map of texts as "NAME<separator>VALUE". */
static bool read_pairs(struct scenario_file *f, const struct yaml_value *v, const char *what,
                       const char *separator, struct str_list *out, struct err *e)
{
    struct str value = STR_NONE;

    if (v->type != YAML_TYPE_MAP)
        return reject(f, v, e, what, "a map");
    out->count = 0;
    out->at = arena_alloc(&f->tree.arena, (v->count + 1) * sizeof *out->at);
    for (size_t i = 0; i < v->count; i++) {
        struct str name = v->members[i].key->text;

        if (!read_text(f, v->members[i].value, arena_z(&f->tree.arena, name), &value, e))
            return false;
        if (!name.len || str_find(name, '=') < name.len || memchr(name.at, 0, name.len))
            return yaml_tree_error(&f->tree, v->members[i].key, ERR_INPUT, e,
                                   "'%s' has an invalid name", what);
        out->at[out->count++] =
            arena_printf(&f->tree.arena, "%.*s%s%.*s", STR_ARG(name), separator, STR_ARG(value))
                .at;
    }
    return true;
}

/* The top of the file. */

static bool check_version(const struct scenario_file *f, const struct yaml_value *v,
                          struct err *e)
{
    struct str rest, major;

    if (v->type != YAML_TYPE_STRING)
        return reject(f, v, e, "schema_version", "text");
    rest = v->text;
    major = str_cut(&rest, '.');
    if (str_eq(major, STR("1")))
        return true;
    yaml_tree_error(&f->tree, v, ERR_INPUT, e, "the schema_version '%.*s' is not supported",
                    STR_ARG(v->text));
    return err_hint(e, "this version of mcpreel reads 1.x");
}

static bool read_command(struct scenario_file *f, const struct yaml_value *v, struct err *e)
{
    static const char *const keys[] = { "command", "args", "env", "cwd", NULL };
    const struct yaml_value *command = yaml_tree_get(v, STR("command"));
    const struct yaml_value *args = yaml_tree_get(v, STR("args"));
    const struct yaml_value *env = yaml_tree_get(v, STR("env"));
    const struct yaml_value *cwd = yaml_tree_get(v, STR("cwd"));
    struct str_list words = { .count = 0 };
    const char *name;

    if (!check_map(f, v, keys, "target", e))
        return false;
    if (!command)
        return yaml_tree_error(&f->tree, v, ERR_INPUT, e, "'target' has no 'command'");
    if (!read_z(f, command, "command", &name, e) ||
        (args && !read_texts(f, args, "args", &words, e)) ||
        (env && !read_pairs(f, env, "env", "=", &f->env, e)) ||
        (cwd && cwd->type != YAML_TYPE_NULL && !read_z(f, cwd, "cwd", &f->cwd, e)))
        return false;
    if (!name[0])
        return yaml_tree_error(&f->tree, command, ERR_INPUT, e, "'command' is empty");
    f->argc = words.count + 1;
    f->argv = arena_alloc(&f->tree.arena, (f->argc + 1) * sizeof *f->argv);
    f->argv[0] = arena_z(&f->tree.arena, str_z(name));
    for (size_t i = 0; i < words.count; i++)
        f->argv[i + 1] = arena_z(&f->tree.arena, str_z(words.at[i]));
    return true;
}

static bool read_url(struct scenario_file *f, const struct yaml_value *v, struct err *e)
{
    struct err why = ERR_NONE;
    struct url url;

    if (!url_parse(&url, v->text, &why))
        return yaml_tree_error(&f->tree, v, ERR_INPUT, e, "'target': %s", why.msg);
    return read_z(f, v, "target", &f->url, e);
}

static bool read_target(struct scenario_file *f, const struct yaml_value *v, struct err *e)
{
    if (v->type == YAML_TYPE_MAP)
        return read_command(f, v, e);
    if (v->type == YAML_TYPE_STRING && str_contains(v->text, STR("://")))
        return read_url(f, v, e);
    yaml_tree_error(&f->tree, v, ERR_INPUT, e,
                    "'target' must be a URL or a map with 'command'%s%s",
                    v->type == YAML_TYPE_STRING ? "" : ", not ",
                    v->type == YAML_TYPE_STRING ? "" : yaml_tree_type_name(v));
    return err_hint(e, "write 'target: http://localhost:3000', or 'target: {command: node, "
                       "args: [server.js]}'");
}

/* Reads HTTP headers as "Name: value". The value may be a secret. */
static bool read_headers(struct scenario_file *f, const struct yaml_value *v,
                         struct str_list *out, struct err *e)
{
    if (!f->url)
        return yaml_tree_error(&f->tree, v, ERR_INPUT, e,
                               "'headers' go with a URL, not with a command");
    if (!read_pairs(f, v, "headers", ": ", out, e))
        return false;
    for (size_t i = 0; i < v->count; i++) {
        const struct yaml_member *m = &v->members[i];

        if (!headers_is_token(m->key->text))
            return yaml_tree_error(&f->tree, m->key, ERR_INPUT, e,
                                   "'%.*s' is not the name of an HTTP header",
                                   STR_ARG(m->key->text));
        if (!headers_is_value(m->value->text))
            return yaml_tree_error(&f->tree, m->value, ERR_INPUT, e,
                                   "the value of the header '%.*s' has a control character",
                                   STR_ARG(m->key->text));
    }
    return true;
}

static bool read_redact(struct scenario_file *f, const struct yaml_value *v, struct err *e)
{
    static const char *const keys[] = { "server_url", "env",      "patterns",
                                        "members",    "defaults", NULL };
    const struct yaml_value *url = yaml_tree_get(v, STR("server_url"));
    const struct yaml_value *env = yaml_tree_get(v, STR("env"));
    const struct yaml_value *patterns = yaml_tree_get(v, STR("patterns"));
    const struct yaml_value *members = yaml_tree_get(v, STR("members"));
    const struct yaml_value *defaults = yaml_tree_get(v, STR("defaults"));

    return check_map(f, v, keys, "redact", e) &&
           (!url || read_bool(f, url, "server_url", &f->redact_server_url, e)) &&
           (!env || read_texts(f, env, "env", &f->redact_env, e)) &&
           (!patterns || read_texts(f, patterns, "patterns", &f->redact_patterns, e)) &&
           (!members || read_texts(f, members, "members", &f->redact_members, e)) &&
           (!defaults || read_bool(f, defaults, "defaults", &f->redact_defaults, e));
}

/* Answers to server requests. */

static bool read_results(struct scenario_file *f, const struct yaml_value *v, const char *what,
                         struct str **out, size_t *count, struct err *e)
{
    bool list = v->type == YAML_TYPE_LIST;
    size_t n = list ? v->count : 1;

    if (list && !n)
        return yaml_tree_error(&f->tree, v, ERR_INPUT, e, "'%s' has no answer", what);
    *out = arena_alloc(&f->tree.arena, n * sizeof **out);
    for (size_t i = 0; i < n; i++) {
        const struct yaml_value *one = list ? v->items[i] : v;

        if (one->type != YAML_TYPE_MAP)
            return reject(f, one, e, what, "a map or a list of maps");
        if (!read_json(f, one, &(*out)[i], e))
            return false;
    }
    *count = n;
    return true;
}

static bool read_roots(struct scenario_file *f, const struct yaml_value *v, struct str *out,
                       struct err *e)
{
    if (v->type != YAML_TYPE_LIST)
        return reject(f, v, e, "roots", "a list");
    if (!read_json(f, v, out, e))
        return false;
    *out = arena_printf(&f->tree.arena, "{\"roots\":%.*s}", STR_ARG(*out));
    return true;
}

static bool read_answers(struct scenario_file *f, const struct yaml_value *v,
                         struct scenario_answers *out, struct err *e)
{
    static const char *const keys[] = { "sampling", "elicitation", "roots", NULL };
    const struct yaml_value *sampling = yaml_tree_get(v, STR("sampling"));
    const struct yaml_value *elicitation = yaml_tree_get(v, STR("elicitation"));
    const struct yaml_value *roots = yaml_tree_get(v, STR("roots"));

    return check_map(f, v, keys, "answers", e) &&
           (!sampling ||
            read_results(f, sampling, "sampling", &out->sampling, &out->sampling_count, e)) &&
           (!elicitation || read_results(f, elicitation, "elicitation", &out->elicitation,
                                         &out->elicitation_count, e)) &&
           (!roots || read_roots(f, roots, &out->roots, e));
}

/* Actions. */

static bool read_path(struct scenario_file *f, const struct yaml_value *at, struct str text,
                      const struct json_path **out, struct err *e)
{
    struct json_path *path = arena_new(&f->tree.arena, struct json_path);
    struct err why = ERR_NONE;

    *out = path;
    if (json_path_compile(path, text, &f->tree.arena, &why))
        return true;
    yaml_tree_error(&f->tree, at, ERR_INPUT, e, "%s", why.msg);
    return err_hint(e, "a path starts at the response: $.result.content[0].text");
}

static bool read_expect(struct scenario_file *f, const struct yaml_value *v,
                        struct scenario_expect *out, struct err *e)
{
    static const char *const keys[] = { "is_error", "$.path", NULL };

    if (v->type != YAML_TYPE_MAP)
        return reject(f, v, e, "expect", "a map");
    out->values = arena_alloc(&f->tree.arena, (v->count + 1) * sizeof *out->values);
    for (size_t i = 0; i < v->count; i++) {
        const struct yaml_value *key = v->members[i].key, *value = v->members[i].value;
        struct scenario_expect_value *x = &out->values[out->value_count];
        bool is_error;

        if (str_eq(key->text, STR("is_error"))) {
            if (!read_bool(f, value, "is_error", &is_error, e))
                return false;
            out->is_error = is_error ? EXPECT_AN_ERROR : EXPECT_NO_ERROR;
            out->is_error_line = key->line;
            continue;
        }
        if (!str_starts(key->text, STR("$")))
            return reject_key(f, key, keys, "expect", e);
        *x = (struct scenario_expect_value){ .path_text = key->text, .line = key->line };
        if (!read_path(f, key, key->text, &x->path, e) || !read_json(f, value, &x->json, e))
            return false;
        out->value_count++;
    }
    return true;
}

static bool read_save(struct scenario_file *f, const struct yaml_value *v,
                      struct scenario_expect *out, struct err *e)
{
    if (v->type != YAML_TYPE_MAP)
        return reject(f, v, e, "save", "a map");
    out->saves = arena_alloc(&f->tree.arena, (v->count + 1) * sizeof *out->saves);
    for (size_t i = 0; i < v->count; i++) {
        const struct yaml_value *key = v->members[i].key;
        struct scenario_expect_save *x = &out->saves[i];

        if (!scenario_values_is_name(key->text))
            return yaml_tree_error(&f->tree, key, ERR_INPUT, e,
                                   "'%.*s' is no name for a value: use letters, digits and '_'",
                                   STR_ARG(key->text));
        *x = (struct scenario_expect_save){ .name = key->text, .line = key->line };
        if (!read_text(f, v->members[i].value, "save", &x->path_text, e) ||
            !read_path(f, v->members[i].value, x->path_text, &x->path, e))
            return false;
        out->save_count++;
    }
    return true;
}

static bool read_pages(const struct scenario_file *f, const struct yaml_value *v, bool *out,
                       struct err *e)
{
    if (v->type != YAML_TYPE_STRING || !str_eq(v->text, STR("all")))
        return yaml_tree_error(&f->tree, v, ERR_INPUT, e, "'pages' can only be 'all'");
    *out = true;
    return true;
}

static bool check_action_key(const struct scenario_file *f, const struct yaml_value *v,
                             const struct scenario_action_key *key, struct err *e)
{
    struct str text;

    if (key->type == ACTION_KEY_TEXT)
        return read_text(f, v, key->name, &text, e);
    if (key->type == ACTION_KEY_MAP && v->type != YAML_TYPE_MAP)
        return reject(f, v, e, key->name, "a map");
    if (key->type == ACTION_KEY_ANY && v->type != YAML_TYPE_MAP && v->type != YAML_TYPE_LIST)
        return reject(f, v, e, key->name, "a map or a list");
    return true;
}

/* Appends the keys of an action as members of its params. */
static bool write_members(const struct scenario_file *f,
                          const struct scenario_action_kind *kind, const struct yaml_value *v,
                          struct buf *to, struct err *e)
{
    for (size_t i = 0; i < SCENARIO_ACTION_KEYS && kind->keys[i].name; i++) {
        const struct scenario_action_key *key = &kind->keys[i];
        const struct yaml_value *value = yaml_tree_get(v, str_z(key->name));
        bool dropped = key->preset == ACTION_KEY_DROPS_EMPTY && value && !value->count;

        if ((!value && key->preset != ACTION_KEY_EMPTY) || dropped)
            continue;
        buf_printf(to, "%s\"%s\":", to->len > 1 ? "," : "", key->name);
        if (!value)
            buf_add(to, STR("{}"));
        else if (!yaml_json_write(to, &f->tree, value, e))
            return false;
    }
    return true;
}

static bool compose_params(struct scenario_file *f, struct scenario_action *out,
                           const struct yaml_value *v, struct err *e)
{
    const struct yaml_value *params;
    struct buf b;
    bool ok;

    switch (out->kind->params) {
    case ACTION_PARAMS_EMPTY:
        out->params = STR("{}");
        return true;
    case ACTION_PARAMS_NONE:
        return true;
    case ACTION_PARAMS_RAW:
        params = yaml_tree_get(v, STR("params"));
        out->method = yaml_tree_get(v, STR("method"))->text;
        return !params || read_json(f, params, &out->params, e);
    case ACTION_PARAMS_MEMBERS:
        break;
    }
    buf_init(&b, JSON_MAX);
    buf_add_ch(&b, '{');
    ok = write_members(f, out->kind, v, &b, e) && buf_ok(&b, e);
    buf_add_ch(&b, '}');
    if (ok)
        out->params = arena_str(&f->tree.arena, buf_str(&b));
    buf_release(&b);
    return ok;
}

static bool check_action_keys(const struct scenario_file *f,
                              const struct scenario_action_kind *kind,
                              const struct yaml_value *v, struct err *e)
{
    const char *known[SCENARIO_ACTION_KEYS + 4] = { "expect", "save" };
    size_t count = 2;

    for (size_t i = 0; i < SCENARIO_ACTION_KEYS && kind->keys[i].name; i++)
        known[count++] = kind->keys[i].name;
    if (kind->list)
        known[count++] = "pages";
    if (!check_map(f, v, known, kind->name, e))
        return false;
    for (size_t i = 0; i < SCENARIO_ACTION_KEYS && kind->keys[i].name; i++) {
        const struct yaml_value *value = yaml_tree_get(v, str_z(kind->keys[i].name));

        if (!value && kind->keys[i].required)
            return yaml_tree_error(&f->tree, v, ERR_INPUT, e, "'%s' has no '%s'", kind->name,
                                   kind->keys[i].name);
        if (value && !check_action_key(f, value, &kind->keys[i], e))
            return false;
    }
    return true;
}

static bool read_action_map(struct scenario_file *f, const struct yaml_value *v,
                            struct scenario_action *out, struct err *e)
{
    const struct yaml_value *expect = yaml_tree_get(v, STR("expect"));
    const struct yaml_value *save = yaml_tree_get(v, STR("save"));
    const struct yaml_value *pages = yaml_tree_get(v, STR("pages"));

    if (!check_action_keys(f, out->kind, v, e) || !compose_params(f, out, v, e) ||
        (expect && !read_expect(f, expect, &out->expect, e)) ||
        (save && !read_save(f, save, &out->expect, e)) ||
        (pages && !read_pages(f, pages, &out->all_pages, e)))
        return false;
    if (out->kind->subject)
        out->subject = yaml_tree_get(v, str_z(out->kind->subject))->text;
    return true;
}

static bool reject_action(const struct scenario_file *f, const struct yaml_value *at,
                          struct err *e)
{
    struct suggest near = suggest_for(at->text);

    for (const struct scenario_action_kind *k = scenario_action_kinds; k->name; k++)
        suggest_try(&near, k->name);
    yaml_tree_error(&f->tree, at, ERR_INPUT, e, "there is no action '%.*s'", STR_ARG(at->text));
    if (near.best)
        return err_hint(e, "did you mean '%s'?", near.best);
    return err_hint(e, "actions: list_tools, call_tool, list_prompts, get_prompt, "
                       "list_resources, read_resource, list_resource_templates, complete, "
                       "ping, raw");
}

static bool read_action(struct scenario_file *f, const struct yaml_value *v,
                        struct scenario_action *out, struct err *e)
{
    bool bare = v->type == YAML_TYPE_STRING;
    const struct yaml_value *name = v, *map = NULL;

    if (!bare && (v->type != YAML_TYPE_MAP || v->count != 1)) {
        yaml_tree_error(
            &f->tree, v, ERR_INPUT, e, "an action is a name or a map with one key, not %s",
            v->type == YAML_TYPE_MAP ? "a map with several" : yaml_tree_type_name(v));
        return v->type == YAML_TYPE_MAP && scenario_action_find(v->members[0].key->text)
                   ? err_hint(e, "indent the keys of '%.*s' below it",
                              STR_ARG(v->members[0].key->text))
                   : false;
    }
    if (!bare) {
        name = v->members[0].key;
        map = v->members[0].value;
    }
    *out = (struct scenario_action){ .kind = scenario_action_find(name->text),
                                     .line = name->line };
    if (!out->kind)
        return reject_action(f, name, e);
    out->method = out->kind->method;
    if (map && map->type != YAML_TYPE_NULL)
        return read_action_map(f, map, out, e);
    if (!scenario_action_is_simple(out->kind))
        return yaml_tree_error(&f->tree, name, ERR_INPUT, e, "'%s' has no '%s'",
                               out->kind->name, out->kind->keys[0].name);
    return compose_params(f, out, v, e);
}

/* Rejects references to values that no earlier action of the scenario saves. A file that saves
 * nothing has no references: {{x}} is text then, as in mcp-recorder. */

/* Checks the text of a value or key. `saved` has the names. */
static bool check_text_references(const struct scenario_file *f, const struct map *saved,
                                  const struct yaml_value *v, struct err *e)
{
    struct str rest = v->text, name;

    while (scenario_values_next_reference(&rest, &name))
        if (!map_get(saved, name)) {
            yaml_tree_error(&f->tree, v, ERR_INPUT, e,
                            "no action before this one saves a value '%.*s'", STR_ARG(name));
            return err_hint(e, "add it to 'save' of the action whose response has it");
        }
    return true;
}

static bool check_references(const struct scenario_file *f, const struct map *saved,
                             const struct yaml_value *v, struct err *e)
{
    if (v->type == YAML_TYPE_STRING && !check_text_references(f, saved, v, e))
        return false;
    for (size_t i = 0; i < v->count; i++) {
        if (v->type == YAML_TYPE_LIST) {
            if (!check_references(f, saved, v->items[i], e))
                return false;
        } else if (!check_text_references(f, saved, v->members[i].key, e) ||
                   !check_references(f, saved, v->members[i].value, e)) {
            return false;
        }
    }
    return true;
}

/* Paths are not replaced: {{x}} is text in the keys of 'expect' and the values of 'save'. */
static bool check_action_references(const struct scenario_file *f, const struct map *saved,
                                    const struct yaml_value *action, struct err *e)
{
    const struct yaml_value *v = action->count ? action->members[0].value : action;

    for (size_t i = 0; i < v->count; i++) {
        const struct yaml_member *m = &v->members[i];
        bool is_expect = str_eq(m->key->text, STR("expect"));

        if (str_eq(m->key->text, STR("save")))
            continue;
        for (size_t k = 0; is_expect && k < m->value->count; k++)
            if (!check_references(f, saved, m->value->members[k].value, e))
                return false;
        if (!is_expect && !check_references(f, saved, m->value, e))
            return false;
    }
    return true;
}

static bool check_plan_references(const struct scenario_file *f,
                                  const struct scenario_plan *plan,
                                  const struct yaml_value *actions, struct err *e)
{
    struct map saved;
    bool ok = true;

    map_init(&saved);
    for (size_t i = 0; ok && i < plan->action_count; i++) {
        const struct scenario_expect *x = &plan->actions[i].expect;

        ok = check_action_references(f, &saved, actions->items[i], e);
        for (size_t k = 0; k < x->save_count; k++)
            map_put(&saved, x->saves[k].name, &x->saves[k]);
    }
    map_release(&saved);
    return ok;
}

static bool saves_values(const struct scenario_file *f)
{
    for (size_t i = 0; i < f->plan_count; i++)
        for (size_t k = 0; k < f->plans[i].action_count; k++)
            if (f->plans[i].actions[k].expect.save_count)
                return true;
    return false;
}

static bool check_all_references(const struct scenario_file *f,
                                 const struct yaml_value *scenarios, struct err *e)
{
    bool needed = saves_values(f);

    for (size_t i = 0; needed && i < f->plan_count; i++)
        if (!check_plan_references(
                f, &f->plans[i], yaml_tree_get(scenarios->members[i].value, STR("actions")), e))
            return false;
    return true;
}

/* Scenarios. */

static bool read_actions(struct scenario_file *f, const struct yaml_value *v,
                         struct scenario_plan *out, struct err *e)
{
    if (v->type != YAML_TYPE_LIST)
        return reject(f, v, e, "actions", "a list");
    out->actions = arena_alloc(&f->tree.arena, (v->count + 1) * sizeof *out->actions);
    for (; out->action_count < v->count; out->action_count++)
        if (!read_action(f, v->items[out->action_count], &out->actions[out->action_count], e))
            return false;
    return true;
}

/* The name becomes a file name. */
static bool check_name(const struct scenario_file *f, const struct yaml_value *key,
                       struct err *e)
{
    struct str name = key->text;
    bool ok = name.len && name.len <= NAME_MAX_BYTES && name.at[0] != '.';

    for (size_t i = 0; ok && i < name.len; i++)
        ok = (unsigned char)name.at[i] >= ' ' && name.at[i] != '/' && name.at[i] != '\\';
    if (ok)
        return true;
    yaml_tree_error(&f->tree, key, ERR_INPUT, e, "a scenario cannot have the name '%.*s'",
                    STR_ARG(arena_truncated((struct arena *)&f->tree.arena, name, 60)));
    return err_hint(e,
                    "it becomes the name of a file: no '/', no '.' in front, at most %d "
                    "bytes",
                    NAME_MAX_BYTES);
}

static bool read_plan(struct scenario_file *f, const struct yaml_member *m,
                      struct scenario_plan *out, struct err *e)
{
    static const char *const keys[] = { "description", "actions", "headers", "answers", NULL };
    const struct yaml_value *v = m->value;
    const struct yaml_value *description = yaml_tree_get(v, STR("description"));
    const struct yaml_value *actions = yaml_tree_get(v, STR("actions"));
    const struct yaml_value *headers = yaml_tree_get(v, STR("headers"));
    const struct yaml_value *answers = yaml_tree_get(v, STR("answers"));

    out->name = m->key->text;
    out->line = m->key->line;
    if (!check_name(f, m->key, e))
        return false;
    if (v->type != YAML_TYPE_MAP)
        return reject(f, v, e, arena_z(&f->tree.arena, out->name), "a map");
    if (!check_map(f, v, keys, "a scenario", e))
        return false;
    if (!actions)
        return yaml_tree_error(&f->tree, m->key, ERR_INPUT, e, "'%.*s' has no 'actions'",
                               STR_ARG(out->name));
    return (!description || read_text(f, description, "description", &out->description, e)) &&
           (!headers || read_headers(f, headers, &out->headers, e)) &&
           (!answers || read_answers(f, answers, &out->answers, e)) &&
           read_actions(f, actions, out, e);
}

/* Headers and answers at the top of the file hold for scenarios that have none. */
static bool read_plans(struct scenario_file *f, const struct yaml_value *v,
                       const struct scenario_plan *common, struct err *e)
{
    if (v->type != YAML_TYPE_MAP)
        return reject(f, v, e, "scenarios", "a map");
    if (!v->count)
        return yaml_tree_error(&f->tree, v, ERR_INPUT, e, "there are no scenarios");
    f->plans = arena_alloc(&f->tree.arena, v->count * sizeof *f->plans);
    for (; f->plan_count < v->count; f->plan_count++) {
        f->plans[f->plan_count] = *common;
        if (!read_plan(f, &v->members[f->plan_count], &f->plans[f->plan_count], e))
            return false;
    }
    return check_all_references(f, v, e);
}

static bool check_top(struct scenario_file *f, const struct yaml_value *root, struct err *e)
{
    static const char *const keys[] = { "schema_version", "target",  "redact",
                                        "headers",        "answers", "format",
                                        "scenarios",      "output",  NULL };

    if (!root || root->type != YAML_TYPE_MAP) {
        static const struct yaml_value start = { .line = 1, .column = 1 };

        yaml_tree_error(&f->tree, root ? root : &start, ERR_INPUT, e,
                        "a scenarios file is a map, not %s",
                        root ? yaml_tree_type_name(root) : "empty");
        return err_hint(e, "it has the keys 'target' and 'scenarios'");
    }
    for (size_t i = 0; i < root->count; i++) {
        const struct yaml_value *key = root->members[i].key;

        if (str_eq(key->text, STR("output")))
            f->unused_output = key;
        else if (!str_starts(key->text, STR("x-")) && !is_one_of(key->text, keys))
            return reject_key(f, key, keys, "a scenarios file", e);
    }
    return true;
}

static bool read_top(struct scenario_file *f, const struct yaml_value *root, struct err *e)
{
    const struct yaml_value *version = yaml_tree_get(root, STR("schema_version"));
    const struct yaml_value *target = yaml_tree_get(root, STR("target"));
    const struct yaml_value *redact = yaml_tree_get(root, STR("redact"));
    const struct yaml_value *headers = yaml_tree_get(root, STR("headers"));
    const struct yaml_value *answers = yaml_tree_get(root, STR("answers"));
    const struct yaml_value *scenarios = yaml_tree_get(root, STR("scenarios"));
    struct scenario_plan common = { .line = 0 };

    f->redact_at = redact;
    f->format_at = yaml_tree_get(root, STR("format"));
    if (version && !check_version(f, version, e))
        return false;
    if (!target || !scenarios)
        return yaml_tree_error(&f->tree, root, ERR_INPUT, e, "there is no key '%s'",
                               target ? "scenarios" : "target");
    if (!read_target(f, target, e))
        return false;
    return (!redact || read_redact(f, redact, e)) &&
           (!headers || read_headers(f, headers, &common.headers, e)) &&
           (!answers || read_answers(f, answers, &common.answers, e)) &&
           (!f->format_at || read_z(f, f->format_at, "format", &f->format, e)) &&
           read_plans(f, scenarios, &common, e);
}

/* Variables. */

struct variables {
    struct scenario_file *file;
    char *const *env;
    size_t room; /* for texts with variables replaced, in bytes */
};

static bool expand_string(void *arg, struct yaml_value *string, struct err *e)
{
    struct variables *v = arg;
    struct str unset;

    switch (env_expand(string->text, v->env, &v->room, &v->file->tree.arena, &string->text,
                       &unset)) {
    case ENV_EXPANDED:
        return true;
    case ENV_TOO_LONG:
        return yaml_tree_error(&v->file->tree, string, ERR_LIMIT, e,
                               "too much text: %d MiB are allowed, with variables replaced",
                               YAML_TREE_TEXT_MAX >> 20);
    case ENV_UNSET:
        break;
    }
    yaml_tree_error(&v->file->tree, string, ERR_USAGE, e,
                    "the environment variable '%.*s' is not set", STR_ARG(unset));
    return err_hint(e, "set it, or give a default: ${%.*s:-default}", STR_ARG(unset));
}

bool scenario_file_parse(struct scenario_file *f, struct str text, const char *path,
                         char *const *env, struct err *e)
{
    struct variables variables = { f, env, YAML_TREE_TEXT_MAX };

    *f = (struct scenario_file){ .redact_server_url = true };
    return yaml_tree_parse(&f->tree, text, path, e) &&
           yaml_tree_each_string(&f->tree, expand_string, &variables, e) &&
           check_top(f, f->tree.root, e) && read_top(f, f->tree.root, e);
}

void scenario_file_release(struct scenario_file *f)
{
    yaml_tree_release(&f->tree);
}

const struct scenario_plan *scenario_file_find(const struct scenario_file *f, const char *name,
                                               struct err *e)
{
    struct buf names;

    for (size_t i = 0; i < f->plan_count; i++)
        if (str_eq(f->plans[i].name, str_z(name)))
            return &f->plans[i];
    buf_init(&names, sizeof e->hint);
    for (size_t i = 0; i < f->plan_count; i++)
        buf_printf(&names, "%s%.*s", i ? ", " : "", STR_ARG(f->plans[i].name));
    err_set(e, ERR_USAGE, "'%s' has no scenario '%s'", f->tree.name, name);
    err_hint(e, "it has: %s", buf_z(&names));
    buf_release(&names);
    return NULL;
}
