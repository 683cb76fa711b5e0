#include "trace/pairing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/id.h"
#include "trace/limits.h"

/* The open requests of one scope. */
struct pairing_scope {
    struct scope_ref scope;
    size_t count; /* of all lists */
    struct pairing_list {
        struct pairing_entry *first, *last;
    } lists[2][2]; /* by direction; in flight or detached */
};

void pairing_init(struct pairing *p)
{
    *p = (struct pairing){ .on_evict = NULL };
    scope_tracker_init(&p->tracker);
    multimap_init(&p->open_ids);
    map_init(&p->by_scope);
    buf_init(&p->key, JSON_MAX_TEXT);
}

static void free_answered(struct pairing *p)
{
    free(p->last_answered);
    p->last_answered = NULL;
}

void pairing_release(struct pairing *p)
{
    while (p->oldest)
        pairing_remove(p, p->oldest);
    free_answered(p);
    free(p->latest_scope);
    map_release(&p->by_scope);
    multimap_release(&p->open_ids);
    scope_tracker_release(&p->tracker);
    buf_release(&p->key);
}

/* Valid until the next call. */
static struct str key_for_scope(struct pairing *p, const struct record *r, struct scope_ref ref,
                                enum record_dir dir, struct json_val id)
{
    buf_clear(&p->key);
    scope_add_key(&p->key, ref, dir);
    if (r->kind == RECORD_MESSAGE && r->message.ids_as_text)
        mcp_id_add_text_key(&p->key, id);
    else
        mcp_id_add_key(&p->key, id);
    return buf_str(&p->key);
}

struct str pairing_key(struct pairing *p, const struct record *r, enum record_dir dir,
                       struct json_val id)
{
    return key_for_scope(p, r, scope_of(&p->tracker, r).levels[0], dir, id);
}

static struct str scope_map_key(const struct scope_ref *ref, char key[9])
{
    key[0] = (char)ref->kind;
    memcpy(key + 1, &ref->number, sizeof ref->number);
    return str_n(key, 1 + sizeof ref->number);
}

static bool is_same_scope(const struct pairing_scope *group, struct scope_ref ref)
{
    return group && group->scope.kind == ref.kind && group->scope.number == ref.number;
}

static struct pairing_scope *find_scope(const struct pairing *p, struct scope_ref ref)
{
    char key[9];

    return is_same_scope(p->latest_scope, ref)
               ? p->latest_scope
               : map_get(&p->by_scope, scope_map_key(&ref, key));
}

/* Finds or adds the requests of a scope. The latest one stays when it is empty: on stdio it is
 * the only one, and would be freed and allocated with every request. */
static struct pairing_scope *add_scope(struct pairing *p, struct scope_ref ref)
{
    struct pairing_scope *group = find_scope(p, ref), *idle = p->latest_scope;
    char key[9];

    if (!group) {
        group = mem_new(struct pairing_scope);
        group->scope = ref;
        map_put(&p->by_scope, scope_map_key(&ref, key), group);
    }
    p->latest_scope = group;
    if (idle && idle != group && !idle->count) {
        map_remove(&p->by_scope, scope_map_key(&idle->scope, key));
        free(idle);
    }
    return group;
}

static void leave_scope(struct pairing *p, struct pairing_scope *group)
{
    char key[9];

    if (--group->count || group == p->latest_scope)
        return;
    map_remove(&p->by_scope, scope_map_key(&group->scope, key));
    free(group);
}

static struct pairing_request *owner_of(const struct pairing_entry *entry)
{
    return entry ? entry->node.value : NULL;
}

static struct pairing_list *list_of(const struct pairing_entry *entry)
{
    const struct pairing_request *q = owner_of(entry);

    return &entry->scope->lists[q->dir][q->detached];
}

static void list_append(struct pairing_entry *entry)
{
    struct pairing_list *list = list_of(entry);

    entry->prev = list->last;
    entry->next = NULL;
    *(entry->prev ? &entry->prev->next : &list->first) = entry;
    list->last = entry;
}

static void list_remove(struct pairing_entry *entry)
{
    struct pairing_list *list = list_of(entry);

    *(entry->prev ? &entry->prev->next : &list->first) = entry->next;
    *(entry->next ? &entry->next->prev : &list->last) = entry->prev;
}

static char *copy_text(char *to, struct str *text)
{
    if (text->len)
        memcpy(to, text->at, text->len);
    text->at = to;
    return to + text->len;
}

/* One allocation holds the request and its texts. The keys of all scopes differ only in the
 * bytes before the id. */
static struct pairing_request *new_request(struct pairing *p, const struct scope_chain *scope,
                                           const struct record *r, struct json_val id,
                                           struct str method, struct str subject)
{
    enum record_dir dir = r->message.dir;
    struct str key = key_for_scope(p, r, scope->levels[0], dir, id);
    struct pairing_request *q =
        mem_grow(NULL, sizeof *q + scope->count * sizeof q->entries[0] +
                           scope->count * key.len + method.len + subject.len);
    char *at = (char *)(q->entries + scope->count);

    *q = (struct pairing_request){
        .dir = dir, .level_count = scope->count, .method = method, .subject = subject
    };
    at = copy_text(copy_text(at, &q->method), &q->subject);
    for (size_t i = 0; i < scope->count; i++) {
        if (i > 0)
            key = key_for_scope(p, r, scope->levels[i], dir, id);
        at = copy_text(at, &key);
        q->entries[i] = (struct pairing_entry){ .node = { .key = key, .value = q } };
    }
    q->key = q->entries[0].node.key;
    q->id = str_skip(q->key, SCOPE_KEY_LEN);
    return q;
}

