#include "cmd/session-report.h"

static bool write_stdout(const void *app, struct str text, struct err *e)
{
    return app_write(app, text, e);
}

struct report_files_target session_report_target(const struct session_report *r)
{
    return (struct report_files_target){ .sys = r->app->sys,
                                         .replace = r->replace,
                                         .write_stdout = r->over_http ? write_stdout : NULL,
                                         .arg = r->app };
}

bool session_report_is_wanted(const struct session_report *r)
{
    return r->app->json || r->files->count;
}

static bool write_to_user(const struct session_report *r, struct str json, struct err *e)
{
    if (r->over_http)
        return app_write(r->app, json, e);
    r->app->log->write(r->app->log->arg, json);
    return true;
}

bool session_report_write(const struct session_report *r, struct str json, struct err *e)
{
    const struct report_files_target target = session_report_target(r);

    report_files_set_json(r->files, json);
    return (!r->app->json || write_to_user(r, json, e)) &&
           report_files_write(r->files, &target, e);
}
