/* runtime/ca-file.h - chooses the file of certificates that decides which servers to trust.
 *
 * In this order: --cacert, the variable SSL_CERT_FILE, and, if libcurl is linked and knows no
 * file of its own, the first of the usual files of Linux distributions that exists. */
#ifndef RUNTIME_CA_FILE_H
#define RUNTIME_CA_FILE_H

#include "runtime/app.h"

/* Where Linux distributions keep their certificates; ends with NULL. */
extern const char *const ca_file_usual[];

/* `search` tells to look for the usual files. `*out` is borrowed; NULL: libcurl chooses. A
 * chosen file that is not readable, or has no certificate, is ERR_USAGE; ERR_PEER if the search
 * finds none. */
bool ca_file_choose(const char **out, const struct app *app, const char *cacert, bool search,
                    struct err *e) MUST_CHECK;

#endif
