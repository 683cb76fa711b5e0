#include "engine/review.h"

#include "json/write.h"

enum { REQUESTS_LISTED = 1000, NAME_KEPT = 1000 };

void review_init(struct review *r, const struct script *script)
{
    *r = (struct review){ .script = script };
    spent_init(&r->used, script->op_count);
    spent_init(&r->passed, script->op_count);
    spent_init(&r->tokens, script->op_count);
}

void review_release(struct review *r)
{
    spent_release(&r->used);
    spent_release(&r->passed);
    spent_release(&r->tokens);
    arena_release(&r->arena);
}

static void mark(struct spent *strands, uint64_t *count, uint32_t op)
{
    *count += !spent_has(strands, op);
    spent_mark(strands, op, true);
}

static void pass(struct review *r, uint32_t op)
{
    mark(&r->passed, &r->passed_count, op);
}

/* All that is unused before what was found; each strand is looked at once for a client. */
static void note_passed(struct review *r, const struct match *m, const struct spent *spent)
{
    const struct script_op *ops = r->script->ops;

    pass(r, m->passed);
    for (uint32_t op = m->before + 1; op < m->op; op++)
        if (ops[op].session == ops[m->op].session && ops[op].flags & STRAND_COUNTS &&
            !spent_has(spent, op))
            pass(r, op);
}

void review_match(struct review *r, const struct match *m, const struct spent *spent)
{
    r->requests++;
    r->found += m->outcome == MATCH_FOUND;
    r->again += m->outcome == MATCH_AGAIN;
    r->borrowed += m->borrowed;
    r->differing += m->differs;
    r->masked += (r->script->ops[m->op].flags & STRAND_MASKED) != 0;
    spent_mark(&r->used, m->op, true);
    r->blurred += m->blur != 0;
    if (m->passed)
        note_passed(r, m, spent);
}

void review_token(struct review *r, uint32_t op)
{
    mark(&r->tokens, &r->token_count, op);
}

void review_refusal(struct review *r)
{
    r->refused++;
}

void review_question(struct review *r, uint32_t op, struct str method,
                     enum review_question what)
{
    r->questions[what]++;
    if (what == QUESTION_ASKED || r->remarked == REVIEW_KEPT)
        return;
    r->remarks[r->remarked++] = (struct review_remark){
        .method = arena_clip(&r->arena, method, NAME_KEPT), .what = what, .op = op
    };
}

void review_miss(struct review *r, const struct mcp_message *live, const struct miss *why)
{
    struct review_miss *m = &r->misses[r->kept];

    r->requests++;
    r->missed++;
    if (r->kept == REVIEW_KEPT)
        return;
    m->method = arena_clip(&r->arena, live->method, NAME_KEPT);
    m->subject = arena_clip(&r->arena, why->subject, NAME_KEPT);
    m->reason = why->reason;
    m->nearest = why->nearest;
    r->kept++;
}

uint32_t review_next_unused(const struct review *r, uint32_t op)
{
    while (++op < r->script->op_count)
        if (r->script->ops[op].flags & STRAND_COUNTS && !spent_has(&r->used, op))
            return op;
    return 0;
}

uint64_t review_unused(const struct review *r)
{
    uint64_t count = 0;

    for (uint32_t op = 0; (op = review_next_unused(r, op));)
        count++;
    return count;
}

/* What a recorded request is about; it has to be read for that. */
static struct str subject_of(const struct review *r, uint32_t op, struct script_text *t)
{
    struct err e = ERR_NONE;
    struct json_val root;

    if (!script_read_op(r->script, op, t, &root, &e))
        return STR_NONE;
    return json_text(
        mcp_subject(script_method(r->script, op)->name, json_get(root, STR("params"))),
        &t->arena);
}

void review_name(const struct review *r, uint32_t op, struct buf *to)
{
    struct script_text t;
    struct str subject;

    script_text_init(&t);
    subject = subject_of(r, op, &t);
    buf_printf(to, "#%lu %.*s", (unsigned long)r->script->ops[op].seq,
               STR_ARG(script_method(r->script, op)->name));
    if (subject.len)
        buf_printf(to, " %.*s", STR_ARG(subject));
    script_text_release(&t);
}

