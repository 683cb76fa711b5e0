extern "C" {
#include "base/regex.h"
}

#include <re2/re2.h>

/* The only C++ of the house. Nothing thrown may leave this file; RE2 throws nothing
 * but what operator new does, and out of memory ends the program anyway. */
struct regex {
    explicit regex(struct str pattern, const RE2::Options &options)
        : re(re2::StringPiece(pattern.at, pattern.len), options)
    {
    }

    RE2 re;
};

/* A pattern may not ask for more memory than this when it is compiled or run. */
static const int64_t MAX_MEMORY = 8 << 20;

bool regex_new(struct regex **out, struct str pattern, enum regex_case fold, struct err *e)
{
    RE2::Options options;

    options.set_log_errors(false);
    options.set_max_mem(MAX_MEMORY);
    options.set_case_sensitive(fold == REGEX_EXACT);
    struct regex *r = new regex(pattern, options);
    if (!r->re.ok()) {
        err_set(e, ERR_USAGE, "'%.*s' is not a pattern: %s", (int)pattern.len, pattern.at,
                r->re.error().c_str());
        delete r;
        return err_hint(e, "patterns are RE2's: no look-around and no back-references");
    }
    *out = r;
    return true;
}

void regex_free(struct regex *r)
{
    delete r;
}

bool regex_search(const struct regex *r, struct str text)
{
    return RE2::PartialMatch(re2::StringPiece(text.at, text.len), r->re);
}
