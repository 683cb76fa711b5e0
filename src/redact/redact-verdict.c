#include "redact/redact-verdict.h"

#include "trace/limits.h"

void redact_verdict_init(struct redact_verdict *v, struct redactor *r)
{
    *v = (struct redact_verdict){ .redactor = r };
    buf_init(&v->text, LIMIT_LINE);
}

void redact_verdict_release(struct redact_verdict *v)
{
    arena_release(&v->arena);
    buf_release(&v->text);
}

static struct str keep(struct redact_verdict *v)
{
    return v->text.full ? STR("[REDACTED]") : arena_str(&v->arena, buf_str(&v->text));
}

static struct str clean_text(struct redact_verdict *v, struct str text)
{
    if (!text.len)
        return text;
    buf_clear(&v->text);
    redactor_redact_text(v->redactor, text, &v->text);
    return str_eq(buf_str(&v->text), text) ? text : keep(v);
}

static struct str clean_value(struct redact_verdict *v, struct str path, struct str value)
{
    if (!value.len)
        return value;
    buf_clear(&v->text);
    redactor_redact_value(v->redactor, path, value, &v->text);
    return v->text.full ? STR("\"[REDACTED]\"") : keep(v);
}

static struct finding clean_finding(struct redact_verdict *v, const struct finding *given)
{
    struct finding f = *given;

    f.message = clean_text(v, given->message);
    f.file = clean_text(v, given->file);
    f.subject = clean_text(v, given->subject);
    f.path = clean_text(v, given->path);
    f.recorded = clean_value(v, given->path, given->recorded);
    f.live = clean_value(v, given->path, given->live);
    if (f.live.len && str_eq(f.recorded, f.live) && !str_eq(given->recorded, given->live))
        f.message = STR("the values differ in a part that is redacted");
    return f;
}

struct finding redact_verdict_finding(struct redact_verdict *v, const struct finding *given)
{
    arena_clear(&v->arena);
    return clean_finding(v, given);
}

struct call_verdict redact_verdict_call(struct redact_verdict *v,
                                        const struct call_verdict *given)
{
    struct call_verdict clean = *given;
    struct finding *findings;

    arena_clear(&v->arena);
    clean.method = clean_text(v, given->method);
    clean.subject = clean_text(v, given->subject);
    clean.reason = clean_text(v, given->reason);
    findings = arena_alloc(&v->arena, (given->finding_count + 1) * sizeof *findings);
    for (size_t i = 0; i < given->finding_count; i++)
        findings[i] = clean_finding(v, &given->findings[i]);
    clean.findings = findings;
    return clean;
}
