#include "filter/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A filter, a newline, a message (or other text). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size), query = str_cut(&text, '\n');
    struct filter_view v = {
        .has = 0x7FF, .kind = FILTER_KIND_OP, .is = FILTER_IS_OK, .method = text
    };
    struct filter_fault fault = { SIZE_MAX, SIZE_MAX };
    struct json_fault bad;
    struct err e = ERR_NONE;
    struct filter *f;
    struct json j;

    if (!filter_new(&f, query, &fault, &e)) {
        BUG_IF(e.kind != ERR_USAGE || !e.msg[0]);
        BUG_IF(fault.at > query.len || fault.len > query.len - fault.at);
        return 0;
    }
    BUG_IF(e.kind != ERR_OK);
    json_init(&j);
    if (json_scan(&j, text, &bad))
        v.message = json_root(&j);
    else
        v.bytes = text;
    /* The result depends only on the terms. */
    BUG_IF(filter_matches(f, &v) != filter_eval(f, filter_match_terms(f, &v)));
    (void)filter_eval(f, UINT64_MAX);
    json_release(&j);
    filter_free(f);
    return 0;
}
