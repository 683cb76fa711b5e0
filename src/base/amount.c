#include "base/amount.h"

void amount_of(struct buf *to, uint64_t n, const char *one, const char *many)
{
    buf_printf(to, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

void amount_bytes(struct buf *to, uint64_t bytes)
{
    static const char units[] = "kMGTPE";
    uint64_t unit = 1000;
    size_t i = 0;

    if (bytes < 1000) {
        amount_of(to, bytes, "byte", "bytes");
        return;
    }
    /* As long as it would be rounded to a thousand. */
    while (units[i + 1] && bytes >= unit * 1000 - unit / 2) {
        unit *= 1000;
        i++;
    }
    if (bytes >= unit * 10 - unit / 20)
        buf_printf(to, "%llu %cB",
                   (unsigned long long)(bytes / unit + (bytes % unit >= unit / 2)), units[i]);
    else
        buf_printf(to, "%llu.%llu %cB", (unsigned long long)((bytes + unit / 20) / unit),
                   (unsigned long long)((bytes + unit / 20) % unit / (unit / 10)), units[i]);
}
