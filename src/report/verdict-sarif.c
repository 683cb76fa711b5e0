#include "report/verdict-sarif.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/work-tree.h"
#include "diff/contract-rules.h"
#include "report/finding-text.h"
#include "json/write.h"

enum {
    COLUMNS = 300, /* of a value or message */
    FINDINGS = 5,  /* of a call */
    TEXT = 1 << 20,
};

static const struct str levels[] = {
    [FINDING_ERROR] = STR_INIT("error"), [FINDING_WARNING] = STR_INIT("warning")
};

/* One result before it is JSON. */
struct sarif_result {
    struct str rule;
    enum finding_severity severity;
    struct str text; /* escaped; may have several lines */
    struct str file;
    uint64_t line;
    struct str subject, path; /* for the fingerprint */
};

/* Locations. */

/* Appends a path as a URI reference; that of an absolute path has a scheme. */
static void add_uri(struct buf *to, struct str path)
{
    if (str_starts(path, STR("/")))
        buf_add(to, STR("file://"));
    while (str_starts(path, STR("./")))
        path = str_skip(path, 2);
    while (path.len) {
        if (path.at[0] == '/')
            buf_add_ch(to, '/');
        else
            buf_add_percent(to, str_n(path.at, 1));
        path = str_skip(path, 1);
    }
}

static void write_uri(struct json_out *o, struct str path)
{
    struct buf uri;

    buf_init(&uri, TEXT);
    add_uri(&uri, path);
    json_out_key_str(o, STR("uri"), buf_str(&uri));
    buf_release(&uri);
    if (!str_starts(path, STR("/")))
        json_out_key_str(o, STR("uriBaseId"), STR("%SRCROOT%"));
}

static void write_locations(struct verdict_sarif *s, struct json_out *o,
                            const struct sarif_result *r)
{
    if (!r->file.len || str_eq(r->file, STR("-")))
        return;
    json_out_key(o, STR("locations"));
    json_out_array(o);
    json_out_object(o);
    json_out_key(o, STR("physicalLocation"));
    json_out_object(o);
    json_out_key(o, STR("artifactLocation"));
    json_out_object(o);
    write_uri(o, str_starts(r->file, STR("/")) ? r->file
                                               : work_tree_path(s->folder, r->file, &s->arena));
    json_out_end_object(o);
    json_out_key(o, STR("region"));
    json_out_object(o);
    json_out_key_int(o, STR("startLine"), r->line ? (int64_t)r->line : 1);
    json_out_end_object(o);
    json_out_end_object(o);
    json_out_end_object(o);
    json_out_end_array(o);
}

/* Results. */

/* Writes text in which "[a](b)" is no link. */
static void write_message(struct json_out *o, struct str text)
{
    struct buf plain;

    buf_init(&plain, TEXT);
    text = str_trim(text);
    for (size_t i = 0; i < text.len; i++) {
        if (i && text.at[i] == '(' && text.at[i - 1] == ']')
            buf_add_ch(&plain, ' ');
        buf_add_ch(&plain, text.at[i]);
    }
    json_out_key(o, STR("message"));
    json_out_object(o);
    json_out_key_str(o, STR("text"), buf_str(&plain));
    json_out_end_object(o);
    buf_release(&plain);
}

/* Adds one to the number at a key, and returns it. */
static uint64_t count_key(struct map *m, struct str key)
{
    uint64_t n = 1 + (uint64_t)(uintptr_t)map_get(m, key);

    map_put(m, key, (void *)(uintptr_t)n);
    return n;
}

static void write_fingerprint(struct verdict_sarif *s, struct json_out *o,
                              const struct sarif_result *r)
{
    uint64_t hash = hash_mix(hash_mix(hash_bytes(r->rule, 0), hash_bytes(r->subject, 0)),
                             hash_bytes(r->path, 0));
    uint64_t number;
    struct buf text;

    hash = hash_mix(hash, hash_bytes(r->file, 0));
    number = count_key(&s->fingerprints, map_number_key(&hash));
    buf_init(&text, COLUMNS);
    buf_printf(&text, "%016llx:%llu", (unsigned long long)hash, (unsigned long long)number);
    json_out_key(o, STR("partialFingerprints"));
    json_out_object(o);
    json_out_key_str(o, STR("mcpreelFinding/v1"), buf_str(&text));
    json_out_end_object(o);
    buf_release(&text);
}

static uint64_t index_of_rule(struct verdict_sarif *s, struct str id)
{
    uint64_t index = (uint64_t)(uintptr_t)map_get(&s->rules, id);

    if (!index) {
        index = s->rules.count + 1;
        map_put(&s->rules, id, (void *)(uintptr_t)index);
    }
    return index - 1;
}

