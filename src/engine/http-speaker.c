#include "engine/http-speaker.h"

#include "engine/http-endpoint.h"
#include "mcp/code.h"

enum {
    NOTE_S = 2,      /* a notification is waited for so long before the next message goes */
    ENDPOINT_S = 30, /* to be told where messages go to */
    SILENCE_S = 10,  /* once the client has closed */
    CLOSED_S = 3600, /* and in all */
    DELETE_S = 2,
    LINGER_S = 5, /* a stream that has brought its answer */
    SECOND_US = 1000000,
    COMPLAINT_MAX = 64 << 10,

    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
};

#define SESSION_ENDED "the server has ended the session"

void http_speaker_init(struct http_speaker *s, const struct url *url, struct action_sink *out)
{
    *s = (struct http_speaker){ .url = url };
    s->anew = STR("the client has to initialize again");
    say_init(&s->say, out);
    http_peer_init(&s->peer, url);
    http_told_init(&s->told, &s->say, &s->peer, &s->arena);
    json_init(&s->json);
    buf_init(&s->complaint, COMPLAINT_MAX);
    buf_init(&s->unspoken, COMPLAINT_MAX);
    http_relist_init(&s->relist);
}

void http_speaker_release(struct http_speaker *s)
{
    http_said_release(&s->said);
    http_talk_release_all(&s->talks);
    http_told_release(&s->told);
    http_peer_release(&s->peer);
    json_release(&s->json);
    arena_release(&s->arena);
    buf_release(&s->complaint);
    buf_release(&s->unspoken);
    http_relist_release(&s->relist);
    say_release(&s->say);
}

static uint64_t set_timer(struct http_speaker *s, int64_t delay_us)
{
    say_timer(&s->say, ++s->timers, delay_us);
    return s->timers;
}

static void ask(struct http_speaker *s, struct http_talk *t, struct step_ask *ask)
{
    s->asked++;
    http_talk_ask(&s->talks, t, &s->say, ask, s->now_us);
    fields_release(&ask->fields);
}

static void ask_stream(struct http_speaker *s, struct http_talk *t)
{
    struct step_ask a;

    http_peer_get(&s->peer, buf_str(&t->heard.last_event), &a);
    ask(s, t, &a);
}

static void ask_delete(struct http_speaker *s)
{
    struct step_ask a;

    http_peer_delete(&s->peer, &a);
    ask(s, http_talk_new(&s->talks, HTTP_TALK_DELETE), &a);
}

/* `m` is NULL for several messages at once. */
static void post(struct http_speaker *s, struct http_talk *t, const struct mcp_message *m,
                 struct str text)
{
    struct step_ask a;

    t->modern = http_peer_post(&s->peer, m, text, &s->arena, &a);
    if (t->modern && str_eq(m->method, STR("tools/call"))) {
        http_talk_keep(t, text);
        buf_clear(&t->lines);
        http_params_text_of(&s->peer.params, m, &t->lines, &s->arena);
    }
    ask(s, t, &a);
}

/* All answers come on the stream of HTTP+SSE: none can any more. */
static bool is_cut_off(const struct http_speaker *s)
{
    return s->way == HTTP_SPEAKER_OLD && (!s->stream || s->stream->over);
}

/* What servers of old answer to what is posted to their streams. */
static bool is_refusal_of_old(unsigned status)
{
    return status == BAD_REQUEST || status == NOT_FOUND || status == NOT_ALLOWED;
}

/* Why there is no answer, from now on in `complaint`. */
static struct str complain(struct http_speaker *s, const struct http_talk *t, struct str why)
{
    if (!why.len && is_cut_off(s) && http_heard_is_fine(&t->heard))
        why = STR(SESSION_ENDED);
    else if (!why.len && is_refusal_of_old(t->heard.status))
        why = buf_str(&s->unspoken);
    buf_clear(&s->complaint);
    http_talk_complain(t, s->ended ? s->anew : STR_NONE, why, &s->complaint);
    return buf_str(&s->complaint);
}

/* What has just ended was whole, and is no answer all the same: a recording is to say why. */
static void find_fault(struct http_speaker *s, struct str why)
{
    struct action a = { .kind = ACTION_FAULT, .text = why, .way = { .exchange = s->ending } };

    if (s->ending)
        s->say.out->put(s->say.out, &a);
    s->ending = 0;
}

