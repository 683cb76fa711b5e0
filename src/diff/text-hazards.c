#include "diff/text-hazards.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/term.h"
#include "base/utf8.h"

struct str text_hazards_class(enum text_hazard_class class)
{
    static const struct str names[HAZARD_CLASSES] = {
        [HAZARD_INVISIBLE] = STR_INIT("invisible"),
        [HAZARD_BIDIRECTIONAL] = STR_INIT("bidirectional"),
        [HAZARD_TAG] = STR_INIT("tag"),
    };

    return names[class];
}

static enum text_hazard_class class_of(uint32_t code)
{
    if (code >= 0xE0000 && code <= 0xE007F)
        return HAZARD_TAG;
    if (code == 0x061C || code == 0x200E || code == 0x200F ||
        (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069))
        return HAZARD_BIDIRECTIONAL;
    return HAZARD_INVISIBLE;
}

static void count_hidden(struct text_hazards *h, struct str text)
{
    uint32_t code;

    while (text.len) {
        size_t n = (unsigned char)text.at[0] < 0x80 ? 1 : utf8_decode(text, &code);

        if (n > 1 && term_is_hidden(code))
            h->hidden[class_of(code)]++;
        text = str_skip(text, n ? n : 1);
    }
}

static bool ends_url(char c)
{
    return (unsigned char)c <= ' ' || strchr("<>\"'`()[]{}|\\^", c);
}

static void add_url(struct text_hazards *h, struct str url)
{
    if (h->url_count < TEXT_HAZARDS_URLS)
        h->urls[h->url_count++] = url;
}

static bool is_part_of_name(char c)
{
    return ascii_is_alnum(c) || strchr("-_.@", c) || (unsigned char)c >= 0x80;
}

/* `start` is in lower case. */
static bool starts_in_any_case(struct str text, struct str start)
{
    if (text.len < start.len)
        return false;
    for (size_t i = 0; i < start.len; i++)
        if (ascii_lower(text.at[i]) != start.at[i])
            return false;
    return true;
}

/* Returns the length of the scheme, or of "www.", with which a URL begins at a place; 0: none
 * does. "www." counts where no name goes on. */
static size_t begins_url(struct str text, size_t at)
{
    static const struct str starts[] = { STR_INIT("https://"), STR_INIT("http://"),
                                         STR_INIT("ftp://"), STR_INIT("ftps://"),
                                         STR_INIT("www.") };
    struct str rest = str_skip(text, at);

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        bool is_host = starts[i].at[0] == 'w';

        if (starts_in_any_case(rest, starts[i]))
            return is_host && at && is_part_of_name(text.at[at - 1]) ? 0 : starts[i].len;
    }
    return 0;
}

static void find_urls(struct text_hazards *h, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t start = begins_url(text, at), n = start;

        if (!start) {
            at++;
            continue;
        }
        while (at + n < text.len && !ends_url(text.at[at + n]))
            n++;
        while (n > start && strchr(".,;:!?", text.at[at + n - 1]))
            n--;
        if (n > start)
            add_url(h, str_n(text.at + at, n));
        at += n;
    }
}

/* Recursion goes as deep as the value is nested, which the scanner has limited. */
static void read_value(struct text_hazards *h, struct json_val v, bool is_text, struct arena *a)
{
    struct json_iter it = json_each(v);

    if (json_type(v) == JSON_STRING) {
        struct str text = json_text(v, a);

        count_hidden(h, text);
        if (is_text)
            find_urls(h, text);
    }
    while (json_next(&it)) {
        if (json_exists(it.key))
            count_hidden(h, json_text(it.key, a));
        read_value(h, it.value,
                   json_is(it.key, STR("description")) || json_is(it.key, STR("title")), a);
    }
}

static int compare_urls(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void text_hazards_read(struct text_hazards *h, struct json_val v, struct arena *a)
{
    size_t kept = 0;

    *h = (struct text_hazards){
        .urls = arena_alloc(a, TEXT_HAZARDS_URLS * sizeof(struct str)),
    };
    read_value(h, v, true, a);
    qsort(h->urls, h->url_count, sizeof *h->urls, compare_urls);
    for (size_t i = 0; i < h->url_count; i++)
        if (!kept || !str_eq(h->urls[kept - 1], h->urls[i]))
            h->urls[kept++] = h->urls[i];
    h->url_count = kept;
}
