#include "engine/stage-send.h"

#include "base/mem.h"
#include "engine/crossing.h"
#include "engine/id-place.h"
#include "engine/review.h"
#include "engine/subscription.h"
#include "mcp/code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "json/splice.h"

/* A client that has not answered by then never will. */
enum { QUESTION_US = 60 * 1000000 };

struct json_val stage_send_recorded(struct stage *s, uint32_t step)
{
    struct json_val root = JSON_VAL_NONE;

    if (s->trouble.kind != ERR_OK ||
        !script_read_step(s->script, step, &s->read, &root, &s->trouble))
        return JSON_VAL_NONE;
    return root;
}

void stage_send_for(struct stage *s, const struct stage_play *p)
{
    const struct script_step *step = &s->script->steps[p->step];

    s->say->way = (struct action_way){ .exchange = p->exchange,
                                       .seq = s->script->ops[p->op].seq,
                                       .step = p->step,
                                       .apart = p->step && step->apart };
}

static void send_spliced(struct stage *s, struct json_splice *edit)
{
    buf_clear(&s->text);
    json_splice_apply(edit, &s->text);
    BUG_IF(s->text.full);
    say_message(s->say, buf_str(&s->text));
}

/* What the client minted is put in where the protocol has it. In a text it stands as it was:
 * nobody knows what else there would have to be changed. That is told. */
static void look_for_token(struct stage *s, const struct stage_play *p, struct str message)
{
    if (p->old_token.len && str_has(message, p->old_token))
        review_token(s->review, p->op);
}

/* The recorded revision stands, unless the live client is older: it could not speak
 * it. */
static void settle_version(struct stage *s, const struct stage_play *p, struct json_val version,
                           struct json_splice *edit)
{
    enum mcp_version recorded = mcp_version_parse(json_text(version, &s->read.arena));
    bool older = p->asked != MCP_VERSION_UNKNOWN && p->asked < recorded;

    s->version = older ? p->asked : recorded;
    if (older)
        json_splice_replace(edit, version, p->version);
}

/* An answer of which nothing but the id is changed, if it is known where that stands. */
static bool send_unparsed(struct stage *s, const struct stage_play *p)
{
    struct buf *read = &s->read.text;
    struct str id;

    if (p->version.len || p->crosses || s->trouble.kind != ERR_OK ||
        !script_fetch_step(s->script, p->step, read, &s->trouble) ||
        !id_place_find(buf_str(read), s->script->steps[p->step].id_place, &id))
        return false;
    buf_clear(&s->text);
    buf_add(&s->text, str_n(read->at, (size_t)(id.at - read->at)));
    buf_add(&s->text, p->id);
    buf_add(&s->text, str_skip(buf_str(read), (size_t)(id.at - read->at) + id.len));
    BUG_IF(s->text.full);
    s->say->way.last = true;
    say_message(s->say, buf_str(&s->text));
    return true;
}

static bool send_parsed(struct stage *s, const struct stage_play *p)
{
    struct json_val root = stage_send_recorded(s, p->step);
    struct json_splice edit;

    if (!json_exists(root)) {
        say_error(s->say, p->id, MCP_INTERNAL_ERROR, STR("the recording cannot be read"),
                  STR_NONE);
        return false;
    }
    json_splice_init(&edit, root);
    json_splice_replace(&edit, json_get(root, STR("id")), p->id);
    if (p->version.len)
        settle_version(s, p, json_get(json_get(root, STR("result")), STR("protocolVersion")),
                       &edit);
    if (p->crosses)
        crossing_to_newer(&edit, root, script_method(s->script, p->op)->known);
    s->say->way.last = true;
    send_spliced(s, &edit);
    return true;
}

static void send_answer(struct stage *s, struct stage_play *p)
{
    if (!send_unparsed(s, p) && !send_parsed(s, p))
        return;
    look_for_token(s, p, buf_str(&s->text));
    s->answered++;
    p->announced = p->open = false;
    if (p->crosses) /* what came later had nothing to do with the request */
        p->step = s->script->ops[p->op].last;
}

static void send_progress(struct stage *s, struct stage_play *p)
{
    struct json_val root, token;
    struct json_splice edit;

    if (!p->token.len)
        return; /* this client did not ask for progress */
    root = stage_send_recorded(s, p->step);
    token = json_get(json_get(root, STR("params")), STR("progressToken"));
    if (!json_exists(token))
        return;
    json_splice_init(&edit, root);
    json_splice_replace(&edit, token, p->token);
    send_spliced(s, &edit);
    p->announced = true;
}

uint64_t stage_send_timer(struct stage *s, int64_t delay_us)
{
    say_timer(s->say, ++*s->timers, delay_us);
    return *s->timers;
}

/* A question goes only to a client that can answer it. Its recorded id is kept
 * unless another question is under way with the same one. */
static void send_question(struct stage *s, struct stage_play *p)
{
    struct json_val root = stage_send_recorded(s, p->step), id = json_get(root, STR("id"));
    struct arena *a = &s->read.arena;
    struct str method = json_text(json_get(root, STR("method")), a), key = mcp_id_key(id, a);
    struct stage_question *q;
    struct json_splice edit;

    if (!key.len)
        return;
    if (!audience_can_be_asked(buf_str(&s->capabilities), s->version, method,
                               json_get(root, STR("params")))) {
        review_question(s->review, p->op, method, QUESTION_LEFT_OUT);
        say_report(s->say, LOG_WARN, "left out %.*s: this client does not support it",
                   STR_ARG(method));
        return;
    }
    json_splice_init(&edit, root);
    if (map_get(&s->asked, key)) {
        struct str name = arena_printf(a, "mcpreel-%llu", (unsigned long long)++s->renamed);
        json_splice_replace(&edit, id, arena_printf(a, "\"%s\"", name.at));
        key = arena_printf(a, "s%s", name.at);
    }
    q = mem_new(struct stage_question);
    q->play = p;
    q->step = p->step;
    map_put(&s->asked, key, q);
    p->questions++;
    review_question(s->review, p->op, method, QUESTION_ASKED);
    s->say->way.asks = true;
    send_spliced(s, &edit);
    look_for_token(s, p, buf_str(&s->text));
    q->timer = stage_send_timer(s, QUESTION_US);
}

