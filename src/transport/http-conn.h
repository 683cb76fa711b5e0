/* transport/http-conn.h - one HTTP/1.1 client's connection, without its socket.
 *
 * In go bytes, the end, the time and what the owner of an exchange does; out go bytes and
 * wishes through the port, and events to the owner. However the bytes are cut, the same
 * comes of them.
 *
 * One exchange at a time: what is sent before the answer is whole waits, so much and no
 * more; who sends more than that loses it, and the connection with the answer. After a
 * refusal nothing is read any more but for the client's sake: who is answered while it
 * is still sending would lose the answer if we just closed. */
#ifndef TRANSPORT_HTTP_CONN_H
#define TRANSPORT_HTTP_CONN_H

/* How long others may take, in milliseconds. */
struct http_patience {
    unsigned head_ms;   /* from the first byte of a head, or the connection, to its end */
    unsigned idle_ms;   /* between requests */
    unsigned body_ms;   /* a body may fall so far behind `body_rate` */
    unsigned body_rate; /* bytes per second */
    unsigned take_ms;   /* an answer of which not a byte is taken */
    unsigned linger_ms; /* to hang up once it has been told everything */
};

extern const struct http_patience http_conn_patience; /* the usual one */

#endif
