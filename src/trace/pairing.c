#include "trace/pairing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/id.h"
#include "mcp/method.h"
#include "trace/limits.h"

/* Where requests wait: an exchange, a session, a connection. */
struct pairing_place {
    struct scope_reach reach;
    size_t count; /* all lanes together */
    struct pairing_lane {
        struct pairing_stay *first, *last;
    } lanes[2][2]; /* by direction; in flight or parked */
};

void pairing_init(struct pairing *p)
{
    *p = (struct pairing){ .evicted = NULL };
    scope_init(&p->scope);
    claim_init(&p->open);
    map_init(&p->places);
    buf_init(&p->key, JSON_MAX_TEXT);
}

static void forget_answered(struct pairing *p)
{
    free(p->answered);
    p->answered = NULL;
}

void pairing_release(struct pairing *p)
{
    while (p->oldest)
        pairing_forget(p, p->oldest);
    forget_answered(p);
    free(p->latest);
    map_release(&p->places);
    claim_release(&p->open);
    scope_release(&p->scope);
    buf_release(&p->key);
}

/* Valid until the next call. */
static struct str key_in(struct pairing *p, struct scope_reach reach, enum record_dir dir,
                         struct json_val id)
{
    buf_clear(&p->key);
    scope_key(&p->key, reach, dir);
    mcp_id_add(&p->key, id);
    return buf_str(&p->key);
}

struct str pairing_key(struct pairing *p, const struct record *r, enum record_dir dir,
                       struct json_val id)
{
    return key_in(p, scope_of(&p->scope, r).at[0], dir, id);
}

static struct str place_key(const struct scope_reach *reach, char key[9])
{
    key[0] = (char)reach->kind;
    memcpy(key + 1, &reach->number, sizeof reach->number);
    return str_n(key, 1 + sizeof reach->number);
}

static bool is_at(const struct pairing_place *place, struct scope_reach reach)
{
    return place && place->reach.kind == reach.kind && place->reach.number == reach.number;
}

static struct pairing_place *find_place(const struct pairing *p, struct scope_reach reach)
{
    char key[9];

    return is_at(p->latest, reach) ? p->latest : map_get(&p->places, place_key(&reach, key));
}

/* The latest place stays when it is empty: on stdio there is no other, and it would come
 * and go with every request. */
static struct pairing_place *make_place(struct pairing *p, struct scope_reach reach)
{
    struct pairing_place *place = find_place(p, reach), *idle = p->latest;
    char key[9];

    if (!place) {
        place = mem_new(struct pairing_place);
        place->reach = reach;
        map_put(&p->places, place_key(&reach, key), place);
    }
    p->latest = place;
    if (idle && idle != place && !idle->count) {
        map_remove(&p->places, place_key(&idle->reach, key));
        free(idle);
    }
    return place;
}

static void leave_place(struct pairing *p, struct pairing_place *place)
{
    char key[9];

    if (--place->count || place == p->latest)
        return;
    map_remove(&p->places, place_key(&place->reach, key));
    free(place);
}

static struct pairing_request *owner_of(const struct pairing_stay *stay)
{
    return stay ? stay->claim.owner : NULL;
}

static struct pairing_lane *lane_of(const struct pairing_stay *stay)
{
    const struct pairing_request *q = owner_of(stay);

    return &stay->place->lanes[q->dir][q->parked];
}

static void enter_lane(struct pairing_stay *stay)
{
    struct pairing_lane *lane = lane_of(stay);

    stay->before = lane->last;
    stay->after = NULL;
    *(stay->before ? &stay->before->after : &lane->first) = stay;
    lane->last = stay;
}

static void leave_lane(struct pairing_stay *stay)
{
    struct pairing_lane *lane = lane_of(stay);

    *(stay->before ? &stay->before->after : &lane->first) = stay->after;
    *(stay->after ? &stay->after->before : &lane->last) = stay->before;
}

static char *put_text(char *to, struct str *text)
{
    if (text->len)
        memcpy(to, text->at, text->len);
    text->at = to;
    return to + text->len;
}

/* One allocation holds the request and its texts. The keys of all levels differ in
 * nothing but what stands before the id. */
static struct pairing_request *new_request(struct pairing *p, const struct scope_place *scope,
                                           enum record_dir dir, struct json_val id,
                                           struct str method, struct str subject)
{
    struct str key = key_in(p, scope->at[0], dir, id);
    struct pairing_request *q =
        mem_grow(NULL, sizeof *q + scope->count * sizeof q->at[0] + scope->count * key.len +
                           method.len + subject.len);
    char *at = (char *)(q->at + scope->count);

    *q = (struct pairing_request){
        .dir = dir, .count = scope->count, .method = method, .subject = subject
    };
    at = put_text(put_text(at, &q->method), &q->subject);
    for (size_t i = 0; i < scope->count; i++) {
        if (i > 0)
            key = key_in(p, scope->at[i], dir, id);
        at = put_text(at, &key);
        q->at[i] = (struct pairing_stay){ .claim = { .key = key, .owner = q } };
    }
    q->key = q->at[0].claim.key;
    q->id = str_skip(q->key, SCOPE_KEY);
    return q;
}