static bool is_wanted(struct stage *s, const struct stage_play *to, struct json_val root)
{
    struct mcp_message m = mcp_classify(root, &s->read.arena);
    struct json_fault fault;
    struct json j;
    bool wanted = true;

    json_init(&j);
    if (to->filter.len && json_scan(&j, to->filter, &fault))
        wanted = subscription_wants(json_root(&j), &m);
    json_release(&j);
    return wanted;
}

static bool is_acknowledgement(struct json_val root)
{
    return json_is(json_get(root, STR("method")),
                   STR("notifications/subscriptions/acknowledged"));
}

/* Of what the recorded client was granted, what the live one asks for. */
static void grant(struct stage *s, const struct stage_play *to, struct json_val granted,
                  struct json_splice *edit)
{
    struct json_fault fault;
    struct json j;

    json_init(&j);
    if (to->filter.len && json_scan(&j, to->filter, &fault))
        json_splice_replace(edit, granted,
                            subscription_grant(json_root(&j), granted, &s->read.arena));
    json_release(&j);
}

/* What a subscription is for, or its end, to one live client that has it, if it is for that:
 * nobody hears of changes before it was told that it will. */
static bool tell_subscriber(struct stage *s, struct stage_play *to, struct json_val root)
{
    struct json_val id = json_get(root, STR("id"));
    struct json_val tag = mcp_meta(json_get(root, STR("params")), MCP_META_SUBSCRIPTION);
    struct json_splice edit;

    if (!is_wanted(s, to, root) || (!to->listening && !is_acknowledgement(root)))
        return false;
    json_splice_init(&edit, root);
    json_splice_replace(&edit, json_exists(id) ? id : tag, to->id);
    if (is_acknowledgement(root))
        grant(s, to, json_get(json_get(root, STR("params")), STR("notifications")), &edit);
    if (json_exists(id))
        json_splice_replace(
            &edit, mcp_meta(json_get(root, STR("result")), MCP_META_SUBSCRIPTION), to->id);
    s->say->way.exchange = to->exchange;
    s->say->way.last = json_exists(id);
    send_spliced(s, &edit);
    to->listening = true;
    if (json_exists(id)) {
        s->answered++;
        to->open = false;
    }
    return true;
}

/* To all who took the place of the recorded subscriber. That they are subscribed, and what
 * is given again, is for the one whose request it follows. */
static void send_event(struct stage *s, struct stage_play *p)
{
    struct json_val root = stage_send_recorded(s, p->step), id = json_get(root, STR("id"));
    struct json_val tag = mcp_meta(json_get(root, STR("params")), MCP_META_SUBSCRIPTION);
    struct str key = mcp_id_key(json_exists(id) ? id : tag, &s->read.arena);
    bool only_p = p->again || is_acknowledgement(root);

    for (struct stage_play *to = s->plays; to && key.len; to = to->next)
        if (to->open && str_eq(to->listens, key) && (to == p || !only_p)) {
            if (tell_subscriber(s, to, root) && to->exchange != p->exchange)
                p->announced = true;
            to->gone = to->gone || (!to->open && to != p);
        }
}

/* From which level on the recorded client wanted to hear of logs. */
static enum audience_level recorded_level(struct stage *s, uint32_t op)
{
    struct json_val root;

    if (s->script->ops[op].flags & STRAND_OPENING ||
        !script_read_op(s->script, op, &s->read, &root, &s->trouble))
        return AUDIENCE_ALL;
    return audience_level(json_get(json_get(root, STR("params")), MCP_META_KEY));
}

/* Logs that the live client does not ask for are left out if that is why the recorded one
 * got them: a server that sends them to anybody is played as it is. */
static void send_plain(struct stage *s, struct stage_play *p)
{
    struct json_val root = stage_send_recorded(s, p->step);

    if (!audience_hears(p->level, root)) {
        enum audience_level then = recorded_level(s, p->op);

        root = stage_send_recorded(s, p->step);
        if (audience_hears(then, root))
            return;
    }
    if (!json_exists(root) || (p->crosses && !crossing_can_be_told(root)))
        return;
    say_message(s->say, json_raw(root));
    look_for_token(s, p, json_raw(root));
    p->announced = p->announced || (s->say->way.apart && p->exchange);
}

void stage_send_step(struct stage *s, struct stage_play *p)
{
    const struct script_step *step = &s->script->steps[p->step];
    bool silent = p->again && (step->kind == STEP_SEND || step->kind == STEP_ASK);

    if (silent)
        return;
    p->since_ms = step->ms;
    stage_send_for(s, p);
    switch ((enum script_step_kind)step->kind) {
    case STEP_SEND:
        send_plain(s, p);
        break;
    case STEP_PROGRESS:
        send_progress(s, p);
        break;
    case STEP_EVENT:
        send_event(s, p);
        break;
    case STEP_ASK:
        if (!p->crosses) /* else it is a ping, which the newer era does not have */
            send_question(s, p);
        break;
    case STEP_ANSWER:
        send_answer(s, p);
        break;
    case STEP_REPLY:
    case STEP_HEAR:
        break;
    }
}
