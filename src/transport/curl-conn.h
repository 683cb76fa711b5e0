/* transport/curl-conn.h - connects to a server with libcurl: names, proxies, TCP and TLS.
 *
 * libcurl only makes the connection (CONNECT_ONLY); it sends no request, so none can be sent
 * twice. Proxies come from the environment and are not used for loopback servers; they must
 * tunnel (CONNECT), for plain HTTP, too. Writing sends as much as the socket takes and queues a
 * copy of the rest. */
#ifndef TRANSPORT_CURL_CONN_H
#define TRANSPORT_CURL_CONN_H

#include "base/str.h"
#include "loop/loop.h"
#include "transport/upstream-conn.h"

struct curl_conn_shared; /* shared by all connections to one server */
struct curl_conn;

struct curl_conn_config {
    const char *url;    /* scheme, host and port */
    bool is_loopback;   /* the server is on this machine: no proxy */
    const char *cacert; /* a file of trusted certificates; NULL: the system's */
    unsigned connect_ms;
};

struct curl_conn_events {
    void (*connected)(void *to);
    /* Connecting failed; `why` is for users. Once, and last. */
    void (*failed)(void *to, enum upstream_conn_error fault, const struct err *why);
    void (*data)(void *to, struct str bytes); /* borrowed */
    void (*end)(
        void *to,
        bool clean); /* the server closed, or (not `clean`) the connection broke; once, last */
    void (*drained)(void *to); /* the queue is empty again */
};

/* Loads libcurl; ERR_IO if that fails. Copies `config`, borrows its texts and `events`. */
bool curl_conn_shared_new(struct curl_conn_shared **out, struct loop *l,
                          const struct curl_conn_config *config,
                          const struct curl_conn_events *events, struct err *e) MUST_CHECK;
/* All connections must be closed before. NULL is fine. */
void curl_conn_shared_free(struct curl_conn_shared *h);

/* Starts connecting. No event comes before this returns. Reading is on from the start. */
struct curl_conn *curl_conn_open(struct curl_conn_shared *h, void *to);

void curl_conn_write(struct curl_conn *f, struct str bytes); /* only after `connected` */
size_t curl_conn_queued(const struct curl_conn *f);
void curl_conn_read(struct curl_conn *f, bool on);

void curl_conn_close(struct curl_conn *f); /* at once; allowed in events; NULL is fine */

enum { CURL_CONN_PROXY_SIZE = 320 };

/* Gets the proxy from a line of libcurl's debug output, as "'host:port' (http_proxy)"; false if
 * the line is about something else. libcurl chooses the proxy (no_proxy has rules of its own)
 * and reports it in no other way. The text never contains user or password: if they cannot be
 * told from the host for certain, it is "of http_proxy". For curl-conn.c and its test. */
bool curl_conn_parse_proxy(struct str debug_line, char text[CURL_CONN_PROXY_SIZE]);

#endif
