/* base/memchr.h - the memchr() of the static program, whose C library compares byte by byte.
 *
 * That would cost a sixth of the time of reading a recording. The static program is compiled
 * with -DMEMCHR_OF_STATIC_PROGRAM=memchr, so that the linker takes this one; elsewhere nothing
 * calls it but its test. */
#ifndef BASE_MEMCHR_H
#define BASE_MEMCHR_H

#include <stddef.h>

#ifndef MEMCHR_OF_STATIC_PROGRAM
#define MEMCHR_OF_STATIC_PROGRAM memchr_of_static_program
#endif

/* As memchr(). */
void *MEMCHR_OF_STATIC_PROGRAM(const void *text, int sought, size_t len);

#endif
