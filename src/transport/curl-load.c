#include "transport/curl-load.h"

#ifndef MCPREEL_CURL_LINK
#include <dlfcn.h>
#endif
#include <stddef.h>
#include <string.h>

#ifdef __APPLE__
const char curl_load_name[] = "libcurl.4.dylib";
#else
const char curl_load_name[] = "libcurl.so.4";
#endif

/* All members of struct curl_api. */
#define FUNCTIONS(ROW)                                                                         \
    ROW(global_init)                                                                           \
    ROW(easy_init)                                                                             \
    ROW(easy_setopt)                                                                           \
    ROW(easy_getinfo)                                                                          \
    ROW(easy_recv)                                                                             \
    ROW(easy_send)                                                                             \
    ROW(easy_strerror)                                                                         \
    ROW(easy_cleanup)                                                                          \
    ROW(multi_init)                                                                            \
    ROW(multi_setopt)                                                                          \
    ROW(multi_add_handle)                                                                      \
    ROW(multi_remove_handle)                                                                   \
    ROW(multi_socket_action)                                                                   \
    ROW(multi_assign)                                                                          \
    ROW(multi_info_read)                                                                       \
    ROW(multi_cleanup)

#ifdef MCPREEL_CURL_LINK

const bool curl_load_is_linked = true;

#define ROW(function) .function = curl_##function,

static bool find_functions(struct curl_api *c, const char *name, struct err *e)
{
    (void)name;
    (void)e;
    *c = (struct curl_api){ FUNCTIONS(ROW) };
    return true;
}

#else

const bool curl_load_is_linked = false;

#define ROW(function) { "curl_" #function, offsetof(struct curl_api, function) },

static const struct symbol_row {
    const char *name;
    size_t at;
} rows[] = { FUNCTIONS(ROW) };

static bool find_functions(struct curl_api *c, const char *name, struct err *e)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (!library) {
        err_set(e, ERR_IO, "cannot load libcurl: %s", dlerror());
        return err_hint(e, "it is in the package libcurl4 on Debian, libcurl elsewhere");
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *function = dlsym(library, rows[i].name);

        if (!function)
            return err_set(e, ERR_IO, "cannot use libcurl: it has no '%s'", rows[i].name);
        memcpy((char *)c + rows[i].at, &function, sizeof function);
    }
    return true;
}

#endif

bool curl_load(struct curl_api *c, const char *name, struct err *e)
{
    if (!find_functions(c, name, e))
        return false;
    if (c->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(e, ERR_IO, "cannot use libcurl: it cannot be initialized");
    return true;
}