static size_t text_of(const struct pairing_request *q)
{
    return q->count * q->key.len + q->method.len + q->subject.len;
}

static void unlink_request(struct pairing *p, struct pairing_request *q)
{
    for (size_t i = 0; i < q->count; i++) {
        claim_drop(&p->open, &q->at[i].claim);
        leave_lane(&q->at[i]);
        leave_place(p, q->at[i].place);
    }
    *(q->older ? &q->older->newer : &p->oldest) = q->newer;
    *(q->newer ? &q->newer->older : &p->newest) = q->older;
    p->count--;
    p->text -= text_of(q);
}

void pairing_forget(struct pairing *p, struct pairing_request *q)
{
    unlink_request(p, q);
    free(q);
}

static void make_room(struct pairing *p)
{
    while (p->count > LIMIT_OPEN_REQUESTS ||
           (p->text > LIMIT_OPEN_TEXT && p->oldest != p->newest)) {
        struct pairing_request *q = p->oldest;

        unlink_request(p, q);
        if (p->evicted)
            p->evicted(p, q);
        free(q);
    }
}

/* An id is taken if somebody of the same session or connection waits under it. */
static bool decides_on_ids(struct scope_reach reach)
{
    return reach.kind != SCOPE_SERVER;
}

bool pairing_ask(struct pairing *p, const struct record *r, const struct mcp_message *m,
                 uint64_t tag)
{
    struct scope_place scope = scope_of(&p->scope, r);
    struct arena a = { 0 };
    struct str subject = json_text(mcp_subject(m->method, m->params), &a);
    struct pairing_request *q =
        new_request(p, &scope, r->message.dir, m->id, m->method, subject);
    bool fresh = true;

    arena_release(&a);
    q->tag = tag;
    q->us = r->us;
    q->older = p->newest;
    *(p->newest ? &p->newest->newer : &p->oldest) = q;
    p->newest = q;
    for (size_t i = 0; i < q->count; i++) {
        q->at[i].place = make_place(p, scope.at[i]);
        q->at[i].place->count++;
        enter_lane(&q->at[i]);
        fresh = (claim_add(&p->open, &q->at[i].claim) || !decides_on_ids(scope.at[i])) && fresh;
    }
    p->count++;
    p->text += text_of(q);
    make_room(p);
    return fresh;
}

/* The oldest request under an id, looked for from the narrowest level on. Among those
 * who share nothing but the server it must be the only one, and then is not sure. */
static struct pairing_request *find(struct pairing *p, const struct record *r,
                                    enum record_dir dir, struct json_val id, bool *sure)
{
    struct scope_place scope = scope_of(&p->scope, r);

    for (size_t i = 0; i < scope.count; i++) {
        const struct claim *claim = claim_find(&p->open, key_in(p, scope.at[i], dir, id));

        *sure = decides_on_ids(scope.at[i]);
        if (claim && (*sure || !claim->after))
            return claim->owner;
    }
    return NULL;
}

const struct pairing_request *pairing_answer(struct pairing *p, const struct record *r,
                                             const struct mcp_message *m)
{
    enum record_dir asked = r->message.dir == TO_CLIENT ? TO_SERVER : TO_CLIENT;
    struct pairing_request *q;
    bool sure;

    forget_answered(p);
    q = find(p, r, asked, m->id, &sure);
    /* Of clients without a session each counts for itself; the server counts for all. */
    if (!q || (!sure && asked == TO_SERVER))
        return NULL;
    unlink_request(p, q);
    p->answered = q;
    return q;
}

struct pairing_request *pairing_peek(struct pairing *p, const struct record *r,
                                     enum record_dir dir, struct json_val id, bool *sure)
{
    bool unused;

    return find(p, r, dir, id, sure ? sure : &unused);
}

void pairing_park(struct pairing_request *q)
{
    if (q->parked)
        return;
    for (size_t i = 0; i < q->count; i++)
        leave_lane(&q->at[i]);
    q->parked = true;
    for (size_t i = 0; i < q->count; i++)
        enter_lane(&q->at[i]);
}

struct pairing_request *pairing_first(const struct pairing *p, struct scope_reach place,
                                      enum record_dir dir)
{
    const struct pairing_place *found = find_place(p, place);
    const struct pairing_lane *lanes = found ? found->lanes[dir] : NULL;

    return lanes ? owner_of(lanes[false].first ? lanes[false].first : lanes[true].first) : NULL;
}

struct pairing_request *pairing_next(const struct pairing_request *q, struct scope_reach place)
{
    const struct pairing_stay *stay = q->at;

    while (!is_at(stay->place, place))
        stay++;
    if (stay->after || q->parked)
        return owner_of(stay->after);
    return owner_of(stay->place->lanes[q->dir][true].first);
}

struct pairing_request *pairing_sole(const struct pairing *p, struct scope_reach place,
                                     enum record_dir dir)
{
    const struct pairing_place *found = find_place(p, place);
    const struct pairing_lane *lane = found ? &found->lanes[dir][false] : NULL;

    return lane && lane->first == lane->last ? owner_of(lane->first) : NULL;
}
