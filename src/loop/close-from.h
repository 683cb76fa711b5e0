/* loop/close-from.h - closes all descriptors from a number on, after a fork.
 *
 * Allocates nothing and takes no lock, so that a child of a process with threads may call it.
 * closefrom(3) is not in every C library. */
#ifndef LOOP_CLOSE_FROM_H
#define LOOP_CLOSE_FROM_H

void close_from(int first);

/* The same one by one up to the limit of descriptors, 2^20 at most: for systems without
 * close_range(2), which came with Linux 5.9. */
void close_from_one_by_one(int first);

#endif
