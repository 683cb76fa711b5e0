/* record/transcript-secrets.h - a record sink that finds the secrets of the transport in
 * records of other programs, before the redactor.
 *
 * A transcript may have headers and URLs beside its messages, in members that are unknown to
 * mcpreel, and `endpoint` events with a session id. Their secrets are added to
 * redact/seen-secrets, as while recording (record/header-secrets), and the data of `endpoint`
 * events gets placeholders. Records of recordings and HAR files, which belong to an exchange,
 * have no such secrets and pass unchanged. */
#ifndef RECORD_TRANSCRIPT_SECRETS_H
#define RECORD_TRANSCRIPT_SECRETS_H

#include "redact/seen-secrets.h"
#include "trace/record.h"
#include "wire/headers.h"
#include "json/json.h"
#include "json/splice.h"

struct transcript_secrets {
    struct sink sink;          /* put records here */
    struct sink *next;         /* borrowed */
    struct seen_secrets *seen; /* borrowed; secrets are added to it */
    bool redacts_urls;         /* learns secrets of URLs, too */

    /* Private. */
    struct seen_secrets_refs refs; /* of one record */
    uint64_t endpoints;            /* number of `endpoint` events */
    struct headers headers;        /* of one record */
    struct json json;
    struct json_splice short_ids; /* replaced in the members of one record */
    struct arena arena;           /* for one record */
};

void transcript_secrets_init(struct transcript_secrets *t, struct seen_secrets *seen,
                             bool redacts_urls, struct sink *next);
void transcript_secrets_release(struct transcript_secrets *t);

#endif
