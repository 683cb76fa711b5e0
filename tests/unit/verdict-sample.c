#include "verdict-sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "temp-dir.h"
#include "test.h"

static const struct finding text_changed[] = {
    { .rule = STR_INIT("content-changed"),
      .severity = FINDING_ERROR,
      .message = STR_INIT("the value changed"),
      .file = STR_INIT("golden.jsonl"),
      .line = 14,
      .seq = 13,
      .path = STR_INIT("$.result.content[0].text"),
      .recorded = STR_INIT("\"3 issues found\""),
      .live = STR_INIT("\"3 results found\"") },
    { .rule = STR_INIT("member-removed"),
      .severity = FINDING_ERROR,
      .message = STR_INIT("the live response has no such member"),
      .path = STR_INIT("$.result.structuredContent.total"),
      .recorded = STR_INIT("{ \"count\" : 3,\n  \"of\" : 10 }"),
      .hint = STR_INIT("ignore it with --ignore-paths '$.result.structuredContent.total'") },
    { .rule = STR_INIT("volatile"),
      .severity = FINDING_NOTE,
      .message = STR_INIT("a time"),
      .path = STR_INIT("$.result.at"),
      .recorded = STR_INIT("\"2026-01-02T03:04:05Z\""),
      .live = STR_INIT("\"2026-11-15T10:00:00Z\"") },
};

static const struct finding error_instead[] = {
    { .rule = STR_INIT("error-instead-of-result"),
      .severity = FINDING_ERROR,
      .message = STR_INIT("an error in place of a result"),
      .path = STR_INIT("$.error"),
      .live = STR_INIT("{\"code\":-32602,\"message\":\"unknown tool\"}") },
};

static const struct finding slow[] = {
    { .rule = STR_INIT("slower"),
      .severity = FINDING_WARNING,
      .message = STR_INIT("the response took 10 times as long as recorded") },
};

static const struct call_verdict calls[] = {
    { .number = 1,
      .session = 1,
      .seq = 1,
      .line = 2,
      .method = STR_INIT("initialize"),
      .duration_us = 41000 },
    { .number = 2,
      .session = 1,
      .seq = 4,
      .line = 5,
      .method = STR_INIT("tools/list"),
      .duration_us = 9100,
      .kind = VERDICT_VOLATILE,
      .volatile_count = 2,
      .ignored_count = 1 },
    { .number = 3,
      .session = 1,
      .seq = 13,
      .line = 14,
      .method = STR_INIT("tools/call"),
      .subject = STR_INIT("search_issues"),
      .kind = VERDICT_FAILED,
      .failure = FAILURE_CONTENT,
      .duration_us = 212000,
      .findings = text_changed,
      .finding_count = 3,
      .volatile_count = 1,
      .ignored_count = 2 },
    { .number = 4,
      .session = 1,
      .seq = 15,
      .line = 16,
      .method = STR_INIT("tools/call"),
      .subject = STR_INIT("close_issue"),
      .kind = VERDICT_FAILED,
      .failure = FAILURE_ERROR,
      .duration_us = 1200,
      .findings = error_instead,
      .finding_count = 1,
      .updated = true },
    { .number = 5,
      .session = 1,
      .seq = 17,
      .line = 18,
      .method = STR_INIT("tools/call"),
      .subject = STR_INIT("slow_report"),
      .kind = VERDICT_FAILED,
      .failure = FAILURE_MISSING,
      .reason = STR_INIT("the time limit of 30 s has passed"),
      .duration_us = -1 },
    { .number = 6,
      .session = 1,
      .seq = 19,
      .line = 20,
      .method = STR_INIT("tools/call"),
      .subject = STR_INIT("get_report"),
      .kind = VERDICT_BLOCKED,
      .reason = STR_INIT("it needs a value of #17"),
      .duration_us = -1 },
    { .number = 7,
      .session = 2,
      .seq = 23,
      .line = 24,
      .method = STR_INIT("tools/call"),
      .subject = STR_INIT("create_issue"),
      .kind = VERDICT_SKIPPED,
      .not_read_only = true,
      .reason = STR_INIT("the tool is not marked readOnlyHint; --include-destructive sends it"),
      .duration_us = -1 },
    { .number = 8,
      .session = 2,
      .seq = 25,
      .line = 26,
      .method = STR_INIT("resources/read"),
      .subject = STR_INIT("file:///srv/data/reports/2026/november/summary-of-all-teams.md"),
      .duration_us = 2500000,
      .findings = slow,
      .finding_count = 1 },
};

