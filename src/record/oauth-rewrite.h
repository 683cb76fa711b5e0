/* record/oauth-rewrite.h - rewrites URLs in OAuth metadata, challenges, redirects and forms, so
 * that clients can log in through mcpreel.
 *
 * A client compares the metadata that it gets with the URL that it uses, which is mcpreel's. So
 * the server's origin is replaced by mcpreel's on the way to the client, and mcpreel's by the
 * server's on the way back:
 *
 * - in WWW-Authenticate: resource_metadata;
 * - in the metadata of the protected resource: the resource, and authorization servers on the
 *   server's origin;
 * - in the metadata of such an authorization server: issuer and endpoints;
 * - in its redirects: Location, and the issuer in its query;
 * - in requests to it: the resource that a token is for.
 *
 * Nothing else changes. Other origins stay as they are, and clients reach them without mcpreel.
 * A resource that is not on the server's origin stays wrong, so a client rejects it as it would
 * without mcpreel.
 *
 * The authorization page is not forwarded for a server on another machine: cookies, passkeys
 * and external logins are bound to the server's host name, so the browser is redirected there.
 * Exception: if the authorization server names its issuer in the last redirect, that redirect
 * has to pass through mcpreel.
 *
 * With --keep-host some servers use the client's Host, which is mcpreel's, in their metadata.
 * Then nothing is rewritten in either direction.
 *
 * Origins are compared by scheme, host and port, and only the origin is replaced. Exception: to
 * a client that uses '/' for the server's path, the resource is '/', too.
 *
 * Does no I/O, and keeps no token and no value but paths of metadata. */
#ifndef RECORD_OAUTH_REWRITE_H
#define RECORD_OAUTH_REWRITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "wire/url.h"

enum { OAUTH_PATHS_MAX = 16 };           /* paths of metadata from challenges */
enum { OAUTH_DOCUMENT_MAX = 256 << 10 }; /* bytes; a longer body is not rewritten */

/* Warnings, each for the user once. */
enum oauth_note {
    OAUTH_NO_METADATA_URL = 1 << 0,     /* the challenge has no resource_metadata */
    OAUTH_FOREIGN_METADATA = 1 << 1,    /* the metadata is on another origin */
    OAUTH_FOREIGN_SERVER = 1 << 2,      /* an authorization server is: `foreign_server` */
    OAUTH_UNREADABLE_METADATA = 1 << 3, /* no JSON object, or compressed, or too long */
    OAUTH_SIGNED_METADATA = 1 << 4,     /* it is also signed, for the server's URL */
};

struct oauth {
    struct arena arena;
    struct url endpoint;         /* the server's MCP endpoint */
    struct str server_origin;    /* scheme, host and port of it */
    bool server_uses_our_origin; /* its metadata names our origin (--keep-host) */
    bool client_uses_root; /* set if the latest rejected client uses '/' as the endpoint */
    struct str metadata_paths[OAUTH_PATHS_MAX];
    size_t metadata_path_count;
    struct buf authorize_path; /* path of the authorization page; or empty */
    bool names_issuer;         /* its last redirect has the parameter iss */
    struct str foreign_server; /* origin of an authorization server elsewhere; or empty */
    unsigned notes, notes_taken;
};

/* `url` is the MCP endpoint, already validated. Copied. */
void oauth_init(struct oauth *o, struct str url);
void oauth_release(struct oauth *o);

/* Returns the warnings that were not returned before. */
unsigned oauth_take_notes(struct oauth *o);
void oauth_add_note(struct oauth *o, enum oauth_note note);

/* Notes the path of a rejected request to the endpoint: that client will log in. */
void oauth_note_endpoint_path(struct oauth *o, struct str path);

enum oauth_document {
    OAUTH_NO_DOCUMENT,
    OAUTH_RESOURCE_METADATA, /* of a protected resource */
    OAUTH_SERVER_METADATA,   /* of an authorization server */
};

/* Says which metadata is at a path, by its well-known name or by earlier challenges. */
enum oauth_document oauth_document_kind(const struct oauth *o, struct str path);

/* In the following, `host` is the client's Host header: our origin as it knows it. Each
 * function writes the replacement of a text to `out`, and nothing if the text can stay. */

/* Rewrites a WWW-Authenticate header. Sets `*named` if it has resource_metadata. */
void oauth_rewrite_challenge(struct oauth *o, struct str host, struct str line, struct buf *out,
                             bool *named);

void oauth_rewrite_metadata(struct oauth *o, enum oauth_document kind, struct str host,
                            struct str body, struct buf *out);

/* Rewrites the Location of a response that is not the endpoint's. */
void oauth_rewrite_location(const struct oauth *o, struct str host, struct str location,
                            struct buf *out);

/* Writes the URL to which a browser is redirected instead; nothing: the request is
 * forwarded. */
void oauth_login_redirect(const struct oauth *o, struct str host, struct str path,
                          struct str query, struct buf *out);

/* Rewrites a query or form on its way to the server, not to the MCP endpoint. */
void oauth_rewrite_form(const struct oauth *o, struct str host, struct str form,
                        struct buf *out);

#endif