static void hear_text(struct http_speaker *s, struct http_talk *t, struct str text)
{
    http_told_text(&s->told, t, text);
    /* It should end now, and need not be waited for if it does not. */
    if (t->kind == HTTP_TALK_POST && t->exchange && !t->timer &&
        (t == s->lister ? s->relist.heard : !http_waits_of(&s->told.waits, t)))
        t->timer = set_timer(s, (int64_t)LINGER_S * SECOND_US);
}

static void drop_stream(struct http_speaker *s, struct str why)
{
    if (s->stream)
        http_talk_drop(s->stream, &s->say, why);
    s->stream = NULL;
}

/* Is it a server of old? What it was to be told first waits for where that has to go. */
static void open_old(struct http_speaker *s, struct http_talk *hello)
{
    s->way = HTTP_SPEAKER_OPENING;
    s->hello = hello;
    s->stream = http_talk_new(&s->talks, HTTP_TALK_STREAM);
    ask_stream(s, s->stream);
    s->stream->timer = set_timer(s, (int64_t)ENDPOINT_S * SECOND_US);
}

/* It is none, or none that can be spoken to. */
static void give_up_old(struct http_speaker *s, struct str why)
{
    const struct http_talk *of = s->hello->heard.status ? s->hello : s->stream;
    struct str said = complain(s, of, why);

    s->way = HTTP_SPEAKER_STREAMABLE;
    buf_add(&s->unspoken, why);
    buf_clear(&s->peer.endpoint);
    drop_stream(s, why);
    http_told_fail(&s->told, s->hello, of->heard.status, said);
    s->hello->over = true;
}

/* A message that is kept; good until the next one is read. */
static struct mcp_message read_kept(struct http_speaker *s, struct str text)
{
    struct json_fault fault;

    if (!json_scan(&s->json, text, &fault))
        BUG("it was read before");
    return mcp_classify(json_root(&s->json), &s->arena);
}

/* What a talk carries, in one more request. */
static void post_again(struct http_speaker *s, struct http_talk *t)
{
    struct str text = str_n(t->text, t->text_len);
    struct mcp_message m = read_kept(s, text);

    post(s, t, &m, text);
}

static void take_endpoint(struct http_speaker *s, struct str where)
{
    struct err e = ERR_NONE;

    if (s->way != HTTP_SPEAKER_OPENING)
        return;
    if (!http_endpoint_read(&s->peer.endpoint, where, s->url, &s->arena, &e)) {
        give_up_old(s, str_z(e.msg));
        return;
    }
    say_report(&s->say, LOG_INFO, "the server speaks HTTP+SSE, as of 2024-11-05");
    s->way = HTTP_SPEAKER_OLD;
    s->stream->timer = 0;
    post_again(s, s->hello);
}

static void open_stream(struct http_speaker *s)
{
    if (s->stream || s->way != HTTP_SPEAKER_STREAMABLE || s->state != HTTP_SPEAKER_OPEN)
        return;
    s->stream = http_talk_new(&s->talks, HTTP_TALK_STREAM);
    ask_stream(s, s->stream);
}

static void note_end_of_session(struct http_speaker *s)
{
    if (!s->ended)
        say_report(&s->say, LOG_WARN, SESSION_ENDED ": %.*s", STR_ARG(s->anew));
    s->ended = true;
}

static void hear_head(struct http_speaker *s, struct http_talk *t, const struct event *ev)
{
    const struct field *id = fields_next(ev->fields, STR("mcp-session-id"), NULL);

    s->reached++;
    http_heard_head(&t->heard, ev->status, ev->fields, s->url);
    if (ev->status == NOT_FOUND && s->peer.session.len && !t->modern &&
        t->kind != HTTP_TALK_DELETE)
        note_end_of_session(s);
    if (!http_heard_is_fine(&t->heard))
        return;
    if (t->greets && id && s->way == HTTP_SPEAKER_STREAMABLE)
        http_peer_agree(&s->peer.session, id->value);
    if (t->ready)
        open_stream(s);
}

static void hear_event(void *to, struct str name, struct str data, bool repeated)
{
    struct http_speaker *s = to;
    struct http_talk *t = s->of;

    if (t->over || repeated)
        return;
    if (t == s->stream && str_eq(name, STR("endpoint")))
        take_endpoint(s, data);
    else if (str_eq(name, STR("message")))
        hear_text(s, t, data);
}

