#include "replay/anomaly-response.h"

#include "trace/limits.h"
#include "json/splice.h"

enum { OK = 200 };

/* Returns the text of a part, with the id of the live request. */
static struct str part_text(struct http_response *a, struct message_store *store,
                            const struct http_anomaly *anomaly,
                            const struct http_anomaly_part *part, struct str id)
{
    struct json_fault fault;
    struct json_splice edit;
    struct err e = ERR_NONE;
    struct json_val root;
    struct buf recorded;
    struct json j;

    if (part->text.len)
        return part->text;
    buf_init(&recorded, LIMIT_LINE);
    json_init(&j);
    buf_clear(&a->text);
    if (store->fetch(store, part->place, &recorded, &e) &&
        json_scan(&j, buf_str(&recorded), &fault)) {
        root = json_root(&j);
        json_splice_init(&edit, root);
        if (id.len && anomaly->id.len &&
            str_eq(json_raw(json_get(root, STR("id"))), anomaly->id))
            json_splice_replace(&edit, json_get(root, STR("id")), id);
        json_splice_apply(&edit, &a->text);
    }
    json_release(&j);
    buf_release(&recorded);
    return buf_str(&a->text);
}

static void send_stream(struct http_response *a, struct event_streams *streams,
                        struct message_store *store, const struct http_anomaly *anomaly,
                        uint64_t exchange, struct str id)
{
    struct event_stream *x;

    http_response_open_stream(a, exchange, STR_NONE);
    x = event_streams_add(streams, 0, exchange, false);
    for (const struct http_anomaly_part *p = anomaly->first; p; p = p->next)
        event_streams_send(streams, x, part_text(a, store, anomaly, p, id));
    event_streams_end(streams, x);
}

void anomaly_response_send(struct http_response *a, struct event_streams *streams,
                           const struct http_index *http, const struct http_anomaly *anomaly,
                           uint64_t exchange, struct str id)
{
    if (anomaly->sse && anomaly->status == OK) {
        send_stream(a, streams, http->store, anomaly, exchange, id);
        return;
    }
    http_response_start(a, anomaly->first ? anomaly->content_type : STR_NONE, STR_NONE);
    http_response_header(a, STR("Allow"), anomaly->allow);
    http_response_header(a, STR("WWW-Authenticate"), anomaly->www_authenticate);
    http_response_header(a, STR("Retry-After"), anomaly->retry_after);
    http_response_send(a, exchange, anomaly->status,
                       anomaly->first ? part_text(a, http->store, anomaly, anomaly->first, id)
                                      : STR_NONE);
}