static void write_request(struct json_out *o, const struct review *r, uint32_t op)
{
    struct script_text t;
    struct str subject;

    script_text_init(&t);
    subject = subject_of(r, op, &t);
    json_out_object(o);
    json_out_key_int(o, STR("seq"), r->script->ops[op].seq);
    json_out_key_str(o, STR("method"), script_method(r->script, op)->name);
    if (subject.len)
        json_out_key_str(o, STR("subject"), subject);
    json_out_end_object(o);
    script_text_release(&t);
}

static void write_miss(struct json_out *o, const struct review *r, const struct review_miss *m)
{
    json_out_object(o);
    json_out_key_str(o, STR("method"), m->method);
    if (m->subject.len)
        json_out_key_str(o, STR("subject"), m->subject);
    json_out_key_str(o, STR("reason"), str_z(m->reason));
    if (m->nearest) {
        json_out_key(o, STR("nearest"));
        write_request(o, r, m->nearest);
    }
    json_out_end_object(o);
}

static void write_counts(struct json_out *o, const struct review *r)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        { "requests", r->requests },
        { "matched", r->found },
        { "repeated", r->again },
        { "borrowed", r->borrowed },
        { "differing", r->differing },
        { "redacted", r->masked },
        { "ambiguous", r->blurred },
        { "passed_over", r->passed_count },
        { "refused", r->refused },
        { "unmatched", r->missed },
        { "passed_through", r->forwarded },
        { "unused", review_unused(r) },
        { "questions", r->questions[QUESTION_ASKED] },
        { "questions_differing", r->questions[QUESTION_DIFFERS] },
        { "questions_left_out", r->questions[QUESTION_LEFT_OUT] },
        { "questions_unanswered", r->questions[QUESTION_UNANSWERED] },
        { "tokens_left", r->token_count },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_out_key_int(o, str_z(rows[i].name), (int64_t)rows[i].count);
}

static void write_remark(struct json_out *o, const struct review *r,
                         const struct review_remark *m)
{
    static const char *const words[QUESTIONS] = { [QUESTION_DIFFERS] = "differs",
                                                  [QUESTION_LEFT_OUT] = "left out",
                                                  [QUESTION_UNANSWERED] = "no answer" };

    json_out_object(o);
    json_out_key_str(o, STR("method"), m->method);
    json_out_key_str(o, STR("outcome"), str_z(words[m->what]));
    if (!(r->script->ops[m->op].flags & STRAND_OPENING)) {
        json_out_key(o, STR("request"));
        write_request(o, r, m->op);
    }
    json_out_end_object(o);
}

static uint32_t next_marked(const struct review *r, const struct spent *strands, uint32_t op)
{
    while (++op < r->script->op_count)
        if (spent_has(strands, op))
            return op;
    return 0;
}

static uint32_t next_passed(const struct review *r, uint32_t op)
{
    return next_marked(r, &r->passed, op);
}

uint32_t review_next_token(const struct review *r, uint32_t op)
{
    return r->token_count ? next_marked(r, &r->tokens, op) : 0;
}

/* The first recorded requests that `next` finds, as an array. */
static void write_requests(struct json_out *o, const struct review *r, const char *name,
                           uint32_t (*next)(const struct review *r, uint32_t op))
{
    size_t listed = 0;

    json_out_key(o, str_z(name));
    json_out_array(o);
    for (uint32_t op = 0; listed++ < REQUESTS_LISTED && (op = next(r, op));)
        write_request(o, r, op);
    json_out_end_array(o);
}

void review_write(const struct review *r, struct buf *to, int exit_code)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), 1);
    json_out_key_str(&o, STR("command"), STR("replay"));
    json_out_key_int(&o, STR("exit_code"), exit_code);
    write_counts(&o, r);
    json_out_key(&o, STR("unmatched_requests"));
    json_out_array(&o);
    for (size_t i = 0; i < r->kept; i++)
        write_miss(&o, r, &r->misses[i]);
    json_out_end_array(&o);
    write_requests(&o, r, "passed_over_requests", next_passed);
    json_out_key(&o, STR("question_remarks"));
    json_out_array(&o);
    for (size_t i = 0; i < r->remarked; i++)
        write_remark(&o, r, &r->remarks[i]);
    json_out_end_array(&o);
    write_requests(&o, r, "tokens_left_requests", review_next_token);
    write_requests(&o, r, "unused_requests", review_next_unused);
    json_out_end_object(&o);
}
