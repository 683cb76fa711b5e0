/* format/cassette-model.h - reads and writes the parts of a cassette like mcp-recorder 0.5.
 *
 * Has its defaults, coercions, rejections and layout. The only record it knows is the header,
 * which holds the metadata: parts without a member of their own are in `source`. */
#ifndef FORMAT_CASSETTE_MODEL_H
#define FORMAT_CASSETTE_MODEL_H

#include "format/format.h"

struct cassette_metadata {
    struct str version;
    struct str recorded_at; /* NULL: unknown */
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

/* Parses the name of a type; false if it is unknown. */
bool cassette_model_parse_type(struct str name, enum cassette_type *out);

/* The type that mcp-recorder gives to an exchange with this message (or none) and HTTP method
 * (NULL: unknown). */
enum cassette_type cassette_model_default_type(struct json_val request, struct str method);

/* Formats a date like datetime.isoformat(): with microseconds, or no fraction at all. */
struct str cassette_model_format_date(int64_t wall_us, struct arena *a);

/* Reads version and metadata of the document. Returns false after format_error(). */
bool cassette_model_read(const struct window *w, struct json_val document, struct arena *a,
                         struct cassette_metadata *out, struct err *e) MUST_CHECK;

/* Reads one element of "interactions". A number that mcp-recorder accepts and a record cannot
 * hold is dropped, and returned in `*beyond`. */
bool cassette_model_read_interaction(const struct window *w, struct json_val v, struct arena *a,
                                     struct cassette_interaction *out, struct json_val *beyond,
                                     struct err *e) MUST_CHECK;

/* The number of members that mcp-recorder ignores: in the document and its metadata, in an
 * interaction. */
size_t cassette_model_count_unknown(struct json_val document);
size_t cassette_model_count_unknown_in(struct json_val interaction);

/* Converts metadata to a header, and back. The latter returns true if the header came from a
 * cassette, and the metadata is the original; else it has what a header holds. Texts are in
 * `a`. */
void cassette_model_to_header(const struct cassette_metadata *m, struct arena *a,
                              struct record *r);
bool cassette_model_from_header(const struct record *r, struct arena *a,
                                struct cassette_metadata *out);

/* Write the document in three pieces. `first`: it is the first interaction; `any`: there was
 * one. */
void cassette_model_write_head(struct buf *to, const struct cassette_metadata *m);
void cassette_model_write_interaction(struct buf *to, const struct cassette_interaction *i,
                                      bool first);
void cassette_model_write_message(struct buf *to, struct str message); /* of an interaction */
void cassette_model_write_tail(struct buf *to, bool any);

#endif
