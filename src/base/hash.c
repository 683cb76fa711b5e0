#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(struct str bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.len ? bytes.at : "", bytes.len, seed);
}

uint64_t hash_mix(uint64_t a, uint64_t b)
{
    const uint64_t pair[2] = { a, b };

    return XXH3_64bits(pair, sizeof pair);
}