static const struct finding contract[] = {
    { .rule = STR_INIT("enum-value-removed"),
      .severity = FINDING_ERROR,
      .message = STR_INIT("tool search_issues: argument `state` lost the enum value \"all\""),
      .file = STR_INIT("golden.jsonl"),
      .line = 6,
      .path = STR_INIT("$.inputSchema.properties.state.enum"),
      .recorded = STR_INIT("[\"open\",\"closed\",\"all\"]"),
      .live = STR_INIT("[\"open\",\"closed\"]"),
      .hint = STR_INIT("3 of 214 recorded calls use it") },
    { .rule = STR_INIT("description-changed"),
      .severity = FINDING_WARNING,
      .message = STR_INIT("tool get_report: the description changed") },
    { .rule = STR_INIT("tool-added"),
      .severity = FINDING_NOTE,
      .message = STR_INIT("tool delete_issue: new") },
};

static const struct verdict_report_run sample_run = {
    .command = STR_INIT("verify"),
    .file = STR_INIT("golden.jsonl"),
    .target = STR_INIT("node dist/index.js"),
    .server_name = STR_INIT("github-mcp"),
    .server_version = STR_INIT("2.4.0"),
    .protocol = STR_INIT("2025-11-25"),
    .call_count = sizeof calls / sizeof *calls,
};

static const struct verdict_report_step steps[] = {
    { STR_INIT("accept"),
      STR_INIT("mcpreel verify golden.jsonl --update=3,5 -- node dist/index.js") },
    { STR_INIT("view"), STR_INIT("mcpreel diff golden.jsonl live.jsonl") },
};

static void add_to_totals(struct call_verdict_totals *t, const struct call_verdict *v)
{
    t->count[v->kind]++;
    t->updated += v->updated;
    t->not_read_only += v->not_read_only;
    for (size_t i = 0; i < v->finding_count; i++)
        t->findings[v->findings[i].severity]++;
}

static void play_recording(struct verdict_report *to, const struct verdict_report_run *run,
                           const struct call_verdict *v, size_t count, const struct finding *f,
                           size_t finding_count)
{
    struct call_verdict_totals totals = { .duration_us = 1400000 };

    to->begin(to, run);
    for (size_t i = 0; i < count; i++) {
        add_to_totals(&totals, &v[i]);
        to->verdict(to, &v[i]);
    }
    for (size_t i = 0; i < finding_count; i++) {
        totals.findings[f[i].severity]++;
        to->finding(to, &f[i]);
    }
    to->end(to, &(struct verdict_report_result){
                    .totals = &totals, .exit_code = 1, .steps = steps, .step_count = 2 });
}

static void play(struct verdict_report *to, const struct verdict_report_run *run,
                 const struct call_verdict *v, size_t count, const struct finding *f,
                 size_t finding_count)
{
    play_recording(to, run, v, count, f, finding_count);
    to->finish(to);
}

void verdict_sample_play_several(struct verdict_report *to, size_t recordings)
{
    for (size_t i = 0; i < recordings; i++) {
        struct verdict_report_run run = sample_run;
        char name[32];

        run.file = str_n(name, (size_t)snprintf(name, sizeof name, "%zu.jsonl", i));
        play_recording(to, &run, calls, sizeof calls / sizeof *calls, contract,
                       sizeof contract / sizeof *contract);
    }
    to->finish(to);
}

void verdict_sample_play(struct verdict_report *to)
{
    play(to, &sample_run, calls, sizeof calls / sizeof *calls, contract,
         sizeof contract / sizeof *contract);
}

/* A control sequence, NUL, BEL, DEL, C1, bidi, zero-width, a noncharacter, no UTF-8, and the
 * markup of all outputs. */
#define HOSTILE                                                                                \
    "\x1b[31m \0 \a \x7f \xc2\x9b \xe2\x80\xae \xe2\x80\x8b \xef\xbf\xbf \xff a\r\nb\t"        \
    "]]> <b>&amp;</b> | `c` **d** $e 100% ::error::x,y:z </details> <!-- \" ' -->"

/* A JSON string of 300 KB with `mark` in the middle. */
static void add_long_value(struct buf *to, const char *mark)
{
    buf_add_ch(to, '"');
    for (size_t i = 0; i < 300000; i++) {
        if (i == 150000)
            buf_add(to, str_z(mark));
        buf_add_ch(to, 'x');
    }
    buf_add_ch(to, '"');
}