/* Writes the rule by its id and by its place in the list of rules. */
static void write_rule_id(struct verdict_sarif *s, struct json_out *o, struct str rule)
{
    struct buf id;

    buf_init(&id, TEXT);
    term_escape_cut(&id, rule, COLUMNS);
    json_out_key_str(o, STR("ruleId"), buf_str(&id));
    json_out_key_int(o, STR("ruleIndex"), (int64_t)index_of_rule(s, buf_str(&id)));
    buf_release(&id);
}

static struct str result_json(struct verdict_sarif *s, const struct sarif_result *r)
{
    struct str json;
    struct json_out o;
    struct buf text;

    buf_init(&text, 4 * TEXT);
    o = json_out_to(&text);
    json_out_object(&o);
    write_rule_id(s, &o, r->rule);
    json_out_key_str(&o, STR("level"), levels[r->severity]);
    write_message(&o, r->text);
    write_locations(s, &o, r);
    write_fingerprint(s, &o, r);
    json_out_end_object(&o);
    json = arena_str(&s->arena, buf_str(&text));
    buf_release(&text);
    return json;
}

static void add_result(struct verdict_sarif *s, const struct sarif_result *r)
{
    struct verdict_sarif_results *to = &s->results[r->severity];

    if (to->count++ >= VERDICT_SARIF_MAX)
        return;
    to->at = mem_reserve(to->at, &to->cap, to->kept + 1, sizeof *to->at);
    to->at[to->kept++] = result_json(s, r);
}

static void begin_sarif(struct verdict_report *self, const struct verdict_report_run *run)
{
    struct verdict_sarif *s = (struct verdict_sarif *)self;

    s->run = run;
    if (s->command.len)
        return;
    s->command = arena_str(&s->arena, run->command);
    s->file = arena_str(&s->arena, verdict_report_located_file(run));
}

static void add_call(struct verdict_sarif *s, const struct call_verdict *v,
                     enum finding_severity severity)
{
    const struct finding *first = finding_text_first(v, severity);
    struct sarif_result r = { .rule = first ? first->rule : verdict_report_failure(v->failure),
                              .severity = severity,
                              .file = verdict_report_located_file(s->run),
                              .line = v->line,
                              .path = first ? first->path : STR_NONE };
    struct arena a = { 0 };
    struct buf text;

    buf_init(&text, TEXT);
    verdict_report_write_name(&text, v);
    buf_add_ch(&text, '\n');
    verdict_report_write_reason(&text, v);
    if (!str_ends(buf_str(&text), STR("\n")))
        buf_add_ch(&text, '\n');
    finding_text_write_call(&text, v, severity, FINDINGS, COLUMNS);
    r.text = buf_str(&text);
    r.subject = arena_printf(&a, "%.*s %.*s", STR_ARG(v->method), STR_ARG(v->subject));
    add_result(s, &r);
    buf_release(&text);
    arena_release(&a);
}

static void add_verdict(struct verdict_report *self, const struct call_verdict *v)
{
    struct verdict_sarif *s = (struct verdict_sarif *)self;

    if (v->updated)
        return;
    if (v->kind == VERDICT_FAILED)
        add_call(s, v, FINDING_ERROR);
    if (finding_text_first(v, FINDING_WARNING))
        add_call(s, v, FINDING_WARNING);
}

static void add_finding(struct verdict_report *self, const struct finding *f)
{
    struct verdict_sarif *s = (struct verdict_sarif *)self;
    struct sarif_result r = { .rule = f->rule,
                              .severity = f->severity,
                              .file =
                                  f->file.len ? f->file : verdict_report_located_file(s->run),
                              .line = f->line,
                              .subject = f->subject,
                              .path = f->path };
    struct buf text;

    if (f->severity == FINDING_NOTE)
        return;
    buf_init(&text, TEXT);
    finding_text_write(&text, f, COLUMNS);
    r.text = buf_str(&text);
    add_result(s, &r);
    buf_release(&text);
}

static void end_sarif(struct verdict_report *self, const struct verdict_report_result *result)
{
    struct verdict_sarif *s = (struct verdict_sarif *)self;

    if (result->exit_code > s->exit_code)
        s->exit_code = result->exit_code;
}

/* The log. */

static void write_text(struct json_out *o, struct str key, struct str text)
{
    json_out_key(o, key);
    json_out_object(o);
    json_out_key_str(o, STR("text"), text);
    json_out_end_object(o);
}

