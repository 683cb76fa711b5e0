#include "report/verdict-github.h"

#include "base/term.h"
#include "report/finding-text.h"

enum {
    COLUMNS = 300, /* of a value or message */
    FINDINGS = 5,  /* of a call */
    LINES = 1 << 20,
};

static const char *const commands[] = {
    [FINDING_ERROR] = "error", [FINDING_WARNING] = "warning"
};

/* Appends text that is escaped to visible characters and newlines. */
static void add_data(struct buf *to, struct str text, bool property)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];

        if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
            buf_printf(to, "%%%02X", (unsigned)c);
        else
            buf_add_ch(to, c);
    }
}

static void add_property(struct buf *to, const char *name, struct str text)
{
    struct buf escaped;

    buf_init(&escaped, LINES);
    term_escape_cut(&escaped, text, COLUMNS);
    buf_printf(to, "%s=", name);
    add_data(to, buf_str(&escaped), true);
    buf_release(&escaped);
}

struct annotation {
    enum finding_severity severity;
    struct str file;
    uint64_t line;
    struct str title;
    struct str text; /* escaped; may have several lines */
};

static void add_location(struct buf *to, const struct annotation *a)
{
    if (!a->file.len || str_eq(a->file, STR("-")))
        return;
    add_property(to, "file", a->file);
    if (a->line)
        buf_printf(to, ",line=%llu", (unsigned long long)a->line);
    buf_add_ch(to, ',');
}

static void add_annotation(struct verdict_github *g, const struct annotation *a)
{
    struct verdict_github_lines *l = &g->lines[a->severity];
    struct buf *to = l->count < VERDICT_GITHUB_MAX - 1 ? &l->first : &l->last;

    if (++l->count > VERDICT_GITHUB_MAX)
        return;
    buf_printf(to, "::%s ", commands[a->severity]);
    add_location(to, a);
    add_property(to, "title", a->title);
    buf_add(to, STR("::"));
    add_data(to, str_trim(a->text), false);
    buf_add_ch(to, '\n');
}

static void begin_github(struct verdict_report *self, const struct verdict_report_run *run)
{
    ((struct verdict_github *)self)->run = run;
}

static void add_call(struct verdict_github *g, const struct call_verdict *v,
                     enum finding_severity severity)
{
    struct annotation a = { .severity = severity,
                            .file = verdict_report_located_file(g->run),
                            .line = v->line };
    struct buf title, text;

    buf_init(&title, LINES);
    buf_init(&text, LINES);
    verdict_report_write_name(&title, v);
    verdict_report_write_reason(&text, v);
    if (text.len)
        buf_add_ch(&text, '\n');
    finding_text_write_call(&text, v, severity, FINDINGS, COLUMNS);
    a.title = buf_str(&title);
    a.text = text.len ? buf_str(&text) : verdict_report_kind(v->kind);
    add_annotation(g, &a);
    buf_release(&title);
    buf_release(&text);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    struct verdict_github *g = (struct verdict_github *)self;

    if (v->updated)
        return;
    if (v->kind == VERDICT_FAILED)
        add_call(g, v, FINDING_ERROR);
    if (finding_text_first(v, FINDING_WARNING))
        add_call(g, v, FINDING_WARNING);
}

static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct verdict_github *g = (struct verdict_github *)self;
    struct annotation a = { .severity = f->severity,
                            .file = f->file.len ? f->file : verdict_report_located_file(g->run),
                            .line = f->line,
                            .title = f->rule };
    struct buf text;

    if (f->severity == FINDING_NOTE)
        return;
    buf_init(&text, LINES);
    finding_text_write(&text, f, COLUMNS);
    a.text = buf_str(&text);
    add_annotation(g, &a);
    buf_release(&text);
}

static void end_github(struct verdict_report *self, const struct verdict_report_result *result)
{
    (void)self;
    (void)result;
}

static void finish_github(struct verdict_report *self)
{
    struct verdict_github *g = (struct verdict_github *)self;

    for (enum finding_severity s = FINDING_ERROR; s <= FINDING_WARNING; s++) {
        const struct verdict_github_lines *l = &g->lines[s];

        buf_add(g->to, buf_str(&l->first));
        if (l->count <= VERDICT_GITHUB_MAX)
            buf_add(g->to, buf_str(&l->last));
        else
            buf_printf(g->to, "::%s title=more %ss::+%llu more\n", commands[s], commands[s],
                       (unsigned long long)l->count - (VERDICT_GITHUB_MAX - 1));
    }
}

void verdict_github_init(struct verdict_github *g, struct buf *to)
{
    *g = (struct verdict_github){
        .report = { begin_github, add_verdict, add_finding, end_github, finish_github },
        .to = to,
    };
    for (enum finding_severity s = FINDING_ERROR; s <= FINDING_WARNING; s++) {
        buf_init(&g->lines[s].first, LINES);
        buf_init(&g->lines[s].last, LINES);
    }
}

void verdict_github_release(struct verdict_github *g)
{
    for (enum finding_severity s = FINDING_ERROR; s <= FINDING_WARNING; s++) {
        buf_release(&g->lines[s].first);
        buf_release(&g->lines[s].last);
    }
}