static void hear_data(struct http_speaker *s, struct http_talk *t, struct str bytes)
{
    uint64_t news = t->heard.news;

    s->of = t;
    http_heard_data(&t->heard, bytes, hear_event, s);
    s->heard_since |= t->heard.news > news || http_heard_is_long(&t->heard);
}

/* An answer of HTTP's to an initialize that a server of old gives, too. */
static bool may_be_old(const struct http_speaker *s, const struct http_talk *t)
{
    return t->greets && s->way == HTTP_SPEAKER_STREAMABLE && http_waits_of(&s->told.waits, t) &&
           is_refusal_of_old(t->heard.status);
}

/* The next page of tools, in the name of one whose call is held. */
static void ask_for_tools(struct http_speaker *s, const struct http_talk *held)
{
    struct mcp_message call = read_kept(s, str_n(held->text, held->text_len)), m;
    struct str text = http_relist_request(&s->relist, call.params, &s->arena);

    m = read_kept(s, text);
    s->lister = http_talk_new(&s->talks, HTTP_TALK_POST);
    s->lister->list = &s->relist;
    post(s, s->lister, &m, text);
}

/* A call that lacks header lines which nobody could know is held until they are known. */
static bool hold(struct http_speaker *s, struct http_talk *t)
{
    struct mcp_message m = http_told_message(&s->told);

    if (!t->modern || !t->text || t->again || !http_relist_is_reason(t->heard.status, &m))
        return false;
    say_report(&s->say, LOG_INFO,
               "a call lacks header lines that the schema of its tool asks for: the list of "
               "tools is asked for");
    t->again = t->held = true;
    if (!s->lister) {
        http_relist_begin(&s->relist);
        ask_for_tools(s, t);
    }
    return true;
}

/* All of an answer that is no stream; false: it is not over with it. */
static bool hear_body(struct http_speaker *s, struct http_talk *t)
{
    enum intake_kind kind;

    if (s->way == HTTP_SPEAKER_OLD && http_heard_is_fine(&t->heard)) {
        if (!is_cut_off(s)) /* that is where the answers come */
            http_waits_pass(&s->told.waits, t, s->stream);
        return true;
    }
    kind = http_told_look(&s->told, t->heard.packed ? STR_NONE : buf_str(&t->heard.body));
    if (may_be_old(s, t) && !(kind == INTAKE_MESSAGE && http_told_is_answer(&s->told, t))) {
        open_old(s, t);
        return false;
    }
    if (kind == INTAKE_MESSAGE && hold(s, t))
        return false;
    if (kind == INTAKE_MESSAGE || kind == INTAKE_BATCH)
        http_told_seen(&s->told, t);
    return true;
}

static void end_post(struct http_speaker *s, struct http_talk *t, struct str why)
{
    bool heard = http_heard_is_fine(&t->heard);
    struct str said;

    if (t->resumes || http_heard_is_stream(&t->heard))
        http_talk_count(t, s->now_us);
    if (http_waits_of(&s->told.waits, t) && s->way == HTTP_SPEAKER_STREAMABLE &&
        http_talk_may_resume(t)) {
        t->resumes = true;
        t->timer = set_timer(s, http_talk_delay_us(t));
        return;
    }
    said = complain(s, t, why);
    if (http_waits_of(&s->told.waits, t) || (t->note && !heard))
        find_fault(s, said);
    if (t->note && (!heard || why.len))
        say_report(&s->say, LOG_WARN, "a notification may not have come to the server: %.*s",
                   STR_ARG(said));
    http_told_fail(&s->told, t, heard ? 0 : t->heard.status, said);
    t->over = true;
}

/* It is sent once more, if that changes anything. */
static void let_go(struct http_speaker *s, struct http_talk *t, bool more)
{
    struct mcp_message m = read_kept(s, str_n(t->text, t->text_len));
    struct buf lines;
    bool same;

    buf_init(&lines, t->lines.max);
    http_params_text_of(&s->peer.params, &m, &lines, &s->arena);
    same = str_eq(buf_str(&lines), buf_str(&t->lines));
    buf_release(&lines);
    if (same && more)
        return;
    t->held = false;
    if (!same) {
        post_again(s, t);
        return;
    }
    hear_text(s, t, buf_str(&t->heard.body));
    end_post(s, t, STR_NONE);
}