static size_t text_size(const struct pairing_request *q)
{
    return q->level_count * q->key.len + q->method.len + q->subject.len;
}

static void unlink_request(struct pairing *p, struct pairing_request *q)
{
    for (size_t i = 0; i < q->level_count; i++) {
        multimap_remove(&p->open_ids, &q->entries[i].node);
        list_remove(&q->entries[i]);
        leave_scope(p, q->entries[i].scope);
    }
    *(q->older ? &q->older->newer : &p->oldest) = q->newer;
    *(q->newer ? &q->newer->older : &p->newest) = q->older;
    p->count--;
    p->text_bytes -= text_size(q);
}

void pairing_remove(struct pairing *p, struct pairing_request *q)
{
    unlink_request(p, q);
    free(q);
}

static void evict_oldest(struct pairing *p)
{
    while (p->count > LIMIT_OPEN_REQUESTS ||
           (p->text_bytes > LIMIT_OPEN_TEXT && p->oldest != p->newest)) {
        struct pairing_request *q = p->oldest;

        unlink_request(p, q);
        if (p->on_evict)
            p->on_evict(p, q);
        free(q);
    }
}

/* Ids are unique in a session or on a connection, but not among all clients of a server. */
static bool ids_are_unique_in(struct scope_ref ref)
{
    return ref.kind != SCOPE_SERVER;
}

bool pairing_add_request(struct pairing *p, const struct record *r, const struct mcp_message *m,
                         uint64_t tag)
{
    struct scope_chain scope = scope_of(&p->tracker, r);
    struct arena a = { 0 };
    const struct mcp_method *known = mcp_method_find(m->method);
    struct str subject = json_text(mcp_method_subject(known, m->params), &a);
    struct pairing_request *q = new_request(p, &scope, r, m->id, m->method, subject);
    bool is_new = true;

    arena_release(&a);
    q->tag = tag;
    q->known = known;
    q->sent_us = r->us;
    q->older = p->newest;
    *(p->newest ? &p->newest->newer : &p->oldest) = q;
    p->newest = q;
    for (size_t i = 0; i < q->level_count; i++) {
        q->entries[i].scope = add_scope(p, scope.levels[i]);
        q->entries[i].scope->count++;
        list_append(&q->entries[i]);
        is_new = (multimap_add(&p->open_ids, &q->entries[i].node) ||
                  !ids_are_unique_in(scope.levels[i])) &&
                 is_new;
    }
    p->count++;
    p->text_bytes += text_size(q);
    evict_oldest(p);
    return is_new;
}

/* Finds the oldest request with an id, in the narrowest scope first. In SCOPE_SERVER it must be
 * the only one, and `*sure` is false. */
static struct pairing_request *find_request(struct pairing *p, const struct record *r,
                                            enum record_dir dir, struct json_val id, bool *sure)
{
    struct scope_chain scope = scope_of(&p->tracker, r);

    for (size_t i = 0; i < scope.count; i++) {
        const struct multimap_entry *node =
            multimap_find(&p->open_ids, key_for_scope(p, r, scope.levels[i], dir, id));

        *sure = ids_are_unique_in(scope.levels[i]);
        if (node && (*sure || !node->same_key_next))
            return node->value;
    }
    return NULL;
}

const struct pairing_request *pairing_match_response(struct pairing *p, const struct record *r,
                                                     const struct mcp_message *m)
{
    enum record_dir request_dir = r->message.dir == TO_CLIENT ? TO_SERVER : TO_CLIENT;
    struct pairing_request *q;
    bool sure;

    free_answered(p);
    q = find_request(p, r, request_dir, m->id, &sure);
    /* Ids of clients without a session are valid in their exchange only. */
    if (!q || (!sure && request_dir == TO_SERVER))
        return NULL;
    unlink_request(p, q);
    p->last_answered = q;
    return q;
}

struct pairing_request *pairing_find(struct pairing *p, const struct record *r,
                                     enum record_dir dir, struct json_val id, bool *sure)
{
    bool unused;

    return find_request(p, r, dir, id, sure ? sure : &unused);
}

void pairing_detach(struct pairing_request *q)
{
    if (q->detached)
        return;
    for (size_t i = 0; i < q->level_count; i++)
        list_remove(&q->entries[i]);
    q->detached = true;
    for (size_t i = 0; i < q->level_count; i++)
        list_append(&q->entries[i]);
}

struct pairing_request *pairing_first(const struct pairing *p, struct scope_ref scope,
                                      enum record_dir dir)
{
    const struct pairing_scope *found = find_scope(p, scope);
    const struct pairing_list *lists = found ? found->lists[dir] : NULL;

    return lists ? owner_of(lists[false].first ? lists[false].first : lists[true].first) : NULL;
}

struct pairing_request *pairing_next(const struct pairing_request *q, struct scope_ref scope)
{
    const struct pairing_entry *entry = q->entries;

    while (!is_same_scope(entry->scope, scope))
        entry++;
    if (entry->next || q->detached)
        return owner_of(entry->next);
    return owner_of(entry->scope->lists[q->dir][true].first);
}

struct pairing_request *pairing_only_in_flight(const struct pairing *p, struct scope_ref scope,
                                               enum record_dir dir)
{
    const struct pairing_scope *found = find_scope(p, scope);
    const struct pairing_list *list = found ? &found->lists[dir][false] : NULL;

    return list && list->first == list->last ? owner_of(list->first) : NULL;
}
