#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { ANSWER_MAX = 64 << 20 };

static bool read_length(uint32_t *n)
{
    unsigned char b[4];

    if (fread(b, 1, 4, stdin) != 4)
        return false;
    *n = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

static void write_answer(struct str text)
{
    const unsigned char b[4] = { text.len & 0xFF, text.len >> 8 & 0xFF, text.len >> 16 & 0xFF,
                                 text.len >> 24 & 0xFF };

    fwrite(b, 1, 4, stdout);
    fwrite(text.at, 1, text.len, stdout);
    fflush(stdout);
}

int probe_serve(probe_fn *answer, void *with)
{
    struct buf out;
    uint32_t len;

    buf_init(&out, ANSWER_MAX);
    while (read_length(&len)) {
        char *text = mem_grow(NULL, len ? len : 1);

        if (fread(text, 1, len, stdin) != len)
            return 1;
        buf_clear(&out);
        answer(with, str_n(text, len), &out);
        write_answer(buf_str(&out));
        free(text);
    }
    buf_release(&out);
    return ferror(stdout) != 0;
}

void probe_add_hex(struct buf *to, struct str bytes)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < bytes.len; i++) {
        buf_add_ch(to, digits[(unsigned char)bytes.at[i] >> 4]);
        buf_add_ch(to, digits[(unsigned char)bytes.at[i] & 15]);
    }
}
