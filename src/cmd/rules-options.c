#include "cmd/rules-options.h"

#include "base/file.h"

enum { RULES_MAX = 1 << 20 };

static bool read_file(struct compare_rules *rules, const struct app *app, const char *path,
                      struct err *e)
{
    struct buf text;
    bool ok;

    buf_init(&text, RULES_MAX);
    ok = file_read_all(&text, app->sys, path, e) &&
         (compare_rules_parse(rules, buf_str(&text), e) ||
          err_wrap(e, "'%s' has no valid rules", path));
    buf_release(&text);
    return ok;
}

bool rules_options_add_paths(struct compare_rules *rules, const struct str_list *paths,
                             enum compare_path_kind kind, const char *option, struct err *e)
{
    for (size_t i = 0; i < paths->count; i++)
        if (!compare_rules_add_path(rules, kind, str_z(paths->at[i]), e))
            return err_wrap(e, "option '%s'", option);
    return true;
}

bool rules_options_read(struct compare_rules *rules, const struct app *app,
                        const struct rules_args *args, struct err *e)
{
    for (size_t i = 0; i < args->rules.count; i++)
        if (!read_file(rules, app, args->rules.at[i], e))
            return false;
    for (size_t i = 0; i < args->ignore_fields.count; i++)
        if (!compare_rules_add_field(rules, str_z(args->ignore_fields.at[i]), e))
            return err_wrap(e, "option '--ignore-fields'");
    return rules_options_add_paths(rules, &args->ignore_paths, COMPARE_PATH_IGNORE,
                                   "--ignore-paths", e);
}