void verdict_sample_play_hostile(struct verdict_report *to)
{
    static const struct verdict_report_run run = { .command = STR_INIT("verify"),
                                                   .file = STR_INIT(HOSTILE),
                                                   .target = STR_INIT(HOSTILE),
                                                   .server_name = STR_INIT(HOSTILE),
                                                   .server_version = STR_INIT(HOSTILE),
                                                   .protocol = STR_INIT(HOSTILE) };
    struct buf recorded, live, text;

    buf_init(&recorded, 1 << 20);
    buf_init(&live, 1 << 20);
    buf_init(&text, 1 << 20);
    add_long_value(&recorded, "| ]]> `<i>` \xe2\x80\xae\\u001b one ");
    add_long_value(&live, "| ]]> `<i>` \xe2\x80\xae\\u001b two ");
    for (size_t i = 0; i < 10000; i++)
        buf_add(&text, STR("&<\x01"));
    struct finding found[] = {
        { .rule = STR(HOSTILE),
          .severity = FINDING_ERROR,
          .message = STR(HOSTILE),
          .file = STR(HOSTILE),
          .line = 3,
          .path = STR("$." HOSTILE),
          .recorded = buf_str(&recorded),
          .live = buf_str(&live),
          .hint = STR(HOSTILE) },
        { .rule = STR("long|rule"), .severity = FINDING_ERROR, .message = buf_str(&text) },
        { .rule = STR("warning"), .severity = FINDING_WARNING, .message = STR(HOSTILE) },
    };
    struct call_verdict v[] = {
        { .number = 1,
          .seq = 3,
          .line = 3,
          .method = STR(HOSTILE),
          .subject = STR(HOSTILE),
          .kind = VERDICT_FAILED,
          .failure = FAILURE_CONTENT,
          .findings = found,
          .finding_count = 3 },
        { .number = 2,
          .method = buf_str(&text),
          .subject = buf_str(&text),
          .kind = VERDICT_SKIPPED,
          .reason = STR(HOSTILE),
          .duration_us = -1 },
        { .number = 3, .method = STR(HOSTILE), .duration_us = INT64_MAX },
    };

    play(to, &run, v, 3, found, 3);
    buf_release(&recorded);
    buf_release(&live);
    buf_release(&text);
}

static void play_many(struct verdict_report *to, struct call_verdict_totals *totals,
                      size_t number, enum verdict_kind kind)
{
    struct finding f = { .rule = STR("content-changed"),
                         .message = STR("the value changed"),
                         .path = STR("$.result"),
                         .recorded = STR("1"),
                         .live = STR("2") };
    struct call_verdict v = { .number = (uint32_t)number,
                              .seq = (uint32_t)(2 * number),
                              .line = 2 * number + 1,
                              .method = STR("tools/call"),
                              .subject = STR("t"),
                              .kind = kind,
                              .findings = &f,
                              .duration_us = 1000 };

    if (kind == VERDICT_FAILED) {
        v.failure = FAILURE_CONTENT;
        v.finding_count = 1;
    }
    add_to_totals(totals, &v);
    to->verdict(to, &v);
}

void verdict_sample_play_many(struct verdict_report *to, size_t passed, size_t failed)
{
    struct call_verdict_totals totals = { .duration_us = 1400000 };

    to->begin(to, &sample_run);
    for (size_t i = 0; i < passed + failed; i++)
        play_many(to, &totals, i + 1, i < passed ? VERDICT_PASSED : VERDICT_FAILED);
    to->end(to, &(struct verdict_report_result){ .totals = &totals, .exit_code = failed > 0 });
    to->finish(to);
}

void verdict_sample_play_empty(struct verdict_report *to)
{
    static const struct verdict_report_run run = { .command = STR_INIT("verify") };

    play(to, &run, NULL, 0, NULL, 0);
}

/* Returns the number of the first line that differs. */
static size_t first_difference(struct str a, struct str b)
{
    size_t line = 1;

    for (size_t i = 0; i < a.len && i < b.len && a.at[i] == b.at[i]; i++)
        line += a.at[i] == '\n';
    return line;
}

void verdict_sample_assert_file(struct str got, const char *path)
{
    struct err e = ERR_NONE;
    struct buf want;

    if (getenv("MCPREEL_TEST_REWRITE"))
        temp_dir_put(path, got);
    buf_init(&want, 1 << 24);
    if (!file_read_all(&want, &sys_real, path, &e))
        fail_msg("%s", e.msg);
    if (!str_eq(got, buf_str(&want)))
        fail_msg("%s:%zu: got\n%.*s", path, first_difference(got, buf_str(&want)),
                 STR_ARG(got));
    buf_release(&want);
}

void verdict_sample_assert_no_controls(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != '\n' && (unsigned char)text.at[i] < ' ')
            fail_msg("byte %d at %zu", text.at[i], i);
}
