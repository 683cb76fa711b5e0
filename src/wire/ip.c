#include "wire/ip.h"

#include "base/ascii.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
static const uint8_t loopback6[16] = { [15] = 1 };
static const uint8_t any6[16] = { 0 };

/* Cuts off a number as in C: decimal, 0octal or 0xhex. '0x' alone is 0, as in some parsers. The
 * caller checks the rest. */
static bool parse_number(struct str *rest, uint64_t *n, bool *usual)
{
    struct str s = *rest;
    int base = 10, digit;
    size_t i = 0;

    if (!s.len || !ascii_is_digit(s.at[0]))
        return false;
    if (s.len > 1 && s.at[0] == '0' && s.at[1] != '.') {
        base = s.at[1] == 'x' || s.at[1] == 'X' ? 16 : 8;
        i = base == 16 ? 2 : 1;
        *usual = false;
    }
    for (*n = 0; i < s.len && (digit = ascii_hex(s.at[i])) >= 0 && digit < base; i++) {
        *n = *n * (unsigned)base + (unsigned)digit;
        if (*n > UINT32_MAX)
            return false;
    }
    *rest = str_n(s.at + i, s.len - i);
    return true;
}

static bool skip_dot(struct str *rest)
{
    if (!rest->len || rest->at[0] != '.')
        return false;
    *rest = str_n(rest->at + 1, rest->len - 1);
    return true;
}

/* Parses one to four numbers; the last one fills the remaining bytes. */
static bool parse_v4(struct str text, uint32_t *address, bool *usual)
{
    uint64_t part[4] = { 0 }, sum = 0;
    int n = 0;

    *usual = true;
    do {
        if (n == 4 || !parse_number(&text, &part[n++], usual))
            return false;
    } while (skip_dot(&text));
    if (text.len || part[n - 1] >= UINT64_C(1) << (8 * (5 - n)))
        return false;
    for (int i = 0; i < n - 1; i++) {
        if (part[i] > 255)
            return false;
        sum |= part[i] << (24 - 8 * i);
    }
    *usual = *usual && n == 4;
    *address = (uint32_t)(sum | part[n - 1]);
    return true;
}

static void put_v4(uint8_t to[4], uint32_t address)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(address >> (24 - 8 * i));
}

/* The groups on one side of a '::'. */
struct groups {
    uint8_t at[16];
    size_t len;
};

static bool add_group(struct groups *g, struct str s)
{
    unsigned value = 0;

    if (s.len == 0 || s.len > 4 || g->len + 2 > 16)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        int digit = ascii_hex(s.at[i]);

        if (digit < 0)
            return false;
        value = value << 4 | (unsigned)digit;
    }
    g->at[g->len++] = (uint8_t)(value >> 8);
    g->at[g->len++] = (uint8_t)(value & 0xff);
    return true;
}

static bool add_v4(struct groups *g, struct str s)
{
    uint32_t address;
    bool usual;

    if (g->len + 4 > 16 || !parse_v4(s, &address, &usual) || !usual)
        return false;
    put_v4(g->at + g->len, address);
    g->len += 4;
    return true;
}

/* Cuts off the next group; false after the last one. Unlike str_cut() it tells 'a' from 'a:'.
 */
static bool next_part(struct str *rest, struct str *part)
{
    size_t n;

    if (!rest->at)
        return false;
    n = str_find(*rest, ':');
    *part = str_n(rest->at, n);
    *rest = n < rest->len ? str_n(rest->at + n + 1, rest->len - n - 1) : STR_NONE;
    return true;
}

/* `last`: the text ends the address, where a V4 address may replace two groups. */
static bool parse_groups(struct groups *g, struct str text, bool last)
{
    struct str part;

    if (!text.len)
        return true;
    while (next_part(&text, &part)) {
        bool v4 = last && !text.at && str_find(part, '.') < part.len;

        if (!(v4 ? add_v4(g, part) : add_group(g, part)))
            return false;
    }
    return true;
}

static size_t find_gap(struct str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.at[i] == ':' && text.at[i + 1] == ':')
            return i;
    }
    return text.len;
}

static bool parse_v6(struct str text, uint8_t to[16])
{
    struct groups before = { .len = 0 }, after = { .len = 0 };
    size_t gap = find_gap(text);
    bool has_gap = gap < text.len;

    if (!parse_groups(&before, str_n(text.at, gap), !has_gap) ||
        !parse_groups(&after, str_skip(text, gap + 2), true))
        return false;
    if (has_gap ? before.len + after.len > 14 : before.len != 16)
        return false;
    memset(to, 0, 16);
    memcpy(to, before.at, before.len);
    memcpy(to + 16 - after.len, after.at, after.len);
    return true;
}

struct ip ip_parse(struct str text)
{
    struct ip ip = { .kind = IP_NONE };
    uint32_t v4;

    if (parse_v4(text, &v4, &ip.canonical)) {
        ip.kind = IP_V4;
        memcpy(ip.bytes, mapped, sizeof mapped);
        put_v4(ip.bytes + 12, v4);
    } else if (str_find(text, ':') < text.len && parse_v6(text, ip.bytes)) {
        ip.kind = IP_V6;
        ip.canonical = true;
    } else {
        ip.canonical = false;
    }
    return ip;
}

/* Returns the last label that is not empty. */
static struct str last_part(struct str text)
{
    size_t end = text.len, at;

    while (end && text.at[end - 1] == '.')
        end--;
    for (at = end; at && text.at[at - 1] != '.';)
        at--;
    return str_n(text.at + at, end - at);
}

bool ip_looks_numeric(struct str text)
{
    struct str last = text.len ? last_part(text) : STR_NONE;
    uint64_t n;
    bool usual;

    if (!last.len)
        return false;
    for (size_t i = 0; i < last.len; i++) {
        if (!ascii_is_digit(last.at[i]))
            return parse_number(&last, &n, &usual) && !last.len;
    }
    return true;
}

static bool is_v4(const struct ip *ip)
{
    return memcmp(ip->bytes, mapped, sizeof mapped) == 0;
}

bool ip_is_loopback(const struct ip *ip)
{
    if (ip->kind == IP_NONE)
        return false;
    return is_v4(ip) ? ip->bytes[12] == 127 : memcmp(ip->bytes, loopback6, 16) == 0;
}

bool ip_is_any(const struct ip *ip)
{
    if (ip->kind == IP_NONE)
        return false;
    return is_v4(ip) ? memcmp(ip->bytes + 12, any6, 4) == 0 : memcmp(ip->bytes, any6, 16) == 0;
}
