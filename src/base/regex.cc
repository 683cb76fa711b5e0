extern "C" {
#include "base/regex.h"
}

#include <memory>
#include <string>
#include <vector>

#include <re2/filtered_re2.h>
#include <re2/re2.h>
#include <re2/set.h>

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

static RE2::Options quiet_options()
{
    RE2::Options options;

    options.set_log_errors(false);
    options.set_max_mem(MAX_MEMORY);
    return options;
}

bool regex_new(struct regex **out, struct str pattern, enum regex_case fold, struct err *e)
{
    RE2::Options options = quiet_options();

    options.set_case_sensitive(fold == REGEX_EXACT);
    struct regex *r = new regex(pattern, options);
    if (!r->re.ok()) {
        err_set(e, ERR_USAGE, "invalid pattern '%.*s': %s", (int)pattern.len, pattern.at,
                r->re.error().c_str());
        delete r;
        return err_hint(e,
                        "patterns use the syntax of RE2: no look-around, no back-references");
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

/* The set says quickly which patterns match at all, the patterns say where; the filter
 * knows the literals. */
struct regex_set {
    regex_set() : gate(quiet_options(), RE2::UNANCHORED), filter(REGEX_LITERAL_MIN), any(false)
    {
    }

    std::vector<std::unique_ptr<RE2>> patterns;
    RE2::Set gate;
    re2::FilteredRE2 filter;
    std::vector<std::string> literals;
    bool any;
};

struct regex_set *regex_set_new(void)
{
    return new regex_set();
}

void regex_set_free(struct regex_set *s)
{
    delete s;
}

/* Whether it matches between two characters without taking one: at the edge of a word, for
 * what does so elsewhere does so in the empty text. Around each kind of neighbours a boundary
 * can have there is one such place. */
static bool can_match_empty(const RE2 &re)
{
    static const char *const edges[] = { "a", "a-", "-a", "-", "0", "a\n-", "a-b" };
    re2::StringPiece found;

    for (const char *text : edges) {
        re2::StringPiece piece(text);
        for (size_t from = 0; from <= piece.size(); from++)
            if (re.Match(piece, from, piece.size(), RE2::UNANCHORED, &found, 1) &&
                found.empty())
                return true;
    }
    return false;
}

bool regex_set_add(struct regex_set *s, struct str pattern, struct err *e)
{
    re2::StringPiece text(pattern.at, pattern.len);
    auto re = std::make_unique<RE2>(text, quiet_options());
    int id;

    if (!re->ok()) {
        /* "what: where", and the latter is part of the pattern. */
        std::string what = re->error();
        what.resize(what.size() - (re->error_arg().empty() ? 0 : re->error_arg().size() + 2));
        return err_set(e, ERR_USAGE, "%s", what.c_str());
    }
    if (RE2::PartialMatch("", *re))
        return err_set(e, ERR_USAGE, "it matches the empty text, so it would match everywhere");
    if (can_match_empty(*re))
        return err_set(e, ERR_USAGE, "it matches empty text: '\\b' alone matches no character");
    if (s->gate.Add(text, nullptr) < 0 ||
        s->filter.Add(text, quiet_options(), &id) != RE2::NoError)
        BUG("a valid pattern cannot be added to the set");
    s->patterns.push_back(std::move(re));
    return true;
}

/* Literals come in lower case by the rules of Unicode; we only fold ASCII. */
static bool is_ascii(const std::string &text)
{
    for (char c : text)
        if (static_cast<unsigned char>(c) >= 0x80)
            return false;
    return true;
}

bool regex_set_compile(struct regex_set *s, struct err *e)
{
    std::vector<int> without;

    if (s->patterns.empty())
        return true;
    if (!s->gate.Compile())
        return err_set(e, ERR_USAGE, "the patterns are too large together");
    s->filter.Compile(&s->literals);
    if (!s->literals.empty())
        s->filter.AllPotentials({}, &without);
    s->any = s->literals.empty() || !without.empty();
    for (const std::string &l : s->literals)
        s->any = s->any || !is_ascii(l);
    if (s->any)
        s->literals.clear();
    return true;
}

size_t regex_set_literals(const struct regex_set *s, bool *any)
{
    *any = s->any;
    return s->literals.size();
}

struct str regex_set_literal(const struct regex_set *s, size_t index)
{
    return str_n(s->literals[index].data(), s->literals[index].size());
}

static bool search_one(const RE2 &re, size_t pattern, const re2::StringPiece &text,
                       regex_match_fn *fn, void *to)
{
    re2::StringPiece found;
    size_t from = 0;

    while (from < text.size() &&
           re.Match(text, from, text.size(), RE2::UNANCHORED, &found, 1)) {
        size_t at = static_cast<size_t>(found.data() - text.data());
        if (found.size() && !fn(to, pattern, at, at + found.size()))
            return false;
        from = at + (found.size() ? found.size() : 1);
    }
    return true;
}

bool regex_set_search(const struct regex_set *s, struct str text, regex_match_fn *fn, void *to)
{
    re2::StringPiece piece(text.at, text.len);
    RE2::Set::ErrorInfo trouble = { RE2::Set::kNoError };
    std::vector<int> which;

    if (s->patterns.empty())
        return true;
    if (!s->gate.Match(piece, &which, &trouble)) {
        if (trouble.kind == RE2::Set::kNoError)
            return true;
        for (size_t i = 0; i < s->patterns.size(); i++)
            which.push_back(static_cast<int>(i));
    }
    for (int i : which)
        if (!search_one(*s->patterns[static_cast<size_t>(i)], static_cast<size_t>(i), piece, fn,
                        to))
            return false;
    return true;
}
