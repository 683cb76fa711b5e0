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

static void find_urls(struct text_hazards *h, struct str text)
{
    while (text.len) {
        size_t scheme = str_starts(text, STR("https://"))  ? 8
                        : str_starts(text, STR("http://")) ? 7
                                                           : 0;
        size_t n = scheme;

        if (!scheme) {
            text = str_skip(text, 1);
            continue;
        }
        while (n < text.len && !ends_url(text.at[n]))
            n++;
        while (n > scheme && strchr(".,;:!?", text.at[n - 1]))
            n--;
        if (n > scheme)
            add_url(h, str_n(text.at, n));
        text = str_skip(text, n);
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