static void write_rule(struct json_out *o, struct str id, struct str command)
{
    const struct contract_rule *rule = contract_rules_find(id);
    struct arena a = { 0 };

    json_out_object(o);
    json_out_key_str(o, STR("id"), id);
    write_text(o, STR("shortDescription"), rule ? rule->text : id);
    write_text(
        o, STR("fullDescription"),
        arena_printf(&a, "Rule '%.*s' of 'mcpreel %.*s'.", STR_ARG(id), STR_ARG(command)));
    write_text(o, STR("help"), arena_printf(&a, "See 'mcpreel help %.*s'.", STR_ARG(command)));
    json_out_end_object(o);
    arena_release(&a);
}

static void write_tool(const struct verdict_sarif *s, struct json_out *o)
{
    json_out_key(o, STR("tool"));
    json_out_object(o);
    json_out_key(o, STR("driver"));
    json_out_object(o);
    json_out_key_str(o, STR("name"), STR("mcpreel"));
    json_out_key_str(o, STR("version"), STR(MCPREEL_VERSION));
    json_out_key(o, STR("rules"));
    json_out_array(o);
    for (struct map_entry *e = NULL; (e = map_next(&s->rules, e));)
        write_rule(o, e->key, s->command);
    json_out_end_array(o);
    json_out_end_object(o);
    json_out_end_object(o);
}

/* Writes the results in order, and one about the rest if there are too many. */
static void write_results(struct verdict_sarif *s, struct json_out *o)
{
    uint64_t total = s->results[FINDING_ERROR].count + s->results[FINDING_WARNING].count;
    uint64_t left = total > VERDICT_SARIF_MAX ? VERDICT_SARIF_MAX - 1 : total;
    uint64_t omitted = total - left;
    struct arena a = { 0 };

    json_out_key(o, STR("results"));
    json_out_array(o);
    for (enum finding_severity k = FINDING_ERROR; k <= FINDING_WARNING; k++)
        for (size_t i = 0; i < s->results[k].kept && left; i++, left--)
            json_out_raw(o, s->results[k].at[i]);
    if (omitted) {
        const struct sarif_result rest = { .rule = STR("truncated"),
                                           .severity = FINDING_WARNING,
                                           .text = arena_printf(
                                               &a, "%llu more results are not in this log",
                                               (unsigned long long)omitted),
                                           .file = s->file };

        json_out_raw(o, result_json(s, &rest));
    }
    json_out_end_array(o);
    arena_release(&a);
}

static void write_invocation(const struct verdict_sarif *s, struct json_out *o)
{
    enum { FINDINGS_EXIT = 1 };

    json_out_key(o, STR("invocations"));
    json_out_array(o);
    json_out_object(o);
    json_out_key_bool(o, STR("executionSuccessful"), s->exit_code <= FINDINGS_EXIT);
    json_out_key_int(o, STR("exitCode"), s->exit_code);
    json_out_end_object(o);
    json_out_end_array(o);
    json_out_key(o, STR("automationDetails"));
    json_out_object(o);
    json_out_key(o, STR("id"));
    buf_printf(o->to, "\"mcpreel-%.*s/\"", STR_ARG(s->command));
    o->comma = true;
    json_out_end_object(o);
}

static void finish_sarif(struct verdict_report *self)
{
    struct verdict_sarif *s = (struct verdict_sarif *)self;
    struct json_out o = json_out_to(s->to);

    json_out_object(&o);
    json_out_key_str(&o, STR("$schema"), STR("https://json.schemastore.org/sarif-2.1.0.json"));
    json_out_key_str(&o, STR("version"), STR("2.1.0"));
    json_out_key(&o, STR("runs"));
    json_out_array(&o);
    json_out_object(&o);
    write_results(s, &o);
    write_tool(s, &o);
    write_invocation(s, &o);
    json_out_end_object(&o);
    json_out_end_array(&o);
    json_out_end_object(&o);
    buf_add_ch(s->to, '\n');
}

void verdict_sarif_init(struct verdict_sarif *s, struct buf *to)
{
    *s = (struct verdict_sarif){
        .report = { begin_sarif, add_verdict, add_finding, end_sarif, finish_sarif },
        .to = to,
    };
    map_init(&s->rules);
    map_init(&s->fingerprints);
}

void verdict_sarif_release(struct verdict_sarif *s)
{
    for (enum finding_severity k = FINDING_ERROR; k <= FINDING_WARNING; k++)
        free(s->results[k].at);
    map_release(&s->rules);
    map_release(&s->fingerprints);
    arena_release(&s->arena);
}