static void end_list(struct http_speaker *s, struct str why)
{
    struct http_talk *list = s->lister;

    if (!s->relist.heard)
        find_fault(s, complain(s, list, why));
    s->ending = 0;
    list->over = true;
    s->lister = NULL;
    for (struct http_talk *t = s->talks.first; t; t = t->next)
        if (t->held)
            let_go(s, t, http_relist_goes_on(&s->relist));
    if (http_talk_held(&s->talks))
        ask_for_tools(s, http_talk_held(&s->talks));
}

/* It would have said where messages go to. If there is none, the answer to the greeting tells
 * more about the server than that. */
static void end_opening(struct http_speaker *s, struct http_talk *t, struct str why)
{
    if (http_heard_is_stream(&t->heard) && !why.len) {
        why = STR("the stream of events ended before it said where messages go to");
        find_fault(s, why);
    } else if (s->hello->heard.status) {
        why = STR_NONE;
    }
    give_up_old(s, why);
}

static void end_old(struct http_speaker *s, struct http_talk *t, struct str why)
{
    struct str said = why.len ? why : STR(SESSION_ENDED);

    s->told.greeting = false;
    if (http_waits_of(&s->told.waits, t))
        find_fault(s, said);
    http_told_fail(&s->told, t, 0, said);
    t->over = true;
}

static void end_stream(struct http_speaker *s, struct http_talk *t, struct str why)
{
    bool refused = t->heard.status && t->heard.status < 500 && !http_heard_is_stream(&t->heard);

    if (s->way == HTTP_SPEAKER_OPENING) {
        end_opening(s, t, why);
        return;
    }
    if (s->way == HTTP_SPEAKER_OLD) {
        end_old(s, t, why);
        return;
    }
    http_talk_count(t, s->now_us);
    t->over = refused || s->ended || s->state != HTTP_SPEAKER_OPEN;
    if (refused)
        say_report(&s->say, LOG_DEBUG, "the server has no stream of its own (status %u)",
                   t->heard.status);
    if (!t->over)
        t->timer = set_timer(s, http_talk_delay_us(t));
}

/* Nothing more comes of what was asked; `why` is empty if all of it came. */
static void hear_end(struct http_speaker *s, struct http_talk *t, struct str why)
{
    t->exchange = t->timer = 0;
    if (t->kind == HTTP_TALK_DELETE)
        t->over = true;
    else if (t->kind == HTTP_TALK_STREAM)
        end_stream(s, t, why);
    else if (why.len || http_heard_is_stream(&t->heard) || hear_body(s, t))
        t == s->lister ? end_list(s, why) : end_post(s, t, why);
}

static void begin_session(struct http_speaker *s)
{
    if (s->peer.session.len && !s->ended)
        ask_delete(s);
    if (s->stream)
        http_told_fail(&s->told, s->stream, 0, STR("the client has begun another session"));
    drop_stream(s, STR_NONE);
    http_peer_begin(&s->peer);
    buf_clear(&s->unspoken);
    s->ended = false;
    s->told.greeting = true;
}

static void greet(struct http_speaker *s, const struct mcp_message *m, struct str text)
{
    struct http_talk *t;

    begin_session(s);
    t = http_talk_new(&s->talks, HTTP_TALK_POST);
    t->greets = true;
    http_talk_keep(t, text);
    http_waits_add(&s->told.waits, m, t);
    if (s->way == HTTP_SPEAKER_OLD)
        open_old(s, t);
    else
        post(s, t, m, text);
}

/* Without sessions it is no message: who drops an answer has said so. */
static bool cancel(struct http_speaker *s, const struct mcp_message *m)
{
    struct http_wait *w =
        http_waits_find(&s->told.waits, json_get(m->params, STR("requestId")), NULL);
    struct http_talk *t = s->talks.first;

    while (w && t && t != w->by)
        t = t->next;
    if (!w || !t || !t->modern) {
        if (w)
            w->given_up = true;
        return false;
    }
    http_waits_forget(&s->told.waits, t);
    http_talk_drop(t, &s->say, STR_NONE);
    return true;
}

/* What is not sent, since no answer could come; `m` is NULL for a batch. */
static void keep_back(struct http_speaker *s, const struct mcp_message *m)
{
    if (!m)
        http_waits_add_all(&s->told.waits, json_root(&s->json), NULL);
    else if (m->kind == MCP_REQUEST)
        http_waits_add(&s->told.waits, m, NULL);
    else if (m->kind == MCP_NOTIFICATION)
        say_report(&s->say, LOG_WARN, "a notification was not sent: " SESSION_ENDED);
    http_told_fail(&s->told, NULL, 0, STR(SESSION_ENDED));
}

