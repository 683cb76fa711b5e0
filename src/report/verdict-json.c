#include "report/verdict-json.h"

#include "format/python-json.h"

/* Writes a count or line; null if it is 0. */
static void write_number(struct json_out *o, struct str key, uint64_t n)
{
    json_out_key(o, key);
    if (n)
        json_out_int(o, (int64_t)n);
    else
        json_out_null(o);
}

static void write_duration(struct json_out *o, int64_t us)
{
    json_out_key(o, STR("duration_us"));
    if (us >= 0)
        json_out_int(o, us);
    else
        json_out_null(o);
}

static void write_server(struct json_out *o, const struct verdict_report_run *run)
{
    json_out_key(o, STR("server"));
    if (!run->server_name.len && !run->server_version.len) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_str_or_null(o, STR("name"), run->server_name);
    json_out_key_str_or_null(o, STR("version"), run->server_version);
    json_out_end_object(o);
}

static void begin_json(struct verdict_report *self, const struct verdict_report_run *run)
{
    struct verdict_json *j = (struct verdict_json *)self;
    struct json_out *o = &j->out;

    buf_clear(&j->findings);
    o->comma = false;
    json_out_object(o);
    json_out_key_int(o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(o, STR("command"), run->command);
    json_out_key_str(o, STR("file"), run->file);
    json_out_key_str_or_null(o, STR("target"), run->target);
    write_server(o, run);
    json_out_key_str_or_null(o, STR("protocol_version"), run->protocol);
    json_out_key(o, STR("calls"));
    json_out_array(o);
}

void verdict_json_write_value(struct json_out *o, struct str key, struct str size_key,
                              struct str value)
{
    struct buf line;

    if (!value.len)
        return;
    if (value.len > VERDICT_JSON_VALUE) {
        json_out_key_int(o, size_key, (int64_t)value.len);
        return;
    }
    buf_init(&line, value.len);
    python_json_write_compact(&line, value);
    json_out_key_raw(o, key, buf_str(&line));
    buf_release(&line);
}

static void write_finding(struct json_out *o, const struct finding *f)
{
    json_out_object(o);
    json_out_key_str(o, STR("rule"), f->rule);
    json_out_key_str(o, STR("severity"), verdict_report_severity(f->severity));
    json_out_key_str(o, STR("message"), f->message);
    json_out_key_str_or_null(o, STR("file"), f->file);
    write_number(o, STR("line"), f->line);
    write_number(o, STR("seq"), f->seq);
    json_out_key_str_or_null(o, STR("path"), f->path);
    verdict_json_write_value(o, STR("recorded"), STR("recorded_bytes"), f->recorded);
    verdict_json_write_value(o, STR("live"), STR("live_bytes"), f->live);
    json_out_key_str_or_null(o, STR("hint"), f->hint);
    json_out_end_object(o);
}

static void write_call(struct json_out *o, const struct call_verdict *v)
{
    json_out_key_int(o, STR("number"), v->number);
    write_number(o, STR("session"), v->session);
    if (v->scenario.len)
        json_out_key_str(o, STR("scenario"), v->scenario);
    write_number(o, STR("seq"), v->seq);
    write_number(o, STR("line"), v->line);
    json_out_key_str(o, STR("method"), v->method);
    json_out_key_str_or_null(o, STR("subject"), v->subject);
    json_out_key_str(o, STR("verdict"), verdict_report_kind(v->kind));
    json_out_key_str_or_null(o, STR("failure"),
                             v->failure == FAILURE_NONE ? STR_NONE
                                                        : verdict_report_failure(v->failure));
    json_out_key_str_or_null(o, STR("reason"), v->reason);
    write_duration(o, v->duration_us);
    json_out_key_int(o, STR("volatile_differences"), (int64_t)v->volatile_count);
    json_out_key_int(o, STR("ignored_differences"), (int64_t)v->ignored_count);
    json_out_key_bool(o, STR("updated"), v->updated);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    struct json_out *o = &((struct verdict_json *)self)->out;

    json_out_object(o);
    write_call(o, v);
    json_out_key(o, STR("findings"));
    json_out_array(o);
    for (size_t i = 0; i < v->finding_count; i++)
        write_finding(o, &v->findings[i]);
    json_out_end_array(o);
    json_out_end_object(o);
}

static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct verdict_json *j = (struct verdict_json *)self;
    struct json_out o = { .to = &j->findings, .comma = j->findings.len > 0 };

    write_finding(&o, f);
}

static void write_findings(struct verdict_json *j)
{
    json_out_key(&j->out, STR("findings"));
    json_out_array(&j->out);
    buf_add(j->out.to, buf_str(&j->findings));
    j->out.to->full = j->out.to->full || j->findings.full;
    json_out_end_array(&j->out);
}

static void write_summary(struct json_out *o, const struct call_verdict_totals *totals)
{
    static const char *const severities[] = {
        [FINDING_ERROR] = "errors", [FINDING_WARNING] = "warnings", [FINDING_NOTE] = "notes"
    };

    json_out_key(o, STR("summary"));
    json_out_object(o);
    for (enum verdict_kind k = 0; k <= VERDICT_SKIPPED; k++)
        json_out_key_int(o, verdict_report_kind(k), (int64_t)totals->count[k]);
    json_out_key_int(o, STR("skipped_not_read_only"), (int64_t)totals->not_read_only);
    json_out_key_int(o, STR("updated"), (int64_t)totals->updated);
    for (enum finding_severity s = 0; s <= FINDING_NOTE; s++)
        json_out_key_int(o, str_z(severities[s]), (int64_t)totals->findings[s]);
    write_duration(o, totals->duration_us);
    json_out_end_object(o);
}

static void end_json(struct verdict_report *self, const struct verdict_report_result *result)
{
    struct verdict_json *j = (struct verdict_json *)self;

    json_out_end_array(&j->out);
    write_findings(j);
    write_summary(&j->out, result->totals);
    json_out_key_int(&j->out, STR("exit_code"), result->exit_code);
    json_out_end_object(&j->out);
    buf_add_ch(j->out.to, '\n');
}

void verdict_json_init(struct verdict_json *j, struct buf *to)
{
    *j = (struct verdict_json){ .report = { begin_json, add_verdict, add_finding, end_json,
                                            verdict_report_finish_nothing },
                                .out = json_out_to(to) };
    buf_init(&j->findings, to->max);
}

void verdict_json_release(struct verdict_json *j)
{
    buf_release(&j->findings);
}
