/* transport/proxy.h - the proxy that libcurl takes from the environment, for people.
 *
 * Which one that is, if any, is for libcurl to decide (no_proxy has rules of its own), and it
 * has no better way to say so than a remark. */
#ifndef TRANSPORT_PROXY_H
#define TRANSPORT_PROXY_H

#include "base/str.h"

enum { PROXY_TEXT = 320 };

/* "'host:port' (http_proxy)", if a remark of libcurl's is about that; false: it is not. User
 * and password are never in it: where it cannot be sure what they are, nor is the place. */
bool proxy_told(struct str remark, char text[PROXY_TEXT]);

#endif