/* `m` is NULL for a batch. */
static void speak(struct http_speaker *s, const struct mcp_message *m, struct str text)
{
    struct http_talk *t;

    if (m && m->kind == MCP_REQUEST && str_eq(m->method, STR("initialize"))) {
        greet(s, m, text);
        return;
    }
    if (m && m->kind == MCP_NOTIFICATION && str_eq(m->method, STR("notifications/cancelled")) &&
        cancel(s, m))
        return;
    if (is_cut_off(s)) {
        keep_back(s, m);
        return;
    }
    t = http_talk_new(&s->talks, HTTP_TALK_POST);
    t->ready =
        m && m->kind == MCP_NOTIFICATION && str_eq(m->method, STR("notifications/initialized"));
    if (m && m->kind == MCP_REQUEST)
        http_waits_add(&s->told.waits, m, t);
    if (!m)
        http_waits_add_all(&s->told.waits, json_root(&s->json), t);
    t->note = !http_waits_of(&s->told.waits, t);
    if (!m || !mcp_is_response(m)) {
        s->gate = t;
        s->gate_timer = t->note ? set_timer(s, (int64_t)NOTE_S * SECOND_US) : 0;
    }
    post(s, t, m, text);
}

static bool is_gate_open(struct http_speaker *s)
{
    const struct http_talk *g = s->gate;

    if (g && (g->over || g->heard.status || (g->taken && !g->note)))
        s->gate = NULL;
    return !s->gate;
}

/* What the server waits for goes past what it has not asked for. */
static bool may_go(struct http_speaker *s, bool answers)
{
    if (s->way == HTTP_SPEAKER_OPENING)
        return false;
    return answers || (!s->told.greeting && is_gate_open(s) &&
                       http_talk_open(&s->talks) < HTTP_SPEAKER_AT_ONCE);
}

static void refuse_line(struct http_speaker *s, bool json)
{
    say_error(&s->say, STR_NONE, json ? MCP_INVALID_REQUEST : MCP_PARSE_ERROR,
              json ? STR("not a JSON-RPC message") : STR("not valid JSON"), STR_NONE);
}

static void hear_line(struct http_speaker *s, struct str text)
{
    struct json_fault fault;
    struct mcp_message m;
    bool batch, answers;

    text = str_trim(text);
    if (!text.len)
        return;
    if (!json_scan(&s->json, text, &fault)) {
        refuse_line(s, false);
        return;
    }
    m = mcp_classify(json_root(&s->json), &s->arena);
    batch = m.kind == MCP_BATCH && json_count(m.root);
    answers = mcp_is_response(&m);
    if (m.kind == MCP_OTHER || (m.kind == MCP_BATCH && !batch))
        refuse_line(s, true);
    else if ((s->said.first && !answers) || !may_go(s, answers))
        http_said_add(&s->said, text, answers);
    else
        speak(s, batch ? NULL : &m, text);
}

/* Lines that waited and need not any longer. */
static void go_on(struct http_speaker *s)
{
    while (s->said.first && may_go(s, s->said.first->answers)) {
        struct str text = s->said.first->text;
        struct mcp_message m = read_kept(s, text);

        speak(s, m.kind == MCP_BATCH ? NULL : &m, text);
        http_said_pop(&s->said);
    }
}

static void finish(struct http_speaker *s)
{
    s->state = HTTP_SPEAKER_DONE;
    say_finish(&s->say, 0);
}

/* Nobody waits any more; who would is told `why`, if that is not empty. */
static void leave(struct http_speaker *s, struct str why)
{
    s->state = HTTP_SPEAKER_LEAVING;
    http_talk_drop_all(&s->talks, &s->say, why);
    if (why.len) {
        http_said_give_up(&s->said, &s->told.waits);
        http_told_fail_all(&s->told, why);
    }
    http_said_release(&s->said);
    http_waits_release(&s->told.waits);
    if (!s->peer.session.len || s->ended)
        return;
    ask_delete(s);
    s->end_timer = set_timer(s, (int64_t)DELETE_S * SECOND_US);
}

static void hear_closed(struct http_speaker *s)
{
    if (s->state != HTTP_SPEAKER_OPEN)
        return;
    s->state = HTTP_SPEAKER_CLOSING;
    s->closed_us = s->now_us;
    s->heard_since = false;
    s->end_timer = set_timer(s, (int64_t)SILENCE_S * SECOND_US);
}

