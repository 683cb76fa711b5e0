#include "engine/mock.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

enum { STRANDS_SHOWN = 5, LAST_WAIT_US = 60 * 1000000, GRACE_US = 1000000 };

/* Without sessions there is no start that anything could be counted from. */
static enum match_exhausted when_exhausted(const struct mock_options *options, bool stateless)
{
    if (options->exhausted_given)
        return options->match.exhausted;
    return stateless ? EXHAUSTED_CYCLE : EXHAUSTED_ERROR;
}

void mock_init(struct mock *m, const struct script *script, struct fuzzy *fuzzy,
               const struct mock_options *options, struct action_sink *out)
{
    *m = (struct mock){ .script = script, .options = *options };
    m->options.match.exhausted =
        when_exhausted(options, options->shared || (script->modern && !script->legacy));
    m->options.match.stateless = when_exhausted(options, true);
    say_init(&m->say, out);
    matcher_init(&m->matcher, script, &m->options.match, fuzzy);
    review_init(&m->review, script);
    upstream_init(&m->upstream, &m->say, &m->host.timers, options->far);
    m->host = (struct session_host){
        .script = script,
        .matcher = &m->matcher,
        .review = &m->review,
        .upstream = &m->upstream,
        .say = &m->say,
        .on_miss = options->on_miss,
        .fail_at_end = options->fail_at_end,
        .recorder = options->recorder,
        .pace = options->pace,
    };
    session_host_init(&m->host);
    m->first = &mock_add_client(m)->session;
}

struct mock_client *mock_add_client(struct mock *m)
{
    struct mock_client *c = mem_new(struct mock_client);

    session_init(&c->session, &m->host);
    c->next = m->clients;
    c->at = &m->clients;
    if (c->next)
        c->next->at = &c->next;
    m->clients = c;
    return c;
}

static void free_client(struct mock_client *c)
{
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    session_release(&c->session);
    free(c);
}

void mock_drop_client(struct mock *m, struct mock_client *c)
{
    m->answered += c->session.stage.answered;
    upstream_forget(&m->upstream, &c->session, 0);
    free_client(c);
}

void mock_release(struct mock *m)
{
    while (m->clients)
        free_client(m->clients);
    upstream_release(&m->upstream);
    session_host_release(&m->host);
    review_release(&m->review);
    matcher_release(&m->matcher);
    say_release(&m->say);
}

/* `what`, and the first of `count` strands. */
static void report_strands(struct mock *m, enum log_level level, const char *what,
                           uint64_t count,
                           uint32_t (*next)(const struct review *r, uint32_t op))
{
    struct buf names;
    uint64_t shown = 0;

    if (!count)
        return;
    buf_init(&names, LIMIT_MESSAGE);
    for (uint32_t op = 0; shown < STRANDS_SHOWN && (op = next(&m->review, op)); shown++) {
        buf_add(&names, shown ? STR(", ") : STR_NONE);
        review_name(&m->review, op, &names);
    }
    if (count > shown)
        buf_printf(&names, " and %llu more", (unsigned long long)(count - shown));
    say_report(&m->say, level, "%s: %s", what, buf_z(&names));
    buf_release(&names);
}

static bool left_unserved(const struct mock *m)
{
    return m->host.unserved || m->host.stranger;
}

static int exit_code(const struct mock *m)
{
    if (m->host.exit_code)
        return m->host.exit_code;
    if (m->upstream.failed)
        return 4;
    if (left_unserved(m))
        return 1;
    return m->options.strict_unused && review_unused(&m->review) ? 1 : 0;
}

static void summarise(struct mock *m)
{
    uint64_t answered = m->answered;

    for (const struct mock_client *c = m->clients; c; c = c->next)
        answered += c->session.stage.answered;
    say_report(&m->say, LOG_INFO, "answered %llu request%s from the recording, %llu unmatched",
               (unsigned long long)answered, answered == 1 ? "" : "s",
               (unsigned long long)m->review.missed);
    if (left_unserved(m))
        say_report(&m->say, LOG_ERROR,
                   "a client was not served: its protocol version is not in the recording");
    report_strands(m, LOG_INFO, "a recorded progress token stands in a text and was left there",
                   m->review.token_count, review_next_token);
    report_strands(m, m->options.strict_unused ? LOG_ERROR : LOG_INFO, "never asked for",
                   review_unused(&m->review), review_next_unused);
}

/* The server behind it may answer a client that has closed its end, but not for ever. */
static bool waits_for_upstream(struct mock *m)
{
    if (!upstream_owes(&m->upstream))
        return false;
    if (!m->last_wait) {
        m->last_wait = ++m->host.timers;
        say_timer(&m->say, m->last_wait, m->hurried ? GRACE_US : LAST_WAIT_US);
    }
    return true;
}

static void give_up_upstream(struct mock *m)
{
    upstream_give_up(&m->upstream, m->hurried
                                       ? STR("it had not answered when the replay was ended")
                                       : STR("it does not answer"));
}

static bool needs_time(const struct mock *m)
{
    const struct mock_client *c = m->clients;

    while (c && !stage_needs_time(&c->session.stage))
        c = c->next;
    return c != NULL;
}

void mock_hurry(struct mock *m)
{
    m->closed = true;
    if (!m->hurried)
        m->last_wait = 0; /* there may be one that is too long */
    m->hurried = true;
}

/* A client that has closed its end, or that asked for too much, may still wait for
 * an answer that is only delayed. */
void mock_settle(struct mock *m)
{
    m->closed = m->closed || m->host.over;
    if (m->finished || !m->closed || needs_time(m) || waits_for_upstream(m))
        return;
    summarise(m);
    m->review.forwarded = m->upstream.forwarded;
    m->exit_code = exit_code(m);
    m->finished = true;
    say_finish(&m->say, m->exit_code);
}

void mock_step(struct mock *m, const struct event *ev)
{
    if (m->finished)
        return;
    switch (ev->kind) {
    case EVENT_OPENED:
        session_open(m->first, ev->now_us);
        break;
    case EVENT_RECORD:
        if (!m->closed)
            session_hear(m->first, ev->record, ev->now_us);
        break;
    case EVENT_TIMER:
        if (ev->timer == m->last_wait)
            give_up_upstream(m);
        else if (!upstream_hear_timer(&m->upstream, ev->timer))
            session_timer(m->first, ev->timer, ev->now_us);
        break;
    case EVENT_CLOSED:
        m->closed = true;
        if (ev->hurry)
            mock_hurry(m);
        session_close(m->first, ev->hurry, ev->now_us);
        break;
    case EVENT_UPSTREAM:
        upstream_hear(&m->upstream, ev->record);
        break;
    case EVENT_UPSTREAM_CLOSED:
        upstream_closed(&m->upstream, ev->why);
        break;
    case EVENT_UPSTREAM_LOST:
        upstream_lost(&m->upstream, ev->why);
        break;
    default:
        BUG("a client on HTTP has a mock of its own");
    }
    mock_settle(m);
}

void mock_report(const struct mock *m, struct buf *to)
{
    review_write(&m->review, to, m->exit_code);
}
