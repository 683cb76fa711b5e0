/* base/hash.h - computes 64-bit hashes of bytes (XXH3); the only module that knows xxHash.
 *
 * Not for secrets. Equal hashes are only a hint: compare the values afterwards. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

uint64_t hash_bytes(struct str bytes, uint64_t seed);

/* Combines two hashes; order matters. */
uint64_t hash_mix(uint64_t a, uint64_t b);

#endif
