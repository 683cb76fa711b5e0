/* format/cassette-model.h - what a cassette consists of, read and written as
 * mcp-recorder 0.5 does: its defaults, what it coerces, what it refuses, its layout.
 *
 * Knows nothing of records but the header, which carries the metadata: what of it has
 * no member of its own there stands in `source`. */
#ifndef FORMAT_CASSETTE_MODEL_H
#define FORMAT_CASSETTE_MODEL_H

#include "format/format.h"

struct cassette_metadata {
    struct str version;
    struct str recorded_at; /* NULL: not said */
    struct str server_url;
    struct str transport, protocol; /* NULL: null */
    struct str server_info;         /* JSON; NULL: null */
};

enum cassette_type { CASSETTE_REQUEST, CASSETTE_NOTIFICATION, CASSETTE_LIFECYCLE };

struct cassette_interaction {
    enum cassette_type type;
    struct str request, response; /* JSON objects; NULL: null */
    bool sse, has_status, has_latency;
    uint64_t status, latency_ms;
    struct str method, path; /* of HTTP; NULL: null */
};

struct str cassette_model_type_name(enum cassette_type type);

/* The type named so; false if there is none. */
bool cassette_model_type(struct str name, enum cassette_type *out);

/* What mcp-recorder takes an exchange for that carries such a message or none, if
 * that is the method of HTTP; NULL: not known. */
enum cassette_type cassette_model_usual_type(struct json_val request, struct str method);

/* A date as datetime.isoformat() writes it: microseconds, or no fraction at all. */
struct str cassette_model_date(int64_t wall_us, struct arena *a);

/* The whole document: version and metadata. False after format_error(). */
bool cassette_model_read(const struct window *w, struct json_val document, struct arena *a,
                         struct cassette_metadata *out, struct err *e) MUST_CHECK;

/* One element of "interactions". A number mcp-recorder takes and we cannot hold is left
 * out and given in `*beyond`. */
bool cassette_model_read_interaction(const struct window *w, struct json_val v, struct arena *a,
                                     struct cassette_interaction *out, struct json_val *beyond,
                                     struct err *e) MUST_CHECK;

/* How many members mcp-recorder passes over: of the document and its metadata, of an
 * interaction. */
size_t cassette_model_unknown(struct json_val document);
size_t cassette_model_unknown_in(struct json_val interaction);

/* Metadata as a header, and back. True: the header came from a cassette, and the
 * metadata is as it was; else it is what a header can tell. Texts live in `a`. */
void cassette_model_to_header(const struct cassette_metadata *m, struct arena *a,
                              struct record *r);
bool cassette_model_from_header(const struct record *r, struct arena *a,
                                struct cassette_metadata *out);

/* The document in three pieces; `first` is the first interaction, `any` whether there
 * was one. */
void cassette_model_write_head(struct buf *to, const struct cassette_metadata *m);
void cassette_model_write_interaction(struct buf *to, const struct cassette_interaction *i,
                                      bool first);
void cassette_model_write_tail(struct buf *to, bool any);

#endif
