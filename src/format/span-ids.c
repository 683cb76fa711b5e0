#include "format/span-ids.h"

#include "base/hash.h"

enum { UUID_LEN = 36 };

#define VERSION_SHIFT 12
#define VARIANT_SHIFT 62

/* Purposes of ids: different ids for equal numbers. */
#define FOR_TRACE 0x7472616365000000u
#define FOR_CONTEXT 0x636f6e7465787400u
#define FOR_SPAN 0x7370616e00000000u
#define FOR_EVENT 0x6576656e74000000u

void span_ids_add(struct span_ids *s, struct str bytes)
{
    s->seed_high = hash_bytes(bytes, s->seed_high);
    s->seed_low = hash_bytes(bytes, ~s->seed_low);
}

/* Sets the bits of version 4 and its variant. `high` has 60 bits. */
static struct uuid shape(uint64_t high, uint64_t low)
{
    const uint64_t below = ((uint64_t)1 << VERSION_SHIFT) - 1;

    return (struct uuid){
        .high = (high & ~below) << 4 | (uint64_t)4 << VERSION_SHIFT | (high & below),
        .low = (uint64_t)2 << VARIANT_SHIFT | (low & (((uint64_t)1 << VARIANT_SHIFT) - 1)),
    };
}

#define HIGH_BITS 60
#define HIGH_MASK (((uint64_t)1 << HIGH_BITS) - 1)

static struct uuid make_hashed(const struct span_ids *s, uint64_t purpose, uint64_t number)
{
    uint64_t high = hash_mix(s->seed_high ^ purpose, number),
             low = hash_mix(s->seed_low ^ purpose, number);

    return shape(high & HIGH_MASK, low);
}

struct uuid span_ids_trace(const struct span_ids *s)
{
    return make_hashed(s, FOR_TRACE, 0);
}

struct uuid span_ids_context(const struct span_ids *s)
{
    return make_hashed(s, FOR_CONTEXT, 0);
}

/* Each step can be undone in 60 bits, so different numbers stay different. */
static uint64_t permute(const struct span_ids *s, uint64_t number)
{
    uint64_t n = (number ^ hash_mix(s->seed_high, FOR_SPAN)) & HIGH_MASK;

    n = n * 0x9e3779b97f4a7c15u & HIGH_MASK;
    n ^= n >> (HIGH_BITS / 2);
    n = n * 0xbf58476d1ce4e5b9u & HIGH_MASK;
    return n ^ n >> (HIGH_BITS / 2);
}

struct uuid span_ids_span(const struct span_ids *s, uint64_t number)
{
    return shape(permute(s, number), hash_mix(s->seed_low ^ FOR_SPAN, number));
}

struct uuid span_ids_event(const struct span_ids *s, uint64_t number)
{
    return make_hashed(s, FOR_EVENT, number);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool span_ids_is_uuid(struct str text)
{
    if (text.len != UUID_LEN)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? text.at[i] != '-' : !is_hex(text.at[i]))
            return false;
    }
    return text.at[14] == '4' && strchr("89ab", text.at[19]);
}

/* Appends the lowest digits of a number. */
static void write_digits(struct buf *to, uint64_t n, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char text[16];

    for (size_t i = count; i--; n >>= 4)
        text[i] = digits[n & 0xf];
    buf_add(to, str_n(text, count));
}

void span_ids_write_uuid(struct buf *to, struct uuid id)
{
    write_digits(to, id.high >> 32, 8);
    buf_add_ch(to, '-');
    write_digits(to, id.high >> 16, 4);
    buf_add_ch(to, '-');
    write_digits(to, id.high, 4);
    buf_add_ch(to, '-');
    write_digits(to, id.low >> 48, 4);
    buf_add_ch(to, '-');
    write_digits(to, id.low, 12);
}

void span_ids_write_hex(struct buf *to, uint64_t n)
{
    write_digits(to, n, 16);
}
