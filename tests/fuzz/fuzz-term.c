#include "base/term.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns whether a terminal would do more with it than show it. */
static bool moves_or_hides(uint32_t c, bool many_lines)
{
    if (many_lines && (c == '\n' || c == '\t'))
        return false;
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
           (c >= 0xe0000 && c <= 0xe007f);
}

/* Returns how many characters were shown. */
static size_t check_harmless(struct str shown, bool many_lines)
{
    size_t n = 0;

    for (; shown.len; n++) {
        uint32_t c;
        size_t used = utf8_decode(shown, &c);

        BUG_IF(used == 0 || moves_or_hides(c, many_lines));
        shown = str_skip(shown, used);
    }
    return n;
}

/* For any input, the output is UTF-8 without control characters; escaping it again changes
 * nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    struct buf once, twice;

    buf_init(&once, 64 * size + 64);
    buf_init(&twice, 64 * size + 64);
    for (int many = 0; many <= 2; many++) {
        enum term_lines lines = (enum term_lines)many;

        buf_clear(&once);
        buf_clear(&twice);
        term_escape(&once, text, lines);
        BUG_IF(once.full);
        check_harmless(buf_str(&once), many);
        term_escape(&twice, buf_str(&once), lines);
        BUG_IF(!str_eq(buf_str(&once), buf_str(&twice)));
    }
    for (size_t columns = 1; columns <= 20; columns++) {
        buf_clear(&once);
        term_escape_cut(&once, text, columns);
        BUG_IF(check_harmless(buf_str(&once), false) > columns);
    }
    buf_release(&once);
    buf_release(&twice);
    return 0;
}