/* Something is on its way that the server has to get, or that the client waits for. */
static bool is_busy(const struct http_speaker *s)
{
    return s->said.first || http_waits_any(&s->told.waits) || http_talk_any_note(&s->talks);
}

static void hear_end_timer(struct http_speaker *s)
{
    s->end_timer = 0;
    if (s->state == HTTP_SPEAKER_LEAVING) { /* the server may keep its session */
        http_talk_drop_all(&s->talks, &s->say, STR_NONE);
    } else if (!s->heard_since) {
        leave(s, STR("the server was silent for ten seconds after the client's end"));
    } else if (s->now_us - s->closed_us >= (int64_t)CLOSED_S * SECOND_US) {
        leave(s, STR("the server did not answer within an hour of the client's end"));
    } else {
        s->heard_since = false;
        s->end_timer = set_timer(s, (int64_t)SILENCE_S * SECOND_US);
    }
}

static void hear_timer(struct http_speaker *s, uint64_t timer)
{
    struct http_talk *t = http_talk_by_timer(&s->talks, timer);

    if (timer == s->end_timer) {
        hear_end_timer(s);
    } else if (timer == s->gate_timer) {
        s->gate = NULL;
    } else if (t && t->kind == HTTP_TALK_STREAM && t->exchange) {
        give_up_old(s, STR("the server does not say where messages go to"));
    } else if (t && t->exchange) {
        http_talk_drop(t, &s->say, STR_NONE);
        if (t == s->lister)
            end_list(s, STR_NONE);
    } else if (t) {
        ask_stream(s, t);
    }
}

/* What the client has said comes to its end by that; what is streamed, or gone on with, may go
 * on for ever: only news count there. */
static bool is_word(const struct http_talk *t, enum event_kind kind)
{
    bool all = kind == EVENT_WHOLE && !http_heard_is_stream(&t->heard);

    return t->kind == HTTP_TALK_POST && !t->resumes &&
           (kind == EVENT_TAKEN || kind == EVENT_HEAD || all);
}

static void hear_answer(struct http_speaker *s, const struct event *ev)
{
    struct http_talk *t = ev->exchange ? http_talk_find(&s->talks, ev->exchange) : NULL;

    if (!t)
        return;
    s->heard_since |= is_word(t, ev->kind);
    if (ev->kind == EVENT_TAKEN)
        t->taken = true;
    else if (ev->kind == EVENT_HEAD)
        hear_head(s, t, ev);
    else if (ev->kind == EVENT_DATA)
        hear_data(s, t, ev->text);
    else
        hear_end(s, t, ev->kind == EVENT_FAILED ? ev->why : STR_NONE);
}

static void hear(struct http_speaker *s, const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_SAY:
        if (s->state == HTTP_SPEAKER_OPEN)
            hear_line(s, ev->text);
        break;
    case EVENT_TAKEN:
    case EVENT_HEAD:
    case EVENT_DATA:
    case EVENT_WHOLE:
    case EVENT_FAILED:
        hear_answer(s, ev);
        break;
    case EVENT_TIMER:
        hear_timer(s, ev->timer);
        break;
    case EVENT_CLOSED:
        hear_closed(s);
        break;
    case EVENT_GONE:
        if (s->state < HTTP_SPEAKER_LEAVING)
            leave(s, ev->why);
        break;
    default:
        break;
    }
}

static void sweep(struct http_speaker *s)
{
    if (s->stream && s->stream->over)
        s->stream = NULL;
    if (s->gate && s->gate->over)
        s->gate = NULL;
    if (s->lister && s->lister->over)
        s->lister = NULL;
    http_talk_sweep(&s->talks);
}

void http_speaker_step(struct http_speaker *s, const struct event *ev)
{
    if (s->state == HTTP_SPEAKER_DONE)
        return;
    s->now_us = ev->now_us;
    s->ending = ev->kind == EVENT_WHOLE ? ev->exchange : 0;
    arena_clear(&s->arena);
    hear(s, ev);
    if (s->state < HTTP_SPEAKER_LEAVING)
        go_on(s);
    if (s->state == HTTP_SPEAKER_CLOSING && !is_busy(s))
        leave(s, STR_NONE);
    sweep(s);
    if (s->state == HTTP_SPEAKER_LEAVING && !s->talks.first)
        finish(s);
}
