#include "base/shell-split.h"

#include "base/ascii.h"

/* Takes what follows the opening quote, up to and with the closing one. */
static bool parse_quoted(struct str *rest, char quote, char *word, size_t *len, struct err *e)
{
    for (; rest->len && rest->at[0] != quote; *rest = str_skip(*rest, 1)) {
        /* Inside "…" a backslash is one, but before what would have a meaning there. */
        if (quote == '"' && rest->len > 1 && rest->at[0] == '\\' &&
            memchr("\"\\$`", rest->at[1], 4))
            *rest = str_skip(*rest, 1);
        word[(*len)++] = rest->at[0];
    }
    if (!rest->len)
        return err_set(e, ERR_USAGE, "a quote (%c) is not closed", quote);
    *rest = str_skip(*rest, 1);
    return true;
}

/* A word is never longer than it was written, the NUL in the place of the blank. */
static bool parse_word(struct str *rest, char *word, size_t *used, struct err *e)
{
    size_t len = 0;

    while (rest->len && !ascii_is_blank(rest->at[0])) {
        char c = rest->at[0];

        *rest = str_skip(*rest, 1);
        if (c == '\'' || c == '"') {
            if (!parse_quoted(rest, c, word, &len, e))
                return false;
            continue;
        }
        if (c == '\\') {
            if (!rest->len)
                return err_set(e, ERR_USAGE, "nothing follows the last backslash");
            c = rest->at[0];
            *rest = str_skip(*rest, 1);
        }
        word[len++] = c;
    }
    word[len] = '\0';
    *used += len + 1;
    return true;
}

bool shell_split(char ***out, size_t *count, struct str text, struct arena *a, struct err *e)
{
    /* A word takes a character and a blank at least. */
    char **words = arena_alloc(a, (text.len / 2 + 2) * sizeof *words);
    char *letters = arena_alloc(a, text.len + 1);
    size_t used = 0;

    *count = 0;
    for (;;) {
        while (text.len && ascii_is_blank(text.at[0]))
            text = str_skip(text, 1);
        if (!text.len)
            break;
        words[(*count)++] = letters + used;
        if (!parse_word(&text, letters + used, &used, e))
            return false;
    }
    *out = words;
    return true;
}

static bool is_plain(struct str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!ascii_is_alnum(word.at[i]) && !memchr("_@%+=:,./-", word.at[i], 10))
            return false;
    return word.len;
}

void shell_quote(struct buf *to, struct str word)
{
    if (is_plain(word)) {
        buf_add(to, word);
        return;
    }
    buf_add_ch(to, '\'');
    for (size_t i = 0; i < word.len; i++)
        if (word.at[i] == '\'')
            buf_add(to, STR("'\\''"));
        else
            buf_add_ch(to, word.at[i]);
    buf_add_ch(to, '\'');
}
