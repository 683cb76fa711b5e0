/* base/hash.h - 64-bit hashes of bytes (XXH3); the only place that knows xxHash.
 *
 * Not for secrets. Equal hashes are a hint, never proof: compare afterwards. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

uint64_t hash_bytes(struct str bytes, uint64_t seed);

/* Combines two hashes; order matters. */
uint64_t hash_mix(uint64_t a, uint64_t b);

#endif
