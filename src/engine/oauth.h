/* engine/oauth.h - logins through a proxy: which addresses change on their way, and how.
 *
 * A client that is refused asks where to log in, and compares what it is told with the
 * address that it uses itself. That address is ours, so the server's own has to become ours
 * on the way to the client, and ours the server's on the way back:
 *
 * - in a challenge, where the metadata of the resource is (resource_metadata);
 * - in that metadata, the resource, and the authorization servers that are on the server's
 *   own origin;
 * - in the metadata of such an authorization server, its issuer and its endpoints;
 * - in the redirects of its pages, where they lead, and the issuer that they name;
 * - in what is asked of it, the resource that a token is for.
 *
 * Nothing else changes: what is on another origin stays so, and a client goes there without
 * us. Whatever a client would refuse of the server it refuses of us: a resource that is not
 * on the server's origin remains a wrong one.
 *
 * One page is not for us to pass on: where the user of a server elsewhere agrees. Cookies,
 * passkeys and the way back from somebody else's login are bound to the server's own name, so
 * a browser is sent there. Not if the authorization server names itself in its last redirect:
 * that has to pass through us.
 *
 * With --keep-host a server is told how its clients call us, and some call themselves so, too.
 * Then all is right already, and nothing changes in either direction.
 *
 * Origins are compared by scheme, host and port, and only they are replaced; what follows
 * stays byte for byte. The one exception is a client that uses '/' for the server's path:
 * to it the resource is '/' as well.
 *
 * Pure: does no I/O, keeps no token, and no value of what it reads but paths of metadata. */
#ifndef ENGINE_OAUTH_H
#define ENGINE_OAUTH_H

#include "base/arena.h"
#include "base/buf.h"
#include "wire/url.h"

enum { OAUTH_PATHS_MAX = 16 };           /* of metadata, which challenges may name */
enum { OAUTH_DOCUMENT_MAX = 256 << 10 }; /* bytes; a longer body is none */

/* What a user should hear once. */
enum oauth_note {
    OAUTH_BARE_CHALLENGE = 1 << 0, /* it does not say where the metadata is */
    OAUTH_FAR_METADATA = 1 << 1,   /* that is on another origin */
    OAUTH_FAR_SERVER = 1 << 2,     /* so is an authorization server: see `far` */
    OAUTH_UNREADABLE = 1 << 3,     /* metadata that is no JSON object, or packed, or too long */
    OAUTH_SIGNED = 1 << 4,         /* metadata that is signed, too, for the server's address */
};

struct oauth {
    struct arena arena;
    struct url server; /* its endpoint */
    struct str origin; /* the same, up to the path */
    bool as_called;    /* it calls itself what its clients call it, which is our address */
    bool root;         /* who logs in asks for '/' and means the endpoint */
    struct str paths[OAUTH_PATHS_MAX];
    size_t path_count;
    struct buf authorize; /* the path of the page where users agree; or empty */
    bool names_issuer;    /* the redirect that ends it says who the authorization server is */
    struct str far;       /* the authorization server of OAUTH_FAR_SERVER; or empty */
    unsigned notes, told;
};

/* `url`: of the server's endpoint; one that can be parsed. Copied. */
void oauth_init(struct oauth *o, struct str url);
void oauth_release(struct oauth *o);

/* The notes that were not given yet. */
unsigned oauth_news(struct oauth *o);
void oauth_note(struct oauth *o, enum oauth_note note);

/* Somebody who asked for the endpoint under this path was refused, and so will log in. */
void oauth_endpoint(struct oauth *o, struct str path);

enum oauth_document {
    OAUTH_NO_DOCUMENT,
    OAUTH_RESOURCE, /* metadata of a protected resource */
    OAUTH_SERVER,   /* metadata of an authorization server */
};

/* What is at a path, by its name or by what challenges said. */
enum oauth_document oauth_document(const struct oauth *o, struct str path);

/* From here on `host` is what the client wrote as Host: our address, as it knows it. Each
 * adds to `out` what has to be there instead of a text, and nothing if that can stay. */

/* A line of WWW-Authenticate. `*named`: it says where the metadata is. */
void oauth_challenge(struct oauth *o, struct str host, struct str line, struct buf *out,
                     bool *named);

void oauth_metadata(struct oauth *o, enum oauth_document kind, struct str host, struct str body,
                    struct buf *out);

/* The Location of an answer that is not the endpoint's. */
void oauth_location(const struct oauth *o, struct str host, struct str location,
                    struct buf *out);

/* Where a browser has to go instead that asks for this path and query; nothing: it can stay. */
void oauth_detour(const struct oauth *o, struct str host, struct str path, struct str query,
                  struct buf *out);

/* A query or form that goes to the server, not to its endpoint. */
void oauth_form(const struct oauth *o, struct str host, struct str form, struct buf *out);

#endif
